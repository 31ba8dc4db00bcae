// SPDX-License-Identifier: Apache-2.0
//
// Spells events for tests, and watches over the rules that the decoder owes every writer.
#include "support/recording_writer.h"

#include <algorithm>
#include <span>
#include <utility>
#include <variant>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace tracer::test {

namespace {

// Behind its point's name, where an event has one of its own.
std::string spell_name(std::string_view name) {
    return name.empty() ? std::string() : fmt::format("=\"{}\"", name);
}

std::string spell_all(std::span<const model::Value> values) {
    std::vector<std::string> texts;
    for (const model::Value& value : values) texts.push_back(spell(value));
    return fmt::format("[{}]", fmt::join(texts, ", "));
}

std::string cut_mark(const model::Value& value) {
    if (!value.is_cut) return "";
    if (value.bits == 0) return "...";
    return fmt::format("...({}{})", value.bits, value.is_longer ? "+" : "");
}

std::string_view name_of(model::SpanEndCause cause) {
    switch (cause) {
        case model::SpanEndCause::returned:
            return "returned";
        case model::SpanEndCause::unwound:
            return "unwound";
        case model::SpanEndCause::lost_events:
            return "lost_events";
        case model::SpanEndCause::thread_exit:
            return "thread_exit";
        case model::SpanEndCause::recording_end:
            return "recording_end";
        case model::SpanEndCause::until:
            return "until";
        case model::SpanEndCause::key_reused:
            return "key_reused";
        case model::SpanEndCause::process_exit:
            return "process_exit";
        case model::SpanEndCause::crossed:
            return "crossed";
        case model::SpanEndCause::paused:
            return "paused";
    }
    return "?";
}

std::string_view name_of(model::ThreadState state) {
    switch (state) {
        case model::ThreadState::runnable:
            return "runnable";
        case model::ThreadState::sleeping:
            return "sleeping";
        case model::ThreadState::uninterruptible:
            return "uninterruptible";
        case model::ThreadState::stopped:
            return "stopped";
        case model::ThreadState::dead:
            return "dead";
        case model::ThreadState::unknown:
            return "unknown";
    }
    return "?";
}

}  // namespace

std::string spell(const model::Value& value) {
    switch (value.type) {
        case model::ValueType::none:
            return "?";
        case model::ValueType::s32:
        case model::ValueType::s64:
            return fmt::format("{}", static_cast<int64_t>(value.bits));
        case model::ValueType::u32:
        case model::ValueType::u64:
            return fmt::format("{}", value.bits);
        case model::ValueType::f64:
            return fmt::format("{}", value.real);
        case model::ValueType::boolean:
            return value.bits != 0 ? "true" : "false";
        case model::ValueType::pointer:
            return fmt::format("{:#x}", value.bits);
        case model::ValueType::string:
            return fmt::format("'{}'{}", value.text, cut_mark(value));
    }
    return "";
}

std::vector<std::string> RecordingWriter::take_lines() {
    return std::exchange(lines_, {});
}

const model::Thread* RecordingWriter::find_thread(uint32_t tid) const {
    const model::Thread* found = nullptr;
    for (const auto& [index, thread] : threads_) {
        if (thread.tid == tid) found = &thread;
    }
    return found;
}

size_t RecordingWriter::open_spans() const {
    size_t count = async_spans_.size();
    for (const auto& [thread, spans] : spans_) count += spans.size();
    return count;
}

WriteStatus RecordingWriter::write(const model::Event& event) {
    if (room_ == 0) {
        ++counters_.no_room;
        return WriteStatus::no_room;
    }
    if (room_ != UINT64_MAX) --room_;
    ++counters_.events;
    cpus_.push_back(event.cpu);
    lines_.push_back(
        std::visit([&](const auto& body) { return spell(event.time_ns, body); }, event.body));
    return WriteStatus::ok;
}

std::string RecordingWriter::name(model::ThreadIndex thread) {
    if (thread == model::kIdleThread) return "-";
    const auto found = threads_.find(thread);
    if (found == threads_.end()) {
        faults_.push_back("a thread was named before it was defined");
        return "undefined";
    }
    const model::Thread& known = found->second;
    if (known.thread_life == 0) return fmt::format("{}", known.tid);
    return fmt::format("{}#{}", known.tid, known.thread_life);
}

std::string RecordingWriter::name(model::PointIndex point) {
    const auto found = points_.find(point);
    if (found != points_.end()) return found->second.name;
    faults_.push_back("a point was named before it was defined");
    return "undefined";
}

void RecordingWriter::expect_kind(model::PointIndex point,
                                  model::PointKind kind,
                                  size_t value_count) {
    const auto found = points_.find(point);
    if (found == points_.end()) return;  // told by name()
    if (found->second.kind != kind) faults_.push_back("an event of another kind than its point");
    if (found->second.arguments.size() != value_count) {
        faults_.push_back("as many values as the point has arguments");
    }
}

std::string RecordingWriter::spell(uint64_t time_ns, const model::Instant& event) {
    expect_kind(event.point, model::PointKind::instant, event.values.size());
    return fmt::format("{} instant {}{} {} {}", time_ns, name(event.point), spell_name(event.name),
                       name(event.thread), spell_all(event.values));
}

std::string RecordingWriter::spell(uint64_t time_ns, const model::SpanBegin& event) {
    expect_kind(event.point, model::PointKind::span, event.values.size());
    auto& open = spans_[event.thread];
    if (!open.empty() && open.back().begin_ns > time_ns) {
        faults_.push_back(fmt::format("a span at {} begins before the one around it", time_ns));
    }
    open.push_back({event.point, time_ns});
    return fmt::format("{} begin {}{} {} {}", time_ns, name(event.point), spell_name(event.name),
                       name(event.thread), spell_all(event.values));
}

std::string RecordingWriter::spell(uint64_t time_ns, const model::SpanEnd& event) {
    auto& open = spans_[event.thread];
    if (open.empty() || open.back().point != event.point) {
        faults_.push_back(fmt::format("an end at {} does not match", time_ns));
    } else {
        if (open.back().begin_ns > time_ns) faults_.push_back("an end before its begin");
        open.pop_back();
    }
    return fmt::format("{} end {} {} {} {}", time_ns, name(event.point), name(event.thread),
                       name_of(event.cause), spell_all(event.values));
}

// Ids are spelled as they are counted, from 1 on: lines are easier to read so.
std::string RecordingWriter::spell(uint64_t time_ns, const model::AsyncBegin& event) {
    expect_kind(event.point, model::PointKind::span, event.values.size());
    if (!async_ids_.insert(event.id).second) {
        faults_.push_back(fmt::format("an asynchronous begin at {} with a used id", time_ns));
    }
    async_spans_[event.id] = {event.point, time_ns};
    return fmt::format("{} async_begin {} {} #{} {}", time_ns, name(event.point),
                       name(event.thread), event.id - *async_ids_.begin() + 1,
                       spell_all(event.values));
}

std::string RecordingWriter::spell(uint64_t time_ns, const model::AsyncEnd& event) {
    const auto found = async_spans_.find(event.id);
    if (found == async_spans_.end() || found->second.point != event.point) {
        faults_.push_back(fmt::format("an asynchronous end at {} does not match", time_ns));
    } else {
        if (found->second.begin_ns > time_ns) faults_.push_back("an end before its begin");
        async_spans_.erase(found);
    }
    const uint64_t first = async_ids_.empty() ? event.id : *async_ids_.begin();
    return fmt::format("{} async_end {} {} #{} {} {}", time_ns, name(event.point),
                       name(event.thread), event.id - first + 1, name_of(event.cause),
                       spell_all(event.values));
}

std::string RecordingWriter::spell(uint64_t time_ns, const model::Counter& event) {
    const auto is_number = [](const model::Value& value) {
        return value.type != model::ValueType::none && value.type != model::ValueType::string;
    };
    if (std::ranges::none_of(event.values, is_number)) {
        faults_.push_back(fmt::format("a counter at {} without a number", time_ns));
    }
    expect_kind(event.point, model::PointKind::counter, event.values.size());
    return fmt::format("{} counter {}{} {} {}", time_ns, name(event.point), spell_name(event.name),
                       name(event.thread), spell_all(event.values));
}

std::string RecordingWriter::spell(uint64_t time_ns, const model::Switch& event) {
    const auto found = running_.find(event.cpu);
    if (found != running_.end() && found->second != event.out &&
        found->second != model::kIdleThread) {
        faults_.push_back(fmt::format("a switch at {} whose out is not the last in", time_ns));
    }
    running_[event.cpu] = event.in;
    const std::string state =
        event.out == model::kIdleThread ? "" : fmt::format("({})", name_of(event.out_state));
    return fmt::format("{} switch cpu{} {}{} -> {}", time_ns, event.cpu, name(event.out), state,
                       name(event.in));
}

std::string RecordingWriter::spell(uint64_t time_ns, const model::Wakeup& event) {
    for (const auto& [cpu, thread] : running_) {
        if (thread == event.woken) faults_.push_back("a wakeup of a running thread");
    }
    return fmt::format("{} wakeup cpu{} {} by {}", time_ns, event.cpu, name(event.woken),
                       name(event.waker));
}

std::string RecordingWriter::spell(uint64_t time_ns, const model::Life& event) {
    switch (event.kind) {
        case model::LifeKind::fork:
            return fmt::format("{} fork {} child {}", time_ns, name(event.thread),
                               name(event.child));
        case model::LifeKind::exec:
            return fmt::format("{} exec {} {}", time_ns, name(event.thread), event.path);
        case model::LifeKind::exit:
            return fmt::format("{} exit {} code {}", time_ns, name(event.thread), event.exit_code);
    }
    return "";
}

std::string RecordingWriter::spell(uint64_t time_ns, const model::Loss& event) {
    if (event.begin_ns > time_ns) faults_.push_back("a loss that ends before it begins");
    const char* cause = event.cause == model::LossCause::ring_full   ? "ring_full"
                        : event.cause == model::LossCause::sink_full ? "sink_full"
                                                                     : "malformed";
    return fmt::format("{} loss {} cpu{} from {} count {}", time_ns, cause, event.cpu,
                       event.begin_ns, event.count);
}

std::string RecordingWriter::spell(uint64_t time_ns, const model::ClockReading& event) {
    return fmt::format("{} clock {} {}", time_ns, event.monotonic_ns, event.realtime_ns);
}

}  // namespace tracer::test
