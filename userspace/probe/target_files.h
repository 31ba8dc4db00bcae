// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "symbol/library_search.h"
#include "symbol/process_maps.h"
#include "tracer/base/result.h"

#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tracer {

// A file that probes may be looked for in.
struct TargetFile {
    std::string open_path;
    std::string shown_path;
};

// The files of whatever is to be traced, each inode once, and how paths that a user writes lead to
// them.
class TargetFiles {
public:
    // Only what paths name, as this process sees them (system-wide recording, tests).
    TargetFiles() = default;

    // What the processes have mapped now. Those that have ended are left out;
    // not_found when none is left.
    [[nodiscard]] static Result<TargetFiles> of_processes(std::span<const pid_t> pids);

    // What a program that is yet to be started will map. `command`: as execvp takes it.
    [[nodiscard]] static Result<TargetFiles> of_program(const std::string& command,
                                                        const SearchEnvironment& environment);

    // What any process has mapped now. Processes that end meanwhile are left out.
    [[nodiscard]] static Result<TargetFiles> of_system();

    // One file alone, which a process runs: a PATH means it by its name or where it leads to it,
    // and nothing else. `root`: how that process's absolute paths begin for us.
    [[nodiscard]] static TargetFiles of_file(const TargetFile& file, const std::string& root);

    // Adds a file by the path that opens it, unless its inode is known.
    void add_file(const TargetFile& file);
    void merge(const TargetFiles& other);

    [[nodiscard]] const std::vector<TargetFile>& files() const { return files_; }

    // The files that a probe's PATH means. With a '/': what the path leads to for each target
    // (they may live in different mount namespaces), or a mapped file of that name which is
    // unlinked by now. Without: the target's files of that base name (wildcards allowed); failing
    // that, shared libraries with a longer version ("libc.so" finds libc.so.6).
    [[nodiscard]] std::vector<TargetFile> find(std::string_view path) const;

    // "12 files of process 34": for messages.
    [[nodiscard]] std::string describe() const;

private:
    [[nodiscard]] std::vector<TargetFile> find_path(const std::string& path) const;

    std::vector<TargetFile> files_;
    std::vector<FileIdentity> identities_;  // of files_, same order
    std::set<FileIdentity> known_;
    std::vector<std::string> roots_;  // "/proc/PID/root", or "" for our own
    std::string subject_;
    bool is_complete_ = false;  // a path that leads to none of files_ leads nowhere
};

// The part behind the last '/'.
[[nodiscard]] std::string_view base_name(std::string_view path);

}  // namespace tracer
