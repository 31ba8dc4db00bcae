// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tracer/base/result.h"
#include "tracer/base/unique_fd.h"

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace tracer {

enum class EndCause : uint8_t {
    interrupted,    // ^C, SIGTERM, SIGHUP, SIGQUIT
    duration,       // -d
    max_size,       // --max-size
    targets_ended,  // the last one watched
    output_failed,  // the sink refuses for good
    stop_when,      // a condition on events has come true
    stopped,        // asked to end, by no signal
};

[[nodiscard]] const char* end_cause_text(EndCause cause);

// Waits, on the main thread, for whatever ends a recording. Made before any other thread, so that
// all of them inherit the blocked signals and only this one takes them.
class EndWatch {
public:
    // Blocks SIGINT, SIGTERM, SIGHUP, SIGQUIT and SIGUSR1, ignores SIGPIPE (a closed reader is an
    // error of the sink). SIGHUP is let be when it is ignored already (nohup). The signals stay as
    // they are when it is destroyed: the process is about to end, and one that comes late must not
    // cut the last lines.
    [[nodiscard]] static Result<EndWatch> make();

    // The recording ends when every task added has ended. A thread needs Linux 6.9 (PIDFD_THREAD);
    // before, its process is watched.
    [[nodiscard]] Status add_process(uint32_t pid);
    [[nodiscard]] Status add_thread(uint32_t tid, uint32_t pid);

    // From now on; none: no end by time.
    [[nodiscard]] Status start_timers(std::optional<std::chrono::nanoseconds> duration,
                                      std::chrono::milliseconds tick);

    // Returns at the first cause; calls `on_tick` every tick meanwhile.
    [[nodiscard]] EndCause wait(const std::function<void()>& on_tick);

    // Waits until every task has ended or another signal arrives; at most `timeout`.
    void wait_for_targets(std::chrono::milliseconds timeout);

    // Waits for that long, or until a signal arrives.
    void pause(std::chrono::milliseconds time);

    // Takes the signals that have arrived; true if there was one that ends since the last call (or
    // wait).
    [[nodiscard]] bool take_signal();

    // From now on those signals end the process by their default action, also the ones that were
    // ignored when it was started.
    static void let_signals_kill();

    // The last signal taken, 0: none.
    [[nodiscard]] int signal() const { return signal_; }

    // Calls `handler` from wait(), on its thread, whenever the descriptor is readable or hung up,
    // until it is forgotten. Handlers may add, forget and end_by(). The descriptor stays the
    // caller's.
    void add_readable(int fd, std::function<void()> handler);
    void forget_readable(int fd);

    // Of a handler: wait() returns this cause next.
    void end_by(EndCause cause) { asked_ = cause; }

    // SIGUSR1, from here on; blocked since make(), so that one that comes early waits.
    void on_user_signal(std::function<void()> handler) { on_user_signal_ = std::move(handler); }

    // Written by another thread (8 bytes, eventfd) to make wait() ask `raised`.
    [[nodiscard]] int wake_fd() const { return wake_.get(); }
    void raise_by(std::function<std::optional<EndCause>()> raised) { raised_ = std::move(raised); }

private:
    struct Readable {
        int fd;
        std::function<void()> handler;
    };

    EndWatch(UniqueFd signals, UniqueFd wake, UniqueFd duration, UniqueFd tick)
        : signals_(std::move(signals)),
          wake_(std::move(wake)),
          duration_(std::move(duration)),
          tick_(std::move(tick)) {}

    // Polls once; the fds that became ready are handled.
    [[nodiscard]] std::optional<EndCause> poll_once(int timeout_ms,
                                                    const std::function<void()>& on_tick);

    UniqueFd signals_;
    UniqueFd wake_;
    UniqueFd duration_;
    UniqueFd tick_;
    std::vector<UniqueFd> targets_;  // pidfds of those still alive
    bool had_targets_ = false;
    std::vector<std::shared_ptr<const Readable>> readable_;
    int signal_ = 0;
    std::optional<EndCause> asked_;
    std::function<void()> on_user_signal_;
    std::function<std::optional<EndCause>()> raised_;
};

}  // namespace tracer
