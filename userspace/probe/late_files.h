// SPDX-License-Identifier: Apache-2.0
//
// Files that are run for the first time while a recording goes on.
#pragma once

#include "probe/attach_plan.h"
#include "probe/event_spec.h"
#include "probe/mapping_watch.h"
#include "probe/probe_compiler.h"
#include "probe/target_files.h"
#include "tracer/base/result.h"
#include "tracer/base/unique_fd.h"

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace tracer {

// What tells whether two opened files are one inode.
struct FileStamp {
    uint64_t device = 0;
    uint64_t inode = 0;
    std::optional<uint64_t> generation;  // not every file system tells
    uint64_t bytes = 0;
    int64_t modified_ns = 0;
    bool is_overlay = false;  // seen through overlayfs: the device is not the real one's
};

// nullopt: no regular file, or it cannot be read.
[[nodiscard]] std::optional<FileStamp> stamp_of(int fd);
[[nodiscard]] std::optional<FileStamp> stamp_of(const std::string& path);

[[nodiscard]] bool is_same_inode(const FileStamp& a, const FileStamp& b);

// The files that were looked at, each inode once: a uprobe is of the real inode, so a file armed
// through an overlay's name and through its layer's would record every hit twice.
class SeenFiles {
public:
    // True the first time that the inode is named.
    bool add(const FileStamp& stamp);

private:
    std::multimap<uint64_t, FileStamp> by_inode_;
};

// A file that a process has begun to run, held open: the process may end at any moment.
struct LateFile {
    UniqueFd fd;
    FileStamp stamp;
    TargetFile file;   // its open_path leads through `fd`
    std::string root;  // how the process's own paths begin for us
};

// not_found: the process is gone, and its path leads elsewhere.
[[nodiscard]] Result<LateFile> open_late_file(const NewMapping& mapping);

// The same for every file that a process runs code from now.
[[nodiscard]] std::vector<LateFile> open_mapped_files(uint32_t pid);

// Compiles the events against one file. Those that it lacks are the plan's waiting ones, faults are
// warnings. Ids begin at `first_probe_id`; a point equal to one of `known` takes its place, others
// (the only ones in the plan) go on behind them. `options` are those of the plan at the start, but
// for what a single file that came later decides.
[[nodiscard]] Result<AttachPlan> compile_late_file(std::span<const EventSpec> events,
                                                   const LateFile& file,
                                                   uint32_t first_probe_id,
                                                   std::span<const model::Point> known,
                                                   CompileOptions options = {});

// Puts what was compiled apart behind a plan: ids, gates and points go on. A point equal to one of
// `known` (those before the plan's own) or of the plan takes its place.
void append_plan(AttachPlan& plan, AttachPlan added, std::span<const model::Point> known = {});

}  // namespace tracer
