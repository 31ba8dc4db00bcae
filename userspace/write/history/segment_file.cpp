// SPDX-License-Identifier: Apache-2.0
//
// Segments on a disk. Used by the thread of spill.cpp, which writes, and by whoever reads a view.
#include "write/history/segment_file.h"

#include <cerrno>
#include <fcntl.h>
#include <unistd.h>
#include <utility>

#include <fmt/format.h>

namespace tracer::history {

Result<std::shared_ptr<SegmentFile>> SegmentFile::make(const std::string& folder,
                                                       size_t place_bytes) {
    UniqueFd fd(::open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600));
    if (!fd.valid()) {
        return fail_errno(ErrorCode::io, errno, fmt::format("keep a history in {}", folder),
                          errno == EOPNOTSUPP ? "choose a folder of another file system"
                                              : "name a folder that this user may write to");
    }
    return std::shared_ptr<SegmentFile>(new SegmentFile(std::move(fd), folder, place_bytes));
}

uint64_t SegmentFile::take_place() {
    const std::lock_guard lock(mutex_);
    if (free_.empty()) return std::exchange(end_, end_ + place_bytes_);
    const uint64_t offset = free_.back();
    free_.pop_back();
    return offset;
}

void SegmentFile::give_back(uint64_t offset) {
    const std::lock_guard lock(mutex_);
    free_.push_back(offset);
}

Result<std::unique_ptr<const SegmentFile::Place>> SegmentFile::write(
    std::span<const std::byte> bytes) {
    TR_CHECK(bytes.size() <= place_bytes_);
    auto place = std::make_unique<const Place>(shared_from_this(), take_place());
    const auto end = bytes.size();
    // Of this call's, since nobody else has it.
    const uint64_t offset = place->offset();
    for (size_t at = 0; at < end;) {
        const ssize_t count =
            ::pwrite(fd_.get(), bytes.data() + at, end - at, static_cast<off_t>(offset + at));
        if (count < 0 && errno == EINTR) continue;
        if (count <= 0) {
            return fail_errno(ErrorCode::io, count < 0 ? errno : EIO,
                              fmt::format("keep a history in {}", folder_));
        }
        at += static_cast<size_t>(count);
    }
    return place;
}

Status SegmentFile::Place::read(std::span<std::byte> bytes) const {
    for (size_t at = 0; at < bytes.size();) {
        const ssize_t count = ::pread(file_->fd_.get(), bytes.data() + at, bytes.size() - at,
                                      static_cast<off_t>(offset_ + at));
        if (count < 0 && errno == EINTR) continue;
        if (count <= 0) {
            return fail_errno(ErrorCode::io, count < 0 ? errno : EIO,
                              fmt::format("read the history in {}", file_->folder_));
        }
        at += static_cast<size_t>(count);
    }
    return {};
}

}  // namespace tracer::history
