// SPDX-License-Identifier: Apache-2.0
//
// Exceptions through functions of several kinds, with destructors on the way, in several threads:
// of C++, and of the C library where it calls back. Spans throwing:span__* around those that have a
// destructor. Speaks as target.h says. --seconds N (0: one round).
#define TRACER_SPAN_PROVIDER throwing
#include "function_kept_whole.h"
#include "target.h"
#include "tracer/usdt.h"

#include <array>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <stdexcept>
#include <thread>
#include <vector>

namespace {

std::atomic<uint64_t> entered{0};
std::atomic<uint64_t> returned{0};
std::atomic<uint64_t> caught{0};
std::atomic<uint64_t> destroyed{0};
std::atomic<uint64_t> sorted{0};
std::atomic<uint64_t> searched{0};
std::atomic<uint64_t> thrown_in_c{0};  // of each kind of call

struct Guard {
    Guard() = default;
    Guard(const Guard&) = delete;
    Guard& operator=(const Guard&) = delete;
    ~Guard() { ++destroyed; }
};

constexpr int kRounds = 200;

}  // namespace

extern "C" {

FUNCTION_KEPT_WHOLE int throw_at(int x) {
    if (x % 3 == 0) throw std::runtime_error("planned");
    return x + 1;
}

// Nothing of its own to unwind: no table of landing pads, yet exceptions pass.
FUNCTION_KEPT_WHOLE int pass_through(int x) {
    ++entered;
    const int result = throw_at(x) + 1;
    ++returned;
    return result;
}

FUNCTION_KEPT_WHOLE int clean_up(int x) {
    const Guard guard;
    TRACER_SPAN("clean up");
    return pass_through(x) + 1;
}

FUNCTION_KEPT_WHOLE int catch_it(int x) {
    try {
        return clean_up(x);
    } catch (const std::runtime_error&) {
        ++caught;
        return -x;
    }
}
}

namespace {

constexpr int kUnsortable = 99;

int compare_or_throw(const void* left, const void* right) {
    const int a = *static_cast<const int*>(left);
    const int b = *static_cast<const int*>(right);
    if (a == kUnsortable || b == kUnsortable) throw std::runtime_error("planned");
    return a - b;
}

// What the header has inline is not the library's function.
auto* volatile library_search = bsearch;

uint64_t call_back(bool throws) {
    std::array<int, 5> numbers = {4, 2, throws ? kUnsortable : 3, 1, 5};
    try {
        qsort(numbers.data(), numbers.size(), sizeof(int), compare_or_throw);
        ++sorted;
    } catch (const std::runtime_error&) {
        ++thrown_in_c;
    }
    try {
        const std::array<int, 3> row = {1, throws ? kUnsortable : 2, 3};
        const int wanted = 3;
        const void* found =
            library_search(&wanted, row.data(), row.size(), sizeof(int), compare_or_throw);
        ++searched;
        return found == &row[2] && !throws && numbers[4] == 5 ? 0 : 1;
    } catch (const std::runtime_error&) {
        return throws ? 0 : 1;
    }
}

uint64_t run_round() {
    uint64_t wrong = 0;
    for (int x = 0; x < kRounds; ++x) {
        const int want = x % 3 == 0 ? -x : x + 3;
        if (catch_it(x) != want) ++wrong;
        wrong += call_back(x % 3 == 0);
    }
    return wrong;
}

}  // namespace

int main(int argc, char** argv) {
    const std::chrono::seconds seconds(target_option(argc, argv, "--seconds", 0));
    target_ready_and_wait();
    const auto end = std::chrono::steady_clock::now() + seconds;
    std::atomic<uint64_t> wrong{0};
    std::vector<std::thread> threads;
    constexpr int kThreads = 2;
    threads.reserve(kThreads);
    for (int i = 0; i < kThreads; ++i) {
        threads.emplace_back([&] {
            do {
                wrong += run_round();
            } while (std::chrono::steady_clock::now() < end);
        });
    }
    for (auto& thread : threads) thread.join();
    printf(
        "{\"entered\":%llu,\"returned\":%llu,\"caught\":%llu,\"destroyed\":%llu,\"sorted\":%llu,"
        "\"searched\":%llu,\"thrown_in_c\":%llu,\"wrong\":%llu}\n",
        static_cast<unsigned long long>(entered), static_cast<unsigned long long>(returned),
        static_cast<unsigned long long>(caught), static_cast<unsigned long long>(destroyed),
        static_cast<unsigned long long>(sorted), static_cast<unsigned long long>(searched),
        static_cast<unsigned long long>(thrown_in_c), static_cast<unsigned long long>(wrong));
    puts("{\"end\":true}");
    target_wait_for_end();
    return 0;
}
