// SPDX-License-Identifier: Apache-2.0
#include "session/drain_thread.h"

#include "unit/session/fake_output.h"
#include "unit/session/fake_recorder.h"
#include "unit/session/wait_until.h"

#include <algorithm>

#include <gtest/gtest.h>

namespace tracer {
namespace {

using std::chrono::milliseconds;

DrainOptions fast_options() {
    DrainOptions options;
    options.real_time = false;
    options.slack = std::chrono::nanoseconds(0);
    options.wait = milliseconds(1);
    return options;
}

TEST(DrainThread, DeliversWhatComesInWhileItRuns) {
    test::FakeRecorder recorder(2);
    test::FakeOutput output;
    Merger merger(recorder);
    LateQueue late;
    RingReader rings;
    DrainThread drain(recorder, merger, output, late, rings, fast_options());
    drain.start(-1);
    for (int i = 0; i < 1000; ++i) recorder.hit(i % 2);
    EXPECT_TRUE(test::wait_until([&] { return output.records == 1000; }));
    drain.stop();
    EXPECT_EQ(drain.progress().records, 1000u);
}

TEST(DrainThread, LeavesWhatIsYoungerThanTheSlackInTheRings) {
    test::FakeRecorder recorder(1);
    test::FakeOutput output;
    Merger merger(recorder);
    DrainOptions options = fast_options();
    options.slack = std::chrono::hours(1000);
    LateQueue late;
    RingReader rings;
    DrainThread drain(recorder, merger, output, late, rings, options);
    drain.start(-1);
    recorder.hit(0);
    drain.stop();
    EXPECT_EQ(output.records, 0u);
    EXPECT_FALSE(recorder.is_empty());
}

TEST(DrainThread, WritesClocksInTimeOrderWithTheRecords) {
    test::FakeRecorder recorder(1);
    test::FakeOutput output;
    Merger merger(recorder);
    DrainOptions options = fast_options();
    options.clock_every = milliseconds(1);
    LateQueue late;
    RingReader rings;
    DrainThread drain(recorder, merger, output, late, rings, options);
    drain.start(-1);
    EXPECT_TRUE(test::wait_until([&] {
        recorder.hit(0);
        return output.clocks >= 3;
    }));
    drain.stop();
    EXPECT_TRUE(std::ranges::is_sorted(output.times));
}

TEST(DrainThread, CallsBetweenTurnsWithAllBeforeInTheOutput) {
    test::FakeRecorder recorder(1);
    test::FakeOutput output;
    Merger merger(recorder);
    DrainOptions options = fast_options();
    options.wait = std::chrono::hours(1);
    LateQueue late;
    RingReader rings;
    DrainThread drain(recorder, merger, output, late, rings, options);
    drain.start(-1);
    for (uint64_t turn = 1; turn <= 100; ++turn) {
        recorder.hit(0);
        uint64_t written = 0;
        std::thread::id caller;
        drain.call([&] {
            written = output.records;
            caller = std::this_thread::get_id();
        });
        EXPECT_EQ(written, turn);
        EXPECT_NE(caller, std::this_thread::get_id());
    }
    drain.stop();
    bool is_called = false;
    drain.call([&] { is_called = true; });
    EXPECT_TRUE(is_called);
}

TEST(DrainThread, FlushesWhileNothingComes) {
    test::FakeRecorder recorder(1);
    test::FakeOutput output;
    Merger merger(recorder);
    DrainOptions options = fast_options();
    options.flush_every = milliseconds(2);
    LateQueue late;
    RingReader rings;
    DrainThread drain(recorder, merger, output, late, rings, options);
    drain.start(-1);
    EXPECT_TRUE(test::wait_until([&] { return output.flushes >= 3; }));
}

TEST(DrainThread, RaisesAFailedOutputAndGoesOnDraining) {
    test::FakeRecorder recorder(1);
    test::FakeOutput output;
    Merger merger(recorder);
    LateQueue late;
    RingReader rings;
    DrainThread drain(recorder, merger, output, late, rings, fast_options());
    drain.start(-1);
    output.is_full = true;
    EXPECT_TRUE(test::wait_until([&] { return drain.raised() == EndCause::output_failed; }));
    recorder.hit(0);
    EXPECT_TRUE(test::wait_until([&] { return output.records == 1; }));
}

TEST(DrainThread, RaisesTheSizeLimit) {
    test::FakeRecorder recorder(1);
    test::FakeOutput output;
    Merger merger(recorder);
    DrainOptions options = fast_options();
    constexpr uint64_t kRoom = 1024;
    options.output_bytes_max = SizeLimit::kEndBytes + kRoom;
    LateQueue late;
    RingReader rings;
    DrainThread drain(recorder, merger, output, late, rings, options);
    drain.start(-1);
    for (int i = 0; i < 3; ++i) recorder.hit(0);
    EXPECT_FALSE(drain.raised());
    for (int i = 0; i < 100; ++i) recorder.hit(0);
    EXPECT_TRUE(test::wait_until([&] { return drain.raised() == EndCause::max_size; }));
    drain.stop();
    EXPECT_TRUE(drain.drain_to_empty([] { return false; }));
    EXPECT_GT(output.records, 3u);
    EXPECT_LE(output.bytes(), kRoom);
    ASSERT_GT(drain.limit().left_out().size(), size_t{TR_PROBE_FIRST_USER});
    EXPECT_EQ(output.records + drain.limit().left_out()[TR_PROBE_FIRST_USER], 103u);
}

TEST(DrainThread, PublishesLosses) {
    test::FakeRecorder recorder(1, 2);
    test::FakeOutput output;
    Merger merger(recorder);
    for (int i = 0; i < 5; ++i) recorder.hit(0);
    LateQueue late;
    RingReader rings;
    DrainThread drain(recorder, merger, output, late, rings, fast_options());
    drain.start(-1);
    EXPECT_TRUE(test::wait_until([&] { return drain.progress().lost == 3; }));
}

// The output burns a millisecond of CPU a record: without a bound the thread would take all of one.
TEST(DrainThread, KeepsToItsShareOfACpu) {
    test::FakeRecorder recorder(1);
    test::FakeOutput output;
    output.on_hit = [] {
        const uint64_t end = thread_cpu_ns() + 1'000'000;
        while (thread_cpu_ns() < end) {
        }
    };
    std::atomic<bool> stop = false;
    std::thread producer([&] {
        while (!stop) {
            recorder.hit(0);
            std::this_thread::sleep_for(std::chrono::microseconds(300));
        }
    });
    Merger merger(recorder);
    DrainOptions options = fast_options();
    options.share_percent = 20;
    LateQueue late;
    RingReader rings;
    DrainThread drain(recorder, merger, output, late, rings, options);
    const uint64_t begin_ns = boottime_ns();
    drain.start(-1);
    EXPECT_TRUE(test::wait_until([&] { return drain.progress().pauses >= 5; }));
    const uint64_t burnt_ns = output.records * 1'000'000;
    const uint64_t wall_ns = boottime_ns() - begin_ns;
    stop = true;
    producer.join();
    drain.stop();
    // The first window may be used up at once, and a slice of records is one turn.
    EXPECT_LT(static_cast<double>(burnt_ns), 0.35 * static_cast<double>(wall_ns) + 60e6);
}

}  // namespace
}  // namespace tracer
