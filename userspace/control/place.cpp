// SPDX-License-Identifier: Apache-2.0
//
// Where control sockets are. All is done relative to the folder's descriptor (through
// /proc/self/fd, as neither bind nor connect takes one), after it was found to be a folder of this
// user that nobody else may enter: so nothing in it can be another's. A socket gets its name once
// it listens, so one that refuses is left over from a recording that was killed.
#include "control/place.h"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <dirent.h>
#include <fcntl.h>
#include <memory>
#include <optional>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include <fmt/format.h>

namespace tracer {
namespace {

constexpr const char* kSuffix = ".sock";
constexpr int kBacklog = 16;

std::string name_of(uint32_t pid) {
    return fmt::format("{}{}", pid, kSuffix);
}

Result<UniqueFd> open_folder(const std::string& folder) {
    UniqueFd fd(open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    if (!fd.valid() && errno == ENOENT) {
        return fail(ErrorCode::not_found, fmt::format("there is no folder {}", folder));
    }
    if (!fd.valid())
        return fail_errno(ErrorCode::permission, errno, fmt::format("open {}", folder));
    struct stat info {};
    if (fstat(fd.get(), &info) != 0) {
        return fail_errno(ErrorCode::io, errno, fmt::format("look at {}", folder));
    }
    if (info.st_uid != geteuid() || (info.st_mode & 077) != 0) {
        return fail(ErrorCode::permission,
                    fmt::format("{} is open to others (user {}, mode {:o})", folder, info.st_uid,
                                info.st_mode & 0777),
                    fmt::format("remove it: it is made again, for this user alone"));
    }
    return fd;
}

sockaddr_un address_of(int folder, const std::string& name) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    const std::string path = fmt::format("/proc/self/fd/{}/{}", folder, name);
    TR_CHECK(path.size() < sizeof(address.sun_path));
    std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
    return address;
}

// 0, or the error.
int connect_in(int socket, int folder, const std::string& name) {
    const sockaddr_un address = address_of(folder, name);
    if (connect(socket, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0) {
        return 0;
    }
    return errno;
}

UniqueFd make_socket(int flags) {
    return UniqueFd(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | flags, 0));
}

// Whether nobody will ever answer there; then it is removed.
bool remove_if_left_over(int folder, const std::string& name) {
    const UniqueFd probe = make_socket(SOCK_NONBLOCK);
    if (!probe.valid() || connect_in(probe.get(), folder, name) != ECONNREFUSED) return false;
    return unlinkat(folder, name.c_str(), 0) == 0;
}

std::optional<uint32_t> pid_of(const char* name) {
    uint32_t pid = 0;
    const auto [end, error] = std::from_chars(name, name + std::strlen(name), pid);
    if (error != std::errc() || std::strcmp(end, kSuffix) != 0) return std::nullopt;
    return pid;
}

}  // namespace

Result<std::string> control_folder(uid_t user, const char* runtime_folder) {
    if (user == 0) return std::string("/run/tracer");
    if (runtime_folder == nullptr || *runtime_folder != '/') {
        return fail(
            ErrorCode::not_found, "XDG_RUNTIME_DIR names no folder for a control socket",
            "log in through systemd, or set it to a folder of this user alone; sudo reaches "
            "root's recordings");
    }
    return fmt::format("{}/tracer", runtime_folder);
}

Result<ControlSocket> ControlSocket::make(const std::string& folder, uint32_t pid) {
    if (mkdir(folder.c_str(), 0700) != 0 && errno != EEXIST) {
        return fail_errno(ErrorCode::io, errno, fmt::format("make the folder {}", folder));
    }
    TR_ASSIGN(UniqueFd fd, open_folder(folder));
    const std::string name = name_of(pid);
    // Of another namespace of pids, with the same number.
    struct stat info {};
    if (fstatat(fd.get(), name.c_str(), &info, AT_SYMLINK_NOFOLLOW) == 0 &&
        !remove_if_left_over(fd.get(), name)) {
        return fail(ErrorCode::io, fmt::format("{}/{} is in use already", folder, name));
    }
    UniqueFd socket = make_socket(SOCK_NONBLOCK);
    if (!socket.valid()) return fail_errno(ErrorCode::io, errno, "make a socket");
    // Linux takes the mode of the name that bind makes from here.
    if (fchmod(socket.get(), 0600) != 0) {
        return fail_errno(ErrorCode::io, errno, "set the mode of a socket");
    }
    const std::string early = "." + name;
    static_cast<void>(unlinkat(fd.get(), early.c_str(), 0));  // of a process that was killed here
    const sockaddr_un address = address_of(fd.get(), early);
    ControlSocket control(std::move(fd), std::move(socket), early);
    if (bind(control.fd(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)) != 0 ||
        fstatat(control.folder_.get(), early.c_str(), &info, AT_SYMLINK_NOFOLLOW) != 0) {
        return fail_errno(ErrorCode::io, errno, fmt::format("make {}/{}", folder, early));
    }
    control.inode_ = info.st_ino;
    if (listen(control.fd(), kBacklog) != 0) {
        return fail_errno(ErrorCode::io, errno, fmt::format("listen on {}/{}", folder, early));
    }
    if (renameat(control.folder_.get(), early.c_str(), control.folder_.get(), name.c_str()) != 0) {
        return fail_errno(ErrorCode::io, errno, fmt::format("name {}/{}", folder, name));
    }
    control.name_ = name;
    return control;
}

void ControlSocket::remove() {
    if (!folder_.valid()) return;
    struct stat info {};
    if (fstatat(folder_.get(), name_.c_str(), &info, AT_SYMLINK_NOFOLLOW) != 0) return;
    if (info.st_ino == inode_) static_cast<void>(unlinkat(folder_.get(), name_.c_str(), 0));
}

Result<std::vector<uint32_t>> list_recordings(const std::string& folder) {
    auto fd = open_folder(folder);
    if (!fd && fd.error().code == ErrorCode::not_found) return std::vector<uint32_t>{};
    if (!fd) return tl::unexpected(std::move(fd).error());
    const int to_read = fcntl(fd->get(), F_DUPFD_CLOEXEC, 0);
    const std::unique_ptr<DIR, int (*)(DIR*)> entries(to_read < 0 ? nullptr : fdopendir(to_read),
                                                      closedir);
    if (!entries) return fail_errno(ErrorCode::io, errno, fmt::format("read {}", folder));
    std::vector<uint32_t> pids;
    while (const dirent* entry = readdir(entries.get())) {
        const auto pid = pid_of(entry->d_name);
        if (pid && !remove_if_left_over(fd->get(), entry->d_name)) pids.push_back(*pid);
    }
    std::ranges::sort(pids);
    return pids;
}

Result<UniqueFd> connect_to_recording(const std::string& folder, uint32_t pid, int timeout_ms) {
    auto fd = open_folder(folder);
    if (!fd && fd.error().code != ErrorCode::not_found) {
        return tl::unexpected(std::move(fd).error());
    }
    UniqueFd socket = make_socket(0);
    const timeval timeout{timeout_ms / 1000, timeout_ms % 1000 * 1000};
    if (!socket.valid() ||
        setsockopt(socket.get(), SOL_SOCKET, SO_SNDTIMEO, &timeout, sizeof(timeout)) != 0 ||
        setsockopt(socket.get(), SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof(timeout)) != 0) {
        return fail_errno(ErrorCode::io, errno, "make a socket");
    }
    const int error = fd ? connect_in(socket.get(), fd->get(), name_of(pid)) : ENOENT;
    if (error == ENOENT || error == ECONNREFUSED) {
        return fail(ErrorCode::not_found, fmt::format("no recording of this user has pid {}", pid),
                    "`tracer ctl list` shows those that run; sudo shows root's");
    }
    if (error != 0) return fail_errno(ErrorCode::io, error, fmt::format("connect to pid {}", pid));
    return socket;
}

}  // namespace tracer
