// SPDX-License-Identifier: Apache-2.0
#include "capture/capture_file.h"

#include "support/byte_vector_sink.h"
#include "support/record_builder.h"
#include "tracer/abi/event.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>
#include <unistd.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tracer {
namespace {

using test::ByteVectorSink;
using test::Record;
using testing::ElementsAre;
using testing::HasSubstr;

class Kept : public CaptureVisitor {
public:
    Status on_definitions(RecordingDefinitions part) override {
        definitions.push_back(std::move(part));
        return {};
    }
    Status on_counters(const CaptureCounters& read) override {
        counters = read;
        return {};
    }
    void on_progress(uint64_t bytes_done, uint64_t bytes_total) override {
        EXPECT_GE(bytes_done, done);
        done = bytes_done;
        total = bytes_total;
    }
    void on_record(std::span<const std::byte> record) override {
        records.emplace_back(record.begin(), record.end());
    }

    std::vector<RecordingDefinitions> definitions;
    CaptureCounters counters;
    std::vector<Record> records;
    uint64_t done = 0;
    uint64_t total = 0;
};

std::vector<model::Point> some_points() {
    return {{.index = model::PointIndex{0},
             .category = "app",
             .name = "event",
             .arguments = {{"a", model::ValueType::s32, {{1, "one"}, {~uint64_t{0}, "none"}}},
                           {"s", model::ValueType::string},
                           {"f", model::ValueType::f64}}},
            {.index = model::PointIndex{1},
             .kind = model::PointKind::span,
             .category = "app",
             .name = "f \"quoted\" \xc3\xa9",
             .end_arguments = {{"ret", model::ValueType::pointer}},
             .role = model::PointRole::gc},
            {.index = model::PointIndex{2},
             .kind = model::PointKind::span,
             .category = "app",
             .name = "pair",
             .arguments = {{"key", model::ValueType::u64}},
             .end_arguments = {{"ret", model::ValueType::s32}}},
            {.index = model::PointIndex{3},
             .kind = model::PointKind::counter,
             .category = "app",
             .name = "pool",
             .arguments = {{"free", model::ValueType::f64}}},
            {.index = model::PointIndex{4},
             .kind = model::PointKind::span,
             .category = "app",
             .name = "phase",
             .arguments = {{"p", model::ValueType::string}}}};
}

std::vector<ProbeDefinition> some_probes() {
    return {
        {.probe_id = 16,
         .slots = {model::ValueType::s32, model::ValueType::string, model::ValueType::f64},
         .f32_slots = 1U << 2,
         .cxx_type_slots = 1U << 1,
         .spec = "usdt:app:event",
         .sample_every = 100,
         .may_lack_begin = true,
         .name = {{"event ", NamePiece::kText}, {"", 0}},
         .line = {{"line ", NamePiece::kText}, {"", 0}},
         .is_line_of_process = true,
         .yields_to_ring = true},
        {.probe_id = 17,
         .role = HitRole::span_begin,
         .point = model::PointIndex{1},
         .place = 17,
         .spec = "x"},
        {.probe_id = 18,
         .role = HitRole::span_end,
         .point = model::PointIndex{1},
         .slots = {model::ValueType::pointer},
         .spec = "x"},
        {.probe_id = 19,
         .role = HitRole::pair_begin,
         .point = model::PointIndex{2},
         .slots = {model::ValueType::u64},
         .key = PairKey::process,
         .spec = "y"},
        {.probe_id = 20,
         .role = HitRole::pair_end,
         .point = model::PointIndex{2},
         .slots = {model::ValueType::u64, model::ValueType::pointer, model::ValueType::s32},
         .key = PairKey::shared,
         .has_second_key = true,
         .spec = "y"},
        {.probe_id = 21, .role = HitRole::pair_until, .point = model::PointIndex{2}, .spec = "y"},
        {.probe_id = 22,
         .role = HitRole::pair_begin,
         .point = model::PointIndex{2},
         .slots = {model::ValueType::u64},
         .key = PairKey::frame,
         .spec = "z",
         .line = {{"frames of ", NamePiece::kText}, {"", 0}}},
        {.probe_id = 23,
         .point = model::PointIndex{3},
         .slots = {model::ValueType::f64},
         .spec = "pool",
         .name = {{"", 0}}},
        {.probe_id = 24,
         .role = HitRole::state,
         .point = model::PointIndex{4},
         .slots = {model::ValueType::string},
         .spec = "phase",
         .name = {{"", NamePiece::kText}},
         .line = {{"phase", NamePiece::kText}}},
        {.probe_id = 25,
         .role = HitRole::thread_name,
         .slots = {model::ValueType::s32, model::ValueType::string, model::ValueType::f64},
         .spec = "t",
         .name = {{"", 1}}},
        {.probe_id = 26,
         .role = HitRole::process_name,
         .slots = {model::ValueType::s32, model::ValueType::string, model::ValueType::f64},
         .spec = "p"}};
}

RecordingDefinitions some_definitions() {
    RecordingDefinitions definitions;
    definitions.points = some_points();
    definitions.probes = some_probes();
    definitions.names = {{7, 0, "postgres: \xc3\xa9"}, {7, 8, "worker"}};
    definitions.pids = {7, 4'000'000'000};
    definitions.tids = {9};
    definitions.follow_children = true;
    definitions.own_pid = 99;
    definitions.host_name = "host";
    definitions.command_line = "tracer --pid 7";
    definitions.recording = {
        .pid = 7, .parent_pid = 1, .arguments = {"app", "", "\xc3\xa9 x"}, .cpu_count = 65535};
    return definitions;
}

void expect_same(const RecordingDefinitions& a, const RecordingDefinitions& b) {
    EXPECT_EQ(a.record_all, b.record_all);
    EXPECT_EQ(a.follow_children, b.follow_children);
    EXPECT_EQ(a.pids, b.pids);
    EXPECT_EQ(a.tids, b.tids);
    EXPECT_EQ(a.names, b.names);
    EXPECT_EQ(a.own_pid, b.own_pid);
    EXPECT_EQ(a.host_name, b.host_name);
    EXPECT_EQ(a.command_line, b.command_line);
    EXPECT_EQ(a.recording.pid, b.recording.pid);
    EXPECT_EQ(a.recording.parent_pid, b.recording.parent_pid);
    EXPECT_EQ(a.recording.arguments, b.recording.arguments);
    EXPECT_EQ(a.recording.cpu_count, b.recording.cpu_count);
    ASSERT_EQ(a.points.size(), b.points.size());
    for (size_t i = 0; i < a.points.size(); ++i) {
        EXPECT_EQ(a.points[i].index, b.points[i].index);
        EXPECT_EQ(a.points[i].kind, b.points[i].kind);
        EXPECT_EQ(a.points[i].category, b.points[i].category);
        EXPECT_EQ(a.points[i].name, b.points[i].name);
        ASSERT_EQ(a.points[i].arguments.size(), b.points[i].arguments.size());
        for (size_t k = 0; k < a.points[i].arguments.size(); ++k) {
            EXPECT_EQ(a.points[i].arguments[k].name, b.points[i].arguments[k].name);
            EXPECT_EQ(a.points[i].arguments[k].type, b.points[i].arguments[k].type);
            EXPECT_EQ(a.points[i].arguments[k].names, b.points[i].arguments[k].names);
        }
        EXPECT_EQ(a.points[i].end_arguments.size(), b.points[i].end_arguments.size());
        EXPECT_EQ(a.points[i].role, b.points[i].role);
    }
    ASSERT_EQ(a.probes.size(), b.probes.size());
    for (size_t i = 0; i < a.probes.size(); ++i) {
        EXPECT_EQ(a.probes[i].probe_id, b.probes[i].probe_id);
        EXPECT_EQ(a.probes[i].role, b.probes[i].role);
        EXPECT_EQ(a.probes[i].point, b.probes[i].point);
        EXPECT_EQ(a.probes[i].slots, b.probes[i].slots);
        EXPECT_EQ(a.probes[i].key, b.probes[i].key);
        EXPECT_EQ(a.probes[i].f32_slots, b.probes[i].f32_slots);
        EXPECT_EQ(a.probes[i].cxx_type_slots, b.probes[i].cxx_type_slots);
        EXPECT_EQ(a.probes[i].spec, b.probes[i].spec);
        EXPECT_EQ(a.probes[i].sample_every, b.probes[i].sample_every);
        EXPECT_EQ(a.probes[i].may_lack_begin, b.probes[i].may_lack_begin);
        EXPECT_EQ(a.probes[i].place, b.probes[i].place);
        EXPECT_EQ(a.probes[i].is_line_of_process, b.probes[i].is_line_of_process);
        EXPECT_EQ(a.probes[i].yields_to_ring, b.probes[i].yields_to_ring);
        EXPECT_EQ(a.probes[i].name, b.probes[i].name);
        EXPECT_EQ(a.probes[i].line, b.probes[i].line);
    }
}

std::vector<std::byte> file_with(uint32_t type,
                                 std::string_view payload,
                                 std::string_view head = {"TRACRAW\0\1\0\0\0\0\0\0\0", 16}) {
    std::string text(head);
    const auto bytes = static_cast<uint32_t>(payload.size());
    char block[8];
    std::memcpy(block, &type, 4);
    std::memcpy(block + 4, &bytes, 4);
    text.append(block, 8).append(payload).resize((text.size() + 7) / 8 * 8);
    const auto span = std::as_bytes(std::span(text));
    return {span.begin(), span.end()};
}

Error error_of(std::span<const std::byte> bytes) {
    Kept kept;
    auto summary = read_capture(bytes, kept);
    return summary ? Error{.what = "no error"} : summary.error();
}

TEST(Capture, GivesBackWhatWasWritten) {
    ByteVectorSink sink;
    CaptureWriter writer(sink);
    ASSERT_TRUE(writer.open(some_definitions()).has_value());
    const auto records = test::make_one_of_each_kind(16);
    for (const Record& record : records) writer.on_record(record);
    CaptureCounters counters;
    counters.probes.push_back({16, {.hits = 5, .ring_full = UINT64_MAX}});
    counters.rings = {{10, 1}, {20, 0}};
    ASSERT_TRUE(writer.write_counters(counters).has_value());
    ASSERT_TRUE(writer.close().has_value());

    Kept kept;
    const auto summary = read_capture(sink.bytes(), kept);
    ASSERT_TRUE(summary.has_value()) << summary.error().what;
    EXPECT_EQ(kept.records, records);
    ASSERT_EQ(kept.definitions.size(), 1U);
    expect_same(kept.definitions[0], some_definitions());
    ASSERT_EQ(kept.counters.probes.size(), 1U);
    EXPECT_EQ(kept.counters.probes[0].counts.hits, 5U);
    EXPECT_EQ(kept.counters.probes[0].counts.ring_full, UINT64_MAX);
    ASSERT_EQ(kept.counters.rings.size(), 2U);
    EXPECT_EQ(kept.counters.rings[0].attempts, 10U);
    EXPECT_EQ(kept.counters.rings[0].lost, 1U);
    EXPECT_EQ(summary->records, records.size());
    EXPECT_TRUE(summary->has_definitions);
    EXPECT_TRUE(summary->has_counters);
    EXPECT_FALSE(summary->is_cut);
    EXPECT_EQ(kept.done, sink.bytes().size());
    EXPECT_EQ(kept.total, sink.bytes().size());
}

TEST(Capture, OneReservationHoldsManyRecords) {
    ByteVectorSink sink;
    CaptureWriter writer(sink);
    ASSERT_TRUE(writer.open(some_definitions()).has_value());
    const size_t before = sink.commits();
    for (uint64_t i = 0; i < 100'000; ++i) writer.on_record(test::make_hit({.time_ns = i}, 16, {}));
    writer.flush();
    EXPECT_EQ(sink.commits() - before, (100'000 * 32 + 32767) / 32768);
    Kept kept;
    ASSERT_TRUE(read_capture(sink.bytes(), kept).has_value());
    EXPECT_EQ(kept.records.size(), 100'000U);
    EXPECT_EQ(writer.records_written(), 100'000U);
}

TEST(Capture, DefinitionsLargerThanABlockComeBackWhole) {
    RecordingDefinitions definitions;
    definitions.record_all = true;
    for (uint32_t i = 0; i < 3000; ++i) {
        definitions.points.push_back({.index = model::PointIndex{i},
                                      .category = "libjvm.so",
                                      .name = "probe_" + std::to_string(i)});
        definitions.probes.push_back(
            {.probe_id = 16 + i, .point = model::PointIndex{i}, .spec = std::string(i % 100, 's')});
        definitions.pids.push_back(i);
    }
    ByteVectorSink sink;
    CaptureWriter writer(sink);
    ASSERT_TRUE(writer.open(definitions).has_value());
    EXPECT_GT(sink.bytes().size(), 4 * kCaptureBlockBytesMax);
    Kept kept;
    const auto summary = read_capture(sink.bytes(), kept);
    ASSERT_TRUE(summary.has_value()) << summary.error().what;
    ASSERT_EQ(kept.definitions.size(), 1U);
    expect_same(kept.definitions[0], definitions);
}

TEST(Capture, ProbesAddedLaterComeAsAPartOfTheirOwn) {
    ByteVectorSink sink;
    CaptureWriter writer(sink);
    ASSERT_TRUE(writer.open(some_definitions()).has_value());
    writer.on_record(test::make_hit({.time_ns = 1}, 16, {}));
    ASSERT_TRUE(writer
                    .add({{.index = model::PointIndex{5}, .category = "c", .name = "late"}},
                         {{.probe_id = 40, .point = model::PointIndex{5}}})
                    .has_value());
    Kept kept;
    ASSERT_TRUE(read_capture(sink.bytes(), kept).has_value());
    ASSERT_EQ(kept.definitions.size(), 2U);
    EXPECT_EQ(kept.definitions[1].points[0].name, "late");
    EXPECT_EQ(kept.definitions[1].probes[0].probe_id, 40U);
    EXPECT_EQ(kept.records.size(), 1U) << "in front of the added part";
}

TEST(Capture, AnElementLargerThanABlockIsRefused) {
    auto definitions = some_definitions();
    definitions.probes[0].spec.assign(kCaptureBlockBytesMax, 'x');
    ByteVectorSink sink;
    CaptureWriter writer(sink);
    const auto status = writer.open(definitions);
    ASSERT_FALSE(status.has_value());
    EXPECT_EQ(status.error().code, ErrorCode::limit);
}

TEST(Capture, NamesThatAreNotUtf8AreWrittenAllTheSame) {
    auto definitions = some_definitions();
    definitions.command_line = "tracer \xff\xfe";
    ByteVectorSink sink;
    CaptureWriter writer(sink);
    ASSERT_TRUE(writer.open(definitions).has_value());
    Kept kept;
    ASSERT_TRUE(read_capture(sink.bytes(), kept).has_value());
    EXPECT_THAT(kept.definitions[0].command_line, HasSubstr("tracer"));
}

TEST(Capture, ABlockWithoutRoomIsToldAsAGap) {
    ByteVectorSink sink;
    CaptureWriter writer(sink);
    ASSERT_TRUE(writer.open(some_definitions()).has_value());
    writer.on_record(test::make_hit({.time_ns = 10}, 16, {}));
    writer.flush();
    sink.refuse(true);
    for (const uint64_t time : {20, 30}) {
        writer.on_record(test::make_hit({.time_ns = time}, 16, {}));
        writer.flush();
    }
    EXPECT_FALSE(writer.close().has_value()) << "nothing tells of the loss yet";
    sink.refuse(false);
    writer.on_record(test::make_hit({.time_ns = 40}, 16, {}));
    ASSERT_TRUE(writer.close().has_value());
    EXPECT_EQ(writer.records_lost(), 2U);
    EXPECT_EQ(writer.records_written(), 2U);

    Kept kept;
    ASSERT_TRUE(read_capture(sink.bytes(), kept).has_value());
    EXPECT_THAT(kept.records,
                ElementsAre(test::make_hit({.time_ns = 10}, 16, {}),
                            test::make_gap(TR_KIND_gap_begin, 10, 0, 0, 10, TR_GAP_OUTPUT),
                            test::make_gap(TR_KIND_gap_end, 40, 0, 2, 10, TR_GAP_OUTPUT),
                            test::make_hit({.time_ns = 40}, 16, {})));
}

TEST(Capture, EveryTruncationGivesTheRecordsBeforeIt) {
    ByteVectorSink sink;
    CaptureWriter writer(sink);
    ASSERT_TRUE(writer.open(some_definitions()).has_value());
    const size_t definitions_end = sink.bytes().size();
    const auto records = test::make_one_of_each_kind(16);
    for (const Record& record : records) {
        writer.on_record(record);
        if (test::header_of(record).kind % 4 == 0) writer.flush();
    }
    ASSERT_TRUE(writer.write_counters({}).has_value());

    size_t delivered_before = 0;
    for (size_t bytes = 0; bytes < sink.bytes().size(); ++bytes) {
        Kept kept;
        const auto summary = read_capture(std::span(sink.bytes()).first(bytes), kept);
        if (bytes < 16) {
            ASSERT_FALSE(summary.has_value()) << bytes;
            EXPECT_EQ(summary.error().code, ErrorCode::bad_input);
            continue;
        }
        ASSERT_TRUE(summary.has_value()) << bytes << ": " << summary.error().what;
        EXPECT_EQ(summary->has_definitions, bytes >= definitions_end) << bytes;
        EXPECT_FALSE(summary->has_counters) << bytes;
        EXPECT_EQ(kept.done, bytes);
        EXPECT_LE(summary->bytes_cut, bytes);
        ASSERT_GE(kept.records.size(), delivered_before);
        delivered_before = kept.records.size();
        for (size_t i = 0; i < kept.records.size(); ++i) EXPECT_EQ(kept.records[i], records[i]);
    }
    EXPECT_EQ(delivered_before, records.size());
}

TEST(Capture, OtherFilesAreRefusedByName) {
    EXPECT_THAT(error_of({}).what, HasSubstr("not a raw capture"));
    const auto other = file_with(1, "{}", {"\x10\0\4FxT\x16\0aaaaaaaa", 16});
    EXPECT_THAT(error_of(other).what, HasSubstr("not a raw capture"));
    const auto newer = file_with(1, "{}", {"TRACRAW\0\2\0\0\0\0\0\0\0", 16});
    EXPECT_THAT(error_of(newer).what, HasSubstr("format version 2"));
}

TEST(Capture, SizesAreNotBelieved) {
    auto bytes = file_with(1, "{}");
    const uint32_t huge = 0xffffffff;
    std::memcpy(bytes.data() + 20, &huge, 4);
    EXPECT_THAT(error_of(bytes).what, HasSubstr("block at byte 16: it claims 4294967295 bytes"));
}

TEST(Capture, RecordsNeedDefinitions) {
    EXPECT_THAT(error_of(file_with(2, std::string(32, '\0'))).what,
                HasSubstr("records before any definitions"));
}

TEST(Capture, RecordSizesThatDoNotFitTheirBlockAreRefused) {
    for (const int size : {0, 8, 31, 33, 56, 8200, 65535}) {
        ByteVectorSink sink;
        CaptureWriter writer(sink);
        ASSERT_TRUE(writer.open(some_definitions()).has_value());
        auto record = test::make_hit({.time_ns = 1}, 16, {1, 2});
        auto header = test::header_of(record);
        header.size = static_cast<uint16_t>(size);
        test::set_header(record, header);
        writer.on_record(record);
        writer.flush();
        EXPECT_THAT(error_of(sink.bytes()).what, HasSubstr("a record of")) << size;
    }
}

TEST(Capture, UnknownBlocksAreSkippedAndCounted) {
    auto bytes = file_with(77, "abc");
    Kept kept;
    const auto summary = read_capture(bytes, kept);
    ASSERT_TRUE(summary.has_value());
    EXPECT_EQ(summary->unknown_blocks, 1U);
}

constexpr std::string_view kHead =
    R"("clock":"boottime","record_all":true,"follow_children":false,"own_pid":1,)"
    R"("host_name":"h","command_line":"c")";

std::string definitions_error(std::string_view rest) {
    std::string text = "{" + std::string(kHead) + std::string(rest) + "}";
    return error_of(file_with(1, text)).what;
}

TEST(Capture, MalformedDefinitionsAreRefusedByName) {
    EXPECT_EQ(definitions_error(""), "no error");
    EXPECT_THAT(error_of(file_with(1, "{")).what, HasSubstr("definitions: malformed JSON"));
    EXPECT_THAT(error_of(file_with(1, "[]")).what, HasSubstr("no object"));
    EXPECT_THAT(error_of(file_with(1, "{}")).what, HasSubstr("\"clock\" is not a string"));
    EXPECT_THAT(error_of(file_with(1, R"({"clock":"tai"})")).what, HasSubstr("boottime"));
    EXPECT_THAT(error_of(file_with(1, std::string(40'000, '['))).what, HasSubstr("malformed JSON"));
    EXPECT_THAT(definitions_error(R"(,"pids":[-1])"), HasSubstr("\"pids\""));
    EXPECT_THAT(definitions_error(R"(,"pids":[4294967296])"), HasSubstr("\"pids\""));
    EXPECT_THAT(definitions_error(R"(,"pids":7)"), HasSubstr("\"pids\" is not a list"));
    EXPECT_THAT(definitions_error(R"(,"points":[1])"), HasSubstr("\"points\""));
    EXPECT_THAT(definitions_error(R"(,"arguments":[1])"), HasSubstr("\"arguments\""));
    for (const auto* names : {"1", "[1]", "[[1,2]]", R"([[1,2,3]])", R"([[-1,0,"a"]])",
                              R"([[1,4294967296,"a"]])", R"([[1,0,"a",0]])"}) {
        EXPECT_THAT(definitions_error(R"(,"names":)" + std::string(names)), HasSubstr("\"names\""))
            << names;
    }
    EXPECT_EQ(definitions_error(R"(,"names":[[7,0,"a"],[7,8,"b"]])"), "no error");
    EXPECT_THAT(definitions_error(R"(,"process_pid":4294967296)"), HasSubstr("\"process_pid\""));
    EXPECT_THAT(definitions_error(R"(,"cpu_count":65536)"), HasSubstr("\"cpu_count\""));
    EXPECT_EQ(definitions_error(R"(,"cpu_count":65535)"), "no error");
    EXPECT_THAT(definitions_error(R"(,"more":1)"), HasSubstr("\"more\""));
}

TEST(Capture, DefinitionsMustFitTogether) {
    const auto point = [](std::string_view index, std::string_view kind, std::string_view rest) {
        return R"(,"points":[{"index":)" + std::string(index) + R"(,"kind":")" + std::string(kind) +
               R"(","category":"c","name":"n")" + std::string(rest) + "}]";
    };
    const auto probe = [](std::string_view id, std::string_view role, std::string_view rest) {
        return R"(,"probes":[{"id":)" + std::string(id) + R"(,"role":")" + std::string(role) +
               R"(","spec":"s","f32_slots":0,"point":)" + std::string(rest) + "}]";
    };
    EXPECT_EQ(definitions_error(point("0", "instant", "") + probe("16", "instant", "0")),
              "no error");
    EXPECT_THAT(definitions_error(point("1", "instant", "")), HasSubstr("\"index\""));
    EXPECT_THAT(definitions_error(point("0", "blob", "")), HasSubstr("\"kind\""));
    EXPECT_THAT(definitions_error(point("0", "instant", R"(,"arguments":[["a","s128"]])")),
                HasSubstr("\"arguments\""));
    EXPECT_THAT(definitions_error(point("0", "instant", R"(,"arguments":["a"])")),
                HasSubstr("\"arguments\""));
    for (const auto* names : {"1", "[1]", "[[1]]", R"([["1","a"]])", "[[1,2]]", R"([[-1,"a"]])",
                              R"([[2,"b"],[1,"a"]])", R"([[1,"a"],[1,"b"]])"}) {
        EXPECT_THAT(
            definitions_error(
                point("0", "instant", R"(,"arguments":[["a","s32",)" + std::string(names) + "]]")),
            HasSubstr("\"arguments\""))
            << names;
    }
    EXPECT_THAT(definitions_error(probe("16", "instant", "0")), HasSubstr("\"point\""));
    EXPECT_THAT(definitions_error(point("0", "instant", "") + probe("16", "span_end", "0")),
                HasSubstr("\"role\""));
    EXPECT_THAT(definitions_error(point("0", "instant", "") + probe("1048576", "instant", "0")),
                HasSubstr("\"id\""));
    EXPECT_THAT(definitions_error(point("0", "instant", "") +
                                  probe("16", "instant", R"(0,"slots":["u64"])")),
                HasSubstr("\"slots\""));
    const auto span = point("0", "span", R"(,"arguments":[["key","u64"]])");
    EXPECT_EQ(
        definitions_error(span + probe("16", "pair_begin", R"(0,"slots":["u64"],"key":"process")")),
        "no error");
    EXPECT_EQ(
        definitions_error(span + probe("16", "pair_end", R"(0,"slots":["u64"],"key":"shared")")),
        "no error");
    EXPECT_EQ(definitions_error(span + probe("16", "pair_until", "0")), "no error");
    EXPECT_THAT(definitions_error(span + probe("16", "pair_end", R"(0,"key":"process")")),
                HasSubstr("\"key\""));
    EXPECT_THAT(
        definitions_error(span + probe("16", "span_begin", R"(0,"slots":["u64"],"key":"process")")),
        HasSubstr("\"key\""));
    EXPECT_THAT(
        definitions_error(span + probe("16", "pair_begin", R"(0,"slots":["u64"],"key":"other")")),
        HasSubstr("\"key\""));
    EXPECT_THAT(definitions_error(span + probe("16", "pair_until", R"(0,"slots":["u64"])")),
                HasSubstr("\"slots\""));
    const auto two = [&](std::string_view rest) {
        return definitions_error(
            span + probe("16", "pair_until", R"(0,"second_key":true)" + std::string(rest)));
    };
    EXPECT_EQ(two(R"(,"key":"process","slots":["u64","u64"])"), "no error");
    EXPECT_THAT(two(R"(,"key":"process","slots":["u64"])"), HasSubstr("\"key\""));
    EXPECT_THAT(two(R"(,"key":"frame","slots":["u64","u64"])"), HasSubstr("\"second_key\""));
    EXPECT_THAT(two(R"(,"slots":[])"), HasSubstr("\"second_key\""));
    const auto state = [&](std::string_view rest) {
        return definitions_error(span +
                                 probe("16", "state", R"(0,"slots":["u64"])" + std::string(rest)));
    };
    EXPECT_EQ(state(R"(,"line":["a ",0])"), "no error");
    EXPECT_THAT(state(""), HasSubstr("\"line\""));
    EXPECT_THAT(state(R"(,"line":[1])"), HasSubstr("\"line\""));
    EXPECT_THAT(state(R"(,"line":"a")"), HasSubstr("\"line\""));
    EXPECT_THAT(definitions_error(point("0", "span", R"(,"end_arguments":[["r","u64"]])") +
                                  probe("16", "state", R"(0,"slots":[],"line":["a"])")),
                HasSubstr("\"role\""));
    EXPECT_THAT(definitions_error(point("0", "instant", "") +
                                  probe("16", "state", R"(0,"slots":[],"line":["a"])")),
                HasSubstr("\"role\""));
    EXPECT_THAT(definitions_error(span + probe("16", "thread_name", R"(0,"slots":["u64"])")),
                HasSubstr("\"role\""));
    std::string many = R"(0,"slots":["u64")";
    for (int i = 0; i < 12; ++i) many += R"(,"u64")";
    EXPECT_THAT(definitions_error(point("0", "instant", "") + probe("16", "instant", many + "]")),
                HasSubstr("\"slots\""));
}

TEST(Capture, AMissingFileIsNotFound) {
    Kept kept;
    const auto summary = read_capture("/nonexistent/x.traw", kept);
    ASSERT_FALSE(summary.has_value());
    EXPECT_EQ(summary.error().code, ErrorCode::not_found);
    EXPECT_THAT(summary.error().what, HasSubstr("/nonexistent/x.traw"));
}

TEST(Capture, ReadsFromAPathAndFromAPipe) {
    ByteVectorSink sink;
    CaptureWriter writer(sink);
    ASSERT_TRUE(writer.open(some_definitions()).has_value());
    writer.on_record(test::make_hit({.time_ns = 1}, 16, {}));
    ASSERT_TRUE(writer.close().has_value());

    std::string path = testing::TempDir() + "capture_XXXXXX";
    const int fd = ::mkstemp(path.data());
    ASSERT_GE(fd, 0);
    const auto size = static_cast<ssize_t>(sink.bytes().size());
    ASSERT_EQ(::write(fd, sink.bytes().data(), sink.bytes().size()), size);
    ::close(fd);
    Kept from_path;
    EXPECT_TRUE(read_capture(path, from_path).has_value());
    EXPECT_EQ(from_path.records.size(), 1U);
    EXPECT_EQ(from_path.total, sink.bytes().size());
    ::unlink(path.c_str());

    int ends[2];
    ASSERT_EQ(::pipe(ends), 0);
    ASSERT_EQ(::write(ends[1], sink.bytes().data(), sink.bytes().size()), size);
    ::close(ends[1]);
    Kept from_pipe;
    EXPECT_TRUE(read_capture(ends[0], from_pipe).has_value());
    EXPECT_EQ(from_pipe.records.size(), 1U);
    EXPECT_EQ(from_pipe.total, 0U) << "a pipe has no length";
    ::close(ends[0]);
}

}  // namespace
}  // namespace tracer
