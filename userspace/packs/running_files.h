// SPDX-License-Identifier: Apache-2.0
//
// Which files processes run code from, and which processes run each: what packs are looked for in.
#pragma once

#include "probe/late_files.h"
#include "probe/mapping_watch.h"
#include "symbol/process_maps.h"
#include "tracer/base/result.h"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tracer {

// A file and those that run it, told by one mapping of each.
struct RunningFile {
    std::vector<NewMapping> runners;
    bool is_executable = false;  // it is the program of one of them

    [[nodiscard]] std::vector<uint32_t> pids() const;
};

// Every file that the processes run code from now, each inode once. Those that have ended are left
// out. One look at each process's maps, none at the files.
[[nodiscard]] std::vector<RunningFile> find_running_files(std::span<const uint32_t> pids);

// Every process that there is but `own_pid`.
[[nodiscard]] std::vector<uint32_t> all_processes(uint32_t own_pid);

// Opens a file through the first of its runners that still lives.
[[nodiscard]] Result<LateFile> open_running_file(const RunningFile& file);

// A file by its path, for a program that is yet to be started.
[[nodiscard]] Result<LateFile> open_file_by_path(const std::string& path);

// Whether the file is the program that the process runs now.
[[nodiscard]] bool is_program_of(uint32_t pid, const FileStamp& file);

// Where the process has mapped the file of rings that it shares, PID.events (ring_layout.h), as
// those do that write it; nullopt: it has none.
[[nodiscard]] std::optional<ProcessMapping> ring_mapping_of(uint32_t pid);

// What a process was given when it began: at most 1 MiB of each. It may have overwritten both.
struct ProcessStart {
    std::vector<std::string> arguments;
    std::vector<std::string> environment;  // NAME=VALUE
};
// The first file that the process has open whose base name the pattern fits; nullopt: none.
[[nodiscard]] std::optional<std::string> open_file_of(uint32_t pid,
                                                      std::string_view pattern,
                                                      const std::string& proc_root = "/proc");
[[nodiscard]] ProcessStart read_process_start(uint32_t pid, const std::string& proc_root = "/proc");
// What `command` will be given if this process starts it.
[[nodiscard]] ProcessStart process_start_of_command(const std::vector<std::string>& command);

}  // namespace tracer
