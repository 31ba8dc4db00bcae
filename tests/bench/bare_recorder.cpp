// SPDX-License-Identifier: Apache-2.0
//
// The floor that the hit benchmark compares the recorder with, on the same machine in the same run.
// Relies on bench.bpf.c for the program and on libbpf for the reading side of the ring.
#include "bare_recorder.h"

#include "bench_bpf.skel.h"
#include "probe/uprobe_link.h"

#include <chrono>
#include <cstring>
#include <fcntl.h>
#include <pthread.h>
#include <time.h>
#include <unistd.h>

#include <bpf/libbpf.h>

namespace tracer::bench {
namespace {

constexpr size_t kBufferBytes = 1 << 20;
constexpr size_t kEventBytes = 32;

}  // namespace

std::unique_ptr<BareRecorder> BareRecorder::on_site(const std::string& path,
                                                    uint64_t file_offset,
                                                    uint64_t semaphore_offset,
                                                    pid_t pid,
                                                    const std::string& output) {
    auto bare = std::unique_ptr<BareRecorder>(new BareRecorder());
    bare->file_ = open(output.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    bare->buffer_.resize(kBufferBytes);
    bare->skeleton_ = bench_bpf__open();
    if (bare->file_ < 0 || bare->skeleton_ == nullptr) return nullptr;
    bpf_program* program = bare->skeleton_->progs.bench_record_uprobe;
    bpf_program__set_autoload(program, true);
    bpf_program__set_expected_attach_type(program,
                                          static_cast<bpf_attach_type>(kUprobeMultiAttachType));
    if (bench_bpf__load(bare->skeleton_) != 0) return nullptr;
    bare->ring_ =
        ring_buffer__new(bpf_map__fd(bare->skeleton_->maps.bench_ring), &take, bare.get(), nullptr);
    if (bare->ring_ == nullptr) return nullptr;
    UprobeRequest request;
    request.path = path;
    request.pid = static_cast<uint32_t>(pid);
    request.places = {{file_offset, semaphore_offset, 0}};
    auto link = attach_uprobe_multi(bpf_program__fd(program), request);
    if (!link) return nullptr;
    bare->link_ = std::move(*link);
    bare->thread_ = std::thread([self = bare.get()] { self->drain(); });
    return bare;
}

BareRecorder::~BareRecorder() {
    stop();
    ring_buffer__free(ring_);
    bench_bpf__destroy(skeleton_);
    if (file_ >= 0) close(file_);
}

double BareRecorder::cpu_ns() const {
    clockid_t clock{};
    timespec now{};
    // The handle is the thread's own as long as it was not joined.
    if (pthread_getcpuclockid(const_cast<std::thread&>(thread_).native_handle(), &clock) != 0 ||
        clock_gettime(clock, &now) != 0) {
        return 0;
    }
    return static_cast<double>(now.tv_sec) * 1e9 + static_cast<double>(now.tv_nsec);
}

uint64_t BareRecorder::stop() {
    link_.reset();
    if (thread_.joinable()) {
        stop_.store(true);
        thread_.join();
    }
    return records_;
}

int BareRecorder::take(void* self, void* record, size_t bytes) {
    auto& bare = *static_cast<BareRecorder*>(self);
    if (bytes < kEventBytes) return 0;
    if (bare.used_ + kEventBytes > bare.buffer_.size()) bare.write_out();
    std::memcpy(bare.buffer_.data() + bare.used_, record, kEventBytes);
    bare.used_ += kEventBytes;
    ++bare.records_;
    return 0;
}

void BareRecorder::write_out() {
    // A short write only makes the floor lower.
    [[maybe_unused]] const ssize_t put = write(file_, buffer_.data(), used_);
    used_ = 0;
}

void BareRecorder::drain() {
    while (!stop_.load()) {
        std::this_thread::sleep_for(std::chrono::milliseconds(100));
        ring_buffer__consume(ring_);
    }
    ring_buffer__consume(ring_);
    write_out();
}

}  // namespace tracer::bench
