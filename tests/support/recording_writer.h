// SPDX-License-Identifier: Apache-2.0
//
// A TraceWriter that keeps each event as a line of text and checks what every format relies on:
// threads and points are defined before they are named, span ends match the innermost begin,
// asynchronous ones the begin with their id, which no other has, events are of their points' kinds
// and have their values, a counter has a number, no wakeup of a running thread, no time before the
// thread's open span.
#pragma once

#include "tracer/write/trace_writer.h"

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace tracer::test {

class RecordingWriter : public TraceWriter {
public:
    // Lines such as "120 end f 7 returned [1, 2]"; a thread is its tid, "#n" after it its life
    // beyond the first, "-" none.
    [[nodiscard]] const std::vector<std::string>& lines() const { return lines_; }
    [[nodiscard]] std::vector<std::string> take_lines();
    // Of every event written, in order; kNoCpu: it had none.
    [[nodiscard]] const std::vector<uint16_t>& cpus() const { return cpus_; }
    // Broken expectations, in words; empty if all is well.
    [[nodiscard]] const std::vector<std::string>& faults() const { return faults_; }
    // The definition in force, by index.
    [[nodiscard]] const std::map<model::ThreadIndex, model::Thread>& threads() const {
        return threads_;
    }
    [[nodiscard]] const model::Thread* find_thread(uint32_t tid) const;  // the newest life
    [[nodiscard]] size_t open_spans() const;  // asynchronous ones included

    // How many more events find room.
    void set_room(uint64_t events) { room_ = events; }

    [[nodiscard]] Status open() override { return {}; }
    void define(const model::Thread& thread) override { threads_[thread.index] = thread; }
    void define(const model::Point& point) override { points_[point.index] = point; }
    WriteStatus write(const model::Event& event) override;
    void begin_batch() override {
        if (std::exchange(in_batch_, true)) faults_.emplace_back("a batch within a batch");
    }
    void end_batch() override {
        if (!std::exchange(in_batch_, false)) faults_.emplace_back("the end of no batch");
    }
    [[nodiscard]] Status begin_chunk() override { return {}; }
    [[nodiscard]] Status close() override { return {}; }
    [[nodiscard]] const WriterCounters& counters() const override { return counters_; }

private:
    struct OpenSpan {
        model::PointIndex point;
        uint64_t begin_ns;
    };

    [[nodiscard]] std::string spell(uint64_t time_ns, const model::Instant& event);
    [[nodiscard]] std::string spell(uint64_t time_ns, const model::SpanBegin& event);
    [[nodiscard]] std::string spell(uint64_t time_ns, const model::SpanEnd& event);
    [[nodiscard]] std::string spell(uint64_t time_ns, const model::AsyncBegin& event);
    [[nodiscard]] std::string spell(uint64_t time_ns, const model::AsyncEnd& event);
    [[nodiscard]] std::string spell(uint64_t time_ns, const model::Counter& event);
    [[nodiscard]] std::string spell(uint64_t time_ns, const model::Switch& event);
    [[nodiscard]] std::string spell(uint64_t time_ns, const model::Wakeup& event);
    [[nodiscard]] std::string spell(uint64_t time_ns, const model::Life& event);
    [[nodiscard]] std::string spell(uint64_t time_ns, const model::Loss& event);
    [[nodiscard]] std::string spell(uint64_t time_ns, const model::ClockReading& event);
    void expect_kind(model::PointIndex point, model::PointKind kind, size_t value_count);
    [[nodiscard]] std::string name(model::ThreadIndex thread);
    [[nodiscard]] std::string name(model::PointIndex point);

    std::vector<std::string> lines_;
    std::vector<uint16_t> cpus_;
    std::vector<std::string> faults_;
    std::map<model::ThreadIndex, model::Thread> threads_;
    std::map<model::PointIndex, model::Point> points_;
    std::map<model::ThreadIndex, std::vector<OpenSpan>> spans_;
    std::map<uint64_t, OpenSpan> async_spans_;  // by id
    std::set<uint64_t> async_ids_;              // all there ever were
    std::map<uint16_t, model::ThreadIndex> running_;
    WriterCounters counters_;
    uint64_t room_ = UINT64_MAX;
    bool in_batch_ = false;
};

// "7", "-1", "0.5", "true", "0x10", "'text'", "'cut'...", "'cut'...(500)" with its true length, "+"
// behind a lower bound of that, "?" (missing).
[[nodiscard]] std::string spell(const model::Value& value);

}  // namespace tracer::test
