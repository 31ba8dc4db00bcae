// SPDX-License-Identifier: Apache-2.0
//
// Holes in the output: entering one, and paying what is owed on the way out. Off the hot path; the
// inline part of the header is what every event takes.
#include "decode/event_output.h"

#include <span>
#include <utility>
#include <variant>

namespace tracer {

void EventOutput::write_plain() {
    const std::span<const PlainInstant> instants(plain_.data(), std::exchange(plain_count_, 0));
    size_t done = 0;
    if (!in_hole_) {
        done = writer_.write_plain(instants);
        if (done < instants.size()) write_at_hole(ExpandedInstant(instants[done++]).event());
    }
    for (; done < instants.size(); ++done) write(ExpandedInstant(instants[done]).event());
}

bool EventOutput::write_at_hole(const model::Event& event) {
    if (in_hole_) {
        if (leave_hole(event.time_ns)) {
            const WriteStatus status = writer_.write(event);
            if (status != WriteStatus::no_room) return status == WriteStatus::ok;
        }
    }
    ++counters_.lost_to_sink;
    ++hole_count_;
    if (in_hole_) return false;

    in_hole_ = true;
    hole_begin_ns_ = event.time_ns;
    // An end that found no room is the first thing owed: its begin is in the trace.
    if (const auto* end = std::get_if<model::SpanEnd>(&event.body)) {
        model::SpanEnd owed = *end;
        owed.values = {};
        owed.cause = model::SpanEndCause::lost_events;
        owe(owed, event.time_ns);
    }
    if (const auto* end = std::get_if<model::AsyncEnd>(&event.body)) {
        model::AsyncEnd owed = *end;
        owed.values = {};
        owed.cause = model::SpanEndCause::lost_events;
        owe(owed, event.time_ns);
    }
    observer_.on_hole(hole_begin_ns_);
    return false;
}

void EventOutput::finish(uint64_t now_ns) {
    flush();
    if (in_hole_) static_cast<void>(leave_hole(now_ns));
}

// Pays the debts, then tells of the loss. False: no room yet.
bool EventOutput::leave_hole(uint64_t now_ns) {
    for (; debts_paid_ < debts_.size(); ++debts_paid_) {
        if (writer_.write(debts_[debts_paid_]) == WriteStatus::no_room) return false;
    }
    debts_.clear();
    debts_paid_ = 0;
    const model::Event loss{
        std::max(now_ns, hole_begin_ns_),
        model::Loss{model::LossCause::sink_full, 0, hole_begin_ns_, hole_count_}};
    if (writer_.write(loss) == WriteStatus::no_room) return false;
    in_hole_ = false;
    hole_count_ = 0;
    return true;
}

}  // namespace tracer
