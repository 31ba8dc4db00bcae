// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tracer/base/result.h"
#include "tracer/base/unique_fd.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace tracer::history {

// Where segments that are full go, if not into memory: a file without a name, so that nothing is
// left of it whatever ends us, in places of one size that are used again. Any thread.
class SegmentFile : public std::enable_shared_from_this<SegmentFile> {
public:
    [[nodiscard]] static Result<std::shared_ptr<SegmentFile>> make(const std::string& folder,
                                                                   size_t place_bytes);

    // What was written; its room is another's once it is gone.
    class Place {
    public:
        Place(std::shared_ptr<SegmentFile> file, uint64_t offset)
            : file_(std::move(file)), offset_(offset) {}
        ~Place() { file_->give_back(offset_); }
        Place(const Place&) = delete;
        Place& operator=(const Place&) = delete;

        [[nodiscard]] uint64_t offset() const { return offset_; }
        // Fills `bytes` from its begin.
        [[nodiscard]] Status read(std::span<std::byte> bytes) const;

    private:
        const std::shared_ptr<SegmentFile> file_;
        const uint64_t offset_;
    };

    // At most place_bytes.
    [[nodiscard]] Result<std::unique_ptr<const Place>> write(std::span<const std::byte> bytes);

private:
    SegmentFile(UniqueFd fd, std::string folder, size_t place_bytes)
        : fd_(std::move(fd)), folder_(std::move(folder)), place_bytes_(place_bytes) {}
    [[nodiscard]] uint64_t take_place();
    void give_back(uint64_t offset);

    const UniqueFd fd_;
    const std::string folder_;
    const size_t place_bytes_;

    std::mutex mutex_;  // guards what follows
    std::vector<uint64_t> free_;
    uint64_t end_ = 0;
};

}  // namespace tracer::history
