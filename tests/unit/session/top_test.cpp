// SPDX-License-Identifier: Apache-2.0
//
// `tracer top` without a terminal: what is counted, and what a frame looks like.
#include "session/top/top_drawing.h"
#include "session/top/top_output.h"
#include "session/top/top_table.h"
#include "support/record_builder.h"
#include "write/text_width.h"

#include <algorithm>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace tracer {
namespace {

using nlohmann::json;

constexpr uint64_t kSecond = 1'000'000'000;
constexpr uint64_t kMs = 1'000'000;
constexpr model::ThreadIndex kMain{0};
constexpr model::ThreadIndex kWorker{1};
constexpr model::ThreadIndex kOther{2};
constexpr model::PointIndex kTick{0};
constexpr model::PointIndex kLoad{1};
constexpr model::PointIndex kWork{2};
constexpr model::PointIndex kEvil{3};

TopTableOptions all_groupings() {
    TopTableOptions options;
    options.groupings.fill(true);
    return options;
}

class Top : public testing::Test {
protected:
    Top() { start(all_groupings()); }

    void start(const TopTableOptions& options) {
        table_.emplace(options);
        table_->begin(kSecond);
        const auto thread = [&](model::ThreadIndex index, uint32_t pid, uint32_t tid) {
            table_->define(model::Thread{
                .index = index, .pid = pid, .tid = tid, .thread_name = "t", .process_name = "app"});
        };
        thread(kMain, 100, 100);
        thread(kWorker, 100, 101);
        thread(kOther, 200, 200);
        table_->define(model::Point{.index = kTick, .category = "lib", .name = "tick"});
        table_->define(model::Point{.index = kLoad,
                                    .kind = model::PointKind::counter,
                                    .category = "lib",
                                    .name = "load",
                                    .arguments = {{"free", model::ValueType::s32},
                                                  {"what", model::ValueType::string},
                                                  {"used", model::ValueType::s32}}});
        table_->define(model::Point{
            .index = kWork, .kind = model::PointKind::span, .category = "lib", .name = "work"});
        table_->define(model::Point{.index = kEvil, .category = "lib", .name = "\x1b[2Jü"});
    }

    void write(uint64_t time_ns, const model::EventBody& body) {
        EXPECT_EQ(table_->write({time_ns, body}), WriteStatus::ok);
    }
    void ticks(model::ThreadIndex thread, int count, std::string_view name = {}) {
        for (int i = 0; i < count; ++i) write(kSecond, model::Instant{kTick, thread, {}, name});
    }
    void span(model::ThreadIndex thread,
              uint64_t ns,
              std::string_view name = {},
              model::SpanEndCause cause = model::SpanEndCause::returned) {
        write(kSecond, model::SpanBegin{kWork, thread, {}, name});
        write(kSecond + ns, model::SpanEnd{kWork, thread, cause, {}});
    }
    TopFrame close(uint64_t seconds = 1) {
        now_ns_ += seconds * kSecond;
        return table_->close_interval(now_ns_);
    }
    static std::string lines(const TopFrame& frame, const TopView& view) {
        std::string text;
        const TopStatus status{
            .target = "app (pid 100)", .seconds = 65, .ring_fill = 0.034, .ring_bytes = 4 << 20};
        for (const std::string& line : draw_top(frame, status, view).lines) text += line + "\n";
        return text;
    }
    static const TopRow* find(const TopFrame& frame,
                              TopGrouping grouping,
                              std::string_view name,
                              std::string_view group = {}) {
        for (const TopRow& row : frame.rows(grouping).rows) {
            if (row.name == name && row.group == group) return &row;
        }
        return nullptr;
    }

    std::optional<TopTable> table_;
    uint64_t now_ns_ = kSecond;
};

TEST_F(Top, CountsByProbeThreadProcessAndLabel) {
    ticks(kMain, 3);
    ticks(kWorker, 2, "two");
    ticks(kOther, 1, "two");
    const TopFrame frame = close();
    EXPECT_EQ(frame.events, 6u);
    const auto count = [&](TopGrouping grouping, std::string_view group) {
        const TopRow* row = find(frame, grouping, "tick", group);
        return row != nullptr ? row->count : 0;
    };
    EXPECT_EQ(count(TopGrouping::probe, ""), 6u);
    EXPECT_EQ(count(TopGrouping::thread, "app(100)/t(100)"), 3u);
    EXPECT_EQ(count(TopGrouping::thread, "app(100)/t(101)"), 2u);
    EXPECT_EQ(count(TopGrouping::process, "app(100)"), 5u);
    EXPECT_EQ(count(TopGrouping::process, "app(200)"), 1u);
    EXPECT_EQ(count(TopGrouping::label, "tick"), 3u);
    EXPECT_EQ(count(TopGrouping::label, "two"), 3u);
}

TEST_F(Top, CountsEachEventInOneInterval) {
    ticks(kMain, 3);
    EXPECT_EQ(close().rows(TopGrouping::probe).rows.at(0).count, 3u);
    ticks(kMain, 4);
    const TopFrame second = close();
    EXPECT_EQ(second.rows(TopGrouping::probe).rows.at(0).count, 4u);
    EXPECT_EQ(second.rows(TopGrouping::probe).rows.at(0).total, 7u);
    EXPECT_EQ(second.events_total, 7u);
    const TopFrame third = close();
    EXPECT_EQ(third.rows(TopGrouping::probe).rows.at(0).count, 0u);
    EXPECT_EQ(third.rows(TopGrouping::probe).rows.at(0).total, 7u);
    EXPECT_EQ(third.seconds, 1);
}

TEST_F(Top, MeasuresSpansOfTheIntervalAndOfAll) {
    for (int i = 1; i <= 100; ++i) span(kMain, static_cast<uint64_t>(i) * kMs);
    TopFrame frame = close();
    const TopRow* row = find(frame, TopGrouping::probe, "work");
    ASSERT_NE(row, nullptr);
    EXPECT_EQ(row->kind, TopKind::span);
    const auto is_near = [](uint64_t value, uint64_t expected) {
        return value > expected / 100 * 98 && value < expected / 100 * 102;
    };
    EXPECT_TRUE(is_near(row->interval.p50_ns, 50 * kMs)) << row->interval.p50_ns;
    EXPECT_TRUE(is_near(row->interval.p90_ns, 90 * kMs)) << row->interval.p90_ns;
    EXPECT_TRUE(is_near(row->interval.p99_ns, 99 * kMs)) << row->interval.p99_ns;
    EXPECT_EQ(row->interval.max_ns, 100 * kMs);
    EXPECT_EQ(row->interval.sum_ns, 5050 * kMs);
    span(kMain, kMs);
    frame = close();
    row = find(frame, TopGrouping::probe, "work");
    EXPECT_EQ(row->interval.count, 1u);
    EXPECT_EQ(row->interval.max_ns, kMs);
    EXPECT_EQ(row->all.count, 101u);
    EXPECT_EQ(row->all.max_ns, 100 * kMs);
}

TEST_F(Top, SaysNothingOfHowLongARepairedSpanTook) {
    span(kMain, kMs);
    span(kMain, 500 * kMs, "", model::SpanEndCause::lost_events);
    // Still open at the end: it has not happened.
    span(kMain, 900 * kMs, "", model::SpanEndCause::recording_end);
    const TopFrame frame = close();
    const TopRow* row = find(frame, TopGrouping::probe, "work");
    ASSERT_NE(row, nullptr);
    EXPECT_EQ(row->count, 2u);
    EXPECT_EQ(row->cut, 1u);
    EXPECT_EQ(row->interval.count, 1u);
    EXPECT_EQ(row->interval.max_ns, kMs);
}

TEST_F(Top, PairsSpansThatDoNotNestByTheirIds) {
    write(kSecond, model::AsyncBegin{kWork, kMain, 7, {}, "a"});
    write(kSecond, model::AsyncBegin{kWork, kMain, 8, {}, "b"});
    write(kSecond + kMs, model::AsyncEnd{.point = kWork, .thread = kWorker, .id = 7});
    write(kSecond + 3 * kMs, model::AsyncEnd{.point = kWork, .thread = kWorker, .id = 8});
    const TopFrame frame = close();
    EXPECT_EQ(find(frame, TopGrouping::label, "work", "a")->interval.max_ns, kMs);
    EXPECT_EQ(find(frame, TopGrouping::label, "work", "b")->interval.max_ns, 3 * kMs);
    EXPECT_EQ(table_->write({kSecond, model::AsyncEnd{.point = kWork, .thread = kMain, .id = 7}}),
              WriteStatus::refused);
}

TEST_F(Top, MeasuresHowLongThreadsAreOnCpus) {
    const auto change = [&](uint64_t ns, model::ThreadIndex out, model::ThreadIndex in) {
        write(kSecond + ns, model::Switch{0, out, model::ThreadState::sleeping, 120, in, 120});
    };
    change(0, model::kIdleThread, kMain);
    change(2 * kMs, kMain, kWorker);
    change(3 * kMs, kWorker, model::kIdleThread);
    change(900 * kMs, model::kIdleThread, kMain);
    const TopFrame frame = close();
    const TopRow* row = find(frame, TopGrouping::thread, "on CPU", "app(100)/t(100)");
    ASSERT_NE(row, nullptr);
    EXPECT_EQ(row->interval.sum_ns, 2 * kMs);
    EXPECT_EQ(find(frame, TopGrouping::thread, "on CPU", "app(100)/t(101)")->interval.sum_ns, kMs);
    EXPECT_EQ(find(frame, TopGrouping::probe, "on CPU")->count, 2u);
}

TEST_F(Top, CountsLoss) {
    write(kSecond, model::Loss{model::LossCause::ring_full, 0, 0, 12});
    EXPECT_EQ(close().lost, 12u);
    write(kSecond, model::Loss{model::LossCause::ring_full, 0, 0, 5});
    const TopFrame frame = close();
    EXPECT_EQ(frame.lost, 5u);
    EXPECT_EQ(frame.lost_total, 17u);
}

// However many labels there are: what has no row is counted with the others, and rows that say
// nothing more make room.
TEST_F(Top, IsBounded) {
    TopTableOptions options = all_groupings();
    options.rows_max = 8;
    start(options);
    for (int i = 0; i < 20; ++i) ticks(kMain, 1, "label " + std::to_string(i));
    TopFrame frame = close();
    EXPECT_EQ(frame.rows(TopGrouping::label).rows.size(), 8u);
    EXPECT_EQ(frame.rows(TopGrouping::label).others, 12u);
    EXPECT_EQ(frame.rows(TopGrouping::probe).rows.at(0).count, 20u);
    ticks(kMain, 2, "label 0");
    frame = close();
    EXPECT_NE(find(frame, TopGrouping::label, "tick", "label 0"), nullptr);
    // The first rows are still for the second time: half of the table is free now.
    for (int i = 0; i < 4; ++i) ticks(kMain, 1, "new " + std::to_string(i));
    frame = close();
    uint64_t total = frame.rows(TopGrouping::label).others_total;
    for (const TopRow& row : frame.rows(TopGrouping::label).rows) total += row.total;
    EXPECT_EQ(total, 26u);
    EXPECT_LE(frame.rows(TopGrouping::label).rows.size(), 8u);
    EXPECT_NE(find(frame, TopGrouping::label, "tick", "label 0"), nullptr);
    EXPECT_NE(find(frame, TopGrouping::label, "tick", "new 3"), nullptr);
}

TEST_F(Top, DrawsATable) {
    ticks(kMain, 1234);
    span(kMain, 2 * kMs);
    span(kMain, 4 * kMs, "", model::SpanEndCause::unwound);
    const std::vector<model::Value> values{{.type = model::ValueType::s32, .bits = 3},
                                           {.type = model::ValueType::string, .text = "x"},
                                           {.type = model::ValueType::s32, .bits = 5}};
    write(kSecond, model::Counter{kLoad, kMain, values});
    EXPECT_EQ(
        lines(close(2), {.columns = 90}),
        "00:01:05  619 events/s  nothing lost  by probe, sorted by rate  rings 3 % of 4.0 MiB  "
        "app…\n"
        "           rate/s       total      p50      p90      p99      max  name\n"
        "  event       617       1,234                                      tick\n"
        "   span       1.0           2     2 ms     2 ms     2 ms     2 ms  work  [1 cut short]\n"
        "counter       0.5           1                                      load  free=3 used=5\n");
}

TEST_F(Top, DrawsWhatIsSinceTheStartWhereThereIsRoomOrAsked) {
    span(kMain, 100 * kMs);
    close();
    span(kMain, 2 * kMs);
    const TopFrame frame = close();
    const std::string both = lines(frame, {});
    EXPECT_NE(both.find("     p50      p90      p99      max       p50      p90  p99 all      max"),
              std::string::npos)
        << both;
    EXPECT_NE(both.find("    2 ms     2 ms     2 ms     2 ms   2.02 ms"), std::string::npos)
        << both;
    EXPECT_NE(both.find("  100 ms  work"), std::string::npos) << both;
    const std::string all = lines(frame, {.columns = 90, .is_since_start = true});
    EXPECT_NE(all.find("  100 ms  work"), std::string::npos) << all;
    EXPECT_NE(all.find("p99 all"), std::string::npos) << all;
}

TEST_F(Top, SortsByEveryColumn) {
    ticks(kMain, 5, "a");
    ticks(kMain, 3, "b");
    close();
    ticks(kMain, 1, "a");
    ticks(kMain, 3, "b");
    span(kMain, 7 * kMs, "c");
    const TopFrame frame = close();
    const auto order = [&](TopSort sort) {
        std::string text;
        for (const TopRow* row :
             sorted_rows(frame, {.grouping = TopGrouping::label, .sort = sort})) {
            text += row->group;
        }
        return text;
    };
    EXPECT_EQ(order(TopSort::rate), "bac");
    EXPECT_EQ(order(TopSort::count), "abc");
    EXPECT_EQ(order(TopSort::p99), "cab");
    EXPECT_EQ(order(TopSort::max), "cab");
    EXPECT_EQ(order(TopSort::name), "abc");
}

TEST_F(Top, FitsItsTerminalWhateverNamesAre) {
    for (int i = 0; i < 50; ++i) ticks(kMain, i + 1, fmt::format("日本語 label {} {:>80}", i, "x"));
    write(kSecond, model::Instant{kEvil, kMain, {}});
    span(kMain, kMs);
    span(kMain, 40 * kMs);
    const TopFrame frame = close();
    for (const size_t columns : {1, 20, 79, 80, 129, 130, 200}) {
        for (const size_t rows : {1, 2, 5, 10, 24, 100}) {
            const TopView view{.grouping = TopGrouping::label,
                               .rows_max = 1000,
                               .columns = columns,
                               .lines = rows,
                               .has_histogram = true,
                               .has_keys = true};
            const TopDrawing drawing = draw_top(frame, {}, view);
            EXPECT_LE(drawing.lines.size(), std::max<size_t>(rows, 2)) << columns << " " << rows;
            for (const std::string& line : drawing.lines) {
                EXPECT_LE(display_width(line), columns) << line;
                EXPECT_EQ(line.find('\x1b'), std::string::npos) << line;
            }
        }
    }
}

TEST_F(Top, DrawsHowTheDurationsOfTheChosenRowAreSpread) {
    for (int i = 0; i < 3; ++i) span(kMain, 1000, "quick");
    span(kMain, 5000, "slow");
    TopView view{.grouping = TopGrouping::label, .has_histogram = true};
    const TopFrame frame = close();
    std::string text = lines(frame, view);
    EXPECT_NE(text.find("work quick, this interval:\n"), std::string::npos) << text;
    EXPECT_NE(text.find("| 3\n"), std::string::npos) << text;
    view.selected = row_key(*find(frame, TopGrouping::label, "work", "slow"));
    text = lines(frame, view);
    EXPECT_NE(text.find("work slow, this interval:\n"), std::string::npos) << text;
    EXPECT_EQ(draw_top(frame, {}, view).selected_line, 3u);
}

TEST_F(Top, SpellsAFrameAsOneLineOfJson) {
    write(kSecond, model::ClockReading{.monotonic_ns = 1, .realtime_ns = 5 * kSecond});
    ticks(kMain, 3, "own\x1b\x7f");
    span(kMain, 2 * kMs);
    write(kSecond, model::Loss{model::LossCause::ring_full, 0, 0, 12});
    const std::string line =
        top_json(close(), {.ring_fill = 0.25},
                 {.grouping = TopGrouping::label, .sort = TopSort::name, .has_histogram = true});
    EXPECT_EQ(std::ranges::count(line, '\n'), 1);
    EXPECT_TRUE(
        std::ranges::all_of(line, [](char c) { return c == '\n' || (c >= ' ' && c < 0x7f); }));
    json frame = json::parse(line);
    EXPECT_EQ(frame.at("rows").at(1).at("all").at("log2"), json::parse("[[1048576, 1]]"));
    frame["rows"][1]["all"] = nullptr;
    frame["rows"][1]["interval"].erase("log2");
    EXPECT_EQ(frame, json::parse(R"({"time": "1970-01-01T00:00:06.000000000Z", "ns": 2000000000,
        "seconds": 1.0, "events": 4, "events_total": 4, "lost": 12, "lost_total": 12,
        "ring_fill": 0.25, "by": "label", "rows": [
        {"kind": "event", "category": "lib", "name": "tick", "group": "own\\x1b\\u007f",
         "count": 3, "rate": 3.0, "total": 3},
        {"kind": "span", "category": "lib", "name": "work", "group": "work", "count": 1,
         "rate": 1.0, "total": 1, "cut": 0, "cut_total": 0, "all": null, "interval":
         {"count": 1, "sum_ns": 2000000, "p50_ns": 2000000, "p90_ns": 2000000, "p99_ns": 2000000,
          "max_ns": 2000000}}],
        "rows_not_shown": 0, "others": 0, "others_total": 0})"));
}

TEST(TopFrames, LetsTheOldestGoWhereNobodyReads) {
    auto frames = TopFrames::make();
    ASSERT_TRUE(frames);
    EXPECT_TRUE((*frames)->take().empty());
    for (uint64_t i = 0; i < TopFrames::kWaitingMax + 3; ++i) (*frames)->push({.time_ns = i});
    const auto taken = (*frames)->take();
    ASSERT_EQ(taken.size(), TopFrames::kWaitingMax);
    EXPECT_EQ(taken.front().time_ns, 3u);
    EXPECT_EQ((*frames)->dropped(), 3u);
    EXPECT_TRUE((*frames)->take().empty());
}

// From records to a frame; what is left comes with the end.
TEST(TopOutput, CountsWhatTheDecoderSays) {
    RecordingDefinitions definitions;
    definitions.points = {{.index = model::PointIndex{0}, .category = "app", .name = "tick"}};
    ProbeDefinition probe;
    probe.probe_id = TR_PROBE_FIRST_USER;
    probe.point = model::PointIndex{0};
    definitions.probes = {probe};
    definitions.record_all = true;
    auto frames = TopFrames::make();
    ASSERT_TRUE(frames);
    const auto output = make_top_output(definitions, {.frames = frames->get()});
    output->flush();
    for (uint64_t i = 1; i <= 5; ++i) {
        output->handler().on_record(
            test::make_hit({.time_ns = i, .tgid = 7, .tid = 7}, TR_PROBE_FIRST_USER, {}));
    }
    EXPECT_FALSE(output->check_switch());
    EXPECT_TRUE(output->finish(10, {}));
    const auto taken = (*frames)->take();
    ASSERT_EQ(taken.size(), 1u);
    EXPECT_EQ(taken.front().events, 5u);
    EXPECT_EQ(taken.front().rows(TopGrouping::probe).rows.at(0).total, 5u);
    EXPECT_EQ(output->received(TR_PROBE_FIRST_USER), 5u);
    EXPECT_TRUE(output->close());
}

}  // namespace
}  // namespace tracer
