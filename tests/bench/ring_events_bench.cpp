// SPDX-License-Identifier: Apache-2.0
//
// tracer_ring_bench [--rounds N]: what an event of a program's own costs in its thread. The floor
// is the clock and the stores of the same three words into a buffer as large as the ring. Where
// liblttng-ust was there to build with, the same event through it; `tracer_bench ring` has started
// a session for it by then. Every variant runs once a round, in turn; quotients within a round are
// compared.
#include "bench_support.h"
#include "tracer/ring/tracer_ring.h"
#ifdef TRACER_BENCH_LTTNG
#include "ring_lttng.h"
#endif

#include <cstdint>
#include <cstdlib>
#include <ctime>
#include <string_view>
#include <vector>

#include <fmt/format.h>

namespace tracer::bench {
namespace {

constexpr int kEvents = 2'000'000;
constexpr size_t kRingWords = 1 << 16;
constexpr const char* kDefault = "tracer_ring";
constexpr const char* kExactClock = "tracer_ring, exact clock";

template <typename Work>
double ns_per_event(const Work& work) {
    const auto cpu_ns = [] {
        timespec now{};
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
        return static_cast<double>(now.tv_sec) * 1e9 + static_cast<double>(now.tv_nsec);
    };
    const double begin = cpu_ns();
    for (int64_t i = 0; i < kEvents; ++i) {
        work(i);
        asm volatile("" ::: "memory");
    }
    return (cpu_ns() - begin) / kEvents;
}

class Floor {
public:
    void operator()(int64_t value) {
        timespec now{};
        clock_gettime(CLOCK_MONOTONIC, &now);
        if (used_ + 3 > words_.size()) used_ = 0;
        words_[used_] = used_;
        words_[used_ + 1] =
            static_cast<uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(now.tv_nsec);
        words_[used_ + 2] = static_cast<uint64_t>(value);
        used_ += 3;
    }

private:
    std::vector<uint64_t> words_ = std::vector<uint64_t>(kRingWords);
    size_t used_ = 0;
};

// Both kinds of clock in turn: each start makes new rings.
void add_round(Samples& samples, const tracer_ring_event* event, bool is_exact) {
    const auto write = [event](int64_t value) { tracer_ring_write_int(event, value); };
    tracer_ring_options options{};
    options.exact_clock = is_exact;
    if (tracer_ring_start(&options) != 0) return;
    // The pages, and the counter's rate.
    static_cast<void>(ns_per_event(write));
    samples.add(is_exact ? kExactClock : kDefault, ns_per_event(write));
    if (!is_exact) {
        tracer_ring_pause();
        samples.add("tracer_ring, off", ns_per_event(write));
    }
    tracer_ring_stop();
}

int run(int rounds) {
    const tracer_ring_event* event = nullptr;
    if (tracer_ring_register("bench", TRACER_RING_INT, 0, &event) != 0) return 1;
    if (tracer_ring_start(nullptr) != 0 || tracer_ring_stop() != 0) return 1;
    Floor floor;
    Samples samples;
    // The first round also touches the pages.
    for (int round = -1; round < rounds; ++round) {
        Samples warm_up;
        Samples& kept = round < 0 ? warm_up : samples;
        kept.add("nothing", ns_per_event([](int64_t) {}));
        kept.add("clock and stores", ns_per_event([&floor](int64_t value) { floor(value); }));
        add_round(kept, event, false);
        add_round(kept, event, true);
#ifdef TRACER_BENCH_LTTNG
        kept.add("lttng-ust", ns_per_event(lttng_write));
#endif
    }
    samples.print("an event with a number", "ns of the thread");
    fmt::print("off: {:.2f} ns more than nothing\n",
               samples.added_to("nothing", "tracer_ring, off"));
    print_goal("tracer_ring / clock and stores",
               median(samples.ratios_to("clock and stores", kDefault)), 2.5);
    print_goal("tracer_ring with the exact clock / clock and stores",
               median(samples.ratios_to("clock and stores", kExactClock)), 2.5);
#ifdef TRACER_BENCH_LTTNG
    if (!lttng_is_on()) {
        fmt::print("lttng-ust: no session is on; tracer_bench ring starts one\n");
        return 0;
    }
    print_goal("tracer_ring / lttng-ust", median(samples.ratios_to("lttng-ust", kDefault)),
               1.0 / 3);
    // The clock alone is most of it, and LTTng reads it too.
    print_goal("tracer_ring with the exact clock / lttng-ust",
               median(samples.ratios_to("lttng-ust", kExactClock)), 1.0 / 3);
#endif
    return 0;
}

}  // namespace
}  // namespace tracer::bench

int main(int argument_count, char** arguments) {
    int rounds = 0;
    if (argument_count == 3 && std::string_view(arguments[1]) == "--rounds") {
        rounds = std::atoi(arguments[2]);
    }
    return tracer::bench::run(rounds > 0 ? rounds : 9);
}
