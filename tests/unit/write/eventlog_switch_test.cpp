// SPDX-License-Identifier: Apache-2.0
//
// Replacing the sink of a log that is being written: what goes where, what a new piece begins with,
// and that nothing is lost, doubled or torn while four threads post.
#include "eventlog_fixture.h"
#include "eventlog_sinks.h"
#include "tracer/write/eventlog/log.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <set>
#include <string>
#include <thread>

#include <gtest/gtest.h>

namespace tracer::eventlog {
namespace {

using test::SharedBytes;
using enum EventId;

uint64_t fixed_clock() {
    return 1000;
}

LogOptions options_of(CapNo capabilities) {
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

size_t count_of(const test::ReadLog& log, EventId id) {
    return static_cast<size_t>(std::count_if(log.events.begin(), log.events.end(),
                                             [&](const auto& event) { return event.id == id; }));
}

// What ghc-events' machines ask of thread events, sorted by time as it does; the first fault.
std::string thread_fault(const test::ReadLog& log) {
    std::vector<const test::ReadEvent*> events;
    for (const auto& event : log.events) events.push_back(&event);
    std::stable_sort(events.begin(), events.end(), [](const auto* left, const auto* right) {
        return left->time_ns < right->time_ns;
    });
    std::set<uint64_t> created;
    std::map<CapNo, uint64_t> running;
    for (const auto* event : events) {
        const uint64_t thread = event->number(0, 4);
        const std::string where =
            " " + std::to_string(thread) + " at " + std::to_string(event->time_ns);
        if (event->id == create_thread && !created.insert(thread).second) return "twice" + where;
        if (event->id == run_thread) {
            if (!event->cap || !created.contains(thread)) return "runs unborn" + where;
            if (!running.emplace(*event->cap, thread).second) return "runs beside" + where;
        }
        if (event->id == stop_thread) {
            if (!event->cap || running[*event->cap] != thread) return "stops unrun" + where;
            running.erase(*event->cap);
            if (event->number(4, 2) == 5) created.erase(thread);
        }
    }
    return "";
}

TEST(EventlogSwitch, ClosesThePreviousSinkAtACleanCut) {
    SharedBytes first;
    SharedBytes second;
    Log log(options_of(2));
    ASSERT_TRUE(log.start(first.make_sink()));
    log.capability(0).post_user_message(1001, "before");
    const auto replaced = log.replace_sink(second.make_sink());
    ASSERT_TRUE(replaced);
    EXPECT_EQ(replaced->previous, nullptr);
    EXPECT_TRUE(replaced->closed);
    log.capability(0).post_user_message(1002, "after");
    ASSERT_TRUE(log.end());

    EXPECT_TRUE(first.is_closed());
    const auto one = read_whole(first);
    EXPECT_EQ(one.end_markers, 1U);
    EXPECT_EQ(count_of(one, user_message), 1U);
    const auto two = read_whole(second);
    EXPECT_EQ(two.declared, one.declared);
    EXPECT_EQ(count_of(two, cap_create), 2U);
    ASSERT_EQ(count_of(two, user_message), 1U);
    EXPECT_EQ(two.events.back().text(), "after");
    EXPECT_EQ(log.counters().switches, 1U);
}

TEST(EventlogSwitch, GivesTheSinkBackAndRestoresIt) {
    SharedBytes main;
    SharedBytes aside;
    Log log(options_of(1));
    ASSERT_TRUE(log.start(main.make_sink()));
    log.capability(0).post_user_message(1001, "main 1");
    auto replaced = log.replace_sink(aside.make_sink(), {.close_previous = false});
    ASSERT_TRUE(replaced);
    ASSERT_NE(replaced->previous, nullptr);
    EXPECT_FALSE(main.is_closed());
    log.capability(0).post_user_message(1002, "aside");
    ASSERT_TRUE(log.replace_sink(std::move(replaced->previous), {.begin_anew = false}));
    log.capability(0).post_user_message(1003, "main 2");
    ASSERT_TRUE(log.end());

    EXPECT_TRUE(aside.is_closed());
    EXPECT_EQ(read_whole(aside).events.back().text(), "aside");
    const auto read = read_whole(main);
    EXPECT_EQ(read.end_markers, 1U);
    EXPECT_EQ(count_of(read, cap_create), 1U) << "nothing is said again";
    ASSERT_EQ(count_of(read, user_message), 2U);
    EXPECT_EQ(read.events.back().text(), "main 2");
}

TEST(EventlogSwitch, BeginsThePieceWithEverythingLive) {
    SharedBytes first;
    SharedBytes second;
    Log log(options_of(2));
    ASSERT_TRUE(log.start(first.make_sink()));
    constexpr std::string_view kArguments[] = {"prog"};
    {
        auto global = log.global();
        global.post_capset_create(1000, 0, CapsetType::os_process);
        global.post_capset_create(1000, 1, CapsetType::clock_domain);
        global.post_capset_create(1000, 2, CapsetType::custom);
        global.post_capset_assign_cap(1000, 0, 0);
        global.post_capset_assign_cap(1000, 0, 1);
        global.post_capset_assign_cap(1000, 2, 1);
        global.post_wall_clock_time(1005, 1, 7, 8);
        global.post_osprocess_pid(1006, 0, 42);
        global.post_program_args(1007, 0, kArguments);
        global.post_perf_name(1008, 3, "old");
        global.post_perf_name(1009, 3, "new");
        global.post_task_create(1010, 1, 0, 11);
        global.post_task_migrate(1011, 1, 0, 1);
        global.post_task_create(1012, 2, 0, 12);
        global.post_task_delete(1013, 2);
        global.post_capset_delete(1014, 2);
        global.post_cap_disable(1015, 1);
    }
    {
        auto cap = log.capability(0);
        cap.post_create_thread(1020, 1);
        cap.post_thread_label(1021, 1, "main");
        cap.post_create_thread(1022, 2);
        cap.post_thread_label(1022, 2, "gone");
        cap.post_run_thread(1023, 1);
        cap.post_gc_start(1024);
        cap.post_gc_end(1025);
    }
    {
        auto cap = log.capability(1);
        cap.post_run_thread(1030, 2);
        cap.post_stop_thread(1031, 2, StopStatus::finished);
        cap.post_gc_start(1032);
    }
    ASSERT_TRUE(log.replace_sink(second.make_sink()));
    ASSERT_TRUE(log.end());

    std::vector<std::pair<EventId, uint64_t>> said;
    const auto read = read_whole(second);
    for (const auto& event : read.events) said.emplace_back(event.id, event.time_ns);
    const std::vector<std::pair<EventId, uint64_t>> expected{
        {capset_create, 0},     {capset_create, 0},     {cap_create, 0},      {cap_create, 0},
        {capset_assign_cap, 0}, {capset_assign_cap, 0}, {wall_clock_time, 5}, {osprocess_pid, 6},
        {program_args, 7},      {perf_name, 9},         {task_create, 10},    {cap_disable, 15},
        {create_thread, 20},    {thread_label, 21},     {run_thread, 23},     {gc_start, 32}};
    EXPECT_EQ(said, expected);
    EXPECT_EQ(read.events[9].text().substr(4), "new");
    EXPECT_EQ(read.events[10].number(8, 2), 1U) << "the task stands where it moved";
    EXPECT_EQ(read.events[14].cap, 0);
    EXPECT_EQ(read.events[15].cap, 1);
    EXPECT_EQ(thread_fault(read), "");
}

TEST(EventlogSwitch, KeepsThreadsApartWhoseEndCameFirst) {
    SharedBytes first;
    SharedBytes second;
    Log log(options_of(2));
    ASSERT_TRUE(log.start(first.make_sink()));
    log.capability(0).post_create_thread(1001, 1);
    log.capability(0).post_create_thread(1001, 2);
    log.capability(1).post_run_thread(1002, 1);
    log.capability(1).post_stop_thread(1003, 1, StopStatus::finished);
    log.capability(1).flush();  // the end leaves before the begin
    ASSERT_TRUE(log.replace_sink(second.make_sink()));
    ASSERT_TRUE(log.end());
    const auto read = read_whole(second);
    ASSERT_EQ(count_of(read, create_thread), 1U);
    EXPECT_EQ(read.events.back().number(0, 4), 2U);
}

TEST(EventlogSwitch, FailsWhenItCannotBeClean) {
    SharedBytes first;
    Log log(options_of(1));
    EXPECT_FALSE(log.replace_sink(first.make_sink())) << "does not run";
    ASSERT_TRUE(log.start(first.make_sink()));
    EXPECT_FALSE(log.replace_sink(nullptr));
    SharedBytes narrow(100);
    auto narrow_sink = narrow.make_sink();
    EXPECT_FALSE(log.replace_sink(std::move(narrow_sink)));
    EXPECT_NE(narrow_sink, nullptr);  // NOLINT(bugprone-use-after-move)
    EXPECT_FALSE(first.is_closed());
    EXPECT_EQ(log.state(), LogState::running);

    // A block of some 140 KiB of which only the first 64 find room.
    log.flush();
    first.allow(first.get().size() + ByteSink::kReserveBytesMax);
    {
        auto cap = log.capability(0);
        for (uint64_t count = 0; count < 10'000; ++count) cap.post_run_thread(1001 + count, 1);
    }
    SharedBytes second;
    auto second_sink = second.make_sink();
    EXPECT_FALSE(log.replace_sink(std::move(second_sink), {.close_previous = false}));
    first.allow(SIZE_MAX);
    const auto replaced = log.replace_sink(std::move(second_sink), {.close_previous = false});
    ASSERT_TRUE(replaced);
    EXPECT_EQ(count_of(read_whole(first), run_thread), 10'000U) << "whole in the end";
    EXPECT_EQ(log.counters().blocks.lost_no_room, 0U);
}

TEST(EventlogSwitch, CountsWhatAClosedSinkWasStillOwed) {
    SharedBytes first;
    SharedBytes second;
    Log log(options_of(1));
    ASSERT_TRUE(log.start(first.make_sink()));
    log.flush();
    first.allow(first.get().size() + ByteSink::kReserveBytesMax);
    {
        auto cap = log.capability(0);
        for (uint64_t count = 0; count < 10'000; ++count) cap.post_run_thread(1001 + count, 1);
    }
    ASSERT_TRUE(log.replace_sink(second.make_sink()));
    EXPECT_EQ(log.counters().cut_short_bytes,
              kBlockMarkerBytes + 10'000 * 14 - ByteSink::kReserveBytesMax);
}

// Posts numbered messages and a life of threads as fast as it can, through a switch after another.
constexpr size_t kThreads = 4;
constexpr uint64_t kMessages = 8'000;
constexpr uint64_t kMessagesASwitch = 800;  // at most, however the machine divides its time

void post_numbered(Log& log, CapNo cap, const std::atomic<size_t>& switches) {
    const auto thread = static_cast<ThreadId>(cap);
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(30);
    for (uint64_t number = 0; number < kMessages; ++number) {
        while (switches < number / kMessagesASwitch) {
            if (std::chrono::steady_clock::now() > deadline) return;  // seen as messages missing
            std::this_thread::yield();
        }
        auto poster = log.capability(cap);
        const uint64_t now = log.now_ns();
        const auto id = static_cast<ThreadId>(number / 8 * kThreads + thread);
        if (number % 8 == 0) poster.post_create_thread(now, id);
        poster.post_run_thread(now, id);
        poster.post_user_message(now, std::to_string(cap) + ":" + std::to_string(number));
        poster.post_stop_thread(now, id,
                                number % 8 == 7 ? StopStatus::finished : StopStatus::yielding);
    }
}

std::array<std::vector<bool>, kThreads> numbers_of(const std::vector<test::ReadLog>& pieces) {
    std::array<std::vector<bool>, kThreads> seen;
    for (auto& one : seen) one.resize(kMessages);
    for (const auto& piece : pieces) {
        for (const auto& event : piece.events) {
            if (event.id != user_message) continue;
            const std::string text = event.text();
            const size_t colon = text.find(':');
            auto& numbers = seen.at(std::stoul(text.substr(0, colon)));
            const uint64_t number = std::stoull(text.substr(colon + 1));
            EXPECT_FALSE(numbers.at(number)) << text << " twice";
            numbers.at(number) = true;
        }
    }
    return seen;
}

TEST(EventlogSwitch, LosesAndDoublesNothingUnderFourPostingThreads) {
    LogOptions options;
    options.capabilities = kThreads;
    options.buffers.capacity_bytes = 16 * 1024;
    Log log(options);
    std::vector<SharedBytes> pieces(1);
    ASSERT_TRUE(log.start(pieces.back().make_sink()));
    std::atomic<size_t> done{0};
    std::atomic<size_t> switches{0};
    std::vector<std::thread> threads;
    for (CapNo cap = 0; cap < kThreads; ++cap) {
        threads.emplace_back([&, cap] {
            post_numbered(log, cap, switches);
            done += 1;
        });
    }
    for (size_t round = 0; done < kThreads; ++round) {
        pieces.emplace_back();
        ASSERT_TRUE(log.replace_sink(pieces.back().make_sink()));
        ASSERT_TRUE(log.set_buffer_bytes(round % 2 == 0 ? kCapacityBytesMin : 64 * 1024));
        log.flush();
        switches += 1;
        std::this_thread::yield();
    }
    for (std::thread& thread : threads) thread.join();
    ASSERT_TRUE(log.end());

    std::vector<test::ReadLog> read;
    for (const SharedBytes& piece : pieces) {
        read.push_back(read_whole(piece));
        EXPECT_EQ(thread_fault(read.back()), "") << "in piece " << read.size() - 1;
    }
    EXPECT_GE(read.size(), kMessages / kMessagesASwitch);
    for (const auto& numbers : numbers_of(read)) {
        EXPECT_EQ(std::count(numbers.begin(), numbers.end(), true), kMessages);
    }
    const LogCounters counters = log.counters();
    EXPECT_EQ(counters.blocks.events, kThreads * (kMessages * 3 + kMessages / 8 + 1));
    EXPECT_EQ(counters.switches, pieces.size() - 1);
}

TEST(EventlogSwitch, RestoresAKeptSinkUnderPostingThreads) {
    LogOptions options;
    options.capabilities = kThreads;
    options.buffers.capacity_bytes = 16 * 1024;
    Log log(options);
    SharedBytes main;
    std::vector<SharedBytes> asides;
    ASSERT_TRUE(log.start(main.make_sink()));
    std::atomic<size_t> done{0};
    std::atomic<size_t> switches{0};
    std::vector<std::thread> threads;
    for (CapNo cap = 0; cap < kThreads; ++cap) {
        threads.emplace_back([&, cap] {
            post_numbered(log, cap, switches);
            done += 1;
        });
    }
    while (done < kThreads) {
        asides.emplace_back();
        auto kept = log.replace_sink(asides.back().make_sink(), {.close_previous = false});
        ASSERT_TRUE(kept);
        std::this_thread::yield();
        ASSERT_TRUE(log.replace_sink(std::move(kept->previous), {.begin_anew = false}));
        switches += 1;
        std::this_thread::yield();
    }
    for (std::thread& thread : threads) thread.join();
    ASSERT_TRUE(log.end());
    std::vector<test::ReadLog> read{read_whole(main)};
    for (const SharedBytes& aside : asides) read.push_back(read_whole(aside));
    for (const auto& numbers : numbers_of(read)) {
        EXPECT_EQ(std::count(numbers.begin(), numbers.end(), true), kMessages);
    }
}

}  // namespace
}  // namespace tracer::eventlog
