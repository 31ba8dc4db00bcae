// SPDX-License-Identifier: Apache-2.0
//
// The thread that compresses chunks. Nobody waits for it before the end of the recording; what it
// cannot do leaves a plain file.
#include "sink/chunk_compressor.h"

#include "base/quiet_thread.h"

#include <pthread.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <utility>

namespace tracer {
namespace {

constexpr int kNice = 19;

// Whatever the thread that made it runs at: only what others leave of the CPUs.
void take_lowest_priority() {
    const sched_param ordinary{};
    static_cast<void>(pthread_setschedparam(pthread_self(), SCHED_BATCH, &ordinary));
    static_cast<void>(setpriority(PRIO_PROCESS, static_cast<id_t>(syscall(SYS_gettid)), kNice));
}

}  // namespace

ChunkCompressor::ChunkCompressor(CompressOptions options, Owner owner)
    : options_(options), owner_(std::move(owner)), process_(::getpid()) {
    auto started = start_quiet_thread([this] { run(); });
    if (started) thread_ = std::move(*started);
    if (!started) note_failure(started.error());
}

ChunkCompressor::~ChunkCompressor() {
    finish();
}

void ChunkCompressor::add(std::string path) {
    {
        const std::lock_guard lock(mutex_);
        paths_.push_back(std::move(path));
    }
    changed_.notify_all();
}

void ChunkCompressor::finish() {
    if (!thread_.joinable()) return;
    {
        const std::lock_guard lock(mutex_);
        is_finishing_ = true;
    }
    changed_.notify_all();
    thread_.join();
}

bool ChunkCompressor::is_copy() const {
    return ::getpid() != process_;
}

uint64_t ChunkCompressor::failures() const {
    const std::lock_guard lock(mutex_);
    return failures_;
}

std::string ChunkCompressor::first_failure() const {
    const std::lock_guard lock(mutex_);
    return first_failure_;
}

void ChunkCompressor::run() {
    pthread_setname_np(pthread_self(), "tracer-zstd");
    take_lowest_priority();
    std::unique_lock lock(mutex_);
    while (true) {
        changed_.wait(lock, [this] { return is_finishing_ || !paths_.empty(); });
        if (paths_.empty()) return;
        const std::string path = std::move(paths_.front());
        paths_.pop_front();
        lock.unlock();
        const Status compressed = compress(path);
        lock.lock();
        if (compressed || compressed.error().code == ErrorCode::interrupted) continue;
        note_failure(compressed.error());
    }
}

void ChunkCompressor::note_failure(const Error& error) {
    failures_ += 1;
    if (first_failure_.empty()) first_failure_ = error.what;
}

Status ChunkCompressor::compress(const std::string& path) {
    TR_ASSIGN(CompressedCopy copy,
              CompressedCopy::make(path, options_, [&] { return !owner_.is_wanted(path); }));
    return owner_.publish(copy);
}

}  // namespace tracer
