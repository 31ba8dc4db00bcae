// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "probe/bpf_ring.h"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <vector>

namespace tracer {

// The rings of one CPU as one stream: that in use, and behind an exchange for a larger or smaller
// one those before it, which are read to their end first. The numbers of records go on over all of
// them. Of the consuming thread but for what says
// otherwise.
class RingRow {
public:
    explicit RingRow(BpfRing ring) { add(std::move(ring)); }

    // A ring that programs are about to write to.
    void add(BpfRing ring);
    // Programs write to the newest from `now_ns` on, all but those that are in the midst of a
    // record. Of the thread that exchanges rings, after add().
    void retire_before_newest(uint64_t now_ns);

    // Of those behind the newest; of either thread.
    [[nodiscard]] uint64_t old_bytes() const;

    // As BpfRing's, over all of them.
    void peek(size_t count_max, std::vector<RecordView>& out);
    void release(size_t count);
    // How full the fullest is, 0..1.
    [[nodiscard]] double fill() const;
    [[nodiscard]] bool has_one_at(double part) const { return fill() >= part; }

    // Lets go of rings that nobody writes to any more.
    void prune(uint64_t now_ns);
    [[nodiscard]] size_t size() const { return rings_.size(); }
    // Of either thread; good until another is added and this one pruned.
    [[nodiscard]] const BpfRing& newest() const;

    // How long a record may be in the making when its program is preempted: nothing in it sleeps,
    // so only a thread that gets no CPU for as long would write where nobody reads any more. That
    // would show: the numbers say how many there were.
    static constexpr uint64_t kStragglersNs = 10'000'000'000;

private:
    struct One {
        explicit One(BpfRing mapped) : ring(std::move(mapped)) {}
        BpfRing ring;
        std::atomic<uint64_t> retired_ns = 0;  // 0: in use, or about to be
    };
    struct Run {
        One* one;
        size_t count;
    };

    // The newest last; never empty. The consuming thread changes it, and another may look.
    std::vector<std::unique_ptr<One>> rings_;
    mutable std::mutex mutex_;
    std::deque<Run> peeked_;  // in the order they were given out
};

}  // namespace tracer
