// SPDX-License-Identifier: Apache-2.0
//
// tracer/c/fxt.h over fxt::Stream. Everything a C caller passes is data: arguments become
// fxt::Argument values on the stack, outcomes become enumerators, and numbers outside their C
// enumeration are refused here, because C does not check them.
#include "c/c_error.h"
#include "c/c_sink.h"
#include "tracer/c/fxt.h"
#include "tracer/write/fxt/event_template.h"
#include "tracer/write/fxt/stream.h"

#include <array>
#include <bit>
#include <memory>
#include <optional>
#include <span>

using namespace tracer;  // NOLINT(google-build-using-namespace): what follows is C's names
using c_api::guarded;
using c_api::tell;

struct tracer_fxt {
    tracer_fxt(ByteSink& sink, const fxt::StreamOptions& options) : stream(sink, options) {}
    fxt::Stream stream;
};

struct tracer_fxt_template {
    fxt::EventTemplate event;
};

namespace {

static_assert(TRACER_FXT_TABLE_FULL - TRACER_FXT_WRITTEN_CUT ==
              static_cast<int>(fxt::Fault::table_full));
static_assert(TRACER_FXT_BLOB == static_cast<int>(fxt::ArgumentType::blob));
static_assert(TRACER_FXT_FLOW_END == static_cast<int>(fxt::EventType::flow_end));
static_assert(TRACER_FXT_DEAD == static_cast<int>(fxt::OutgoingState::dead));
static_assert(TRACER_FXT_BLOB_PERFETTO == static_cast<int>(fxt::BlobType::perfetto));

// Faults follow the two ways of being written, in the order of fxt::Fault.
tracer_fxt_outcome outcome_of(fxt::Outcome outcome) {
    if (outcome) return outcome.is_cut() ? TRACER_FXT_WRITTEN_CUT : TRACER_FXT_WRITTEN;
    return static_cast<tracer_fxt_outcome>(TRACER_FXT_WRITTEN_CUT +
                                           static_cast<int>(outcome.fault()));
}

constexpr uint64_t kIndexBits = 32;

fxt::StringRef string_of(const tracer_fxt_string& string) {
    if (string.text != nullptr) return std::string_view(string.text, string.bytes_or_index);
    return fxt::StringRef::at(static_cast<uint32_t>(string.bytes_or_index),
                              static_cast<uint32_t>(string.bytes_or_index >> kIndexBits));
}

tracer_fxt_string c_string_of(const fxt::StringRef& string) {
    return {nullptr, uint64_t{string.generation()} << kIndexBits | string.index()};
}

fxt::ThreadRef thread_of(const tracer_fxt_thread& thread) {
    const fxt::ThreadIds ids{thread.process, thread.thread};
    if (thread.slot == 0) return ids;
    return fxt::ThreadRef::at(thread.slot, ids, thread.generation);
}

std::string_view text_of(const char* text) {
    return text == nullptr ? std::string_view() : std::string_view(text);
}

std::optional<fxt::Number> number_of(const tracer_fxt_value& value) {
    switch (value.type) {
        case TRACER_FXT_NULL:
            return fxt::to_number(nullptr);
        case TRACER_FXT_INT32:
            return fxt::to_number(static_cast<int32_t>(value.as.bits));
        case TRACER_FXT_UINT32:
            return fxt::to_number(static_cast<uint32_t>(value.as.bits));
        case TRACER_FXT_INT64:
            return fxt::to_number(static_cast<int64_t>(value.as.bits));
        case TRACER_FXT_UINT64:
            return fxt::to_number(value.as.bits);
        case TRACER_FXT_DOUBLE:
            return fxt::to_number(value.as.real);
        case TRACER_FXT_POINTER:
            return fxt::to_number(fxt::Pointer{value.as.bits});
        case TRACER_FXT_KOID:
            return fxt::to_number(fxt::Koid{value.as.bits});
        case TRACER_FXT_BOOL:
            return fxt::to_number(value.as.bits != 0);
        case TRACER_FXT_STRING:
        case TRACER_FXT_BLOB:
            break;
    }
    return std::nullopt;
}

std::optional<fxt::Argument> argument_of(const tracer_fxt_argument& argument) {
    const fxt::StringRef name = string_of(argument.name);
    const tracer_fxt_value& value = argument.value;
    if (value.type == TRACER_FXT_STRING) return fxt::Argument(name, string_of(value.as.string));
    if (value.type == TRACER_FXT_BLOB) {
        return fxt::Argument(name,
                             fxt::Bytes(static_cast<const std::byte*>(value.as.blob.data),
                                        value.as.blob.data == nullptr ? 0 : value.as.blob.bytes));
    }
    const auto number = number_of(value);
    if (!number) return std::nullopt;
    return fxt::Argument(name, *number);
}

// Calls write(span of arguments), or says why there can be none.
template <typename Write>
tracer_fxt_outcome with_arguments(const tracer_fxt_argument* arguments,
                                  size_t count,
                                  const Write& write) {
    fxt::ArgumentList list;
    for (const tracer_fxt_argument& argument : std::span(arguments, count)) {
        const auto made = argument_of(argument);
        if (!made) return TRACER_FXT_WRONG_TYPE;
        if (!list.add(*made)) return TRACER_FXT_TOO_MANY_ARGUMENTS;
    }
    return outcome_of(write(list.view()));
}

bool is_event_type(tracer_fxt_event_type type) {
    return type >= TRACER_FXT_INSTANT && type <= TRACER_FXT_FLOW_END;
}
bool is_state(tracer_fxt_state state) {
    return state >= TRACER_FXT_CREATED && state <= TRACER_FXT_DEAD;
}

fxt::Stream::Event event_of(const tracer_fxt_event& event) {
    return {.type = static_cast<fxt::EventType>(event.type),
            .thread = thread_of(event.thread),
            .category = string_of(event.category),
            .name = string_of(event.name),
            .time = event.time,
            .last_word = event.end_or_id};
}

}  // namespace

const char* tracer_fxt_outcome_name(tracer_fxt_outcome outcome) {
    if (outcome == TRACER_FXT_WRITTEN) return "written";
    if (outcome == TRACER_FXT_WRITTEN_CUT) return "written_cut";
    // Made from literals: it ends in a NUL.
    return fxt::name_of(static_cast<fxt::Fault>(outcome - TRACER_FXT_WRITTEN_CUT)).data();
}

tracer_fxt* tracer_fxt_open(tracer_sink* sink,
                            const tracer_fxt_options* options,
                            tracer_error* error) {
    return guarded(error, [&]() -> tracer_fxt* {
        fxt::StreamOptions made;
        if (options != nullptr) {
            made.provider_name = text_of(options->provider_name);
            if (options->provider_id != 0) made.provider_id = options->provider_id;
            if (options->ticks_per_second != 0) made.ticks_per_second = options->ticks_per_second;
            if (options->has_clock_base) {
                made.clock_base = fxt::ClockBase{options->base_tick, options->base_wall_ns};
            }
            made.string_slots = options->string_slots;
            if (options->cached_strings != 0) made.cached_strings = options->cached_strings;
            made.thread_slots = options->thread_slots;
            made.cut_long_strings = options->cut_long_strings;
            made.refresh_ticks = options->refresh_ticks;
        }
        auto trace = std::make_unique<tracer_fxt>(*sink->sink, made);
        if (!tell(error, trace->stream.open())) return nullptr;
        return trace.release();
    });
}

bool tracer_fxt_close(tracer_fxt* trace, tracer_error* error) {
    const std::unique_ptr<tracer_fxt> owned(trace);
    return trace == nullptr || guarded(error, [&] { return tell(error, trace->stream.close()); });
}

bool tracer_fxt_begin_chunk(tracer_fxt* trace, tracer_error* error) {
    return guarded(error, [&] { return tell(error, trace->stream.begin_chunk()); });
}

bool tracer_fxt_switch_sink(tracer_fxt* trace,
                            tracer_sink* sink,
                            bool reads_alone,
                            tracer_error* error) {
    const SinkStart start = reads_alone ? SinkStart::reads_alone : SinkStart::goes_on;
    return guarded(error,
                   [&] { return tell(error, trace->stream.switch_sink(*sink->sink, start)); });
}

void tracer_fxt_flush(tracer_fxt* trace) {
    trace->stream.flush();
}

bool tracer_fxt_refresh_if_due(tracer_fxt* trace, uint64_t tick, int64_t wall_ns) {
    return trace->stream.refresh_if_due({tick, wall_ns});
}

tracer_fxt_counters tracer_fxt_count(const tracer_fxt* trace) {
    const fxt::StreamCounters& counters = trace->stream.counters();
    return {counters.no_room, counters.refused, counters.strings_cut};
}

tracer_fxt_string tracer_fxt_intern(tracer_fxt* trace, const char* text) {
    const auto known =
        guarded(nullptr, [&] { return std::optional(trace->stream.intern(text_of(text))); });
    return known && *known ? c_string_of(**known) : tracer_fxt_text(text == nullptr ? "" : text);
}

tracer_fxt_string tracer_fxt_cached(tracer_fxt* trace, const char* text) {
    const auto known = trace->stream.cached(text_of(text));
    return known ? c_string_of(*known) : tracer_fxt_text(text == nullptr ? "" : text);
}

tracer_fxt_outcome tracer_fxt_define_string(tracer_fxt* trace, unsigned slot, const char* text) {
    return outcome_of(trace->stream.define_string(slot, text_of(text)));
}

tracer_fxt_string tracer_fxt_string_slot(const tracer_fxt* trace, unsigned slot) {
    return c_string_of(trace->stream.string_slot(slot));
}

tracer_fxt_thread tracer_fxt_thread_of(tracer_fxt* trace, uint64_t process, uint64_t thread) {
    const fxt::ThreadRef ref = trace->stream.thread({process, thread});
    return {process, thread, ref.generation(), ref.slot()};
}

tracer_fxt_outcome tracer_fxt_define_thread(tracer_fxt* trace,
                                            uint8_t slot,
                                            uint64_t process,
                                            uint64_t thread) {
    return outcome_of(trace->stream.define_thread(slot, {process, thread}));
}

tracer_fxt_outcome tracer_fxt_provider_info(tracer_fxt* trace, uint32_t id, const char* name) {
    const auto outcome = guarded(
        nullptr, [&] { return std::optional(trace->stream.provider_info(id, text_of(name))); });
    return outcome ? outcome_of(*outcome) : TRACER_FXT_TABLE_FULL;
}

tracer_fxt_outcome tracer_fxt_provider_section(tracer_fxt* trace, uint32_t id) {
    return outcome_of(trace->stream.provider_section(id));
}

tracer_fxt_outcome tracer_fxt_provider_buffer_full(tracer_fxt* trace, uint32_t id) {
    return outcome_of(trace->stream.provider_event(id, fxt::ProviderEvent::buffer_full));
}

tracer_fxt_outcome tracer_fxt_initialization(tracer_fxt* trace, uint64_t tick, int64_t wall_ns) {
    return outcome_of(trace->stream.initialization({tick, wall_ns}));
}

tracer_fxt_outcome tracer_fxt_write(tracer_fxt* trace,
                                    const tracer_fxt_event* event,
                                    const tracer_fxt_argument* arguments,
                                    size_t count) {
    if (!is_event_type(event->type)) return TRACER_FXT_WRONG_TYPE;
    return with_arguments(arguments, count, [&](std::span<const fxt::Argument> made) {
        return trace->stream.event(event_of(*event), made);
    });
}

tracer_fxt_template* tracer_fxt_template_make(tracer_fxt* trace,
                                              const tracer_fxt_event* event,
                                              const tracer_fxt_argument* shape,
                                              size_t count,
                                              tracer_fxt_outcome* outcome) {
    const auto refuse = [&](tracer_fxt_outcome why) -> tracer_fxt_template* {
        if (outcome != nullptr) *outcome = why;
        return nullptr;
    };
    if (!is_event_type(event->type)) return refuse(TRACER_FXT_WRONG_TYPE);
    if (count > fxt::kArgumentsMax) return refuse(TRACER_FXT_TOO_MANY_ARGUMENTS);
    std::array<fxt::ArgumentShape, fxt::kArgumentsMax> shapes;
    for (size_t i = 0; i < count; ++i) {
        const tracer_fxt_type type = shape[i].value.type;
        if (type < TRACER_FXT_NULL || type > TRACER_FXT_BLOB) return refuse(TRACER_FXT_WRONG_TYPE);
        shapes[i] = {string_of(shape[i].name), static_cast<fxt::ArgumentType>(type)};
    }
    const fxt::Stream::Event made = event_of(*event);
    auto ready = fxt::EventTemplate::make(trace->stream, made.type, made.thread, made.category,
                                          made.name, std::span(shapes).first(count));
    if (!ready) return refuse(outcome_of(ready.error()));
    auto* result = new (std::nothrow) tracer_fxt_template{*ready};
    if (result == nullptr) return refuse(TRACER_FXT_TABLE_FULL);
    if (outcome != nullptr) *outcome = TRACER_FXT_WRITTEN;
    return result;
}

tracer_fxt_outcome tracer_fxt_template_write(const tracer_fxt_template* event,
                                             uint64_t time,
                                             uint64_t end_or_id,
                                             const tracer_fxt_value* values,
                                             size_t count) {
    if (count > fxt::kArgumentsMax) return TRACER_FXT_WRONG_COUNT;
    std::array<fxt::Number, fxt::kArgumentsMax> numbers;
    for (size_t i = 0; i < count; ++i) {
        const tracer_fxt_value& value = values[i];
        if (value.type == TRACER_FXT_STRING) {
            if (value.as.string.text != nullptr) return TRACER_FXT_NEEDS_INDEX;
            numbers[i] = fxt::to_number(string_of(value.as.string));
            continue;
        }
        const auto number = number_of(value);
        if (!number) return TRACER_FXT_WRONG_TYPE;
        numbers[i] = *number;
    }
    fxt::EventTemplate ready = event->event;
    return outcome_of(ready.checked_write(time, end_or_id, std::span(numbers).first(count)));
}

void tracer_fxt_template_free(tracer_fxt_template* event) {
    delete event;
}

tracer_fxt_outcome tracer_fxt_name_process(tracer_fxt* trace, uint64_t process, const char* name) {
    const auto outcome = guarded(
        nullptr, [&] { return std::optional(trace->stream.name_process(process, text_of(name))); });
    return outcome ? outcome_of(*outcome) : TRACER_FXT_TABLE_FULL;
}

tracer_fxt_outcome tracer_fxt_name_thread(tracer_fxt* trace,
                                          uint64_t process,
                                          uint64_t thread,
                                          const char* name) {
    const auto outcome = guarded(nullptr, [&] {
        return std::optional(trace->stream.name_thread({process, thread}, text_of(name)));
    });
    return outcome ? outcome_of(*outcome) : TRACER_FXT_TABLE_FULL;
}

void tracer_fxt_forget_process(tracer_fxt* trace, uint64_t process) {
    trace->stream.forget_process(process);
}

void tracer_fxt_forget_thread(tracer_fxt* trace, uint64_t thread) {
    trace->stream.forget_thread(thread);
}

tracer_fxt_outcome tracer_fxt_kernel_object(tracer_fxt* trace,
                                            uint8_t type,
                                            uint64_t id,
                                            tracer_fxt_string name,
                                            const tracer_fxt_argument* arguments,
                                            size_t count) {
    return with_arguments(arguments, count, [&](std::span<const fxt::Argument> made) {
        return trace->stream.kernel_object(static_cast<fxt::ObjectType>(type), id, string_of(name),
                                           made);
    });
}

tracer_fxt_outcome tracer_fxt_userspace_object(tracer_fxt* trace,
                                               tracer_fxt_thread process,
                                               uint64_t address,
                                               tracer_fxt_string name,
                                               const tracer_fxt_argument* arguments,
                                               size_t count) {
    return with_arguments(arguments, count, [&](std::span<const fxt::Argument> made) {
        return trace->stream.userspace_object(thread_of(process), address, string_of(name), made);
    });
}

tracer_fxt_outcome tracer_fxt_context_switch(tracer_fxt* trace,
                                             const tracer_fxt_switch* event,
                                             const tracer_fxt_argument* arguments,
                                             size_t count) {
    if (!is_state(event->out_state)) return TRACER_FXT_WRONG_TYPE;
    return with_arguments(arguments, count, [&](std::span<const fxt::Argument> made) {
        return trace->stream.context_switch(
            {.cpu = event->cpu,
             .time = event->time,
             .out = event->out_thread,
             .out_state = static_cast<fxt::OutgoingState>(event->out_state),
             .in = event->in_thread},
            made);
    });
}

tracer_fxt_outcome tracer_fxt_wakeup(tracer_fxt* trace,
                                     uint16_t cpu,
                                     uint64_t time,
                                     uint64_t thread,
                                     const tracer_fxt_argument* arguments,
                                     size_t count) {
    return with_arguments(arguments, count, [&](std::span<const fxt::Argument> made) {
        return trace->stream.wakeup(cpu, time, thread, made);
    });
}

tracer_fxt_outcome tracer_fxt_legacy_switch(tracer_fxt* trace, const tracer_fxt_old_switch* event) {
    if (!is_state(event->out_state)) return TRACER_FXT_WRONG_TYPE;
    return outcome_of(
        trace->stream.legacy_switch({.cpu = event->cpu,
                                     .time = event->time,
                                     .out = thread_of(event->out),
                                     .out_state = static_cast<fxt::OutgoingState>(event->out_state),
                                     .out_priority = event->out_priority,
                                     .in = thread_of(event->in),
                                     .in_priority = event->in_priority}));
}

tracer_fxt_outcome tracer_fxt_log(tracer_fxt* trace,
                                  tracer_fxt_thread thread,
                                  uint64_t time,
                                  const char* message) {
    return outcome_of(trace->stream.log(thread_of(thread), time, text_of(message)));
}

tracer_fxt_outcome tracer_fxt_blob(tracer_fxt* trace,
                                   tracer_fxt_blob_type type,
                                   tracer_fxt_string name,
                                   const void* data,
                                   size_t bytes) {
    if (type < TRACER_FXT_BLOB_RAW || type > TRACER_FXT_BLOB_PERFETTO) return TRACER_FXT_WRONG_TYPE;
    return outcome_of(trace->stream.blob(static_cast<fxt::BlobType>(type), string_of(name),
                                         {static_cast<const std::byte*>(data), bytes}));
}

tracer_fxt_outcome tracer_fxt_large_blob(tracer_fxt* trace,
                                         tracer_fxt_string category,
                                         tracer_fxt_string name,
                                         const void* data,
                                         size_t bytes) {
    return outcome_of(trace->stream.large_blob(string_of(category), string_of(name),
                                               {static_cast<const std::byte*>(data), bytes}));
}
