// SPDX-License-Identifier: Apache-2.0
//
// Files that begin to be run: every new executable mapping of a file, in any process, told by the
// kernel as it happens (exec, dlopen, mmap, mprotect).
#pragma once

#include "tracer/base/result.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace tracer {

struct NewMapping {
    uint64_t time_ns = 0;  // CLOCK_BOOTTIME
    uint32_t pid = 0;      // initial pid namespace
    uint32_t tid = 0;
    uint64_t start = 0;
    uint64_t end = 0;
    // As the kernel's inode says it; stat() of the same file may answer with another device
    // (overlayfs, btrfs).
    uint32_t device_major = 0;
    uint32_t device_minor = 0;
    uint64_t inode = 0;
    uint64_t generation = 0;  // tells the inode from an earlier one with its number
    std::string path;         // as the process sees it
};

// One thread at a time.
class MappingWatch {
public:
    virtual ~MappingWatch() = default;

    // Begins to watch the whole machine: needs root or CAP_PERFMON.
    [[nodiscard]] static Result<std::unique_ptr<MappingWatch>> open();

    // Becomes readable (poll, level) when read() has something to give. Owned by the watch.
    [[nodiscard]] virtual int fd() const = 0;
    // Appends the mappings since the last call, in the order of each CPU. Returns how many more
    // there were that found no room.
    [[nodiscard]] virtual uint64_t read(std::vector<NewMapping>& out) = 0;
};

// One PERF_RECORD_MMAP2 with its header, of an event with sample_id_all and PERF_SAMPLE_TIME;
// nullopt: malformed, or not a mapping of a file with a name. See perf_event_open(2).
[[nodiscard]] std::optional<NewMapping> parse_mapping_record(std::span<const std::byte> record);

}  // namespace tracer
