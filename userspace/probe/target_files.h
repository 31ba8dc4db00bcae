// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "symbol/library_search.h"
#include "symbol/process_maps.h"
#include "tracer/base/result.h"

#include <map>
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

    // Adds a file by the path that opens it, unless its inode is known. `pid`: of a process that
    // runs it; 0: none is known.
    void add_file(const TargetFile& file, pid_t pid = 0);
    void merge(const TargetFiles& other);

    [[nodiscard]] const std::vector<TargetFile>& files() const { return files_; }

    // Of the processes that were looked at those that run the file at that position.
    [[nodiscard]] const std::vector<pid_t>& runners(size_t file) const { return runners_[file]; }

    // Those who run these files run others that are not among them.
    [[nodiscard]] bool is_part_of_process() const { return is_complete_; }

    // The files that a probe's PATH means. With a '/': what the path leads to for each target
    // (they may live in different mount namespaces), or a mapped file of that name which is
    // unlinked by now. Without: the target's files of that base name (wildcards allowed); failing
    // that, shared libraries with a longer version ("libc.so" finds libc.so.6); failing that, files
    // that a link of that name in their folder leads to.
    [[nodiscard]] std::vector<TargetFile> find(std::string_view path) const;

    // "12 files of process 34": for messages.
    [[nodiscard]] std::string describe() const;

private:
    [[nodiscard]] std::vector<TargetFile> find_path(const std::string& path) const;
    // By a link beside it: python3 of python3.11, and the other way round.
    [[nodiscard]] std::vector<TargetFile> find_other_name(std::string_view name) const;

    std::vector<TargetFile> files_;
    std::vector<FileIdentity> identities_;     // of files_, same order
    std::vector<std::vector<pid_t>> runners_;  // of files_, same order
    std::map<FileIdentity, size_t> known_;     // where in files_
    std::vector<std::string> roots_;           // "/proc/PID/root", or "" for our own
    std::string subject_;
    bool is_complete_ = false;  // a path that leads to none of files_ leads nowhere
};

// The part behind the last '/'.
[[nodiscard]] std::string_view base_name(std::string_view path);

}  // namespace tracer
