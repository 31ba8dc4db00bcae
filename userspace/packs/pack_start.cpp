// SPDX-License-Identifier: Apache-2.0
//
// Files of processes and of a program to come, grouped by inode first: what a process was started
// with decides about some probes, so all that run a file must be known when it is looked into. A
// machine may run more files than a process may have open: only those with probes stay open. Called
// before a recording and by `tracer packs NAME --pid N`.
#include "packs/pack_start.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

namespace tracer {
namespace {

// One inode, by whatever names and devices it is mapped.
struct Group {
    FileStamp stamp;
    RunningFile running;
    std::string program_path;  // empty: no file of the program to come
    bool is_program = false;
};

class Groups {
public:
    // The group of an inode, maybe a new one.
    Group& of(const FileStamp& stamp) {
        const auto [begin, end] = by_inode_.equal_range(stamp.inode);
        for (auto place = begin; place != end; ++place) {
            Group& group = groups_[place->second];
            if (is_same_inode(group.stamp, stamp)) return group;
        }
        by_inode_.emplace(stamp.inode, groups_.size());
        groups_.push_back({.stamp = stamp, .running = {}, .program_path = {}});
        return groups_.back();
    }
    [[nodiscard]] const std::vector<Group>& all() const { return groups_; }

private:
    std::vector<Group> groups_;
    std::multimap<uint64_t, size_t> by_inode_;
};

Groups group_files(const PackStartRequest& request) {
    Groups groups;
    for (const std::string& path : request.program_files) {
        const auto stamp = stamp_of(path);
        if (!stamp) continue;
        Group& group = groups.of(*stamp);
        group.program_path = path;
        if (path == request.program_files.front()) group.is_program = true;
    }
    for (RunningFile& file : find_running_files(request.pids)) {
        const auto opened = open_running_file(file);
        if (!opened) continue;
        RunningFile& known = groups.of(opened->stamp).running;
        known.is_executable = known.is_executable || file.is_executable;
        known.runners.insert(known.runners.end(), std::make_move_iterator(file.runners.begin()),
                             std::make_move_iterator(file.runners.end()));
    }
    return groups;
}

Result<LateFile> open_group(const Group& group) {
    if (group.running.runners.empty()) return open_file_by_path(group.program_path);
    return open_running_file(group.running);
}

}  // namespace

PackStart plan_packs(const PackPlanner& planner,
                     const PackStartRequest& request,
                     AttachPlan& plan) {
    PackStart start;
    const auto move_all = [](auto& to, auto& from) {
        to.insert(to.end(), std::make_move_iterator(from.begin()),
                  std::make_move_iterator(from.end()));
    };
    const Groups groups = group_files(request);
    std::optional<TargetFiles> process_files;
    if (request.are_all) {
        const std::vector<pid_t> pids(request.pids.begin(), request.pids.end());
        // Not known of those that have ended.
        if (auto files = TargetFiles::of_processes(pids)) process_files = std::move(*files);
    }
    for (const Group& group : groups.all()) {
        auto file = open_group(group);
        if (!file || !is_same_inode(file->stamp, group.stamp)) continue;
        start.seen.add(file->stamp);
        ++start.files_looked_at;
        const PackSubject subject{
            .file = *file,
            .is_executable = group.is_program || group.running.is_executable,
            .pids = group.running.pids(),
            .to_come = group.program_path.empty() ? nullptr : &request.program_start,
            .process_files = process_files ? &*process_files : nullptr,
            .gives_way_to_rings = request.are_all && request.are_rings_read};
        PackAddition added = planner.add(subject, plan);
        const bool has_probes = std::ranges::any_of(added.files, &PackedFile::is_armed);
        move_all(start.found.files, added.files);
        move_all(start.found.titles, added.titles);
        move_all(start.found.warnings, added.warnings);
        if (has_probes) start.opened.push_back(std::move(*file));
    }
    return start;
}

}  // namespace tracer
