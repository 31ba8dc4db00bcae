// SPDX-License-Identifier: Apache-2.0
//
// Pairs matched by a key: on any thread, in any order, each on a track of its own.
#include "pair_fixture.h"
#include "support/record_builder.h"

#include <variant>

namespace tracer {
namespace {

using testing::ElementsAre;

class DecoderKeyed : public PairTest {};

TEST_F(DecoderKeyed, MatchesAcrossThreadsInAnyOrder) {
    keyed(10, kK, 5, 7);
    keyed(20, kK, 6, 8);
    keyed(30, kK + kEnd, 5, 8);
    keyed(40, kK + kEnd, 6, 9);
    EXPECT_THAT(
        writer_.lines(),
        ElementsAre("10 async_begin k 7 #1 [5]", "20 async_begin k 8 #2 [6]",
                    "30 async_end k 8 #1 returned [2]", "40 async_end k 9 #2 returned [2]"));
    EXPECT_EQ(tally("k").durations.count(), 2U);
    EXPECT_EQ(tally("k").durations.max_ns(), 20U);
}

TEST_F(DecoderKeyed, AKeyIsThatOfOneProcess) {
    keyed(10, kK, 5, 7, 7);
    keyed(20, kK, 5, 9, 9);
    keyed(30, kK + kEnd, 5, 9, 9);
    keyed(45, kK + kEnd, 5, 7, 7);
    EXPECT_EQ(tally("k").durations.count(), 2U);
    EXPECT_EQ(tally("k").durations.max_ns(), 35U);
    EXPECT_EQ(counters().spans_key_reused, 0U);
}

TEST_F(DecoderKeyed, BothValuesOfAKeyTellSpansApart) {
    two_keys(10, kD, 5, 1);
    two_keys(20, kD, 5, 2);
    two_keys(30, kD, 6, 1);
    two_keys(40, kD + kEnd, 5, 1);
    two_keys(50, kD + kUntil, 6, 1);
    two_keys(60, kD + kEnd, 6, 2);
    two_keys(70, kD + kEnd, 5, 2);
    EXPECT_THAT(writer_.lines(),
                ElementsAre("10 async_begin d 7 #1 [5, 1]", "20 async_begin d 7 #2 [5, 2]",
                            "30 async_begin d 7 #3 [6, 1]", "40 async_end d 7 #1 returned []",
                            "50 async_end d 7 #3 until []", "70 async_end d 7 #2 returned []"));
    EXPECT_EQ(counters().spans_key_reused, 0U);
    EXPECT_EQ(tally("d").orphan_ends, 1U);
}

TEST_F(DecoderKeyed, ASharedTextKeyMatchesAmongProcesses) {
    const std::string key(100, 'x');
    text(10, kS, key + "1", 7, 7);
    text(20, kS, key + "2", 9, 9);
    text(30, kS + kEnd, key + "2", 7, 7);
    text(40, kS + kEnd, key + "1", 9, 9);
    text(50, kS + kEnd, key, 9, 9);
    EXPECT_EQ(tally("s").durations.count(), 2U);
    EXPECT_EQ(tally("s").durations.max_ns(), 30U);
    EXPECT_EQ(counters().spans_orphan_end, 1U);
}

TEST_F(DecoderKeyed, AKeyThatIsOpenAlreadyEndsTheEarlierSpan) {
    keyed(10, kK, 5, 7);
    keyed(20, kK, 5, 8);
    keyed(30, kK + kEnd, 5, 7);
    EXPECT_THAT(writer_.lines(),
                ElementsAre("10 async_begin k 7 #1 [5]", "20 async_end k 7 #1 key_reused []",
                            "20 async_begin k 8 #2 [5]", "30 async_end k 7 #2 returned [2]"));
    EXPECT_EQ(counters().spans_key_reused, 1U);
    EXPECT_EQ(tally("k").durations.count(), 1U);
}

TEST_F(DecoderKeyed, AnEndWithoutItsKeyIsAnOrphan) {
    keyed(10, kK, 5);
    keyed(20, kK + kEnd, 6);
    keyed(30, kK + kEnd, 5);
    keyed(40, kK + kEnd, 5);
    EXPECT_EQ(counters().spans_begun_before, 1U) << "no span of the pair is known yet";
    EXPECT_EQ(tally("k").orphan_ends, 1U);
}

TEST_F(DecoderKeyed, AnEndIsOfBeforeTheRecordingAsLongAsSpansAreKnownToTake) {
    keyed(10, kK, 1);
    keyed(40, kK + kEnd, 1);
    keyed(40, kK + kEnd, 2);  // 30 after the first hit, as long as the first span took
    keyed(41, kK + kEnd, 3);
    EXPECT_EQ(tally("k").begun_before, 1U);
    EXPECT_EQ(tally("k").orphan_ends, 1U);
    // Not of a process that began in the recording.
    feed(test::make_task({.time_ns = 42, .tgid = 9, .tid = 9}, TR_KIND_task_new, {.comm = "c"}));
    text(50, kS + kEnd, "key", 9, 9);
    EXPECT_EQ(tally("s").orphan_ends, 1U);
}

TEST_F(DecoderKeyed, UntilEndsItsKeyOrAllThatItsThreadBegan) {
    keyed(10, kK, 1, 7);
    keyed(20, kK, 2, 7);
    keyed(30, kK, 3, 8);
    keyed(40, kK, 4, 7);
    keyed(50, kK + kUntil, 2, 8);
    pair(60, kUntilThread, 7);
    EXPECT_EQ(writer_.open_spans(), 1U);
    static_cast<void>(writer_.take_lines());
    keyed(70, kK + kEnd, 3, 7);
    EXPECT_THAT(writer_.lines(), ElementsAre("70 async_end k 7 #3 returned [2]"));
    EXPECT_EQ(counters().spans_ended_by_until, 3U);
}

TEST_F(DecoderKeyed, OutlivesItsThreadButNotItsProcess) {
    keyed(10, kK, 1, 8, 7);
    text(15, kS, "shared", 8, 7);
    exit(20, 8, 7, false);
    EXPECT_EQ(writer_.open_spans(), 2U);
    keyed(30, kK, 2, 9, 7);
    static_cast<void>(writer_.take_lines());
    exit(40, 9, 7, true);
    EXPECT_THAT(writer_.take_lines(),
                ElementsAre("40 async_end k 8 #1 process_exit []",
                            "40 async_end k 9 #3 process_exit []", "40 exit 9 code 0"));
    EXPECT_EQ(counters().spans_closed_at_exit, 2U);
    text(50, kS + kEnd, "shared", 12, 12);
    EXPECT_EQ(writer_.open_spans(), 0U);
}

TEST_F(DecoderKeyed, AnotherProgramHasOtherKeys) {
    keyed(10, kK, 1);
    feed(test::make_exec({.time_ns = 20, .tgid = 7, .tid = 7}, "new", "/bin/new"));
    keyed(30, kK + kEnd, 1);
    EXPECT_EQ(counters().spans_unwound, 1U);
    EXPECT_EQ(counters().spans_orphan_end, 1U);
}

TEST_F(DecoderKeyed, AUsedAgainPidHasOtherKeys) {
    feed(test::make_task({.time_ns = 5, .tgid = 7, .tid = 7}, TR_KIND_task_new,
                         {.comm = "x", .start_ns = 5}));
    keyed(10, kK, 1);
    feed(test::make_task({.time_ns = 20, .tgid = 7, .tid = 7}, TR_KIND_task_new,
                         {.comm = "y", .start_ns = 20}));
    keyed(30, kK + kEnd, 1);
    EXPECT_EQ(counters().spans_closed_at_exit, 1U);
    EXPECT_EQ(counters().spans_orphan_end, 1U);
}

TEST_F(DecoderKeyed, NoneCrossesAGapNorTheEnd) {
    keyed(10, kK, 1);
    text(11, kS, "a", 9, 9);
    feed(test::make_gap(TR_KIND_gap_begin, 20, 1, 0, 20));
    keyed(30, kK, 2);
    feed(test::make_gap(TR_KIND_gap_end, 40, 1, 5, 20));
    keyed(50, kK + kEnd, 2);
    keyed(60, kK, 3);
    decoder_->finish(70);
    EXPECT_THAT(
        writer_.lines(),
        ElementsAre("10 async_begin k 7 #1 [1]", "11 async_begin s 9 #2 ['a']",
                    "20 async_end k 7 #1 lost_events []", "20 async_end s 9 #2 lost_events []",
                    "30 async_begin k 7 #3 [2]", "40 async_end k 7 #3 lost_events []",
                    "40 loss ring_full cpu1 from 20 count 5", "60 async_begin k 7 #4 [3]",
                    "70 async_end k 7 #4 recording_end []"));
    EXPECT_EQ(counters().spans_cut_by_loss, 3U);
    EXPECT_EQ(counters().spans_closed_at_end, 1U);
}

TEST_F(DecoderKeyed, AKeyThatCannotBeReadIsCounted) {
    feed(test::make_hit({.time_ns = 10, .tgid = 7, .tid = 7}, kK, {0}, 1));
    feed(test::make_hit({.time_ns = 20, .tgid = 7, .tid = 7}, kK + kEnd, {0, 2}, 1));
    EXPECT_EQ(counters().spans_key_missing, 2U);
    EXPECT_EQ(tally("k").key_missing, 2U);
    EXPECT_EQ(writer_.lines().size(), 0U);
}

// Keeps nothing: there are millions of events.
class CountingWriter : public TraceWriter {
public:
    [[nodiscard]] Status open() override { return {}; }
    void define(const model::Thread&) override {}
    void define(const model::Point&) override {}
    WriteStatus write(const model::Event& event) override {
        if (std::holds_alternative<model::AsyncBegin>(event.body)) ++begins;
        if (std::holds_alternative<model::AsyncEnd>(event.body)) ++ends;
        return WriteStatus::ok;
    }
    [[nodiscard]] Status begin_chunk() override { return {}; }
    [[nodiscard]] Status close() override { return {}; }
    [[nodiscard]] const WriterCounters& counters() const override { return counters_; }

    size_t begins = 0;
    size_t ends = 0;

private:
    WriterCounters counters_;
};

TEST_F(DecoderKeyed, TheTableIsBounded) {
    CountingWriter writer;
    decoder_ = Decoder::make(pair_definitions(), writer);
    for (uint64_t key = 0; key < kOpenKeysMax + 10; ++key) keyed(key, kK, key);
    EXPECT_EQ(counters().spans_keys_beyond_limit, 10U);
    EXPECT_EQ(writer.begins, kOpenKeysMax);
    keyed(kOpenKeysMax + 20, kK + kEnd, 3);
    keyed(kOpenKeysMax + 21, kK, kOpenKeysMax + 5);
    EXPECT_EQ(counters().spans_keys_beyond_limit, 10U);
    decoder_->finish(kOpenKeysMax + 30);
    EXPECT_EQ(writer.ends, writer.begins);
    EXPECT_EQ(counters().spans_closed_at_end, kOpenKeysMax);
}

TEST_F(DecoderKeyed, EndsInTimeOrderThoughDeliveredLate) {
    keyed(20, kK, 5, 7);
    keyed(10, kK + kEnd, 5, 8);
    EXPECT_THAT(writer_.lines(),
                ElementsAre("20 async_begin k 7 #1 [5]", "20 async_end k 8 #1 returned [2]"));
    EXPECT_EQ(tally("k").durations.max_ns(), 0U);
}

}  // namespace
}  // namespace tracer
