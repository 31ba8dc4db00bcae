// SPDX-License-Identifier: Apache-2.0
//
// Writing to one descriptor: all of each buffer, blocks taken ahead, syncs when they are due, and
// whole records at the end of a file that cannot grow. Runs in the thread of io_queue.cpp; used by
// the file sink, and by the rotating sink for each of its files.
#include "sink/file_destination.h"

#include <algorithm>
#include <cerrno>
#include <fcntl.h>
#include <filesystem>
#include <poll.h>
#include <system_error>
#include <unistd.h>

#include <fmt/format.h>

namespace tracer {
namespace {

// Blocks are taken from the file system at most this far ahead: measured a quarter cheaper than
// letting every write extend the file.
constexpr uint64_t kPreallocateBytesMax = 64ULL << 20;

std::string hint_for_write(int sys_errno) {
    switch (sys_errno) {
        case ENOSPC:
        case EDQUOT:
            return "free some space, or record less with --max-size; what was written is whole";
        case EPIPE:
            return "the reader of the output went away";
        case EFBIG:
            return "the file system or a limit (ulimit -f) allows no larger file";
        default:
            return {};
    }
}

// fsync(2): these say that the descriptor is of a kind that has nothing to sync.
bool knows_no_syncing(int sys_errno) {
    return sys_errno == EINVAL || sys_errno == EROFS || sys_errno == ENOTSUP;
}

}  // namespace

FileDestination::FileDestination(OutputFile file,
                                 std::string label,
                                 const SyncOptions& sync,
                                 uint64_t bytes_expected)
    : file_(std::move(file)),
      label_(std::move(label)),
      options_(sync),
      bytes_expected_(bytes_expected),
      may_preallocate_(file_.is_ours) {
    // The folder is synced later, when the program may work in another one.
    std::error_code error;
    const auto absolute = std::filesystem::absolute(file_.path, error);
    if (!error) file_.path = absolute;
}

Status FileDestination::write(const IoBuffer& buffer) {
    preallocate(buffer);
    size_t written = 0;
    Status status = write_all({buffer.memory.get(), buffer.used}, written);
    if (!status) {
        failed_write_bytes_ = written;
        if (file_.is_ours) cut_to_whole_records(buffer, written);
        return status;
    }
    file_bytes_ += written;
    if (options_.every_ms != 0 && unsynced_bytes_ == 0) {
        sync_due_ = Clock::now() + std::chrono::milliseconds(options_.every_ms);
    }
    unsynced_bytes_ += written;
    if (options_.every_bytes != 0 && unsynced_bytes_ >= options_.every_bytes) return sync();
    return {};
}

Status FileDestination::write_all(std::span<const std::byte> bytes, size_t& written) {
    while (written < bytes.size()) {
        const auto rest = bytes.subspan(written);
        const ssize_t count = ::write(file_.fd.get(), rest.data(), rest.size());
        if (count > 0) {
            written += static_cast<size_t>(count);
            continue;
        }
        const int sys_errno = count < 0 ? errno : EIO;
        if (sys_errno == EINTR) continue;
        if (sys_errno == EAGAIN) {  // standard output may be non-blocking: wait for its reader
            pollfd ready{.fd = file_.fd.get(), .events = POLLOUT, .revents = 0};
            static_cast<void>(::poll(&ready, 1, -1));  // the write says what is wrong, if anything
            continue;
        }
        return fail_errno(ErrorCode::io, sys_errno, fmt::format("write {}", label_),
                          hint_for_write(sys_errno));
    }
    return {};
}

void FileDestination::preallocate(const IoBuffer& buffer) {
    while (may_preallocate_ && allocated_bytes_ < file_bytes_ + buffer.used) {
        if (allocated_bytes_ >= bytes_expected_) return;
        // As much again as there is, so that a short recording takes little. Not everywhere
        // possible, and never needed: the first refusal ends it.
        const uint64_t most = std::max<uint64_t>(buffer.size, kPreallocateBytesMax);
        const uint64_t step = std::min(std::clamp<uint64_t>(file_bytes_, buffer.size, most),
                                       bytes_expected_ - allocated_bytes_);
        if (::fallocate(file_.fd.get(), FALLOC_FL_KEEP_SIZE, static_cast<off_t>(allocated_bytes_),
                        static_cast<off_t>(step)) != 0) {
            may_preallocate_ = false;
            return;
        }
        allocated_bytes_ += step;
    }
}

void FileDestination::cut_to_whole_records(const IoBuffer& buffer, size_t written) {
    const auto past = std::upper_bound(buffer.marks.begin(), buffer.marks.end(), written);
    failed_write_bytes_ = past != buffer.marks.begin() ? *std::prev(past) : 0;
    file_bytes_ += failed_write_bytes_;
    // If even this fails the file has a cut record at its end, which readers skip; the error that
    // is reported is the one that led here.
    static_cast<void>(::ftruncate(file_.fd.get(), static_cast<off_t>(file_bytes_)));
}

Status FileDestination::sync() {
    sync_due_.reset();
    unsynced_bytes_ = 0;
    // fdatasync also writes the size, without which the bytes could not be read back.
    while (::fdatasync(file_.fd.get()) != 0) {
        const int sys_errno = errno;
        if (sys_errno == EINTR) continue;
        if (knows_no_syncing(sys_errno)) return {};
        return fail_errno(ErrorCode::io, sys_errno, fmt::format("sync {}", label_),
                          hint_for_write(sys_errno));
    }
    return sync_folder();
}

Status FileDestination::sync_folder() {
    if (!file_.is_ours || is_folder_synced_) return {};
    is_folder_synced_ = true;
    const std::string folder = folder_of(file_.path);
    const UniqueFd fd(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (!fd.valid() || (::fsync(fd.get()) != 0 && !knows_no_syncing(errno))) {
        return fail_errno(ErrorCode::io, errno, fmt::format("sync the folder {}", folder));
    }
    return {};
}

Status FileDestination::finish() {
    Status status;
    // Gives back the blocks past the end.
    if (allocated_bytes_ > file_bytes_ &&
        ::ftruncate(file_.fd.get(), static_cast<off_t>(file_bytes_)) != 0) {
        status = fail_errno(ErrorCode::io, errno, fmt::format("shorten {}", label_));
    }
    if (options_.at_close || options_.every_bytes != 0 || options_.every_ms != 0) {
        const Status synced = sync();
        if (status) status = synced;
    }
    // The descriptor is gone whatever close says; some file systems report a full disk only here.
    if (::close(file_.fd.release()) != 0 && errno != EINTR) {
        const int sys_errno = errno;
        if (status) {
            status = fail_errno(ErrorCode::io, sys_errno, fmt::format("close {}", label_),
                                hint_for_write(sys_errno));
        }
    }
    return status;
}

}  // namespace tracer
