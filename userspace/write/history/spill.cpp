// SPDX-License-Identifier: Apache-2.0
//
// The thread that writes segments to the disk. It may wait for it; who writes events never does.
#include "write/history/spill.h"

#include "base/quiet_thread.h"

#include <pthread.h>
#include <sched.h>
#include <utility>

namespace tracer::history {

Result<std::unique_ptr<Spill>> Spill::start(std::shared_ptr<SegmentFile> file) {
    auto spill = std::unique_ptr<Spill>(new Spill(std::move(file)));
    TR_ASSIGN(spill->thread_, start_quiet_thread([raw = spill.get()] { raw->run(); }));
    return spill;
}

Spill::~Spill() {
    {
        const std::lock_guard lock(mutex_);
        is_ending_ = true;
    }
    changed_.notify_all();
    if (thread_.joinable()) thread_.join();
}

std::shared_ptr<const Segment> Spill::add(std::shared_ptr<const Segment> segment) {
    std::shared_ptr<const Segment> newest;
    {
        const std::lock_guard lock(mutex_);
        newest = std::exchange(refused_, nullptr);
        waiting_.push_back(std::move(segment));
        while (waiting_.size() > kWaitingMax) {
            newest = std::move(waiting_.front());
            waiting_.pop_front();
            state_.segments_given_up += 1;
        }
    }
    changed_.notify_all();
    return newest;
}

HistoryDisk Spill::state() const {
    const std::lock_guard lock(mutex_);
    HistoryDisk state = state_;
    state.segments_waiting = waiting_.size();
    return state;
}

void Spill::run() {
    pthread_setname_np(pthread_self(), "tracer-history");
    const sched_param ordinary{};
    static_cast<void>(pthread_setschedparam(pthread_self(), SCHED_BATCH, &ordinary));
    std::unique_lock lock(mutex_);
    while (true) {
        changed_.wait(lock, [this] { return is_ending_ || !waiting_.empty(); });
        // Of a history that goes nobody needs the rest.
        if (is_ending_) return;
        const std::shared_ptr<const Segment> segment = waiting_.front();
        lock.unlock();
        auto place = file_->write(segment->storage.in_memory(segment->size));
        if (place) segment->storage.move_to(std::move(*place));
        lock.lock();
        // Else it was given up meanwhile.
        if (!waiting_.empty() && waiting_.front() == segment) waiting_.pop_front();
        if (place) continue;
        state_.segments_given_up += 1;
        refused_ = segment;
        if (state_.error.empty()) state_.error = place.error().what;
    }
}

}  // namespace tracer::history
