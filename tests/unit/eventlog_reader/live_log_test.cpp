// SPDX-License-Identifier: Apache-2.0
//
// A live log that several threads write while its sink is replaced, flushed and its buffers are
// resized: each sink's content is a log by itself, sound to our reader and valid to the ghc-events
// library, and together they hold every message once.
#include "support/eventlog_check.h"
#include "support/eventlog_text.h"
#include "support/fixtures/deadline.h"
#include "support/fixtures/eventlog_checker.h"
#include "tracer/write/eventlog/chunk_queue.h"
#include "tracer/write/eventlog/log.h"

#include <atomic>
#include <map>
#include <thread>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tracer::test {
namespace {

using namespace eventlog;

constexpr CapNo kCaps = 3;
constexpr int kRounds = 400;
constexpr size_t kSinks = 6;

// Threads come, run, are stopped in every way and end, on the one capability.
void live_on(Log& log, CapNo cap, std::atomic<int>& rounds) {
    for (int round = 0; round < kRounds; ++round) {
        const auto thread = static_cast<ThreadId>(1 + cap + kCaps * (round / 7));
        const bool is_first = round % 7 == 0;
        const bool is_last = round % 7 == 6 || round == kRounds - 1;
        {
            auto poster = log.capability(cap);
            if (is_first) {
                poster.post_create_thread(log.now_ns(), thread);
                poster.post_thread_label(log.now_ns(), thread, "worker");
            }
            poster.post_run_thread(log.now_ns(), thread);
        }
        log.capability(cap).post_user_message(log.now_ns(), fmt::format("{}:{}", cap, round));
        {
            auto poster = log.capability(cap);
            poster.post_stop_thread(log.now_ns(), thread,
                                    is_last          ? StopStatus::finished
                                    : round % 2 == 0 ? StopStatus::yielding
                                                     : StopStatus::blocked_on_mvar);
            if (!is_last && round % 3 == 0) poster.post_thread_wakeup(log.now_ns(), thread, cap);
        }
        rounds += 1;
    }
}

std::string drain(ChunkQueue& queue) {
    std::string bytes;
    for (auto chunk = queue.pop(); !chunk.empty(); chunk = queue.pop()) {
        for (const std::byte byte : chunk) bytes.push_back(std::to_integer<char>(byte));
    }
    return bytes;
}

class LiveEventlog : public testing::TestWithParam<BlockMode> {};

TEST_P(LiveEventlog, IsAValidLogInEverySink) {
    Log log({.buffers = {.capacity_bytes = kCapacityBytesMin},
             .block_mode = GetParam(),
             .capabilities = kCaps});
    std::vector<ChunkQueue> queues(kSinks);
    ASSERT_TRUE(log.start(queues[0].make_sink()));
    log.global().post_task_create(log.now_ns(), 0x10, 0, 100);
    std::atomic<int> rounds = 0;
    std::vector<std::thread> threads;
    for (CapNo cap = 0; cap < kCaps; ++cap) {
        threads.emplace_back([&log, &rounds, cap] { live_on(log, cap, rounds); });
    }
    for (size_t i = 1; i < kSinks; ++i) {
        const auto target = static_cast<int>(i * kCaps * kRounds / (kSinks + 1));
        const Deadline deadline(Milliseconds(30'000));
        while (rounds < target && !deadline.passed()) std::this_thread::yield();
        EXPECT_TRUE(log.set_buffer_bytes(kCapacityBytesMin * i));
        EXPECT_TRUE(log.replace_sink(queues[i].make_sink()));
        log.flush();
    }
    for (auto& thread : threads) thread.join();
    ASSERT_TRUE(log.end());

    std::map<std::string, int> messages;
    for (size_t i = 0; i < kSinks; ++i) {
        const std::string bytes = drain(queues[i]);
        const auto file = parse_eventlog(bytes);
        EXPECT_TRUE(file.is_sound()) << "sink " << i << ": " << problems_text(file);
        EXPECT_EQ(file.reader.end_marker_count(), 1U);
        const auto check = check_eventlog(file);
        EXPECT_THAT(check.refusals, testing::IsEmpty()) << "sink " << i;
        for (const auto& event : file.events) {
            if (event.is(EventlogId::user_msg)) messages[std::string(event.text("text"))] += 1;
        }
        if (!missing_eventlog_checker()) {
            EXPECT_TRUE(bytes_validate_as_eventlog(bytes)) << "sink " << i;
        }
    }
    EXPECT_EQ(messages.size(), size_t{kCaps} * kRounds);
    for (const auto& [text, count] : messages) EXPECT_EQ(count, 1) << text;
}

INSTANTIATE_TEST_SUITE_P(Blocks,
                         LiveEventlog,
                         testing::Values(BlockMode::closed, BlockMode::open_ended),
                         [](const auto& test) {
                             return test.param == BlockMode::closed ? "Closed" : "OpenEnded";
                         });

}  // namespace
}  // namespace tracer::test
