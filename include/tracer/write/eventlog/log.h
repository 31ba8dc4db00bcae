// SPDX-License-Identifier: Apache-2.0
//
// A live eventlog, as GHC's runtime keeps one and with what its users asked for since: any thread
// posts, any thread controls, and where the log goes can be changed while it is written.
//
//   Log log({.capabilities = 4});
//   TR_TRY(log.start(std::move(file)));
//   {
//       auto cap = log.capability(2);   // locked as long as `cap` lives
//       cap.post_create_thread(log.now_ns(), 7);
//       cap.post_run_thread(log.now_ns(), 7);
//   }
//   TR_ASSIGN(auto replaced, log.replace_sink(queue.make_sink(), {.close_previous = false}));
//   ...
//   // As it was before:
//   TR_TRY(log.replace_sink(std::move(replaced.previous), {.begin_anew = false}));
//   TR_TRY(log.end());
//
// Locking: hold a LockedPoster for microseconds, never over a wait; a switch of the sink takes all
// of them in turn, and who posts waits for it meanwhile. A thread holds one LockedPoster at a time,
// and none while it calls anything of Log but now_ns(): either would wait for itself.
#pragma once

#include "tracer/base/result.h"
#include "tracer/write/byte_sink.h"
#include "tracer/write/eventlog/block_stream.h"
#include "tracer/write/eventlog/poster.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>

namespace tracer::eventlog {

// CLOCK_MONOTONIC, as GHC's own logs.
[[nodiscard]] uint64_t monotonic_ns();

struct LogOptions {
    BufferOptions buffers = {};  // of every capability, and of the global block
    BlockMode block_mode = BlockMode::closed;
    CapNo capabilities = 1;         // at the start; add_capability() makes more
    CapNo capabilities_max = 1024;  // at most; up to kCapabilityMax + 1 costs 8 bytes each
    // What times are of. Events may be posted with any time of this clock since the start.
    uint64_t (*clock)() = monotonic_ns;
    // The log's time 0; none: the clock when it starts.
    std::optional<uint64_t> base_ns = std::nullopt;
    // Keeps what a reader of a new sink must be told (see SwitchOptions::begin_anew), at the price
    // of a nanosecond an event when its block leaves, and the memory of what is live.
    bool keep_definitions = true;
};

enum class LogState : uint8_t { stopped, running };

struct SwitchOptions {
    // End mark and close(). Else the sink is given back as it is, to be restored later.
    bool close_previous = true;
    // A header and every live definition, so that what the new sink gets reads alone. False goes
    // on where the new sink's content ends: a log of ours with a header.
    bool begin_anew = true;
};

struct Replaced {
    std::unique_ptr<ByteSink> previous;  // unless it was closed
    Status closed;                       // what its close() said
};

struct LogCounters {
    BufferCounters blocks;         // of all buffers since the Log was made
    uint64_t switches = 0;         // sinks replaced
    uint64_t cut_short_bytes = 0;  // of blocks that a sink took in part and then was closed
};

// One capability's posts, or the global block's, locked for one thread. Posts to a log that is not
// running are refused as Fault::closed, to a capability there is not as Fault::no_capability.
class LockedPoster : public Poster {
public:
    LockedPoster(BlockBuffer& buffer, std::mutex& mutex) : Poster(buffer), lock_(mutex) {}

    // Hands over what this buffer holds.
    void flush() { buffer().flush(); }

private:
    std::unique_lock<std::mutex> lock_;
};

// Thread safe, but for construction and destruction.
class Log {
public:
    explicit Log(const LogOptions& options = {});
    // Ends the log if it runs; in a child that did not restart it, leaves it to the parent.
    ~Log();
    Log(const Log&) = delete;
    Log& operator=(const Log&) = delete;

    // Writes the header and begins. Fails if it runs already, or if the sink has no room for the
    // header; the sink then stays the caller's. After end(), definitions that outlive a pause
    // (capabilities, sets, names, cost centres) are written again; threads are not.
    [[nodiscard]] Status start(std::unique_ptr<ByteSink>&& sink);

    [[nodiscard]] LogState state() const;

    // Hands every buffer's content to the sink, and flushes that. What was posted before the call
    // is in the sink after it.
    void flush();

    // Flushes, writes the end mark, closes the sink. Says what its close() did; stopped when not
    // running, and no error.
    [[nodiscard]] Status end();

    // In a child of fork(), before anything else of the log: forgets what the parent had buffered
    // (the parent writes it) and its sink, without touching either, and starts anew with a header.
    // Works whatever the parent's threads were doing. The child's capabilities are as many as the
    // parent's; nothing else is carried over. The parent's memory for it stays until exec or exit.
    [[nodiscard]] Status restart_after_fork(std::unique_ptr<ByteSink>&& sink);

    // `cap` is below capability_count().
    [[nodiscard]] LockedPoster capability(CapNo cap);
    // The block of no capability: sets, tasks, profiles.
    [[nodiscard]] LockedPoster global();

    // The next number; says so in the log (CAP_CREATE) if it runs.
    [[nodiscard]] Result<CapNo> add_capability();
    [[nodiscard]] CapNo capability_count() const;

    // Puts `next` in the place of the sink, between two blocks: what was posted before is in the
    // previous, what is posted after in the next, nothing in both or none. Posting threads wait
    // for the time of it. Fails, and changes nothing but that buffers are flushed, when the log
    // does not run; when `next` has no room for header and definitions; and when the previous is
    // to be kept but has taken only a part of a block so far (flush and try again).
    [[nodiscard]] Result<Replaced> replace_sink(std::unique_ptr<ByteSink>&& next,
                                                const SwitchOptions& options = {});

    // Of every buffer, at once; each is flushed first. Larger: fewer blocks, more to lose.
    [[nodiscard]] Status set_buffer_bytes(size_t bytes);
    [[nodiscard]] size_t buffer_bytes() const;

    // The clock, for posts that happen now.
    [[nodiscard]] uint64_t now_ns() const { return clock_(); }

    // The error that made the sink refuse, if there was one.
    [[nodiscard]] Status health() const;
    [[nodiscard]] LogCounters counters() const;

private:
    class Core;
    uint64_t (*clock_)();
    std::unique_ptr<Core> core_;
    Core* of_parent_ = nullptr;  // in a child; held only so that leak checkers see it
};

}  // namespace tracer::eventlog
