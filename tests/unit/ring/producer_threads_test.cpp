// SPDX-License-Identifier: Apache-2.0
//
// Many threads, signal handlers, and a reader beside them: whatever happens, the numbers agree.
#include "tracer/ring/tracer_ring.h"
#include "unit/ring/producer_fixture.h"

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstddef>
#include <iterator>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <span>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <thread>
#include <unistd.h>
#include <vector>

#include <gtest/gtest.h>

namespace tracer::test {
namespace {

using ring::Cursor;

// In the mapping: what the producer has written to a ring's header.
uint64_t header_word(size_t ring, size_t word) {
    size_t bytes = 0;
    const void* const memory = tracer_ring_memory(&bytes);
    const auto* const header = static_cast<const std::byte*>(memory) + sizeof(tr_ring_metadata) +
                               ring * sizeof(tr_ring_header) + word * 8;
    return __atomic_load_n(static_cast<const uint64_t*>(static_cast<const void*>(header)),
                           __ATOMIC_ACQUIRE);
}

std::span<const std::byte> ring_memory() {
    size_t bytes = 0;
    const void* const memory = tracer_ring_memory(&bytes);
    return {static_cast<const std::byte*>(memory), bytes};
}

uint64_t sum(const std::map<uint32_t, uint64_t>& counts) {
    uint64_t total = 0;
    for (const auto& [ring, count] : counts) total += count;
    return total;
}

// Polls until told to end, then once more, and compares with what the rings say.
void read_along(Cursor& cursor, RingReading& reading, std::atomic<bool>& is_over) {
    reading.keeps_texts = false;
    uint64_t words = 0;
    for (bool is_last = false; !is_last;) {
        is_last = is_over.load();
        const auto polled = cursor.poll(reading);
        ASSERT_TRUE(polled);
        words += polled->words + polled->lost_words;
    }
    cursor.finish(reading);
    uint64_t tails = 0;
    for (uint32_t ring = 0; ring < cursor.producer().ring_count; ++ring) {
        EXPECT_EQ(reading.events[ring] + reading.lost[ring], header_word(ring, 2)) << ring;
        tails += header_word(ring, 1);
    }
    EXPECT_EQ(words, tails);
    EXPECT_EQ(reading.malformed, 0u);
    EXPECT_EQ(reading.inexact, 0u);
    EXPECT_EQ(reading.out_of_order, 0u);
}

TEST_F(RingProducer, ReadersBesideWritersMissNothingThatTheyAreNotTold) {
    constexpr int kWriters = 3;
    constexpr int64_t kEvents = 60'000;
    ASSERT_EQ(start(9, 8), 0);
    std::atomic<bool> is_over = false;
    auto by_file = Cursor::open_file(file());
    auto by_memory = Cursor::over(ring_memory());
    ASSERT_TRUE(by_file && by_memory);
    std::vector<RingReading> readings{RingReading(*by_file), RingReading(*by_memory)};
    // A torn record would have another length than its number, or not the next one of its writer
    // (a ring may be another one's when its first has ended).
    std::atomic<int> torn = 0;
    for (RingReading& reading : readings) {
        reading.on_int = [&torn,
                          last = std::map<uint32_t, int64_t>()](const ring::Event& e) mutable {
            const bool is_same_writer = last[e.ring] >> 32 == e.value >> 32;
            torn += e.words.size() != 1 || (is_same_writer && e.value <= last[e.ring]);
            last[e.ring] = e.value;
        };
    }
    auto readers = start_threads(2, [&](int reader) {
        read_along(reader == 0 ? *by_file : *by_memory, readings[static_cast<size_t>(reader)],
                   is_over);
    });
    auto writers = start_threads(kWriters, [](int writer) {
        const std::string bytes(100, 'b');
        for (int64_t i = 1; i <= kEvents; ++i) {
            tracer_ring_write_int(int_event(), int64_t{writer + 1} << 32 | i);
            if (i % 7 != 0) continue;
            tracer_ring_write_bytes(text_event(), bytes.data(), static_cast<size_t>(i % 100));
        }
    });
    join_all(writers);
    is_over = true;
    join_all(readers);
    EXPECT_EQ(torn, 0);
}

TEST_F(RingProducer, TenThousandThreadsShareTheRings) {
    constexpr int kThreads = 10'000;
    constexpr int kAtOnce = 50;
    ASSERT_EQ(start(12, 128), 0);
    for (int begun = 0; begun < kThreads; begun += kAtOnce) {
        auto threads = start_threads(kAtOnce, [](int i) { tracer_ring_write_int(int_event(), i); });
        join_all(threads);
    }
    tracer_ring_counts counts{};
    ASSERT_EQ(tracer_ring_get_counts(&counts), 0);
    // A spawn, the event and a terminate each.
    EXPECT_EQ(counts.written, 1u + 3u * kThreads);
    EXPECT_EQ(counts.missing, 0u);
    EXPECT_EQ(counts.rings, 1u);
    auto cursor = Cursor::open_file(file());
    ASSERT_TRUE(cursor);
    RingReading reading(*cursor);
    reading.keeps_texts = false;
    ASSERT_TRUE(cursor->poll(reading));
    EXPECT_EQ(sum(reading.events) + sum(reading.lost), counts.written);
    uint64_t generations = 0;
    for (size_t ring = 0; ring < 128; ++ring) generations += header_word(ring, 4) >> 32;
    EXPECT_EQ(generations, 1u + kThreads);
}

TEST_F(RingProducer, CountsTheEventsOfThreadsWithoutARing) {
    ASSERT_EQ(start(10, 2), 0);
    std::atomic<int> with_ring = 0;
    std::atomic<int> refused = 0;
    std::atomic<bool> may_end = false;
    auto threads = start_threads(5, [&](int) {
        for (int event = 0; event < 100; ++event) {
            const int result = tracer_ring_write_int(int_event(), event);
            (result == 0 ? with_ring : refused) += 1;
            EXPECT_TRUE(result == 0 || result == -EAGAIN) << result;
        }
        while (!may_end) std::this_thread::yield();
    });
    EXPECT_TRUE(wait_for([&] { return with_ring + refused == 500; }));
    tracer_ring_counts counts{};
    ASSERT_EQ(tracer_ring_get_counts(&counts), 0);
    may_end = true;
    join_all(threads);
    EXPECT_EQ(with_ring, 100);
    EXPECT_EQ(refused, 400);
    EXPECT_EQ(counts.missing, 400u);
    EXPECT_EQ(counts.rings, 2u);
    auto cursor = Cursor::open_file(file());
    ASSERT_TRUE(cursor);
    EXPECT_EQ(cursor->producer().events_missing, 400u);
}

// As sandboxes do that do not know it.
bool forbid_membarrier() {
    sock_filter filter[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_membarrier, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    const sock_fprog program{.len = std::size(filter), .filter = filter};
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
           prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

// The rings' tails stand still while they are paused.
void expect_silence_in_pauses() {
    std::atomic<bool> is_over = false;
    auto writers = start_threads(3, [&](int) {
        for (int64_t value = 0; !is_over; ++value) tracer_ring_write_int(int_event(), value);
    });
    const auto tails = [] {
        std::vector<uint64_t> all;
        for (size_t ring = 0; ring < 4; ++ring) all.push_back(header_word(ring, 1));
        return all;
    };
    for (int round = 0; round < 20 && !testing::Test::HasFailure(); ++round) {
        EXPECT_EQ(tracer_ring_pause(), 0);
        const auto before = tails();
        for (int i = 0; i < 20; ++i) std::this_thread::yield();
        EXPECT_EQ(tails(), before) << round;
        EXPECT_EQ(tracer_ring_resume(), 0);
        EXPECT_TRUE(wait_for([&] { return tails() != before; }));
    }
    is_over = true;
    join_all(writers);
}

TEST_F(RingProducer, NothingIsWrittenOncePauseHasReturned) {
    ASSERT_EQ(start(8, 4), 0);
    expect_silence_in_pauses();
}

TEST_F(RingProducer, PausesWithoutMembarrierToo) {
    EXPECT_EQ(run_in_child([this] {
                  if (!forbid_membarrier() || start(8, 4) != 0) return 1;
                  expect_silence_in_pauses();
                  tracer_ring_stop();
                  return HasFailure() ? 2 : 0;
              }),
              0);
}

TEST_F(RingProducer, StopsAndStartsUnderWriters) {
    ASSERT_EQ(start(8, 4), 0);
    std::atomic<bool> is_over = false;
    auto writers = start_threads(3, [&](int) {
        for (int64_t value = 0; !is_over; ++value) {
            EXPECT_EQ(tracer_ring_write_int(int_event(), value), 0);
        }
    });
    for (int round = 0; round < 15 && !HasFailure(); ++round) {
        EXPECT_EQ(tracer_ring_stop(), 0);
        EXPECT_EQ(start(8, 4), 0);
        EXPECT_TRUE(wait_for([] { return header_word(1, 1) > 100; }));
    }
    is_over = true;
    join_all(writers);
    EXPECT_EQ(folder.names().size(), 1u);
}

std::atomic<uint64_t> handler_written;
std::atomic<uint64_t> handler_dropped;

void on_usr1(int) {
    const int error = errno;
    const int result = tracer_ring_write_int(int_event(), 1'000'000'000);
    if (result == 0) handler_written += 1;
    if (result == -EBUSY) handler_dropped += 1;
    errno = error;
}

TEST_F(RingProducer, SignalHandlersWriteOrAreCounted) {
    handler_written = handler_dropped = 0;
    ASSERT_EQ(start(10, 4), 0);
    struct sigaction action {};
    action.sa_handler = on_usr1;
    struct sigaction old {};
    ASSERT_EQ(sigaction(SIGUSR1, &action, &old), 0);
    std::atomic<bool> is_over = false;
    std::atomic<uint64_t> written = 0;
    std::thread writer([&] {
        while (!is_over) written += tracer_ring_write_int(int_event(), 1) == 0;
    });
    // Until a handler has met a write and one has not.
    const bool has_met = wait_for([&] {
        for (int i = 0; i < 50; ++i) pthread_kill(writer.native_handle(), SIGUSR1);
        return handler_dropped >= 20 && handler_written >= 20;
    });
    is_over = true;
    writer.join();
    sigaction(SIGUSR1, &old, nullptr);
    EXPECT_TRUE(has_met);
    tracer_ring_counts counts{};
    ASSERT_EQ(tracer_ring_get_counts(&counts), 0);
    EXPECT_EQ(counts.dropped, handler_dropped);
    // The start, the spawn and the terminate beside them.
    EXPECT_EQ(counts.written, written + handler_written + 3);
    auto cursor = Cursor::open_file(file());
    ASSERT_TRUE(cursor);
    RingReading reading(*cursor);
    reading.keeps_texts = false;
    ASSERT_TRUE(cursor->poll(reading));
    EXPECT_EQ(reading.malformed, 0u);
    EXPECT_EQ(sum(reading.events) + sum(reading.lost), counts.written);
    EXPECT_EQ(cursor->producer().events_dropped, handler_dropped);
}

TEST_F(RingProducer, AHandlersFirstEventClaimsARing) {
    ASSERT_EQ(start(10, 4), 0);
    handler_written = 0;
    struct sigaction action {};
    action.sa_handler = on_usr1;
    struct sigaction old {};
    ASSERT_EQ(sigaction(SIGUSR1, &action, &old), 0);
    std::thread([] { raise(SIGUSR1); }).join();
    sigaction(SIGUSR1, &old, nullptr);
    EXPECT_EQ(handler_written, 1u);
    EXPECT_EQ(texts(), (std::vector<std::string>{"ring_start", "domain_spawn", "int 1000000000",
                                                 "domain_terminate"}));
}

}  // namespace
}  // namespace tracer::test
