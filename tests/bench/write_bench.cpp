// SPDX-License-Identifier: Apache-2.0
//
// tracer_write_bench [--rounds N]: what the writers cost beside the memory they write to. The floor
// is a loop that stores the same bytes through a plain pointer with a bounds check and starts over
// when its buffer is full; the writers go through a sink that does the same. Every variant runs
// once a round, in turn; medians of one run are compared. Needs neither root nor BPF.
#include "bench_support.h"
#include "tracer/write/byte_sink.h"
#include "tracer/write/eventlog/block_buffer.h"
#include "tracer/write/eventlog/poster.h"
#include "tracer/write/fxt/event_template.h"
#include "tracer/write/fxt/stream.h"

#include <array>
#include <cstdint>
#include <cstdlib>
#include <ctime>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

namespace tracer::bench {
namespace {

constexpr uint64_t kEvents = 4'000'000;
constexpr size_t kBufferBytes = 1 << 20;

// The compiler may not know the value, so it may not compute ahead or merge what comes of it.
template <typename T>
void hide(T& value) {
    asm volatile("" : "+r"(value));
}

// The same buffer over and over: memory that stays in the cache, for every variant alike.
class SameBufferSink final : public ByteSink {
public:
    std::span<std::byte> reserve(size_t bytes) override {
        if (used_ + bytes > memory_.size()) used_ = 0;
        return std::span(memory_).subspan(used_);
    }
    void commit(size_t bytes) override {
        used_ += bytes;
        total_ += bytes;
    }
    void flush() override {}
    Status close() override { return {}; }
    Status health() const override { return {}; }
    unsigned long long bytes_committed() const override { return total_; }

private:
    std::vector<std::byte> memory_ = std::vector<std::byte>(kBufferBytes);
    size_t used_ = 0;
    unsigned long long total_ = 0;
};

class NowhereBlocks final : public eventlog::BlockDestination {
public:
    eventlog::BlockFate write_block(std::span<const std::byte>,
                                    const eventlog::BlockInfo&) override {
        return eventlog::BlockFate::taken;
    }
};

double thread_cpu_ns() {
    timespec now{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return static_cast<double>(now.tv_sec) * 1e9 + static_cast<double>(now.tv_nsec);
}

uint64_t boot_ns() {
    timespec now{};
    clock_gettime(CLOCK_BOOTTIME, &now);
    return static_cast<uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(now.tv_nsec);
}

// Stores what spell(at, time) stores, kEvents times, `bytes` each time.
template <size_t bytes, typename Spell>
void run_floor(std::vector<std::byte>& memory, const Spell& spell) {
    std::byte* next = memory.data();
    std::byte* const end = next + memory.size();
    for (uint64_t time = 1; time <= kEvents; ++time) {
        hide(time);
        if (static_cast<size_t>(end - next) < bytes) next = memory.data();
        spell(next, time);
        next += bytes;
    }
    hide(next);
}

struct Variant {
    std::string name;
    std::function<void()> run;
};

// Nanoseconds an event by variant, in turn.
Samples measure(const std::vector<Variant>& variants, int rounds) {
    Samples samples;
    for (int round = -1; round < rounds; ++round) {
        for (const Variant& variant : variants) {
            const double begin = thread_cpu_ns();
            variant.run();
            const double ns = (thread_cpu_ns() - begin) / static_cast<double>(kEvents);
            if (round >= 0) samples.add(variant.name, ns);  // the first round warms up
        }
    }
    return samples;
}

void report(const std::string& title,
            const Samples& samples,
            std::string_view floor,
            const std::vector<std::pair<std::string, double>>& goals) {
    samples.print(title, "ns/event");
    const double base = samples.median_of(std::string(floor));
    for (const auto& [name, goal] : goals) {
        print_goal(fmt::format("{} / {}", name, floor), samples.median_of(name) / base, goal);
    }
}

// What events are called. Copied into each loop, as a program keeps them in constants: then the
// compiler knows that events do not change them.
struct Refs {
    fxt::ThreadRef thread;
    fxt::StringRef category;
    fxt::StringRef name;
    fxt::StringRef first;
    fxt::StringRef second;
};

struct FxtBench {
    FxtBench()
        : refs{stream.pinned_thread({.process = 1, .thread = 2}).value_or(fxt::ThreadRef(1, 2)),
               name("category"), name("name"), name("first"), name("second")} {
        TR_CHECK(stream.open().has_value());
    }
    fxt::StringRef name(std::string_view text) { return stream.intern(text).value_or(text); }
    fxt::EventTemplate make_template(std::span<const fxt::ArgumentShape> shape) {
        const auto made = fxt::EventTemplate::make(stream, fxt::EventType::instant, refs.thread,
                                                   refs.category, refs.name, shape);
        TR_CHECK(made.has_value());
        return *made;
    }

    SameBufferSink sink;
    fxt::Stream stream{sink, {.provider_name = "bench"}};
    Refs refs;
    std::vector<std::byte> floor_memory = std::vector<std::byte>(kBufferBytes);
};

void store(std::byte*& at, uint64_t word) {
    std::memcpy(at, &word, sizeof(word));
    at += sizeof(word);
}

// A word that is the same in each event, as a program has it: in a variable.
uint64_t make_header(uint64_t word) {
    hide(word);
    return word;
}

void bench_fxt_instant(int rounds) {
    FxtBench bench;
    const auto floor = [&bench, header = make_header(0x20)] {
        run_floor<16>(bench.floor_memory, [header](std::byte* at, uint64_t time) {
            store(at, header);
            store(at, time);
        });
    };
    const auto precomputed = [held = bench.make_template({})] {
        fxt::EventTemplate event = held;
        for (uint64_t time = 1; time <= kEvents; ++time) {
            hide(time);
            static_cast<void>(event.write(time));
        }
    };
    const auto checked = [&bench] {
        const Refs at = bench.refs;
        for (uint64_t time = 1; time <= kEvents; ++time) {
            hide(time);
            static_cast<void>(bench.stream.instant(at.thread, at.category, at.name, time));
        }
    };
    report("FXT instant, 2 words",
           measure({{"floor", floor}, {"precomputed", precomputed}, {"checked", checked}}, rounds),
           "floor", {{"precomputed", 1.5}, {"checked", 3}});
    TR_CHECK(bench.stream.counters().no_room == 0 && bench.stream.counters().refused == 0);
}

void bench_fxt_two_arguments(int rounds) {
    FxtBench bench;
    const std::array<fxt::ArgumentShape, 2> shape{{{bench.refs.first, fxt::ArgumentType::int64},
                                                   {bench.refs.second, fxt::ArgumentType::uint32}}};
    const auto floor = [&bench, header = make_header(0x20), first = make_header(0x21),
                        second = make_header(0x22)] {
        run_floor<40>(bench.floor_memory, [=](std::byte* at, uint64_t time) {
            store(at, header);
            store(at, time);
            store(at, first);
            store(at, time);
            store(at, second | time << 32);
        });
    };
    const auto precomputed = [held = bench.make_template(shape)] {
        fxt::EventTemplate event = held;
        for (uint64_t time = 1; time <= kEvents; ++time) {
            hide(time);
            static_cast<void>(
                event.write(time, static_cast<int64_t>(time), static_cast<uint32_t>(time)));
        }
    };
    const auto checked = [&bench] {
        const Refs at = bench.refs;
        for (uint64_t time = 1; time <= kEvents; ++time) {
            hide(time);
            static_cast<void>(
                bench.stream.instant(at.thread, at.category, at.name, time,
                                     fxt::arg(at.first, static_cast<int64_t>(time)),
                                     fxt::arg(at.second, static_cast<uint32_t>(time))));
        }
    };
    report("FXT instant with an int64 and a uint32, 5 words",
           measure({{"floor", floor}, {"precomputed", precomputed}, {"checked", checked}}, rounds),
           "floor", {{"precomputed", 1.5}, {"checked", 3}});
    TR_CHECK(bench.stream.counters().no_room == 0 && bench.stream.counters().refused == 0);
}

void bench_eventlog(int rounds) {
    NowhereBlocks nowhere;
    eventlog::BlockBuffer buffer(0, nowhere, {.capacity_bytes = kBufferBytes, .dialect = {}});
    TR_CHECK(buffer.open(0).has_value());
    eventlog::Poster poster(buffer);
    std::vector<std::byte> memory(kBufferBytes);
    uint64_t begin = 0;  // times of a log never go back
    report(
        "eventlog STOP_THREAD, 20 bytes",
        measure({{"floor",
                  [&] {
                      run_floor<20>(memory, [](std::byte* at, uint64_t time) {
                          at = eventlog::store_big(at, uint16_t{2});
                          at = eventlog::store_big(at, time);
                          at = eventlog::store_big(at, static_cast<uint32_t>(time));
                          at = eventlog::store_big(at, uint16_t{3});
                          eventlog::store_big(at, uint32_t{0});
                      });
                  }},
                 {"post",
                  [&] {
                      for (uint64_t i = 1; i <= kEvents; ++i) {
                          uint64_t time = begin + i;
                          hide(time);
                          static_cast<void>(poster.post_stop_thread(
                              time, static_cast<uint32_t>(time), eventlog::StopStatus::yielding));
                      }
                      begin += kEvents;
                  }}},
                rounds),
        "floor", {{"post", 2}});
}

// Apart, because every event of a real program needs one, whatever spells it.
void bench_clock(int rounds) {
    report("the clock",
           measure({{"reading CLOCK_BOOTTIME",
                     [] {
                         uint64_t last = 0;
                         for (uint64_t i = 0; i < kEvents; ++i) {
                             last = boot_ns();
                             hide(last);
                         }
                     }}},
                   rounds),
           "reading CLOCK_BOOTTIME", {});
}

}  // namespace
}  // namespace tracer::bench

int main(int argument_count, char** arguments) {
    int rounds = 15;
    if (argument_count == 3 && std::string_view(arguments[1]) == "--rounds") {
        rounds = std::max(1, std::atoi(arguments[2]));
    } else if (argument_count != 1) {
        fmt::print(stderr, "usage: tracer_write_bench [--rounds N]\n");
        return 2;
    }
    tracer::bench::bench_fxt_instant(rounds);
    tracer::bench::bench_fxt_two_arguments(rounds);
    tracer::bench::bench_eventlog(rounds);
    tracer::bench::bench_clock(rounds);
    return 0;
}
