// SPDX-License-Identifier: Apache-2.0
//
// A call for every event of the table, over one buffer. Times are absolute, of the clock that the
// buffer's log was opened with, in nanoseconds. A refused event is counted in the buffer, so the
// Fault may be ignored. Where an event belongs is said as GHC does it: "own" is the block of the
// capability that it happened on, "global" the block of no capability. Readers' state machines
// (ghc-events' validators, ThreadScope) fail on thread events outside their capability's block.
#pragma once

#include "tracer/write/eventlog/block_buffer.h"
#include "tracer/write/eventlog/values.h"

#include <cstdint>
#include <span>
#include <string_view>

namespace tracer::eventlog {

class LockedPoster;

// A pointer with methods: copy it freely. As thread safe as the buffer, which it borrows.
class Poster {
public:
    explicit Poster(BlockBuffer& buffer) : buffer_(&buffer) {}
    // It would outlive the lock. NOLINTNEXTLINE(google-explicit-constructor): of no form at all
    Poster(const LockedPoster&) = delete;

    // Any event by its id, with the fields that the table gives it: what has no call below
    // (compilers before 9.0, Eden), and programs that make their calls from the table.
    template <EventId id, typename... Fields>
    Fault post(uint64_t ns, Fields... fields) {
        return buffer_->post<id>(ns, fields...);
    }

    // As BlockBuffer::post_list, for callers that learn at run time what to post.
    Fault post_list(EventId id, uint64_t ns, std::span<const BlockBuffer::Part> fields) {
        return buffer_->post_list(id, ns, fields);
    }

    // Threads; own. A thread is created once, runs only where no other does, and is not heard of
    // after it has finished.
    Fault post_create_thread(uint64_t ns, ThreadId thread) {
        return post<EventId::create_thread>(ns, thread);
    }
    Fault post_run_thread(uint64_t ns, ThreadId thread) {
        return post<EventId::run_thread>(ns, thread);
    }
    // `info`: see StopStatus; 0 for the others.
    Fault post_stop_thread(uint64_t ns, ThreadId thread, StopStatus status, uint32_t info = 0) {
        if (!is_portable(status)) return buffer_->refuse(Fault::bad_value);
        return post<EventId::stop_thread>(ns, thread, status, info);
    }
    Fault post_thread_runnable(uint64_t ns, ThreadId thread) {
        return post<EventId::thread_runnable>(ns, thread);
    }
    // In the block of the capability that it leaves.
    Fault post_migrate_thread(uint64_t ns, ThreadId thread, CapNo new_cap) {
        return post<EventId::migrate_thread>(ns, thread, new_cap);
    }
    // In the block of the waker's capability.
    Fault post_thread_wakeup(uint64_t ns, ThreadId thread, CapNo other_cap) {
        return post<EventId::thread_wakeup>(ns, thread, other_cap);
    }
    Fault post_thread_label(uint64_t ns, ThreadId thread, std::string_view label);
    Fault post_create_spark_thread(uint64_t ns, ThreadId thread) {
        return post<EventId::create_spark_thread>(ns, thread);
    }

    // Sparks; own.
    Fault post_spark_counters(uint64_t ns, const SparkCounters& sparks) {
        return post<EventId::spark_counters>(ns, sparks.created, sparks.dud, sparks.overflowed,
                                             sparks.converted, sparks.collected, sparks.fizzled,
                                             sparks.remaining);
    }
    Fault post_spark_create(uint64_t ns) { return post<EventId::spark_create>(ns); }
    Fault post_spark_dud(uint64_t ns) { return post<EventId::spark_dud>(ns); }
    Fault post_spark_overflow(uint64_t ns) { return post<EventId::spark_overflow>(ns); }
    Fault post_spark_run(uint64_t ns) { return post<EventId::spark_run>(ns); }
    Fault post_spark_steal(uint64_t ns, CapNo victim) {
        return post<EventId::spark_steal>(ns, victim);
    }
    Fault post_spark_fizzle(uint64_t ns) { return post<EventId::spark_fizzle>(ns); }
    Fault post_spark_gc(uint64_t ns) { return post<EventId::spark_gc>(ns); }

    // Capabilities; global. Numbers dense from 0: ThreadScope draws a row for each up to the
    // largest.
    Fault post_cap_create(uint64_t ns, CapNo cap) { return post<EventId::cap_create>(ns, cap); }
    Fault post_cap_delete(uint64_t ns, CapNo cap) { return post<EventId::cap_delete>(ns, cap); }
    Fault post_cap_enable(uint64_t ns, CapNo cap) { return post<EventId::cap_enable>(ns, cap); }
    Fault post_cap_disable(uint64_t ns, CapNo cap) { return post<EventId::cap_disable>(ns, cap); }
    // How many there will be; only `ghc-events merge` asks. Needs Dialect::has_obsolete.
    Fault post_startup(uint64_t ns, uint16_t capabilities) {
        return post<EventId::startup>(ns, capabilities);
    }

    // Sets of capabilities; global. GHC's set 0 is the process, its set 1 the clock.
    Fault post_capset_create(uint64_t ns, CapsetId capset, CapsetType type) {
        return post<EventId::capset_create>(ns, capset, type);
    }
    Fault post_capset_delete(uint64_t ns, CapsetId capset) {
        return post<EventId::capset_delete>(ns, capset);
    }
    Fault post_capset_assign_cap(uint64_t ns, CapsetId capset, CapNo cap) {
        return post<EventId::capset_assign_cap>(ns, capset, cap);
    }
    Fault post_capset_remove_cap(uint64_t ns, CapsetId capset, CapNo cap) {
        return post<EventId::capset_remove_cap>(ns, capset, cap);
    }
    Fault post_osprocess_pid(uint64_t ns, CapsetId capset, uint32_t pid) {
        return post<EventId::osprocess_pid>(ns, capset, pid);
    }
    Fault post_osprocess_ppid(uint64_t ns, CapsetId capset, uint32_t pid) {
        return post<EventId::osprocess_ppid>(ns, capset, pid);
    }
    Fault post_rts_identifier(uint64_t ns, CapsetId capset, std::string_view name);
    // The first is the program's name; ThreadScope wants at least one.
    Fault post_program_args(uint64_t ns,
                            CapsetId capset,
                            std::span<const std::string_view> arguments);
    Fault post_program_env(uint64_t ns,
                           CapsetId capset,
                           std::span<const std::string_view> variables);
    // The time since 1970 at this event's time.
    Fault post_wall_clock_time(uint64_t ns,
                               CapsetId capset,
                               uint64_t unix_seconds,
                               uint32_t nanoseconds) {
        return post<EventId::wall_clock_time>(ns, capset, unix_seconds, nanoseconds);
    }

    // Garbage collection; own, of every capability that takes part.
    Fault post_gc_start(uint64_t ns) { return post<EventId::gc_start>(ns); }
    Fault post_gc_end(uint64_t ns) { return post<EventId::gc_end>(ns); }
    Fault post_request_seq_gc(uint64_t ns) { return post<EventId::request_seq_gc>(ns); }
    Fault post_request_par_gc(uint64_t ns) { return post<EventId::request_par_gc>(ns); }
    Fault post_gc_idle(uint64_t ns) { return post<EventId::gc_idle>(ns); }
    Fault post_gc_work(uint64_t ns) { return post<EventId::gc_work>(ns); }
    Fault post_gc_done(uint64_t ns) { return post<EventId::gc_done>(ns); }
    Fault post_gc_global_sync(uint64_t ns) { return post<EventId::gc_global_sync>(ns); }
    Fault post_gc_stats(uint64_t ns, CapsetId heap, const GcStats& stats) {
        return post<EventId::gc_stats_ghc>(
            ns, heap, stats.generation, stats.copied_bytes, stats.slop_bytes,
            stats.fragmentation_bytes, stats.threads, stats.thread_copied_bytes_max,
            stats.threads_copied_bytes, stats.threads_balanced_bytes);
    }

    // The heap of a set of capabilities. Allocated: own, since the start. The others: by the
    // capability that measured; info: global.
    Fault post_heap_allocated(uint64_t ns, CapsetId heap, uint64_t bytes) {
        return post<EventId::heap_allocated>(ns, heap, bytes);
    }
    Fault post_heap_size(uint64_t ns, CapsetId heap, uint64_t bytes) {
        return post<EventId::heap_size>(ns, heap, bytes);
    }
    Fault post_heap_live(uint64_t ns, CapsetId heap, uint64_t bytes) {
        return post<EventId::heap_live>(ns, heap, bytes);
    }
    Fault post_blocks_size(uint64_t ns, CapsetId heap, uint64_t bytes) {
        return post<EventId::blocks_size>(ns, heap, bytes);
    }
    Fault post_heap_info(uint64_t ns, CapsetId heap, const HeapInfo& info) {
        return post<EventId::heap_info_ghc>(ns, heap, info.generations, info.heap_bytes_max,
                                            info.allocation_area_bytes, info.megablock_bytes,
                                            info.block_bytes);
    }
    Fault post_mem_return(uint64_t ns, CapsetId heap, const MemoryReturn& memory) {
        return post<EventId::mem_return>(ns, heap, memory.current, memory.needed, memory.returned);
    }

    // Tasks, the operating system's threads; global. ThreadScope drops everything after the first
    // task event that is not valid: a known task created, an unknown one ended, a kernel thread
    // twice. Post them only when sure.
    Fault post_task_create(uint64_t ns, TaskId task, CapNo cap, KernelThreadId kernel_thread) {
        return post<EventId::task_create>(ns, task, cap, kernel_thread);
    }
    Fault post_task_migrate(uint64_t ns, TaskId task, CapNo cap, CapNo new_cap) {
        return post<EventId::task_migrate>(ns, task, cap, new_cap);
    }
    Fault post_task_delete(uint64_t ns, TaskId task) {
        return post<EventId::task_delete>(ns, task);
    }

    // Messages. User messages are drawn by ThreadScope, markers as lines through all rows.
    Fault post_log_message(uint64_t ns, std::string_view text);
    Fault post_user_message(uint64_t ns, std::string_view text);
    Fault post_user_marker(uint64_t ns, std::string_view text);
    Fault post_user_binary_message(uint64_t ns, std::span<const std::byte> bytes);
    Fault post_intern_string(uint64_t ns, std::string_view text, uint32_t id);

    // perf's events; ThreadScope draws them where TASK_CREATE says that the kernel thread is.
    Fault post_perf_name(uint64_t ns, PerfId id, std::string_view name);
    // Shown as `period` + 1 times.
    Fault post_perf_counter(uint64_t ns, PerfId id, KernelThreadId kernel_thread, uint64_t period) {
        return post<EventId::perf_counter>(ns, id, kernel_thread, period);
    }
    Fault post_perf_tracepoint(uint64_t ns, PerfId id, KernelThreadId kernel_thread) {
        return post<EventId::perf_tracepoint>(ns, id, kernel_thread);
    }

    // Heap profiles; global. A sample is begun, told by cost centre or by string, and ended.
    Fault post_heap_prof_begin(uint64_t ns, const HeapProfile& profile);
    Fault post_heap_prof_cost_centre(uint64_t ns, const CostCentre& centre);
    Fault post_heap_prof_sample_begin(uint64_t ns, uint64_t era) {
        return post<EventId::heap_prof_sample_begin>(ns, era);
    }
    Fault post_heap_prof_sample_end(uint64_t ns, uint64_t era) {
        return post<EventId::heap_prof_sample_end>(ns, era);
    }
    Fault post_heap_bio_prof_sample_begin(uint64_t ns, uint64_t era, uint64_t time_ns) {
        return post<EventId::heap_bio_prof_sample_begin>(ns, era, time_ns);
    }
    // Innermost first, at most kCostCentreDepthMax.
    Fault post_heap_prof_sample_cost_centre(uint64_t ns,
                                            uint8_t profile,
                                            uint64_t residency_bytes,
                                            std::span<const uint32_t> cost_centres);
    Fault post_heap_prof_sample_string(uint64_t ns,
                                       uint8_t profile,
                                       uint64_t residency_bytes,
                                       std::string_view label);

    // Time profiles; global.
    Fault post_prof_begin(uint64_t ns, uint64_t tick_interval_ns) {
        return post<EventId::prof_begin>(ns, tick_interval_ns);
    }
    Fault post_prof_sample_cost_centre(uint64_t ns,
                                       uint32_t cap,
                                       uint64_t tick,
                                       std::span<const uint32_t> cost_centres);

    // The non-moving collector; global.
    Fault post_conc_mark_begin(uint64_t ns) { return post<EventId::conc_mark_begin>(ns); }
    Fault post_conc_mark_end(uint64_t ns, uint32_t marked_objects) {
        return post<EventId::conc_mark_end>(ns, marked_objects);
    }
    Fault post_conc_sync_begin(uint64_t ns) { return post<EventId::conc_sync_begin>(ns); }
    Fault post_conc_sync_end(uint64_t ns) { return post<EventId::conc_sync_end>(ns); }
    Fault post_conc_sweep_begin(uint64_t ns) { return post<EventId::conc_sweep_begin>(ns); }
    Fault post_conc_sweep_end(uint64_t ns) { return post<EventId::conc_sweep_end>(ns); }
    Fault post_conc_upd_rem_set_flush(uint64_t ns, CapNo cap) {
        return post<EventId::conc_upd_rem_set_flush>(ns, cap);
    }
    Fault post_nonmoving_heap_census(uint64_t ns, const NonmovingCensus& census);
    Fault post_nonmoving_pruned_segments(uint64_t ns, uint32_t pruned, uint32_t free) {
        return post<EventId::nonmoving_pruned_segments>(ns, pruned, free);
    }

    // Info tables' provenance, and ticky counters; global.
    Fault post_ipe(uint64_t ns, const InfoTable& table);
    Fault post_ticky_counter_def(uint64_t ns, const TickyCounter& counter);
    Fault post_ticky_counter_begin_sample(uint64_t ns) {
        return post<EventId::ticky_counter_begin_sample>(ns);
    }
    Fault post_ticky_counter_sample(uint64_t ns, const TickySample& sample) {
        return post<EventId::ticky_counter_sample>(ns, sample.id, sample.entries,
                                                   sample.allocations, sample.allocated_bytes);
    }

    [[nodiscard]] BlockBuffer& buffer() const { return *buffer_; }

private:
    BlockBuffer* buffer_;
};

}  // namespace tracer::eventlog
