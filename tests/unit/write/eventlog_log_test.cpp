// SPDX-License-Identifier: Apache-2.0
//
// A log's life: start, status, flush, end, start again, fork; its capabilities and buffers; hooks.
#include "eventlog_fixture.h"
#include "eventlog_sinks.h"
#include "tracer/write/eventlog/hooks.h"
#include "tracer/write/eventlog/log.h"

#include <string>
#include <sys/wait.h>
#include <unistd.h>

#include <gtest/gtest.h>

namespace tracer::eventlog {
namespace {

using test::SharedBytes;

uint64_t fixed_clock() {
    return 5000;
}

LogOptions options_at_5000(CapNo capabilities = 2) {
    LogOptions options;
    options.capabilities = capabilities;
    options.clock = fixed_clock;
    return options;
}

test::ReadLog read_whole(const SharedBytes& bytes) {
    test::ReadLog log = test::read_log(bytes.get());
    EXPECT_EQ(log.fault, "");
    return log;
}

std::vector<EventId> ids(const test::ReadLog& log) {
    std::vector<EventId> out;
    for (const auto& event : log.events) out.push_back(event.id);
    return out;
}

using enum EventId;

TEST(EventlogLog, WritesAWholeLog) {
    SharedBytes bytes;
    Log log(options_at_5000());
    EXPECT_EQ(log.state(), LogState::stopped);
    ASSERT_TRUE(log.start(bytes.make_sink()));
    EXPECT_EQ(log.state(), LogState::running);
    EXPECT_EQ(log.capability(1).post_create_thread(5007, 1), Fault::none);
    EXPECT_EQ(log.global().post_capset_create(5008, 0, CapsetType::os_process), Fault::none);
    ASSERT_TRUE(log.end());
    EXPECT_EQ(log.state(), LogState::stopped);
    EXPECT_TRUE(bytes.is_closed());

    const auto read = read_whole(bytes);
    EXPECT_EQ(read.end_markers, 1U);
    ASSERT_EQ(ids(read), (std::vector{cap_create, cap_create, capset_create, create_thread}));
    EXPECT_FALSE(read.events[1].cap.has_value());
    EXPECT_EQ(read.events[3].cap, 1);
    EXPECT_EQ(read.events[3].time_ns, 7U);
}

// A copy of the posts without the lock does not compile.
static_assert(!std::is_constructible_v<Poster, LockedPoster>);
static_assert(!std::is_convertible_v<LockedPoster, Poster>);
static_assert(std::is_move_constructible_v<LockedPoster>);

TEST(EventlogLog, StartsOnlyOnce) {
    SharedBytes first;
    SharedBytes second;
    Log log(options_at_5000());
    ASSERT_TRUE(log.start(first.make_sink()));
    auto sink = second.make_sink();
    EXPECT_FALSE(log.start(std::move(sink)));
    EXPECT_NE(sink, nullptr) << "still the caller's";  // NOLINT(bugprone-use-after-move)
    EXPECT_TRUE(second.get().empty());
    EXPECT_FALSE(log.start(nullptr));
    ASSERT_TRUE(log.end());
    EXPECT_TRUE(log.end()) << "ended twice is no error";
}

TEST(EventlogLog, GivesTheSinkBackWhenItCannotStart) {
    SharedBytes bytes(100);  // no room for a header
    Log log(options_at_5000());
    auto sink = bytes.make_sink();
    EXPECT_FALSE(log.start(std::move(sink)));
    EXPECT_NE(sink, nullptr);  // NOLINT(bugprone-use-after-move)
    EXPECT_TRUE(bytes.get().empty());
    EXPECT_EQ(log.state(), LogState::stopped);

    LogOptions options = options_at_5000();
    options.buffers.capacity_bytes = 10;
    Log small(options);
    SharedBytes other;
    auto other_sink = other.make_sink();
    EXPECT_FALSE(small.start(std::move(other_sink)));
    EXPECT_NE(other_sink, nullptr);  // NOLINT(bugprone-use-after-move)
}

TEST(EventlogLog, RefusesPostsWhenItDoesNotRun) {
    Log log(options_at_5000());
    EXPECT_EQ(log.capability(0).post_gc_start(5001), Fault::closed);
    EXPECT_EQ(log.capability(2).post_gc_start(5001), Fault::no_capability);
    SharedBytes bytes;
    ASSERT_TRUE(log.start(bytes.make_sink()));
    EXPECT_EQ(log.capability(0).post_gc_start(4999), Fault::before_start);
    EXPECT_EQ(log.capability(0xffff).post_gc_start(5001), Fault::no_capability);
    ASSERT_TRUE(log.end());
    EXPECT_EQ(log.global().post_gc_start(5001), Fault::closed);
    const auto faults = log.counters().blocks.faults;
    EXPECT_EQ(faults[static_cast<size_t>(Fault::closed)], 2U);
    EXPECT_EQ(faults[static_cast<size_t>(Fault::no_capability)], 2U);
}

TEST(EventlogLog, FlushesWhatWasPosted) {
    SharedBytes bytes;
    Log log(options_at_5000());
    ASSERT_TRUE(log.start(bytes.make_sink()));
    EXPECT_EQ(log.capability(0).post_gc_start(5001), Fault::none);
    EXPECT_EQ(log.capability(1).post_gc_start(5002), Fault::none);
    EXPECT_TRUE(read_whole(bytes).events.empty()) << "nothing leaves by itself";
    log.capability(1).flush();
    EXPECT_EQ(ids(read_whole(bytes)), std::vector{gc_start});
    log.flush();
    EXPECT_EQ(read_whole(bytes).events.size(), 4U);
    EXPECT_EQ(bytes.flushes(), 1U);
    EXPECT_EQ(read_whole(bytes).end_markers, 0U);
}

TEST(EventlogLog, EndsWhenItIsDestroyed) {
    SharedBytes bytes;
    {
        Log log(options_at_5000());
        ASSERT_TRUE(log.start(bytes.make_sink()));
        EXPECT_EQ(log.capability(0).post_gc_start(5001), Fault::none);
    }
    EXPECT_TRUE(bytes.is_closed());
    EXPECT_EQ(read_whole(bytes).events.size(), 3U);
}

TEST(EventlogLog, TakesCapabilitiesWhileItRuns) {
    SharedBytes bytes;
    LogOptions options = options_at_5000(1);
    options.capabilities_max = 3;
    Log log(options);
    ASSERT_EQ(log.add_capability(), 1) << "before it starts too";
    ASSERT_TRUE(log.start(bytes.make_sink()));
    ASSERT_EQ(log.add_capability(), 2);
    EXPECT_EQ(log.capability_count(), 3);
    EXPECT_FALSE(log.add_capability()) << "no more than were asked for";
    EXPECT_EQ(log.capability(2).post_run_thread(5001, 1), Fault::none);
    ASSERT_TRUE(log.end());
    const auto read = read_whole(bytes);
    ASSERT_EQ(ids(read), (std::vector{cap_create, cap_create, cap_create, run_thread}));
    EXPECT_EQ(read.events[2].number(0, 2), 2U);
    EXPECT_EQ(read.events[3].cap, 2);
}

TEST(EventlogLog, ResizesItsBuffers) {
    SharedBytes bytes;
    Log log(options_at_5000());
    EXPECT_EQ(log.buffer_bytes(), 2U << 20);
    ASSERT_TRUE(log.start(bytes.make_sink()));
    ASSERT_TRUE(log.set_buffer_bytes(kCapacityBytesMin));
    EXPECT_EQ(log.buffer_bytes(), kCapacityBytesMin);
    ASSERT_TRUE(log.add_capability());
    EXPECT_FALSE(log.set_buffer_bytes(1));
    for (const CapNo cap : {CapNo{0}, CapNo{2}}) {
        auto poster = log.capability(cap);
        EXPECT_EQ(poster.buffer().capacity_bytes(), kCapacityBytesMin);
        for (uint64_t count = 0; count < 1000; ++count) poster.post_gc_start(6000 + count);
    }
    ASSERT_TRUE(log.end());
    const auto read = read_whole(bytes);
    EXPECT_EQ(read.events.size(), 2003U);
    EXPECT_GT(read.blocks, 6U);
}

TEST(EventlogLog, StartsAgainWithWhatOutlivesAPause) {
    static uint64_t now = 0;
    now = 1000;
    LogOptions options;
    options.clock = [] { return now; };
    Log log(options);
    SharedBytes first;
    ASSERT_TRUE(log.start(first.make_sink()));
    log.global().post_capset_create(1001, 0, CapsetType::os_process);
    log.global().post_wall_clock_time(1500, 0, 10, 999'999'999);
    log.capability(0).post_create_thread(1002, 1);
    log.capability(0).post_run_thread(1003, 1);
    ASSERT_TRUE(log.end());

    now = 2000;
    SharedBytes second;
    ASSERT_TRUE(log.start(second.make_sink()));
    EXPECT_EQ(log.capability(0).post_gc_start(1999), Fault::before_start) << "a new time 0";
    ASSERT_TRUE(log.end());
    const auto read = read_whole(second);
    ASSERT_EQ(ids(read), (std::vector{capset_create, cap_create, wall_clock_time}));
    EXPECT_EQ(read.events[2].time_ns, 0U);
    EXPECT_EQ(read.events[2].number(4, 8), 11U) << "the wall clock at the new start";
    EXPECT_EQ(read.events[2].number(12, 4), 499U);
}

// The child runs `run` and exits with what it returns; 0 is as it should be.
template <typename Run>
int exit_status_of_child(Run run) {
    const pid_t child = fork();
    if (child == 0) _exit(run());
    int status = 0;
    EXPECT_EQ(waitpid(child, &status, 0), child);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

TEST(EventlogLog, RestartsInAChildWithoutTheParentsEvents) {
    SharedBytes parents;
    Log log(options_at_5000());
    ASSERT_TRUE(log.start(parents.make_sink()));
    ASSERT_TRUE(log.set_buffer_bytes(1 << 16));
    log.capability(0).post_user_message(5001, "before the fork");
    EXPECT_FALSE(log.restart_after_fork(SharedBytes().make_sink())) << "in no child";
    // A lock that is held at the fork by a thread that the child does not have.
    auto held = std::make_unique<LockedPoster>(log.capability(1));
    const int status = exit_status_of_child([&] {
        SharedBytes bytes;
        if (!log.restart_after_fork(bytes.make_sink())) return 1;
        if (log.capability_count() != 2 || log.buffer_bytes() != 1U << 16) return 2;
        log.capability(1).post_user_message(5002, "in the child");
        if (!log.end()) return 3;
        const auto read = test::read_log(bytes.get());
        if (!read.fault.empty() || read.events.size() != 3) return 4;
        if (read.events[2].text() != "in the child") return 5;
        return 0;
    });
    EXPECT_EQ(status, 0);
    held.reset();
    log.capability(0).post_user_message(5003, "after it");
    ASSERT_TRUE(log.end());
    const auto read = read_whole(parents);
    ASSERT_EQ(read.events.size(), 4U);
    EXPECT_EQ(read.events[2].text(), "before the fork");
    EXPECT_EQ(read.events[3].text(), "after it");
}

TEST(EventlogLog, WritesNothingInAChildThatDidNotRestart) {
    int pipe_ends[2];
    ASSERT_EQ(pipe(pipe_ends), 0);
    WriterHooks hooks;
    hooks.write = [&](std::span<const std::byte> bytes) {
        return write(pipe_ends[1], bytes.data(), bytes.size()) ==
               static_cast<ssize_t>(bytes.size());
    };
    auto log = std::make_unique<Log>(options_at_5000());
    ASSERT_TRUE(log->start(make_hook_sink(hooks)));
    log->capability(0).post_gc_start(5001);
    EXPECT_EQ(exit_status_of_child([&] {
                  log->flush();
                  log.reset();
                  return 0;
              }),
              0);
    ASSERT_TRUE(log->end());
    close(pipe_ends[1]);
    std::vector<std::byte> bytes(1 << 16);
    size_t used = 0;
    for (ssize_t count = 1; count > 0; used += static_cast<size_t>(count)) {
        count = read(pipe_ends[0], bytes.data() + used, bytes.size() - used);
        ASSERT_GE(count, 0);
    }
    close(pipe_ends[0]);
    const auto read = test::read_log(std::span(bytes).first(used));
    EXPECT_EQ(read.fault, "");
    EXPECT_EQ(read.events.size(), 3U) << "the parent's, once";
}

TEST(EventlogHooks, AreCalledInTheOrderOfALife) {
    std::string calls;
    size_t pieces = 0;
    std::vector<std::byte> bytes;
    WriterHooks hooks;
    hooks.init = [&] { calls += 'i'; };
    hooks.write = [&](std::span<const std::byte> piece) {
        calls += 'w';
        pieces += 1;
        bytes.insert(bytes.end(), piece.begin(), piece.end());
        return true;
    };
    hooks.flush = [&] { calls += 'f'; };
    hooks.stop = [&] { calls += 's'; };
    Log log(options_at_5000(1));
    auto sink = make_hook_sink(hooks);
    EXPECT_EQ(calls, "");
    ASSERT_TRUE(log.start(std::move(sink)));
    EXPECT_EQ(calls, "iw") << "the header in one piece";
    {
        auto cap = log.capability(0);
        for (uint64_t count = 0; count < 50'000; ++count) cap.post_run_thread(5000 + count, 1);
    }
    log.flush();
    EXPECT_EQ(calls, "iwwwf") << "a block in one piece, whatever its length";
    ASSERT_TRUE(log.end());
    EXPECT_EQ(calls, "iwwwfws") << "the end mark";
    EXPECT_EQ(test::read_log(bytes).events.size(), 50'001U);
}

TEST(EventlogHooks, MayHaveNoRoom) {
    std::vector<std::byte> bytes;
    bool is_full = false;
    WriterHooks hooks;
    hooks.write = [&](std::span<const std::byte> piece) {
        if (!is_full) bytes.insert(bytes.end(), piece.begin(), piece.end());
        return !is_full;
    };
    Log log(options_at_5000(1));
    ASSERT_TRUE(log.start(make_hook_sink(hooks)));
    log.flush();
    is_full = true;
    log.capability(0).post_gc_start(5001);
    log.flush();
    is_full = false;
    log.flush();
    EXPECT_EQ(log.counters().blocks.lost_no_room, 1U);
    const auto read = test::read_log(bytes);
    EXPECT_EQ(read.fault, "");
    ASSERT_EQ(read.events.size(), 2U);
    EXPECT_EQ(read.events[1].text(), "lost 1 events: the output had no room");
}

TEST(EventlogHooks, OverASinkAndBack) {
    SharedBytes bytes;
    Log log(options_at_5000(1));
    ASSERT_TRUE(log.start(make_hook_sink(make_hooks(bytes.make_sink()))));
    log.capability(0).post_gc_start(5001);
    ASSERT_TRUE(log.end());
    EXPECT_TRUE(bytes.is_closed());
    EXPECT_EQ(read_whole(bytes).events.size(), 2U);
}

}  // namespace
}  // namespace tracer::eventlog
