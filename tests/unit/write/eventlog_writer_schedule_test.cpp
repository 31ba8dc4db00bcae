// SPDX-License-Identifier: Apache-2.0
//
// Who runs where: the writer's rules one by one, each at its boundary. That any order of events
// gives a valid log is shown by eventlog_writer_random_test.cpp.
#include "unit/write/eventlog_writer_fixture.h"

namespace tracer::test {
namespace {

using model::ThreadState;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class EventlogSchedule : public EventlogWriterTest {
protected:
    // The lines without those that create and label.
    [[nodiscard]] std::vector<std::string> moves(uint16_t capability) {
        std::vector<std::string> moves;
        for (std::string& line : lines(capability)) {
            const bool is_birth = line.find(" creating ") != std::string::npos ||
                                  line.find(" has label ") != std::string::npos;
            if (!is_birth) moves.push_back(std::move(line));
        }
        return moves;
    }
};

TEST_F(EventlogSchedule, AThreadIsCreatedAndLabelledRightBeforeItsFirstEvent) {
    start();
    run(10, 0, kIdle, kWorker);
    run(20, 0, kWorker, kIdle);
    run(30, 0, kIdle, kWorker);
    EXPECT_THAT(
        lines(0),
        ElementsAre("10 creating thread 101", "10 thread 101 has label \"worker/101 of app/100\"",
                    "10 running thread 101", "20 stopping thread 101 (blocked on an MVar)",
                    "30 running thread 101"));
}

TEST_F(EventlogSchedule, AThreadThatIsFirstSeenWhenItStopsRanFromTheBegin) {
    start();
    run(10, 0, kMain, kIdle);
    EXPECT_THAT(lines(0),
                ElementsAre("0 creating thread 100", "0 thread 100 has label \"app/100\"",
                            "0 running thread 100", "10 stopping thread 100 (blocked on an MVar)"));
}

TEST_F(EventlogSchedule, AThreadWhoseSwitchInIsMissingRunsForNoTime) {
    start();
    run(10, 0, kMain, kIdle);
    run(20, 0, kWorker, kIdle);
    EXPECT_THAT(
        moves(0),
        ElementsAre("0 running thread 100", "10 stopping thread 100 (blocked on an MVar)",
                    "20 running thread 101", "20 stopping thread 101 (blocked on an MVar)"));
}

TEST_F(EventlogSchedule, OfTheWholeSystemAWakerIsWhatRunsOnItsCpu) {
    start({.cpu_count = 1});
    write(10, model::Wakeup{0, kWorker, kMain, 120}, 0);
    run(20, 0, kMain, kWorker, ThreadState::runnable);
    EXPECT_THAT(moves(0),
                ElementsAre("0 running thread 100", "10 waking up thread 101 on cap 0",
                            "20 stopping thread 100 (thread yielding)", "20 running thread 101"));
}

TEST_F(EventlogSchedule, OfOneProcessAWakerMayBeAnyThread) {
    start();
    write(10, model::Wakeup{0, kWorker, kMain, 120}, 0);
    EXPECT_THAT(moves(0), ElementsAre("10 waking up thread 101 on cap 0"));
}

TEST_F(EventlogSchedule, StatusesSayHowAThreadStopped) {
    start();
    constexpr std::pair<ThreadState, const char*> kStatuses[]{
        {ThreadState::runnable, "3"},        {ThreadState::sleeping, "7"},
        {ThreadState::uninterruptible, "9"}, {ThreadState::stopped, "0"},
        {ThreadState::unknown, "0"},         {ThreadState::dead, "5"}};
    uint64_t ns = 0;
    for (const auto& [state, status] : kStatuses) {
        run(ns += 10, 0, kIdle, kMain);
        run(ns += 10, 0, kMain, kIdle, state);
    }
    size_t stops = 0;
    for (const EventlogEvent& event : read().events) {
        if (!event.is(EventlogId::stop_thread)) continue;
        EXPECT_EQ(std::to_string(event.number("status")), kStatuses[stops].second);
        ++stops;
    }
    EXPECT_EQ(stops, std::size(kStatuses));
}

TEST_F(EventlogSchedule, TheIdleLoopIsAGap) {
    start();
    EXPECT_EQ(run(10, 0, kIdle, kIdle), WriteStatus::ok);
    EXPECT_THAT(lines(0), IsEmpty());
}

TEST_F(EventlogSchedule, AThreadThatMovesRunsANanosecondAfterItStoppedElsewhere) {
    start();
    run(10, 0, kIdle, kMain);
    run(20, 0, kMain, kIdle, ThreadState::runnable);
    run(20, 1, kIdle, kMain);
    run(30, 1, kMain, kIdle, ThreadState::runnable);
    run(31, 0, kIdle, kMain);
    EXPECT_THAT(moves(1),
                ElementsAre("21 running thread 100", "30 stopping thread 100 (thread yielding)"));
    EXPECT_EQ(moves(0).back(), "31 running thread 100");
}

TEST_F(EventlogSchedule, AThreadSeenOnTwoCpusIsStoppedOnTheFirst) {
    start();
    run(10, 0, kIdle, kMain);
    run(20, 1, kIdle, kMain);
    EXPECT_THAT(moves(0), ElementsAre("10 running thread 100", HasSubstr("20 stopping thread")));
    EXPECT_THAT(moves(1), ElementsAre("21 running thread 100"));
}

TEST_F(EventlogSchedule, AThreadWhoseSwitchOutIsMissingIsStoppedWithoutAReason) {
    start();
    run(10, 0, kIdle, kMain);
    run(20, 0, kIdle, kWorker);
    EXPECT_THAT(moves(0), ElementsAre("10 running thread 100",
                                      "20 stopping thread 100 (No stop thread status)",
                                      "20 running thread 101"));
}

TEST_F(EventlogSchedule, AWakeupIsInTheWakersBlock) {
    start();
    run(10, 1, kIdle, kWorker);
    run(20, 1, kWorker, kIdle);
    EXPECT_EQ(wake(30, 0, kWorker, 1), WriteStatus::ok);
    run(30, 1, kIdle, kWorker);
    // The second CPU that was heard of is capability 1.
    EXPECT_THAT(lines(1), ElementsAre("30 waking up thread 101 on cap 0"));
    EXPECT_EQ(lines(0).back(), "31 running thread 101");
}

TEST_F(EventlogSchedule, AWakeupCreatesItsThread) {
    start();
    EXPECT_EQ(wake(5, 0, kMain, 0), WriteStatus::ok);
    EXPECT_THAT(lines(0), ElementsAre("5 creating thread 100", "5 thread 100 has label \"app/100\"",
                                      "5 waking up thread 100 on cap 0"));
}

TEST_F(EventlogSchedule, AWakeupOfNoKnownCpuIsWhereTheThreadIsToRun) {
    start();
    EXPECT_EQ(wake(5, model::kNoCpu, kMain, 3), WriteStatus::ok);
    EXPECT_EQ(lines(0).back(), "5 waking up thread 100 on cap 0");
}

TEST_F(EventlogSchedule, AWakeupOfARunningOrDeadThreadIsRefused) {
    start();
    run(10, 0, kIdle, kMain);
    EXPECT_EQ(wake(15, 1, kMain, 0), WriteStatus::refused);
    run(20, 0, kMain, kIdle, ThreadState::dead);
    EXPECT_EQ(wake(25, 1, kMain, 0), WriteStatus::refused);
    EXPECT_EQ(wake(25, 1, kIdle, 0), WriteStatus::refused);
    EXPECT_THAT(lines(1), IsEmpty());
}

TEST_F(EventlogSchedule, ANumberUsedAgainIsAnotherThread) {
    start();
    run(10, 0, kIdle, kWorker);
    run(20, 0, kWorker, kIdle, ThreadState::dead);
    thread(model::ThreadIndex{2}, 100, 101, "second", 1);
    run(30, 0, kIdle, model::ThreadIndex{2});
    const uint32_t id = 101 + (1U << 22);
    EXPECT_EQ(lines(0).back(), "30 running thread " + std::to_string(id));
}

// De_thread() in the kernel: the leader dies, and another thread goes on under its number.
TEST_F(EventlogSchedule, AThreadThatRunsAfterItsEndIsAnother) {
    start();
    run(10, 0, kIdle, kMain);
    run(20, 0, kMain, kIdle, ThreadState::dead);
    run(30, 0, kIdle, kMain);
    run(40, 0, kMain, kIdle, ThreadState::dead);
    thread(model::ThreadIndex{2}, 100, 100, "third", 1);
    run(50, 0, kIdle, model::ThreadIndex{2});
    const auto id = [](uint32_t life) { return std::to_string(100 + (life << 22)); };
    EXPECT_THAT(moves(0),
                ElementsAre("10 running thread 100", "20 stopping thread 100 (thread finished)",
                            "30 running thread " + id(1),
                            "40 stopping thread " + id(1) + " (thread finished)",
                            "50 running thread " + id(2)));
}

TEST_F(EventlogSchedule, ADeadThreadThatStopsAgainSaysNothing) {
    start();
    run(10, 0, kIdle, kMain);
    run(20, 0, kMain, kIdle, ThreadState::dead);
    EXPECT_EQ(run(30, 0, kMain, kIdle, ThreadState::dead), WriteStatus::ok);
    EXPECT_EQ(moves(0).size(), 2U);
}

TEST_F(EventlogSchedule, ALifeThatNoNumberIsLeftForDoesNotRun) {
    start();
    thread(model::ThreadIndex{2}, 100, 102, "last", 1023);
    thread(model::ThreadIndex{3}, 100, 103, "none", 1024);
    run(10, 0, kIdle, model::ThreadIndex{2});
    run(20, 0, model::ThreadIndex{2}, model::ThreadIndex{3});
    EXPECT_THAT(moves(0), ElementsAre("10 running thread " + std::to_string(102 + (1023U << 22)),
                                      HasSubstr("20 stopping")));
}

TEST_F(EventlogSchedule, UnknownThreadsAndNumbersBeyondLinuxAreRefused) {
    start();
    EXPECT_EQ(run(10, 0, kIdle, model::ThreadIndex{7}), WriteStatus::refused);
    thread(model::ThreadIndex{7}, 1, 1U << 22, "beyond");
    EXPECT_EQ(writer_->counters().refused, 2U);
    EXPECT_EQ(run(10, 0, kIdle, model::ThreadIndex{7}), WriteStatus::refused);
    thread(model::ThreadIndex{7}, 1, (1U << 22) - 1, "largest");
    EXPECT_EQ(run(10, 0, kIdle, model::ThreadIndex{7}), WriteStatus::ok);
}

TEST_F(EventlogSchedule, ARenamedThreadHasANewLabel) {
    start();
    run(10, 0, kIdle, kMain);
    thread(kMain, 100, 100, "renamed");
    thread(kMain, 100, 100, "renamed");
    thread(kWorker, 100, 101, "also renamed");  // not in the log yet
    run(20, 0, kMain, kWorker);
    EXPECT_THAT(lines(0),
                ElementsAre("10 creating thread 100", "10 thread 100 has label \"app/100\"",
                            "10 running thread 100", "20 thread 100 has label \"renamed/100\"",
                            "20 stopping thread 100 (blocked on an MVar)", "20 creating thread 101",
                            "20 thread 101 has label \"also renamed/101 of app/100\"",
                            "20 running thread 101"));
}

TEST_F(EventlogSchedule, TimesBeforeTheBeginAreTheBegin) {
    start();
    EXPECT_EQ(writer_->write({kBegin - 5, model::Switch{0, kIdle, {}, 0, kMain, 0}, 0}),
              WriteStatus::ok);
    EXPECT_EQ(writer_->write({3, model::Switch{0, kMain, {}, 0, kWorker, 0}, 0}), WriteStatus::ok);
    EXPECT_THAT(moves(0), ElementsAre("0 running thread 100", HasSubstr("0 stopping thread 100"),
                                      "0 running thread 101"));
}

TEST_F(EventlogSchedule, TimesOnACapabilityDoNotGoBack) {
    start();
    run(20, 0, kIdle, kMain);
    run(10, 0, kMain, kWorker);
    EXPECT_THAT(moves(0), ElementsAre("20 running thread 100", HasSubstr("20 stopping thread 100"),
                                      "20 running thread 101"));
}

TEST_F(EventlogSchedule, ALossStopsWhatRunsOnItsCpu) {
    start();
    run(10, 0, kIdle, kMain);
    run(10, 1, kIdle, kWorker);
    write(30, model::Loss{model::LossCause::ring_full, 1, kBegin + 25, 42}, 1);
    EXPECT_THAT(moves(0), ElementsAre("10 running thread 100"));
    EXPECT_THAT(moves(1), ElementsAre("10 running thread 101",
                                      "25 stopping thread 101 (No stop thread status)",
                                      "30 marker: lost 42 events in 5 ns: ring full"));
    // Since when the next one runs, nobody knows.
    run(40, 1, kWorker, kIdle);
    EXPECT_EQ(moves(1)[3], "40 running thread 101");
}

TEST_F(EventlogSchedule, AHoleOfTheOutputStopsEverything) {
    start();
    run(10, 0, kIdle, kMain);
    run(10, 1, kIdle, kWorker);
    write(30, model::Loss{model::LossCause::sink_full, 0, kBegin + 20, 7});
    EXPECT_EQ(moves(0).back(), "20 stopping thread 100 (No stop thread status)");
    EXPECT_EQ(moves(1).back(), "20 stopping thread 101 (No stop thread status)");
    EXPECT_EQ(lines(std::nullopt).back(), "30 marker: lost 7 events in 10 ns: sink full");
}

TEST_F(EventlogSchedule, CpusAreCapabilitiesInTheOrderTheyAreHeardOf) {
    start();
    run(10, 7, kIdle, kMain);
    run(20, 0, kIdle, kWorker);
    run(30, 65534, kIdle, kIdle);
    EXPECT_EQ(moves(0), std::vector<std::string>{"10 running thread 100"});
    EXPECT_EQ(moves(1), std::vector<std::string>{"20 running thread 101"});
    EXPECT_THAT(lines(std::nullopt),
                ElementsAre(HasSubstr("wall clock time"), "10 capability 0 is CPU 7",
                            "20 capability 1 is CPU 0", "30 capability 2 is CPU 65534"));
}

TEST_F(EventlogSchedule, WhereAllCpusAreExpectedTheyKeepTheirNumbers) {
    start({.cpu_count = 2});
    run(10, 1, kIdle, kMain);
    run(20, 0, kIdle, kWorker);
    EXPECT_EQ(moves(1), std::vector<std::string>{"10 running thread 100"});
    EXPECT_THAT(lines(std::nullopt), ElementsAre(HasSubstr("wall clock time")));
}

}  // namespace
}  // namespace tracer::test
