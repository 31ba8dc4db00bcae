// SPDX-License-Identifier: Apache-2.0
//
// A file kept open from the moment it was read until its probes are gone: its name may lead
// elsewhere by the time they are attached, or nowhere (dlclose, an update). The inode is the same;
// what can change is its content.
#pragma once

#include "symbol/file_bytes.h"
#include "tracer/base/unique_fd.h"

#include <cstdint>
#include <memory>
#include <string>

namespace tracer {

class HeldFile {
public:
    // Null: no descriptor is left for it.
    [[nodiscard]] static std::shared_ptr<const HeldFile> hold(const FileBytes& bytes);

    // Opens the inode, for this process alone.
    [[nodiscard]] std::string path() const;

    // It was written since it was read (cp over it): offsets that were found mean something else.
    [[nodiscard]] bool is_changed() const;

private:
    HeldFile(UniqueFd fd, uint64_t size, int64_t modified_ns)
        : fd_(std::move(fd)), size_(size), modified_ns_(modified_ns) {}

    UniqueFd fd_;
    uint64_t size_;
    int64_t modified_ns_;
};

}  // namespace tracer
