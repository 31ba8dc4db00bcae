// SPDX-License-Identifier: Apache-2.0
//
// The writing half of the file sink: a bounded queue of buffers and the thread that writes them.
// The producer only ever takes a mutex that is held for a few instructions, never while a system
// call runs. The first error ends all writing; what is in the file by then stays, cut back to
// whole records where the file is ours.
#include "sink/io_queue.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <system_error>
#include <unistd.h>

#include <fmt/format.h>

namespace tracer {
namespace {

// Blocks are taken from the file system at most this far ahead: measured a quarter cheaper than
// letting every write extend the file.
constexpr uint64_t kPreallocateBytesMax = 64ULL << 20;

std::string hint_for_write(int sys_errno) {
    switch (sys_errno) {
        case ENOSPC:
        case EDQUOT:
            return "free some space, or record less with --max-size; what was written is whole";
        case EPIPE:
            return "the reader of the output went away";
        case EFBIG:
            return "the file system or a limit (ulimit -f) allows no larger file";
        default:
            return {};
    }
}

}  // namespace

IoQueue::IoQueue(OutputFile file, std::string label, const FileSinkOptions& options)
    : file_(std::move(file)),
      label_(std::move(label)),
      buffer_bytes_(std::max(options.buffer_bytes, ByteSink::kReserveBytesMax)),
      buffer_count_(std::max<size_t>(options.buffer_count, 1)),
      is_real_time_(options.real_time),
      may_preallocate_(file_.is_ours) {
    start();
}

IoQueue::~IoQueue() {
    // Who wants to know about errors calls close() first.
    static_cast<void>(close());
}

void IoQueue::start() {
    // The thread inherits a mask with everything blocked: signals are for the main thread, and a
    // broken pipe is to be an error here (EPIPE), not the end of the program (SIGPIPE).
    sigset_t all;
    sigset_t before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    try {
        thread_ = std::thread([this] { run(); });
    } catch (const std::system_error& error) {
        remember(fail_errno(ErrorCode::io, error.code().value(), "start the output thread"));
    }
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
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
        if (made_count_ == buffer_count_) return nullptr;
        made_count_ += 1;
    }
    return std::make_unique<IoBuffer>(buffer_bytes_);
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
    std::unique_lock lock(mutex_);
    while (true) {
        wake_.wait(lock, [this] { return !full_.empty() || is_closing_; });
        if (full_.empty()) return;
        auto buffer = std::move(full_.front());
        full_.pop_front();
        lock.unlock();
        // After an error the rest is dropped: the file must not have a hole.
        if (!has_failed()) remember(write_buffer(*buffer));
        buffer->used = 0;
        buffer->marks.clear();
        lock.lock();
        free_.push_back(std::move(buffer));
    }
}

Status IoQueue::write_buffer(const IoBuffer& buffer) {
    preallocate(buffer.used);
    size_t written = 0;
    Status status = write_all({buffer.memory.get(), buffer.used}, written);
    if (status) {
        file_bytes_ += written;
    } else if (file_.is_ours) {
        cut_to_whole_records(buffer, written);
    }
    return status;
}

Status IoQueue::write_all(std::span<const std::byte> bytes, size_t& written) {
    while (written < bytes.size()) {
        const auto rest = bytes.subspan(written);
        const ssize_t count = ::write(file_.fd.get(), rest.data(), rest.size());
        if (count > 0) {
            written += static_cast<size_t>(count);
            continue;
        }
        const int sys_errno = count < 0 ? errno : EIO;
        if (sys_errno == EINTR) continue;
        if (sys_errno == EAGAIN) {  // standard output may be non-blocking: wait for its reader
            pollfd ready{.fd = file_.fd.get(), .events = POLLOUT, .revents = 0};
            static_cast<void>(::poll(&ready, 1, -1));  // the write says what is wrong, if anything
            continue;
        }
        return fail_errno(ErrorCode::io, sys_errno, fmt::format("write {}", label_),
                          hint_for_write(sys_errno));
    }
    return {};
}

void IoQueue::preallocate(size_t bytes) {
    while (may_preallocate_ && allocated_bytes_ < file_bytes_ + bytes) {
        // As much again as there is, so that a short recording takes little. Not everywhere
        // possible, and never needed: the first refusal ends it.
        const uint64_t step = std::clamp<uint64_t>(
            file_bytes_, buffer_bytes_, std::max<uint64_t>(buffer_bytes_, kPreallocateBytesMax));
        if (::fallocate(file_.fd.get(), FALLOC_FL_KEEP_SIZE, static_cast<off_t>(allocated_bytes_),
                        static_cast<off_t>(step)) != 0) {
            may_preallocate_ = false;
            return;
        }
        allocated_bytes_ += step;
    }
}

void IoQueue::cut_to_whole_records(const IoBuffer& buffer, size_t written) {
    const auto past = std::upper_bound(buffer.marks.begin(), buffer.marks.end(), written);
    if (past != buffer.marks.begin()) file_bytes_ += *std::prev(past);
    // If even this fails the file has a cut record at its end, which readers skip; the error that
    // is reported is the one that led here.
    static_cast<void>(::ftruncate(file_.fd.get(), static_cast<off_t>(file_bytes_)));
}

Status IoQueue::finish() {
    Status status;
    // Gives back the blocks past the end.
    if (allocated_bytes_ > file_bytes_ &&
        ::ftruncate(file_.fd.get(), static_cast<off_t>(file_bytes_)) != 0) {
        status = fail_errno(ErrorCode::io, errno, fmt::format("shorten {}", label_));
    }
    // The descriptor is gone whatever close says; some file systems report a full disk only here.
    if (::close(file_.fd.release()) != 0 && errno != EINTR) {
        const int sys_errno = errno;
        if (status) {
            status = fail_errno(ErrorCode::io, sys_errno, fmt::format("close {}", label_),
                                hint_for_write(sys_errno));
        }
    }
    return status;
}

Status IoQueue::close() {
    if (!file_.fd.valid()) return health();
    {
        const std::lock_guard lock(mutex_);
        is_closing_ = true;
    }
    wake_.notify_one();
    if (thread_.joinable()) thread_.join();
    remember(finish());
    return health();
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
