// SPDX-License-Identifier: Apache-2.0
//
// The definitions that the decoder's tests share.
#include "decoder_fixture.h"

namespace tracer {

RecordingDefinitions DecoderTest::standard_definitions() {
    using model::ValueType;
    RecordingDefinitions definitions;
    definitions.record_all = true;
    const auto span = [](uint32_t index, const char* name) {
        return model::Point{.index = model::PointIndex{index},
                            .kind = model::PointKind::span,
                            .category = "app",
                            .name = name,
                            .arguments = {{"x", ValueType::s64}},
                            .end_arguments = {{"r", ValueType::s64}}};
    };
    definitions.points = {
        {.index = model::PointIndex{0},
         .category = "app",
         .name = "event",
         .arguments = {{"a", ValueType::s32}, {"b", ValueType::u64}}},
        {.index = model::PointIndex{1},
         .category = "app",
         .name = "named",
         .arguments = {{"s", ValueType::string}}},
        span(2, "f"),
        span(3, "g"),
        {.index = model::PointIndex{4},
         .kind = model::PointKind::counter,
         .category = "app",
         .name = "level",
         .arguments = {{"v", ValueType::f64}}},
    };
    const auto probe = [](uint32_t id, HitRole role, uint32_t point, ValueType type) {
        return ProbeDefinition{.probe_id = id,
                               .role = role,
                               .point = model::PointIndex{point},
                               .slots = {type},
                               .spec = "test"};
    };
    definitions.probes = {
        {.probe_id = kEvent, .slots = {ValueType::s32, ValueType::u64}, .spec = "test"},
        probe(kNamed, HitRole::instant, 1, ValueType::string),
        probe(kBeginF, HitRole::span_begin, 2, ValueType::s64),
        probe(kEndF, HitRole::span_end, 2, ValueType::s64),
        probe(kBeginG, HitRole::span_begin, 3, ValueType::s64),
        probe(kEndG, HitRole::span_end, 3, ValueType::s64),
        probe(kLevel, HitRole::instant, 4, ValueType::f64),
    };
    return definitions;
}

}  // namespace tracer
