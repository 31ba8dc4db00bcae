// SPDX-License-Identifier: Apache-2.0
//
// Servers of PHP, and just enough of HTTP/1.0 and of FastCGI 1.0 (its specification, 3.3 and 5) to
// ask them for a page. Used by the tests of PHP's pack.
#include "root/pack_php_server.h"

#include "tracer/base/unique_fd.h"

#include <arpa/inet.h>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <netinet/in.h>
#include <poll.h>
#include <string_view>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

namespace tracer::test {

namespace {

constexpr Milliseconds kLimit{30000};
constexpr size_t kAnswerBytesMax = 1U << 20;

// Addresses of sockets are one type for the system's calls and another for each family.
const sockaddr* any_address(const void* address) {
    return static_cast<const sockaddr*>(address);
}

sockaddr_in loopback(uint16_t port) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    return address;
}

// One that was free a moment ago.
Result<uint16_t> find_port() {
    const UniqueFd socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_in address = loopback(0);
    socklen_t bytes = sizeof(address);
    void* const place = &address;
    if (socket.get() < 0 || bind(socket.get(), any_address(place), bytes) != 0 ||
        getsockname(socket.get(), static_cast<sockaddr*>(place), &bytes) != 0) {
        return fail_errno(ErrorCode::io, errno, "find a port");
    }
    return ntohs(address.sin_port);
}

// Sends `question`, and reads until the other side has nothing more to say.
Result<std::string> ask(const UniqueFd& socket, std::string_view question) {
    while (!question.empty()) {
        const ssize_t sent = send(socket.get(), question.data(), question.size(), MSG_NOSIGNAL);
        if (sent <= 0) return fail_errno(ErrorCode::io, errno, "send a request");
        question.remove_prefix(static_cast<size_t>(sent));
    }
    const Deadline deadline(kLimit);
    std::string answer;
    std::array<char, 4096> piece{};
    while (answer.size() < kAnswerBytesMax) {
        pollfd wanted{socket.get(), POLLIN, 0};
        if (poll(&wanted, 1, deadline.left_ms()) <= 0) break;
        const ssize_t taken = recv(socket.get(), piece.data(), piece.size(), 0);
        if (taken < 0) return fail_errno(ErrorCode::io, errno, "read an answer");
        if (taken == 0) return answer;
        answer.append(piece.data(), static_cast<size_t>(taken));
    }
    return fail(ErrorCode::io, "no end of an answer: " + answer);
}

Result<std::string> get_page(uint16_t port, const std::string& path) {
    const UniqueFd socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    const sockaddr_in address = loopback(port);
    if (socket.get() < 0 || connect(socket.get(), any_address(&address), sizeof(address)) != 0) {
        return fail_errno(ErrorCode::io, errno, "connect to the web server");
    }
    return ask(socket, "GET " + path + " HTTP/1.0\r\nHost: localhost\r\n\r\n");
}

// ---- FastCGI ----

constexpr uint8_t kBeginRequest = 1;
constexpr uint8_t kParameters = 4;
constexpr uint8_t kInput = 5;
constexpr uint8_t kOutput = 6;
constexpr size_t kHeadBytes = 8;

void append_number(std::string& out, size_t value) {
    out += static_cast<char>(value >> 8 & 0xff);
    out += static_cast<char>(value & 0xff);
}

// Of request 1, without padding.
void append_record(std::string& out, uint8_t type, std::string_view content) {
    out += '\1';
    out += static_cast<char>(type);
    append_number(out, 1);
    append_number(out, content.size());
    append_number(out, 0);
    out += content;
}

void append_parameter(std::string& out, std::string_view name, std::string_view value) {
    out += static_cast<char>(name.size());
    // Short ones have one byte, others four with the first bit set.
    if (value.size() < 128) {
        out += static_cast<char>(value.size());
    } else {
        out += '\x80';
        out += '\0';
        append_number(out, value.size());
    }
    out += name;
    out += value;
}

std::string request_text(const std::string& script, const std::string& uri) {
    std::string parameters;
    append_parameter(parameters, "SCRIPT_FILENAME", script);
    append_parameter(parameters, "REQUEST_METHOD", "GET");
    // The one that fpm takes for the request's address.
    append_parameter(parameters, "SCRIPT_NAME", uri);
    append_parameter(parameters, "REQUEST_URI", uri);
    std::string out;
    append_record(out, kBeginRequest, std::string_view("\0\1\0\0\0\0\0\0", 8));  // a responder
    append_record(out, kParameters, parameters);
    append_record(out, kParameters, {});
    append_record(out, kInput, {});
    return out;
}

// What the records of an answer carry as output.
std::string output_of(std::string_view records) {
    std::string output;
    while (records.size() >= kHeadBytes) {
        const auto byte = [&](size_t at) { return static_cast<uint8_t>(records[at]); };
        const uint8_t type = byte(1);
        const size_t content = size_t{byte(4)} << 8 | byte(5);
        const size_t padding = byte(6);
        records.remove_prefix(kHeadBytes);
        if (type == kOutput) output += records.substr(0, content);
        records.remove_prefix(std::min(content + padding, records.size()));
    }
    return output;
}

std::string apache_configuration(const TempFolder& folder, uint16_t port) {
    const std::string place = folder.path().string();
    const std::string modules = "/usr/lib/apache2/modules/";
    return "ServerRoot " + place + "\nDefaultRuntimeDir " + place + "\nPHPIniDir " + place +
           "\nDocumentRoot " + place + "\nPidFile " + folder.file("pid") +
           "\nListen 127.0.0.1:" + std::to_string(port) +
           "\nServerName localhost\nUser www-data\nGroup www-data\n"
           "LoadModule mpm_prefork_module " +
           modules + "mod_mpm_prefork.so\nLoadModule authz_core_module " + modules +
           "mod_authz_core.so\nLoadModule php_module " + kApachePhp +
           "\nStartServers 1\nMinSpareServers 1\nMaxSpareServers 1\nMaxRequestWorkers 1\n"
           "LogLevel notice\nErrorLog /proc/self/fd/2\n"
           "<FilesMatch \"\\.php$\">\nSetHandler application/x-httpd-php\n</FilesMatch>\n";
}

}  // namespace

Result<PhpWebServer> PhpWebServer::start(const std::string& folder) {
    TR_ASSIGN(const uint16_t port, find_port());
    const std::string place = "127.0.0.1:" + std::to_string(port);
    TR_ASSIGN(ChildProcess server, ChildProcess::start({kPhp, "-n", "-S", place, "-t", folder}));
    TR_TRY(server.wait_for_errors("started", kLimit));
    return PhpWebServer(std::move(server), port);
}

Result<std::string> PhpWebServer::get(const std::string& path) const {
    return get_page(port_, path);
}

Result<ApachePhp> ApachePhp::start(const std::string& script) {
    TR_ASSIGN(TempFolder folder, TempFolder::make());
    TR_ASSIGN(const uint16_t port, find_port());
    // Its workers are another user's, who must get at the page.
    std::error_code fault;
    std::filesystem::copy_file(script, folder.file("page.php"), fault);
    if (fault) return fail(ErrorCode::io, "copy " + script + ": " + fault.message());
    if (chmod(folder.path().c_str(), 0755) != 0 ||
        chmod(folder.file("page.php").c_str(), 0644) != 0) {
        return fail_errno(ErrorCode::io, errno, "open the folder of the page");
    }
    TR_TRY(write_file(folder.file("apache.conf"), apache_configuration(folder, port)));
    // In a group of its own, all of which it ends when it is told to end.
    TR_ASSIGN(ChildProcess server, ChildProcess::start({"/usr/bin/setsid", kApache, "-DFOREGROUND",
                                                        "-f", folder.file("apache.conf")}));
    TR_TRY(server.wait_for_errors("resuming normal operations", kLimit));
    return ApachePhp(std::move(folder), std::move(server), port);
}

ApachePhp::~ApachePhp() {
    if (server_.pid() <= 0) return;  // moved away
    if (server_.send_signal(SIGTERM)) static_cast<void>(server_.wait(kLimit));
}

Result<std::string> ApachePhp::get(const std::string& path) const {
    return get_page(port_, path);
}

Result<PhpFpm> PhpFpm::start() {
    TR_ASSIGN(TempFolder folder, TempFolder::make());
    TR_TRY(write_file(folder.file("fpm.conf"), "[global]\npid = " + folder.file("pid") +
                                                   "\nerror_log = /proc/self/fd/2\ndaemonize = no\n"
                                                   "[test]\nlisten = " +
                                                   folder.file("socket") +
                                                   "\npm = static\npm.max_children = 2\n"
                                                   "user = root\ngroup = root\n"));
    TR_ASSIGN(ChildProcess server,
              ChildProcess::start({kPhpFpm, "-n", "-R", "-F", "-y", folder.file("fpm.conf")}));
    TR_TRY(server.wait_for_errors("ready to handle connections", kLimit));
    return PhpFpm(std::move(folder), std::move(server));
}

Result<std::string> PhpFpm::get(const std::string& script, const std::string& uri) const {
    const UniqueFd socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    const std::string path = folder_.file("socket");
    if (path.size() >= sizeof(address.sun_path)) return fail(ErrorCode::limit, path);
    path.copy(address.sun_path, path.size());
    if (socket.get() < 0 || connect(socket.get(), any_address(&address), sizeof(address)) != 0) {
        return fail_errno(ErrorCode::io, errno, "connect to " + path);
    }
    TR_ASSIGN(const std::string answer, ask(socket, request_text(script, uri)));
    return output_of(answer);
}

}  // namespace tracer::test
