// SPDX-License-Identifier: Apache-2.0
//
// tracer/c/sink.h over the sinks' factories, with their default options.
#include "c/c_sink.h"

#include "c/c_error.h"
#include "tracer/write/eventlog/hooks.h"
#include "tracer/write/socket_sink.h"

#include <span>
#include <utility>

using namespace tracer;  // NOLINT(google-build-using-namespace): what follows is C's names
using c_api::guarded;
using c_api::tell;

namespace {

tracer_sink* wrap(Result<std::unique_ptr<ByteSink>> made, tracer_error* error) {
    if (!made) {
        tell(error, made.error());
        return nullptr;
    }
    return new tracer_sink(std::move(*made));
}

}  // namespace

tracer_sink* tracer_sink_open_file(const char* path, tracer_error* error) {
    return guarded(error, [&] { return wrap(open_file_sink(path, {}), error); });
}

tracer_sink* tracer_sink_open_fd(int fd, tracer_error* error) {
    return guarded(error, [&] { return wrap(make_fd_sink(UniqueFd(fd), {}), error); });
}

tracer_sink* tracer_sink_connect_unix(const char* path, tracer_error* error) {
    return guarded(error, [&] { return wrap(connect_unix_sink(path), error); });
}

tracer_sink* tracer_sink_connect_tcp(const char* host_and_port, tracer_error* error) {
    return guarded(error, [&] { return wrap(connect_tcp_sink(host_and_port), error); });
}

tracer_sink* tracer_sink_open_hooks(const tracer_hooks* hooks, tracer_error* error) {
    if (hooks->write == nullptr) {
        tell(error, Error{ErrorCode::usage, 0, "hooks without a function that writes", {}});
        return nullptr;
    }
    return guarded(error, [&] {
        const tracer_hooks given = *hooks;
        eventlog::WriterHooks made;
        if (given.init != nullptr) made.init = [given] { given.init(given.context); };
        made.write = [given](std::span<const std::byte> bytes) {
            return given.write(given.context, bytes.data(), bytes.size());
        };
        if (given.flush != nullptr) made.flush = [given] { given.flush(given.context); };
        if (given.stop != nullptr) made.stop = [given] { given.stop(given.context); };
        return new tracer_sink(eventlog::make_hook_sink(std::move(made)));
    });
}

tracer_sink* tracer_sink_open_memory(size_t bytes_max, tracer_error* error) {
    return guarded(error, [&] {
        auto memory = std::make_unique<MemorySink>(bytes_max);
        const MemorySink* view = memory.get();
        auto* sink = new tracer_sink(std::move(memory));
        sink->memory = view;
        return sink;
    });
}

const void* tracer_sink_memory(const tracer_sink* sink, size_t* bytes) {
    const auto held =
        sink->memory != nullptr ? sink->memory->bytes() : std::span<const std::byte>{};
    if (bytes != nullptr) *bytes = held.size();
    return held.data();
}

uint64_t tracer_sink_bytes(const tracer_sink* sink) {
    return sink->sink->bytes_committed();
}

void tracer_sink_flush(tracer_sink* sink) {
    sink->sink->flush();
}

bool tracer_sink_is_healthy(const tracer_sink* sink, tracer_error* error) {
    return guarded(error, [&] { return tell(error, sink->sink->health()); });
}

bool tracer_sink_close(tracer_sink* sink, tracer_error* error) {
    const std::unique_ptr<tracer_sink> owned(sink);
    return sink == nullptr || guarded(error, [&] { return tell(error, sink->sink->close()); });
}
