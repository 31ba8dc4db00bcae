// SPDX-License-Identifier: Apache-2.0
//
// A bounded queue of buffers and the thread that hands them to a destination: the half that file,
// rotating and socket sinks share. The producer only ever takes a mutex that is held for a few
// instructions, never while a system call runs. The first error ends all writing: what follows it
// would have a hole before it.
#include "sink/io_queue.h"

#include "base/quiet_thread.h"
#include "tracer/write/byte_sink.h"

#include <algorithm>
#include <new>
#include <pthread.h>
#include <sched.h>
#include <unistd.h>

namespace tracer {

IoQueue::IoQueue(std::unique_ptr<IoDestination> destination, const IoQueueOptions& options)
    : destination_(std::move(destination)),
      buffer_bytes_(std::max(options.buffer_bytes, ByteSink::kReserveBytesMax)),
      is_real_time_(options.real_time),
      process_(::getpid()),
      buffer_count_(std::max<size_t>(options.buffer_count, 1)) {
    make_ready(std::min(options.buffers_ready, buffer_count_));
    start();
}

IoQueue::~IoQueue() {
    // Who wants to know about errors calls close() first.
    static_cast<void>(close());
}

// Before there is a thread. Too little memory for it is no error: acquire() tries again.
void IoQueue::make_ready(size_t buffers) {
    const auto page = static_cast<size_t>(::sysconf(_SC_PAGESIZE));
    try {
        while (made_count_ < buffers) {
            auto buffer = std::make_unique<IoBuffer>(buffer_bytes_);
            for (size_t i = 0; i < buffer_bytes_; i += page) buffer->memory[i] = std::byte{0};
            free_.push_back(std::move(buffer));
            made_count_ += 1;
        }
    } catch (const std::bad_alloc&) {
        return;
    }
}

void IoQueue::start() {
    auto started = start_quiet_thread([this] { run(); });
    if (started) thread_ = std::move(*started);
    if (!started) remember(tl::unexpected(std::move(started).error()));
}

std::unique_ptr<IoBuffer> IoQueue::acquire() {
    {
        const std::lock_guard lock(mutex_);
        if (error_) return nullptr;
        if (!free_.empty()) {
            auto buffer = std::move(free_.back());
            free_.pop_back();
            return buffer;
        }
        if (made_count_ >= buffer_count_) return nullptr;
        made_count_ += 1;
    }
    try {
        return std::make_unique<IoBuffer>(buffer_bytes_);
    } catch (const std::bad_alloc&) {  // no room, like every other reason
        const std::lock_guard lock(mutex_);
        made_count_ -= 1;
        return nullptr;
    }
}

size_t IoQueue::change_buffers(size_t bytes) {
    std::vector<std::unique_ptr<IoBuffer>> too_many;  // freed without the lock
    const std::lock_guard lock(mutex_);
    if (bytes != 0) buffer_count_ = std::max<size_t>(bytes / buffer_bytes_, 2);
    while (made_count_ > buffer_count_ && !free_.empty()) {
        too_many.push_back(std::move(free_.back()));
        free_.pop_back();
        made_count_ -= 1;
    }
    return buffer_count_ * buffer_bytes_;
}

bool IoQueue::can_acquire() const {
    const std::lock_guard lock(mutex_);
    return !error_ && (!free_.empty() || made_count_ < buffer_count_);
}

void IoQueue::push(std::unique_ptr<IoBuffer> buffer) {
    {
        const std::lock_guard lock(mutex_);
        full_.push_back(std::move(buffer));
    }
    wake_.notify_one();
}

void IoQueue::run() {
    if (is_real_time_) {
        const sched_param parameter{.sched_priority = 1};
        // Refused: an ordinary thread, which is enough but on a saturated machine.
        static_cast<void>(pthread_setschedparam(pthread_self(), SCHED_RR, &parameter));
    }
    static_cast<void>(pthread_setname_np(pthread_self(), "tracer-output"));
    const auto has_work = [this] { return !full_.empty() || is_closing_; };
    std::unique_lock lock(mutex_);
    while (true) {
        const auto due = has_failed() ? std::nullopt : destination_->service_due();
        if (!due) {
            wake_.wait(lock, has_work);
        } else if (!wake_.wait_until(lock, *due, has_work)) {
            lock.unlock();
            remember(destination_->service());
            lock.lock();
            continue;
        }
        if (full_.empty()) return;
        auto buffer = std::move(full_.front());
        full_.pop_front();
        lock.unlock();
        if (!has_failed()) write(*buffer);
        buffer->used = 0;
        buffer->marks.clear();
        buffer->chunk_start_ns.reset();
        lock.lock();
        if (made_count_ <= buffer_count_) {
            free_.push_back(std::move(buffer));
        } else {
            made_count_ -= 1;
        }
    }
}

void IoQueue::write(const IoBuffer& buffer) {
    remember(destination_->write(buffer));
    if (has_failed()) {
        bytes_written_ += destination_->bytes_of_failed_write();
        return;
    }
    bytes_written_ += buffer.used;
    // A queue that never runs empty never waits until the service is due.
    const auto due = destination_->service_due();
    if (due && *due <= IoDestination::Clock::now()) remember(destination_->service());
}

Status IoQueue::close() {
    if (is_finished_) return health();
    is_finished_ = true;
    destination_->begin_close();
    {
        const std::lock_guard lock(mutex_);
        is_closing_ = true;
    }
    wake_.notify_one();
    if (thread_.joinable()) thread_.join();
    remember(destination_->finish());
    return health();
}

bool IoQueue::is_copy() const {
    return ::getpid() != process_;
}

Status IoQueue::health() const {
    const std::lock_guard lock(mutex_);
    if (error_) return tl::unexpected(*error_);
    return {};
}

void IoQueue::remember(const Status& status) {
    if (status) return;
    const std::lock_guard lock(mutex_);
    if (!error_) error_ = status.error();
    has_failed_.store(true, std::memory_order_relaxed);
}

}  // namespace tracer
