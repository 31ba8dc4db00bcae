// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tracer/base/unique_fd.h"

#include <cstddef>
#include <cstdint>
#include <span>

namespace tracer::ring {

// The bytes of a file of rings while somebody else writes them. A later read is never served before
// an earlier one: what was overwritten before head moved is seen with the moved head.
class RingSource {
public:
    virtual ~RingSource() = default;

    // Its present size in bytes; 0 where it cannot be told.
    [[nodiscard]] virtual uint64_t size() const = 0;

    // The words at `offset`, each read whole. False: not all of them are there.
    [[nodiscard]] virtual bool read(uint64_t offset, std::span<uint64_t> out) const = 0;
};

// Reads by system call instead of through a mapping: a file that is cut short under a mapping kills
// the reader with SIGBUS, and a producer is not trusted with that. One call fetches many records.
class FileSource : public RingSource {
public:
    explicit FileSource(UniqueFd fd) : fd_(std::move(fd)) {}
    [[nodiscard]] uint64_t size() const override;
    [[nodiscard]] bool read(uint64_t offset, std::span<uint64_t> out) const override;

private:
    UniqueFd fd_;
};

// Borrows the memory, which begins at a multiple of 8.
class MemorySource : public RingSource {
public:
    explicit MemorySource(std::span<const std::byte> memory) : memory_(memory) {}
    [[nodiscard]] uint64_t size() const override { return memory_.size(); }
    [[nodiscard]] bool read(uint64_t offset, std::span<uint64_t> out) const override;

private:
    std::span<const std::byte> memory_;
};

}  // namespace tracer::ring
