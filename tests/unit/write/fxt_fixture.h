// SPDX-License-Identifier: Apache-2.0
//
// A Fuchsia trace written to memory from model events, and read back.
#pragma once

#include "support/fxt_reader.h"
#include "support/fxt_text.h"
#include "tracer/write/formats.h"
#include "tracer/write/sinks.h"

#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace tracer::test {

inline model::Value s32(int32_t value) {
    return {.type = model::ValueType::s32, .bits = static_cast<uint64_t>(int64_t{value})};
}
inline model::Value u64(uint64_t value) {
    return {.type = model::ValueType::u64, .bits = value};
}
inline model::Value text(std::string_view value, bool is_cut = false) {
    return {.type = model::ValueType::string, .is_cut = is_cut, .bits = 0, .text = value};
}

inline constexpr model::ThreadIndex kMain{0};    // process 100, thread 100
inline constexpr model::ThreadIndex kWorker{1};  // process 100, thread 101

class Recording {
public:
    explicit Recording(size_t bytes_max = SIZE_MAX) : sink(bytes_max) {
        writer = find_format_by_name("fxt")->make_writer(sink);
    }

    // Opens and defines kMain and kWorker.
    void start() {
        ASSERT_TRUE(writer->open().has_value());
        thread(kMain, 100, 100, "myapp");
        thread(kWorker, 100, 101, "worker");
    }

    void thread(model::ThreadIndex index, uint32_t pid, uint32_t tid, std::string name) {
        writer->define(model::Thread{.index = index,
                                     .pid = pid,
                                     .tid = tid,
                                     .thread_name = std::move(name),
                                     .process_name = "myapp"});
    }

    model::PointIndex point(std::string category,
                            std::string name,
                            std::vector<model::Argument> arguments = {},
                            std::vector<model::Argument> end_arguments = {}) {
        const model::PointIndex index{next_point++};
        writer->define(model::Point{.index = index,
                                    .category = std::move(category),
                                    .name = std::move(name),
                                    .arguments = std::move(arguments),
                                    .end_arguments = std::move(end_arguments)});
        return index;
    }

    WriteStatus instant(uint64_t time_ns,
                        model::PointIndex at,
                        model::ThreadIndex thread,
                        std::vector<model::Value> values = {}) {
        return writer->write({time_ns, model::Instant{at, thread, values}});
    }
    WriteStatus begin(uint64_t time_ns,
                      model::PointIndex at,
                      model::ThreadIndex thread,
                      std::vector<model::Value> values = {}) {
        return writer->write({time_ns, model::SpanBegin{at, thread, values}});
    }
    WriteStatus end(uint64_t time_ns,
                    model::PointIndex at,
                    model::ThreadIndex thread,
                    model::SpanEndCause cause = model::SpanEndCause::returned,
                    std::vector<model::Value> values = {}) {
        return writer->write({time_ns, model::SpanEnd{at, thread, cause, values}});
    }
    WriteStatus run(uint64_t time_ns, uint16_t cpu, model::ThreadIndex out, model::ThreadIndex in) {
        return writer->write({time_ns, model::Switch{.cpu = cpu,
                                                     .out = out,
                                                     .out_state = model::ThreadState::sleeping,
                                                     .out_priority = 120,
                                                     .in = in,
                                                     .in_priority = 120}});
    }

    [[nodiscard]] FxtFile read(size_t from = 0) const {
        return parse_fxt(sink.bytes().subspan(from));
    }

    // The words written since `from` bytes.
    [[nodiscard]] std::vector<uint64_t> words(size_t from = 0) const {
        const auto bytes = sink.bytes().subspan(from);
        std::vector<uint64_t> out(bytes.size() / 8);
        if (!out.empty()) std::memcpy(out.data(), bytes.data(), out.size() * 8);
        return out;
    }

    [[nodiscard]] size_t size() const { return sink.bytes().size(); }

    MemorySink sink;
    std::unique_ptr<TraceWriter> writer;
    uint32_t next_point = 0;
};

// The lines of the records from the first one at or after `offset`.
inline std::vector<std::string> lines_from(const FxtFile& file, size_t offset) {
    std::vector<std::string> lines;
    for (const FxtRecord& record : file.records) {
        if (record.offset >= offset) lines.push_back(to_text(file, record));
    }
    return lines;
}

}  // namespace tracer::test
