// SPDX-License-Identifier: Apache-2.0
//
// A kernel side in memory: rings that tests fill, counters that follow the contract (a full ring
// loses and counts), and a log of the calls. Records are made at the current BOOTTIME.
#pragma once

#include "probe/kernel_recorder.h"
#include "session/clock.h"
#include "tracer/abi/event.h"

#include <condition_variable>
#include <cstring>
#include <deque>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <vector>

namespace tracer::test {

class FakeRecorder : public KernelRecorder {
public:
    explicit FakeRecorder(size_t ring_count, size_t records_max = SIZE_MAX)
        : rings_(ring_count), records_max_(records_max) {}

    // One hit without arguments; false: the ring was full.
    bool hit(size_t ring, uint32_t probe_id = TR_PROBE_FIRST_USER) {
        const std::scoped_lock lock(mutex_);
        if (!is_open_) return true;
        tr_probe_counters& counters = probes_[probe_id];
        counters.hits += 1;
        Ring& target = rings_[ring];
        tr_record_header header{};
        header.size = sizeof(header);
        header.kind = TR_KIND_hit;
        header.probe_id = probe_id;
        header.time_ns = boottime_ns();
        header.tgid = header.tid = 4242;
        header.seq = static_cast<uint32_t>(target.attempts++);
        header.cpu = static_cast<uint16_t>(ring);
        if (target.records.size() >= records_max_) {
            counters.ring_full += 1;
            target.lost += 1;
            return false;
        }
        target.records.push_back(header);
        is_woken_ = true;
        woken_.notify_all();
        return true;
    }

    void filtered(uint64_t count, uint32_t probe_id = TR_PROBE_FIRST_USER) {
        const std::scoped_lock lock(mutex_);
        probes_[probe_id].filtered += count;
    }

    size_t ring_count() const override { return rings_.size(); }

    void peek(size_t ring, size_t count_max, std::vector<RecordView>& out) override {
        const std::scoped_lock lock(mutex_);
        Ring& source = rings_[ring];
        for (size_t i = 0; i < count_max && source.peeked < source.records.size(); ++i) {
            const tr_record_header& header = source.records[source.peeked++];
            const auto bytes = std::as_bytes(std::span(&header, 1));
            out.push_back(view_record(bytes.data(), bytes.size()));
        }
    }
    void release(size_t ring, size_t count) override {
        const std::scoped_lock lock(mutex_);
        Ring& source = rings_[ring];
        for (size_t i = 0; i < count; ++i) source.records.pop_front();
        source.peeked -= count;
    }
    uint64_t lost(size_t ring) const override {
        const std::scoped_lock lock(mutex_);
        return rings_[ring].lost;
    }

    double fill(size_t ring) const override {
        const std::scoped_lock lock(mutex_);
        return static_cast<double>(rings_[ring].records.size()) / static_cast<double>(records_max_);
    }

    Status attach(const std::function<bool()>& cancelled) override {
        log("attach");
        if (on_attach) on_attach();
        if (cancelled()) return fail(ErrorCode::usage, "cancelled");
        return attach_result;
    }
    void add_target(uint32_t pid) override { log("add_target " + std::to_string(pid)); }
    Status attach_late(const AttachPlan& addition) override {
        log("attach_late " + std::to_string(addition.first_probe_id));
        if (on_attach_late) on_attach_late(addition);
        return attach_late_result;
    }
    int news_fd() const override { return -1; }
    void read_news(KernelNews& out) override {
        const std::scoped_lock lock(mutex_);
        out = std::exchange(news, {});
    }
    Status want_cgroup(uint64_t id) override {
        log("want_cgroup " + std::to_string(id));
        return {};
    }
    bool is_recorded(uint32_t pid) const override { return recorded_pids.contains(pid); }
    Status set_open(bool is_open) override {
        log(is_open ? "open" : "close");
        const std::scoped_lock lock(mutex_);
        is_open_ = is_open;
        return set_open_result;
    }
    Status detach() override {
        log("detach");
        if (on_detach) on_detach();
        return {};
    }
    bool wait(std::chrono::milliseconds timeout) override {
        std::unique_lock lock(mutex_);
        // One that comes while nobody waits is kept, as an eventfd keeps it.
        woken_.wait_for(lock, timeout, [this] { return is_woken_; });
        return std::exchange(is_woken_, false);
    }
    void wake() override {
        const std::scoped_lock lock(mutex_);
        is_woken_ = true;
        woken_.notify_all();
    }
    KernelCounters counters() const override {
        const std::scoped_lock lock(mutex_);
        log_.push_back("counters");
        KernelCounters result;
        for (const auto& [id, counters] : probes_) result.probes.push_back({id, counters});
        for (const Ring& ring : rings_) result.rings.push_back({ring.attempts, ring.lost});
        return result;
    }
    uint64_t old_ring_bytes() const override { return old_bytes; }
    Status make_other_rings(uint64_t ring_bytes) override {
        log("make rings of " + std::to_string(ring_bytes));
        return other_rings_result;
    }
    void add_other_rings() override { log("add rings"); }
    Status use_other_rings() override {
        log("use rings");
        return {};
    }
    const std::vector<std::string>& warnings() const override { return warnings_; }
    const std::vector<RefusedPlace>& refused() const override { return refused_places; }

    std::vector<std::string> calls() const {
        const std::scoped_lock lock(mutex_);
        return log_;
    }
    bool is_empty() const {
        const std::scoped_lock lock(mutex_);
        for (const Ring& ring : rings_) {
            if (!ring.records.empty()) return false;
        }
        return true;
    }

    Status attach_result;
    Status set_open_result;
    Status attach_late_result;
    Status other_rings_result;
    uint64_t old_bytes = 0;
    std::set<uint32_t> recorded_pids;  // set before the recording begins
    std::function<void(const AttachPlan&)> on_attach_late;
    std::vector<RefusedPlace> refused_places;  // grown by on_attach and on_attach_late alone
    KernelNews news;  // given at the next look; set before the recording begins
    std::function<void()> on_attach;
    std::function<void()> on_detach;

private:
    struct Ring {
        std::deque<tr_record_header> records;  // references stay valid while others are pushed
        size_t peeked = 0;
        uint64_t attempts = 0;
        uint64_t lost = 0;
    };

    void log(const std::string& call) const {
        const std::scoped_lock lock(mutex_);
        log_.push_back(call);
    }

    mutable std::mutex mutex_;
    std::condition_variable woken_;
    bool is_woken_ = false;  // guarded by mutex_
    bool is_open_ = true;
    std::vector<Ring> rings_;
    size_t records_max_;
    std::map<uint32_t, tr_probe_counters> probes_;
    std::vector<std::string> warnings_;
    mutable std::vector<std::string> log_;
};

}  // namespace tracer::test
