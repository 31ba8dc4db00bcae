// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sink/compressed_copy.h"
#include "tracer/base/result.h"

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <sys/types.h>
#include <thread>

namespace tracer {

// Compresses closed chunks one after the other on a thread of its own, at the lowest priority.
class ChunkCompressor {
public:
    // Both are called on its thread.
    struct Owner {
        std::function<bool(const std::string& path)> is_wanted;  // not deleted meanwhile
        std::function<Status(CompressedCopy& copy)> publish;
    };

    ChunkCompressor(CompressOptions options, Owner owner);
    ~ChunkCompressor();
    ChunkCompressor(const ChunkCompressor&) = delete;
    ChunkCompressor& operator=(const ChunkCompressor&) = delete;

    void add(std::string path);
    // Waits until all are done. Nothing comes after it.
    void finish();

    // In a child of fork() it has no thread, and may not even be destroyed.
    [[nodiscard]] bool is_copy() const;

    // Any thread: files that stay as they are, and why the first of them does.
    [[nodiscard]] uint64_t failures() const;
    [[nodiscard]] std::string first_failure() const;

private:
    void run();
    void note_failure(const Error& error);  // with the mutex
    [[nodiscard]] Status compress(const std::string& path);

    const CompressOptions options_;
    const Owner owner_;
    const pid_t process_;  // in its child the thread is not there

    mutable std::mutex mutex_;  // guards what follows
    std::condition_variable changed_;
    std::deque<std::string> paths_;
    bool is_finishing_ = false;
    uint64_t failures_ = 0;
    std::string first_failure_;

    std::thread thread_;
};

}  // namespace tracer
