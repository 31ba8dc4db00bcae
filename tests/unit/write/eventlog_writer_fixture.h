// SPDX-License-Identifier: Apache-2.0
//
// Eventlogs written to memory from model events, read back and judged.
#pragma once

#include "support/eventlog_check.h"
#include "support/eventlog_reader.h"
#include "support/eventlog_text.h"
#include "support/fixtures/eventlog_checker.h"
#include "tracer/write/formats.h"
#include "tracer/write/sinks.h"

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
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
inline constexpr model::ThreadIndex kIdle = model::kIdleThread;

[[nodiscard]] inline std::string_view text_of(std::span<const std::byte> bytes) {
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

// Everything that a log has to be: read to its end with nothing odd, accepted by the six state
// machines, ours and, where GHC is installed, those of ghc-events.
inline void expect_valid(std::string_view bytes) {
    const EventlogFile file = parse_eventlog(bytes);
    EXPECT_EQ(problems_text(file), "");
    const EventlogCheck check = check_eventlog(file);
    EXPECT_THAT(check.refusals, testing::IsEmpty());
    EXPECT_THAT(check.traps, testing::IsEmpty());
    if (missing_eventlog_checker()) return;
    EXPECT_TRUE(bytes_validate_as_eventlog(bytes));
}

// A writer over memory. Event times are given from 1 second on, so that the log's times differ.
class EventlogWriterTest : public testing::Test {
protected:
    static constexpr uint64_t kBegin = 1'000'000'000;

    EventlogWriterTest() : writer_(find_format_by_name("eventlog")->make_writer(sink_)) {}

    // All logs, also those that a test has looked into, are judged.
    void TearDown() override {
        if (!is_closed_) {
            EXPECT_TRUE(writer_->close());
        }
        if (!is_judged_) expect_valid(text_of(sink_.bytes()));
    }

    // Opens, defines kMain and kWorker, and gives the log its time 0.
    void start(const model::Recording& recording = {}) {
        writer_->describe(recording);
        ASSERT_TRUE(writer_->open());
        thread(kMain, 100, 100, "app");
        thread(kWorker, 100, 101, "worker");
        write(0, model::ClockReading{.monotonic_ns = 5, .realtime_ns = 1'700'000'000'000'000'003});
    }

    void thread(
        model::ThreadIndex index, uint32_t pid, uint32_t tid, std::string name, uint32_t life = 0) {
        writer_->define(model::Thread{.index = index,
                                      .pid = pid,
                                      .tid = tid,
                                      .thread_life = life,
                                      .thread_name = std::move(name),
                                      .process_name = "app"});
    }

    model::PointIndex point(std::string name,
                            std::vector<model::Argument> arguments = {},
                            std::vector<model::Argument> end_arguments = {}) {
        const model::PointIndex index{next_point_++};
        writer_->define(model::Point{.index = index,
                                     .category = "lib",
                                     .name = std::move(name),
                                     .arguments = std::move(arguments),
                                     .end_arguments = std::move(end_arguments)});
        return index;
    }

    // `ns` is from the log's begin.
    WriteStatus write(uint64_t ns, const model::EventBody& body, uint16_t cpu = model::kNoCpu) {
        return writer_->write({kBegin + ns, body, cpu});
    }
    WriteStatus run(uint64_t ns,
                    uint16_t cpu,
                    model::ThreadIndex out,
                    model::ThreadIndex in,
                    model::ThreadState state = model::ThreadState::sleeping) {
        return write(ns, model::Switch{cpu, out, state, 120, in, 120}, cpu);
    }
    WriteStatus wake(uint64_t ns, uint16_t waker_cpu, model::ThreadIndex woken, uint16_t cpu) {
        return write(ns, model::Wakeup{cpu, woken, kIdle, 120}, waker_cpu);
    }
    WriteStatus instant(uint64_t ns,
                        uint16_t cpu,
                        model::PointIndex at,
                        model::ThreadIndex thread,
                        std::vector<model::Value> values = {}) {
        return write(ns, model::Instant{at, thread, values}, cpu);
    }
    WriteStatus begin(uint64_t ns,
                      uint16_t cpu,
                      model::PointIndex at,
                      model::ThreadIndex thread,
                      std::vector<model::Value> values = {}) {
        return write(ns, model::SpanBegin{at, thread, values}, cpu);
    }
    WriteStatus end(uint64_t ns,
                    uint16_t cpu,
                    model::PointIndex at,
                    model::ThreadIndex thread,
                    std::vector<model::Value> values = {},
                    model::SpanEndCause cause = model::SpanEndCause::returned) {
        return write(ns, model::SpanEnd{at, thread, cause, values}, cpu);
    }

    // What the writer holds back is written first.
    [[nodiscard]] EventlogFile read() {
        writer_->flush();
        return parse_eventlog(text_of(sink_.bytes()));
    }

    // The lines of the blocks of one capability, or of none, as `evcheck raw` has them, but for the
    // capability. Of the global block, without what each log begins with.
    [[nodiscard]] std::vector<std::string> lines(std::optional<uint16_t> capability) {
        std::vector<std::string> lines;
        const EventlogFile file = read();
        for (const EventlogEvent& event : file.events) {
            if (event.is(EventlogId::block_marker) || event.capability != capability) continue;
            const bool is_prologue =
                !capability &&
                (event.is(EventlogId::capset_create) || event.is(EventlogId::rts_identifier) ||
                 event.is(EventlogId::cap_create) || event.is(EventlogId::capset_assign_cap));
            if (is_prologue) continue;
            lines.push_back(std::to_string(event.time_ns) + " " + event_text(event));
        }
        return lines;
    }

    MemorySink sink_;
    std::unique_ptr<TraceWriter> writer_;
    bool is_closed_ = false;
    bool is_judged_ = false;  // by the test itself
    uint32_t next_point_ = 0;
};

}  // namespace tracer::test
