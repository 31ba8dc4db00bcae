// SPDX-License-Identifier: Apache-2.0
//
// A small story, a function each chapter: a program of two threads that serves a request, collects
// garbage, is scheduled, and hands its trace on. What it writes is a golden, byte for byte (see
// fxt_demo_test.cpp), and nothing in it but the large blobs is anything that Perfetto reports.
#include "unit/write/fxt_demo.h"

#include "tracer/write/fxt/event_template.h"
#include "tracer/write/fxt/stream.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string_view>

#include <gtest/gtest.h>

namespace tracer::test {
namespace {

using fxt::arg;
using fxt::Koid;
using fxt::StringRef;

constexpr uint64_t kProcess = 100;
constexpr fxt::ThreadIds kMain{kProcess, 100};
constexpr fxt::ThreadIds kWorker{kProcess, 101};
constexpr int32_t kPriority = 120;
constexpr int32_t kIdle = std::numeric_limits<int32_t>::min();

fxt::Bytes bytes_of(std::string_view text) {
    return std::as_bytes(std::span(text));
}

// Every outcome of the demo.
void expect_written(fxt::Outcome outcome) {
    EXPECT_TRUE(static_cast<bool>(outcome)) << fxt::name_of(outcome.fault());
}

struct Names {
    StringRef app;
    StringRef request;
    StringRef collect;
};

Names introduce(fxt::Stream& trace) {
    const Names names{trace.intern("app").value(), trace.intern("request").value(),
                      trace.intern("gc").value()};
    expect_written(trace.name_process(kProcess, "demo"));
    expect_written(trace.name_thread(kMain, "main"));
    expect_written(trace.name_thread(kWorker, "worker"));
    expect_written(trace.kernel_object(fxt::ObjectType::socket, 7, "listener",
                                       std::array<fxt::Argument, 1>{arg("port", uint32_t{80})}));
    return names;
}

// Durations, and an argument of every type.
void serve_request(fxt::Stream& trace, const Names& names, const fxt::ThreadRef& main) {
    expect_written(trace.duration_begin(
        main, names.app, names.request, 1000, arg("nothing", nullptr), arg("status", int32_t{-1}),
        arg("port", uint32_t{80}), arg("offset", int64_t{-5'000'000'000}),
        arg("bytes", uint64_t{5'000'000'000}), arg("ratio", 0.25), arg("path", "/index"),
        arg("method", names.request), arg("buffer", fxt::Pointer{0x7f0000001000}),
        arg("socket", Koid{7}), arg("is_cached", true), arg("key", bytes_of("\x01\x02\x03"))));
    expect_written(trace.instant(main, names.app, "retry", 1010, arg("after_ms", 20)));
    expect_written(trace.duration_complete(main, names.app, "parse", 1020, 1030));
    expect_written(trace.duration_end(main, names.app, names.request, 1100, arg("sent", 512)));
}

// A flow from one thread's slice into another's, an operation that crosses threads, a counter.
void hand_over(fxt::Stream& trace,
               const Names& names,
               const fxt::ThreadRef& main,
               const fxt::ThreadRef& worker) {
    constexpr uint64_t kFlow = 1;
    constexpr uint64_t kOperation = 9;
    expect_written(trace.duration_begin(main, names.app, "enqueue", 1200));
    expect_written(trace.flow_begin(main, names.app, "job", 1205, kFlow));
    expect_written(trace.async_begin(main, names.app, "fetch", 1208, kOperation));
    expect_written(trace.duration_end(main, names.app, "enqueue", 1210));
    expect_written(trace.duration_begin(worker, names.app, "job", 1220));
    expect_written(trace.flow_step(worker, names.app, "job", 1225, kFlow));
    expect_written(trace.async_instant(worker, names.app, "first byte", 1228, kOperation));
    expect_written(trace.counter(worker, names.app, "queue", 1230, 0, arg("length", uint32_t{3}),
                                 arg("load", 0.5)));
    expect_written(trace.flow_end(worker, names.app, "job", 1235, kFlow));
    expect_written(trace.duration_end(worker, names.app, "job", 1240));
    expect_written(trace.async_end(worker, names.app, "fetch", 1250, kOperation,
                                   arg("bytes", uint64_t{4096})));
}

// The precomputed path, for the event that comes a million times.
void collect_garbage(fxt::Stream& trace, const Names& names) {
    const std::array<fxt::ArgumentShape, 2> shape{
        {{trace.intern("generation").value(), fxt::ArgumentType::int32},
         {trace.intern("reason").value(), fxt::ArgumentType::string}}};
    auto pause = fxt::EventTemplate::make(trace, fxt::EventType::duration_complete, kWorker,
                                          names.app, names.collect, shape);
    ASSERT_TRUE(pause.has_value()) << fxt::name_of(pause.error());
    expect_written(pause->write_with(1300, 1310, int32_t{0}, names.request));
    expect_written(pause->checked_write_with(1320, 1380, int32_t{1}, names.request));
    auto mark =
        fxt::EventTemplate::make(trace, fxt::EventType::instant, kWorker, names.app, names.collect);
    ASSERT_TRUE(mark.has_value()) << fxt::name_of(mark.error());
    expect_written(mark->write(1390));
}

// Names and threads that come and go: a slot re-defined, a cache, a thread in full.
void use_tables(fxt::Stream& trace, const Names& names) {
    expect_written(trace.define_string(0, "table users"));
    expect_written(trace.define_thread(1, kWorker));
    const auto slot = fxt::ThreadRef::at(1);
    expect_written(trace.instant(slot, names.app, trace.string_slot(0), 1400));
    expect_written(trace.define_string(0, "table orders"));
    expect_written(trace.instant(slot, names.app, trace.string_slot(0), 1410));
    expect_written(trace.instant(kMain, names.app, trace.cached("SELECT 1").value(), 1420));
    expect_written(trace.event({.type = fxt::EventType::instant,
                                .thread = kMain,
                                .category = names.app,
                                .name = "learnt at run time",
                                .time = 1430}));
}

// Both forms of a switch, and the wakeup before it.
void schedule(fxt::Stream& trace) {
    expect_written(trace.wakeup(
        3, 1500, kWorker.thread,
        std::array<fxt::Argument, 2>{arg("weight", kPriority), arg("waker", Koid{kMain.thread})}));
    expect_written(
        trace.context_switch({.cpu = 3, .time = 1510, .out = 0, .in = kWorker.thread},
                             std::array<fxt::Argument, 2>{arg("incoming_weight", kPriority),
                                                          arg("outgoing_weight", kIdle)}));
    expect_written(trace.legacy_switch({.cpu = 3,
                                        .time = 1520,
                                        .out = kWorker,
                                        .out_state = fxt::OutgoingState::blocked,
                                        .out_priority = kPriority,
                                        .in = kMain,
                                        .in_priority = kPriority}));
}

// What Perfetto passes over, and the blob that is a trace of its own within this one.
void attach_data(fxt::Stream& trace, const Names& names, const fxt::ThreadRef& main) {
    expect_written(trace.log(main, 1600, "served the first request"));
    expect_written(trace.userspace_object(
        main, 0x7f0000001000, "buffer", std::array<fxt::Argument, 1>{arg("size", uint64_t{4096})}));
    expect_written(trace.blob(fxt::BlobType::raw, names.app, bytes_of("settings")));
    expect_written(trace.blob(fxt::BlobType::last_branch, "branches", bytes_of("branch records")));
    expect_written(trace.blob(fxt::BlobType::perfetto, {}, bytes_of({"\x0a\x00", 2})));
    expect_written(trace.large_blob(names.app, "core", bytes_of("a core file")));
    expect_written(trace.large_blob(
        {.thread = main, .category = names.app, .name = "heap", .time = 1610},
        bytes_of("a heap dump"), std::array<fxt::Argument, 1>{arg("part", uint32_t{1})}));
}

// A second provider in the same trace, with tables of its own.
void share(fxt::Stream& trace, const Names& names) {
    expect_written(trace.provider_info(2, "plugin"));
    expect_written(trace.instant(kWorker, names.app, "loaded", 1700));
    expect_written(trace.provider_event(2, fxt::ProviderEvent::buffer_full));
    expect_written(trace.provider_section(1));
    expect_written(trace.initialization({.tick = 1710, .wall_ns = 0}));
}

}  // namespace

void write_fxt_demo(ByteSink& sink) {
    {
        fxt::Stream trace(
            sink,
            {.provider_name = "demo", .string_slots = 1, .cached_strings = 4, .thread_slots = 1});
        ASSERT_TRUE(trace.open().has_value());
        const Names names = introduce(trace);
        const fxt::ThreadRef main = trace.thread(kMain);
        const fxt::ThreadRef worker = trace.pinned_thread(kWorker).value();
        serve_request(trace, names, main);
        hand_over(trace, names, main, worker);
        collect_garbage(trace, names);
        use_tables(trace, names);
        schedule(trace);
        attach_data(trace, names, main);
        share(trace, names);
        // All that is live again: from here on it reads alone.
        ASSERT_TRUE(trace.begin_chunk().has_value());
        expect_written(trace.instant(worker, names.app, names.request, 1800));
        ASSERT_TRUE(trace.close().has_value());
    }
    // Traces may be joined. This one says, in the longer form, what the wall clock showed.
    fxt::Stream joined(sink, {.provider_name = "demo",
                              .clock_base = fxt::ClockBase{1900, 1'700'000'000'000'000'000}});
    ASSERT_TRUE(joined.open().has_value());
    expect_written(joined.instant(kMain, "app", "joined", 1900));
    ASSERT_TRUE(joined.close().has_value());
}

}  // namespace tracer::test
