// SPDX-License-Identifier: Apache-2.0
//
// What the tests of sinks share: a folder of their own, records that can be told apart and put in
// order again, and a writer of such records.
#pragma once

#include "tracer/write/byte_sink.h"
#include "tracer/write/chunk_switch.h"
#include "tracer/write/rotating_sink.h"
#include "tracer/write/trace_writer.h"
#include "unit/session/wait_until.h"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace tracer::test {

// A folder of this test's own, gone afterwards.
class FolderTest : public testing::Test {
protected:
    FolderTest() {
        std::string name = testing::TempDir() + "/sinkXXXXXX";
        folder = ::mkdtemp(name.data());
    }
    void TearDown() override { std::filesystem::remove_all(folder); }

    [[nodiscard]] std::string path(const std::string& name = "out.fxt") const {
        return folder + "/" + name;
    }
    static std::string contents(const std::string& file) {
        std::ifstream stream(file, std::ios::binary);
        return {std::istreambuf_iterator<char>(stream), {}};
    }
    // Names in the folder, sorted.
    [[nodiscard]] std::vector<std::string> names() const {
        std::vector<std::string> found;
        for (const auto& entry : std::filesystem::directory_iterator(folder)) {
            found.push_back(entry.path().filename());
        }
        std::sort(found.begin(), found.end());
        return found;
    }

    std::string folder;
};

inline constexpr size_t kBufferBytes = ByteSink::kReserveBytesMax;  // the least there is
inline constexpr size_t kRecordBytes = 1024;

inline bool put(ByteSink& sink, char fill, size_t bytes = kRecordBytes) {
    const auto room = sink.reserve(bytes);
    if (room.size() < bytes) return false;
    std::memset(room.data(), fill, bytes);
    sink.commit(bytes);
    return true;
}

enum class RecordKind : uint32_t { opening = 1, event = 2 };

struct RecordHeader {
    uint32_t bytes = 0;
    RecordKind kind{};
    uint64_t number = 0;
};

// Of changing sizes, so that no limit ever falls where a record ends by accident.
inline bool put_record(ByteSink& sink, RecordKind kind, uint64_t number) {
    const RecordHeader header{static_cast<uint32_t>(sizeof(RecordHeader) + number % 37 * 8), kind,
                              number};
    const auto room = sink.reserve(header.bytes);
    if (room.empty()) return false;
    std::memset(room.data(), static_cast<int>(number % 251), header.bytes);
    std::memcpy(room.data(), &header, sizeof header);
    sink.commit(header.bytes);
    return true;
}

// The records of a stream that begins at a record; a failure where one is cut or changed.
inline std::vector<RecordHeader> read_records(std::string_view bytes) {
    std::vector<RecordHeader> records;
    while (!bytes.empty()) {
        RecordHeader header;
        if (bytes.size() < sizeof header) {
            ADD_FAILURE() << "a cut header after " << records.size() << " records";
            break;
        }
        std::memcpy(&header, bytes.data(), sizeof header);
        if (header.bytes < sizeof header || header.bytes > bytes.size()) {
            ADD_FAILURE() << "a cut record after " << records.size() << " records";
            break;
        }
        const auto body = bytes.substr(sizeof header, header.bytes - sizeof header);
        const char fill = static_cast<char>(header.number % 251);
        EXPECT_EQ(body.find_first_not_of(fill), std::string_view::npos);
        records.push_back(header);
        bytes.remove_prefix(header.bytes);
    }
    return records;
}

inline std::string_view text_of(std::span<const std::byte> bytes) {
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

// Says an opening at open() and at each chunk; of events, their time.
class RecordWriter final : public TraceWriter {
public:
    explicit RecordWriter(ByteSink& sink) : sink_(sink) {}
    Status open() override { return begin_chunk(); }
    void define(const model::Thread&) override {}
    void define(const model::Point&) override {}
    WriteStatus write(const model::Event& event) override {
        const bool is_written = put_record(sink_, RecordKind::event, event.time_ns);
        (is_written ? counters_.events : counters_.no_room) += 1;
        return is_written ? WriteStatus::ok : WriteStatus::no_room;
    }
    Status begin_chunk() override {
        if (!put_record(sink_, RecordKind::opening, openings)) {
            return fail(ErrorCode::limit, "no room for the chunk's opening");
        }
        openings += 1;
        return {};
    }
    Status close() override { return {}; }
    const WriterCounters& counters() const override { return counters_; }

    uint64_t openings = 0;

private:
    ByteSink& sink_;
    WriterCounters counters_;
};

inline model::Event event_at(uint64_t time_ns) {
    return {time_ns, model::Instant{}};
}

// A folder for chunks, and numbered events for them.
class ChunkTest : public FolderTest {
protected:
    [[nodiscard]] std::unique_ptr<RotatingSink> open(const RotatingSinkOptions& options) const {
        auto sink = open_rotating_sink(path(), options);
        EXPECT_TRUE(sink.has_value()) << sink.error().what;
        return std::move(*sink);
    }

    // The next `count` events and the chunks that become due, each event as soon as there is room.
    void write(RotatingSink& sink, RecordWriter& writer, uint64_t count) {
        for (uint64_t i = 0; i < count; ++i) {
            ASSERT_TRUE(begin_chunk_if_due(sink, writer).has_value());
            ASSERT_TRUE(
                wait_until([&] { return writer.write(event_at(next_event)) == WriteStatus::ok; }));
            next_event += 1;
        }
    }

    // Every file begins with an opening, and the events of all are there once and in order;
    // `contents_of` reads one.
    void expect_whole(const std::vector<std::string>& paths,
                      uint64_t first_event,
                      std::string (*contents_of)(const std::string&) = &contents) const {
        uint64_t expected = first_event;
        for (const std::string& file : paths) {
            const auto records = read_records(contents_of(file));
            ASSERT_FALSE(records.empty()) << file;
            EXPECT_EQ(records[0].kind, RecordKind::opening) << file;
            for (size_t i = 1; i < records.size(); ++i) {
                EXPECT_EQ(records[i].kind, RecordKind::event);
                ASSERT_EQ(records[i].number, expected++) << file;
            }
        }
        EXPECT_EQ(expected, next_event);
    }

    uint64_t next_event = 0;
};

}  // namespace tracer::test
