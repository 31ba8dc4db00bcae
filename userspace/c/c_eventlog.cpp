// SPDX-License-Identifier: Apache-2.0
//
// tracer/c/eventlog.h over eventlog::Log. A C caller keeps its sinks, so the log is given a sink
// that borrows; which of the caller's it is, is remembered beside the log, under a mutex of its
// own, so that two threads that replace it at once each get the one they replaced.
#include "c/c_error.h"
#include "c/c_sink.h"
#include "tracer/c/eventlog.h"
#include "tracer/write/eventlog/chunk_queue.h"
#include "tracer/write/eventlog/log.h"

#include <array>
#include <memory>
#include <mutex>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

using namespace tracer;  // NOLINT(google-build-using-namespace): what follows is C's names
using c_api::guarded;
using c_api::tell;

namespace {

static_assert(TRACER_EVENTLOG_WRONG_FIELDS == static_cast<int>(eventlog::Fault::wrong_fields));
static_assert(TRACER_EVENTLOG_STACK == static_cast<int>(eventlog::Field::u32_stack));
static_assert(TRACER_EVENTLOG_GLOBAL == eventlog::kNoCapability);
static_assert(TRACER_EVENTLOG_ID_TICKY_COUNTER_BEGIN_SAMPLE ==
              static_cast<int>(eventlog::EventId::ticky_counter_begin_sample));

// The caller's sink, as the log's own: closing it is the caller's business.
class BorrowedSink final : public ByteSink {
public:
    explicit BorrowedSink(ByteSink& sink) : sink_(sink) {}
    std::span<std::byte> reserve(size_t bytes) override { return sink_.reserve(bytes); }
    void commit(size_t bytes) override { sink_.commit(bytes); }
    // Not in pieces: the caller's hooks are to see whole blocks.
    size_t write(std::span<const std::byte> bytes) override { return sink_.write(bytes); }
    void flush() override { sink_.flush(); }
    Status close() override {
        sink_.flush();
        return sink_.health();
    }
    Status health() const override { return sink_.health(); }
    unsigned long long bytes_committed() const override { return sink_.bytes_committed(); }

private:
    ByteSink& sink_;
};

std::unique_ptr<ByteSink> borrow(tracer_sink* sink) {
    return std::make_unique<BorrowedSink>(*sink->sink);
}

}  // namespace

struct tracer_eventlog {
    explicit tracer_eventlog(const eventlog::LogOptions& options) : log(options) {}

    eventlog::Log log;
    mutable std::mutex mutex;  // guards `sink`; taken before the log's own
    tracer_sink* sink = nullptr;
};

struct tracer_chunk_queue {
    explicit tracer_chunk_queue(const eventlog::ChunkQueueOptions& options) : queue(options) {}
    eventlog::ChunkQueue queue;
};

namespace {

eventlog::LogOptions log_options_of(const tracer_eventlog_options& options) {
    eventlog::LogOptions made;
    if (options.buffer_bytes != 0) made.buffers.capacity_bytes = options.buffer_bytes;
    if (options.capabilities != 0) made.capabilities = options.capabilities;
    if (options.capabilities_max != 0) made.capabilities_max = options.capabilities_max;
    if (options.has_base_ns) made.base_ns = options.base_ns;
    if (options.clock != nullptr) made.clock = options.clock;
    if (options.refuse_invalid) {
        made.buffers.invalid = eventlog::Invalid::refuse;
        made.buffers.backward_time = eventlog::BackwardTime::refuse;
    }
    if (options.open_ended_blocks) made.block_mode = eventlog::BlockMode::open_ended;
    return made;
}

// Strings of one post, which are pointers in C and views here.
using Texts = std::vector<std::string_view>;

bool make_part(const tracer_eventlog_field& field,
               Texts& texts,
               eventlog::BlockBuffer::Part& part) {
    if (field.type < TRACER_EVENTLOG_U8 || field.type > TRACER_EVENTLOG_STACK) return false;
    part.field = static_cast<eventlog::Field>(field.type);
    part.number = field.number;
    const size_t count = field.data == nullptr ? 0 : field.count;
    if (field.type == TRACER_EVENTLOG_STRINGS) {
        const auto list = std::span(static_cast<const char* const*>(field.data), count);
        texts.assign(list.begin(), list.end());
        part.list = texts;
        return true;
    }
    const size_t bytes = field.type == TRACER_EVENTLOG_STACK ? count * sizeof(uint32_t) : count;
    part.bytes = {static_cast<const std::byte*>(field.data), bytes};
    return true;
}

// What readers refuse although the fields are right.
bool is_good_value(uint16_t id, std::span<const tracer_eventlog_field> fields) {
    if (id == static_cast<uint16_t>(eventlog::EventId::stop_thread) && fields.size() == 3) {
        return fields[1].number <= UINT16_MAX &&
               is_portable(static_cast<eventlog::StopStatus>(fields[1].number));
    }
    if (id == static_cast<uint16_t>(eventlog::EventId::heap_prof_begin) && fields.size() > 2) {
        return fields[2].number <= UINT32_MAX &&
               is_known(static_cast<eventlog::HeapBreakdown>(fields[2].number));
    }
    return true;
}

}  // namespace

const char* tracer_eventlog_outcome_name(tracer_eventlog_outcome outcome) {
    if (outcome == TRACER_EVENTLOG_POSTED) return "posted";
    if (outcome < TRACER_EVENTLOG_POSTED || outcome > TRACER_EVENTLOG_WRONG_FIELDS)
        return "unknown";
    // Made from literals: it ends in a NUL.
    return name_of(static_cast<eventlog::Fault>(outcome)).data();
}

tracer_eventlog* tracer_eventlog_new(const tracer_eventlog_options* options, tracer_error* error) {
    return guarded(error, [&] {
        return new tracer_eventlog(options == nullptr ? eventlog::LogOptions{}
                                                      : log_options_of(*options));
    });
}

void tracer_eventlog_free(tracer_eventlog* log) {
    delete log;
}

bool tracer_eventlog_start(tracer_eventlog* log, tracer_sink* sink, tracer_error* error) {
    return guarded(error, [&] {
        const std::lock_guard lock(log->mutex);
        if (!tell(error, log->log.start(borrow(sink)))) return false;
        log->sink = sink;
        return true;
    });
}

bool tracer_eventlog_is_running(const tracer_eventlog* log) {
    return log->log.state() == eventlog::LogState::running;
}

void tracer_eventlog_flush(tracer_eventlog* log) {
    log->log.flush();
}

bool tracer_eventlog_end(tracer_eventlog* log, tracer_error* error) {
    return guarded(error, [&] {
        const std::lock_guard lock(log->mutex);
        log->sink = nullptr;
        return tell(error, log->log.end());
    });
}

bool tracer_eventlog_restart_after_fork(tracer_eventlog* log,
                                        tracer_sink* sink,
                                        tracer_error* error) {
    return guarded(error, [&] {
        // Another thread of the parent may have held it at the fork; here there is only this one.
        new (&log->mutex) std::mutex;
        log->sink = nullptr;
        if (!tell(error, log->log.restart_after_fork(borrow(sink)))) return false;
        log->sink = sink;
        return true;
    });
}

bool tracer_eventlog_add_capability(tracer_eventlog* log, uint16_t* cap, tracer_error* error) {
    return guarded(error, [&] {
        const auto added = log->log.add_capability();
        if (!added) return tell(error, added.error());
        if (cap != nullptr) *cap = *added;
        return true;
    });
}

uint16_t tracer_eventlog_capability_count(const tracer_eventlog* log) {
    return log->log.capability_count();
}

bool tracer_eventlog_replace_sink(tracer_eventlog* log,
                                  tracer_sink* next,
                                  bool begin_anew,
                                  bool end_previous,
                                  tracer_sink** previous,
                                  tracer_error* error) {
    return guarded(error, [&] {
        const std::lock_guard lock(log->mutex);
        const auto replaced = log->log.replace_sink(
            borrow(next), {.close_previous = end_previous, .begin_anew = begin_anew});
        if (!replaced) return tell(error, replaced.error());
        if (previous != nullptr) *previous = log->sink;
        log->sink = next;
        return tell(error, replaced->closed);
    });
}

tracer_sink* tracer_eventlog_sink(const tracer_eventlog* log) {
    const std::lock_guard lock(log->mutex);
    return log->sink;
}

bool tracer_eventlog_set_buffer_bytes(tracer_eventlog* log, size_t bytes, tracer_error* error) {
    return guarded(error, [&] { return tell(error, log->log.set_buffer_bytes(bytes)); });
}

size_t tracer_eventlog_buffer_bytes(const tracer_eventlog* log) {
    return log->log.buffer_bytes();
}

uint64_t tracer_eventlog_now(const tracer_eventlog* log) {
    return log->log.now_ns();
}

tracer_eventlog_counters tracer_eventlog_count(const tracer_eventlog* log) {
    const eventlog::BufferCounters counters = log->log.counters().blocks;
    tracer_eventlog_counters out{};
    out.events = counters.events;
    out.blocks = counters.blocks;
    out.bytes = counters.bytes;
    out.lost = counters.lost_no_room + counters.lost_sink_failed + counters.lost_dropped;
    for (const uint64_t count : counters.faults) out.refused += count;
    out.mended = counters.texts_cut + counters.texts_repaired + counters.times_raised;
    return out;
}

tracer_chunk_queue* tracer_chunk_queue_new(size_t chunk_bytes,
                                           size_t bytes_max,
                                           tracer_error* error) {
    return guarded(error, [&] {
        eventlog::ChunkQueueOptions options;
        if (chunk_bytes != 0) options.chunk_bytes = chunk_bytes;
        if (bytes_max != 0) options.bytes_max = bytes_max;
        return new tracer_chunk_queue(options);
    });
}

tracer_sink* tracer_chunk_queue_sink(tracer_chunk_queue* queue, tracer_error* error) {
    return guarded(error, [&] { return new tracer_sink(queue->queue.make_sink()); });
}

bool tracer_chunk_queue_pop(tracer_chunk_queue* queue, tracer_chunk* chunk) {
    *chunk = {};
    auto owner = guarded(nullptr, [] { return std::make_unique<std::vector<std::byte>>(); });
    if (owner == nullptr) return false;
    *owner = queue->queue.pop();
    if (owner->empty()) return false;
    *chunk = {owner->data(), owner->size(), owner.get()};
    static_cast<void>(owner.release());
    return true;
}

size_t tracer_chunk_queue_bytes(const tracer_chunk_queue* queue) {
    return queue->queue.bytes();
}

void tracer_chunk_free(tracer_chunk* chunk) {
    delete static_cast<std::vector<std::byte>*>(chunk->owner);
    *chunk = {};
}

void tracer_chunk_queue_free(tracer_chunk_queue* queue) {
    delete queue;
}

tracer_eventlog_outcome tracer_eventlog_post(tracer_eventlog* log,
                                             uint16_t cap,
                                             uint64_t ns,
                                             uint16_t id,
                                             const tracer_eventlog_field* fields,
                                             size_t count) {
    constexpr size_t kFieldsMax = 16;  // no event has as many
    if (count > kFieldsMax) return TRACER_EVENTLOG_WRONG_FIELDS;
    const std::span given(fields, count);
    if (!is_good_value(id, given)) return TRACER_EVENTLOG_BAD_VALUE;
    std::array<eventlog::BlockBuffer::Part, kFieldsMax> parts;
    Texts texts;  // allocates for lists of strings only
    const bool is_made = guarded(nullptr, [&] {
        for (size_t i = 0; i < count; ++i) {
            if (!make_part(given[i], texts, parts[i])) return false;
        }
        return true;
    });
    if (!is_made) return TRACER_EVENTLOG_WRONG_FIELDS;
    auto poster = cap == TRACER_EVENTLOG_GLOBAL ? log->log.global() : log->log.capability(cap);
    return static_cast<tracer_eventlog_outcome>(
        poster.post_list(static_cast<eventlog::EventId>(id), ns, std::span(parts).first(count)));
}
