// SPDX-License-Identifier: Apache-2.0
//
// Any bytes as a stream of records, cut as a source might cut them, through a writer whose sink
// fills up at times that the input chooses. The decoder must keep the rules it owes every format:
// no read outside a record, ends that match their begins, nothing left open at the end.
#include "decode/decoder.h"
#include "support/recording_writer.h"
#include "tracer/abi/event.h"
#include "tracer/base/byte_cursor.h"
#include "tracer/base/result.h"

#include <cstdio>
#include <memory>
#include <utility>
#include <vector>

namespace {

using tracer::HitRole;
using tracer::model::ValueType;

// Counters, states, frames and names, with lines of their values.
void add_meanings(tracer::RecordingDefinitions& definitions) {
    const tracer::NamePiece first{{}, 0};
    const auto add = [&](uint32_t id, HitRole role, uint32_t point, std::vector<ValueType> slots,
                         bool has_line) -> tracer::ProbeDefinition& {
        auto& probe = definitions.probes.emplace_back();
        probe.probe_id = id;
        probe.role = role;
        probe.point = tracer::model::PointIndex{point};
        probe.slots = std::move(slots);
        if (has_line) probe.line = {first};
        return probe;
    };
    add(26, HitRole::instant, 4, {ValueType::f64, ValueType::string}, false).name = {{{}, 1}};
    add(27, HitRole::state, 5, {ValueType::string}, true).name = {first};
    for (const auto& [id, role] : {std::pair{28U, HitRole::pair_begin},
                                   {29U, HitRole::pair_end},
                                   {30U, HitRole::pair_until}}) {
        add(id, role, 6, {ValueType::u64}, role == HitRole::pair_begin).key =
            tracer::PairKey::frame;
    }
    add(31, HitRole::thread_name, 7, {ValueType::string}, false).name = {first};
    add(32, HitRole::process_name, 7, {ValueType::string}, false).name = {first};
}

tracer::RecordingDefinitions make_definitions(uint8_t choice) {
    tracer::RecordingDefinitions definitions;
    definitions.record_all = (choice & 1) != 0;
    definitions.follow_children = (choice & 2) != 0;
    definitions.own_pid = (choice & 4) != 0 ? 7 : 0;
    definitions.pids = {8, 9};
    definitions.tids = {10};
    definitions.points = {
        {.index = tracer::model::PointIndex{0},
         .name = "event",
         .arguments = {{"a", ValueType::s32}, {"s", ValueType::string}, {"f", ValueType::f64}}},
        {.index = tracer::model::PointIndex{1},
         .kind = tracer::model::PointKind::span,
         .name = "span"},
        {.index = tracer::model::PointIndex{2},
         .kind = tracer::model::PointKind::span,
         .name = "pair"},
        {.index = tracer::model::PointIndex{3},
         .kind = tracer::model::PointKind::span,
         .name = "keyed",
         .arguments = {{"key", ValueType::string}}},
        {.index = tracer::model::PointIndex{4},
         .kind = tracer::model::PointKind::counter,
         .name = "counter",
         .arguments = {{"n", ValueType::f64}, {"s", ValueType::string}}},
        {.index = tracer::model::PointIndex{5},
         .kind = tracer::model::PointKind::span,
         .name = "state",
         .arguments = {{"s", ValueType::string}}},
        {.index = tracer::model::PointIndex{6},
         .kind = tracer::model::PointKind::span,
         .name = "frame",
         .arguments = {{"k", ValueType::u64}}},
        {.index = tracer::model::PointIndex{7},
         .name = "name",
         .arguments = {{"s", ValueType::string}}},
        {.index = tracer::model::PointIndex{8},
         .name = "thrown",
         .arguments = {{"type", ValueType::string}}}};
    definitions.names = {{8, 0, "eight"}, {8, 10, "ten"}};
    definitions.probes = {
        {.probe_id = 16, .slots = {ValueType::s32, ValueType::string, ValueType::f64}},
        {.probe_id = 17, .role = HitRole::span_begin, .point = tracer::model::PointIndex{1}},
        {.probe_id = 18, .role = HitRole::span_end, .point = tracer::model::PointIndex{1}}};
    const auto add = [&](uint32_t id, HitRole role, uint32_t point, tracer::PairKey key) {
        tracer::ProbeDefinition probe{
            .probe_id = id, .role = role, .point = tracer::model::PointIndex{point}, .key = key};
        if (key != tracer::PairKey::none) probe.slots.push_back(ValueType::string);
        definitions.probes.push_back(probe);
    };
    const auto scope = (choice & 8) != 0 ? tracer::PairKey::shared : tracer::PairKey::process;
    add(19, HitRole::pair_begin, 2, tracer::PairKey::none);
    add(20, HitRole::pair_end, 2, tracer::PairKey::none);
    add(21, HitRole::pair_until, 2, tracer::PairKey::none);
    add(22, HitRole::pair_begin, 3, scope);
    add(23, HitRole::pair_end, 3, scope);
    add(24, HitRole::pair_until, 3, scope);
    add(25, HitRole::pair_until, 3, tracer::PairKey::none);
    definitions.probes.push_back({.probe_id = 33,
                                  .point = tracer::model::PointIndex{8},
                                  .slots = {ValueType::string},
                                  .cxx_type_slots = 1,
                                  .name = {{"throw ", tracer::NamePiece::kText}, {"", 0}}});
    add_meanings(definitions);
    return definitions;
}

}  // namespace

// Input: a byte of choices, then {u8 room, record} each; a record is cut to its header's size as
// far as there is input. A room of 255 is endless.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    tracer::ByteCursor cursor(std::as_bytes(std::span(data, size)));
    uint8_t choice = 0;
    if (!cursor.read(choice)) return 0;
    tracer::test::RecordingWriter writer;
    const auto decoder = tracer::Decoder::make(make_definitions(choice), writer);
    uint8_t room = 0;
    uint16_t record_bytes = 0;
    while (cursor.read(room) && tracer::ByteCursor(cursor).read(record_bytes)) {
        writer.set_room(room == 255 ? UINT64_MAX : room);
        const auto record = cursor.take(std::min<size_t>(record_bytes, cursor.remaining()));
        if (!record || record->empty()) break;
        // A copy of its own, so that AddressSanitizer sees a read past its end.
        const std::vector<std::byte> copy(record->begin(), record->end());
        decoder->on_record(copy);
    }
    writer.set_room(UINT64_MAX);
    decoder->finish(decoder->last_ns());
    TR_CHECK(writer.open_spans() == 0);
    for (const auto& fault : writer.faults()) std::fprintf(stderr, "%s\n", fault.c_str());
    TR_CHECK(writer.faults().empty());
    return 0;
}
