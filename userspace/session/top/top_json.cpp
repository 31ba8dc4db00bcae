// SPDX-License-Identifier: Apache-2.0
//
// A frame for a program: one line, keys as in README.md and only ever added.
#include "session/top/top_drawing.h"
#include "write/human_text.h"

#include <nlohmann/json.hpp>

namespace tracer {
namespace {

using Json = nlohmann::ordered_json;

Json durations_json(const TopDurations& durations, bool has_histogram) {
    Json json = {{"count", durations.count},   {"sum_ns", durations.sum_ns},
                 {"p50_ns", durations.p50_ns}, {"p90_ns", durations.p90_ns},
                 {"p99_ns", durations.p99_ns}, {"max_ns", durations.max_ns}};
    if (!has_histogram) return json;
    Json log2 = Json::array();
    for (size_t i = 0; i < durations.by_power_of_two.size(); ++i) {
        const uint64_t count = durations.by_power_of_two[i];
        if (count != 0) log2.push_back({i == 0 ? 0 : uint64_t{1} << (i - 1), count});
    }
    json["log2"] = std::move(log2);
    return json;
}

Json row_json(const TopRow& row, double seconds, bool has_histogram) {
    Json json = {{"kind", name_of(row.kind)}, {"category", row.category}, {"name", row.name}};
    if (!row.group.empty()) json["group"] = row.group;
    json["count"] = row.count;
    json["rate"] = seconds > 0 ? static_cast<double>(row.count) / seconds : 0.0;
    json["total"] = row.total;
    if (row.kind == TopKind::span || row.kind == TopKind::on_cpu) {
        json["cut"] = row.cut;
        json["cut_total"] = row.cut_total;
        json["interval"] = durations_json(row.interval, has_histogram);
        json["all"] = durations_json(row.all, has_histogram);
    }
    if (!row.last.empty()) json["last"] = row.last;
    return json;
}

}  // namespace

std::string top_json(const TopFrame& frame, const TopStatus& status, const TopView& view) {
    Json json;
    if (frame.realtime_ns) json["time"] = utc_text(*frame.realtime_ns);
    json["ns"] = frame.time_ns;
    json["seconds"] = frame.seconds;
    json["events"] = frame.events;
    json["events_total"] = frame.events_total;
    json["lost"] = frame.lost;
    json["lost_total"] = frame.lost_total;
    json["ring_fill"] = status.ring_fill;
    json["by"] = name_of(view.grouping);
    Json rows = Json::array();
    for (const TopRow* row : sorted_rows(frame, view)) {
        rows.push_back(row_json(*row, frame.seconds, view.has_histogram));
    }
    json["rows"] = std::move(rows);
    const TopRows& all = frame.rows(view.grouping);
    json["rows_not_shown"] = all.rows.size() - json["rows"].size();
    json["others"] = all.others;
    json["others_total"] = all.others_total;
    // ASCII, so that no character of a target's is more than that.
    return json.dump(-1, ' ', true, Json::error_handler_t::replace) + "\n";
}

}  // namespace tracer
