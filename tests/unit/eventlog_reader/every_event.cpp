// SPDX-License-Identifier: Apache-2.0
//
// The life of a small program on two capabilities, told so that readers' state machines accept it:
// a thread that runs, migrates and ends, one that runs sparks, a collection, profiles of every
// sort. Used by the golden of the writer's bytes and by the tests that have the ghc-events library
// read them.
#include "every_event.h"

#include "tracer/write/eventlog/header.h"

#include <array>

namespace tracer::test {
namespace {

using namespace eventlog;

constexpr uint64_t kBase_ns = 7'000'000'000;
constexpr ThreadId kMain = 1;
constexpr ThreadId kWorker = 2;
constexpr CapsetId kProcess = 0;
constexpr CapsetId kClock = 1;
constexpr std::array<uint32_t, 3> kStack = {3, 2, 1};

// Each call is a nanosecond after the one before, whichever buffer it goes to.
struct Story {
    Story(BlockBuffer& of_none,
          BlockBuffer& of_first,
          BlockBuffer& of_second,
          const EveryEventOptions& demo_options)
        : global(of_none), first(of_first), second(of_second), options(demo_options) {}

    Poster global;
    Poster first;
    Poster second;
    EveryEventOptions options;
    uint64_t now_ns = kBase_ns;

    uint64_t next() { return now_ns += 1; }
};

void tell_program(Story& s) {
    constexpr std::array<std::string_view, 2> kArguments = {"demo", "--n=\xCE\xBB"};
    constexpr std::array<std::string_view, 1> kEnvironment = {"LANG=C.UTF-8"};
    s.global.post_capset_create(s.next(), kProcess, CapsetType::os_process);
    s.global.post_capset_create(s.next(), kClock, CapsetType::clock_domain);
    for (const CapNo cap : {CapNo{0}, CapNo{1}}) {
        s.global.post_cap_create(s.next(), cap);
        s.global.post_capset_assign_cap(s.next(), kProcess, cap);
        s.global.post_capset_assign_cap(s.next(), kClock, cap);
    }
    s.global.post_wall_clock_time(s.next(), kClock, 1'700'000'000, 123'456'789);
    s.global.post_osprocess_pid(s.next(), kProcess, 4242);
    s.global.post_osprocess_ppid(s.next(), kProcess, 1);
    s.global.post_rts_identifier(s.next(), kProcess, "tracer demo");
    s.global.post_program_args(s.next(), kProcess, kArguments);
    s.global.post_program_env(s.next(), kProcess, kEnvironment);
    s.global.post_heap_info(s.next(), kProcess, {2, 1 << 30, 4 << 20, 1 << 20, 4096});
    s.global.post_intern_string(s.next(), "interned", 5);
    s.global.post_cap_disable(s.next(), 1);
    s.global.post_cap_enable(s.next(), 1);
    s.global.post_task_create(s.next(), 0x7f00, 0, 4242);
    s.global.post_task_create(s.next(), 0x7f01, 0, 4243);
    s.global.post_task_migrate(s.next(), 0x7f01, 0, 1);
}

void tell_threads(Story& s) {
    s.first.post_create_thread(s.next(), kMain);
    s.first.post_thread_label(s.next(), kMain, "main \xCE\xBB");
    s.first.post_thread_runnable(s.next(), kMain);
    s.first.post_run_thread(s.next(), kMain);
    s.first.post_user_message(s.next(), "a user message");
    s.first.post_user_marker(s.next(), "a marker");
    s.first.post_log_message(s.next(), "a message of the runtime");
    constexpr std::array kBinary = {std::byte{0x41}, std::byte{0}, std::byte{0x7F}};
    s.first.post_user_binary_message(s.next(), kBinary);
    s.first.post_stop_thread(s.next(), kMain, StopStatus::blocked_on_black_hole, 9);
    s.second.post_thread_wakeup(s.next(), kMain, 0);
    s.first.post_migrate_thread(s.next(), kMain, 1);
    s.second.post_run_thread(s.next(), kMain);
    s.second.post_stop_thread(s.next(), kMain, StopStatus::finished);
}

void tell_sparks(Story& s) {
    s.first.post_spark_create(s.next());
    s.first.post_spark_dud(s.next());
    s.first.post_spark_overflow(s.next());
    s.first.post_create_thread(s.next(), kWorker);
    s.first.post_create_spark_thread(s.next(), kWorker);
    s.first.post_run_thread(s.next(), kWorker);
    s.first.post_spark_run(s.next());
    s.first.post_spark_steal(s.next(), 1);
    s.first.post_spark_fizzle(s.next());
    s.first.post_spark_gc(s.next());
    s.first.post_stop_thread(s.next(), kWorker, StopStatus::finished);
    s.first.post_spark_counters(s.next(), {.created = 27,
                                           .dud = 2,
                                           .overflowed = 3,
                                           .converted = 4,
                                           .collected = 5,
                                           .fizzled = 6,
                                           .remaining = 7});
}

void tell_collection(Story& s) {
    s.first.post_request_seq_gc(s.next());
    s.first.post_request_par_gc(s.next());
    s.first.post_gc_start(s.next());
    s.second.post_gc_start(s.next());
    s.first.post_gc_global_sync(s.next());
    s.first.post_gc_work(s.next());
    s.second.post_gc_idle(s.next());
    s.first.post_gc_done(s.next());
    s.first.post_gc_stats(s.next(), kProcess,
                          {.generation = 1,
                           .copied_bytes = 1000,
                           .slop_bytes = 20,
                           .fragmentation_bytes = 30,
                           .threads = 2,
                           .thread_copied_bytes_max = 600,
                           .threads_copied_bytes = 999,
                           .threads_balanced_bytes = 400});
    s.first.post_heap_allocated(s.next(), kProcess, 1 << 20);
    s.first.post_heap_size(s.next(), kProcess, 8 << 20);
    s.first.post_blocks_size(s.next(), kProcess, 6 << 20);
    s.first.post_heap_live(s.next(), kProcess, 1 << 19);
    s.first.post_mem_return(s.next(), kProcess, {8, 5, 3});
    s.first.post_gc_end(s.next());
    s.second.post_gc_end(s.next());

    s.global.post_conc_mark_begin(s.next());
    s.global.post_conc_upd_rem_set_flush(s.next(), 1);
    s.global.post_conc_mark_end(s.next(), 99);
    s.global.post_conc_sync_begin(s.next());
    s.global.post_conc_sync_end(s.next());
    s.global.post_conc_sweep_begin(s.next());
    s.global.post_conc_sweep_end(s.next());
    s.global.post_nonmoving_heap_census(s.next(), {64, 1, 2, 3});
    if (s.options.dialect.release >= Release::ghc_9_10) {
        s.global.post_nonmoving_pruned_segments(s.next(), 4, 5);
    }
}

void tell_profiles(Story& s) {
    s.global.post_heap_prof_begin(s.next(), {.id = 1,
                                             .period_ns = 100'000'000,
                                             .breakdown = HeapBreakdown::cost_centre,
                                             .module_filter = "Main",
                                             .biography_filter = "drag"});
    s.global.post_heap_prof_cost_centre(s.next(), {1, "CAF", "Main", "<entire-module>", true});
    s.global.post_heap_prof_sample_begin(s.next(), 1);
    s.global.post_heap_prof_sample_cost_centre(s.next(), 1, 4096, kStack);
    s.global.post_heap_prof_sample_string(s.next(), 1, 2048, "ARR_WORDS");
    s.global.post_heap_prof_sample_end(s.next(), 1);
    s.global.post_heap_bio_prof_sample_begin(s.next(), 2, 77);
    s.global.post_prof_begin(s.next(), 10'000'000);
    s.global.post_prof_sample_cost_centre(s.next(), 1, 12, kStack);
    s.global.post_ipe(s.next(),
                      {0x407f10, "Main_f_info", 21, "Int -> Int", "f", "Main", "Main.hs:3:1-20"});
    s.global.post_ticky_counter_begin_sample(s.next());
    s.global.post_ticky_counter_sample(s.next(), {9, 8, 7, 6});
    if (s.options.has_ticky_definition) {
        s.global.post_ticky_counter_def(s.next(), {9, 2, "iL", "f", 0x407f10, "{}"});
    }
}

void tell_perf(Story& s) {
    s.global.post_perf_name(s.next(), 3, "sys_enter");
    s.global.post_perf_tracepoint(s.next(), 3, 4242);
    s.global.post_perf_counter(s.next(), 3, 4243, 41);
}

// What no compiler of today writes; posted from the table.
void tell_obsolete(Story& s) {
    using enum EventId;
    s.global.post<startup>(s.next(), CapNo{2});
    s.first.post<run_spark>(s.next(), kWorker);
    s.first.post<steal_spark>(s.next(), kWorker, CapNo{1});
    s.first.post<create_spark>(s.next(), kWorker);
    s.first.post<spark_to_thread>(s.next(), kWorker);
    s.global.post<version>(s.next(), Text{"GHC 6"});
    s.global.post<program_invocation>(s.next(), Text{"demo -x"});
    s.first.post<eden_start_receive>(s.next());
    s.first.post<eden_end_receive>(s.next());
    s.global.post<create_process>(s.next(), 1U);
    s.first.post<assign_thread_to_process>(s.next(), kWorker, 1U);
    s.global.post<create_machine>(s.next(), uint16_t{2}, uint64_t{3});
    s.global.post<send_message>(s.next(), uint8_t{0x50}, 1U, 2U, uint16_t{2}, 3U, 4U);
    s.global.post<receive_message>(s.next(), uint8_t{0x51}, 1U, 2U, uint16_t{2}, 3U, 4U, 5U);
    s.global.post<send_receive_local_message>(s.next(), uint8_t{0x52}, 1U, 2U, 3U, 4U);
    s.global.post<kill_machine>(s.next(), uint16_t{2});
    s.global.post<kill_process>(s.next(), 1U);
    s.first.post<EventId::shutdown>(s.next());
}

void tell_end(Story& s) {
    s.global.post<EventId::hack_bug_t9003>(s.next());
    s.global.post_task_delete(s.next(), 0x7f01);
    s.global.post_task_delete(s.next(), 0x7f00);
    for (const CapNo cap : {CapNo{0}, CapNo{1}}) {
        s.global.post_capset_remove_cap(s.next(), kProcess, cap);
        s.global.post_capset_remove_cap(s.next(), kClock, cap);
        s.global.post_cap_delete(s.next(), cap);
    }
    s.global.post_capset_delete(s.next(), kProcess);
    s.global.post_capset_delete(s.next(), kClock);
}

}  // namespace

EventlogText::EventlogText(const Dialect& dialect) {
    append(make_header(dialect));
}

BlockFate EventlogText::write_block(std::span<const std::byte> block, const BlockInfo& /*info*/) {
    append(block);
    return BlockFate::taken;
}

void EventlogText::end() {
    bytes_ += "\xFF\xFF";
}

void EventlogText::append(std::span<const std::byte> bytes) {
    for (const std::byte byte : bytes) bytes_.push_back(std::to_integer<char>(byte));
}

std::string write_every_event(const EveryEventOptions& options) {
    EventlogText out(options.dialect);
    const BufferOptions buffer_options{.dialect = options.dialect, .invalid = Invalid::refuse};
    BlockBuffer global(kNoCapability, out, buffer_options);
    BlockBuffer first(0, out, buffer_options);
    BlockBuffer second(1, out, buffer_options);
    const std::array buffers = {&global, &first, &second};
    for (BlockBuffer* buffer : buffers) {
        if (!buffer->open(kBase_ns)) return {};
    }
    Story story(global, first, second, options);
    tell_program(story);
    tell_threads(story);
    tell_sparks(story);
    tell_collection(story);
    tell_profiles(story);
    if (options.dialect.has_perf) tell_perf(story);
    if (options.dialect.has_obsolete) tell_obsolete(story);
    tell_end(story);
    for (BlockBuffer* buffer : buffers) {
        buffer->close();
        for (const uint64_t refused : buffer->counters().faults) {
            if (refused != 0) return {};
        }
    }
    out.end();
    return out.bytes();
}

}  // namespace tracer::test
