// SPDX-License-Identifier: Apache-2.0
//
// Order. Closing: the kernel side first, then the mark, so that all it recorded is before the mark;
// opening: the mark first. The drain thread takes the marks from the queue and puts them in their
// place by time. Used by recording.cpp and asked by steering.
#include "session/record_gate.h"

#include "session/clock.h"
#include "session/own_record.h"
#include "tracer/abi/event.h"

#include <array>
#include <unistd.h>
#include <utility>

namespace tracer {
namespace {

OwnRecord make_mark(uint32_t probe_id,
                    uint64_t time_ns,
                    std::string_view reason,
                    std::span<const uint64_t> numbers) {
    return {time_ns, make_own_hit({.probe_id = probe_id,
                                   .pid = static_cast<uint32_t>(getpid()),
                                   .tid = static_cast<uint32_t>(gettid()),
                                   .time_ns = time_ns,
                                   .text = reason,
                                   .numbers = numbers})};
}

}  // namespace

model::Point paused_point(model::PointIndex index) {
    return own_point(index, "paused", {{"reason", model::ValueType::string}});
}

ProbeDefinition paused_definition(model::PointIndex index) {
    return own_definition(TR_PROBE_paused, index, "paused", {model::ValueType::string});
}

model::Point resumed_point(model::PointIndex index) {
    return own_point(index, "resumed",
                     {{"reason", model::ValueType::string}, {"paused_ns", model::ValueType::u64}});
}

ProbeDefinition resumed_definition(model::PointIndex index) {
    return own_definition(TR_PROBE_resumed, index, "resumed",
                          {model::ValueType::string, model::ValueType::u64});
}

Status RecordGate::close(std::string_view reason) {
    if (!is_open()) return {};
    TR_TRY(recorder_.set_open(false));
    closed_ns_ = rings_.close();
    ++closings_;
    late_.add(make_mark(TR_PROBE_paused, closed_ns_, reason, {}));
    return {};
}

Status RecordGate::open(std::string_view reason) {
    if (is_open()) return {};
    const uint64_t now_ns = rings_.open();
    last_ns_ = now_ns - closed_ns_;
    const std::array numbers{last_ns_};
    late_.add(make_mark(TR_PROBE_resumed, now_ns, reason, numbers));
    closed_ns_ = 0;
    ++openings_;
    Status opened = recorder_.set_open(true);
    if (!is_waiting()) {
        sum_ns_ += last_ns_;
        return opened;
    }
    std::exchange(on_opened_, {})();
    return opened;
}

Status RecordGate::wait_closed(std::function<void()> on_opened) {
    TR_TRY(recorder_.set_open(false));
    closed_ns_ = rings_.close();
    on_opened_ = std::move(on_opened);
    return {};
}

uint64_t RecordGate::paused_ns(uint64_t now_ns) const {
    return sum_ns_ + (is_open() || is_waiting() ? 0 : now_ns - closed_ns_);
}

uint64_t RecordGate::last_closed_ns(uint64_t now_ns) const {
    return is_open() ? last_ns_ : now_ns - closed_ns_;
}

}  // namespace tracer
