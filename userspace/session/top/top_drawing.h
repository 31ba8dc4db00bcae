// SPDX-License-Identifier: Apache-2.0
//
// A frame as lines of text: what is drawn, without where. No escape sequences and no wider than
// asked, so it is the same on a terminal, in a pipe and in a test.
#pragma once

#include "session/top/top_frame.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tracer {

enum class TopSort : uint8_t { rate, count, p99, max, name };
inline constexpr size_t kTopSorts = 5;

[[nodiscard]] std::string_view name_of(TopGrouping grouping);
[[nodiscard]] std::string_view name_of(TopSort sort);
[[nodiscard]] std::string_view name_of(TopKind kind);
[[nodiscard]] std::optional<TopGrouping> find_top_grouping(std::string_view name);
[[nodiscard]] std::optional<TopSort> find_top_sort(std::string_view name);

// What is known of the recording beside its events.
struct TopStatus {
    std::string target;       // "app (pid 1234)"
    double seconds = 0;       // since all was armed
    double ring_fill = 0;     // of the fullest, 0..1
    uint64_t ring_bytes = 0;  // of each
};

struct TopView {
    TopGrouping grouping = TopGrouping::probe;
    TopSort sort = TopSort::rate;
    size_t rows_max = 20;
    size_t columns = 0;  // 0: as many as it takes
    size_t lines = 0;    // the same
    bool has_histogram = false;
    bool is_since_start = false;  // of durations, where there is no room for both
    bool is_paused = false;
    bool has_keys = false;  // a last line tells which
    // The row that the histogram is of: a key of `selected`, or else the first span.
    std::optional<std::string> selected;
};

// Which row is which from frame to frame.
[[nodiscard]] std::string row_key(const TopRow& row);

// The rows of the view in its order, at most rows_max and as many as there are lines for.
[[nodiscard]] std::vector<const TopRow*> sorted_rows(const TopFrame& frame, const TopView& view);

struct TopDrawing {
    std::vector<std::string> lines;
    std::optional<size_t> selected_line;
};
[[nodiscard]] TopDrawing draw_top(const TopFrame& frame,
                                  const TopStatus& status,
                                  const TopView& view);

// One line of JSON (README.md).
[[nodiscard]] std::string top_json(const TopFrame& frame,
                                   const TopStatus& status,
                                   const TopView& view);

}  // namespace tracer
