// SPDX-License-Identifier: Apache-2.0
//
// Random events through the tracer's writer and our reader: every field of every kind of event
// arrives, in the block of its capability and in order, whatever the buffers' sizes are meanwhile;
// and random histories of threads are accepted by the ghc-events library. Seeds are fixed; a
// failure names its own.
#include "every_event.h"
#include "support/eventlog_check.h"
#include "support/eventlog_text.h"
#include "support/fixtures/eventlog_checker.h"

#include <deque>
#include <map>
#include <memory>
#include <random>
#include <utility>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tracer::test {
namespace {

using namespace eventlog;

constexpr uint64_t kBase_ns = 1'000'000;
constexpr Dialect kDialect{.release = Release::ghc_9_14, .has_perf = true, .has_obsolete = true};

// What arrives at the reader: time, name, values.
struct Line {
    uint64_t time_ns = 0;
    std::string text;
    bool operator==(const Line&) const = default;
};
std::ostream& operator<<(std::ostream& stream, const Line& line) {
    return stream << line.time_ns << " " << line.text;
}

std::string shown(uint64_t number) {
    return fmt::format(" {}", number);
}
std::string shown(std::string_view text) {
    return fmt::format(" '{}'", text);
}
template <typename List>
std::string shown_list(const List& list) {
    std::string out = " [";
    for (const auto& entry : list) out += shown(entry);
    return out + "]";
}

// Of the reader's side.
Line line_of(const EventlogEvent& event) {
    Line line{event.time_ns, std::string(event.name)};
    for (const auto& field : event.fields) {
        if (const auto* number = std::get_if<uint64_t>(&field.value)) {
            line.text += shown(*number);
        } else if (const auto* text = std::get_if<std::string_view>(&field.value)) {
            line.text += shown(*text);
        } else if (const auto* stack = std::get_if<std::vector<uint32_t>>(&field.value)) {
            line.text += shown_list(*stack);
        } else {
            line.text += shown_list(std::get<std::vector<std::string_view>>(field.value));
        }
    }
    return line;
}

// Values for fields, and what they should be read as. Texts live as long as it does.
class Values {
public:
    explicit Values(std::mt19937_64& engine) : random_(&engine) {}

    template <Field field>
    auto make() {
        if constexpr (field == Field::u8) {
            return number<uint8_t>();
        } else if constexpr (field == Field::u16) {
            return number<uint16_t>();
        } else if constexpr (field == Field::u32) {
            return number<uint32_t>();
        } else if constexpr (field == Field::u64) {
            return number<uint64_t>();
        } else if constexpr (field == Field::text) {
            return Text{note(text(random_text(0)))};
        } else if constexpr (field == Field::c_string) {
            return CString{note(text(random_text(0)))};
        } else if constexpr (field == Field::strings) {
            return Strings{strings()};
        } else if constexpr (field == Field::bytes) {
            return Bytes{std::as_bytes(std::span(note(text(random_bytes()))))};
        } else {
            return Stack{stack()};
        }
    }

    [[nodiscard]] std::string take_text() { return std::exchange(text_, {}); }

private:
    uint64_t next() { return (*random_)(); }

    template <typename T>
    T number() {
        const uint64_t kind = next() % 4;
        const T value = kind == 0   ? static_cast<T>(~uint64_t{0})
                        : kind == 1 ? static_cast<T>(next() % 3)
                                    : static_cast<T>(next());
        text_ += shown(uint64_t{value});
        return value;
    }

    std::string_view note(std::string_view value) {
        text_ += shown(value);
        return value;
    }

    std::string_view text(std::string value) { return texts_.emplace_back(std::move(value)); }

    std::string random_text(size_t length_min) {
        static constexpr std::string_view kParts[] = {"a",  " ", "\xCE\xBB", "\xF0\x9F\x90\x8E",
                                                      "\n", "\""};
        const size_t length = length_min + (next() % 16 == 0 ? next() % 2000 : next() % 12);
        std::string value;
        for (size_t i = 0; i < length; ++i) value += kParts[next() % std::size(kParts)];
        return value;
    }

    std::string random_bytes() {
        std::string value(next() % 64, '\0');
        for (char& byte : value) byte = static_cast<char>(next());
        return value;
    }

    // None empty: at the end of the list the format cannot tell such from none.
    std::span<const std::string_view> strings() {
        auto& list = lists_.emplace_back();
        for (uint64_t count = 1 + next() % 4; count > 0; --count)
            list.push_back(text(random_text(1)));
        text_ += shown_list(list);
        return list;
    }

    std::span<const uint32_t> stack() {
        auto& list = stacks_.emplace_back();
        const uint64_t depth = next() % 8 == 0 ? kCostCentreDepthMax : next() % 4;
        for (uint64_t i = 0; i < depth; ++i) list.push_back(static_cast<uint32_t>(next()));
        text_ += shown_list(list);
        return list;
    }

    std::mt19937_64* random_;
    std::string text_;
    std::deque<std::string> texts_;
    std::deque<std::vector<std::string_view>> lists_;
    std::deque<std::vector<uint32_t>> stacks_;
};

using PostRandom = Fault (*)(BlockBuffer&, uint64_t, Values&);

template <size_t row, size_t... fields>
Fault post_row(BlockBuffer& buffer, uint64_t ns, Values& values, std::index_sequence<fields...>) {
    // Braces: in this order, as the fields stand in the payload.
    const std::tuple made{values.make<table::kRows[row].shape[fields]>()...};
    return buffer.post<table::kRows[row].id>(ns, std::get<fields>(made)...);
}

// One function a row of the writer's table.
template <size_t... rows>
constexpr auto make_posts(std::index_sequence<rows...>) {
    return std::array<PostRandom, sizeof...(rows)>{
        [](BlockBuffer& buffer, uint64_t ns, Values& values) {
            constexpr size_t kFields = table::kRows[rows].shape.size();
            return post_row<rows>(buffer, ns, values, std::make_index_sequence<kFields>());
        }...};
}

constexpr auto kPosts = make_posts(std::make_index_sequence<table::kRows.size()>());

// Buffers of one log, by capability.
class Buffers {
public:
    Buffers(EventlogText& out, std::mt19937_64& engine) : random_(&engine) {
        for (const CapNo cap : {CapNo{0}, CapNo{1}, CapNo{2}, kNoCapability}) {
            all_.push_back(
                std::make_unique<BlockBuffer>(cap, out,
                                              BufferOptions{.capacity_bytes = kCapacityBytesMin,
                                                            .dialect = kDialect,
                                                            .invalid = Invalid::refuse}));
            EXPECT_TRUE(all_.back()->open(kBase_ns));
        }
    }

    BlockBuffer& any() { return *all_[(*random_)() % all_.size()]; }
    BlockBuffer& of(CapNo cap) { return *all_[cap]; }

    // Now and then flushes one, or gives it another size.
    void disturb() {
        switch ((*random_)() % 40) {
            case 0:
                any().flush();
                break;
            case 1:
                EXPECT_TRUE(any().set_capacity(kCapacityBytesMin + (*random_)() % 100'000));
                break;
            default:
                break;
        }
    }

    void close() {
        for (const auto& buffer : all_) buffer->close();
    }

private:
    std::mt19937_64* random_;
    std::vector<std::unique_ptr<BlockBuffer>> all_;
};

TEST(EventlogRoundTrip, EveryFieldOfEveryKindArrives) {
    for (const uint64_t seed : {11U, 12U, 13U}) {
        std::mt19937_64 engine(seed);
        EventlogText out(kDialect);
        Buffers buffers(out, engine);
        Values values(engine);
        std::map<CapNo, std::vector<Line>> expected;
        uint64_t ns = kBase_ns;
        for (int i = 0; i < 6000; ++i) {
            ns += engine() % 3;
            BlockBuffer& buffer = buffers.any();
            const size_t row = engine() % table::kRows.size();
            const EventType& type = table::kRows[row];
            if (type.id == EventId::block_marker) continue;
            const Fault fault = kPosts[row](buffer, ns, values);
            Line line{ns - kBase_ns, std::string(type.name) + values.take_text()};
            if (fault == Fault::none) {
                expected[buffer.cap()].push_back(std::move(line));
            } else {
                EXPECT_EQ(fault, Fault::too_large) << name_of(fault) << " " << line;
            }
            buffers.disturb();
        }
        buffers.close();
        out.end();

        const auto file = parse_eventlog(out.bytes());
        ASSERT_TRUE(file.is_sound()) << "seed " << seed << ": " << problems_text(file);
        EXPECT_GT(file.reader.block_count(), 20U);
        std::map<CapNo, std::vector<Line>> actual;
        for (const auto& event : file.events) {
            if (event.is(EventlogId::block_marker)) continue;
            actual[event.capability.value_or(kNoCapability)].push_back(line_of(event));
        }
        for (const auto& [cap, lines] : expected) {
            ASSERT_EQ(actual[cap].size(), lines.size())
                << "seed " << seed << ", capability " << cap;
            for (size_t i = 0; i < lines.size(); ++i) {
                ASSERT_EQ(actual[cap][i], lines[i]) << "seed " << seed << ", capability " << cap;
            }
        }
    }
}

TEST(EventlogRoundTrip, MarkersTellWhatTheirBlocksHold) {
    std::mt19937_64 engine(21);
    EventlogText out(kDialect);
    Buffers buffers(out, engine);
    for (uint64_t i = 0; i < 5000; ++i) {
        Poster(buffers.any()).post_user_message(kBase_ns + 10 * i, std::string(i % 50, 'x'));
        buffers.disturb();
    }
    buffers.close();
    const auto file = parse_eventlog(out.bytes());
    ASSERT_TRUE(file.is_sound()) << problems_text(file);
    const EventlogEvent* marker = nullptr;
    std::map<CapNo, uint64_t> last_ns;
    for (const auto& event : file.events) {
        uint64_t& last = last_ns[event.capability.value_or(kNoCapability)];
        if (event.is(EventlogId::block_marker)) {
            marker = &event;
            // Blocks of one capability follow one another in time.
            EXPECT_GE(event.time_ns, last);
            continue;
        }
        ASSERT_NE(marker, nullptr);
        EXPECT_LE(event.offset + event.bytes, marker->offset + marker->number("size"));
        EXPECT_GE(event.time_ns, marker->time_ns);
        EXPECT_LE(event.time_ns, marker->number("end_time"));
        EXPECT_GE(event.time_ns, last);
        last = event.time_ns;
    }
}

// Threads on three capabilities that only do what threads may do.
class Scheduler {
public:
    Scheduler(Buffers& buffers, std::mt19937_64& engine) : buffers_(&buffers), random_(&engine) {}

    void step() {
        ns_ += 1 + next() % 5;
        const auto cap = static_cast<CapNo>(next() % 3);
        const auto running = running_.find(cap);
        if (running != running_.end()) {
            next() % 4 == 0 ? chat(cap) : stop(cap, running->second);
        } else if (ready_.empty() || next() % 8 == 0) {
            create(cap);
        } else {
            run_or_wake(cap, next() % ready_.size());
        }
    }

private:
    struct Ready {
        ThreadId thread;
        CapNo cap;
    };

    uint64_t next() { return (*random_)(); }
    Poster on(CapNo cap) { return Poster(buffers_->of(cap)); }

    void chat(CapNo cap) { on(cap).post_user_message(ns_, "still here"); }

    void create(CapNo cap) {
        const ThreadId thread = ++last_thread_;
        on(cap).post_create_thread(ns_, thread);
        on(cap).post_thread_label(ns_, thread, "worker");
        ready_.push_back({thread, cap});
    }

    void stop(CapNo cap, ThreadId thread) {
        static constexpr StopStatus kStatuses[] = {
            StopStatus::heap_overflow,   StopStatus::yielding,
            StopStatus::foreign_call,    StopStatus::finished,
            StopStatus::blocked_on_mvar, StopStatus::blocked_on_throw_to};
        const StopStatus status = kStatuses[next() % std::size(kStatuses)];
        on(cap).post_stop_thread(ns_, thread, status);
        running_.erase(cap);
        if (status != StopStatus::finished) ready_.push_back({thread, cap});
    }

    void run_or_wake(CapNo cap, size_t index) {
        Ready& ready = ready_[index];
        if (next() % 4 == 0) {
            on(cap).post_thread_wakeup(ns_, ready.thread, ready.cap);
            return;
        }
        if (ready.cap != cap) {
            on(ready.cap).post_migrate_thread(ns_, ready.thread, cap);
            ready.cap = cap;
            ns_ += 1;  // a tie across capabilities would be sorted by place in the file
        }
        on(cap).post_run_thread(ns_, ready.thread);
        running_[cap] = ready.thread;
        ready_.erase(ready_.begin() + static_cast<ptrdiff_t>(index));
    }

    Buffers* buffers_;
    std::mt19937_64* random_;
    uint64_t ns_ = kBase_ns;
    ThreadId last_thread_ = 0;
    std::map<CapNo, ThreadId> running_;
    std::vector<Ready> ready_;
};

TEST(EventlogRoundTrip, HistoriesOfThreadsAreAccepted) {
    for (const uint64_t seed : {31U, 32U, 33U}) {
        std::mt19937_64 engine(seed);
        EventlogText out(kDialect);
        Buffers buffers(out, engine);
        Scheduler scheduler(buffers, engine);
        for (int i = 0; i < 4000; ++i) {
            scheduler.step();
            buffers.disturb();
        }
        buffers.close();
        out.end();
        const auto file = parse_eventlog(out.bytes());
        ASSERT_TRUE(file.is_sound()) << problems_text(file);
        const auto check = check_eventlog(file);
        EXPECT_THAT(check.refusals, testing::IsEmpty()) << "seed " << seed;
        EXPECT_THAT(check.traps, testing::IsEmpty()) << "seed " << seed;
        if (!missing_eventlog_checker()) {
            EXPECT_TRUE(bytes_validate_as_eventlog(out.bytes())) << "seed " << seed;
        }
    }
}

}  // namespace
}  // namespace tracer::test
