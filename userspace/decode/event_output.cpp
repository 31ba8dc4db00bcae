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
    const auto* const loss = std::get_if<model::Loss>(&event.body);
    if (loss != nullptr) {
        keep(*loss);
    } else {
        ++counters_.lost_to_sink;
        ++hole_count_;
    }
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
    if (!in_hole_ || leave_hole(now_ns)) return;
    // What is owed finds no room any more; how much is missing may, where a format keeps some.
    for (const model::Loss& loss : losses_) {
        static_cast<void>(writer_.write(at_end_of_hole(now_ns, loss)));
    }
    if (hole_count_ == 0) return;
    static_cast<void>(writer_.write(at_end_of_hole(now_ns, own_loss())));
}

void EventOutput::keep(const model::Loss& loss) {
    for (model::Loss& known : losses_) {
        if (known.cause != loss.cause || known.cpu != loss.cpu) continue;
        known.begin_ns = std::min(known.begin_ns, loss.begin_ns);
        known.count += loss.count;
        return;
    }
    losses_.push_back(loss);
}

model::Event EventOutput::at_end_of_hole(uint64_t now_ns, const model::Loss& loss) const {
    return {std::max(now_ns, hole_begin_ns_), loss};
}

// Pays the debts, then tells of the losses. False: no room yet.
bool EventOutput::leave_hole(uint64_t now_ns) {
    for (; debts_paid_ < debts_.size(); ++debts_paid_) {
        if (writer_.write(debts_[debts_paid_]) == WriteStatus::no_room) return false;
    }
    debts_.clear();
    debts_paid_ = 0;
    while (!losses_.empty()) {
        const model::Event loss = at_end_of_hole(now_ns, losses_.back());
        if (writer_.write(loss) == WriteStatus::no_room) return false;
        losses_.pop_back();
    }
    // None, if the hole was of losses alone.
    const bool has_own = hole_count_ != 0;
    const model::Event own = at_end_of_hole(now_ns, own_loss());
    if (has_own && writer_.write(own) == WriteStatus::no_room) return false;
    in_hole_ = false;
    hole_count_ = 0;
    return true;
}

}  // namespace tracer
