// SPDX-License-Identifier: Apache-2.0
//
// A log's life and its sinks. A switch stops every buffer for as long as it takes to flush them,
// which makes it a clean cut: each event is before it or after it in all buffers alike. Relies on
// BlockBuffer for the events, on BlockStream for whole blocks, on LiveDefinitions for what a new
// piece must begin with. Called through Log.
#include "write/eventlog/log_core.h"

#include <algorithm>
#include <string>
#include <unistd.h>
#include <utility>

namespace tracer::eventlog {

Log::Core::Core(const LogOptions& options, CapNo capabilities)
    : options_(options),
      pid_(getpid()),
      buffer_bytes_(options.buffers.capacity_bytes),
      capabilities_max_(std::max(capabilities, options.capabilities_max)),
      slots_(std::make_unique<std::atomic<Slot*>[]>(capabilities_max_)),
      global_(kNoCapability, *this, options.buffers, Fault::closed),
      nowhere_(kNoCapability, *this, options.buffers, Fault::no_capability),
      definitions_(options.buffers.dialect) {
    while (count_ < capabilities) publish(make_slot());
}

bool Log::Core::is_of_this_process() const {
    return getpid() == pid_;
}

std::unique_ptr<Log::Core::Slot> Log::Core::make_slot() {
    BufferOptions options = options_.buffers;
    options.capacity_bytes = buffer_bytes_;
    return std::make_unique<Slot>(capability_count(), *this, options, Fault::closed);
}

void Log::Core::publish(std::unique_ptr<Slot> slot) {
    const CapNo cap = capability_count();
    slots_[cap].store(slot.get(), std::memory_order_release);
    owned_slots_.push_back(std::move(slot));
    count_.store(static_cast<CapNo>(cap + 1), std::memory_order_release);
}

std::vector<Log::Core::Slot*> Log::Core::all_slots() const {
    std::vector<Slot*> slots{&global_};  // first, as it names what the others are about
    const CapNo count = capability_count();
    for (CapNo cap = 0; cap < count; ++cap) {
        slots.push_back(slots_[cap].load(std::memory_order_acquire));
    }
    return slots;
}

std::vector<std::unique_lock<std::mutex>> Log::Core::lock_all() {
    std::vector<std::unique_lock<std::mutex>> locks;
    for (Slot* slot : all_slots()) locks.emplace_back(slot->mutex);
    return locks;
}

// Mutexes are not fair: a thread that posts without a pause would take its buffer again and again
// before a switch that waits for it, while all other buffers are held.
class Log::Core::Precedence {
public:
    explicit Precedence(std::atomic<bool>& flag) : flag_(flag) { flag_ = true; }
    ~Precedence() {
        flag_ = false;
        flag_.notify_all();
    }
    Precedence(const Precedence&) = delete;
    Precedence& operator=(const Precedence&) = delete;

private:
    std::atomic<bool>& flag_;
};

LockedPoster Log::Core::lock(CapNo cap) {
    if (is_stopping_posts_.load(std::memory_order_relaxed)) [[unlikely]]
        is_stopping_posts_.wait(true);
    Slot& slot = cap < capability_count() ? *slots_[cap].load(std::memory_order_acquire) : nowhere_;
    return {slot.buffer, slot.mutex};
}

BlockFate Log::Core::write_block(std::span<const std::byte> block, const BlockInfo& info) {
    const std::lock_guard lock(output_);
    // A child that goes on posting without restarting must not write into its parent's file.
    if (!is_of_this_process()) return BlockFate::sink_failed;
    if (options_.keep_definitions) definitions_.observe(block, info.cap);
    return stream_->write_block(block, info);
}

// Header and definitions into a sink that has none.
Status Log::Core::begin_log(BlockStream& stream) {
    TR_TRY(stream.write_header(options_.buffers.dialect));
    if (options_.keep_definitions && !definitions_.write(stream)) {
        return fail(ErrorCode::limit, "no room for the definitions of an eventlog");
    }
    return {};
}

Status Log::Core::open_buffers() {
    for (Slot* slot : all_slots()) {
        const std::lock_guard lock(slot->mutex);
        TR_TRY(slot->buffer.open(base_ns_));
    }
    return {};
}

void Log::Core::announce_capabilities(uint64_t ns) {
    const std::lock_guard lock(global_.mutex);
    const uint64_t at = std::max(ns, global_.buffer.last_ns());
    for (; announced_ < capability_count(); ++announced_) {
        Poster(global_.buffer).post_cap_create(at, announced_);
    }
}

Status Log::Core::start(std::unique_ptr<ByteSink>&& sink) {
    const std::lock_guard control(control_);
    if (state() == LogState::running) return fail(ErrorCode::usage, "the eventlog runs already");
    if (sink == nullptr) return fail(ErrorCode::usage, "an eventlog started without a sink");
    const uint64_t base_ns = options_.base_ns.value_or(options_.clock());
    {
        const std::lock_guard output(output_);
        if (base_ns > base_ns_) definitions_.advance_start(base_ns - base_ns_);
        base_ns_ = base_ns;
        BlockStream stream(*sink, options_.block_mode);
        TR_TRY(begin_log(stream));
        stream_ = std::move(stream);
        sink_ = std::move(sink);
    }
    Status opened = open_buffers();
    if (!opened) {
        for (Slot* slot : all_slots()) {
            const std::lock_guard lock(slot->mutex);
            slot->buffer.close();
        }
        const std::lock_guard output(output_);
        stream_.reset();
        sink = std::move(sink_);
        return opened;
    }
    if (!options_.keep_definitions) announced_ = 0;
    announce_capabilities(base_ns);
    state_.store(LogState::running, std::memory_order_release);
    return {};
}

void Log::Core::flush() {
    for (Slot* slot : all_slots()) {
        const std::lock_guard lock(slot->mutex);
        slot->buffer.flush();
    }
    const std::lock_guard output(output_);
    if (stream_) stream_->flush();
}

Status Log::Core::end() {
    const std::lock_guard control(control_);
    if (state() != LogState::running) return {};
    const Precedence precedence(is_stopping_posts_);
    const auto locks = lock_all();
    for (Slot* slot : all_slots()) slot->buffer.close();
    const std::lock_guard output(output_);
    // Readers do without the mark, and close() tells what else is wrong.
    static_cast<void>(stream_->write_end());
    const size_t owed = stream_->owed_bytes();
    cut_short_bytes_ += owed;
    Status closed = sink_->close();
    stream_.reset();
    sink_.reset();
    definitions_.forget_activity();
    state_.store(LogState::stopped, std::memory_order_release);
    if (closed && owed != 0) {
        return fail(ErrorCode::limit, "the output of an eventlog had no room for its last " +
                                          std::to_string(owed) + " bytes");
    }
    return closed;
}

Result<CapNo> Log::Core::add_capability() {
    const std::lock_guard control(control_);
    const CapNo cap = capability_count();
    if (cap >= capabilities_max_) {
        return fail(ErrorCode::limit,
                    "an eventlog of more than " + std::to_string(cap) + " capabilities");
    }
    std::unique_ptr<Slot> slot = make_slot();
    if (state() == LogState::running) TR_TRY(slot->buffer.open(base_ns_));
    publish(std::move(slot));
    if (state() == LogState::running) announce_capabilities(options_.clock());
    return cap;
}

Result<Replaced> Log::Core::replace_sink(std::unique_ptr<ByteSink>&& next,
                                         const SwitchOptions& options) {
    const std::lock_guard control(control_);
    if (state() != LogState::running) return fail(ErrorCode::usage, "the eventlog does not run");
    if (next == nullptr) return fail(ErrorCode::usage, "an eventlog's sink replaced by none");
    const Precedence precedence(is_stopping_posts_);
    const auto locks = lock_all();
    for (Slot* slot : all_slots()) slot->buffer.flush();
    const std::lock_guard output(output_);
    stream_->flush();
    if (!options.close_previous && stream_->owed_bytes() != 0) {
        return fail(ErrorCode::limit, "the eventlog's sink has not taken a whole block yet",
                    "flush and try again, or close it");
    }
    BlockStream stream(*next, options_.block_mode);
    if (options.begin_anew) TR_TRY(begin_log(stream));

    Replaced replaced;
    if (options.close_previous) {
        static_cast<void>(stream_->write_end());
        cut_short_bytes_ += stream_->owed_bytes();
        replaced.closed = sink_->close();
    } else {
        replaced.previous = std::move(sink_);
    }
    stream_ = std::move(stream);
    sink_ = std::move(next);
    switches_ += 1;
    return replaced;
}

Status Log::Core::set_buffer_bytes(size_t bytes) {
    const std::lock_guard control(control_);
    for (Slot* slot : all_slots()) {
        const std::lock_guard lock(slot->mutex);
        TR_TRY(slot->buffer.set_capacity(bytes));
    }
    buffer_bytes_ = bytes;
    return {};
}

Status Log::Core::health() const {
    const std::lock_guard output(output_);
    return sink_ == nullptr ? Status{} : sink_->health();
}

LogCounters Log::Core::counters() const {
    LogCounters counters;
    for (Slot* slot : all_slots()) {
        const std::lock_guard lock(slot->mutex);
        counters.blocks += slot->buffer.counters();
    }
    {
        const std::lock_guard lock(nowhere_.mutex);
        counters.blocks += nowhere_.buffer.counters();
    }
    const std::lock_guard output(output_);
    counters.switches = switches_;
    counters.cut_short_bytes = cut_short_bytes_;
    return counters;
}

}  // namespace tracer::eventlog
