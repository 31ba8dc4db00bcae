// SPDX-License-Identifier: Apache-2.0
//
// Lines of a frame: what is recorded and what was lost, a row each of what happened, and how the
// durations of one of them are spread. Called by the command line for each interval and key.
#include "session/top/top_drawing.h"

#include "session/human.h"
#include "session/status_line.h"
#include "session/summary_spans.h"
#include "write/text_width.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <tuple>

#include <fmt/format.h>

namespace tracer {
namespace {

constexpr std::array<std::string_view, kTopGroupings> kGroupings{"probe", "thread", "process",
                                                                 "label"};
constexpr std::array<std::string_view, kTopSorts> kSorts{"rate", "count", "p99", "max", "name"};

// Two sets of durations and a name of some length.
constexpr size_t kColumnsForBoth = 130;
// The head, the names of the columns, the others.
constexpr size_t kLinesBesideRows = 3;
// A picture at its largest is larger; what does not fit is cut at the bottom.
constexpr size_t kPictureLines = 14;

double rate_of(uint64_t count, double seconds) {
    return seconds > 0 ? static_cast<double>(count) / seconds : 0;
}

// Few are told to a tenth: "0.5".
std::string rate_text(double rate) {
    if (rate > 0 && rate < 9.95) return fmt::format("{:.1f}", rate);
    return human_count(static_cast<uint64_t>(std::llround(rate)));
}

std::string durations_text(const TopDurations& durations) {
    if (durations.count == 0) return fmt::format("{:>8} {:>8} {:>8} {:>8}", "", "", "", "");
    return fmt::format("{:>8} {:>8} {:>8} {:>8}", human_duration(durations.p50_ns),
                       human_duration(durations.p90_ns), human_duration(durations.p99_ns),
                       human_duration(durations.max_ns));
}

std::string heads_text(std::string_view which) {
    return fmt::format("{:>8} {:>8} {:>8} {:>8}", "p50", "p90", fmt::format("p99{}", which), "max");
}

bool shows_both(const TopView& view) {
    return view.columns == 0 || view.columns >= kColumnsForBoth;
}

std::string row_text(const TopRow& row, double seconds, const TopView& view) {
    std::string text = fmt::format("{:>7} {:>9} {:>11} ", name_of(row.kind),
                                   rate_text(rate_of(row.count, seconds)), human_count(row.total));
    if (shows_both(view)) {
        text += durations_text(row.interval) + "  " + durations_text(row.all);
    } else {
        text += durations_text(view.is_since_start ? row.all : row.interval);
    }
    text += fmt::format("  {}", row.name);
    if (!row.group.empty() && row.group != row.name) text += fmt::format("  {}", row.group);
    if (!row.last.empty()) text += fmt::format("  {}", row.last);
    if (row.cut_total != 0) text += fmt::format("  [{} cut short]", human_count(row.cut_total));
    return text;
}

// What matters most comes first: a narrow terminal cuts the rest.
std::string head_text(const TopFrame& frame, const TopStatus& status, const TopView& view) {
    std::string text =
        fmt::format("{}{}  {} events/s  ", view.is_paused ? "PAUSED  " : "",
                    clock_text(status.seconds), rate_text(rate_of(frame.events, frame.seconds)));
    text += frame.lost_total == 0 ? std::string("nothing lost")
                                  : fmt::format("LOST {}, {} now", human_count(frame.lost_total),
                                                human_count(frame.lost));
    text += fmt::format("  by {}, sorted by {}  rings {:.0f} % of {}  {}", name_of(view.grouping),
                        name_of(view.sort), status.ring_fill * 100, human_bytes(status.ring_bytes),
                        status.target);
    return text;
}

std::string columns_text(const TopView& view) {
    std::string text = fmt::format("{:>7} {:>9} {:>11} ", "", "rate/s", "total");
    if (shows_both(view)) {
        text += heads_text("") + "  " + heads_text(" all");
    } else {
        text += heads_text(view.is_since_start ? " all" : "");
    }
    return text + "  name";
}

constexpr std::string_view kKeys =
    "q quit  s sort  b group by  p pause  h histogram  t interval or all  up, down: choose a row";

// The row that the picture is of.
const TopRow* pictured(const std::vector<const TopRow*>& rows, const TopView& view) {
    if (view.selected) {
        for (const TopRow* row : rows) {
            if (row_key(*row) == *view.selected) return row;
        }
    }
    for (const TopRow* row : rows) {
        if (row->all.count != 0) return row;
    }
    return nullptr;
}

void add_picture(const TopRow* row, const TopView& view, std::vector<std::string>& lines) {
    const TopDurations* durations = nullptr;
    if (row != nullptr) durations = view.is_since_start ? &row->all : &row->interval;
    if (durations == nullptr || durations->count == 0) {
        lines.emplace_back("no span has ended here in this interval");
        return;
    }
    lines.push_back(fmt::format("{} {}, {}:", row->name, row->group,
                                view.is_since_start ? "since the start" : "this interval"));
    const std::string picture = duration_picture(durations->by_power_of_two);
    for (size_t at = 0; at < picture.size();) {
        const size_t end = picture.find('\n', at);
        lines.push_back(picture.substr(at, end - at));
        at = end + 1;
    }
}

}  // namespace

std::string_view name_of(TopGrouping grouping) {
    return kGroupings[static_cast<size_t>(grouping)];
}

std::string_view name_of(TopSort sort) {
    return kSorts[static_cast<size_t>(sort)];
}

std::string_view name_of(TopKind kind) {
    constexpr std::array<std::string_view, 4> kKinds{"event", "span", "counter", "on CPU"};
    return kKinds[static_cast<size_t>(kind)];
}

std::optional<TopGrouping> find_top_grouping(std::string_view name) {
    const auto found = std::ranges::find(kGroupings, name);
    if (found == kGroupings.end()) return std::nullopt;
    return static_cast<TopGrouping>(found - kGroupings.begin());
}

std::optional<TopSort> find_top_sort(std::string_view name) {
    const auto found = std::ranges::find(kSorts, name);
    if (found == kSorts.end()) return std::nullopt;
    return static_cast<TopSort>(found - kSorts.begin());
}

std::string row_key(const TopRow& row) {
    return fmt::format("{}\n{}\n{}", row.category, row.name, row.group);
}

std::vector<const TopRow*> sorted_rows(const TopFrame& frame, const TopView& view) {
    std::vector<const TopRow*> rows;
    for (const TopRow& row : frame.rows(view.grouping).rows) rows.push_back(&row);
    const auto number = [&](const TopRow& row) -> uint64_t {
        switch (view.sort) {
            case TopSort::rate:
                return row.count;
            case TopSort::count:
                return row.total;
            case TopSort::p99:
                return view.is_since_start ? row.all.p99_ns : row.interval.p99_ns;
            case TopSort::max:
                return view.is_since_start ? row.all.max_ns : row.interval.max_ns;
            case TopSort::name:
                return 0;
        }
        return 0;
    };
    // Those that are equal stay in one order, whatever the table has them in.
    std::ranges::sort(rows, [&](const TopRow* left, const TopRow* right) {
        const uint64_t left_number = number(*left);
        const uint64_t right_number = number(*right);
        if (left_number != right_number) return left_number > right_number;
        return std::tie(left->name, left->group, left->category) <
               std::tie(right->name, right->group, right->category);
    });
    size_t rows_max = view.rows_max;
    if (view.lines != 0) {
        size_t beside = kLinesBesideRows + (view.has_keys ? 1 : 0);
        if (view.has_histogram) beside += std::min(kPictureLines, view.lines / 2);
        rows_max = std::min(rows_max, view.lines > beside ? view.lines - beside : 1);
    }
    if (rows.size() > rows_max) rows.resize(rows_max);
    return rows;
}

TopDrawing draw_top(const TopFrame& frame, const TopStatus& status, const TopView& view) {
    TopDrawing drawing;
    std::vector<std::string>& lines = drawing.lines;
    lines.push_back(head_text(frame, status, view));
    lines.push_back(columns_text(view));
    const std::vector<const TopRow*> rows = sorted_rows(frame, view);
    for (const TopRow* row : rows) {
        if (view.selected && row_key(*row) == *view.selected) drawing.selected_line = lines.size();
        lines.push_back(row_text(*row, frame.seconds, view));
    }
    const TopRows& all = frame.rows(view.grouping);
    const size_t hidden = all.rows.size() - rows.size();
    if (hidden != 0 || all.others_total != 0) {
        std::string text = fmt::format("{:>7}", "");
        if (hidden != 0) text += fmt::format(" {} more rows", human_count(hidden));
        if (all.others_total != 0) {
            text += fmt::format(" {} events of others, now {}", human_count(all.others_total),
                                human_count(all.others));
        }
        lines.push_back(std::move(text));
    }
    if (view.has_histogram) add_picture(pictured(rows, view), view, lines);
    const size_t lines_max =
        view.lines > (view.has_keys ? 1u : 0u) ? view.lines - (view.has_keys ? 1 : 0) : view.lines;
    if (view.lines != 0 && lines.size() > lines_max) lines.resize(lines_max);
    if (view.has_keys) lines.emplace_back(kKeys);
    if (view.columns != 0) {
        for (std::string& line : lines) line = cut_to_width(line, view.columns);
    }
    return drawing;
}

}  // namespace tracer
