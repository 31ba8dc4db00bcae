// SPDX-License-Identifier: Apache-2.0
//
// What can be asked of a recording while it runs. All of it on the main thread, which is the one
// that waits for the recording's end; nothing of it after that.
#pragma once

#include "session/buffer_size.h"
#include "session/output.h"
#include "tracer/base/result.h"
#include "tracer/write/byte_sink.h"
#include "tracer/write/event_history.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tracer {

struct LiveStatus {
    double seconds = 0;    // since everything was armed
    uint64_t records = 0;  // taken from the rings
    uint64_t events = 0;   // written
    uint64_t bytes = 0;    // written, over all sinks
    // By the second, since the last question, whoever asked; the first time since the start.
    double records_per_second = 0;
    double bytes_per_second = 0;
    uint64_t ring_bytes = 0;  // of each CPU
    double ring_fill = 0;     // of the fullest ring, 0..1: the most since the last question
    struct Lost {
        uint64_t ring_full = 0;
        uint64_t sink_full = 0;
        uint64_t refused = 0;
        uint64_t malformed = 0;
        [[nodiscard]] uint64_t total() const { return ring_full + sink_full + refused + malformed; }
    } lost;
    std::string output;  // where it goes now
    std::string format;
    std::string target;             // what is recorded, for people
    std::vector<std::string> kept;  // sinks to go back to, the last one kept at the end
    uint64_t sink_changes = 0;
    std::optional<HistoryExtent> history;    // of a flight recorder: what is held
    std::optional<uint64_t> chunks_waiting;  // of one in memory: whole ones
    bool is_paused = false;                  // or waits to be opened
    std::string waiting_for;                 // before it is opened for the first time
    double paused_seconds = 0;               // of `seconds`, all pauses together
    uint64_t pauses = 0;
};

struct GateChange {
    bool is_changed = false;    // false: it was so already
    double paused_seconds = 0;  // of the pause at hand, or the one that ended
};

struct SinkChange {
    std::string target;  // a file's path, "unix:PATH", "tcp:HOST:PORT" or "-"; restore: not used
    bool keep_old = false;
    SinkStart start = SinkStart::reads_alone;
};

struct SinkChanged {
    std::string output;
    std::string output_before;
    bool is_kept = false;  // the one before
};

// Called once, by the function that it was given to or later.
using SinkChangeDone = std::function<void(Result<SinkChanged>)>;

struct BuffersChange {
    std::optional<BufferRequest> rings;  // as --buffer takes it
    uint64_t sink_bytes = 0;             // 0: as they are
};

struct BuffersChanged {
    uint64_t ring_bytes = 0;  // as they are now
    uint64_t sink_bytes = 0;  // 0: the sink has none to change
};

class LiveRecording {
public:
    virtual ~LiveRecording() = default;

    [[nodiscard]] virtual LiveStatus status() = 0;
    // What was recorded up to a millisecond before the call is handed to its destination (a file:
    // to the kernel) within moments.
    virtual void flush() = 0;
    // The recording ends in order, as at ^C, once the caller has returned to the wait for it.
    virtual void stop() = 0;
    // An instant `mark` (category `tracer`) on the recorder's own track, now.
    [[nodiscard]] virtual Status mark(std::string_view text) = 0;

    // Nothing of probes, the scheduler and programs' rings is recorded from here on; and again.
    [[nodiscard]] virtual Result<GateChange> pause() = 0;
    [[nodiscard]] virtual Result<GateChange> resume() = 0;

    // A flight recorder writes what it holds, which takes its time; the others have nothing to.
    [[nodiscard]] virtual Status snapshot(const std::string& reason) = 0;

    // The rings of the CPUs, and the sink's buffers, are so large from now on; nothing that is in
    // them gets lost. Waits for the programs that run: some ms for each CPU, half a second in all
    // where they may sleep.
    [[nodiscard]] virtual Result<BuffersChanged> change_buffers(const BuffersChange& change) = 0;

    // Of a recording in memory: Output::take_chunk.
    [[nodiscard]] virtual Result<TakenChunk> take_chunk(bool end_current) = 0;

    // One change at a time: another one meanwhile is an error.
    virtual void change_sink(const SinkChange& change, SinkChangeDone done) = 0;
    // Back to the sink that was kept last.
    virtual void restore_sink(const SinkChange& change, SinkChangeDone done) = 0;

    // Calls `handler` on the main thread whenever the descriptor is readable.
    virtual void add_readable(int fd, std::function<void()> handler) = 0;
    virtual void forget_readable(int fd) = 0;
};

}  // namespace tracer
