// SPDX-License-Identifier: Apache-2.0
#include "session/trigger.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace tracer {
namespace {

constexpr uint64_t kMs = 1'000'000;
constexpr model::ThreadIndex kMain{0};
constexpr model::PointIndex kTick{0};
constexpr model::PointIndex kWork{1};
constexpr model::PointIndex kPool{2};

// Shows events to conditions as the flight recorder does.
class Watched {
public:
    explicit Watched(const std::vector<std::string>& texts) : watch_(parse(texts)), history_({}) {
        define({.index = kTick, .category = "app", .name = "tick"});
        define({.index = kWork, .kind = model::PointKind::span, .category = "app", .name = "work"});
        define({.index = kPool,
                .kind = model::PointKind::counter,
                .category = "app",
                .name = "pool",
                .arguments = {{"free", model::ValueType::s64}, {"used", model::ValueType::u64}}});
        define(model::Thread{
            .index = kMain, .pid = 7, .tid = 7, .thread_name = "main", .process_name = "server"});
        define(model::Thread{.index = model::ThreadIndex{1},
                             .pid = 7,
                             .tid = 8,
                             .thread_name = "w",
                             .process_name = "server"});
    }

    // The text of the condition that came true; empty: none.
    std::string show(uint64_t time_ns, const model::EventBody& body) {
        const model::Event event{time_ns, body};
        const Trigger* pulled = watch_.look_at(event, history_);
        static_cast<void>(history_.write(event));
        return pulled != nullptr ? pulled->text : std::string();
    }
    std::string work(uint64_t from_ns, uint64_t to_ns, std::string_view name = {}) {
        EXPECT_EQ(show(from_ns, model::SpanBegin{kWork, kMain, {}, name}), "");
        return show(to_ns, model::SpanEnd{kWork, kMain, {}, {}});
    }
    std::string tick(uint64_t time_ns, std::string_view name = {}) {
        return show(time_ns, model::Instant{kTick, kMain, {}, name});
    }
    std::string pool(int64_t free, uint64_t used) {
        std::array<model::Value, 2> values{};
        values[0] = {.type = model::ValueType::s64, .bits = static_cast<uint64_t>(free)};
        values[1] = {.type = model::ValueType::u64, .bits = used};
        return show(1, model::Counter{kPool, kMain, values});
    }
    std::string exit(uint32_t thread, int32_t code) {
        return show(1, model::Life{.kind = model::LifeKind::exit,
                                   .thread = model::ThreadIndex{thread},
                                   .exit_code = code});
    }

private:
    static std::vector<Trigger> parse(const std::vector<std::string>& texts) {
        std::vector<Trigger> triggers;
        for (const std::string& text : texts) {
            auto trigger = parse_trigger(text);
            EXPECT_TRUE(trigger) << trigger.error().what;
            if (trigger) triggers.push_back(*trigger);
        }
        return triggers;
    }
    template <typename Definition>
    void define(const Definition& definition) {
        watch_.define(definition);
        history_.define(definition);
    }
    void define(const model::Point& point) { define<model::Point>(point); }

    TriggerWatch watch_;
    EventHistory history_;
};

TEST(Trigger, ASpanThatLasted) {
    const std::string text = "span(work) > 50ms";
    Watched watched({text});
    EXPECT_EQ(watched.work(0, 50 * kMs), "");
    EXPECT_EQ(watched.work(100 * kMs, 150 * kMs + 1), text);
    EXPECT_EQ(watched.tick(200 * kMs), "");
}

TEST(Trigger, AnAsynchronousSpanByItsOwnName) {
    const std::string text = "span(query *) >= 2us";
    Watched watched({text});
    watched.show(0, model::AsyncBegin{kWork, kMain, 5, {}, "query 1"});
    watched.show(0, model::AsyncBegin{kWork, kMain, 6, {}, "other"});
    EXPECT_EQ(watched.show(5000, model::AsyncEnd{kWork, kMain, 6, {}, {}}), "");
    EXPECT_EQ(watched.show(2000, model::AsyncEnd{kWork, kMain, 5, {}, {}}), text);
}

TEST(Trigger, AnEventByEachOfItsNames) {
    EXPECT_EQ(Watched({"event(tick)"}).tick(1), "event(tick)");
    EXPECT_EQ(Watched({"event(app:t*)"}).tick(1), "event(app:t*)");
    EXPECT_EQ(Watched({"event(own name)"}).tick(1, "own name"), "event(own name)");
    EXPECT_EQ(Watched({"event(tock)"}).tick(1), "");
    EXPECT_EQ(Watched({"event(tock)", "event(*)"}).tick(1), "event(*)");
}

TEST(Trigger, ARateIsCountedBySeconds) {
    const std::string text = "event(tick) > 3/s";
    Watched watched({text});
    for (uint64_t second = 0; second < 3; ++second) {
        for (uint64_t i = 0; i < 3; ++i) EXPECT_EQ(watched.tick(second * 1000 * kMs + i), "");
    }
    EXPECT_EQ(watched.tick(2999 * kMs), text);
    EXPECT_EQ(watched.tick(2999 * kMs), "");  // once a second
    for (uint64_t i = 0; i < 3; ++i) EXPECT_EQ(watched.tick(3000 * kMs), "");
    EXPECT_EQ(watched.tick(3000 * kMs), text);
}

TEST(Trigger, ACounterByItsArgument) {
    Watched watched({"counter(pool, free) < -1", "counter(pool) > 1000"});
    EXPECT_EQ(watched.pool(-1, 5), "");
    EXPECT_EQ(watched.pool(-2, 5), "counter(pool, free) < -1");
    EXPECT_EQ(watched.pool(0, 1001), "counter(pool) > 1000");
    EXPECT_EQ(watched.pool(1001, 0), "counter(pool) > 1000");
}

TEST(Trigger, AProcessThatEnds) {
    EXPECT_EQ(Watched({"exit != 0"}).exit(0, 0), "");
    EXPECT_EQ(Watched({"exit != 0"}).exit(0, 3), "exit != 0");
    EXPECT_EQ(Watched({"exit(serv?r) == 3"}).exit(0, 3), "exit(serv?r) == 3");
    EXPECT_EQ(Watched({"exit(client) == 3"}).exit(0, 3), "");
    EXPECT_EQ(Watched({"exit != 0"}).exit(1, 3), "");  // a thread of it
    EXPECT_EQ(Watched({"crash"}).exit(0, 139), "crash");
    EXPECT_EQ(Watched({"crash"}).exit(0, 3), "");
}

TEST(Trigger, SoManyOfTheLast) {
    const std::string text = "2 of 3: span(work) > 1ms";
    Watched watched({text});
    const auto slow = [&] { return watched.work(0, 2 * kMs); };
    const auto quick = [&] { return watched.work(0, kMs); };
    EXPECT_EQ(slow(), "");
    EXPECT_EQ(quick(), "");
    EXPECT_EQ(quick(), "");
    EXPECT_EQ(slow(), "");  // the first is out of the window
    EXPECT_EQ(quick(), "");
    EXPECT_EQ(slow(), text);
    EXPECT_EQ(slow(), "");  // begins anew
    EXPECT_EQ(slow(), text);
}

TEST(Trigger, TextsThatMeanNothingAreToldWhy) {
    for (const char* text : {"",
                             "span",
                             "span(",
                             "span()",
                             "span(x)",
                             "span(x) > ",
                             "span(x) > 5",
                             "span(x) > 5 apples",
                             "span(x) > 5ms and more",
                             "event",
                             "event(x) > 5",
                             "event(x) < 5/s",
                             "counter(x)",
                             "counter(x,) > 5",
                             "counter(x, y) > z",
                             "exit",
                             "exit(x) !",
                             "crash(",
                             "when(x) > 5",
                             "3 of 10 span(x) > 5ms",
                             "11 of 10: crash",
                             "0 of 10: crash",
                             "1 of 65: crash",
                             "1.5 of 3: crash",
                             "3: crash",
                             "2 of 3: event(x)",
                             "nan of 3: crash"}) {
        const auto trigger = parse_trigger(text);
        ASSERT_FALSE(trigger) << text;
        EXPECT_EQ(trigger.error().code, ErrorCode::usage);
        EXPECT_NE(trigger.error().what.find("--when"), std::string::npos);
        EXPECT_FALSE(trigger.error().hint.empty());
    }
}

}  // namespace
}  // namespace tracer
