// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bench_support.h"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <sys/types.h>
#include <thread>
#include <vector>

struct bench_bpf;
struct ring_buffer;

namespace tracer {
class UprobeLink;
}

namespace tracer::bench {

// The least that records the same: a program that puts clock, task and two registers into a ring,
// and a thread that comes every 100 ms, copies 32 bytes of each record into a buffer, and write(2)s
// it. No sequence numbers, no merging, no names, no ledger: the recorder's floor on this machine.
class BareRecorder {
public:
    // nullptr: it could not be attached.
    static std::unique_ptr<BareRecorder> on_site(const std::string& path,
                                                 uint64_t file_offset,
                                                 uint64_t semaphore_offset,
                                                 pid_t pid,
                                                 const std::string& output);
    ~BareRecorder();
    BareRecorder(const BareRecorder&) = delete;
    BareRecorder& operator=(const BareRecorder&) = delete;

    // Of the draining thread so far.
    [[nodiscard]] double cpu_ns() const;
    // Ends it; how many records came.
    uint64_t stop();

private:
    BareRecorder() = default;
    static int take(void* self, void* record, size_t bytes);
    void drain();
    void write_out();

    bench_bpf* skeleton_ = nullptr;
    ring_buffer* ring_ = nullptr;
    std::unique_ptr<UprobeLink> link_;
    int file_ = -1;
    std::vector<std::byte> buffer_;
    size_t used_ = 0;
    uint64_t records_ = 0;
    std::atomic<bool> stop_ = false;
    std::thread thread_;
};

}  // namespace tracer::bench
