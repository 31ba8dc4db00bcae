// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "packs/pack_plan.h"
#include "probe/kernel_recorder.h"
#include "probe/late_files.h"
#include "probe/mapping_watch.h"
#include "session/late_counts.h"
#include "session/late_queue.h"
#include "session/selection.h"
#include "tracer/base/unique_fd.h"

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <thread>
#include <tuple>
#include <vector>

namespace tracer {

struct DiscoveryOptions {
    std::vector<EventSpec> events;       // tracepoints are no matter of files: left out
    CompileOptions compile;              // as at the start
    AttachPlan plan;                     // what is attached at the start; its ids and points go on
    SeenFiles seen;                      // looked at already, for every event
    SeenFiles named;                     // looked at for the events that name their path
    const PackPlanner* packs = nullptr;  // whose probes are armed in what comes; null: none
    SeenFiles packed;                    // looked at for packs
    std::vector<uint32_t> processes;     // recorded in part: of single threads
    Selection selection;
    uint32_t own_pid = 0;
    uint32_t programs_max = 0;  // that may still be attached
    bool real_time = false;
    // A recorded process runs a file that it did not run before; on the discovery's thread. Empty:
    // nobody asks.
    std::function<void(uint32_t)> on_program;
};

// The point of the event "probes armed"; add it to the plan before a recording that discovers.
[[nodiscard]] model::Point armed_point(model::PointIndex index);
[[nodiscard]] ProbeDefinition armed_definition(model::PointIndex index);
// The same for hits that name processes by their command lines; they show nothing.
[[nodiscard]] model::Point titled_point(model::PointIndex index);
[[nodiscard]] ProbeDefinition titled_definition(model::PointIndex index);

// Arms probes in files that recorded processes begin to run during the recording, and has cgroups
// recorded that are made during it, on a thread of its own. Each file is looked at once.
class Discovery {
public:
    // Watches from now on, so that nothing falls between and the look at what is there; nothing is
    // done before start(). Borrows all but the options. `watch` null: no probes are armed later.
    Discovery(KernelRecorder& recorder,
              MappingWatch* watch,
              LateQueue& queue,
              DiscoveryOptions options);
    ~Discovery() { stop(); }
    Discovery(const Discovery&) = delete;
    Discovery& operator=(const Discovery&) = delete;

    // After the recorder has attached, before it detaches.
    [[nodiscard]] Status start();
    void stop();

    // These after stop().
    [[nodiscard]] const LateCounts& counts() const { return counts_; }
    [[nodiscard]] const std::vector<ProbeDefinition>& probes() const { return probes_; }
    [[nodiscard]] const std::vector<std::string>& warnings() const { return warnings_; }
    // What was recognised in files that came.
    [[nodiscard]] const std::vector<PackedFile>& packed() const { return packed_; }
    // Events "probes armed" that were queued.
    [[nodiscard]] uint64_t records() const { return records_; }
    // Names of processes that were queued.
    [[nodiscard]] uint64_t titles() const { return titles_; }

private:
    void run();
    void look_at_news();
    void look_at_mappings();
    void look_at(const NewMapping& mapping);
    // Its files, which may have probes wanted since then.
    void look_at_process(uint32_t pid, uint64_t since_ns);
    void look_at_cgroup(const KernelNews::Cgroup& cgroup);
    // At what every recorded process runs: after a loss.
    void look_at_all();
    void take_file(LateFile file, const NewMapping& cause);
    // What is asked for by name, then what packs have for it, as one addition.
    [[nodiscard]] AttachPlan compile_events_for(const LateFile& file);
    void add_packs(const LateFile& file, const NewMapping& cause, AttachPlan& addition);
    // False: none of it is.
    bool arm(const AttachPlan& addition, const LateFile& file, const NewMapping& cause);
    // What processes that joined the recording are called by the packs of a file they run.
    void tell_titles(const LateFile& file, const NewMapping& cause);
    void tell(const LateFile& file, const NewMapping& cause, uint64_t sites, uint64_t now_ns);
    [[nodiscard]] bool is_of_interest(uint32_t pid) const;
    void note_matches(const AttachPlan& addition);
    void warn(std::string text);

    KernelRecorder& recorder_;
    MappingWatch* watch_;
    LateQueue& queue_;
    DiscoveryOptions options_;
    UniqueFd stop_event_;
    std::thread thread_;
    std::atomic<bool> stop_ = false;

    // Of the thread while it runs, and options_.
    std::set<std::tuple<uint32_t, uint32_t, uint64_t, uint64_t>> seen_inodes_;  // as mappings say
    std::vector<NewMapping> mappings_;
    std::vector<EventSpec> unnamed_events_;  // those that no path leads to a file
    std::vector<model::Point> points_;
    std::vector<ProbeDefinition> probes_;  // of late files
    uint32_t next_probe_id_ = 0;
    uint32_t programs_left_ = 0;
    std::set<std::string> waiting_;  // texts of specs that no file had so far
    LateCounts counts_;
    std::vector<std::string> warnings_;
    std::vector<PackedFile> packed_;
    uint64_t records_ = 0;
    uint64_t titles_ = 0;
};

}  // namespace tracer
