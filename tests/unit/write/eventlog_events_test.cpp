// SPDX-License-Identifier: Apache-2.0
//
// The bytes of every event, as the format's table has them: one row an event, payloads in hex.
#include "eventlog_fixture.h"
#include "tracer/write/eventlog/poster.h"

#include <functional>
#include <set>

#include <gtest/gtest.h>

namespace tracer::eventlog {
namespace {

using std::string_view_literals::operator""sv;

struct Case {
    EventId id;
    std::function<Fault(Poster)> post;
    std::string payload;  // hex, blanks for the eye
};

constexpr uint64_t kAt = 0x0102030405060708;
using enum EventId;

// An event without payload.
Case plain(EventId id, Fault (Poster::*post)(uint64_t)) {
    return {id, [post](Poster poster) { return (poster.*post)(kAt); }, ""};
}

std::vector<Case> thread_cases() {
    return {
        {create_thread, [](Poster p) { return p.post_create_thread(kAt, 0x01020304); }, "01020304"},
        {run_thread, [](Poster p) { return p.post_run_thread(kAt, 7); }, "00000007"},
        {stop_thread,
         [](Poster p) {
             return p.post_stop_thread(kAt, 7, StopStatus::blocked_on_black_hole, 0x0a0b0c0d);
         },
         "00000007 0008 0a0b0c0d"},
        {thread_runnable, [](Poster p) { return p.post_thread_runnable(kAt, 7); }, "00000007"},
        {migrate_thread, [](Poster p) { return p.post_migrate_thread(kAt, 7, 258); },
         "00000007 0102"},
        {thread_wakeup, [](Poster p) { return p.post_thread_wakeup(kAt, 7, 3); }, "00000007 0003"},
        {create_spark_thread, [](Poster p) { return p.post_create_spark_thread(kAt, 9); },
         "00000009"},
        {thread_label, [](Poster p) { return p.post_thread_label(kAt, 7, "m\xC3\xA9"); },
         "0007 00000007 6dc3a9"},
        {spark_counters,
         [](Poster p) {
             return p.post_spark_counters(kAt, {1, 2, 3, 4, 5, 6, 7});
         },
         "0000000000000001 0000000000000002 0000000000000003 0000000000000004 0000000000000005"
         "0000000000000006 0000000000000007"},
        plain(spark_create, &Poster::post_spark_create),
        plain(spark_dud, &Poster::post_spark_dud),
        plain(spark_overflow, &Poster::post_spark_overflow),
        plain(spark_run, &Poster::post_spark_run),
        {spark_steal, [](Poster p) { return p.post_spark_steal(kAt, 2); }, "0002"},
        plain(spark_fizzle, &Poster::post_spark_fizzle),
        plain(spark_gc, &Poster::post_spark_gc),
        {task_create, [](Poster p) { return p.post_task_create(kAt, 0x1122334455667788, 2, 0x99); },
         "1122334455667788 0002 0000000000000099"},
        {task_migrate, [](Poster p) { return p.post_task_migrate(kAt, 1, 2, 3); },
         "0000000000000001 0002 0003"},
        {task_delete, [](Poster p) { return p.post_task_delete(kAt, 1); }, "0000000000000001"},
    };
}

std::vector<Case> capability_cases() {
    static constexpr std::string_view kArguments[] = {"prog", "", "-x"};
    static constexpr std::string_view kVariables[] = {"A=1"};
    return {
        {cap_create, [](Poster p) { return p.post_cap_create(kAt, 1); }, "0001"},
        {cap_delete, [](Poster p) { return p.post_cap_delete(kAt, 1); }, "0001"},
        {cap_disable, [](Poster p) { return p.post_cap_disable(kAt, 1); }, "0001"},
        {cap_enable, [](Poster p) { return p.post_cap_enable(kAt, 1); }, "0001"},
        {startup, [](Poster p) { return p.post_startup(kAt, 4); }, "0004"},
        {capset_create,
         [](Poster p) { return p.post_capset_create(kAt, 1, CapsetType::clock_domain); },
         "00000001 0003"},
        {capset_delete, [](Poster p) { return p.post_capset_delete(kAt, 1); }, "00000001"},
        {capset_assign_cap, [](Poster p) { return p.post_capset_assign_cap(kAt, 1, 2); },
         "00000001 0002"},
        {capset_remove_cap, [](Poster p) { return p.post_capset_remove_cap(kAt, 1, 2); },
         "00000001 0002"},
        {osprocess_pid, [](Poster p) { return p.post_osprocess_pid(kAt, 0, 4242); },
         "00000000 00001092"},
        {osprocess_ppid, [](Poster p) { return p.post_osprocess_ppid(kAt, 0, 1); },
         "00000000 00000001"},
        {rts_identifier, [](Poster p) { return p.post_rts_identifier(kAt, 0, "GHC"); },
         "0007 00000000 474843"},
        {program_args, [](Poster p) { return p.post_program_args(kAt, 0, kArguments); },
         "000d 00000000 70726f6700 00 2d7800"},
        {program_env, [](Poster p) { return p.post_program_env(kAt, 0, kVariables); },
         "0008 00000000 413d3100"},
        {wall_clock_time,
         [](Poster p) { return p.post_wall_clock_time(kAt, 1, 0x65000000, 999'999'999); },
         "00000001 0000000065000000 3b9ac9ff"},
        {heap_info_ghc,
         [](Poster p) {
             return p.post_heap_info(kAt, 0, {2, 3, 4, 5, 6});
         },
         "00000000 0002 0000000000000003 0000000000000004 0000000000000005 0000000000000006"},
    };
}

std::vector<Case> collector_cases() {
    return {
        plain(gc_start, &Poster::post_gc_start),
        plain(gc_end, &Poster::post_gc_end),
        plain(request_seq_gc, &Poster::post_request_seq_gc),
        plain(request_par_gc, &Poster::post_request_par_gc),
        plain(gc_idle, &Poster::post_gc_idle),
        plain(gc_work, &Poster::post_gc_work),
        plain(gc_done, &Poster::post_gc_done),
        plain(gc_global_sync, &Poster::post_gc_global_sync),
        {gc_stats_ghc,
         [](Poster p) {
             return p.post_gc_stats(kAt, 0, {1, 2, 3, 4, 5, 6, 7, 8});
         },
         "00000000 0001 0000000000000002 0000000000000003 0000000000000004 00000005"
         "0000000000000006 0000000000000007 0000000000000008"},
        {heap_allocated, [](Poster p) { return p.post_heap_allocated(kAt, 0, 16); },
         "00000000 0000000000000010"},
        {heap_size, [](Poster p) { return p.post_heap_size(kAt, 0, 16); },
         "00000000 0000000000000010"},
        {heap_live, [](Poster p) { return p.post_heap_live(kAt, 0, 16); },
         "00000000 0000000000000010"},
        {blocks_size, [](Poster p) { return p.post_blocks_size(kAt, 0, 16); },
         "00000000 0000000000000010"},
        {mem_return,
         [](Poster p) {
             return p.post_mem_return(kAt, 0, {1, 2, 3});
         },
         "00000000 00000001 00000002 00000003"},
        plain(conc_mark_begin, &Poster::post_conc_mark_begin),
        {conc_mark_end, [](Poster p) { return p.post_conc_mark_end(kAt, 5); }, "00000005"},
        plain(conc_sync_begin, &Poster::post_conc_sync_begin),
        plain(conc_sync_end, &Poster::post_conc_sync_end),
        plain(conc_sweep_begin, &Poster::post_conc_sweep_begin),
        plain(conc_sweep_end, &Poster::post_conc_sweep_end),
        {conc_upd_rem_set_flush, [](Poster p) { return p.post_conc_upd_rem_set_flush(kAt, 1); },
         "0001"},
        {nonmoving_heap_census,
         [](Poster p) {
             return p.post_nonmoving_heap_census(kAt, {24, 1, 2, 3});
         },
         "0018 00000001 00000002 00000003"},
        {nonmoving_pruned_segments,
         [](Poster p) { return p.post_nonmoving_pruned_segments(kAt, 1, 2); }, "00000001 00000002"},
    };
}

std::vector<Case> message_cases() {
    static constexpr std::byte kBytes[] = {std::byte{0xff}, std::byte{0}};
    return {
        {log_message, [](Poster p) { return p.post_log_message(kAt, "hi"); }, "0002 6869"},
        {user_message, [](Poster p) { return p.post_user_message(kAt, ""); }, "0000"},
        {user_marker, [](Poster p) { return p.post_user_marker(kAt, "a\0b"sv); }, "0003 610062"},
        {user_binary_message, [](Poster p) { return p.post_user_binary_message(kAt, kBytes); },
         "0002 ff00"},
        {intern_string, [](Poster p) { return p.post_intern_string(kAt, "x", 5); },
         "0005 78 00000005"},
        {perf_name, [](Poster p) { return p.post_perf_name(kAt, 3, "open"); },
         "0008 00000003 6f70656e"},
        {perf_counter, [](Poster p) { return p.post_perf_counter(kAt, 3, 99, 7); },
         "00000003 0000000000000063 0000000000000007"},
        {perf_tracepoint, [](Poster p) { return p.post_perf_tracepoint(kAt, 3, 99); },
         "00000003 0000000000000063"},
    };
}

std::vector<Case> profile_cases() {
    static constexpr uint32_t kStack[] = {1, 0x0a0b0c0d};
    return {
        {heap_prof_begin,
         [](Poster p) {
             return p.post_heap_prof_begin(kAt, {.id = 1,
                                                 .period_ns = 2,
                                                 .breakdown = HeapBreakdown::info_table,
                                                 .module_filter = "m",
                                                 .biography_filter = "b"});
         },
         "0016 01 0000000000000002 00000008 6d00 00 00 00 00 00 6200"},
        {heap_prof_cost_centre,
         [](Poster p) {
             return p.post_heap_prof_cost_centre(kAt, {1, "l", "m", "s", true});
         },
         "000b 00000001 6c00 6d00 7300 01"},
        {heap_prof_sample_begin, [](Poster p) { return p.post_heap_prof_sample_begin(kAt, 3); },
         "0000000000000003"},
        {heap_prof_sample_end, [](Poster p) { return p.post_heap_prof_sample_end(kAt, 3); },
         "0000000000000003"},
        {heap_bio_prof_sample_begin,
         [](Poster p) { return p.post_heap_bio_prof_sample_begin(kAt, 3, 4); },
         "0000000000000003 0000000000000004"},
        {heap_prof_sample_cost_centre,
         [](Poster p) { return p.post_heap_prof_sample_cost_centre(kAt, 1, 2, kStack); },
         "0012 01 0000000000000002 02 00000001 0a0b0c0d"},
        {heap_prof_sample_string,
         [](Poster p) { return p.post_heap_prof_sample_string(kAt, 1, 2, "MVar"); },
         "000e 01 0000000000000002 4d56617200"},
        {prof_begin, [](Poster p) { return p.post_prof_begin(kAt, 1000000); }, "00000000000f4240"},
        {prof_sample_cost_centre,
         [](Poster p) { return p.post_prof_sample_cost_centre(kAt, 1, 2, kStack); },
         "0015 00000001 0000000000000002 02 00000001 0a0b0c0d"},
        {ipe,
         [](Poster p) {
             return p.post_ipe(kAt, {0x10, "t", 15, "ty", "l", "m", "s"});
         },
         "0016 0000000000000010 7400 313500 747900 6c00 6d00 7300"},
        {ticky_counter_def,
         [](Poster p) {
             return p.post_ticky_counter_def(kAt, {1, 2, "LL", "f", 3, "{}"});
         },
         "001a 0000000000000001 0002 4c4c00 6600 0000000000000003 7b7d00"},
        {ticky_counter_sample,
         [](Poster p) {
             return p.post_ticky_counter_sample(kAt, {1, 2, 3, 4});
         },
         "0000000000000001 0000000000000002 0000000000000003 0000000000000004"},
        plain(ticky_counter_begin_sample, &Poster::post_ticky_counter_begin_sample),
    };
}

std::vector<Case> eden_cases() {
    return {
        {shutdown, [](Poster p) { return p.post<shutdown>(kAt); }, ""},
        {create_machine,
         [](Poster p) { return p.post<create_machine>(kAt, uint16_t{1}, uint64_t{2}); },
         "0001 0000000000000002"},
        {version, [](Poster p) { return p.post<version>(kAt, Text{"v"}); }, "0001 76"},
    };
}

std::vector<Case> all_cases() {
    std::vector<Case> all;
    for (const auto& part : {thread_cases(), capability_cases(), collector_cases(), message_cases(),
                             profile_cases(), eden_cases()}) {
        all.insert(all.end(), part.begin(), part.end());
    }
    return all;
}

std::string without_blanks(std::string text) {
    std::erase(text, ' ');
    return text;
}

TEST(EventlogEvents, HaveTheFormatsBytes) {
    for (const Case& one : all_cases()) {
        SCOPED_TRACE(kEventTypes[table::row_of(one.id)].name);
        test::BlockKeeper keeper;
        BlockBuffer buffer(0, keeper, {.dialect = {.has_obsolete = true}});
        ASSERT_TRUE(buffer.open(0));
        EXPECT_EQ(one.post(Poster(buffer)), Fault::none);
        buffer.flush();
        std::byte id[2];
        store_big(id, one.id);
        ASSERT_GT(keeper.bytes.size(), kBlockMarkerBytes);
        EXPECT_EQ(test::to_hex(std::span(keeper.bytes).subspan(kBlockMarkerBytes)),
                  test::to_hex(id) + "0102030405060708" + without_blanks(one.payload));
        // The size in the header is the one that was written.
        const EventType& type = kEventTypes[table::row_of(one.id)];
        if (type.size != kVariableSize) {
            EXPECT_EQ(keeper.bytes.size(), kBlockMarkerBytes + kEventHeaderBytes + type.size);
        }
        const test::ReadLog log = test::read_blocks(keeper.bytes);
        EXPECT_EQ(log.fault, "");
        EXPECT_EQ(log.events.size(), 1U);
    }
}

TEST(EventlogEvents, HaveACallEach) {
    std::set<EventId> covered{block_marker, hack_bug_t9003};  // the buffer's own; never written
    for (const Case& one : all_cases()) covered.insert(one.id);
    for (const EventType& type : kEventTypes) {
        if (type.since == Since::obsolete) continue;
        EXPECT_TRUE(covered.contains(type.id)) << type.name;
    }
}

TEST(EventlogEvents, TakeTheFormsOfOlderCompilers) {
    const auto payload_of = [](Release release, auto post) {
        test::BlockKeeper keeper;
        BlockBuffer buffer(kNoCapability, keeper, {.dialect = {.release = release}});
        EXPECT_TRUE(buffer.open(0));
        EXPECT_EQ(post(Poster(buffer)), Fault::none);
        buffer.flush();
        return test::to_hex(std::span(keeper.bytes).subspan(kBlockMarkerBytes + kEventHeaderBytes));
    };
    const auto census = [](Poster p) { return p.post_nonmoving_heap_census(1, {16, 1, 2, 3}); };
    EXPECT_EQ(payload_of(Release::ghc_9_8, census), "04000000010000000200000003");
    const auto ticky = [](Poster p) { return p.post_ticky_counter_def(1, {1, 2, "", "", 3, ""}); };
    EXPECT_EQ(payload_of(Release::ghc_9_2, ticky), "000c000000000000000100020000");
    EXPECT_EQ(payload_of(Release::ghc_9_4, ticky), "00140000000000000001000200000000000000000003");
}

TEST(EventlogEvents, RefuseValuesThatReadersDo) {
    test::BlockKeeper keeper;
    BlockBuffer buffer(0, keeper, {.dialect = {.release = Release::ghc_9_0, .has_perf = false}});
    ASSERT_TRUE(buffer.open(0));
    Poster poster(buffer);
    for (uint16_t status = 0; status < 40; ++status) {
        const bool is_one_of_four = status == 4 || status == 14 || status == 15 || status == 16 ||
                                    status == 17 || status == 19 || status > 20;
        EXPECT_EQ(poster.post_stop_thread(1, 1, StopStatus{status}),
                  is_one_of_four ? Fault::bad_value : Fault::none)
            << status;
    }
    for (const uint32_t breakdown : {0U, 10U, 0xffffffffU}) {
        EXPECT_EQ(poster.post_heap_prof_begin(1, {.breakdown = HeapBreakdown{breakdown}}),
                  Fault::bad_value);
    }
    EXPECT_EQ(poster.post_nonmoving_heap_census(1, {.block_bytes = 24}), Fault::bad_value)
        << "no logarithm";
    EXPECT_EQ(poster.post_nonmoving_pruned_segments(1, 1, 1), Fault::undeclared);
    EXPECT_EQ(poster.post_perf_tracepoint(1, 1, 1), Fault::undeclared);
    EXPECT_EQ(poster.post_startup(1, 1), Fault::undeclared);
    EXPECT_EQ(poster.post_mem_return(1, 0, {}), Fault::undeclared);
    EXPECT_EQ(buffer.counters().faults[static_cast<size_t>(Fault::undeclared)], 4U);
}

}  // namespace
}  // namespace tracer::eventlog
