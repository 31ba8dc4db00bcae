// SPDX-License-Identifier: Apache-2.0
//
// Lines beside threads, states, counters with names, names given by probes, and pairs that are
// matched by the frame they are in.
#include "decode/task_table.h"
#include "decoder_fixture.h"

#include <bit>
#include <random>

#include <fmt/format.h>

namespace tracer {
namespace {

using model::ValueType;
using testing::ElementsAre;
using testing::IsEmpty;

// The points and probes of DecoderTest, and
//   50 "pool" counter (free:s64, load:f64, q:string), called by q
//   51 "phase" state (p:string) on the line "phase", called by p     52 the same with its own name
//   53 "note" instant (n:s64) on the line "pool {n}"
//   54/55/56 "gc" pair (n:s64) on the line "gc {n}": begin, end, until
//   57/58/59 "call" pair with a frame_key (k:u64): begin, end, until
//   60 names the thread, 61 the process (s:string)
//   62/63 "h": begin (x:s64) and end of a function on the line "h {x}"
class DecoderLine : public DecoderTest {
protected:
    static constexpr uint32_t kPool = 50;
    static constexpr uint32_t kPhase = 51;
    static constexpr uint32_t kOwnPhase = 52;
    static constexpr uint32_t kNote = 53;
    static constexpr uint32_t kGc = 54;
    static constexpr uint32_t kGcEnd = 55;
    static constexpr uint32_t kGcUntil = 56;
    static constexpr uint32_t kCall = 57;
    static constexpr uint32_t kReturn = 58;
    static constexpr uint32_t kCallUntil = 59;
    static constexpr uint32_t kNameThread = 60;
    static constexpr uint32_t kNameProcess = 61;
    static constexpr uint32_t kBeginH = 62;
    static constexpr uint32_t kEndH = 63;

    static RecordingDefinitions line_definitions() {
        auto definitions = standard_definitions();
        const auto point = [&](const char* name, model::PointKind kind,
                               std::vector<model::Argument> arguments) {
            const model::PointIndex index{static_cast<uint32_t>(definitions.points.size())};
            definitions.points.push_back({.index = index,
                                          .kind = kind,
                                          .category = "app",
                                          .name = name,
                                          .arguments = std::move(arguments)});
            return index;
        };
        const auto probe = [&](uint32_t id, HitRole role, model::PointIndex at,
                               std::vector<ValueType> slots) -> ProbeDefinition& {
            definitions.probes.push_back(
                {.probe_id = id, .role = role, .point = at, .slots = std::move(slots)});
            definitions.probes.back().spec = fmt::format("test {}", id);
            return definitions.probes.back();
        };
        using Kind = model::PointKind;
        const NamePiece first{{}, 0};
        const auto text = [](const char* it) { return NamePiece{it, NamePiece::kText}; };
        const auto pool =
            point("pool", Kind::counter,
                  {{"free", ValueType::s64}, {"load", ValueType::f64}, {"q", ValueType::string}});
        probe(kPool, HitRole::instant, pool, {ValueType::s64, ValueType::f64, ValueType::string})
            .name = {text("pool "), {{}, 2}};
        const auto phase = point("phase", Kind::span, {{"p", ValueType::string}});
        auto& state = probe(kPhase, HitRole::state, phase, {ValueType::string});
        state.name = {first};
        state.line = {text("phase")};
        const auto own = point("own", Kind::span, {});
        probe(kOwnPhase, HitRole::state, own, {}).line = {text("phase")};
        const auto note = point("note", Kind::instant, {{"n", ValueType::s64}});
        probe(kNote, HitRole::instant, note, {ValueType::s64}).line = {text("pool "), first};
        const auto gc = point("gc", Kind::span, {{"n", ValueType::s64}});
        probe(kGc, HitRole::pair_begin, gc, {ValueType::s64}).line = {text("gc "), first};
        probe(kGcEnd, HitRole::pair_end, gc, {});
        probe(kGcUntil, HitRole::pair_until, gc, {});
        const auto call = point("call", Kind::span, {{"k", ValueType::u64}});
        for (const auto& [id, role] : {std::pair{kCall, HitRole::pair_begin},
                                       {kReturn, HitRole::pair_end},
                                       {kCallUntil, HitRole::pair_until}}) {
            probe(id, role, call, {ValueType::u64}).key = PairKey::frame;
        }
        const auto thread = point("thread", Kind::instant, {{"s", ValueType::string}});
        probe(kNameThread, HitRole::thread_name, thread, {ValueType::string}).name = {first};
        const auto process = point("process", Kind::instant, {{"s", ValueType::string}});
        probe(kNameProcess, HitRole::process_name, process, {ValueType::string}).name = {first};
        const auto h = point("h", Kind::span, {{"x", ValueType::s64}});
        probe(kBeginH, HitRole::span_begin, h, {ValueType::s64}).line = {text("h "), first};
        probe(kEndH, HitRole::span_end, h, {});
        return definitions;
    }

    void SetUp() override { start(line_definitions()); }

    void hit(uint64_t time, uint32_t probe, const std::vector<uint64_t>& slots, uint32_t tid = 7) {
        feed(test::make_hit({.time_ns = time, .tgid = 7, .tid = tid}, probe, slots));
    }
    void text(uint64_t time, uint32_t probe, std::string_view value, uint32_t tid = 7) {
        feed(test::make_string_hit({.time_ns = time, .tgid = 7, .tid = tid}, probe, value));
    }
    void task(uint64_t time, uint16_t kind, std::string_view comm, uint32_t tid = 7) {
        feed(test::make_task({.time_ns = time, .tgid = 7, .tid = tid}, kind,
                             {.comm = comm, .start_ns = 1}));
    }
    [[nodiscard]] std::vector<std::string> line_names() const {
        std::vector<std::string> names;
        for (const auto& [index, thread] : writer_.threads()) {
            if (thread.is_track) names.push_back(thread.thread_name);
        }
        return names;
    }
};

TEST_F(DecoderLine, EventsAndSpansGoToTheLineOfTheirThreadAndName) {
    task(1, TR_KIND_task_info, "main");
    task(1, TR_KIND_task_info, "worker", 8);
    hit(10, kNote, {3});
    hit(20, kNote, {4});
    hit(30, kNote, {3}, 8);
    hit(40, kNote, {3});
    EXPECT_THAT(writer_.lines(),
                ElementsAre("10 instant note 1#1022 [3]", "20 instant note 2#1022 [4]",
                            "30 instant note 3#1022 [3]", "40 instant note 1#1022 [3]"));
    EXPECT_THAT(line_names(), ElementsAre("pool 3", "pool 4", "pool 3 (worker 8)"));
    task(50, TR_KIND_task_rename, "painter", 8);
    EXPECT_THAT(line_names(), ElementsAre("pool 3", "pool 4", "pool 3 (painter 8)"));
}

TEST_F(DecoderLine, AnEndFindsTheLineOfItsBegin) {
    hit(10, kGc, {1});
    hit(20, kGc, {2});
    hit(30, kGcEnd, {});
    hit(40, kGcEnd, {});
    hit(50, kGcEnd, {});
    EXPECT_THAT(writer_.lines(),
                ElementsAre("10 begin gc 1#1022 [1]", "20 begin gc 2#1022 [2]",
                            "30 end gc 2#1022 returned []", "40 end gc 1#1022 returned []"));
    EXPECT_EQ(counters().spans_orphan_end, 1U);
    hit(60, kGc, {1});
    hit(60, kGc, {2});
    hit(70, kGcUntil, {});
    EXPECT_EQ(writer_.open_spans(), 0U);
    EXPECT_EQ(counters().spans_ended_by_until, 2U);
}

TEST_F(DecoderLine, FunctionsOnLinesAreMatchedByTheirFrames) {
    begin(10, kBeginH, 0x1000);  // x is 1
    hit(20, kBeginH, {0x0f00, 2});
    begin(30, kBeginF, 0x0e00);
    hit(40, kEndH, {0x0f08});
    end(50, kEndF, 0x0e00);
    hit(60, kEndH, {0x1008});
    EXPECT_THAT(writer_.lines(),
                ElementsAre("10 begin h 1#1022 [1]", "20 begin h 2#1022 [2]", "30 begin f 7 [1]",
                            "40 end h 2#1022 returned []", "50 end f 7 returned [2]",
                            "60 end h 1#1022 returned []"));
    EXPECT_EQ(counters().spans_orphan_end + counters().spans_unwound, 0U);
}

TEST_F(DecoderLine, WhatIsOpenOnALineEndsAsOnItsThread) {
    task(1, TR_KIND_task_info, "main");
    task(1, TR_KIND_task_info, "worker", 8);
    hit(10, kGc, {1});
    text(11, kPhase, "a");
    hit(12, kGc, {1}, 8);
    feed(test::make_task({.time_ns = 20, .tgid = 7, .tid = 8}, TR_KIND_task_exit, {}));
    EXPECT_EQ(writer_.lines().at(3), "20 end gc 3#1022 thread_exit []");
    feed(test::make_gap(TR_KIND_gap_begin, 30, 0, 0, 0));
    feed(test::make_gap(TR_KIND_gap_end, 40, 0, 5, 30));
    EXPECT_EQ(writer_.open_spans(), 0U);
    hit(50, kGc, {1});
    text(51, kPhase, "b");
    feed(test::make_exec({.time_ns = 60, .tgid = 7, .tid = 7}, "next", "/bin/next"));
    EXPECT_EQ(writer_.open_spans(), 0U);
    hit(70, kGc, {1});
    text(71, kPhase, "c");
    decoder_->finish(80);
    EXPECT_EQ(writer_.open_spans(), 0U);
    EXPECT_EQ(counters().spans_closed_at_end, 1U) << "states are not counted";
}

TEST_F(DecoderLine, AStateLastsUntilTheNextOfItsLine) {
    text(10, kPhase, "parse");
    text(20, kPhase, "run");
    hit(25, kOwnPhase, {});
    text(30, kPhase, "");
    text(40, kPhase, "");
    text(50, kPhase, "other", 8);
    decoder_->finish(60);
    EXPECT_THAT(
        writer_.lines(),
        ElementsAre("10 begin phase=\"parse\" 1#1022 ['parse']", "20 end phase 1#1022 returned []",
                    "20 begin phase=\"run\" 1#1022 ['run']", "25 end phase 1#1022 returned []",
                    "25 begin own 1#1022 []", "30 end own 1#1022 returned []",
                    "50 begin phase=\"other\" 2#1022 ['other']",
                    "60 end phase 2#1022 recording_end []"));
    for (const auto& tally : decoder_->span_tallies()) {
        EXPECT_TRUE(tally.name != "phase" && tally.name != "own") << tally.name;
    }
}

TEST_F(DecoderLine, AFullSinkOwesTheEndsOfLines) {
    hit(10, kGc, {1});
    text(11, kPhase, "a");
    writer_.set_room(0);
    text(20, kPhase, "b");
    hit(30, kGcEnd, {});
    writer_.set_room(UINT64_MAX);
    text(40, kPhase, "c");
    decoder_->finish(50);
    EXPECT_EQ(writer_.open_spans(), 0U);
    EXPECT_GT(counters().lost_to_sink, 0U);
}

TEST_F(DecoderLine, BeyondTheLimitEventsStayWithTheirThreadAndStatesAreLeftOut) {
    for (uint64_t n = 0; n < kLinesOfThreadMax; ++n) hit(10, kNote, {n});
    EXPECT_EQ(counters().lines_beyond_limit, 0U);
    static_cast<void>(writer_.take_lines());
    hit(20, kNote, {1000});
    hit(30, kGc, {1000});
    hit(40, kGcEnd, {});
    text(50, kPhase, "none");
    EXPECT_THAT(writer_.lines(), ElementsAre("20 instant note 7 [1000]", "30 begin gc 7 [1000]",
                                             "40 end gc 7 returned []"));
    EXPECT_EQ(counters().lines_beyond_limit, 3U);
    hit(60, kNote, {5});
    EXPECT_EQ(writer_.lines().back(), "60 instant note 6#1022 [5]");
}

TEST_F(DecoderLine, ACounterHasItsNumbersAndItsName) {
    feed(test::make_string_hit({.time_ns = 10, .tgid = 7, .tid = 7}, kPool, "main", 0,
                               {static_cast<uint64_t>(-5), std::bit_cast<uint64_t>(0.5)}));
    EXPECT_THAT(writer_.lines(), ElementsAre("10 counter pool=\"pool main\" 7 [-5, 0.5, 'main']"));
    // Without a number that could be read there is no value.
    feed(test::make_hit({.time_ns = 30, .tgid = 7, .tid = 7}, kPool, {0, 0, 0}, 0b111));
    EXPECT_EQ(counters().arguments_missing, 3U);
    EXPECT_EQ(writer_.lines().size(), 1U);
}

TEST_F(DecoderLine, AFrameEndsThoseThatWereLeftInsideOfIt) {
    hit(10, kCall, {1});
    hit(20, kCall, {2});
    hit(30, kCall, {3});
    hit(40, kReturn, {1});
    EXPECT_THAT(writer_.lines(),
                ElementsAre("10 begin call 7 [1]", "20 begin call 7 [2]", "30 begin call 7 [3]",
                            "40 end call 7 unwound []", "40 end call 7 unwound []",
                            "40 end call 7 returned []"));
    static_cast<void>(writer_.take_lines());
    // With the same value the innermost; with none an orphan that ends nothing.
    hit(50, kCall, {5});
    hit(60, kCall, {5});
    hit(70, kReturn, {5});
    hit(80, kReturn, {6});
    hit(85, kReturn, {5}, 8);
    hit(90, kCallUntil, {5});
    hit(95, kCallUntil, {5});
    EXPECT_THAT(writer_.lines(),
                ElementsAre("50 begin call 7 [5]", "60 begin call 7 [5]",
                            "70 end call 7 returned []", "90 end call 7 until []"));
    EXPECT_EQ(counters().spans_orphan_end, 1U);
    EXPECT_EQ(counters().spans_begun_before, 1U) << "no frame is open on that thread";
    EXPECT_EQ(counters().spans_unwound, 2U);
    feed(test::make_hit({.time_ns = 99, .tgid = 7, .tid = 7}, kReturn, {0}, 1));
    EXPECT_EQ(counters().spans_key_missing, 1U);
}

TEST_F(DecoderLine, AnotherPairInsideOfAFrameGoesOn) {
    hit(10, kCall, {1});
    hit(20, kGc, {1});
    begin(25, kBeginF, 0x1000);
    hit(30, kReturn, {1});
    hit(40, kGcEnd, {});
    end(50, kEndF, 0x1000);
    EXPECT_EQ(counters().spans_unwound + counters().spans_orphan_end, 0U);
    EXPECT_EQ(counters().spans_crossed, 1U) << "the function's return proves it";
    EXPECT_EQ(writer_.open_spans(), 0U);
}

TEST_F(DecoderLine, FramesBeyondTheDepthAreNoOrphans) {
    for (uint64_t i = 0; i < kSpanDepthMax + 3; ++i) hit(10, kCall, {i});
    for (uint64_t i = kSpanDepthMax + 3; i-- > 0;) hit(20, kReturn, {i});
    EXPECT_EQ(counters().spans_too_deep, 3U);
    EXPECT_EQ(counters().spans_orphan_end, 0U);
    EXPECT_EQ(writer_.open_spans(), 0U);
}

// Whatever comes, and however the sink fills up: the rules that writers rely on, which
// RecordingWriter checks.
TEST_F(DecoderLine, AnyMixtureKeepsTheRules) {
    std::mt19937_64 random(7);
    uint64_t now = 1;
    for (int i = 0; i < 20'000; ++i) {
        now += random() % 3;
        const auto tid = static_cast<uint32_t>(7 + random() % 3);
        const test::At at{.time_ns = now, .tgid = 7, .tid = tid};
        if (random() % 50 == 0) {
            writer_.set_room(random() % 2 == 0 ? random() % 4 : UINT64_MAX);
        }
        switch (random() % 14) {
            case 0:
                text(now, kPhase, random() % 3 == 0 ? "" : "a", tid);
                break;
            case 1:
                hit(now, kOwnPhase, {}, tid);
                break;
            case 2:
                hit(now, kNote, {random() % 70}, tid);
                break;
            case 3:
            case 4:
                hit(now, kGc, {random() % 4}, tid);
                break;
            case 5:
                hit(now, random() % 8 == 0 ? kGcUntil : kGcEnd, {}, tid);
                break;
            case 6:
            case 7:
                hit(now, kCall, {random() % 6}, tid);
                break;
            case 8:
                hit(now, random() % 8 == 0 ? kCallUntil : kReturn, {random() % 6}, tid);
                break;
            case 9:
                hit(now, kBeginH, {0x1000 - random() % 8 * 64, random() % 3}, tid);
                break;
            case 10:
                hit(now, kEndH, {0x1008 - random() % 8 * 64}, tid);
                break;
            case 11:
                begin(now, kBeginF, 0x1000 - random() % 8 * 64, tid);
                break;
            case 12:
                text(now, kNameThread, random() % 2 == 0 ? "x" : "y", tid);
                break;
            default:
                if (random() % 20 != 0) break;
                feed(random() % 2 == 0 ? test::make_exec(at, "next", "/bin/next")
                                       : test::make_task(at, TR_KIND_task_exit, {}));
        }
    }
    writer_.set_room(UINT64_MAX);
    decoder_->finish(now);
    EXPECT_EQ(writer_.open_spans(), 0U);
    EXPECT_GT(counters().spans_cut_by_loss, 0U);
    EXPECT_GT(counters().spans_unwound, 0U);
    EXPECT_EQ(counters().malformed, 0U);
}

class DecoderNames : public DecoderLine {
protected:
    [[nodiscard]] std::string names(uint32_t tid = 7) const {
        const model::Thread* thread = writer_.find_thread(tid);
        return thread == nullptr ? "" : thread->process_name + "/" + thread->thread_name;
    }
};

TEST_F(DecoderNames, AProbesNameStaysUntilTheNextOrAnotherProgram) {
    task(1, TR_KIND_task_info, "kernel");
    hit(2, kEvent, {1, 2});
    EXPECT_EQ(names(), "kernel/kernel");
    text(10, kNameThread, "worker");
    text(11, kNameProcess, "service");
    EXPECT_EQ(names(), "service/worker");
    EXPECT_EQ(writer_.lines().size(), 1U) << "there is no event";
    task(20, TR_KIND_task_rename, "renamed");
    task(21, TR_KIND_task_info, "renamed");
    EXPECT_EQ(names(), "service/worker");
    text(30, kNameThread, "painter");
    EXPECT_EQ(names(), "service/painter");
    text(31, kNameThread, "");
    feed(test::make_hit({.time_ns = 32, .tgid = 7, .tid = 7}, kNameThread, {0}, 1));
    EXPECT_EQ(names(), "service/painter") << "nothing was said";
    feed(test::make_exec({.time_ns = 40, .tgid = 7, .tid = 7}, "next", "/bin/next"));
    EXPECT_EQ(names(), "next/next");
    task(50, TR_KIND_task_rename, "again");
    EXPECT_EQ(names(), "next/again");
}

TEST_F(DecoderNames, TheNamesOfTheStartAreOfThoseAliveThen) {
    auto definitions = line_definitions();
    definitions.names = {{7, 0, "postgres: writer"}, {7, 8, "painter"}, {9, 0, "older"}};
    start(std::move(definitions));
    task(1, TR_KIND_task_info, "postgres");
    task(2, TR_KIND_task_info, "postgres", 8);
    hit(3, kEvent, {1, 2});
    hit(4, kEvent, {1, 2}, 8);
    EXPECT_EQ(names(), "postgres: writer/postgres");
    EXPECT_EQ(names(8), "postgres: writer/painter");
    text(5, kNameProcess, "closer");
    EXPECT_EQ(names(), "closer/postgres");
    // One that is born later is another.
    feed(test::make_task({.time_ns = 10, .tgid = 9, .tid = 9}, TR_KIND_task_new,
                         {.comm = "young", .parent_tgid = 7, .parent_tid = 7, .start_ns = 10}));
    feed(test::make_hit({.time_ns = 11, .tgid = 9, .tid = 9}, kEvent, {1, 2}));
    EXPECT_EQ(names(9), "young/young");
    feed(test::make_exec({.time_ns = 20, .tgid = 7, .tid = 7}, "next", "/bin/next"));
    EXPECT_EQ(names(), "next/next");
}

// A number that ends a state is one whose name is empty: map(0="",1=busy).
TEST_F(DecoderLine, ANumberWithAnEmptyNameEndsTheState) {
    auto definitions = line_definitions();
    const model::PointIndex index{static_cast<uint32_t>(definitions.points.size())};
    definitions.points.push_back({.index = index,
                                  .kind = model::PointKind::span,
                                  .category = "app",
                                  .name = "load",
                                  .arguments = {{"n", ValueType::s64, {{0, ""}, {1, "busy"}}}}});
    definitions.probes.push_back({.probe_id = 70,
                                  .role = HitRole::state,
                                  .point = index,
                                  .slots = {ValueType::s64},
                                  .spec = "test",
                                  .name = {{{}, 0}},
                                  .line = {{"load", NamePiece::kText}}});
    start(std::move(definitions));
    for (const uint64_t value : {1, 0, 0, 1}) {
        feed(test::make_hit({.time_ns = 10 + value, .tgid = 7, .tid = 7}, 70, {value}));
    }
    const auto lines = writer_.take_lines();
    ASSERT_EQ(lines.size(), 3U) << testing::PrintToString(lines);
    EXPECT_THAT(lines[0], testing::HasSubstr("begin load=\"busy\""));
    EXPECT_THAT(lines[1], testing::HasSubstr("end load"));
    EXPECT_THAT(lines[2], testing::HasSubstr("begin load=\"busy\""));
}

}  // namespace
}  // namespace tracer
