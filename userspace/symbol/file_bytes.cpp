// SPDX-License-Identifier: Apache-2.0
//
// Checked piecewise reading of a file that somebody else may be writing. Relies on pread alone.
// Called by everything of this layer that opens a file.
#include "symbol/file_bytes.h"

#include <cerrno>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fmt/format.h>

namespace tracer {

Result<FileBytes> FileBytes::open(const std::string& path) {
    // O_NONBLOCK: a name that leads to a fifo must not hang us.
    UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
    if (!fd.valid()) {
        int error = errno;
        auto code = ErrorCode::io;
        if (error == ENOENT || error == ENOTDIR || error == ESRCH) code = ErrorCode::not_found;
        if (error == EACCES || error == EPERM) code = ErrorCode::permission;
        return fail_errno(code, error, fmt::format("open {}", path));
    }
    return from_fd(std::move(fd), path);
}

Result<FileBytes> FileBytes::from_fd(UniqueFd fd, std::string name) {
    struct stat status {};
    if (::fstat(fd.get(), &status) != 0) {
        int error = errno;
        return fail_errno(ErrorCode::io, error, fmt::format("stat {}", name));
    }
    if (!S_ISREG(status.st_mode)) {
        return fail(ErrorCode::bad_input, fmt::format("{} is not a regular file", name));
    }
    FileBytes file;
    file.fd_ = std::move(fd);
    file.size_ = static_cast<uint64_t>(status.st_size);
    file.name_ = std::move(name);
    file.identity_ = {status.st_dev, status.st_ino};
    file.modified_ns_ = status.st_mtim.tv_sec * 1'000'000'000 + status.st_mtim.tv_nsec;
    return file;
}

FileBytes FileBytes::from_memory(std::vector<std::byte> bytes, std::string name) {
    FileBytes file;
    file.size_ = bytes.size();
    file.memory_ = std::move(bytes);
    file.name_ = std::move(name);
    return file;
}

UniqueFd FileBytes::duplicate() const {
    return UniqueFd(fd_.valid() ? ::fcntl(fd_.get(), F_DUPFD_CLOEXEC, 0) : -1);
}

Result<std::vector<std::byte>> FileBytes::read(uint64_t offset, uint64_t count) const {
    if (offset > size_ || count > size_ - offset) {
        return fail(ErrorCode::bad_input,
                    fmt::format("{} is cut short: {} bytes at {} are beyond its end", name_, count,
                                offset));
    }
    if (!fd_.valid()) {
        auto begin = memory_.begin() + static_cast<std::ptrdiff_t>(offset);
        return std::vector<std::byte>(begin, begin + static_cast<std::ptrdiff_t>(count));
    }
    std::vector<std::byte> bytes(count);
    uint64_t done = 0;
    while (done < count) {
        ssize_t got = ::pread(fd_.get(), bytes.data() + done, count - done,
                              static_cast<off_t>(offset + done));
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) {
            int error = errno;
            return fail_errno(ErrorCode::io, error, fmt::format("read {}", name_));
        }
        if (got == 0) {
            return fail(ErrorCode::bad_input, fmt::format("{} shrank while it was read", name_));
        }
        done += static_cast<uint64_t>(got);
    }
    return bytes;
}

}  // namespace tracer
