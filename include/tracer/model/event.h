// SPDX-License-Identifier: Apache-2.0
//
// What happened, once given its meaning: the only thing writers see. No format, kernel record or
// runtime is named here. Times are CLOCK_BOOTTIME in nanoseconds.
#pragma once

#include "tracer/model/definition.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <variant>

namespace tracer::model {

// One argument's value. `text` is borrowed and dies with the write() call.
struct Value {  // NOLINT(cppcoreguidelines-pro-type-member-init): the union has its first member
    ValueType type = ValueType::none;
    bool is_cut = false;  // string: longer in the target than here
    // Of a cut string: `bits` is a lower bound of its length, which was not counted to the end.
    bool is_longer = false;
    union {
        // s32 and s64 sign-extended; boolean 0 or 1; pointer; of a cut string its length in the
        // target in bytes, 0 if that is not known
        uint64_t bits = 0;
        double real;  // f64
    };
    std::string_view text;  // string
};

// Whether values of this type may have names: Argument::name_of().
constexpr bool has_names(ValueType type) {
    return type != ValueType::none && type != ValueType::f64 && type != ValueType::string;
}

// Longer names are cut by who makes them, with an ellipsis.
inline constexpr size_t kEventNameBytesMax = 200;

struct Instant {
    PointIndex point{};
    ThreadIndex thread{};
    std::span<const Value> values;  // as many as the point's arguments
    // What this one event is called; empty: as its point. UTF-8 of at most kEventNameBytesMax,
    // borrowed as texts of values are.
    std::string_view name{};
};

struct SpanBegin {
    PointIndex point{};
    ThreadIndex thread{};
    std::span<const Value> values;
    std::string_view name{};  // as Instant's; the span's end has the same
};

// Why a span ended; anything but `returned` is a repair and shows in the trace.
enum class SpanEndCause : uint8_t {
    returned,       // by its own end
    unwound,        // left without one: longjmp, an exception, exec
    lost_events,    // its end may be among what was lost
    thread_exit,    // of the thread it belongs to
    recording_end,  // open when the recording ended
    until,          // by an event that ends it too
    key_reused,     // another span began with its key
    process_exit,   // of the process its key belongs to
    crossed,        // goes on, but what was around it on its thread's track has ended
    paused,         // open when the recording was paused
};
inline constexpr size_t kSpanEndCauses = 10;

// Ends the innermost open span of the thread; the decoder only sends ends that match.
struct SpanEnd {
    PointIndex point{};
    ThreadIndex thread{};
    SpanEndCause cause = SpanEndCause::returned;
    std::span<const Value> values;  // the point's end_arguments, or none for a repair
};

// A span that does not nest with what else its thread does, or that ends on another thread: it has
// a track of its own. Ids are those of one open span, and no other span of the recording has them.
struct AsyncBegin {
    PointIndex point{};
    ThreadIndex thread{};
    uint64_t id = 0;
    std::span<const Value> values;
    std::string_view name{};  // as Instant's; the span's end has the same
};

struct AsyncEnd {
    PointIndex point{};    // its begin's
    ThreadIndex thread{};  // where it ended; of a repair, where it began
    uint64_t id = 0;
    SpanEndCause cause = SpanEndCause::returned;
    std::span<const Value> values;  // the point's end_arguments, or none for a repair
};

// Values of a counter of the thread's process: one series for each number among the point's
// arguments, at least one of which could be read. Texts are no series.
struct Counter {
    PointIndex point{};
    ThreadIndex thread{};  // that said them
    std::span<const Value> values;
    std::string_view name{};  // as Instant's: another name is another counter
};

enum class ThreadState : uint8_t {
    runnable,         // preempted, or yielded
    sleeping,         // interruptible wait
    uninterruptible,  // D: usually a device
    stopped,          // by a signal or a debugger
    dead,
    unknown,  // made up by the decoder where the true switch is missing
};

// A CPU changed what it runs. kIdleThread stands for the idle loop and for every thread outside
// what is recorded.
struct Switch {
    uint16_t cpu;
    ThreadIndex out;
    ThreadState out_state;
    int16_t out_priority;  // the kernel's 0..139
    ThreadIndex in;
    int16_t in_priority;
};

// A sleeping thread was made runnable.
struct Wakeup {
    uint16_t cpu;  // where it is expected to run
    ThreadIndex woken;
    ThreadIndex waker;  // kIdleThread: an interrupt, or unknown
    int16_t woken_priority;
};

enum class LifeKind : uint8_t { fork, exec, exit };

struct Life {
    LifeKind kind;
    ThreadIndex thread;     // fork: the parent; else the thread itself
    ThreadIndex child{};    // fork
    int32_t exit_code = 0;  // exit: status, or 128 + signal
    std::string_view path;  // exec; borrowed
};

enum class LossCause : uint8_t {
    ring_full,  // the kernel found no room in a CPU's ring
    sink_full,  // the output did not keep up
    malformed,  // a record that made no sense
};

// `count` events of one CPU are missing between begin_ns and the event's time.
struct Loss {
    LossCause cause;
    uint16_t cpu;
    uint64_t begin_ns;
    uint64_t count;
};

// One reading of three clocks; the event's time is CLOCK_BOOTTIME.
struct ClockReading {
    uint64_t monotonic_ns;
    uint64_t realtime_ns;
};

using EventBody = std::variant<Instant,
                               SpanBegin,
                               SpanEnd,
                               AsyncBegin,
                               AsyncEnd,
                               Counter,
                               Switch,
                               Wakeup,
                               Life,
                               Loss,
                               ClockReading>;

inline constexpr uint16_t kNoCpu = 0xffff;

struct Event {
    uint64_t time_ns = 0;
    EventBody body;
    // Where it happened: of a Wakeup the waker's CPU, of a Switch or a Loss the same as their own.
    // kNoCpu: not known, or none (a ClockReading, an end that is a repair).
    uint16_t cpu = kNoCpu;
};

}  // namespace tracer::model
