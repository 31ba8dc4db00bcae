// SPDX-License-Identifier: Apache-2.0
//
// `tracer top` as an output: counts instead of writing, and hands over a frame each interval.
#pragma once

#include "session/output.h"
#include "session/top/top_frame.h"
#include "session/top/top_table.h"
#include "tracer/base/unique_fd.h"

#include <chrono>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <vector>

namespace tracer {

// Frames on their way from the thread that drains to the one that shows them.
class TopFrames {
public:
    [[nodiscard]] static Result<std::unique_ptr<TopFrames>> make();

    // Never waits: of more than kWaitingMax the oldest go, counted. Counts since the start are in
    // each frame.
    void push(TopFrame frame);
    // Those that have come since the last call, oldest first.
    [[nodiscard]] std::vector<TopFrame> take();
    // Readable while there are any.
    [[nodiscard]] int fd() const { return wake_.get(); }
    [[nodiscard]] uint64_t dropped() const;

    static constexpr size_t kWaitingMax = 64;

private:
    explicit TopFrames(UniqueFd wake) : wake_(std::move(wake)) {}

    UniqueFd wake_;  // an eventfd
    mutable std::mutex mutex_;
    std::deque<TopFrame> waiting_;  // guarded by mutex_, as what follows
    uint64_t dropped_ = 0;
};

struct TopOutputOptions {
    TopTableOptions table;
    std::chrono::nanoseconds interval = std::chrono::seconds(1);
    TopFrames* frames = nullptr;  // borrowed
};

// Intervals end when the output is flushed, so the drain thread must flush it often.
[[nodiscard]] std::unique_ptr<Output> make_top_output(RecordingDefinitions definitions,
                                                      const TopOutputOptions& options);

}  // namespace tracer
