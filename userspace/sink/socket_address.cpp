// SPDX-License-Identifier: Apache-2.0
//
// From the name of a reader to a connected socket, within a time. Relies on the system's resolver
// for names; called once by each socket sink, before its thread exists.
#include "sink/socket_address.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <climits>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <string_view>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>

#include <fmt/format.h>

namespace tracer {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

std::string hint_for_connect(int sys_errno) {
    switch (sys_errno) {
        case ENOENT:
        case ECONNREFUSED:
            return "no program listens there: start the reader first";
        case EACCES:
        case EPERM:
            return "this user may not connect to it: look at the socket's owner and mode";
        case EAGAIN:
        case ETIMEDOUT:
            return "the reader does not answer: is it busy, or a firewall in between?";
        case EPROTOTYPE:
            return "it is no stream socket: let the reader listen on one of type SOCK_STREAM";
        default:
            return {};
    }
}

tl::unexpected<Error> fail_connect(int sys_errno, const std::string& where) {
    return fail_errno(ErrorCode::io, sys_errno, fmt::format("connect to {}", where),
                      hint_for_connect(sys_errno));
}

milliseconds left_until(Clock::time_point deadline) {
    const auto left = std::chrono::ceil<milliseconds>(deadline - Clock::now());
    return std::clamp(left, milliseconds(0), milliseconds(INT_MAX));  // poll() takes an int
}

// A blocking connect gives up after the socket's send timeout, which is the only way to wait for a
// full listener's queue: a non-blocking one just says EAGAIN (unix(7)). Zero would mean for ever.
bool set_send_timeout(int fd, milliseconds timeout) {
    const auto left = std::max(timeout, milliseconds(1));
    timeval value{};
    value.tv_sec = left.count() / 1000;
    value.tv_usec = left.count() % 1000 * 1000;
    return ::setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &value, sizeof value) == 0;
}

struct HostAndPort {
    std::string host;
    uint16_t port = 0;
};

Result<HostAndPort> split(const std::string& text) {
    const auto refuse = [&text](std::string_view why) {
        return fail(ErrorCode::usage, fmt::format("'{}' is no HOST:PORT: {}", text, why),
                    "write localhost:4000, 192.0.2.1:4000 or [::1]:4000");
    };
    const size_t colon = text.rfind(':');
    if (colon == std::string::npos) return refuse("there is no port");
    HostAndPort parts;
    parts.host = text.substr(0, colon);
    const char* const end = text.data() + text.size();
    const auto [rest, error] = std::from_chars(text.data() + colon + 1, end, parts.port);
    if (error != std::errc() || rest != end || parts.port == 0) {
        return refuse("a port is a number from 1 to 65535");
    }
    if (parts.host.size() > 2 && parts.host.front() == '[' && parts.host.back() == ']') {
        parts.host = parts.host.substr(1, parts.host.size() - 2);
    } else if (parts.host.find_first_of(":[]") != std::string::npos) {
        return refuse("an IPv6 address stands in brackets");
    }
    if (parts.host.empty()) return refuse("there is no host");
    return parts;
}

// 0, or what is wrong.
int wait_for_connection(int fd, Clock::time_point deadline) {
    while (true) {
        pollfd ready{.fd = fd, .events = POLLOUT, .revents = 0};
        const int count = ::poll(&ready, 1, static_cast<int>(left_until(deadline).count()));
        if (count < 0 && errno == EINTR) continue;
        if (count < 0) return errno;
        if (count == 0) return ETIMEDOUT;
        int sys_errno = 0;
        socklen_t bytes = sizeof sys_errno;
        if (::getsockopt(fd, SOL_SOCKET, SO_ERROR, &sys_errno, &bytes) != 0) return errno;
        return sys_errno;
    }
}

Result<UniqueFd> connect_address(const addrinfo& address,
                                 const std::string& where,
                                 Clock::time_point deadline) {
    UniqueFd fd(::socket(address.ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    if (!fd.valid()) return fail_connect(errno, where);
    if (::connect(fd.get(), address.ai_addr, address.ai_addrlen) != 0) {
        // An interrupted connect goes on by itself, like one in progress (connect(2)).
        const int sys_errno = errno == EINPROGRESS || errno == EINTR
                                  ? wait_for_connection(fd.get(), deadline)
                                  : errno;
        if (sys_errno != 0) return fail_connect(sys_errno, where);
    }
    // Our buffers are large already, and a flush means now. Without it the bytes come later.
    const int on = 1;
    static_cast<void>(::setsockopt(fd.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on));
    return fd;
}

}  // namespace

Result<UniqueFd> connect_unix(const std::string& path, milliseconds timeout) {
    const auto deadline = Clock::now() + timeout;
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    const bool is_abstract = !path.empty() && path.front() == '@';
    // A path has a zero after it; an abstract name has one before and counts every byte (unix(7)).
    if (path.size() < (is_abstract ? 2U : 1U)) {
        return fail(ErrorCode::usage, "a Unix socket needs a path or @NAME");
    }
    if (path.size() >= sizeof address.sun_path) {
        return fail(ErrorCode::limit,
                    fmt::format("the path {} is longer than the {} bytes of a socket's", path,
                                sizeof address.sun_path - 1),
                    "use a shorter one, or a link to its folder");
    }
    std::memcpy(address.sun_path, path.data(), path.size());
    if (is_abstract) address.sun_path[0] = '\0';
    const auto length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + path.size() +
                                               (is_abstract ? 0 : 1));
    UniqueFd fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    if (!fd.valid() || !set_send_timeout(fd.get(), left_until(deadline))) {
        return fail_connect(errno, path);
    }
    // The kernel's address types are all reached through sockaddr.
    while (::connect(fd.get(), reinterpret_cast<const sockaddr*>(&address), length) != 0) {
        const int sys_errno = errno;
        const bool is_late = left_until(deadline) == milliseconds(0);
        if (sys_errno != EINTR || is_late || !set_send_timeout(fd.get(), left_until(deadline))) {
            return fail_connect(sys_errno == EINTR ? ETIMEDOUT : sys_errno, path);
        }
    }
    return fd;
}

Result<UniqueFd> connect_tcp(const std::string& host_and_port, milliseconds timeout) {
    TR_ASSIGN(const HostAndPort parts, split(host_and_port));
    addrinfo wanted{};
    wanted.ai_family = AF_UNSPEC;
    wanted.ai_socktype = SOCK_STREAM;
    wanted.ai_flags = AI_NUMERICSERV;
    addrinfo* found = nullptr;
    const int code =
        ::getaddrinfo(parts.host.c_str(), std::to_string(parts.port).c_str(), &wanted, &found);
    if (code != 0) {
        return fail(ErrorCode::not_found,
                    fmt::format("look up the host {}: {}", parts.host, ::gai_strerror(code)),
                    "check the name, or give an address");
    }
    const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> addresses(found, &::freeaddrinfo);
    const auto deadline = Clock::now() + timeout;
    Result<UniqueFd> connected = fail_connect(EADDRNOTAVAIL, host_and_port);
    for (const addrinfo* next = addresses.get(); next != nullptr; next = next->ai_next) {
        connected = connect_address(*next, host_and_port, deadline);
        if (connected) break;
    }
    return connected;
}

}  // namespace tracer
