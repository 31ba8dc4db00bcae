// SPDX-License-Identifier: Apache-2.0
//
// Programs' rings in a recording. They are polled by the drain thread itself, just after it has
// chosen how far to drain: so all that is older is in hand, and the events of all sources go out in
// the order of time. Producers come from ring_watch.h.
#include "session/ring_reader.h"

#include "session/clock.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <functional>
#include <utility>

#include <fmt/format.h>

namespace tracer {
namespace {

uint64_t ahead_of_monotonic_ns() {
    const tr_clock clocks = read_clocks();
    return clocks.header.time_ns - std::min(clocks.header.time_ns, clocks.monotonic_ns);
}

// What one poll tells, made records whenever another program begins in the file.
class Taker : public RingCollector {
public:
    template <typename Function>
    Taker(RingRecording& recording, Function on_restart)
        : RingCollector(recording), on_restart_(std::move(on_restart)) {}
    ring::Flow on_restart() override {
        on_restart_();
        return ring::Flow::go_on;
    }

private:
    std::function<void()> on_restart_;
};

}  // namespace

std::string runtime_of(const ring::Producer& producer) {
    if (!producer.runtime.empty()) return producer.runtime;
    if (producer.versions == ring::OcamlVersions()) return "OCaml 5";
    return fmt::format("OCaml {}", to_text(producer.versions));
}

void RingTally::add(const ring::Lost& lost) {
    lost_events += lost.events;
    lost_words += lost.words;
    if (lost.is_malformed) malformed_events += lost.events;
    is_exact &= lost.is_exact;
}

void RingTally::note(const ring::Producer& producer) {
    runtime = runtime_of(producer);
    dropped = producer.events_dropped;
    missing = producer.events_missing;
    ring_count = producer.ring_count;
}

void RingReader::add(RingProducer producer) {
    const std::scoped_lock lock(mutex_);
    new_.push_back(std::move(producer));
    has_new_.store(true, std::memory_order_release);
}

uint64_t RingReader::close() {
    // Longer than any event takes to be read.
    constexpr uint64_t kForgottenNs = 10'000'000'000;
    const std::scoped_lock lock(closed_mutex_);
    const uint64_t now_ns = boottime_ns();
    std::erase_if(closed_, [&](const ClosedTime& one) {
        return one.end_ns < now_ns && now_ns - one.end_ns > kForgottenNs;
    });
    closed_.push_back({.begin_ns = now_ns});
    return now_ns;
}

uint64_t RingReader::open() {
    const std::scoped_lock lock(closed_mutex_);
    const uint64_t now_ns = boottime_ns();
    if (!closed_.empty()) closed_.back().end_ns = std::min(closed_.back().end_ns, now_ns);
    return now_ns;
}

void RingReader::take_new() {
    if (!has_new_.load(std::memory_order_acquire)) return;
    const std::scoped_lock lock(mutex_);
    has_new_.store(false, std::memory_order_release);
    for (RingProducer& producer : new_) {
        const auto number = static_cast<uint32_t>(tallies_.size());
        tallies_.push_back({.pid = producer.pid});
        sources_.emplace_back(number, std::move(producer));
    }
    new_.clear();
}

void RingReader::poll() {
    take_new();
    if (sources_.empty()) return;
    const std::scoped_lock lock(closed_mutex_);
    const uint64_t ahead_ns = ahead_of_monotonic_ns();
    for (auto source = sources_.begin(); source != sources_.end();) {
        // Asked first: what it wrote before it ended is read by then.
        const bool has_ended =
            kill(static_cast<pid_t>(source->producer.pid), 0) != 0 && errno == ESRCH;
        const bool is_readable = read(*source, ahead_ns);
        if (is_readable && !has_ended) {
            ++source;
            continue;
        }
        finish(*source, ahead_ns);
        source = sources_.erase(source);
    }
    events_.sort();
}

bool RingReader::read(Source& source, uint64_t ahead_ns) {
    RingRecording recording;
    Taker taker(recording, [&] {
        take(source, recording, ahead_ns);
        source.records.restart();
    });
    const auto polled = source.producer.cursor.poll(taker);
    take(source, recording, ahead_ns);
    RingTally& tally = tallies_[source.number];
    tally.note(source.producer.cursor.producer());
    if (!polled) {
        tally.problem = polled.error().what;
        return false;
    }
    source.wait_ns = source.pace.next_ns(*polled);
    return true;
}

void RingReader::take(Source& source, RingRecording& recording, uint64_t ahead_ns) {
    const uint64_t before = source.records.events();
    source.records.add(recording, ahead_ns, {points_, definitions_, events_, closed_});
    RingTally& tally = tallies_[source.number];
    tally.events += source.records.events() - before;
    records_ += source.records.events() - before;
    for (const ring::Lost& lost : recording.losses) {
        if (!is_unwanted(lost, ahead_ns, closed_)) tally.add(lost);
    }
    recording = {};
}

void RingReader::finish() {
    const std::scoped_lock lock(closed_mutex_);
    const uint64_t ahead_ns = ahead_of_monotonic_ns();
    for (Source& source : sources_) finish(source, ahead_ns);
    events_.sort();
}

void RingReader::finish(Source& source, uint64_t ahead_ns) {
    RingRecording recording;
    RingCollector collector(recording);
    source.producer.cursor.finish(collector);
    take(source, recording, ahead_ns);
}

std::chrono::milliseconds RingReader::wait(std::chrono::milliseconds longest) const {
    std::chrono::nanoseconds least = longest;
    for (const Source& source : sources_) {
        least = std::min(least, std::chrono::nanoseconds(source.wait_ns));
    }
    return std::max(std::chrono::duration_cast<std::chrono::milliseconds>(least),
                    std::chrono::milliseconds(1));
}

}  // namespace tracer
