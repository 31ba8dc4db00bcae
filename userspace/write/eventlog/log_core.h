// SPDX-License-Identifier: Apache-2.0
//
// What a Log is made of. Apart from it, because the child of a fork leaves a whole one behind:
// its locks may be held by threads that do not exist there.
#pragma once

#include "tracer/write/eventlog/log.h"
#include "write/eventlog/live_definitions.h"

#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <sys/types.h>
#include <vector>

namespace tracer::eventlog {

// Locks are taken in this order: control_, the global buffer, buffers by capability, output_. A
// posting thread holds one buffer and, while its block leaves, output_.
class Log::Core final : public BlockDestination {
public:
    Core(const LogOptions& options, CapNo capabilities);

    [[nodiscard]] Status start(std::unique_ptr<ByteSink>&& sink);
    void flush();
    [[nodiscard]] Status end();
    [[nodiscard]] LockedPoster lock(CapNo cap);
    [[nodiscard]] LockedPoster lock_global() { return {global_.buffer, global_.mutex}; }
    [[nodiscard]] Result<CapNo> add_capability();
    [[nodiscard]] Result<Replaced> replace_sink(std::unique_ptr<ByteSink>&& next,
                                                const SwitchOptions& options);
    [[nodiscard]] Status set_buffer_bytes(size_t bytes);
    [[nodiscard]] Status health() const;
    [[nodiscard]] LogCounters counters() const;

    [[nodiscard]] LogState state() const { return state_.load(std::memory_order_acquire); }
    [[nodiscard]] CapNo capability_count() const { return count_.load(std::memory_order_acquire); }
    [[nodiscard]] size_t buffer_bytes() const { return buffer_bytes_; }
    [[nodiscard]] const LogOptions& options() const { return options_; }
    [[nodiscard]] bool is_of_this_process() const;

    [[nodiscard]] BlockFate write_block(std::span<const std::byte> block,
                                        const BlockInfo& info) override;

private:
    struct Slot {
        Slot(CapNo cap, Core& core, const BufferOptions& options, Fault when_closed)
            : buffer(cap, core, options, when_closed) {}
        std::mutex mutex;
        BlockBuffer buffer;
    };

    [[nodiscard]] std::unique_ptr<Slot> make_slot();
    void publish(std::unique_ptr<Slot> slot);
    [[nodiscard]] std::vector<Slot*> all_slots() const;
    class Precedence;
    [[nodiscard]] std::vector<std::unique_lock<std::mutex>> lock_all();
    [[nodiscard]] Status begin_log(BlockStream& stream);
    [[nodiscard]] Status open_buffers();
    void announce_capabilities(uint64_t ns);

    const LogOptions options_;
    const pid_t pid_;
    std::atomic<size_t> buffer_bytes_;
    std::atomic<LogState> state_{LogState::stopped};

    std::atomic<bool> is_stopping_posts_{false};  // while a switch takes all buffers
    mutable std::mutex control_;                  // one life cycle call at a time
    uint64_t base_ns_ = 0;
    CapNo announced_ = 0;  // capabilities that the log or its definitions tell of

    const size_t capabilities_max_;
    std::unique_ptr<std::atomic<Slot*>[]> slots_;  // set once each; read without a lock
    std::vector<std::unique_ptr<Slot>> owned_slots_;
    std::atomic<CapNo> count_{0};
    mutable Slot global_;
    mutable Slot nowhere_;  // what capability() gives for a number there is not

    mutable std::mutex output_;
    std::unique_ptr<ByteSink> sink_;
    std::optional<BlockStream> stream_;
    LiveDefinitions definitions_;
    uint64_t switches_ = 0;
    uint64_t cut_short_bytes_ = 0;
};

}  // namespace tracer::eventlog
