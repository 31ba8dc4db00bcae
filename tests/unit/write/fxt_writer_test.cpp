// SPDX-License-Identifier: Apache-2.0
//
// Every kind of model event through the writer and back through the independent reader.
#include "unit/write/fxt_fixture.h"

#include <array>
#include <span>

#include <gmock/gmock.h>

namespace tracer::test {
namespace {

using model::ValueType;
using testing::ElementsAre;
using testing::IsEmpty;

// The lines that `write` adds to a recording with two threads.
template <typename Write>
std::vector<std::string> added(Recording& recording, Write write) {
    const size_t before = recording.size();
    write();
    const FxtFile file = recording.read();
    EXPECT_THAT(file.problems, IsEmpty());
    return lines_from(file, before);
}

TEST(FxtWriter, AnEventsOwnNameTakesThePlaceOfItsPoints) {
    Recording recording;
    recording.start();
    const auto point = recording.point("app", "query", {{"n", ValueType::s32}});
    const std::vector<model::Value> values{s32(1)};
    const size_t before = recording.size();
    const auto write = [&](uint64_t time_ns, const model::EventBody& body) {
        EXPECT_EQ(recording.writer->write({time_ns, body}), WriteStatus::ok);
    };
    write(1, model::Instant{point, kMain, values, "query one"});
    write(2, model::Instant{point, kMain, values, "query one"});
    write(3, model::SpanBegin{point, kMain, values, "query two"});
    // More names than the table keeps: the end's must be told again.
    for (uint64_t i = 0; i < 600; ++i) {
        write(4 + i, model::Instant{point, kMain, values, "name " + std::to_string(i)});
    }
    write(1000, model::SpanEnd{point, kMain, model::SpanEndCause::returned, {}});
    write(1001, model::Instant{point, kMain, values});
    const FxtFile file = recording.read();
    EXPECT_THAT(file.problems, IsEmpty());
    EXPECT_EQ(file.open_span_count, 0U);
    const auto lines = lines_from(file, before);
    const auto tells_it =
        testing::AllOf(testing::StartsWith("string "), testing::HasSubstr("query two"));
    EXPECT_THAT(lines, testing::Contains(tells_it).Times(2));
    ASSERT_EQ(file.events.size(), 605U);
    EXPECT_EQ(file.events[0].name, "query one");
    EXPECT_EQ(file.events[1].name, "query one");
    EXPECT_EQ(file.events[2].name, "query two");
    EXPECT_EQ(file.events[602].name, "name 599");
    EXPECT_EQ(file.events[603].name, "query two");
    EXPECT_EQ(file.events[604].name, "query");
}

TEST(FxtWriter, AChunkBeginsSpansAgainUnderTheirOwnNames) {
    Recording recording;
    recording.start();
    const auto point = recording.point("app", "query");
    EXPECT_EQ(recording.writer->write({1, model::SpanBegin{point, kMain, {}, "query two"}}),
              WriteStatus::ok);
    const size_t before = recording.size();
    ASSERT_TRUE(recording.writer->begin_chunk());
    EXPECT_EQ(recording.end(5, point, kMain), WriteStatus::ok);
    const FxtFile file = recording.read(before);
    EXPECT_THAT(file.problems, IsEmpty());
    ASSERT_EQ(file.events.size(), 2U);
    EXPECT_EQ(file.events[0].name, "query two");
    EXPECT_EQ(file.events[1].name, "query two");
}

TEST(FxtWriter, SpellsAnInstantWithEveryTypeOfValue) {
    Recording recording;
    recording.start();
    const auto point = recording.point("app", "all",
                                       {{"a", ValueType::s32},
                                        {"b", ValueType::u32},
                                        {"c", ValueType::s64},
                                        {"d", ValueType::u64},
                                        {"e", ValueType::f64},
                                        {"f", ValueType::boolean},
                                        {"g", ValueType::pointer},
                                        {"h", ValueType::string},
                                        {"i", ValueType::u64}});
    const auto minus_five = static_cast<uint64_t>(int64_t{-5});
    const auto lines = added(recording, [&] {
        EXPECT_EQ(recording.instant(7, point, kMain,
                                    {s32(-1),
                                     {.type = ValueType::u32, .bits = 4000000000},
                                     {.type = ValueType::s64, .bits = minus_five},
                                     u64(UINT64_MAX),
                                     {.type = ValueType::f64, .real = 0.5},
                                     {.type = ValueType::boolean, .bits = 1},
                                     {.type = ValueType::pointer, .bits = 0xabc},
                                     text("x"),
                                     {}}),
                  WriteStatus::ok);
    });
    EXPECT_THAT(lines, ElementsAre("thread_slot 1 100/100",
                                   "instant 7 100/100 \"app\" \"all\" a=i32 -1 b=u32 4000000000 "
                                   "c=i64 -5 d=u64 18446744073709551615 e=f64 0.5 f=true "
                                   "g=ptr 0xabc h=\"x\" i=null"));
}

TEST(FxtWriter, SpellsSpansAndSaysWhyOneEndedOtherwise) {
    Recording recording;
    recording.start();
    const auto point =
        recording.point("app", "f", {{"n", ValueType::s32}}, {{"ret", ValueType::s32}});
    const auto lines = added(recording, [&] {
        EXPECT_EQ(recording.begin(1, point, kMain, {s32(1)}), WriteStatus::ok);
        EXPECT_EQ(recording.begin(2, point, kMain, {s32(2)}), WriteStatus::ok);
        EXPECT_EQ(recording.end(3, point, kMain, model::SpanEndCause::returned, {s32(9)}),
                  WriteStatus::ok);
        EXPECT_EQ(recording.end(4, point, kMain, model::SpanEndCause::unwound), WriteStatus::ok);
        for (const auto cause : {model::SpanEndCause::lost_events, model::SpanEndCause::thread_exit,
                                 model::SpanEndCause::recording_end}) {
            EXPECT_EQ(recording.begin(5, point, kMain, {s32(3)}), WriteStatus::ok);
            EXPECT_EQ(recording.end(5, point, kMain, cause), WriteStatus::ok);
        }
    });
    EXPECT_THAT(lines, ElementsAre("thread_slot 1 100/100", "begin 1 100/100 \"app\" \"f\" n=i32 1",
                                   "begin 2 100/100 \"app\" \"f\" n=i32 2",
                                   "end 3 100/100 \"app\" \"f\" ret=i32 9",
                                   "end 4 100/100 \"app\" \"f\" ended=\"unwound\"",
                                   "begin 5 100/100 \"app\" \"f\" n=i32 3",
                                   "end 5 100/100 \"app\" \"f\" ended=\"lost events\"",
                                   "begin 5 100/100 \"app\" \"f\" n=i32 3",
                                   "end 5 100/100 \"app\" \"f\" ended=\"thread exit\"",
                                   "begin 5 100/100 \"app\" \"f\" n=i32 3",
                                   "end 5 100/100 \"app\" \"f\" ended=\"recording end\""));
}

TEST(FxtWriter, TellsHowLongACutStringIs) {
    Recording recording;
    recording.start();
    const auto point = recording.point("app", "read", {{"buf", ValueType::string}});
    auto known = text("abc", true);
    known.bits = 5000;
    auto bounded = known;
    bounded.is_longer = true;
    const auto lines = added(recording, [&] {
        for (const auto& value : {known, bounded, text("abc", true), text("abc")}) {
            EXPECT_EQ(recording.begin(1, point, kMain, {value}), WriteStatus::ok);
        }
    });
    EXPECT_THAT(lines,
                ElementsAre("thread_slot 1 100/100",
                            "begin 1 100/100 \"app\" \"read\" buf=\"abc\" buf_bytes=u64 5000",
                            "begin 1 100/100 \"app\" \"read\" buf=\"abc\" "
                            "buf_bytes_min=u64 5000",
                            "begin 1 100/100 \"app\" \"read\" buf=\"abc\" "
                            "buf_bytes_min=u64 3",
                            "begin 1 100/100 \"app\" \"read\" buf=\"abc\""));
}

TEST(FxtWriter, ShowsTheNamesOfValues) {
    Recording recording;
    recording.start();
    const auto point = recording.point(
        "app", "io", {{"op", ValueType::s32, {{0, "read"}, {1, "write"}, {~uint64_t{0}, "none"}}}});
    const auto lines = added(recording, [&] {
        for (const int32_t value : {0, 1, -1, 7}) {
            EXPECT_EQ(recording.begin(1, point, kMain, {s32(value)}), WriteStatus::ok);
        }
        EXPECT_EQ(recording.begin(1, point, kMain, {model::Value{}}), WriteStatus::ok);
        // The shortest way must not lose them.
        const std::array types = {ValueType::s32};
        const uint64_t word = 1;
        const PlainInstant plain{2, point, kMain, types, std::as_bytes(std::span(&word, 1))};
        EXPECT_EQ(recording.writer->write_plain(std::span(&plain, 1)), 1U);
    });
    EXPECT_THAT(lines,
                ElementsAre("thread_slot 1 100/100", "begin 1 100/100 \"app\" \"io\" op=\"read\"",
                            "begin 1 100/100 \"app\" \"io\" op=\"write\"",
                            "begin 1 100/100 \"app\" \"io\" op=\"none\"",
                            "begin 1 100/100 \"app\" \"io\" op=i32 7",
                            "begin 1 100/100 \"app\" \"io\" op=null",
                            "instant 2 100/100 \"app\" \"io\" op=\"write\""));
}

TEST(FxtWriter, CountersHoldNumbersOnly) {
    Recording recording;
    recording.start();
    const auto point = recording.point("app", "heap",
                                       {{"live", ValueType::u64},
                                        {"ok", ValueType::boolean},
                                        {"at", ValueType::pointer},
                                        {"gone", ValueType::u64}});
    const auto lines = added(recording, [&] {
        EXPECT_EQ(
            recording.writer->write({3, model::Counter{point, kMain,
                                                       std::vector<model::Value>{
                                                           u64(77),
                                                           {.type = ValueType::boolean, .bits = 1},
                                                           {.type = ValueType::pointer, .bits = 16},
                                                           {}}}}),
            WriteStatus::ok);
        EXPECT_EQ(recording.writer->write(
                      {4, model::Counter{point, kMain, std::vector<model::Value>(4)}}),
                  WriteStatus::refused);
    });
    EXPECT_EQ(lines.back(), "counter 3 100/100 \"app\" \"heap\" live=u64 77 ok=i32 1 at=u64 16");
}

TEST(FxtWriter, ACounterIsCalledWhatItsEventsSay) {
    Recording recording;
    recording.start();
    const auto point = recording.point(
        "app", "pool",
        {{"q", ValueType::string}, {"free", ValueType::s64}, {"load", ValueType::f64}});
    model::Value load{.type = ValueType::f64};
    load.real = 0.5;
    const std::vector<model::Value> values{
        {.type = ValueType::string, .text = "hot"},
        {.type = ValueType::s64, .bits = static_cast<uint64_t>(-5)},
        load};
    const auto lines = added(recording, [&] {
        for (const char* name : {"pool hot", "pool hot", ""}) {
            EXPECT_EQ(recording.writer->write({3, model::Counter{point, kMain, values, name}}),
                      WriteStatus::ok);
        }
    });
    EXPECT_EQ(lines.back(), "counter 3 100/100 \"app\" \"pool\" free=i64 -5 load=f64 0.5");
    EXPECT_EQ(lines.at(lines.size() - 2),
              "counter 3 100/100 \"app\" \"pool hot\" free=i64 -5 load=f64 0.5");
    EXPECT_EQ(std::ranges::count_if(lines,
                                    [](const std::string& line) {
                                        return line.starts_with("string") &&
                                               line.find("pool hot") != std::string::npos;
                                    }),
              1)
        << "its name is in the string table";
}

TEST(FxtWriter, MapsStatesAndMarksIdleSides) {
    Recording recording;
    recording.start();
    const auto change = [&](uint64_t time_ns, model::ThreadIndex out, model::ThreadState state,
                            model::ThreadIndex in) {
        EXPECT_EQ(recording.writer->write({time_ns, model::Switch{.cpu = 2,
                                                                  .out = out,
                                                                  .out_state = state,
                                                                  .out_priority = 100,
                                                                  .in = in,
                                                                  .in_priority = 139}}),
                  WriteStatus::ok);
    };
    const auto lines = added(recording, [&] {
        change(1, model::kIdleThread, model::ThreadState::runnable, kMain);
        change(2, kMain, model::ThreadState::runnable, kWorker);
        change(3, kWorker, model::ThreadState::sleeping, kMain);
        change(4, kMain, model::ThreadState::uninterruptible, kWorker);
        change(5, kWorker, model::ThreadState::stopped, kMain);
        change(6, kMain, model::ThreadState::dead, model::kIdleThread);
    });
    EXPECT_THAT(lines,
                ElementsAre("switch 1 cpu 2 0 -> 100 state 1 incoming_weight=i32 139 "
                            "outgoing_weight=i32 -2147483648",
                            "switch 2 cpu 2 100 -> 101 state 1 incoming_weight=i32 139 "
                            "outgoing_weight=i32 100",
                            "switch 3 cpu 2 101 -> 100 state 3 incoming_weight=i32 139 "
                            "outgoing_weight=i32 100",
                            "switch 4 cpu 2 100 -> 101 state 3 incoming_weight=i32 139 "
                            "outgoing_weight=i32 100",
                            "switch 5 cpu 2 101 -> 100 state 2 incoming_weight=i32 139 "
                            "outgoing_weight=i32 100",
                            "switch 6 cpu 2 100 -> 0 state 5 incoming_weight=i32 -2147483648 "
                            "outgoing_weight=i32 100"));
}

TEST(FxtWriter, SpellsWakeupsWithTheirWaker) {
    Recording recording;
    recording.start();
    const auto lines = added(recording, [&] {
        EXPECT_EQ(recording.writer->write({1, model::Wakeup{3, kWorker, kMain, 120}}),
                  WriteStatus::ok);
        EXPECT_EQ(recording.writer->write({2, model::Wakeup{3, kWorker, model::kIdleThread, 120}}),
                  WriteStatus::ok);
        EXPECT_EQ(recording.writer->write({3, model::Wakeup{3, model::kIdleThread, kMain, 120}}),
                  WriteStatus::refused);
        EXPECT_EQ(recording.writer->write({3, model::Wakeup{4096, kWorker, kMain, 120}}),
                  WriteStatus::refused);
        EXPECT_EQ(recording.run(4, 4096, model::kIdleThread, kMain), WriteStatus::refused);
    });
    EXPECT_THAT(lines, ElementsAre("wakeup 1 cpu 3 101 weight=i32 120 waker=koid 100",
                                   "wakeup 2 cpu 3 101 weight=i32 120"));
}

TEST(FxtWriter, SpellsTheLivesOfThreads) {
    Recording recording;
    recording.start();
    const auto lines = added(recording, [&] {
        recording.writer->write(
            {1, model::Life{.kind = model::LifeKind::fork, .thread = kMain, .child = kWorker}});
        recording.writer->write(
            {2, model::Life{.kind = model::LifeKind::exec, .thread = kMain, .path = "/bin/sh"}});
        recording.writer->write(
            {3, model::Life{.kind = model::LifeKind::exit, .thread = kMain, .exit_code = 139}});
    });
    EXPECT_THAT(lines, ElementsAre("thread_slot 1 100/100",
                                   "instant 1 100/100 \"task\" \"fork\" child_pid=u32 100 "
                                   "child_tid=u32 101",
                                   "instant 2 100/100 \"task\" \"exec\" path=\"/bin/sh\"",
                                   "instant 3 100/100 \"task\" \"exit\" code=i32 139"));
}

TEST(FxtWriter, LossIsASliceACounterAndAnIdleCpu) {
    Recording recording;
    recording.start();
    recording.run(10, 1, model::kIdleThread, kWorker);
    const auto lines = added(recording, [&] {
        recording.writer->write({50, model::Loss{model::LossCause::ring_full, 1, 20, 7}});
        recording.writer->write({60, model::Loss{model::LossCause::sink_full, 1, 40, 3}});
    });
    EXPECT_THAT(lines,
                ElementsAre("switch 20 cpu 1 101 -> 0 state 3 incoming_weight=i32 -2147483648 "
                            "outgoing_weight=i32 120",
                            "process 4290772993 \"tracer: losses\"",
                            "thread 4290777089 \"CPU 1\" process=koid 4290772993",
                            "thread_slot 1 4290772993/4290777089",
                            "complete 20 4290772993/4290777089 \"tracer\" \"lost events\" "
                            "count=u64 7 cpu=u32 1 cause=\"ring full\" until 50",
                            "counter 50 4290772993/4290777089 \"tracer\" \"lost\" events=u64 7",
                            "complete 50 4290772993/4290777089 \"tracer\" \"lost events\" "
                            "count=u64 3 cpu=u32 1 cause=\"sink full\" until 60",
                            "counter 60 4290772993/4290777089 \"tracer\" \"lost\" events=u64 10"));
}

TEST(FxtWriter, LossOnACpuThatRunsNothingKnownWritesNoSwitch) {
    Recording recording;
    recording.start();
    recording.writer->write({50, model::Loss{model::LossCause::ring_full, 1, 20, 7}});
    EXPECT_TRUE(recording.read().switches.empty());
    EXPECT_EQ(recording.writer->write({50, model::Loss{model::LossCause::ring_full, 1, 51, 7}}),
              WriteStatus::refused);
}

TEST(FxtWriter, ClockReadingsAreInstants) {
    Recording recording;
    recording.start();
    const auto lines = added(recording, [&] {
        recording.writer->write({5, model::ClockReading{.monotonic_ns = 4, .realtime_ns = 99}});
    });
    EXPECT_EQ(lines.back(),
              "instant 5 4290772993/4290772993 \"tracer\" \"clock\" monotonic_ns=u64 4 "
              "realtime_ns=u64 99");
}

TEST(FxtWriter, ProbesThatHitInTheIdleLoopGetAThreadOfTheirOwn) {
    Recording recording;
    recording.start();
    const auto point = recording.point("irq", "entry");
    const auto lines = added(recording, [&] { recording.instant(5, point, model::kIdleThread); });
    EXPECT_EQ(lines.back(), "instant 5 4290772994/4290772994 \"irq\" \"entry\"");
    EXPECT_EQ(recording.begin(6, point, model::kIdleThread), WriteStatus::refused);
}

TEST(FxtWriter, TellsOfCutStringsAndRepairsTheirText) {
    Recording recording;
    recording.start();
    const auto point = recording.point("app", "q", {{"sql", ValueType::string}});
    const auto lines = added(recording, [&] {
        recording.instant(1, point, kMain, {text("caf\xC3", true)});
        recording.instant(2, point, kMain, {text("a\xFF")});
        recording.instant(3, point, kMain, {text("")});
    });
    EXPECT_THAT(lines,
                ElementsAre("thread_slot 1 100/100",
                            "instant 1 100/100 \"app\" \"q\" sql=\"caf\" sql_bytes_min=u64 4",
                            "instant 2 100/100 \"app\" \"q\" sql=\"a\xEF\xBF\xBD\"",
                            "instant 3 100/100 \"app\" \"q\" sql=\"\""));
}

TEST(FxtWriter, ShortensStringsToWhatARecordHolds) {
    Recording recording;
    recording.start();
    const std::string huge(40000, 'x');
    const auto one = recording.point("app", "one", {{"s", ValueType::string}});
    const auto two =
        recording.point("app", "two", {{"s", ValueType::string}, {"t", ValueType::string}});
    EXPECT_EQ(recording.instant(1, one, kMain, {text(huge)}), WriteStatus::ok);
    EXPECT_EQ(recording.writer->counters().strings_cut, 1U);
    EXPECT_EQ(recording.instant(2, two, kMain,
                                {text(huge.substr(0, 31999)), text(huge.substr(0, 20000))}),
              WriteStatus::ok);
    EXPECT_EQ(recording.writer->counters().strings_cut, 2U);
    const FxtFile file = recording.read();
    EXPECT_THAT(file.problems, IsEmpty());
    const auto& first = file.events.at(0);
    EXPECT_EQ(std::get<std::string_view>(*file.find(first.arguments, "s")).size(), 32000U);
    EXPECT_EQ(std::get<uint64_t>(*file.find(first.arguments, "s_bytes")), 40000U);
    EXPECT_LE(file.records.back().words, 4095);
}

TEST(FxtWriter, RefusesWhatTheFormatCannotSay) {
    Recording recording;
    recording.start();
    std::vector<model::Argument> names;
    names.reserve(16);
    for (int i = 0; i < 15; ++i) names.push_back({"a" + std::to_string(i), ValueType::s32});
    const auto fifteen = recording.point("app", "fifteen", names, names);
    names.push_back({"a15", ValueType::s32});
    const auto sixteen = recording.point("app", "sixteen", names);
    EXPECT_EQ(recording.writer->counters().refused, 1U);

    EXPECT_EQ(recording.instant(1, fifteen, kMain, std::vector<model::Value>(15, s32(1))),
              WriteStatus::ok);
    const size_t before = recording.size();
    EXPECT_EQ(recording.instant(1, sixteen, kMain, std::vector<model::Value>(16, s32(1))),
              WriteStatus::refused);
    EXPECT_EQ(recording.instant(1, fifteen, kMain, {s32(1)}), WriteStatus::refused);
    EXPECT_EQ(recording.instant(1, fifteen, kMain, std::vector<model::Value>(15, text("x"))),
              WriteStatus::refused)
        << "strings where none was declared";
    EXPECT_EQ(recording.instant(1, fifteen, model::ThreadIndex{7}), WriteStatus::refused);
    EXPECT_EQ(recording.instant(1, model::PointIndex{99}, kMain), WriteStatus::refused);
    EXPECT_EQ(recording.end(1, fifteen, kMain), WriteStatus::refused) << "nothing is open";
    EXPECT_EQ(recording.run(1, 0, model::kIdleThread, model::ThreadIndex{7}), WriteStatus::refused);
    EXPECT_EQ(recording.size(), before);
    EXPECT_EQ(recording.writer->counters().refused, 8U);
    EXPECT_EQ(recording.writer->counters().events, 1U);
}

TEST(FxtWriter, AnEndThatCannotBeSaidStillEndsItsSpan) {
    Recording recording;
    recording.start();
    std::vector<model::Argument> names;
    names.reserve(16);
    for (int i = 0; i < 15; ++i) names.push_back({"a" + std::to_string(i), ValueType::s32});
    const auto point = recording.point("app", "f", {}, names);
    ASSERT_EQ(recording.begin(1, point, kMain), WriteStatus::ok);
    EXPECT_EQ(recording.end(2, point, kMain, model::SpanEndCause::unwound,
                            std::vector<model::Value>(15, s32(1))),
              WriteStatus::refused)
        << "the cause would be the sixteenth argument";
    ASSERT_TRUE(recording.writer->close().has_value());
    const FxtFile file = recording.read();
    EXPECT_EQ(file.open_span_count, 0U);
    EXPECT_EQ(file.events.back().time, 2U);
}

TEST(FxtWriter, FlattensArgumentNames) {
    Recording recording;
    recording.start();
    const auto point = recording.point("app", "gc.major", {{"gc.gen[0]", ValueType::s32}});
    recording.instant(1, point, kMain, {s32(1)});
    const FxtFile file = recording.read();
    EXPECT_THAT(file.problems, IsEmpty());
    EXPECT_NE(file.find(file.events.at(0).arguments, "gc_gen_0_"), nullptr);
    EXPECT_EQ(file.events.at(0).name, "gc.major");
}

TEST(Formats, AreFoundByNameAndBySuffix) {
    ASSERT_NE(find_format_by_name("fxt"), nullptr);
    EXPECT_EQ(find_format_by_path("/tmp/a.fxt"), find_format_by_name("fxt"));
    EXPECT_EQ(find_format_by_name("nope"), nullptr);
    EXPECT_EQ(find_format_by_path("fxt"), nullptr);
}

}  // namespace
}  // namespace tracer::test
