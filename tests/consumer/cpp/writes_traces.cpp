// SPDX-License-Identifier: Apache-2.0
//
// A program of somebody else's, in C++: writes app.fxt, app.eventlog and, after switches of the
// running log, memory.eventlog and later.eventlog with the installed library.
#include "tracer/write/eventlog/chunk_queue.h"
#include "tracer/write/eventlog/log.h"
#include "tracer/write/fxt/event_template.h"
#include "tracer/write/fxt/stream.h"
#include "tracer/write/sinks.h"

#include <cstdint>
#include <cstdio>
#include <ctime>
#include <fstream>
#include <string>
#include <unistd.h>

namespace eventlog = tracer::eventlog;
namespace fxt = tracer::fxt;

namespace {

uint64_t now_ns() {
    timespec now{};
    clock_gettime(CLOCK_BOOTTIME, &now);
    return static_cast<uint64_t>(now.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(now.tv_nsec);
}

tracer::Status refused(const char* what, fxt::Fault fault) {
    return tracer::fail(tracer::ErrorCode::internal,
                        std::string(what) + ": " + std::string(name_of(fault)));
}

// The same event very often: a template.
tracer::Status write_reads(fxt::Stream& trace, const fxt::ThreadRef& worker) {
    const auto io = trace.intern("io").value_or("io");
    const auto read = trace.intern("read").value_or("read");
    const fxt::ArgumentShape shape[] = {
        {trace.intern("bytes").value_or("bytes"), fxt::ArgumentType::uint32},
        {trace.intern("fd").value_or("fd"), fxt::ArgumentType::int32}};
    auto event = fxt::EventTemplate::make(trace, fxt::EventType::instant, worker, io, read, shape);
    if (!event) return refused("template", event.error());
    for (uint32_t i = 0; i < 100; ++i) {
        const auto outcome = event->checked_write(now_ns(), i * 512, int32_t{3});
        if (!outcome) return refused("read", outcome.fault());
    }
    return {};
}

tracer::Status write_fxt() {
    TR_ASSIGN(auto sink, tracer::open_file_sink("app.fxt", {}));
    fxt::Stream trace(*sink, {.provider_name = "app"});
    TR_TRY(trace.open());

    const auto pid = static_cast<uint64_t>(getpid());
    const auto worker = trace.thread({.process = pid, .thread = pid});
    const auto net = trace.intern("net").value_or("net");
    const auto request = trace.intern("request").value_or("request");
    bool is_written = bool(trace.name_process(pid, "app"));
    is_written &= bool(trace.name_thread(worker.ids(), "worker 1"));
    is_written &= bool(trace.duration_begin(worker, net, request, now_ns()));
    is_written &= bool(trace.instant(worker, net, "retry", now_ns(), fxt::arg("after_ms", 20)));
    TR_TRY(write_reads(trace, worker));
    is_written &=
        bool(trace.duration_end(worker, net, request, now_ns(), fxt::arg("bytes", uint64_t{512}),
                                fxt::arg("path", std::string_view("/index"))));
    if (!is_written) return refused("an event", fxt::Fault::no_room);

    // What cannot be said is refused by name.
    const auto backwards = trace.duration_complete(worker, net, request, 2, 1);
    if (backwards.fault() != fxt::Fault::end_before_start) {
        return refused("an end before its start", backwards.fault());
    }
    TR_TRY(trace.close());
    return sink->close();
}

// A thread that runs, says something, and stops.
tracer::Status run_thread(eventlog::Log& log, eventlog::CapNo cap, eventlog::ThreadId thread) {
    auto posts = log.capability(cap);
    eventlog::Fault fault = posts.post_create_thread(log.now_ns(), thread);
    if (fault == eventlog::Fault::none) fault = posts.post_run_thread(log.now_ns(), thread);
    if (fault == eventlog::Fault::none) {
        fault = posts.post_user_message(log.now_ns(), "request served");
    }
    if (fault == eventlog::Fault::none) {
        fault = posts.post_stop_thread(log.now_ns(), thread, eventlog::StopStatus::finished);
    }
    if (fault == eventlog::Fault::none) return {};
    return tracer::fail(tracer::ErrorCode::internal, std::string(name_of(fault)));
}

tracer::Status write_eventlog() {
    eventlog::Log log({.capabilities = 2});
    TR_ASSIGN(auto first, tracer::open_file_sink("app.eventlog", {}));
    TR_TRY(log.start(std::move(first)));
    TR_TRY(run_thread(log, 0, 1));

    // Into memory for a while: its chunks are this program's.
    eventlog::ChunkQueue queue;
    TR_ASSIGN(const auto replaced, log.replace_sink(queue.make_sink()));
    TR_TRY(replaced.closed);
    TR_TRY(run_thread(log, 1, 2));

    TR_ASSIGN(auto later, tracer::open_file_sink("later.eventlog", {}));
    TR_TRY(log.replace_sink(std::move(later)));
    std::ofstream memory("memory.eventlog", std::ios::binary);
    for (auto chunk = queue.pop(); !chunk.empty(); chunk = queue.pop()) {
        for (const std::byte byte : chunk) memory.put(static_cast<char>(byte));
    }
    TR_TRY(log.set_buffer_bytes(64 * 1024));
    TR_TRY(run_thread(log, 0, 3));
    return log.end();
}

tracer::Status write_both() {
    TR_TRY(write_fxt());
    return write_eventlog();
}

}  // namespace

int main() {
    const tracer::Status status = write_both();
    if (!status) std::fprintf(stderr, "%s\n", status.error().what.c_str());
    return status ? 0 : 1;
}
