// SPDX-License-Identifier: Apache-2.0
//
// For scripts and service managers that start something else once the recording runs: a descriptor
// of theirs, and systemd's protocol (sd_notify(3): one datagram). Called by record_command.cpp.
#include "cli/readiness.h"

#include "tracer/base/unique_fd.h"

#include <cerrno>
#include <cstddef>
#include <cstring>
#include <fcntl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <fmt/format.h>

namespace tracer {
namespace {

std::string told_by_fd(int number) {
    const UniqueFd fd(number);
    // A pipe that is full has told already that nobody reads it.
    const int flags = fcntl(fd.get(), F_GETFL);
    if (flags >= 0) fcntl(fd.get(), F_SETFL, flags | O_NONBLOCK);
    if (write(fd.get(), "\n", 1) == 1) return {};
    return fmt::format("--ready-fd {}: {}", number, strerrordesc_np(errno));
}

std::string told_by_socket(const std::string& name) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    const auto failed = [&](int error) {
        return fmt::format("NOTIFY_SOCKET {}: {}", name, strerrordesc_np(error));
    };
    // A path's NUL is part of the address, a name's own length is its end.
    if (name.size() >= sizeof(address.sun_path)) return failed(ENAMETOOLONG);
    std::memcpy(address.sun_path, name.data(), name.size());
    const bool is_abstract = name.front() == '@';
    if (is_abstract) address.sun_path[0] = '\0';
    const auto bytes = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + name.size() +
                                              (is_abstract ? 0 : 1));
    const UniqueFd fd(socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    if (!fd.valid()) return failed(errno);
    const std::string text = fmt::format("READY=1\nMAINPID={}\n", getpid());
    const auto* to = static_cast<const sockaddr*>(static_cast<const void*>(&address));
    const ssize_t sent = sendto(fd.get(), text.data(), text.size(), MSG_NOSIGNAL, to, bytes);
    return sent == static_cast<ssize_t>(text.size()) ? std::string() : failed(errno);
}

}  // namespace

Status check_readiness(const ReadinessRequest& request) {
    if (!request.fd) return {};
    const int flags = fcntl(*request.fd, F_GETFL);
    const bool is_standard = *request.fd <= STDERR_FILENO;
    if (flags >= 0 && (flags & O_ACCMODE) != O_RDONLY && !is_standard) {
        // The command of `-- cmd` is not to hold it open.
        fcntl(*request.fd, F_SETFD, FD_CLOEXEC);
        return {};
    }
    return fail(
        ErrorCode::usage,
        fmt::format("--ready-fd {}: not a descriptor of yours that can be written", *request.fd),
        "in a shell: tracer --ready-fd 3 ... 3>ready");
}

std::string tell_readiness(const ReadinessRequest& request) {
    std::string problem;
    if (request.fd) problem = told_by_fd(*request.fd);
    if (!request.notify_socket.empty() && problem.empty()) {
        problem = told_by_socket(request.notify_socket);
    }
    return problem;
}

}  // namespace tracer
