// SPDX-License-Identifier: Apache-2.0
#include "unit/ring/ring_lines.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace tracer::test {
namespace {

std::string_view kind_name(ring::EventKind kind) {
    using ring::EventKind;
    switch (kind) {
        case EventKind::lifecycle:
            return "lifecycle";
        case EventKind::begin:
            return "begin";
        case EventKind::end:
            return "end";
        case EventKind::counter:
            return "counter";
        case EventKind::alloc:
            return "alloc";
        case EventKind::user_unit:
            return "user_unit";
        case EventKind::user_int:
            return "user_int";
        case EventKind::user_begin:
            return "user_begin";
        case EventKind::user_end:
            return "user_end";
        case EventKind::user_custom:
            return "user_custom";
        case EventKind::unknown:
            return "unknown";
    }
    return "?";
}

}  // namespace

ring::Flow RingLines::on_event(const ring::Event& event) {
    using ring::EventKind;
    nlohmann::ordered_json line{
        {"ring", event.ring}, {"ts", event.time_ns}, {"kind", kind_name(event.kind)}};
    if (event.kind == EventKind::alloc) {
        line["buckets"] = event.words;
    } else {
        line["id"] = event.id;
        line["name"] = cursor_.name_of(event);
    }
    if (event.kind == EventKind::user_custom) {
        std::string hex;
        for (const std::byte byte : event.bytes) hex += fmt::format("{:02x}", byte);
        line["hex"] = hex;
    }
    if (event.has_value) {
        line["value"] = event.value;
    } else if (event.kind == EventKind::lifecycle) {
        line["value"] = nullptr;
    }
    lines_.push_back(line.dump(-1, ' ', true));
    return ring::Flow::go_on;
}

ring::Flow RingLines::on_lost(const ring::Lost& lost) {
    lines_.push_back(
        fmt::format("{{\"ring\":{},\"kind\":\"lost\",\"words\":{}}}", lost.ring, lost.words));
    return ring::Flow::go_on;
}

ring::Flow RingLines::on_restart() {
    lines_.emplace_back("restart");
    return ring::Flow::go_on;
}

}  // namespace tracer::test
