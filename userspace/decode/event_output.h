// SPDX-License-Identifier: Apache-2.0
//
// The way from the decoder to the writer, and what happens when the sink behind it is full: a hole.
// During a hole events are counted and dropped. What was open when it began (spans whose begin is
// in the trace, threads on CPUs) is owed an end at the hole's begin; the debt is paid, and the loss
// told, before the first event that finds room again. Losses before us that fall into the hole are
// told there too: what is missing is never less than is said.
#pragma once

#include "decode/decoder.h"
#include "tracer/model/event.h"
#include "tracer/write/trace_writer.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace tracer {

// Told when a hole begins: hands over everything that is open in the trace through owe(), in the
// order in which it is to be ended, and forgets it.
class HoleObserver {
public:
    virtual ~HoleObserver() = default;
    virtual void on_hole(uint64_t begin_ns) = 0;
};

class EventOutput {
public:
    // Borrows all three.
    EventOutput(TraceWriter& writer, HoleObserver& observer, DecoderCounters& counters)
        : writer_(writer), observer_(observer), counters_(counters) {}

    // False: not written (no room, or the format cannot say it).
    bool write(const model::Event& event) {
        flush();
        if (!in_hole_) [[likely]] {
            const WriteStatus status = writer_.write(event);
            if (status != WriteStatus::no_room) return status == WriteStatus::ok;
        }
        return write_at_hole(event);
    }

    // As write() of such an instant, but it may be kept back until the next event of another kind
    // or flush(): a call of the writer for each would cost more than what it does. Its words must
    // stay until then.
    void add(const PlainInstant& instant) {
        if (plain_count_ == plain_.size()) flush();
        plain_[plain_count_++] = instant;
    }
    void flush() {
        if (plain_count_ != 0) write_plain();
    }

    // An event to be written at the hole's begin (not before earliest_ns) once there is room.
    void owe(const model::EventBody& body, uint64_t earliest_ns) {
        debts_.push_back({std::max(hole_begin_ns_, earliest_ns), body});
    }

    // At the end of the stream: pays and tells what is still owed, if there is room by now.
    void finish(uint64_t now_ns);

private:
    static constexpr size_t kPlainMax = 64;

    void write_plain();
    bool write_at_hole(const model::Event& event);
    [[nodiscard]] bool leave_hole(uint64_t now_ns);
    [[nodiscard]] model::Event at_end_of_hole(uint64_t now_ns, const model::Loss& loss) const;
    [[nodiscard]] model::Loss own_loss() const {
        return {model::LossCause::sink_full, 0, hole_begin_ns_, hole_count_};
    }
    void keep(const model::Loss& loss);

    TraceWriter& writer_;
    HoleObserver& observer_;
    DecoderCounters& counters_;
    bool in_hole_ = false;
    uint64_t hole_begin_ns_ = 0;
    uint64_t hole_count_ = 0;
    std::array<PlainInstant, kPlainMax> plain_{};
    size_t plain_count_ = 0;
    std::vector<model::Event> debts_;
    size_t debts_paid_ = 0;
    // Told within the hole, and so still to be told: one for each cause and CPU.
    std::vector<model::Loss> losses_;
};

}  // namespace tracer
