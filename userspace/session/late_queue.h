// SPDX-License-Identifier: Apache-2.0
//
// What the discovery thread hands to the drain thread: definitions of probes that it is about to
// attach, and records of its own. Any thread; the output itself stays with the drain thread.
#pragma once

#include "capture/probe_definition.h"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <utility>
#include <vector>

namespace tracer {

// A whole record made by userspace, which goes out between those of the rings, by its time.
struct OwnRecord {
    uint64_t time_ns = 0;
    std::vector<std::byte> bytes;
};

class LateQueue {
public:
    struct Content {
        std::vector<model::Point> points;
        std::vector<ProbeDefinition> probes;
        std::vector<OwnRecord> records;
    };

    // To be called before the probes are attached: a drain that takes the queue after it has
    // chosen how far to drain then knows every probe it meets.
    void add(const std::vector<model::Point>& points, const std::vector<ProbeDefinition>& probes) {
        const std::scoped_lock lock(mutex_);
        content_.points.insert(content_.points.end(), points.begin(), points.end());
        content_.probes.insert(content_.probes.end(), probes.begin(), probes.end());
        has_content_.store(true, std::memory_order_release);
    }

    void add(OwnRecord record) {
        const std::scoped_lock lock(mutex_);
        content_.records.push_back(std::move(record));
        has_content_.store(true, std::memory_order_release);
    }

    // All since the last call; nearly always nothing, which costs one load.
    [[nodiscard]] Content take() {
        if (!has_content_.load(std::memory_order_acquire)) return {};
        const std::scoped_lock lock(mutex_);
        has_content_.store(false, std::memory_order_release);
        return std::exchange(content_, {});
    }

private:
    std::mutex mutex_;
    std::atomic<bool> has_content_ = false;
    Content content_;
};

}  // namespace tracer
