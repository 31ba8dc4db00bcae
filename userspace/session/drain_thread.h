// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "capture/merger.h"
#include "probe/kernel_recorder.h"
#include "session/end_watch.h"
#include "session/late_queue.h"
#include "session/output.h"
#include "session/record_batch.h"
#include "session/ring_reader.h"
#include "session/share_limiter.h"
#include "session/size_limit.h"

#include <atomic>
#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <semaphore>
#include <string>
#include <thread>

namespace tracer {

struct DrainOptions {
    bool real_time = true;          // SCHED_RR 1, where the system allows it
    uint32_t share_percent = 50;    // of one CPU, over any 100 ms
    uint64_t output_bytes_max = 0;  // what comes after is left out and counted; 0: no limit
    // How long a program may take between reading the clock and handing over its record.
    std::chrono::nanoseconds slack = std::chrono::milliseconds(1);
    // The kernel side wakes the thread earlier when a ring is a quarter full. A turn costs some
    // 100 us whatever it finds (switches, cold caches), so few large ones are cheap ones.
    std::chrono::milliseconds wait{100};
    std::chrono::nanoseconds flush_every = std::chrono::milliseconds(500);
    std::chrono::nanoseconds clock_every = std::chrono::seconds(10);
};

// Numbers that the drain thread publishes for the status line and for who asks; written by it alone
// but for fill_max.
struct DrainProgress {
    std::atomic<uint64_t> records = 0;
    std::atomic<uint64_t> lost = 0;
    std::atomic<uint64_t> pauses = 0;      // of the bounded share
    std::atomic<bool> is_waiting = false;  // the output, for its start
    // Of the fullest ring before a turn, 0..1: the most since a reader set it to 0.
    std::atomic<double> fill_max = 0;
    std::atomic<double> fill = 0;  // the same before the last turn
};

// Moves records from the rings to the output until stopped. Between start() and the return of
// stop() the recorder's consuming side, the merger and the output belong to its thread.
class DrainThread {
public:
    // Borrows all five. `late`: what others may hand over at any time; `rings`: of programs.
    DrainThread(KernelRecorder& recorder,
                Merger& merger,
                Output& output,
                LateQueue& late,
                RingReader& rings,
                const DrainOptions& options);
    ~DrainThread() { stop(); }
    DrainThread(const DrainThread&) = delete;
    DrainThread& operator=(const DrainThread&) = delete;

    // `wake_fd`: an eventfd to write when raised() has something to say; -1: none.
    void start(int wake_fd);
    // Ends the thread after the turn it is in; what is younger than the slack stays in the rings.
    void stop();

    // Runs `work` on the thread after a turn that begins later than the call: all that was recorded
    // up to the slack before the call is in the output by then, unless draining is behind. Waits
    // for it, as long as two turns take (some 200 ms where draining uses up its share). On the
    // caller's thread where the drain thread does not run. Of the thread that starts and stops it.
    void call(const std::function<void()>& work);

    // After stop() and once nothing produces any more: the rest, on the calling thread and without
    // a bound on its share. False: `give_up`, asked after every few milliseconds' worth of records,
    // ended it.
    [[nodiscard]] bool drain_to_empty(const std::function<bool()>& give_up);

    [[nodiscard]] const DrainProgress& progress() const { return progress_; }
    // progress().fill_max, which begins anew.
    [[nodiscard]] double take_fill_max() { return progress_.fill_max.exchange(0); }
    // Why the recording should end, if the thread found a reason. Any thread.
    [[nodiscard]] std::optional<EndCause> raised() const;
    // Of a call's work, which has mended what made the output fail: that is no reason any more.
    void forget_failure();
    // Why the thread runs at an ordinary priority though asked otherwise; after stop().
    [[nodiscard]] const std::string& priority_warning() const { return priority_warning_; }
    // What stands before the output, for what is left to hand over after drain_to_empty().
    [[nodiscard]] SizeLimit& limit() { return limit_; }
    // What the output said when it refused definitions that came late; after drain_to_empty().
    [[nodiscard]] const std::string& late_error() const { return late_error_; }

private:
    struct Call {
        const std::function<void()>& work;
        std::binary_semaphore done{0};
    };

    void run();
    static void finish(Call* call);
    // One turn: everything older than `watermark_ns`, in slices between which the share is
    // looked at; less after a pause.
    void drain_up_to(uint64_t watermark_ns);
    void read_clocks_if_due();
    void take_late();
    // The kernel's records up to that time, and those of programs' rings among them.
    void drain_slice(uint64_t end_ns);
    // Hands our own records that are due to the output.
    void write_due();
    void watch_output();
    void publish();
    void note_fill();
    // True: it paused.
    bool pause_if_over_share();
    void raise(EndCause cause);
    void wake_owner() const;

    KernelRecorder& recorder_;
    Merger& merger_;
    Output& output_;
    LateQueue& late_;
    RingReader& rings_;
    const DrainOptions options_;
    ShareLimiter limiter_;
    SizeLimit limit_;
    int wake_fd_ = -1;
    std::thread thread_;
    std::atomic<bool> stop_ = false;
    std::atomic<int> raised_ = -1;  // an EndCause
    std::atomic<Call*> call_ = nullptr;
    DrainProgress progress_;
    std::string priority_warning_;

    // Of the thread alone; of the owner after stop().
    uint64_t drained_to_ns_ = 0;
    uint64_t last_flush_ns_ = 0;
    uint64_t last_clock_ns_ = 0;
    uint64_t last_share_ns_ = 0;
    std::deque<OwnRecord> due_;  // by time; younger than what is drained
    std::string late_error_;
};

}  // namespace tracer
