// SPDX-License-Identifier: Apache-2.0
//
// Opening the file of a recording. The recorder often runs as root in a folder that others may
// write to, so nothing that already stands at the path is trusted: it is looked at without
// following links, and a new file is made exclusively. Used by the file sink.
#include "sink/output_file.h"

#include <cerrno>
#include <cstdlib>
#include <fcntl.h>
#include <memory>
#include <sys/stat.h>
#include <unistd.h>

#include <fmt/format.h>

namespace tracer {
namespace {

constexpr mode_t kFileMode = 0600;

std::string hint_for(int sys_errno, const std::string& path) {
    switch (sys_errno) {
        case ENOENT:
            if (::access(folder_of(path).c_str(), F_OK) == 0) {
                return fmt::format("no file can be made in {}: choose another place with -o",
                                   folder_of(path));
            }
            return fmt::format("there is no folder {}: make it first", folder_of(path));
        case ENOTDIR:
            return fmt::format("{} is not a folder", folder_of(path));
        case EACCES:
        case EPERM:
            return fmt::format("this user may not write in {}: choose another place with -o",
                               folder_of(path));
        case EROFS:
            return fmt::format("{} is on a read-only file system: choose another place with -o",
                               folder_of(path));
        case ENOSPC:
        case EDQUOT:
            return "the disk or the quota is full: choose another place with -o";
        case EEXIST:
            return "something else made this file at the same time: try again or choose another "
                   "name";
        case ENXIO:
            return "no program reads from it: start the reader first";
        default:
            return {};
    }
}

tl::unexpected<Error> fail_open(int sys_errno, const std::string& path) {
    return fail_errno(ErrorCode::io, sys_errno, fmt::format("open {}", path),
                      hint_for(sys_errno, path));
}

Result<OutputFile> replace_file(const std::string& path, const std::optional<FileOwner>& owner) {
    if (::unlink(path.c_str()) != 0 && errno != ENOENT) {
        const int sys_errno = errno;
        return fail_errno(ErrorCode::io, sys_errno, fmt::format("replace {}", path),
                          hint_for(sys_errno, path));
    }
    return make_output_file(path, owner);
}

// A named pipe without a reader would hold open() up, and the recorder, which takes its signals
// from a descriptor, could not even be interrupted: without blocking it is an error at once.
Result<OutputFile> open_special(const std::string& path, int flags) {
    UniqueFd fd(::open(path.c_str(), O_WRONLY | O_NOCTTY | O_CLOEXEC | O_NONBLOCK | flags));
    if (!fd.valid()) return fail_open(errno, path);
    struct stat now {};
    const int status = ::fcntl(fd.get(), F_GETFL);
    if (status < 0 || ::fcntl(fd.get(), F_SETFL, status & ~O_NONBLOCK) != 0 ||
        ::fstat(fd.get(), &now) != 0) {
        return fail_open(errno, path);
    }
    // It was none when looked at.
    if (S_ISREG(now.st_mode)) return fail_open(EEXIST, path);
    return OutputFile{std::move(fd), false, {}};
}

Result<OutputFile> open_linked(const std::string& path,
                               uid_t link_owner,
                               const std::optional<FileOwner>& owner) {
    if (link_owner != 0 && link_owner != ::geteuid() && !(owner && link_owner == owner->uid)) {
        return fail(ErrorCode::io,
                    fmt::format("{} is a symbolic link that belongs to user {}", path, link_owner),
                    "it could point at any file: remove it or choose another name with -o");
    }
    struct stat target {};
    if (::stat(path.c_str(), &target) != 0) {
        const int sys_errno = errno;
        return fail_errno(ErrorCode::io, sys_errno, fmt::format("follow the link {}", path),
                          "remove the link or choose another name with -o");
    }
    if (!S_ISREG(target.st_mode)) return open_special(path, 0);
    const std::unique_ptr<char, decltype(&std::free)> real(::realpath(path.c_str(), nullptr),
                                                           &std::free);
    if (!real) return fail_open(errno, path);
    return replace_file(real.get(), owner);
}

}  // namespace

std::string folder_of(const std::string& path) {
    const size_t slash = path.rfind('/');
    if (slash == std::string::npos) return ".";
    return slash == 0 ? "/" : path.substr(0, slash);
}

Result<OutputFile> make_output_file(const std::string& path,
                                    const std::optional<FileOwner>& owner) {
    UniqueFd fd(
        ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, kFileMode));
    if (!fd.valid()) return fail_open(errno, path);
    if (owner && ::fchown(fd.get(), owner->uid, owner->gid) != 0) {
        const int sys_errno = errno;
        static_cast<void>(::unlink(path.c_str()));  // the error reported is the one that matters
        return fail_errno(ErrorCode::io, sys_errno,
                          fmt::format("give {} to user {}", path, owner->uid),
                          "choose a file system that keeps owners with -o");
    }
    return OutputFile{std::move(fd), true, path};
}

Result<OutputFile> open_output_file(const std::string& path,
                                    const std::optional<FileOwner>& owner) {
    struct stat found {};
    if (::lstat(path.c_str(), &found) != 0) {
        if (errno == ENOENT && !path.empty() && path.back() != '/')
            return make_output_file(path, owner);
        return fail_open(errno, path);
    }
    if (S_ISLNK(found.st_mode)) return open_linked(path, found.st_uid, owner);
    if (S_ISREG(found.st_mode)) return replace_file(path, owner);
    if (S_ISDIR(found.st_mode)) {
        return fail(ErrorCode::io, fmt::format("{} is a folder", path),
                    "give the name of a file with -o");
    }
    return open_special(path, O_NOFOLLOW);
}

}  // namespace tracer
