// SPDX-License-Identifier: Apache-2.0
//
// The definitions and hits that the tests of pairs share.
#include "pair_fixture.h"

#include "support/record_builder.h"

namespace tracer {

RecordingDefinitions PairTest::pair_definitions() {
    using model::ValueType;
    RecordingDefinitions definitions = standard_definitions();
    const auto add = [&](const char* name, uint32_t first, PairKey key, ValueType type) {
        const model::PointIndex point{static_cast<uint32_t>(definitions.points.size())};
        const bool has_key = key != PairKey::none;
        const bool is_text = type == ValueType::string;
        definitions.points.push_back({.index = point,
                                      .kind = model::PointKind::span,
                                      .category = "app",
                                      .name = name,
                                      .arguments = {{has_key ? "key" : "x", type}},
                                      .end_arguments = {}});
        auto& end_arguments = definitions.points.back().end_arguments;
        if (!is_text) end_arguments.push_back({"r", ValueType::s64});
        const auto probe = [&](uint32_t id, HitRole role, std::vector<ValueType> slots) {
            definitions.probes.push_back({.probe_id = id,
                                          .role = role,
                                          .point = point,
                                          .slots = std::move(slots),
                                          .key = key,
                                          .spec = std::string("u:app:") + name});
        };
        std::vector<ValueType> end_slots;
        if (has_key) end_slots.push_back(type);
        if (!is_text) end_slots.push_back(ValueType::s64);
        probe(first, HitRole::pair_begin, {type});
        probe(first + kEnd, HitRole::pair_end, end_slots);
        probe(first + kUntil, HitRole::pair_until,
              has_key ? std::vector{type} : std::vector<ValueType>());
    };
    add("p", kP, PairKey::none, ValueType::s64);
    add("q", kQ, PairKey::none, ValueType::s64);
    add("k", kK, PairKey::process, ValueType::u64);
    const model::PointIndex keyed = definitions.points.back().index;
    add("s", kS, PairKey::shared, ValueType::string);
    definitions.probes.push_back({.probe_id = kUntilThread,
                                  .role = HitRole::pair_until,
                                  .point = keyed,
                                  .slots = {},
                                  .spec = "u:app:abort"});
    const model::PointIndex two{static_cast<uint32_t>(definitions.points.size())};
    definitions.points.push_back({.index = two,
                                  .kind = model::PointKind::span,
                                  .category = "app",
                                  .name = "d",
                                  .arguments = {{"key", ValueType::u64}, {"key2", ValueType::u64}},
                                  .end_arguments = {}});
    for (const auto& [id, role] : {std::pair{kD, HitRole::pair_begin},
                                   {kD + kEnd, HitRole::pair_end},
                                   {kD + kUntil, HitRole::pair_until}}) {
        definitions.probes.push_back({.probe_id = id,
                                      .role = role,
                                      .point = two,
                                      .slots = {ValueType::u64, ValueType::u64},
                                      .key = PairKey::process,
                                      .has_second_key = true,
                                      .spec = "u:app:d"});
    }
    return definitions;
}

void PairTest::pair(uint64_t time, uint32_t probe, uint32_t tid, uint32_t tgid) {
    feed(test::make_hit({.time_ns = time, .tgid = tgid, .tid = tid}, probe, {1}));
}

void PairTest::keyed(uint64_t time, uint32_t probe, uint64_t key, uint32_t tid, uint32_t tgid) {
    feed(test::make_hit({.time_ns = time, .tgid = tgid, .tid = tid}, probe, {key, 2}));
}

void PairTest::text(
    uint64_t time, uint32_t probe, std::string_view key, uint32_t tid, uint32_t tgid) {
    feed(test::make_string_hit({.time_ns = time, .tgid = tgid, .tid = tid}, probe, key));
}

void PairTest::two_keys(uint64_t time, uint32_t probe, uint64_t key, uint64_t second) {
    feed(test::make_hit({.time_ns = time, .tgid = 7, .tid = 7}, probe, {key, second}));
}

void PairTest::exit(uint64_t time, uint32_t tid, uint32_t tgid, bool is_last) {
    feed(test::make_task({.time_ns = time, .tgid = tgid, .tid = tid}, TR_KIND_task_exit,
                         {.comm = "x", .task_flags = is_last ? TR_TASK_GROUP_DEAD : 0}));
}

SpanTally PairTest::tally(std::string_view name) const {
    for (auto& tally : decoder_->span_tallies()) {
        if (tally.name == name) return tally;
    }
    ADD_FAILURE() << "no span called " << name;
    return {};
}

}  // namespace tracer
