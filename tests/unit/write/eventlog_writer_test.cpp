// SPDX-License-Identifier: Apache-2.0
//
// What programs do, as messages; a log's beginning, end and chunks; limits and full sinks.
#include "tracer/write/chunk_memory_sink.h"
#include "tracer/write/chunk_switch.h"
#include "unit/write/eventlog_writer_fixture.h"

#include <limits>

namespace tracer::test {
namespace {

using model::ValueType;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

class EventlogWriter : public EventlogWriterTest {};

TEST_F(EventlogWriter, ALogBeginsWithWhatItIsAbout) {
    start({.pid = 100, .parent_pid = 7, .arguments = {"/bin/app", "-x", "two words"}});
    std::vector<std::string> lines;
    for (const EventlogEvent& event : read().events) {
        if (!event.is(EventlogId::block_marker)) lines.push_back(event_line(event));
    }
    EXPECT_THAT(lines,
                ElementsAre("0 cap=- created capset 0 of type CapsetOsProcess",
                            "0 cap=- created capset 1 of type CapsetClockDomain",
                            "0 cap=- capset 0: RTS version \"tracer-" TRACER_VERSION "\"",
                            "0 cap=- capset 0: pid 100", "0 cap=- capset 0: parent pid 7",
                            "0 cap=- capset 0: args: [\"/bin/app\",\"-x\",\"two words\"]",
                            "0 cap=- capset 1: wall clock time 1700000000s 3ns (unix epoch)"));
}

TEST_F(EventlogWriter, SeveralProcessesAreASetOfNoProcess) {
    start();
    EXPECT_EQ(event_line(read().events[1]), "0 cap=- created capset 0 of type CapsetCustom");
}

TEST_F(EventlogWriter, OnlyTheFirstClockReadingIsTheWallClock) {
    start();
    write(50, model::ClockReading{.monotonic_ns = 9, .realtime_ns = 1});
    EXPECT_EQ(lines(std::nullopt).size(), 1U);
}

TEST_F(EventlogWriter, AnInstantIsAMessageAndATracepoint) {
    start();
    const auto at = point("get", {{"id", ValueType::u64}, {"path", ValueType::string}});
    EXPECT_EQ(instant(10, 0, at, kMain, {u64(1), text("/a")}), WriteStatus::ok);
    EXPECT_EQ(instant(20, 0, at, kWorker, {u64(2), text("/b", true)}), WriteStatus::ok);
    EXPECT_THAT(lines(0), ElementsAre("10 get id=1 path=\"/a\"",
                                      "10 perf event tracepoint 0 reached in OS thread 100",
                                      "20 get id=2 path=\"/b\"...",
                                      "20 perf event tracepoint 0 reached in OS thread 101"));
    EXPECT_EQ(lines(std::nullopt).back(), "10 perf event 0 named \"lib:get\"");
}

TEST_F(EventlogWriter, CutStringsTellTheirLengthAndValuesTheirNames) {
    start();
    const auto at = point("io", {{"op", ValueType::s32, {{0, "read"}, {~uint64_t{0}, "none"}}},
                                 {"buf", ValueType::string}});
    auto cut = text("abc", true);
    cut.bits = 5000;
    auto bounded = cut;
    bounded.is_longer = true;
    EXPECT_EQ(instant(10, 0, at, kMain, {s32(0), cut}), WriteStatus::ok);
    EXPECT_EQ(instant(20, 0, at, kMain, {s32(-1), bounded}), WriteStatus::ok);
    EXPECT_EQ(instant(30, 0, at, kMain, {s32(7), model::Value{}}), WriteStatus::ok);
    EXPECT_THAT(lines(0), ElementsAre("10 io op=read buf=\"abc\"...(5000 bytes)",
                                      "10 perf event tracepoint 0 reached in OS thread 100",
                                      "20 io op=none buf=\"abc\"...(at least 5000 bytes)",
                                      "20 perf event tracepoint 0 reached in OS thread 100",
                                      "30 io op=7 buf=?",
                                      "30 perf event tracepoint 0 reached in OS thread 100"));
}

TEST_F(EventlogWriter, ASpanIsWhatGhcEventsAnalyzePairs) {
    start();
    const auto at = point("serve", {{"id", ValueType::u64}}, {{"status", ValueType::s32}});
    const auto plain = point("plain");
    begin(10, 0, at, kMain, {u64(1)});
    begin(20, 0, plain, kMain);
    end(30, 1, plain, kMain);
    end(40, 1, at, kMain, {s32(200)});
    EXPECT_THAT(lines(0), ElementsAre("10 serve id=1", "10 START 100 serve", "20 START 100 plain"));
    EXPECT_THAT(lines(1),
                ElementsAre("30 STOP 100 plain", "40 serve status=200", "40 STOP 100 serve"));
}

TEST_F(EventlogWriter, AnEventsOwnNameTakesThePlaceOfItsPoints) {
    start();
    const auto at = point("query", {{"n", ValueType::s32}});
    const std::vector<model::Value> values{s32(1)};
    write(10, model::Instant{at, kMain, values, "query one"}, 0);
    write(20, model::SpanBegin{at, kMain, values, "query two"}, 0);
    end(30, 1, at, kMain);
    EXPECT_THAT(lines(0), ElementsAre("10 query one n=1",
                                      "10 perf event tracepoint 0 reached in OS thread 100",
                                      "20 query two n=1", "20 START 100 query two"));
    EXPECT_THAT(lines(1), ElementsAre("30 STOP 100 query two"));
    EXPECT_EQ(lines(std::nullopt).back(), "10 perf event 0 named \"lib:query\"");
}

TEST_F(EventlogWriter, AnEndThatIsARepairSaysWhy) {
    start();
    const auto at = point("f", {}, {{"r", ValueType::s32}});
    begin(10, 2, at, kMain);
    end(20, model::kNoCpu, at, kMain, {}, model::SpanEndCause::thread_exit);
    EXPECT_THAT(lines(0),
                ElementsAre("10 START 100 f", "20 STOP 100 f", "20 f ended: thread exit"));
}

// By a number of its own, so that those that cross are kept apart.
TEST_F(EventlogWriter, AnAsynchronousSpanIsPairedByItsId) {
    start();
    const auto at = point("req", {{"key", ValueType::u64}}, {{"status", ValueType::s32}});
    const std::vector<model::Value> five{u64(5)};
    const std::vector<model::Value> six{u64(6)};
    const std::vector<model::Value> status{s32(200)};
    write(10, model::AsyncBegin{at, kMain, 1001, five}, 0);
    write(20, model::AsyncBegin{at, kMain, 1002, six}, 0);
    EXPECT_EQ(write(25, model::AsyncBegin{at, kMain, 1002, six}, 0), WriteStatus::refused);
    write(30, model::AsyncEnd{.point = at, .thread = kWorker, .id = 1001, .values = status}, 1);
    write(40, model::AsyncEnd{at, kMain, 1002, model::SpanEndCause::until, {}});
    EXPECT_THAT(lines(0),
                ElementsAre("10 req key=5", "10 START 1001 req", "20 req key=6",
                            "20 START 1002 req", "40 STOP 1002 req", "40 req ended: until"));
    EXPECT_THAT(lines(1), ElementsAre("30 req status=200", "30 STOP 1001 req"));
    EXPECT_EQ(write(50, model::AsyncEnd{.point = at, .thread = kMain, .id = 1002}),
              WriteStatus::refused);
}

TEST_F(EventlogWriter, AnOuterEndEndsWhatIsInside) {
    start();
    const auto outer = point("outer");
    const auto inner = point("inner");
    begin(10, 0, outer, kMain);
    begin(11, 0, inner, kMain);
    end(20, 0, outer, kMain);
    EXPECT_THAT(lines(0),
                ElementsAre("10 START 100 outer", "11 START 100 inner", "20 STOP 100 inner",
                            "20 inner ended: lost events", "20 STOP 100 outer"));
    EXPECT_EQ(end(30, 0, inner, kMain), WriteStatus::refused);
}

TEST_F(EventlogWriter, ACounterIsAMessage) {
    start();
    const auto at = point("heap", {{"live", ValueType::f64}});
    model::Value half{.type = ValueType::f64};
    half.real = 0.5;
    EXPECT_EQ(write(10, model::Counter{at, kMain, std::span(&half, 1)}, 0), WriteStatus::ok);
    EXPECT_THAT(lines(0), ElementsAre("10 heap live=0.5"));
}

TEST_F(EventlogWriter, ACounterIsCalledWhatItsEventSays) {
    start();
    const auto at = point("heap", {{"live", ValueType::u64}});
    const std::vector<model::Value> values{u64(7)};
    EXPECT_EQ(write(10, model::Counter{at, kMain, values, "heap of a"}, 0), WriteStatus::ok);
    EXPECT_THAT(lines(0), ElementsAre("10 heap of a live=7"));
}

// Their numbers are no threads', so that a span on one is not taken for a thread's.
TEST_F(EventlogWriter, ALineHasANumberOfItsOwnAndSaysWhatItIs) {
    start();
    writer_->define(model::Thread{.index = model::ThreadIndex{5},
                                  .pid = 100,
                                  .tid = 1,
                                  .thread_life = model::kTrackLife,
                                  .is_track = true,
                                  .thread_name = "phase (worker 101)",
                                  .process_name = "app"});
    const auto at = point("parse");
    begin(10, 0, at, model::ThreadIndex{5});
    end(20, 0, at, model::ThreadIndex{5});
    EXPECT_THAT(lines(0), ElementsAre("10 START 4286578689 parse", "20 STOP 4286578689 parse"));
    EXPECT_EQ(lines(std::nullopt).back(), "10 line 4286578689 is phase (worker 101) of app/100");
}

TEST_F(EventlogWriter, LivesAreMessages) {
    start();
    thread(model::ThreadIndex{2}, 102, 102, "child");
    write(
        10,
        model::Life{.kind = model::LifeKind::fork, .thread = kMain, .child = model::ThreadIndex{2}},
        0);
    write(20,
          model::Life{
              .kind = model::LifeKind::exec, .thread = model::ThreadIndex{2}, .path = "/bin/\"x\""},
          0);
    write(
        30,
        model::Life{.kind = model::LifeKind::exit, .thread = model::ThreadIndex{2}, .exit_code = 3},
        0);
    EXPECT_THAT(lines(0),
                ElementsAre("10 fork tid=100 child=child/102",
                            "20 exec tid=102 path=\"/bin/\\\"x\\\"\"", "30 exit tid=102 code=3"));
}

TEST_F(EventlogWriter, ValuesOfEachTypeAreText) {
    start();
    const auto at = point("v", {{"a", ValueType::s32},
                                {"b", ValueType::u32},
                                {"c", ValueType::s64},
                                {"d", ValueType::u64},
                                {"e", ValueType::boolean},
                                {"f", ValueType::pointer},
                                {"g", ValueType::f64},
                                {"h", ValueType::string},
                                {"i", ValueType::none}});
    model::Value nan{.type = ValueType::f64};
    nan.real = std::numeric_limits<double>::quiet_NaN();
    instant(10, 0, at, kMain,
            {s32(-1),
             {.type = ValueType::u32, .bits = 0xffffffff},
             {.type = ValueType::s64, .bits = 1ULL << 63},
             u64(UINT64_MAX),
             {.type = ValueType::boolean, .bits = 1},
             {.type = ValueType::pointer, .bits = 0xbeef},
             nan,
             text("\xff\n\"\\\t\x01\xc3\xa9"),
             {}});
    EXPECT_EQ(lines(0).front(),
              "10 v a=-1 b=4294967295 c=-9223372036854775808 d=18446744073709551615 e=true "
              "f=0xbeef g=nan h=\"\xEF\xBF\xBD\\n\\\"\\\\\\t\\x01\xc3\xa9\" i=?");
}

TEST_F(EventlogWriter, NamesThatAreNotUtf8AreRepaired) {
    start();
    const auto at = point("na\xffme", {{"arg\xff", ValueType::u64}});
    thread(kMain, 100, 100, "\xff\xfe");
    run(5, 0, kIdle, kMain);
    instant(10, 0, at, kMain, {u64(1)});
    EXPECT_THAT(lines(0), Contains("10 na\xEF\xBF\xBDme arg\xEF\xBF\xBD=1"));
    EXPECT_THAT(lines(0), Contains("5 thread 100 has label \"\xEF\xBF\xBD\xEF\xBF\xBD/100\""));
}

TEST_F(EventlogWriter, WhatDoesNotFitItsPointIsRefused) {
    start();
    const auto at = point("one", {{"a", ValueType::u64}});
    EXPECT_EQ(instant(10, 0, at, kMain), WriteStatus::refused);
    EXPECT_EQ(instant(10, 0, model::PointIndex{9}, kMain), WriteStatus::refused);
    EXPECT_EQ(instant(10, 0, at, model::ThreadIndex{9}, {u64(1)}), WriteStatus::refused);
    EXPECT_EQ(begin(10, 0, at, kIdle, {u64(1)}), WriteStatus::refused);
    EXPECT_EQ(end(10, 0, at, kMain), WriteStatus::refused);
    EXPECT_EQ(writer_->counters().refused, 5U);
    EXPECT_THAT(lines(0), IsEmpty());
}

TEST_F(EventlogWriter, AnEventOfNoCpuIsWhereItsThreadWasLast) {
    start();
    const auto at = point("p");
    instant(10, model::kNoCpu, at, kMain);
    EXPECT_THAT(lines(std::nullopt), Contains("10 p"));
    run(20, 3, kIdle, kMain);
    instant(30, model::kNoCpu, at, kMain);
    EXPECT_THAT(lines(0), Contains("30 p"));
}

TEST_F(EventlogWriter, TheIdleLoopMayHaveInstants) {
    start();
    const auto at = point("irq");
    EXPECT_EQ(instant(10, 0, at, kIdle), WriteStatus::ok);
    EXPECT_THAT(lines(0), ElementsAre("10 irq", HasSubstr("in OS thread 0")));
}

TEST_F(EventlogWriter, ALongMessageIsCutBetweenCharacters) {
    start();
    const auto at = point("long", {{"s", ValueType::string}});
    std::string two_bytes_each;
    for (int i = 0; i < 40000; ++i) two_bytes_each += "\xc3\xa9";
    EXPECT_EQ(instant(10, 0, at, kMain, {text(two_bytes_each)}), WriteStatus::ok);
    EXPECT_EQ(instant(20, 0, at, kMain, {text("short")}), WriteStatus::ok);
    EXPECT_EQ(writer_->counters().strings_cut, 1U);
    const auto all = lines(0);
    EXPECT_GT(all[0].size(), 65000U);
    EXPECT_LT(all[0].size(), 65536U);
    EXPECT_EQ(all[2], "20 long s=\"short\"");
}

// ---- a log's beginning and end ----

TEST_F(EventlogWriter, EventsLeaveASecondAfterTheyCame) {
    start();
    const auto at = point("tick");
    instant(10, 0, at, kMain);
    const size_t before = sink_.bytes().size();
    instant(999'999'999, 0, at, kMain);
    EXPECT_EQ(sink_.bytes().size(), before);
    // From the round's first event on, which was the clock's at 0.
    instant(1'000'000'000, 0, at, kMain);
    EXPECT_GT(sink_.bytes().size(), before);
    const EventlogFile file = parse_eventlog(text_of(sink_.bytes()));
    EXPECT_EQ(file.events.back().time_ns, 999'999'999U);
}

TEST_F(EventlogWriter, ARoundOfBlocksIsOneReservation) {
    start();
    const auto at = point("tick");
    for (uint64_t i = 0; i < 10'000; ++i) {
        instant(i, static_cast<uint16_t>(i % 3), at, kMain);
    }
    const EventlogFile file = read();
    uint64_t bytes = 0;
    for (const EventlogEvent& event : file.events) {
        bytes += event.bytes;
        if (event.is(EventlogId::block_marker)) {
            EXPECT_LE(event.number("size"), ByteSink::kReserveBytesMax);
        }
    }
    EXPECT_GT(bytes, 3 * ByteSink::kReserveBytesMax);
    EXPECT_GT(file.reader.block_count(), 3U * 3);
    EXPECT_LT(file.reader.block_count(), 3U * 12) << "blocks are written before they are large";
}

TEST_F(EventlogWriter, TheEndMarkerIsLast) {
    start();
    EXPECT_TRUE(writer_->close());
    is_closed_ = true;
    const EventlogFile file = parse_eventlog(text_of(sink_.bytes()));
    EXPECT_EQ(file.reader.end_marker_count(), 1U);
    EXPECT_EQ(file.reader.oddities().after_end_events, 0U);
}

// ---- chunks ----

class EventlogChunk : public EventlogWriter {
protected:
    [[nodiscard]] std::vector<std::string> lines_of(const MemorySink& sink) {
        std::vector<std::string> lines;
        for (const EventlogEvent& event : parse_eventlog(text_of(sink.bytes())).events) {
            if (!event.is(EventlogId::block_marker)) lines.push_back(event_line(event));
        }
        return lines;
    }
};

TEST_F(EventlogChunk, AChunkBeginsWithWhatIsLive) {
    start({.pid = 100, .arguments = {"app"}});
    const auto at = point("serve");
    run(10, 3, kIdle, kMain);
    run(20, 5, kIdle, kWorker);
    run(30, 5, kWorker, kIdle);
    begin(2'000'000'000, 3, at, kMain);
    MemorySink next;
    ASSERT_TRUE(writer_->switch_sink(next, SinkStart::reads_alone));
    end(2'000'000'010, 3, at, kMain);
    run(2'000'000'020, 5, kIdle, kWorker);
    EXPECT_TRUE(writer_->close());
    is_closed_ = true;
    expect_valid(text_of(next.bytes()));
    EXPECT_THAT(
        lines_of(next),
        ElementsAre("0 cap=- created capset 0 of type CapsetOsProcess",
                    "0 cap=- created capset 1 of type CapsetClockDomain",
                    "0 cap=- capset 0: RTS version \"tracer-" TRACER_VERSION "\"",
                    "0 cap=- capset 0: pid 100", "0 cap=- capset 0: args: [\"app\"]",
                    "0 cap=- capset 1: wall clock time 1700000002s 3ns (unix epoch)",
                    "0 cap=- created cap 0", "0 cap=- assigned cap 0 to capset 0",
                    "0 cap=- assigned cap 0 to capset 1", "0 cap=- capability 0 is CPU 3",
                    "0 cap=- created cap 1", "0 cap=- assigned cap 1 to capset 0",
                    "0 cap=- assigned cap 1 to capset 1", "0 cap=- capability 1 is CPU 5",
                    "0 cap=0 creating thread 100", "0 cap=0 thread 100 has label \"app/100\"",
                    "0 cap=0 running thread 100", "0 cap=0 START 100 serve",
                    "10 cap=0 STOP 100 serve", "20 cap=1 creating thread 101",
                    "20 cap=1 thread 101 has label \"worker/101 of app/100\"",
                    "20 cap=1 running thread 101"));
}

TEST_F(EventlogChunk, WhatGoesOnElsewhereIsTheSameLog) {
    start();
    run(10, 0, kIdle, kMain);
    MemorySink next;
    ASSERT_TRUE(writer_->switch_sink(next, SinkStart::goes_on));
    run(20, 0, kMain, kIdle);
    EXPECT_TRUE(writer_->close());
    is_closed_ = true;
    std::string both(text_of(sink_.bytes()));
    both += text_of(next.bytes());
    expect_valid(both);
    EXPECT_EQ(next.bytes().size(), 24U + 20U + 2U) << "a block of one STOP and the end marker";
}

TEST_F(EventlogChunk, ChunksOfAChunkedSinkAreWholeLogs) {
    ChunkMemorySink chunks({.limits = {.chunk_bytes = 8192}});
    start();
    ASSERT_TRUE(writer_->switch_sink(chunks, SinkStart::reads_alone));
    for (uint64_t i = 1; i <= 10'000; ++i) {
        ASSERT_TRUE(begin_chunk_if_due(chunks, *writer_));
        run(i * 1'000'000, 0, i % 2 == 0 ? kMain : kIdle, i % 2 == 0 ? kIdle : kMain);
    }
    EXPECT_TRUE(writer_->close());
    is_closed_ = true;
    ASSERT_TRUE(chunks.close());
    size_t chunk_count = 0;
    size_t run_count = 0;
    for (auto chunk = chunks.pop(); chunk; chunk = chunks.pop()) {
        const std::string_view bytes = text_of(chunk->bytes());
        EXPECT_TRUE(bytes.starts_with("hdrb"));
        EXPECT_TRUE(bytes.ends_with("\xff\xff"));
        if (chunk_count++ % 8 == 0) expect_valid(bytes);  // the judge is a program
        for (const EventlogEvent& event : parse_eventlog(bytes).events) {
            run_count += event.id == 1 ? 1 : 0;
        }
    }
    EXPECT_GE(chunk_count, 10U);
    EXPECT_GE(run_count, 5'000U) << "and one more where a chunk began in a run";
    EXPECT_EQ(writer_->counters().no_room, 0U);
}

TEST_F(EventlogChunk, AChunkInTheSameSinkFollowsTheEndOfTheOneBefore) {
    start();
    run(10, 0, kIdle, kMain);
    writer_->flush();
    ASSERT_TRUE(writer_->begin_chunk());
    const std::string all(text_of(sink_.bytes()));
    const size_t second = all.find("hdrb", 4);
    ASSERT_NE(second, std::string::npos);
    EXPECT_EQ(all.substr(second - 2, 2), "\xff\xff");
    expect_valid(all.substr(second));
    expect_valid(all.substr(0, second));
    is_judged_ = true;  // both together are nothing that a reader of one log takes
}

// ---- full sinks ----

class BoundedSink : public MemorySink {
public:
    [[nodiscard]] std::span<std::byte> reserve(size_t bytes) override {
        if (is_full) return {};
        return MemorySink::reserve(bytes);
    }
    bool is_full = false;
};

TEST(EventlogFullSink, NothingIsLostUntilTwoRoundsWait) {
    BoundedSink sink;
    const auto writer = find_format_by_name("eventlog")->make_writer(sink);
    ASSERT_TRUE(writer->open());
    writer->define(model::Thread{.index = kMain, .pid = 1, .tid = 1});
    writer->define(model::Point{.index = model::PointIndex{0}, .name = "tick"});
    sink.is_full = true;
    uint64_t ns = 0;
    const model::Instant tick{model::PointIndex{0}, kMain, {}};
    while (writer->write({ns, tick, 0}) == WriteStatus::ok) ++ns;
    EXPECT_GT(ns, 2000U);
    EXPECT_EQ(writer->counters().events, ns);
    EXPECT_EQ(writer->counters().no_room, 1U);
    sink.is_full = false;
    EXPECT_EQ(writer->write({ns, tick, 0}), WriteStatus::ok);
    EXPECT_TRUE(writer->close());
    expect_valid(text_of(sink.bytes()));
    size_t ticks = 0;
    for (const EventlogEvent& event : parse_eventlog(text_of(sink.bytes())).events) {
        if (event.is(EventlogId::user_msg)) ++ticks;
    }
    EXPECT_EQ(ticks, ns + 1);
}

TEST(EventlogFullSink, TheEndThatHasNoRoomIsAnErrorAndCounted) {
    BoundedSink sink;
    const auto writer = find_format_by_name("eventlog")->make_writer(sink);
    ASSERT_TRUE(writer->open());
    writer->define(model::Thread{.index = kMain, .pid = 1, .tid = 1});
    writer->write({1, model::Switch{0, kIdle, {}, 0, kMain, 0}, 0});
    sink.is_full = true;
    const Status closed = writer->close();
    ASSERT_FALSE(closed);
    EXPECT_THAT(closed.error().what, HasSubstr("last 1 event"));
    EXPECT_EQ(writer->counters().events, 0U);
    EXPECT_EQ(writer->counters().no_room, 1U);
    expect_valid(text_of(sink.bytes()));
}

TEST(EventlogFullSink, AChunkBeginsEvenIfTheOneBeforeHasNoRoom) {
    BoundedSink sink;
    MemorySink next;
    const auto writer = find_format_by_name("eventlog")->make_writer(sink);
    ASSERT_TRUE(writer->open());
    writer->define(model::Thread{.index = kMain, .pid = 1, .tid = 1});
    sink.is_full = true;
    writer->write({1, model::Switch{0, kIdle, {}, 0, kMain, 0}, 0});
    ASSERT_TRUE(writer->switch_sink(next, SinkStart::reads_alone));
    EXPECT_TRUE(writer->close());
    EXPECT_EQ(writer->counters().no_room, 1U);
    expect_valid(text_of(sink.bytes()));
    expect_valid(text_of(next.bytes()));
}

TEST(EventlogFullSink, AHeaderWithoutRoomIsWrittenLater) {
    BoundedSink sink;
    sink.is_full = true;
    const auto writer = find_format_by_name("eventlog")->make_writer(sink);
    EXPECT_FALSE(writer->open());
    sink.is_full = false;
    writer->write({1, model::ClockReading{1, 2}});
    EXPECT_TRUE(writer->close());
    expect_valid(text_of(sink.bytes()));
}

}  // namespace
}  // namespace tracer::test
