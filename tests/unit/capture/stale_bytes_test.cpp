// SPDX-License-Identifier: Apache-2.0
//
// A ring's memory is used again: whatever a program did not write is of an earlier record.
#include "capture/stale_bytes.h"

#include "capture/capture_file.h"
#include "support/byte_vector_sink.h"
#include "support/record_builder.h"
#include "tracer/abi/probe.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <string_view>
#include <utility>

#include <gtest/gtest.h>

namespace tracer {
namespace {

using model::ValueType;
using test::Record;

constexpr std::byte kStale{0xaa};

// A record as it lies in a ring: `record` in the room of `bytes`, stale behind it.
Record in_room(Record record, size_t bytes) {
    record.resize(bytes, kStale);
    auto header = test::header_of(record);
    header.size = static_cast<uint16_t>(bytes);
    test::set_header(record, header);
    return record;
}

size_t stale_count(const Record& record) {
    return static_cast<size_t>(std::count(record.begin(), record.end(), kStale));
}

Record cleared(Record record, const std::vector<ProbeDefinition>& probes) {
    StaleBytes stale;
    stale.add(probes);
    stale.clear(record);
    return record;
}

ProbeDefinition probe(std::vector<ValueType> slots, HitRole role = HitRole::instant) {
    ProbeDefinition definition;
    definition.probe_id = 16;
    definition.role = role;
    definition.slots = std::move(slots);
    return definition;
}

TEST(StaleBytes, SlotsBehindTheLastAreZeroed) {
    const auto record = in_room(test::make_hit({}, 16, {1, UINT64_MAX}), 128);
    const auto result = cleared(record, {probe({ValueType::s64, ValueType::u64})});
    EXPECT_EQ(stale_count(result), 0u);
    EXPECT_TRUE(std::equal(record.begin(), record.begin() + 48, result.begin()));
    // The stack pointer of a span is a slot before those of the definition.
    const auto span = cleared(record, {probe({ValueType::u64}, HitRole::span_begin)});
    EXPECT_EQ(span, result);
}

// Two strings in their rooms of a record, with stale bytes around.
Record two_strings(std::string_view first, std::string_view second) {
    Record record = in_room(test::make_hit({}, 16, {0, 7, 0}), TR_STRINGS_OFFSET + 512);
    size_t offset = TR_STRINGS_OFFSET;
    size_t slot_offset = sizeof(tr_record_header);
    for (const auto text : {first, second}) {
        const tr_string_slot slot{static_cast<uint16_t>(offset), static_cast<uint16_t>(text.size()),
                                  0};
        std::memcpy(record.data() + slot_offset, &slot, sizeof(slot));
        std::memcpy(record.data() + offset, text.data(), text.size());
        offset += TR_STRING_BYTES;
        slot_offset += 2 * sizeof(uint64_t);
    }
    return record;
}

const std::vector kTwoStrings{ValueType::string, ValueType::s64, ValueType::string};

TEST(StaleBytes, OnlyTheTextOfStringsIsKept) {
    const auto result = cleared(two_strings("short", std::string(255, 'x')), {probe(kTwoStrings)});
    EXPECT_EQ(stale_count(result), 0u);
    EXPECT_EQ(std::memcmp(result.data() + TR_STRINGS_OFFSET, "short\0", 6), 0);
    EXPECT_EQ(std::count(result.begin(), result.end(), std::byte{'x'}), 255);
}

// The largest string of a record lies last, whichever argument it is.
TEST(StaleBytes, StringsMayLieInAnyOrder) {
    auto record = two_strings("first", "second");
    std::array<uint64_t, 3> slots{};
    std::memcpy(slots.data(), record.data() + sizeof(tr_record_header), sizeof(slots));
    std::swap(slots[0], slots[2]);
    std::memcpy(record.data() + sizeof(tr_record_header), slots.data(), sizeof(slots));
    const auto result = cleared(record, {probe(kTwoStrings)});
    EXPECT_EQ(stale_count(result), 0u);
    EXPECT_EQ(std::memcmp(result.data() + TR_STRINGS_OFFSET, "first\0", 6), 0);
    EXPECT_EQ(std::memcmp(result.data() + TR_STRINGS_OFFSET + TR_STRING_BYTES, "second\0", 7), 0);
}

TEST(StaleBytes, TheRoomOfAnUnreadableStringIsZeroed) {
    auto record = two_strings("secret", "text");
    auto header = test::header_of(record);
    header.flags = 1;
    test::set_header(record, header);
    const auto result = cleared(record, {probe(kTwoStrings)});
    EXPECT_EQ(std::search_n(result.begin(), result.end(), 1, std::byte{'c'}), result.end());
    EXPECT_EQ(std::memcmp(result.data() + TR_STRINGS_OFFSET + TR_STRING_BYTES, "text\0", 5), 0);
    EXPECT_EQ(stale_count(result), 0u);
}

TEST(StaleBytes, OffsetsThatLieAreNotFollowed) {
    for (const uint16_t offset : {uint16_t{0}, uint16_t{32}, uint16_t{0xffff}}) {
        auto record = two_strings("a", "b");
        const tr_string_slot slot{offset, 200, 0};
        std::memcpy(record.data() + sizeof(tr_record_header), &slot, sizeof(slot));
        const auto header = test::header_of(record);
        const auto result = cleared(record, {probe(kTwoStrings)});
        EXPECT_EQ(stale_count(result), 0u) << offset;
        EXPECT_EQ(test::header_of(result).size, header.size);
        EXPECT_EQ(result[TR_STRINGS_OFFSET + TR_STRING_BYTES], std::byte{'b'}) << offset;
    }
}

TEST(StaleBytes, ARecordGivenUpKeepsItsHeaderAlone) {
    const auto header = test::make_header_only({.time_ns = 5}, TR_KIND_none);
    const auto result = cleared(in_room(header, 384), {});
    EXPECT_EQ(stale_count(result), 0u);
    EXPECT_EQ(test::header_of(result).time_ns, 5u);
    EXPECT_EQ(stale_count(cleared(in_room(test::make_hit({}, 99, {}), 64), {})), 0u);
}

TEST(StaleBytes, NamesAndPathsEndAtTheirNul) {
    auto record = test::make_exec({}, "cat", "/bin/cat");
    const size_t path = offsetof(tr_task_exec, path);
    std::fill(record.begin() + path + 9, record.end(), kStale);
    const size_t comm = offsetof(tr_task, comm);
    std::fill_n(record.begin() + comm + 4, TR_COMM_BYTES - 4, kStale);
    EXPECT_EQ(cleared(record, {}), test::make_exec({}, "cat", "/bin/cat"));
}

TEST(StaleBytes, ACaptureHoldsNone) {
    test::ByteVectorSink sink;
    CaptureWriter writer(sink);
    RecordingDefinitions definitions;
    definitions.points.resize(1);
    definitions.points[0].arguments = {{"a", ValueType::s64}};
    definitions.probes = {probe({ValueType::s64})};
    ASSERT_TRUE(writer.open(definitions));
    for (int i = 0; i < 3; ++i) writer.on_record(in_room(test::make_hit({}, 16, {1}), 48));
    ASSERT_TRUE(writer.close());
    const auto bytes = sink.bytes();
    EXPECT_EQ(std::count(bytes.begin(), bytes.end(), kStale), 0);
}

}  // namespace
}  // namespace tracer
