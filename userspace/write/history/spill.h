// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "write/history/segment.h"
#include "write/history/segment_file.h"

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <thread>

namespace tracer::history {

// Moves closed segments from memory to a file, on a thread of its own at a low priority.
class Spill {
public:
    [[nodiscard]] static Result<std::unique_ptr<Spill>> start(std::shared_ptr<SegmentFile> file);
    ~Spill();
    Spill(const Spill&) = delete;
    Spill& operator=(const Spill&) = delete;

    // The disk is slower than events come, or takes nothing more: the oldest segments that wait are
    // given up, and the history holds nothing before what is left. Returns the newest one given up,
    // none: nullptr.
    [[nodiscard]] std::shared_ptr<const Segment> add(std::shared_ptr<const Segment> segment);

    // Any thread.
    [[nodiscard]] HistoryDisk state() const;

    // In memory beside the one that is being written.
    static constexpr size_t kWaitingMax = 16;

private:
    explicit Spill(std::shared_ptr<SegmentFile> file) : file_(std::move(file)) {}
    void run();

    const std::shared_ptr<SegmentFile> file_;
    mutable std::mutex mutex_;  // guards what follows
    std::condition_variable changed_;
    std::deque<std::shared_ptr<const Segment>> waiting_;
    std::shared_ptr<const Segment> refused_;  // by the disk, the newest; not told yet
    HistoryDisk state_;                       // but for segments_waiting
    bool is_ending_ = false;
    std::thread thread_;
};

}  // namespace tracer::history
