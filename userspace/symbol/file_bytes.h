// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tracer/base/result.h"
#include "tracer/base/unique_fd.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace tracer {

// What tells two files apart: of the file that was really opened, not of a name.
struct FileIdentity {
    uint64_t device = 0;
    uint64_t inode = 0;
    friend bool operator==(const FileIdentity&, const FileIdentity&) = default;
    // clang-tidy 14 takes the 0 that the compiler compares with for a pointer.
    // NOLINTNEXTLINE(modernize-use-nullptr)
    friend auto operator<=>(const FileIdentity&, const FileIdentity&) = default;
};

// Bytes of one regular file, read piecewise with every offset checked against its size. Never
// mapped: the file may be cut short while we look, and a mapping would answer with SIGBUS.
class FileBytes {
public:
    [[nodiscard]] static Result<FileBytes> open(const std::string& path);
    [[nodiscard]] static Result<FileBytes> from_fd(UniqueFd fd, std::string name);
    [[nodiscard]] static FileBytes from_memory(std::vector<std::byte> bytes, std::string name);

    // Exactly `count` bytes at `offset`; bad_input when the file does not hold them all.
    [[nodiscard]] Result<std::vector<std::byte>> read(uint64_t offset, uint64_t count) const;

    [[nodiscard]] uint64_t size() const { return size_; }
    [[nodiscard]] const std::string& name() const { return name_; }
    [[nodiscard]] FileIdentity identity() const { return identity_; }
    // When it was last written before it was opened, CLOCK_REALTIME; 0: of memory.
    [[nodiscard]] int64_t modified_ns() const { return modified_ns_; }
    // Another descriptor of the very file; invalid: of memory, or there is no room for one.
    [[nodiscard]] UniqueFd duplicate() const;

private:
    FileBytes() = default;

    UniqueFd fd_;
    std::vector<std::byte> memory_;
    uint64_t size_ = 0;
    std::string name_;
    FileIdentity identity_;
    int64_t modified_ns_ = 0;
};

}  // namespace tracer
