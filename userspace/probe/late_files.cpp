// SPDX-License-Identifier: Apache-2.0
//
// From a new mapping to probes in its file. Relies on /proc/PID for as long as the process lives
// and on an open descriptor from then on. Called by the session's discovery thread.
#include "probe/late_files.h"

#include "probe/probe_compiler.h"

#include <algorithm>
#include <cerrno>
#include <fcntl.h>
#include <iterator>
#include <linux/fs.h>
#include <linux/magic.h>
#include <map>
#include <span>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>
#include <utility>

#include <fmt/format.h>

namespace tracer {
namespace {

UniqueFd open_to_read(const std::string& path) {
    // A name may lead to a pipe by now: opening it must not wait for a writer.
    return UniqueFd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
}

// Opens `path` if it leads to the inode. The device is compared only where another file system may
// well have an inode of that number: behind a name that is not the process's own.
std::optional<LateFile> open_if_same(const std::string& path,
                                     const NewMapping& mapping,
                                     bool compare_device) {
    LateFile late;
    late.fd = open_to_read(path);
    if (!late.fd.valid()) return std::nullopt;
    const auto stamp = stamp_of(late.fd.get());
    if (!stamp || stamp->inode != mapping.inode) return std::nullopt;
    const uint64_t device = makedev(mapping.device_major, mapping.device_minor);
    if (compare_device && stamp->device != device) return std::nullopt;
    late.stamp = *stamp;
    late.file = {fmt::format("/proc/self/fd/{}", late.fd.get()), mapping.path};
    late.root = fmt::format("/proc/{}/root", mapping.pid);
    return late;
}

bool is_same_point(const model::Point& a, const model::Point& b) {
    const auto is_same_list = [](const auto& left, const auto& right) {
        return std::ranges::equal(
            left, right, [](const model::Argument& x, const model::Argument& y) {
                return x.name == y.name && x.type == y.type && x.names == y.names;
            });
    };
    return a.kind == b.kind && a.category == b.category && a.name == b.name &&
           is_same_list(a.arguments, b.arguments) && is_same_list(a.end_arguments, b.end_arguments);
}

// Gives the plan's points their places behind the known ones, and leaves out those that are known.
void place_points(AttachPlan& plan, std::span<const model::Point> known) {
    std::vector<model::PointIndex> places;
    std::vector<model::Point> added;
    for (model::Point& point : plan.points) {
        const auto found = std::ranges::find_if(
            known, [&](const model::Point& other) { return is_same_point(point, other); });
        if (found != known.end()) {
            places.push_back(found->index);
            continue;
        }
        point.index = model::PointIndex{static_cast<uint32_t>(known.size() + added.size())};
        places.push_back(point.index);
        added.push_back(std::move(point));
    }
    plan.points = std::move(added);
    for (ProbeDefinition& probe : plan.probes) {
        const auto index = static_cast<size_t>(probe.point);
        TR_CHECK(index < places.size());
        probe.point = places[index];
    }
}

}  // namespace

std::optional<FileStamp> stamp_of(int fd) {
    struct stat status {};
    struct statfs system {};
    if (fstat(fd, &status) != 0 || !S_ISREG(status.st_mode)) return std::nullopt;
    if (fstatfs(fd, &system) != 0) return std::nullopt;
    FileStamp stamp;
    stamp.device = status.st_dev;
    stamp.inode = status.st_ino;
    stamp.bytes = static_cast<uint64_t>(status.st_size);
    stamp.modified_ns = status.st_mtim.tv_sec * 1'000'000'000 + status.st_mtim.tv_nsec;
    stamp.is_overlay = system.f_type == OVERLAYFS_SUPER_MAGIC;
    // The kernel writes an int, whatever the request's name says (fs/ioctl, ext4_ioctl).
    int generation = 0;
    if (ioctl(fd, FS_IOC_GETVERSION, &generation) == 0) {
        stamp.generation = static_cast<uint32_t>(generation);
    }
    return stamp;
}

std::optional<FileStamp> stamp_of(const std::string& path) {
    const UniqueFd fd = open_to_read(path);
    return fd.valid() ? stamp_of(fd.get()) : std::nullopt;
}

bool is_same_inode(const FileStamp& a, const FileStamp& b) {
    if (a.inode != b.inode) return false;
    const bool is_same_content = a.bytes == b.bytes && a.modified_ns == b.modified_ns;
    if (a.device == b.device) {
        return a.generation && b.generation ? *a.generation == *b.generation : is_same_content;
    }
    // overlayfs answers with a device of its own and with all else of the real inode. Elsewhere two
    // devices are two files, however alike (snapshots).
    return (a.is_overlay || b.is_overlay) && is_same_content;
}

bool SeenFiles::add(const FileStamp& stamp) {
    const auto [begin, end] = by_inode_.equal_range(stamp.inode);
    for (auto known = begin; known != end; ++known) {
        if (is_same_inode(known->second, stamp)) return false;
    }
    by_inode_.emplace(stamp.inode, stamp);
    return true;
}

Result<LateFile> open_late_file(const NewMapping& mapping) {
    const std::string process = fmt::format("/proc/{}", mapping.pid);
    const std::string range = fmt::format("{:x}-{:x}", mapping.start, mapping.end);
    if (auto file = open_if_same(process + "/map_files/" + range, mapping, false)) {
        return std::move(*file);
    }
    if (auto file = open_if_same(process + "/root" + mapping.path, mapping, false)) {
        return std::move(*file);
    }
    if (auto file = open_if_same(process + "/exe", mapping, false)) return std::move(*file);
    // The mapping was changed or the process has ended: the next one may run the same file.
    if (auto file = open_if_same(mapping.path, mapping, true)) return std::move(*file);
    return fail(
        ErrorCode::not_found,
        fmt::format("{} of process {}: gone before it could be opened", mapping.path, mapping.pid));
}

std::vector<LateFile> open_mapped_files(uint32_t pid) {
    std::vector<LateFile> files;
    const auto mapped = read_mapped_files(static_cast<pid_t>(pid));
    if (!mapped) return files;
    for (const MappedFile& file : *mapped) {
        LateFile late;
        late.fd = open_to_read(file.open_path);
        const auto stamp = late.fd.valid() ? stamp_of(late.fd.get()) : std::nullopt;
        if (!stamp) continue;
        late.stamp = *stamp;
        late.file = {fmt::format("/proc/self/fd/{}", late.fd.get()), file.shown_path};
        late.root = fmt::format("/proc/{}/root", pid);
        files.push_back(std::move(late));
    }
    return files;
}

Result<AttachPlan> compile_late_file(std::span<const EventSpec> events,
                                     const LateFile& file,
                                     uint32_t first_probe_id,
                                     std::span<const model::Point> known,
                                     CompileOptions options) {
    options.missing = MissingSpec::ignore;
    options.are_libraries_shared = true;
    TR_ASSIGN(AttachPlan compiled,
              compile_events(events, TargetFiles::of_file(file.file, file.root), options));
    AttachPlan plan;
    plan.first_probe_id = first_probe_id;
    append_plan(plan, std::move(compiled), known);
    return plan;
}

namespace {

bool begins_a_call(HitRole role) {
    return role == HitRole::span_begin || role == HitRole::fiber_span_begin;
}

// Gives begins of spans at one place a number in common. `first_added`: of the file's sites, the
// first that has come to others.
void number_places(AttachPlan& plan, const AttachFile& file, size_t first_added) {
    const auto definition_of = [&](const AttachSite& site) -> ProbeDefinition& {
        return plan.probes.at(site.probe_id - plan.first_probe_id);
    };
    std::map<uint64_t, std::vector<const AttachSite*>> added;  // by place
    const auto sites = std::span(file.sites);
    for (const AttachSite& site : sites.subspan(first_added)) {
        if (begins_a_call(definition_of(site).role)) added[site.file_offset].push_back(&site);
    }
    if (added.empty()) return;
    for (const AttachSite& site : sites.first(first_added)) {
        const auto place = added.find(site.file_offset);
        if (place == added.end() || !begins_a_call(definition_of(site).role)) continue;
        uint32_t& number = definition_of(site).place;
        if (number == 0) number = site.probe_id;
        for (const AttachSite* other : place->second) definition_of(*other).place = number;
    }
}

// One inode is attached at once, whatever paths lead to it: a link for each of its programs, and
// an order among its places (LiveRecorder::attach_file). Returns the plan's file, and how many
// sites it had.
std::pair<size_t, size_t> merge_file(AttachPlan& plan, AttachFile added) {
    const auto stamp = stamp_of(added.attach_path());
    const auto is_same = [&](const AttachFile& known) {
        if (known.open_path == added.open_path) return true;
        const auto other = stamp ? stamp_of(known.attach_path()) : std::nullopt;
        return other && is_same_inode(*other, *stamp);
    };
    const auto known = std::ranges::find_if(plan.files, is_same);
    const auto index = static_cast<size_t>(known - plan.files.begin());
    if (known == plan.files.end()) {
        plan.files.push_back(std::move(added));
        return {index, 0};
    }
    const size_t before = known->sites.size();
    known->sites.insert(known->sites.end(), added.sites.begin(), added.sites.end());
    for (const SemaphoreRaise& raise : added.raises) {
        if (known->add_raise(raise)) continue;
        plan.warnings.push_back(
            fmt::format("no place left in {} to raise the semaphore at {:#x} by", known->shown_path,
                        raise.semaphore_offset));
    }
    return {index, before};
}

}  // namespace

void append_plan(AttachPlan& plan, AttachPlan added, std::span<const model::Point> known) {
    const auto id_shift =
        plan.first_probe_id + static_cast<uint32_t>(plan.programs.size()) - added.first_probe_id;
    const auto gate_shift = static_cast<uint32_t>(plan.gates.size());
    for (AttachFile& file : added.files) {
        for (AttachSite& site : file.sites) {
            site.probe_id += id_shift;
            if (site.begin_id != 0) site.begin_id += id_shift;
        }
        for (SemaphoreRaise& raise : file.raises) raise.probe_id += id_shift;
    }
    for (AttachTracepoint& tracepoint : added.tracepoints) tracepoint.probe_id += id_shift;
    for (ProbeDefinition& probe : added.probes) probe.probe_id += id_shift;
    for (tr_probe& program : added.programs) {
        if ((program.flags & TR_PROBE_GATED) != 0) {
            program.flags += gate_shift << TR_PROBE_GATE_SHIFT;
        }
    }
    for (tr_gate& gate : added.gates) gate.state += plan.gate_state_count;
    std::vector<model::Point> before(known.begin(), known.end());
    before.insert(before.end(), plan.points.begin(), plan.points.end());
    place_points(added, before);
    const auto move_all = [](auto& to, auto& from) {
        to.insert(to.end(), std::make_move_iterator(from.begin()),
                  std::make_move_iterator(from.end()));
    };
    std::vector<std::pair<size_t, size_t>> merged;
    for (AttachFile& file : added.files) merged.push_back(merge_file(plan, std::move(file)));
    move_all(plan.tracepoints, added.tracepoints);
    move_all(plan.programs, added.programs);
    move_all(plan.gates, added.gates);
    plan.gate_state_count += added.gate_state_count;
    move_all(plan.points, added.points);
    move_all(plan.probes, added.probes);
    move_all(plan.waiting, added.waiting);
    move_all(plan.warnings, added.warnings);
    for (const auto& [index, count] : merged) number_places(plan, plan.files[index], count);
}

}  // namespace tracer
