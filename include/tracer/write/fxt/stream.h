// SPDX-License-Identifier: Apache-2.0
//
// A Fuchsia trace, record by record: one function for each record of the format. What readers would
// choke on is refused by name (Fault), and nothing of it is written.
//
//     auto sink = tracer::open_file_sink("app.fxt", {});
//     fxt::Stream trace(**sink, {.provider_name = "app"});
//     TR_TRY(trace.open());
//     const auto category = trace.intern("net").value_or("net");
//     const auto request = trace.intern("request").value_or("request");
//     const auto worker = trace.thread({.process = getpid(), .thread = gettid()});
//     trace.name_process(getpid(), "app");
//     trace.name_thread(worker.ids(), "worker 1");
//
//     trace.duration_begin(worker, category, request, now_ns());
//     trace.instant(worker, category, "retry", now_ns(), fxt::arg("after_ms", 20));
//     trace.duration_end(worker, category, request, now_ns(), fxt::arg("bytes", size_t{512}),
//                        fxt::arg("path", path));
//     TR_TRY(trace.close());
//     TR_TRY((*sink)->close());
//
// The same event very often: event_template.h. Times are ticks of the clock that the options name,
// by default nanoseconds; Perfetto takes them for CLOCK_BOOTTIME. Events need not be in the order
// of their times, but of two durations that begin at the same time the outer must come first.
#pragma once

#include "tracer/base/result.h"
#include "tracer/write/byte_sink.h"
#include "tracer/write/fxt/arguments.h"
#include "tracer/write/fxt/fault.h"
#include "tracer/write/fxt/record.h"
#include "tracer/write/fxt/refs.h"
#include "tracer/write/fxt/tables.h"
#include "tracer/write/fxt/window.h"
#include "tracer/write/fxt/words.h"

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <tl/expected.hpp>

namespace tracer::fxt {

// One moment on two clocks.
struct ClockBase {
    uint64_t tick = 0;
    int64_t wall_ns = 0;  // since the Unix epoch
};

struct StreamOptions {
    uint32_t provider_id = 1;
    std::string_view provider_name = {};  // at most 255 bytes; copied
    uint64_t ticks_per_second = 1'000'000'000;
    // Set: the initialization record has four words, with this. Not for readers that insist on
    // the documented two; Perfetto takes both and ignores the base.
    std::optional<ClockBase> clock_base = std::nullopt;
    // Indices and slots set aside (tables.h). Together at most 32,767 strings.
    uint16_t string_slots = 0;
    uint16_t cached_strings = 256;
    uint8_t thread_slots = 0;
    bool cut_long_strings = false;  // instead of refusing them
    // How far the sink may be behind, in bytes. 0: each record is committed before the call
    // returns, and the sink may be used between calls.
    size_t window_bytes = ByteSink::kReserveBytesMax;
    uint64_t refresh_ticks = 0;  // see refresh_if_due(); 0: never
};

struct StreamCounters {
    uint64_t no_room = 0;      // records not written: sink full
    uint64_t refused = 0;      // records not written: any other fault
    uint64_t strings_cut = 0;  // strings shortened
};

// One thread at a time, templates included. Several threads: a mutex around one stream, at some
// 100 ns an event; or a stream a thread, each with a provider_id and a sink of its own, whose bytes
// put together (files one after the other, or chunks in any order) are one trace.
//
// The sink is the stream's alone while its window is open (StreamOptions::window_bytes): two
// streams over one sink lose records unless both have window_bytes = 0. Close the stream before the
// sink. Borrows the sink, and hands it what it still holds when it is destroyed. Definitions that
// find no room are written before the next record. Allocates when it is made and for new interned
// strings, never for an event.
class Stream {
public:
    explicit Stream(ByteSink& sink, const StreamOptions& options = {});
    ~Stream() = default;
    Stream(const Stream&) = delete;
    Stream& operator=(const Stream&) = delete;

    // --- The life of a trace ---

    // Writes the magic number, the provider and the clock. Refuses options that cannot be.
    [[nodiscard]] Status open();

    // Writes that and everything live again, so that what follows reads alone: providers,
    // interned and cached strings, slots, names of processes and threads. Threads of the cache
    // when they are used again. Durations that are open stay open in the chunk before. Of a
    // ChunkedSink use the functions of chunk_switch.h, which close the window first.
    [[nodiscard]] Status begin_chunk();

    // From here on to another sink: as a chunk that reads alone, or as if nothing had happened (a
    // buffer of the same trace). The old one has every record until now; closing it is its
    // owner's business.
    [[nodiscard]] Status switch_sink(ByteSink& sink, SinkStart start);

    // What this window holds goes to the sink, and the sink is flushed.
    void flush();
    // What this window holds goes to the sink; what is done with the sink itself (asking whether a
    // chunk is due, closing it) comes after. The next record opens a window again.
    void close_window() { window_.release(); }

    // A flush and a new initialization record, if refresh_ticks have passed since the last one: for
    // a loop that would leave records in the buffer while nothing happens. True: it was due.
    bool refresh_if_due(const ClockBase& now);

    // Writes what waits for room, and hands everything to the sink. Does not close the sink.
    [[nodiscard]] Status close();

    [[nodiscard]] const StreamCounters& counters() const { return counters_; }
    [[nodiscard]] ByteSink& sink() { return window_.sink(); }

    // Whether the header is in the trace.
    [[nodiscard]] bool has_begun() const { return is_header_written_; }
    // Writes the header and the definitions that wait for room. False: still no room. Every record
    // does this first.
    [[nodiscard]] bool catch_up();

    // --- Names (tables.h says what they promise) ---

    // For the life of the stream: for names that the program knows. Fault::table_full after some
    // 32,000: use the text itself.
    [[nodiscard]] tl::expected<StringRef, Fault> intern(std::string_view text);
    // For names that come from outside, in any number: the index until other names push it out.
    [[nodiscard]] tl::expected<StringRef, Fault> cached(std::string_view text);
    // Slot 0..string_slots - 1 names `text` from here on.
    Outcome define_string(unsigned slot, std::string_view text);
    [[nodiscard]] StringRef string_slot(unsigned slot) const { return strings_.slot(slot); }

    // A slot for the thread as long as it is among those used last; always a good name.
    [[nodiscard]] ThreadRef thread(const ThreadIds& ids);
    // A slot for the life of the stream. Fault::table_full after 255.
    [[nodiscard]] tl::expected<ThreadRef, Fault> pinned_thread(const ThreadIds& ids);
    // Whether the slot of a reference is still its thread's own. Of one that is not, records look
    // the thread up; a caller that keeps references saves that by asking for a new one.
    [[nodiscard]] bool is_current(const ThreadRef& ref) const { return threads_.is_current(ref); }
    // Slot 1..thread_slots is this thread from here on.
    Outcome define_thread(uint8_t slot, const ThreadIds& ids);

    // --- Metadata ---

    // Names another provider, which becomes the current one: it has a clock (the same) and names of
    // its own, so what is live is written again for it.
    Outcome provider_info(uint32_t id, std::string_view name);
    // Makes a provider that was named the current one again.
    Outcome provider_section(uint32_t id);
    // Perfetto does not show that a buffer was full: write an instant as well.
    Outcome provider_event(uint32_t id, ProviderEvent event);
    // The clock again, from here on. In two words the base is left out.
    Outcome initialization(const ClockBase& base);

    // --- Events ---
    //
    // An id ties the events of one asynchronous operation or one flow together, over threads and
    // the whole trace. Perfetto shows asynchronous events in one global group, named after the
    // first of an id, and ends one only by the name and category of its begin. A flow goes from the
    // slice around its begin to those around its steps and end: write them between the begin and
    // the end of these slices. Readers draw a counter for each argument and id of the name.

    template <ArgumentType... types>
    [[gnu::always_inline]] Outcome instant(const ThreadRef& thread,
                                           const StringRef& category,
                                           const StringRef& name,
                                           uint64_t time,
                                           const TypedArgument<types>&... arguments) {
        return typed<EventType::instant>(thread, category, name, time, 0, arguments...);
    }
    // Integers and doubles only: readers draw nothing else.
    template <ArgumentType... types>
    [[gnu::always_inline]] Outcome counter(const ThreadRef& thread,
                                           const StringRef& category,
                                           const StringRef& name,
                                           uint64_t time,
                                           uint64_t id,
                                           const TypedArgument<types>&... arguments) {
        static_assert((can_be_counted(types) && ...), "counters have integers and doubles only");
        return typed<EventType::counter>(thread, category, name, time, id, arguments...);
    }
    template <ArgumentType... types>
    [[gnu::always_inline]] Outcome duration_begin(const ThreadRef& thread,
                                                  const StringRef& category,
                                                  const StringRef& name,
                                                  uint64_t time,
                                                  const TypedArgument<types>&... arguments) {
        return typed<EventType::duration_begin>(thread, category, name, time, 0, arguments...);
    }
    // Ends the innermost open one of the thread, whatever it is called.
    template <ArgumentType... types>
    [[gnu::always_inline]] Outcome duration_end(const ThreadRef& thread,
                                                const StringRef& category,
                                                const StringRef& name,
                                                uint64_t time,
                                                const TypedArgument<types>&... arguments) {
        return typed<EventType::duration_end>(thread, category, name, time, 0, arguments...);
    }
    // Perfetto drops one that overlaps an open duration of its thread in part.
    template <ArgumentType... types>
    [[gnu::always_inline]] Outcome duration_complete(const ThreadRef& thread,
                                                     const StringRef& category,
                                                     const StringRef& name,
                                                     uint64_t begin,
                                                     uint64_t end,
                                                     const TypedArgument<types>&... arguments) {
        return typed<EventType::duration_complete>(thread, category, name, begin, end,
                                                   arguments...);
    }
    template <ArgumentType... types>
    [[gnu::always_inline]] Outcome async_begin(const ThreadRef& thread,
                                               const StringRef& category,
                                               const StringRef& name,
                                               uint64_t time,
                                               uint64_t id,
                                               const TypedArgument<types>&... arguments) {
        return typed<EventType::async_begin>(thread, category, name, time, id, arguments...);
    }
    template <ArgumentType... types>
    [[gnu::always_inline]] Outcome async_instant(const ThreadRef& thread,
                                                 const StringRef& category,
                                                 const StringRef& name,
                                                 uint64_t time,
                                                 uint64_t id,
                                                 const TypedArgument<types>&... arguments) {
        return typed<EventType::async_instant>(thread, category, name, time, id, arguments...);
    }
    template <ArgumentType... types>
    [[gnu::always_inline]] Outcome async_end(const ThreadRef& thread,
                                             const StringRef& category,
                                             const StringRef& name,
                                             uint64_t time,
                                             uint64_t id,
                                             const TypedArgument<types>&... arguments) {
        return typed<EventType::async_end>(thread, category, name, time, id, arguments...);
    }
    template <ArgumentType... types>
    [[gnu::always_inline]] Outcome flow_begin(const ThreadRef& thread,
                                              const StringRef& category,
                                              const StringRef& name,
                                              uint64_t time,
                                              uint64_t id,
                                              const TypedArgument<types>&... arguments) {
        return typed<EventType::flow_begin>(thread, category, name, time, id, arguments...);
    }
    template <ArgumentType... types>
    [[gnu::always_inline]] Outcome flow_step(const ThreadRef& thread,
                                             const StringRef& category,
                                             const StringRef& name,
                                             uint64_t time,
                                             uint64_t id,
                                             const TypedArgument<types>&... arguments) {
        return typed<EventType::flow_step>(thread, category, name, time, id, arguments...);
    }
    template <ArgumentType... types>
    [[gnu::always_inline]] Outcome flow_end(const ThreadRef& thread,
                                            const StringRef& category,
                                            const StringRef& name,
                                            uint64_t time,
                                            uint64_t id,
                                            const TypedArgument<types>&... arguments) {
        return typed<EventType::flow_end>(thread, category, name, time, id, arguments...);
    }

    // An event as data, for callers that learn what to write at run time.
    struct Event {
        EventType type = EventType::instant;
        ThreadRef thread = ThreadIds{};
        StringRef category = {};
        StringRef name = {};
        uint64_t time = 0;
        uint64_t last_word = 0;  // of types that have one: end, or id
    };
    Outcome event(const Event& event, std::span<const Argument> arguments = {});

    // --- Objects, scheduling, and the rest ---

    // Names a process and a thread of it: what readers show. Once each, and again when renamed; the
    // last name wins. A thread that is scheduled needs this to be shown with its process.
    // Allocates, because each chunk says the names again, until they are forgotten.
    Outcome name_process(uint64_t process, const StringRef& name);
    Outcome name_thread(const ThreadIds& ids, const StringRef& name);
    // It has ended: later chunks need its name no more.
    void forget_process(uint64_t process) { forget({ObjectType::process, process}); }
    void forget_thread(uint64_t thread) { forget({ObjectType::thread, thread}); }
    // Any kernel object; not repeated in chunks. Of a thread readers want the process:
    // arg("process", Koid{...}).
    Outcome kernel_object(ObjectType type,
                          uint64_t id,
                          const StringRef& name,
                          std::span<const Argument> arguments = {});
    // An object of a process, by its address. Of `process` the slot or the process id is used.
    Outcome userspace_object(const ThreadRef& process,
                             uint64_t address,
                             const StringRef& name,
                             std::span<const Argument> arguments = {});

    // From here on a CPU (at most 4,095, where trace processor aborts) runs another thread. Readers
    // look for the int32 arguments "incoming_weight" and "outgoing_weight": the priority, INT32_MIN
    // for the idle loop (thread 0). A lost switch leaves its thread running to the end of the
    // trace: after a loss, switch to idle.
    struct Switch {
        uint16_t cpu = 0;
        uint64_t time = 0;
        uint64_t out = 0;  // thread ids
        OutgoingState out_state = OutgoingState::running;
        uint64_t in = 0;
    };
    Outcome context_switch(const Switch& event, std::span<const Argument> arguments = {});

    // Arguments "weight" (int32) and "waker" (Koid). Not of a thread that runs or could: Perfetto
    // would cut its slice short.
    Outcome wakeup(uint16_t cpu,
                   uint64_t time,
                   uint64_t thread,
                   std::span<const Argument> arguments = {});

    // The older form: 8-bit CPU, priorities in the header. Perfetto takes process 0 with priority 0
    // for the idle loop.
    struct LegacySwitch {
        uint8_t cpu = 0;
        uint64_t time = 0;
        ThreadRef out = ThreadIds{};
        OutgoingState out_state = OutgoingState::running;
        uint8_t out_priority = 0;
        ThreadRef in = ThreadIds{};
        uint8_t in_priority = 0;
    };
    Outcome legacy_switch(const LegacySwitch& event);

    // Perfetto skips it: write an instant where people should see it.
    Outcome log(const ThreadRef& thread, uint64_t time, std::string_view message);

    // At most 32,752 bytes under an interned name. Blobs of one name are one stream. Of type
    // perfetto a part of a serialized Trace, whose packets may go on in the next blob; a malformed
    // packet makes Perfetto refuse the whole file. The other types it ignores.
    Outcome blob(BlobType type, const StringRef& name, Bytes bytes);

    // Large blobs, up to what a sink takes at once (64 KiB with everything). Perfetto cannot read
    // these records: it takes their size from the wrong bits and loses its place, or gives up. For
    // other readers only.
    Outcome large_blob(const StringRef& category, const StringRef& name, Bytes bytes);
    // The same with a time, a thread and arguments (format 0).
    Outcome large_blob(const Event& about, Bytes bytes, std::span<const Argument> arguments = {});

    // --- Whole records of the caller's own ---

    // For writers that spell records with words.h, one or several in one reservation: names by
    // index, threads by slots that use_slot() granted just before. Check has_room() of the record.
    [[nodiscard]] bool use_slot(const ThreadRef& ref) {
        if (!threads_.is_current(ref)) return false;
        threads_.touch(ref);
        return true;
    }
    // Nothing that was interned or defined waits for room.
    [[nodiscard]] bool is_caught_up() const { return !is_behind_; }
    [[nodiscard]] SinkWindow& window() { return window_; }

private:
    friend class EventTemplate;

    struct Provider {
        uint32_t id;
        std::string name;
    };
    struct Names {
        StringRef category;  // empty for records that have none
        StringRef name;
    };
    using ObjectId = std::pair<ObjectType, uint64_t>;
    struct NamedObject {
        std::string name;
        uint64_t process = 0;  // of a thread
        bool is_written = true;
    };
    struct Size {
        size_t fixed_words = 0;  // all but names and arguments
        size_t words_max = kRecordWordsMax;
    };

    static constexpr bool can_be_counted(ArgumentType type) {
        return type >= ArgumentType::int32 && type <= ArgumentType::float64;
    }

    // An event of which the compiler knows all but names and values. When the names are interned,
    // the thread has its slot and the window has room, it is spelt here; else by event().
    template <EventType type, ArgumentType... types>
    Outcome typed(const ThreadRef& thread,
                  const StringRef& category,
                  const StringRef& name,
                  uint64_t time,
                  uint64_t last_word,
                  const TypedArgument<types>&... arguments);
    template <ArgumentType type>
    [[nodiscard]] bool has_fixed_size(const TypedArgument<type>& argument) const {
        if constexpr (type == ArgumentType::blob) return false;
        return strings_.is_permanent(argument.name()) &&
               (type != ArgumentType::string || strings_.is_permanent(argument.text()));
    }

    // What records with names and arguments have in common: checks, sizes, cuts.
    // spell(record, words, names, arguments) fills the record.
    template <typename Spell>
    Outcome write_record(const Size& size,
                         const Names& names,
                         std::span<const Argument> arguments,
                         const Spell& spell);
    template <typename Spell>
    Outcome write_cut(const Size& size,
                      Names names,
                      std::span<const Argument> arguments,
                      const Spell& spell);
    // The words of all of it; or why it cannot be written.
    [[nodiscard]] tl::expected<size_t, Fault> measure(const Size& size,
                                                      const Names& names,
                                                      std::span<const Argument> arguments);
    // Shortens texts until the record can be, or there is nothing to shorten; how many.
    [[nodiscard]] static size_t shorten(const Size& size,
                                        Names& names,
                                        std::span<Argument> arguments);
    Outcome write_legacy_switch(const LegacySwitch& event, uint8_t out_slot, uint8_t in_slot);

    // Whether everything that records may name is in the trace. While it is not, the window is
    // closed, so that the fast calls need not ask.
    [[nodiscard]] bool is_ready() { return !is_behind_ || catch_up(); }
    void fall_behind();
    [[nodiscard]] bool write_header();
    void remember(const ObjectId& id, const StringRef& name, uint64_t process);
    void forget(const ObjectId& id) { named_.erase(id); }
    [[nodiscard]] bool write_names();
    [[nodiscard]] bool write_name(const ObjectId& id, const NamedObject& object);
    void restart();
    [[nodiscard]] Status status_of_catching_up(const char* what);
    [[gnu::cold, gnu::noinline]] Outcome refuse(Fault fault);
    [[nodiscard]] size_t initialization_words() const;
    void write_initialization(Record& record) const;
    [[nodiscard]] std::string_view fit(std::string_view text);

    SinkWindow window_;
    bool is_behind_ = true;  // catch_up() has something to do
    bool is_header_written_ = false;
    bool is_valid_ = false;  // the options
    StringTable strings_;
    ThreadTable threads_;
    StreamCounters counters_;
    StreamOptions options_;  // without the name
    std::vector<Provider> providers_;
    size_t current_provider_ = 0;
    std::map<ObjectId, NamedObject> named_;
    uint64_t last_refresh_tick_ = 0;
};

}  // namespace tracer::fxt

#include "tracer/write/fxt/stream_inline.h"
