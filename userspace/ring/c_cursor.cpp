// SPDX-License-Identifier: Apache-2.0
//
// The cursors of tracer/ring/cursor.h for programs in C. Decides nothing: what a call means is said
// and tested there. No exception leaves it but one that a callback in C++ throws.
#include "tracer/ring/cursor.h"
#include "tracer/ring/tracer_cursor.h"

#include <algorithm>
#include <climits>
#include <cstring>
#include <new>
#include <string>

struct tracer_cursor {
    tracer::ring::Cursor cursor;
};

namespace {

using namespace tracer;

// In the same order, so that a kind's number is the same in both.
static_assert(static_cast<int>(ring::EventKind::lifecycle) == TRACER_CURSOR_LIFECYCLE);
static_assert(static_cast<int>(ring::EventKind::alloc) == TRACER_CURSOR_ALLOC);
static_assert(static_cast<int>(ring::EventKind::user_custom) == TRACER_CURSOR_USER_CUSTOM);
static_assert(static_cast<int>(ring::EventKind::unknown) == TRACER_CURSOR_UNKNOWN);
static_assert(static_cast<int>(ring::UserType::custom) == TRACER_CURSOR_TYPE_CUSTOM);

ring::Flow flow_of(bool goes_on) {
    return goes_on ? ring::Flow::go_on : ring::Flow::stop;
}

class CVisitor : public ring::Visitor {
public:
    CVisitor(ring::Cursor& cursor, const tracer_cursor_callbacks& callbacks, void* context)
        : cursor_(cursor), callbacks_(callbacks), context_(context) {}

    ring::Flow on_event(const ring::Event& event) override {
        if (callbacks_.event == nullptr) return ring::Flow::go_on;
        name_ = cursor_.name_of(event);
        const bool is_custom = event.kind == ring::EventKind::user_custom;
        const auto bytes = is_custom ? event.bytes : std::as_bytes(event.words);
        const tracer_cursor_event told{.kind = static_cast<tracer_cursor_kind>(event.kind),
                                       .ring = event.ring,
                                       .id = event.id,
                                       .has_value = event.has_value,
                                       .value = event.value,
                                       .time_ns = event.time_ns,
                                       .sequence = event.sequence,
                                       .name = name_.c_str(),
                                       .bytes = bytes.data(),
                                       .byte_count = bytes.size()};
        return flow_of(callbacks_.event(context_, &told));
    }

    ring::Flow on_lost(const ring::Lost& lost) override {
        if (callbacks_.lost == nullptr) return ring::Flow::go_on;
        const tracer_cursor_lost told{.ring = lost.ring,
                                      .is_exact = lost.is_exact,
                                      .is_malformed = lost.is_malformed,
                                      .words = lost.words,
                                      .events = lost.events,
                                      .begin_ns = lost.begin_ns,
                                      .end_ns = lost.end_ns};
        return flow_of(callbacks_.lost(context_, &told));
    }

    ring::Flow on_restart() override {
        return flow_of(callbacks_.restart == nullptr || callbacks_.restart(context_));
    }

private:
    ring::Cursor& cursor_;
    const tracer_cursor_callbacks& callbacks_;
    void* context_;
    std::string name_;
};

void tell(char* problem, size_t problem_bytes, const std::string& text) {
    if (problem == nullptr || problem_bytes == 0) return;
    const size_t count = std::min(text.size(), problem_bytes - 1);
    std::memcpy(problem, text.data(), count);
    problem[count] = '\0';
}

// `open` makes the cursor from the options in C++.
template <typename Open>
tracer_cursor* open_cursor(const tracer_cursor_options* options,
                           char* problem,
                           size_t problem_bytes,
                           const Open& open) {
    try {
        ring::CursorOptions chosen;
        if (options != nullptr && options->from_now) chosen.start = ring::Start::now;
        if (options != nullptr && options->ocaml_version != nullptr) {
            const auto versions = ring::parse_ocaml_version(options->ocaml_version);
            if (!versions) {
                tell(problem, problem_bytes, "not an OCaml version with known rings");
                return nullptr;
            }
            chosen.versions = *versions;
        }
        auto cursor = open(chosen);
        if (cursor) return new tracer_cursor{std::move(*cursor)};
        tell(problem, problem_bytes, cursor.error().what);
    } catch (const std::bad_alloc&) {
        tell(problem, problem_bytes, "out of memory");
    }
    return nullptr;
}

}  // namespace

tracer_cursor* tracer_cursor_open_file(const char* path,
                                       const tracer_cursor_options* options,
                                       char* problem,
                                       size_t problem_bytes) {
    return open_cursor(options, problem, problem_bytes, [&](const ring::CursorOptions& chosen) {
        return ring::Cursor::open_file(path, chosen);
    });
}

tracer_cursor* tracer_cursor_open_process(int pid,
                                          const tracer_cursor_options* options,
                                          char* problem,
                                          size_t problem_bytes) {
    return open_cursor(options, problem, problem_bytes, [&](const ring::CursorOptions& chosen) {
        return ring::Cursor::open_process(pid, chosen);
    });
}

long tracer_cursor_read_poll(tracer_cursor* cursor,
                             const tracer_cursor_callbacks* callbacks,
                             void* context,
                             size_t events_max) {
    try {
        CVisitor visitor(cursor->cursor, *callbacks, context);
        const auto polled = cursor->cursor.poll(visitor, std::min(events_max, size_t{LONG_MAX}));
        return polled ? static_cast<long>(polled->events) : -1;
    } catch (const std::bad_alloc&) {
        return -1;
    }
}

long tracer_cursor_user_events(
    tracer_cursor* cursor,
    bool (*tell)(void* context, uint32_t id, tracer_cursor_user_type type, const char* name),
    void* context) {
    try {
        long count = 0;
        for (const ring::UserEvent& event : cursor->cursor.user_events()) {
            ++count;
            const auto type = static_cast<tracer_cursor_user_type>(event.type);
            if (!tell(context, event.id, type, event.name.c_str())) break;
        }
        return count;
    } catch (const std::bad_alloc&) {
        return -1;
    }
}

void tracer_cursor_close(tracer_cursor* cursor) {
    delete cursor;
}
