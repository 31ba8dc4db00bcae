// SPDX-License-Identifier: Apache-2.0
//
// The public face of a log, and what fork does to it. Relies on Core for everything else.
#include "tracer/write/eventlog/log.h"

#include "write/eventlog/log_core.h"

#include <ctime>
#include <utility>

namespace tracer::eventlog {

uint64_t monotonic_ns() {
    timespec now{};
    clock_gettime(CLOCK_MONOTONIC, &now);
    return static_cast<uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(now.tv_nsec);
}

Log::Log(const LogOptions& options)
    : clock_(options.clock), core_(std::make_unique<Core>(options, options.capabilities)) {}

Log::~Log() {
    if (!core_->is_of_this_process()) {
        of_parent_ = core_.release();
        return;
    }
    // Whoever wants to know calls end() first.
    static_cast<void>(core_->end());
}

Status Log::start(std::unique_ptr<ByteSink>&& sink) {
    return core_->start(std::move(sink));
}

LogState Log::state() const {
    return core_->state();
}

void Log::flush() {
    core_->flush();
}

Status Log::end() {
    return core_->end();
}

Status Log::restart_after_fork(std::unique_ptr<ByteSink>&& sink) {
    if (core_->is_of_this_process()) {
        return fail(ErrorCode::usage, "an eventlog restarted as after a fork, in no child");
    }
    // Nothing of it may be locked, closed or freed: its threads are elsewhere, and so is what its
    // sink writes to. Only what never changes after construction, and atomics, are read.
    LogOptions options = core_->options();
    options.buffers.capacity_bytes = core_->buffer_bytes();
    const CapNo capabilities = core_->capability_count();
    of_parent_ = core_.release();
    core_ = std::make_unique<Core>(options, capabilities);
    return core_->start(std::move(sink));
}

LockedPoster Log::capability(CapNo cap) {
    return core_->lock(cap);
}

LockedPoster Log::global() {
    return core_->lock_global();
}

Result<CapNo> Log::add_capability() {
    return core_->add_capability();
}

CapNo Log::capability_count() const {
    return core_->capability_count();
}

Result<Replaced> Log::replace_sink(std::unique_ptr<ByteSink>&& next, const SwitchOptions& options) {
    return core_->replace_sink(std::move(next), options);
}

Status Log::set_buffer_bytes(size_t bytes) {
    return core_->set_buffer_bytes(bytes);
}

size_t Log::buffer_bytes() const {
    return core_->buffer_bytes();
}

Status Log::health() const {
    return core_->health();
}

LogCounters Log::counters() const {
    return core_->counters();
}

}  // namespace tracer::eventlog
