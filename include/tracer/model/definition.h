// SPDX-License-Identifier: Apache-2.0
//
// What events refer to: processes, threads, and the points (a probe, a runtime's event, a counter)
// that events happen at. Defined once through TraceWriter::define, then named by a small index.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

namespace tracer::model {

// Index of a thread in the order of the decoder's task table; dense from 0.
enum class ThreadIndex : uint32_t {};
// Index of a point; dense from 0.
enum class PointIndex : uint32_t {};

inline constexpr ThreadIndex kIdleThread{0xffffffff};  // no thread: the CPU's idle loop

// The life of everything that is no thread, far above those of a tid that is used again.
inline constexpr uint32_t kTrackLife = 1022;

// What a trace is about, as far as it is known before the first event.
struct Recording {
    uint32_t pid = 0;         // the one process that is recorded; 0: several, or all of the system
    uint32_t parent_pid = 0;  // of that process; 0: not known
    // Of that process, its program first; else of whoever records. Empty: not known.
    std::vector<std::string> arguments;
    // The system's CPUs, where events of all of them are to be expected; 0: not so, or not known.
    uint16_t cpu_count = 0;
};

// One life of one thread. A tid that the kernel uses again is another thread with another index.
struct Thread {
    ThreadIndex index{};
    uint32_t pid = 0;  // of the process (the kernel's tgid), initial pid namespace
    uint32_t tid = 0;
    // The ids by which it knows itself in a pid namespace of its own; 0: those above, or not known.
    uint32_t ns_pid = 0;
    uint32_t ns_tid = 0;
    // How many earlier threads of this recording had the same tid (processes: the same pid).
    // Formats that know ids alone must keep the lives apart by it.
    uint32_t thread_life = 0;
    uint32_t process_life = 0;
    uint64_t start_ns = 0;  // CLOCK_BOOTTIME; 0: unknown
    uint32_t parent_pid = 0;
    bool is_kernel_thread = false;
    // No thread of the kernel's but a line of its own in the process: one of the program's own
    // threads, which many of the kernel's run (a fiber), or what is shown beside a thread. `tid`
    // counts these from 1, thread_life is kTrackLife.
    bool is_track = false;
    std::string thread_name;
    std::string process_name;
};

enum class ValueType : uint8_t {
    none,  // argument could not be read
    s32,
    u32,
    s64,
    u64,
    f64,
    boolean,
    pointer,  // an address, or an integer that is to be shown in hexadecimal
    string,
};

// What one value of an integer argument is called.
struct ValueName {
    uint64_t bits = 0;  // as in Value: sign-extended
    std::string name;

    bool operator==(const ValueName&) const = default;
};

struct Argument {
    std::string name;  // no '.' or '[': readers take them for paths
    ValueType type = ValueType::u64;
    // Of integers and booleans: shown in place of the number, which stays for values that have
    // none. In the order of `bits`, each once.
    std::vector<ValueName> names = {};

    // Null: the value has no name.
    [[nodiscard]] const std::string* name_of(uint64_t bits) const {
        const auto found = std::lower_bound(
            names.begin(), names.end(), bits,
            [](const ValueName& known, uint64_t wanted) { return known.bits < wanted; });
        return found != names.end() && found->bits == bits ? &found->name : nullptr;
    }
};

enum class PointKind : uint8_t {
    instant,  // something happened
    span,     // entered and left again: SpanBegin and SpanEnd, or AsyncBegin and AsyncEnd
    counter,  // a value
};

// What a point's events say of a runtime with threads of its own, for formats that have words for
// it. Their arguments are then known by these names, each of which may be missing: `capability`
// (the number of what runs such threads one at a time) and `thread` (its number, of 64 bits), and
//   run        span: a thread runs; at its end `code` (1 heap is full, 2 stack is full, 3 yields, 4
//              waits, 5 has ended), of 4 `why` (what for, as GHC's why_blocked), of 2 `stack`
//              (words)
//   gc         span: `generation`; at its end `copied`, `live`, `slop` (bytes), `threads`,
//              `most_copied_words`, `balanced_words`, `heap_mib`, `blocks` (of 4 KiB, in use),
//              `allocated_words` (by the capability, in all)
//   create, wakeup (`other`: the woken thread's capability)
//   label      of a thread: the first text
//   message, marker   of the program: the first text
enum class PointRole : uint8_t { none, run, gc, create, wakeup, label, message, marker };

// Where events come from: a probe, or a built-in source.
struct Point {
    PointIndex index{};
    PointKind kind = PointKind::instant;
    std::string category;  // the probe's provider or its file's name
    std::string name;
    // Of Instant, SpanBegin, AsyncBegin and Counter events, at most 15.
    std::vector<Argument> arguments;
    std::vector<Argument> end_arguments;  // of SpanEnd and AsyncEnd events
    PointRole role = PointRole::none;
};

}  // namespace tracer::model
