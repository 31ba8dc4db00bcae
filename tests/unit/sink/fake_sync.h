// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>

namespace tracer::test {

// This program's fdatasync and fsync, which count, and fail or wait on request. For the life of one
// test; without one they do what the system's do.
class FakeSync {
public:
    FakeSync();
    ~FakeSync();
    FakeSync(const FakeSync&) = delete;
    FakeSync& operator=(const FakeSync&) = delete;

    std::atomic<int> file_count{0};    // fdatasync
    std::atomic<int> folder_count{0};  // fsync
    std::atomic<int> fails_with{0};    // errno of fdatasync
    std::atomic<bool> is_slow{false};  // fdatasync returns when this ends
};

}  // namespace tracer::test
