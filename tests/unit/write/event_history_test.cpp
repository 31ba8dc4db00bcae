// SPDX-License-Identifier: Apache-2.0
//
// What a history gives back is what went in from some moment on, and a trace by itself: the same
// lines, no more faults than a whole recording has, nothing left open.
#include "tracer/write/event_history.h"

#include "support/fixtures/child_process.h"
#include "support/fixtures/temp_folder.h"
#include "support/recording_writer.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <csignal>
#include <filesystem>
#include <map>
#include <random>
#include <set>
#include <string>
#include <sys/resource.h>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

namespace tracer::test {
namespace {

constexpr uint64_t kMs = 1'000'000;

uint64_t time_of(const std::string& line) {
    uint64_t time_ns = 0;
    std::from_chars(line.data(), line.data() + line.size(), time_ns);
    return time_ns;
}

// Without the numbers that the writer gives to asynchronous spans as they come.
std::vector<std::string> without_numbers(std::vector<std::string> lines) {
    for (std::string& line : lines) {
        const size_t number = line.find(" #");
        if (line.find(" async_") == std::string::npos || number == std::string::npos) continue;
        line.erase(number, line.find(' ', number + 1) - number);
    }
    return lines;
}

std::vector<std::string> lines_from(const std::vector<std::string>& lines, uint64_t from_ns) {
    std::vector<std::string> result;
    std::ranges::copy_if(lines, std::back_inserter(result),
                         [&](const auto& line) { return time_of(line) >= from_ns; });
    return result;
}

// Of a view, as it is written into a trace of its own.
struct Written {
    explicit Written(const HistoryView& view, uint64_t from_ns = 0) {
        events = view.write_to(writer, from_ns);
        lines = writer.lines();
        EXPECT_EQ(writer.faults(), std::vector<std::string>());
        EXPECT_EQ(writer.open_spans(), 0u);
    }
    // Without what stands for the time before, and the ends made up behind.
    [[nodiscard]] std::vector<std::string> own_lines(uint64_t from_ns) const {
        std::vector<std::string> result = lines_from(lines, from_ns);
        std::erase_if(result, [](const std::string& line) {
            return line.find(" recording_end") != std::string::npos;
        });
        return result;
    }
    RecordingWriter writer;
    std::vector<std::string> lines;
    uint64_t events = 0;
};

model::Point point_of(uint32_t index, model::PointKind kind, std::string name) {
    return {.index = model::PointIndex{index},
            .kind = kind,
            .category = "test",
            .name = std::move(name),
            .arguments = {{"n", model::ValueType::u64},
                          {"text", model::ValueType::string},
                          {"real", model::ValueType::f64}},
            .end_arguments = {{"code", model::ValueType::s32}}};
}

constexpr model::PointIndex kTick{0};
constexpr model::PointIndex kWork{1};
constexpr model::PointIndex kLoad{2};

// Writes a machine's events, drawn at random, to a history and to a writer beside it.
class RandomEvents {
public:
    RandomEvents(uint32_t seed, EventHistory& history) : random_(seed), history_(history) {
        for (TraceWriter* writer : {static_cast<TraceWriter*>(&direct), &history_writer()}) {
            writer->define(point_of(0, model::PointKind::instant, "tick"));
            writer->define(point_of(1, model::PointKind::span, "work"));
            writer->define(point_of(2, model::PointKind::counter, "load"));
        }
        for (int i = 0; i < 4; ++i) be_born();
    }

    void step() {
        now_ns += below(3) * kMs / 100;
        const model::ThreadIndex thread = threads_[below(threads_.size())];
        switch (below(12)) {
            case 0:
                write(model::SpanBegin{kWork, thread, values(), name()});
                spans_[thread] += 1;
                return;
            case 1:
                if (spans_[thread] == 0) return;
                spans_[thread] -= 1;
                write(model::SpanEnd{kWork, thread, model::SpanEndCause::returned, end_values()});
                return;
            case 2:
                write(model::AsyncBegin{kWork, thread, ++last_id_, values(), name()});
                open_ids_.insert(last_id_);
                return;
            case 3: {
                if (open_ids_.empty()) return;
                const uint64_t id =
                    *std::next(open_ids_.begin(), static_cast<long>(below(open_ids_.size())));
                open_ids_.erase(id);
                write(model::AsyncEnd{kWork, thread, id, model::SpanEndCause::returned,
                                      end_values()});
                return;
            }
            case 4:
                write(model::Counter{kLoad, thread, values(), name()});
                return;
            case 5:
                write(model::ClockReading{now_ns + 1, now_ns + 2});
                return;
            case 6:
                if (below(4) == 0) be_born();
                return;
            case 7:
                if (below(4) == 0) die(below(threads_.size()));
                return;
            case 8:
                write(model::Loss{model::LossCause::ring_full, 1, now_ns, below(100) + 1});
                return;
            default:
                write(model::Instant{kTick, thread, values(), name()});
                return;
        }
    }

    RecordingWriter direct;
    uint64_t now_ns = 1000 * kMs;

private:
    TraceWriter& history_writer() { return history_; }
    uint64_t below(uint64_t end) {
        return std::uniform_int_distribution<uint64_t>(0, end - 1)(random_);
    }

    void be_born() {
        const auto index = static_cast<uint32_t>(born_++);
        const uint32_t tid = 100 + index;
        const model::Thread thread{.index = model::ThreadIndex{index},
                                   .pid = tid,
                                   .tid = tid,
                                   .thread_name = "t" + std::to_string(index),
                                   .process_name = "p"};
        direct.define(thread);
        history_.define(thread);
        if (!threads_.empty()) {
            write(model::Life{
                .kind = model::LifeKind::fork, .thread = threads_.front(), .child = thread.index});
        }
        threads_.push_back(thread.index);
    }

    void die(size_t which) {
        if (threads_.size() == 1) return;
        const model::ThreadIndex thread = threads_[which];
        for (; spans_[thread] > 0; --spans_[thread]) {
            write(model::SpanEnd{kWork, thread, model::SpanEndCause::thread_exit, {}});
        }
        write(model::Life{
            .kind = model::LifeKind::exit, .thread = thread, .exit_code = 3, .path = "/bin/x"});
        threads_.erase(threads_.begin() + static_cast<long>(which));
    }

    std::span<const model::Value> values() {
        texts_ = std::string(below(40), static_cast<char>('a' + below(26)));
        values_[0] = {.type = model::ValueType::u64, .bits = random_()};
        values_[1] = {.type = model::ValueType::string, .is_cut = below(2) == 0, .text = texts_};
        values_[1].bits = values_[1].is_cut ? 500 : 0;
        values_[2].type = model::ValueType::f64;
        values_[2].real = static_cast<double>(below(1000)) / 8;
        return values_;
    }
    std::span<const model::Value> end_values() {
        end_value_ = {.type = model::ValueType::s32, .bits = below(100)};
        return {&end_value_, 1};
    }
    std::string_view name() {
        constexpr std::array<std::string_view, 3> kNames{"", "query", "a name of its own"};
        return kNames[below(kNames.size())];
    }

    void write(const model::EventBody& body) {
        const model::Event event{now_ns, body, static_cast<uint16_t>(below(4))};
        EXPECT_EQ(direct.write(event), WriteStatus::ok);
        EXPECT_EQ(history_.write(event), WriteStatus::ok);
    }

    std::mt19937_64 random_;
    EventHistory& history_;
    std::vector<model::ThreadIndex> threads_;
    std::map<model::ThreadIndex, uint32_t> spans_;
    std::set<uint64_t> open_ids_;
    uint64_t last_id_ = 0;
    uint64_t born_ = 0;
    std::string texts_;
    std::array<model::Value, 3> values_{};
    model::Value end_value_{};
};

TEST(EventHistory, GivesBackWhatWentInFromAnyMomentOn) {
    for (uint32_t seed = 0; seed < 15; ++seed) {
        SCOPED_TRACE(seed);
        EventHistory history({.bytes_max = kHistoryBytesMin});
        RandomEvents events(seed, history);
        for (int i = 0; i < 3000; ++i) events.step();
        ASSERT_EQ(events.direct.faults(), std::vector<std::string>());
        const HistoryView view = history.view();
        const HistoryExtent extent = view.extent();
        for (const uint64_t part : {0, 1, 2, 3}) {
            const uint64_t from_ns =
                extent.first_ns + (extent.last_ns - extent.first_ns) * part / 3;
            const Written written(view, from_ns);
            const auto expected = lines_from(events.direct.lines(), from_ns);
            EXPECT_EQ(without_numbers(written.own_lines(from_ns)), without_numbers(expected));
            EXPECT_EQ(written.events, expected.size());
        }
    }
}

TEST(EventHistory, ForgetsTheOldestAndStaysWithinItsMemory) {
    constexpr uint64_t kBytes = 2 << 20;
    EventHistory history({.bytes_max = kBytes});
    RandomEvents events(1, history);
    for (int i = 0; i < 100'000; ++i) {
        events.step();
        ASSERT_LE(history.extent().bytes, kBytes);
    }
    const HistoryExtent extent = history.extent();
    EXPECT_GT(extent.bytes, kBytes * 3 / 4);
    EXPECT_GT(extent.first_ns, 1000 * kMs);
    EXPECT_EQ(extent.last_ns, time_of(events.direct.lines().back()));
    const HistoryView view = history.view();
    const Written written(view);
    EXPECT_EQ(written.events, extent.events);
    const auto all = without_numbers(events.direct.lines());
    const std::vector<std::string> expected(all.end() - static_cast<long>(extent.events),
                                            all.end());
    const auto actual = without_numbers(written.own_lines(0));
    // Before them stand the clocks and what was open.
    ASSERT_GE(actual.size(), expected.size());
    EXPECT_TRUE(std::equal(expected.rbegin(), expected.rend(), actual.rbegin()));
}

void wait_for_disk(const EventHistory& history) {
    EXPECT_TRUE(
        wait_until(Milliseconds(20000), [&] { return history.disk().segments_waiting == 0; }));
}

// Bytes that files without a name take in the folder's file system are not seen; but no name is.
TEST(EventHistory, OnADiskGivesBackTheSame) {
    const auto folder = TempFolder::make();
    ASSERT_TRUE(folder);
    constexpr uint64_t kBytes = 4 << 20;
    EventHistory history({.bytes_max = kBytes});
    ASSERT_TRUE(history.keep_in(folder->path()));
    RandomEvents events(7, history);
    std::vector<HistoryView> views;
    for (int i = 0; i < 200'000; ++i) {
        events.step();
        if (i % 2000 == 0) wait_for_disk(history);
        // Some are held while what they show is forgotten.
        if (i % 50'000 == 0) views.push_back(history.view());
    }
    EXPECT_EQ(history.disk().segments_given_up, 0u) << history.disk().error;
    EXPECT_TRUE(std::filesystem::is_empty(folder->path()));
    EXPECT_LE(history.extent().bytes, kBytes);
    views.push_back(history.view());
    const auto all = without_numbers(events.direct.lines());
    size_t seen = 0;
    for (const HistoryView& view : views) {
        const Written written(view);
        EXPECT_EQ(written.events, view.extent().events);
        if (written.events == 0) continue;
        const auto actual = without_numbers(written.own_lines(view.extent().first_ns));
        const auto first = std::ranges::find(all, actual.front());
        ASSERT_NE(first, all.end());
        ASSERT_GE(static_cast<size_t>(all.end() - first), written.events);
        EXPECT_TRUE(std::equal(first, first + static_cast<long>(written.events),
                               actual.end() - static_cast<long>(written.events)));
        ++seen;
    }
    EXPECT_GT(seen, 3u);
}

TEST(EventHistory, ADiskThatTakesNothingLeavesWhatIsInMemory) {
    const auto folder = TempFolder::make();
    ASSERT_TRUE(folder);
    EventHistory history({.bytes_max = kHistoryBytesMin});
    ASSERT_TRUE(history.keep_in(folder->path()));
    // Every write fails: the process may have no larger file.
    rlimit before{};
    ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
    const rlimit none{0, before.rlim_max};
    const auto handler = std::signal(SIGXFSZ, SIG_IGN);
    ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &none), 0);
    RandomEvents events(8, history);
    for (int i = 0; i < 100'000; ++i) {
        events.step();
        if (i % 2000 == 0) wait_for_disk(history);
    }
    ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &before), 0);
    static_cast<void>(std::signal(SIGXFSZ, handler));
    EXPECT_GT(history.disk().segments_given_up, 0u);
    EXPECT_NE(history.disk().error.find("File too large"), std::string::npos)
        << history.disk().error;
    const HistoryView view = history.view();
    const Written written(view);
    EXPECT_EQ(written.events, view.extent().events);
    EXPECT_GT(written.events, 0u) << "the newest are in memory";
}

TEST(EventHistory, AFolderThatIsNoneIsAnErrorAtOnce) {
    EventHistory history({});
    const Status kept = history.keep_in("/nonexistent/folder");
    ASSERT_FALSE(kept);
    EXPECT_NE(kept.error().what.find("/nonexistent/folder"), std::string::npos);
}

TEST(EventHistory, KeepsAtLeastTheAgeAskedForAndLittleMore) {
    constexpr uint64_t kAge = 500 * kMs;
    EventHistory history({.bytes_max = uint64_t{64} << 20, .age_ns_max = kAge});
    RandomEvents events(2, history);
    for (int i = 0; i < 150'000; ++i) events.step();
    const HistoryExtent extent = history.extent();
    EXPECT_GE(extent.last_ns - extent.first_ns, kAge);
    EXPECT_LE(extent.last_ns - extent.first_ns, kAge + kAge / 8);
}

TEST(EventHistory, ASpanThatOutlivesTheHistoryKeepsItsBeginAndArguments) {
    EventHistory history({.bytes_max = kHistoryBytesMin});
    history.define(point_of(0, model::PointKind::instant, "tick"));
    history.define(point_of(1, model::PointKind::span, "work"));
    history.define(model::Thread{.index = model::ThreadIndex{0}, .pid = 7, .tid = 7});
    std::array<model::Value, 3> values{};
    values[0] = {.type = model::ValueType::u64, .bits = 42};
    values[1] = {.type = model::ValueType::string, .text = "select"};
    values[2].type = model::ValueType::f64;
    static_cast<void>(
        history.write({5, model::SpanBegin{kWork, model::ThreadIndex{0}, values, "query"}}));
    uint64_t time_ns = 5;
    while (history.extent().first_ns <= 5) {
        static_cast<void>(
            history.write({++time_ns, model::Instant{kTick, model::ThreadIndex{0}, values}}));
        ASSERT_LT(time_ns, 1'000'000u);
    }
    const model::Event end{++time_ns, model::SpanEnd{kWork, model::ThreadIndex{0}, {}, {}}};
    const auto ended = history.ended_by(end);
    ASSERT_TRUE(ended);
    EXPECT_EQ(ended->begin_ns, 5u);
    EXPECT_EQ(ended->name, "query");
    const Written written(history.view());
    EXPECT_EQ(written.lines.front(), "5 begin work=\"query\" 7 [42, 'select', 0]");
}

TEST(EventHistory, AThreadIsCalledWhatItWasCalledThen) {
    EventHistory history({});
    history.define(model::Point{.index = kTick, .category = "test", .name = "tick"});
    model::Thread thread{.index = model::ThreadIndex{9}, .pid = 7, .tid = 7};
    const auto tick = [&](uint64_t time_ns) {
        static_cast<void>(history.write({time_ns, model::Instant{kTick, thread.index, {}}}));
    };
    thread.thread_name = "before";
    history.define(thread);
    tick(1);
    const HistoryView early = history.view();
    thread.thread_name = "after";
    history.define(thread);
    tick(2);
    const auto name_in = [](const HistoryView& view, uint64_t from_ns) {
        RecordingWriter writer;
        static_cast<void>(view.write_to(writer, from_ns));
        // In a trace of its own threads are counted from 0.
        EXPECT_EQ(writer.threads().size(), 1u);
        return writer.threads().begin()->second.thread_name;
    };
    EXPECT_EQ(name_in(early, 0), "before");
    EXPECT_EQ(name_in(history.view(), 2), "after");
    EXPECT_EQ(early.extent().events, 1u);
}

TEST(EventHistory, AViewOfNothingNewNeverChangesEither) {
    EventHistory history({});
    history.define(model::Point{.index = kTick, .category = "test", .name = "tick"});
    history.define(model::Thread{.index = model::ThreadIndex{0}, .pid = 7, .tid = 7});
    const auto tick = [&](uint64_t time_ns) {
        static_cast<void>(
            history.write({time_ns, model::Instant{kTick, model::ThreadIndex{0}, {}}}));
    };
    const HistoryView none = EventHistory({}).view();
    EXPECT_EQ(none.extent().events, 0u);
    tick(1);
    const HistoryView first = history.view();
    const HistoryView same = history.view();
    tick(2);
    EXPECT_EQ(first.extent().events, 1u);
    EXPECT_EQ(same.extent().events, 1u);
    EXPECT_EQ(Written(same).lines.size(), 1u);
    EXPECT_EQ(history.view().extent().events, 2u);
}

TEST(EventHistory, DefinitionsCountAsMemoryToo) {
    EventHistory history({.bytes_max = kHistoryBytesMin});
    history.define(model::Point{.index = kTick, .category = "test", .name = "tick"});
    for (uint32_t i = 0; i < 100'000; ++i) {
        history.define(model::Thread{.index = model::ThreadIndex{0},
                                     .pid = 7,
                                     .tid = 7,
                                     .thread_name = std::string(40, 'x')});
        static_cast<void>(history.write({i, model::Instant{kTick, model::ThreadIndex{0}, {}}}));
        ASSERT_LE(history.extent().bytes, kHistoryBytesMin);
    }
    // An event takes some 20 bytes, a definition ten times that.
    EXPECT_LT(history.extent().events, kHistoryBytesMin / 200);
}

TEST(EventHistory, ThreadsThatEndedAreForgottenWithTheirEvents) {
    EventHistory history({.bytes_max = kHistoryBytesMin});
    history.define(model::Point{.index = kTick, .category = "test", .name = "tick"});
    std::vector<size_t> counts;
    for (uint32_t i = 0; i < 200'000; ++i) {
        const model::ThreadIndex index{i};
        history.define(model::Thread{.index = index, .pid = i + 1, .tid = i + 1});
        static_cast<void>(history.write({i, model::Instant{kTick, index, {}}}));
        static_cast<void>(
            history.write({i, model::Life{.kind = model::LifeKind::exit, .thread = index}}));
        if (i % 50'000 == 49'999) counts.push_back(Written(history.view()).writer.threads().size());
    }
    // As many as have events in the memory, not as many as there ever were.
    EXPECT_LT(counts.back(), counts.front() * 3 / 2);
}

TEST(EventHistory, AViewIsWrittenWhileEventsComeIn) {
    EventHistory history({.bytes_max = kHistoryBytesMin});
    RandomEvents events(3, history);
    for (int view_count = 0; view_count < 5; ++view_count) {
        for (int i = 0; i < 5000; ++i) events.step();
        const HistoryView view = history.view();
        std::vector<std::string> lines;
        std::thread reader([&] { lines = Written(view).lines; });
        for (int i = 0; i < 5000; ++i) events.step();
        reader.join();
        EXPECT_EQ(lines, Written(view).lines);
    }
}

}  // namespace
}  // namespace tracer::test
