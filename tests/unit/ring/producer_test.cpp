// SPDX-License-Identifier: Apache-2.0
//
// What a producer writes, as a cursor reads it.
#include "tracer/ring/tracer_ring.h"
#include "tracer/ring/typed_events.h"
#include "unit/ring/producer_fixture.h"

#include <cerrno>
#include <cstdlib>
#include <ctime>
#include <fcntl.h>
#include <fstream>
#include <map>
#include <unistd.h>

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace tracer::test {
namespace {

using Texts = std::vector<std::string>;

TEST_F(RingProducer, WritesEveryKindOfEventAsReadersReadIt) {
    ASSERT_EQ(start(), 0);
    EXPECT_TRUE(tracer_ring_is_active());
    const std::string text = "hello";
    uint64_t buckets[TR_RING_ALLOC_BUCKETS] = {};
    buckets[19] = 7;
    EXPECT_EQ(tracer_ring_write_unit(unit_event()), 0);
    EXPECT_EQ(tracer_ring_write_int(int_event(), INT64_MIN), 0);
    EXPECT_EQ(tracer_ring_write_begin(span_event()), 0);
    EXPECT_EQ(tracer_ring_write_custom(text_event(), &text), 0);
    EXPECT_EQ(tracer_ring_write_end(span_event()), 0);
    EXPECT_EQ(tracer_ring_begin(TRACER_RING_MINOR), 0);
    EXPECT_EQ(tracer_ring_counter(TRACER_RING_MINOR_PROMOTED, 80), 0);
    EXPECT_EQ(tracer_ring_alloc(buckets), 0);
    EXPECT_EQ(tracer_ring_end(TRACER_RING_MINOR), 0);
    EXPECT_EQ(texts(), (Texts{"ring_start", "unit", "int -9223372036854775808", "begin span",
                              "text \"hello\"", "end span", "begin minor", "minor_promoted 80",
                              "alloc 7", "end minor"}));
    tracer_ring_counts counts{};
    EXPECT_EQ(tracer_ring_get_counts(&counts), 0);
    EXPECT_EQ(counts.written, 10u);
    EXPECT_EQ(counts.rings, 1u);
}

class TimeOfInts : public ring::Visitor {
public:
    ring::Flow on_event(const ring::Event& event) override {
        if (event.kind == ring::EventKind::user_int) times.push_back(event.time_ns);
        return ring::Flow::go_on;
    }
    std::vector<uint64_t> times;
};

TEST_F(RingProducer, SaysWhoseTheRingsAreAndWhen) {
    ASSERT_EQ(start(8, 3), 0);
    auto cursor = ring::Cursor::open_file(file());
    ASSERT_TRUE(cursor);
    const ring::Producer& producer = cursor->producer();
    EXPECT_EQ(producer.pid, static_cast<uint32_t>(getpid()));
    EXPECT_EQ(producer.ring_count, 3u);
    EXPECT_EQ(producer.ring_words, 256u);
    EXPECT_TRUE(producer.has_sequences);
    EXPECT_TRUE(producer.runtime.starts_with("tracer_ring ")) << producer.runtime;
    EXPECT_NE(producer.monotonic_ns, 0u);
    EXPECT_GE(producer.boottime_ns, producer.monotonic_ns);
    EXPECT_NE(producer.realtime_ns, 0u);
    EXPECT_FALSE(producer.is_stopped);
    TimeOfInts nothing;
    tracer_ring_stop();
    ASSERT_TRUE(cursor->poll(nothing));
    EXPECT_TRUE(cursor->producer().is_stopped);
}

uint64_t monotonic_ns() {
    timespec now{};
    clock_gettime(CLOCK_MONOTONIC, &now);
    return static_cast<uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(now.tv_nsec);
}

TEST_F(RingProducer, TheCountedClockTellsTheSameTime) {
    options.fast_clock = true;
    ASSERT_EQ(start(20, 1), 0);
    std::vector<uint64_t> before;
    std::vector<uint64_t> after;
    // Over many of its windows, of a tenth of a millisecond each.
    const uint64_t end_ns = monotonic_ns() + 100'000'000;
    while (monotonic_ns() < end_ns && before.size() < 300'000) {
        before.push_back(monotonic_ns());
        ASSERT_EQ(tracer_ring_write_int(int_event(), 1), 0);
        after.push_back(monotonic_ns());
    }
    auto cursor = ring::Cursor::open_file(file());
    ASSERT_TRUE(cursor);
    TimeOfInts read;
    ASSERT_TRUE(cursor->poll(read));
    ASSERT_EQ(read.times.size(), before.size());
    uint64_t outside = 0;
    for (size_t i = 0; i < before.size(); ++i) {
        const bool is_early = read.times[i] + 300 < before[i];
        outside += is_early || read.times[i] > after[i] + 300;
        ASSERT_GE(read.times[i], read.times[i == 0 ? 0 : i - 1]);
    }
    // A virtual machine that was not running while both clocks were read.
    EXPECT_LE(outside, before.size() / 20) << before.size();
}

bool is_clock_counted(const std::string& path) {
    auto cursor = ring::Cursor::open_file(path);
    return cursor && cursor->producer().is_clock_counted;
}

TEST_F(RingProducer, CountsWhereTheKernelDoesUnlessToldNotTo) {
    std::string source;
    std::ifstream("/sys/devices/system/clocksource/clocksource0/current_clocksource") >> source;
    ASSERT_EQ(start(), 0);
    EXPECT_EQ(is_clock_counted(file()), source == "tsc");
    tracer_ring_stop();
    setenv("TRACER_RING_CLOCK", "monotonic", 1);
    ASSERT_EQ(start(), 0);
    EXPECT_FALSE(is_clock_counted(file()));
    tracer_ring_stop();
    unsetenv("TRACER_RING_CLOCK");
    options.exact_clock = options.fast_clock = true;
    ASSERT_EQ(start(), 0);
    EXPECT_FALSE(is_clock_counted(file()));
    // Then it is between what the clock says before and after, always.
    const uint64_t before = monotonic_ns();
    tracer_ring_write_int(int_event(), 1);
    const uint64_t after = monotonic_ns();
    auto cursor = ring::Cursor::open_file(file());
    ASSERT_TRUE(cursor);
    TimeOfInts read;
    ASSERT_TRUE(cursor->poll(read));
    ASSERT_EQ(read.times.size(), 1u);
    EXPECT_GE(read.times[0], before);
    EXPECT_LE(read.times[0], after);
}

TEST_F(RingProducer, WritesNothingWhileItIsOffOrPaused) {
    EXPECT_FALSE(tracer_ring_is_active());
    EXPECT_EQ(tracer_ring_write_int(int_event(), 1), 0);
    ASSERT_EQ(start(), 0);
    EXPECT_EQ(tracer_ring_pause(), 0);
    EXPECT_FALSE(tracer_ring_is_active());
    EXPECT_EQ(tracer_ring_write_int(int_event(), 2), 0);
    EXPECT_EQ(tracer_ring_pause(), 0);
    EXPECT_EQ(tracer_ring_resume(), 0);
    EXPECT_EQ(tracer_ring_resume(), 0);
    EXPECT_EQ(tracer_ring_write_int(int_event(), 3), 0);
    EXPECT_EQ(texts(), (Texts{"ring_start", "ring_pause", "ring_resume", "int 3"}));
}

TEST_F(RingProducer, StartsOnceAndAgainAfterAStop) {
    options.preserve = true;
    ASSERT_EQ(start(), 0);
    EXPECT_EQ(start(), 0);
    tracer_ring_write_int(int_event(), 1);
    EXPECT_EQ(tracer_ring_stop(), 0);
    EXPECT_EQ(tracer_ring_stop(), 0);
    EXPECT_EQ(texts(), (Texts{"ring_start", "int 1", "ring_stop"}));
    options.preserve = false;
    ASSERT_EQ(start(), 0);
    tracer_ring_write_int(int_event(), 2);
    EXPECT_EQ(texts(), (Texts{"ring_start", "int 2"}));
    EXPECT_EQ(tracer_ring_stop(), 0);
    EXPECT_NE(access(file().c_str(), F_OK), 0);
    EXPECT_EQ(tracer_ring_path(nullptr, 0), -ENOENT);
}

TEST_F(RingProducer, LosesTheOldestAndTheReaderKnowsHowMany) {
    ASSERT_EQ(start(5, 1), 0);
    for (int64_t i = 1; i <= 1000; ++i) tracer_ring_write_int(int_event(), i);
    // Ten records of three words each fit, with a filler and the word that stays free.
    const Texts read = texts();
    ASSERT_GE(read.size(), 8u);
    EXPECT_EQ(read.back(), "int 1000");
    EXPECT_EQ(read.front(), fmt::format("lost {}", 1001 - (read.size() - 1)));
}

TEST_F(RingProducer, RefusesAnEventLargerThanHalfARing) {
    ASSERT_EQ(start(6, 1), 0);  // of 64 words, so 32 for one: 2 and 30 * 8 - 1 bytes
    const std::string bytes(240, 'x');
    EXPECT_EQ(tracer_ring_write_bytes(text_event(), bytes.data(), 239), 0);
    EXPECT_EQ(tracer_ring_write_bytes(text_event(), bytes.data(), 240), -EMSGSIZE);
    EXPECT_EQ(tracer_ring_write_int(int_event(), 1), 0);
    EXPECT_EQ(texts(),
              (Texts{"ring_start", fmt::format("text \"{}\"", bytes.substr(0, 239)), "int 1"}));
}

TEST_F(RingProducer, WritesCustomEventsOfEveryLengthUpTo1024) {
    ASSERT_EQ(start(17, 1), 0);
    Texts expected{"ring_start"};
    for (size_t length = 0; length <= TR_RING_CUSTOM_BYTES_MAX; ++length) {
        const std::string text(length, static_cast<char>('a' + length % 26));
        ASSERT_EQ(tracer_ring_write_custom(text_event(), &text), 0);
        expected.push_back(fmt::format("text \"{}\"", text));
    }
    EXPECT_EQ(texts(), expected);
    const std::string text(TR_RING_CUSTOM_BYTES_MAX + 1, 'x');
    EXPECT_EQ(tracer_ring_write_custom(text_event(), &text), -EMSGSIZE);
    EXPECT_EQ(tracer_ring_write_bytes(text_event(), text.data(), text.size()), -EMSGSIZE);
}

TEST_F(RingProducer, RefusesWhatIsNotOfTheEventsType) {
    ASSERT_EQ(start(), 0);
    const std::string text = "refuse";
    EXPECT_EQ(tracer_ring_write_unit(int_event()), -EINVAL);
    EXPECT_EQ(tracer_ring_write_int(unit_event(), 1), -EINVAL);
    EXPECT_EQ(tracer_ring_write_begin(unit_event()), -EINVAL);
    EXPECT_EQ(tracer_ring_write_end(text_event()), -EINVAL);
    EXPECT_EQ(tracer_ring_write_custom(span_event(), &text), -EINVAL);
    EXPECT_EQ(tracer_ring_write_bytes(span_event(), "", 0), -EINVAL);
    EXPECT_EQ(tracer_ring_write_unit(nullptr), -EINVAL);
    EXPECT_EQ(tracer_ring_write_custom(text_event(), &text), -EDOM);
    EXPECT_EQ(texts(), Texts{"ring_start"});
}

TEST_F(RingProducer, RefusesNamesThatCannotBe) {
    const tracer_ring_event* event = nullptr;
    const std::string longest(127, 'n');
    EXPECT_EQ(tracer_ring_register(longest.c_str(), TRACER_RING_UNIT, 9, &event), 0);
    EXPECT_EQ(tracer_ring_find(longest.c_str()), event);
    EXPECT_EQ(tracer_ring_event_tag(event), 9u);
    EXPECT_EQ(tracer_ring_event_name(event), longest);
    EXPECT_EQ(tracer_ring_event_type_of(event), TRACER_RING_UNIT);
    EXPECT_EQ(tracer_ring_register(longest.c_str(), TRACER_RING_INT, 0, &event), -EEXIST);
    EXPECT_EQ(event, nullptr);
    EXPECT_EQ(tracer_ring_register((longest + "n").c_str(), TRACER_RING_INT, 0, &event), -EINVAL);
    EXPECT_EQ(tracer_ring_register("", TRACER_RING_INT, 0, &event), -EINVAL);
    EXPECT_EQ(tracer_ring_register("custom", TRACER_RING_CUSTOM, 0, &event), -EINVAL);
    EXPECT_EQ(tracer_ring_find("custom"), nullptr);
}

TEST_F(RingProducer, Registers8192EventsAndNoMore) {
    // In a child, whose table is its own.
    const int status = run_in_child([this] {
        options.preserve = true;
        const tracer_ring_event* event = nullptr;
        int count = 0;
        while (tracer_ring_register(fmt::format("e{}", count).c_str(), TRACER_RING_INT, 0,
                                    &event) == 0) {
            // Half of the names are there when the file is made, the rest come after.
            if (++count == 4000 && start() != 0) return 1;
        }
        const int error = tracer_ring_register("one more", TRACER_RING_INT, 0, &event);
        const tracer_ring_event* const first = tracer_ring_find("e0");
        const tracer_ring_event* const last =
            tracer_ring_find(fmt::format("e{}", count - 1).c_str());
        tracer_ring_write_int(first, 1);
        tracer_ring_write_int(last, 2);
        const Texts expected{"ring_start", "e0 1", fmt::format("e{} 2", count - 1)};
        if (texts() != expected) return 2;
        if (error != -ENOSPC) return 3;
        // Those of this process's other tests count too.
        return count > TR_RING_NAMES - 100 && count <= TR_RING_NAMES ? 0 : 4;
    });
    EXPECT_EQ(status, 0);
}

// Of whoever looks, those who come late and those who read no event of it.
TEST_F(RingProducer, TheFileSaysWhatEventsAreRegisteredAs) {
    ASSERT_NE(int_event(), nullptr);
    ASSERT_EQ(start(5, 1), 0);
    static_cast<void>(unit_event());
    static_cast<void>(span_event());
    static_cast<void>(text_event());
    auto cursor = ring::Cursor::open_file(file());
    ASSERT_TRUE(cursor);
    std::map<std::string, std::string> types;
    for (const ring::UserEvent& event : cursor->user_events()) {
        const bool is_new = types.emplace(event.name, to_text(event.type)).second;
        EXPECT_TRUE(is_new) << event.name;
    }
    EXPECT_EQ(types["unit"], "unit");
    EXPECT_EQ(types["int"], "int");
    EXPECT_EQ(types["span"], "span");
    EXPECT_EQ(types["text"], "custom");
}

TEST_F(RingProducer, RefusesOptionsOutOfTheirRange) {
    EXPECT_EQ(start(4, 1), -EINVAL);
    EXPECT_EQ(start(25, 1), -EINVAL);
    EXPECT_EQ(start(10, 4097), -EINVAL);
    EXPECT_TRUE(folder.names().empty());
}

struct Sample {
    int32_t a;
    double b;
};

struct UpperCodec {
    static long encode(std::span<std::byte> buffer, const std::string& text) noexcept {
        for (size_t i = 0; i < text.size() && i < buffer.size(); ++i) {
            buffer[i] = static_cast<std::byte>(text[i] - 'a' + 'A');
        }
        return static_cast<long>(text.size());
    }
    static bool decode(std::span<const std::byte> bytes, std::string& text) noexcept {
        text.assign(bytes.size(), '?');
        return true;
    }
};

TEST_F(RingProducer, HasTypedEventsAndScopesInCxx) {
    const ring::UnitEvent unit("cxx.unit");
    const ring::IntEvent number("cxx.int");
    const ring::SpanEvent span("cxx.span");
    const ring::CustomEvent<Sample> sample("cxx.sample");
    const ring::CustomEvent<std::string, UpperCodec> upper("cxx.upper");
    const ring::IntEvent again("cxx.int");
    EXPECT_EQ(number.error(), 0);
    EXPECT_EQ(again.error(), -EEXIST);
    {
        const ring::Rings rings(options);
        ASSERT_EQ(rings.error(), 0);
        EXPECT_EQ(ring::rings_path(), file());
        {
            const ring::Span outer(span);
            const ring::PhaseSpan inner(TRACER_RING_MAJOR);
            unit.write();
            number.write(5);
            upper.write("abc");
            sample.write({1, 2.5});
            EXPECT_EQ(again.write(6), -EINVAL);
        }
        Texts read = texts();
        ASSERT_EQ(read.size(), 9u);
        read.erase(read.begin() + 6);  // the sample, as bytes
        EXPECT_EQ(read, (Texts{"ring_start", "begin cxx.span", "begin major", "cxx.unit",
                               "cxx.int 5", "cxx.upper \"ABC\"", "end major", "end cxx.span"}));
    }
    EXPECT_FALSE(tracer_ring_is_active());
    Sample decoded{};
    const Sample from{7, 0.5};
    EXPECT_TRUE(sample.decode(std::as_bytes(std::span(&from, 1)), decoded));
    EXPECT_EQ(decoded.a, 7);
    EXPECT_FALSE(sample.decode(std::as_bytes(std::span(&from, 1)).first(3), decoded));
}

TEST_F(RingProducer, ASpanWhoseBeginWasNotWrittenHasNoEnd) {
    ASSERT_EQ(start(), 0);
    const ring::SpanEvent span("cxx.paused");
    tracer_ring_pause();
    {
        const ring::Span paused(span);
        tracer_ring_resume();
    }
    EXPECT_EQ(texts(), (Texts{"ring_start", "ring_pause", "ring_resume"}));
}

}  // namespace
}  // namespace tracer::test
