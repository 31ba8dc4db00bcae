// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "symbol/file_bytes.h"
#include "tracer/base/result.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <sys/types.h>
#include <vector>

namespace tracer {

// One line of /proc/PID/maps.
struct ProcessMapping {
    uint64_t start = 0;
    uint64_t end = 0;
    uint64_t file_offset = 0;
    uint32_t device_major = 0;
    uint32_t device_minor = 0;
    uint64_t inode = 0;
    bool is_executable = false;
    bool is_writable = false;
    bool is_shared = false;
    bool is_deleted = false;  // the name leads to another file now, or to none
    std::string path;         // as the process sees it, unescaped, without " (deleted)"
};

// A file that a process runs code from.
struct MappedFile {
    std::string open_path;   // leads to the very inode: under /proc/PID
    std::string shown_path;  // what people call it
    FileIdentity identity;   // of the opened file
    bool is_deleted = false;
};

// nullopt: not a line of maps.
[[nodiscard]] std::optional<ProcessMapping> parse_maps_line(std::string_view line);

// All mappings of files with a name; lines that cannot be read are left out. not_found when there
// is no such process.
[[nodiscard]] Result<std::vector<ProcessMapping>> read_process_maps(pid_t pid);

// The files with executable mappings, each inode once, the program itself first. Files that cannot
// be opened (gone between the two looks, no right to) are left out.
[[nodiscard]] Result<std::vector<MappedFile>> read_mapped_files(pid_t pid);

// Device and inode of what `path` leads to.
[[nodiscard]] std::optional<FileIdentity> identity_of(const std::string& path);

}  // namespace tracer
