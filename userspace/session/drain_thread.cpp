// SPDX-License-Identifier: Apache-2.0
//
// The drain loop: wait for a ring to fill to a quarter (or 100 ms), then merge, decode and write
// what is older than a millisecond. It never waits for the output (a full sink is counted loss),
// and never takes more than its share of a CPU: past it the rings fill, and what finds no room is
// counted by the kernel. Started and stopped by recording.cpp.
#include "session/drain_thread.h"

#include "session/clock.h"
#include "session/real_time.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <pthread.h>
#include <span>
#include <unistd.h>

#include <fmt/format.h>

namespace tracer {
namespace {

constexpr uint64_t kSliceNsMin = 5'000'000;
// After a long sleep (BOOTTIME goes on in suspend) slices grow instead of becoming many.
constexpr uint64_t kSlicesMax = 64;
// The thread's CPU clock is a system call, dearer than the slice of a quiet machine.
constexpr uint64_t kShareEveryNs = 1'000'000;

std::string real_time_warning() {
    const int error = take_real_time_priority();
    if (error == 0) return {};
    return fmt::format(
        "no real-time priority for draining ({}): a saturated machine may lose events",
        strerrordesc_np(error));
}

void sleep_ns(uint64_t ns) {
    const timespec time{static_cast<time_t>(ns / 1'000'000'000),
                        static_cast<long>(ns % 1'000'000'000)};
    clock_nanosleep(CLOCK_MONOTONIC, 0, &time, nullptr);
}

}  // namespace

DrainThread::DrainThread(KernelRecorder& recorder,
                         Merger& merger,
                         Output& output,
                         LateQueue& late,
                         RingReader& rings,
                         const DrainOptions& options)
    : recorder_(recorder),
      merger_(merger),
      output_(output),
      late_(late),
      rings_(rings),
      options_(options),
      limiter_(options.share_percent),
      limit_(output, options.output_bytes_max) {}

void DrainThread::start(int wake_fd) {
    wake_fd_ = wake_fd;
    progress_.is_waiting = output_.is_waiting();
    thread_ = std::thread([this] { run(); });
}

void DrainThread::stop() {
    if (!thread_.joinable()) return;
    stop_.store(true, std::memory_order_release);
    recorder_.wake();
    thread_.join();
}

std::optional<EndCause> DrainThread::raised() const {
    const int cause = raised_.load(std::memory_order_acquire);
    if (cause < 0) return std::nullopt;
    return static_cast<EndCause>(cause);
}

void DrainThread::run() {
    pthread_setname_np(pthread_self(), "tracer-drain");
    if (options_.real_time) priority_warning_ = real_time_warning();
    drained_to_ns_ = boottime_ns();
    last_flush_ns_ = last_clock_ns_ = drained_to_ns_;
    const uint64_t slack_ns = static_cast<uint64_t>(options_.slack.count());
    bool is_behind = false;
    while (!stop_.load(std::memory_order_acquire)) {
        recorder_.wait(is_behind ? std::chrono::milliseconds(0) : rings_.wait(options_.wait));
        Call* const call = call_.exchange(nullptr, std::memory_order_acq_rel);
        note_fill();
        const uint64_t now_ns = boottime_ns();
        const uint64_t watermark_ns = now_ns > slack_ns ? now_ns - slack_ns : 0;
        // After the clock, however long it is held up: all that programs wrote up to the watermark
        // goes out in its place, and before their processes' ends.
        rings_.poll();
        // In this order: whoever adds a probe tells us before it can be hit, so no record up to
        // the watermark is of a probe that we do not know.
        take_late();
        drain_up_to(watermark_ns);
        is_behind = drained_to_ns_ < watermark_ns;
        watch_output();
        publish();
        finish(call);
    }
    finish(call_.exchange(nullptr, std::memory_order_acq_rel));
}

void DrainThread::call(const std::function<void()>& work) {
    if (!thread_.joinable()) {
        work();
        return;
    }
    Call call{work};
    call_.store(&call, std::memory_order_release);
    recorder_.wake();
    call.done.acquire();
}

void DrainThread::finish(Call* call) {
    if (call == nullptr) return;
    call->work();
    call->done.release();
}

bool DrainThread::drain_to_empty(const std::function<bool()>& give_up) {
    TR_CHECK(!thread_.joinable());
    take_late();
    rings_.poll();
    for (const uint64_t now_ns = boottime_ns(); drained_to_ns_ < now_ns;) {
        drained_to_ns_ = std::min(drained_to_ns_ + kSliceNsMin, now_ns);
        if (!due_.empty()) drained_to_ns_ = std::min(drained_to_ns_, due_.front().time_ns);
        drain_slice(drained_to_ns_);
        write_due();
        if (give_up()) return false;
    }
    rings_.finish();
    drain_slice(UINT64_MAX);
    return true;
}

// Ends early after a pause or when told to stop: a turn that catches up with a flood would
// otherwise look at nothing else for as long as the flood lasts.
void DrainThread::drain_up_to(uint64_t watermark_ns) {
    const uint64_t span_ns = watermark_ns > drained_to_ns_ ? watermark_ns - drained_to_ns_ : 0;
    const uint64_t slice_ns = std::max(kSliceNsMin, span_ns / kSlicesMax);
    read_clocks_if_due();
    while (drained_to_ns_ < watermark_ns && !stop_.load(std::memory_order_acquire)) {
        uint64_t end_ns = std::min(drained_to_ns_ + slice_ns, watermark_ns);
        if (!due_.empty()) end_ns = std::min(end_ns, due_.front().time_ns);
        drain_slice(end_ns);
        drained_to_ns_ = end_ns;
        write_due();
        if (pause_if_over_share()) break;
    }
}

void DrainThread::drain_slice(uint64_t end_ns) {
    if (rings_.is_empty()) {
        merger_.drain(end_ns, limit_.handler());
        return;
    }
    rings_.write_definitions(limit_.handler());
    BatchMerge merge(rings_.events(), limit_.handler());
    merger_.drain(end_ns, merge);
    rings_.events().write_up_to(end_ns, limit_.handler());
}

void DrainThread::read_clocks_if_due() {
    const uint64_t now_ns = boottime_ns();
    if (now_ns - last_clock_ns_ < static_cast<uint64_t>(options_.clock_every.count())) return;
    last_clock_ns_ = now_ns;
    const tr_clock clocks = read_clocks();
    const auto bytes = std::as_bytes(std::span(&clocks, 1));
    // The newest of all: whatever else is due was made before.
    due_.push_back({clocks.header.time_ns, {bytes.begin(), bytes.end()}});
}

void DrainThread::take_late() {
    LateQueue::Content late = late_.take();
    if (!late.points.empty() || !late.probes.empty()) {
        const Status added = output_.add(late.points, late.probes);
        if (!added && late_error_.empty()) late_error_ = added.error().what;
    }
    for (OwnRecord& record : late.records) {
        // Its maker may have been held up between the clock and the queue.
        record.time_ns = std::max(record.time_ns, drained_to_ns_);
        const auto behind = [](uint64_t time_ns, const OwnRecord& other) {
            return time_ns < other.time_ns;
        };
        const auto place = std::upper_bound(due_.begin(), due_.end(), record.time_ns, behind);
        due_.insert(place, std::move(record));
    }
}

// Records are written in time order: what is older is drained, then ours goes out as if it had come
// from a ring.
void DrainThread::write_due() {
    while (!due_.empty() && due_.front().time_ns <= drained_to_ns_) {
        std::vector<std::byte>& bytes = due_.front().bytes;
        std::memcpy(bytes.data() + offsetof(tr_record_header, time_ns), &due_.front().time_ns,
                    sizeof(uint64_t));
        limit_.handler().on_record(bytes);
        due_.pop_front();
    }
}

void DrainThread::watch_output() {
    const uint64_t now_ns = boottime_ns();
    if (now_ns - last_flush_ns_ >= static_cast<uint64_t>(options_.flush_every.count())) {
        last_flush_ns_ = now_ns;
        output_.flush();
    }
    if (!output_.health()) raise(EndCause::output_failed);
    if (progress_.is_waiting && !output_.is_waiting()) {
        progress_.is_waiting = false;
        wake_owner();
    }
    if (!output_.met_condition().empty()) raise(EndCause::stop_when);
    if (limit_.is_reached()) raise(EndCause::max_size);
}

void DrainThread::forget_failure() {
    int failed = static_cast<int>(EndCause::output_failed);
    raised_.compare_exchange_strong(failed, -1, std::memory_order_acq_rel);
}

void DrainThread::note_fill() {
    double fill = 0;
    for (size_t ring = 0; ring < recorder_.ring_count(); ++ring) {
        fill = std::max(fill, recorder_.fill(ring));
    }
    progress_.fill.store(fill, std::memory_order_relaxed);
    if (fill > progress_.fill_max.load(std::memory_order_relaxed)) {
        progress_.fill_max.store(fill, std::memory_order_relaxed);
    }
}

void DrainThread::publish() {
    uint64_t lost = 0;
    for (size_t ring = 0; ring < recorder_.ring_count(); ++ring) lost += recorder_.lost(ring);
    progress_.records.store(merger_.counters().records, std::memory_order_relaxed);
    progress_.lost.store(lost, std::memory_order_relaxed);
    progress_.pauses.store(limiter_.pauses(), std::memory_order_relaxed);
}

bool DrainThread::pause_if_over_share() {
    const uint64_t now_ns = boottime_ns();
    if (now_ns - last_share_ns_ < kShareEveryNs) return false;
    last_share_ns_ = now_ns;
    const uint64_t pause_ns = limiter_.pause_ns(now_ns, thread_cpu_ns());
    if (pause_ns > 0) sleep_ns(pause_ns);
    return pause_ns > 0;
}

void DrainThread::raise(EndCause cause) {
    int none = -1;
    if (!raised_.compare_exchange_strong(none, static_cast<int>(cause),
                                         std::memory_order_acq_rel)) {
        return;
    }
    wake_owner();
}

void DrainThread::wake_owner() const {
    const uint64_t one = 1;
    // An eventfd takes 8 bytes or, at its maximum, has woken its reader long before.
    if (wake_fd_ >= 0 && write(wake_fd_, &one, sizeof(one)) < 0) return;
}

}  // namespace tracer
