// SPDX-License-Identifier: Apache-2.0
//
// The program's own log is told from the recorded one by its path; both are read by the reader of
// the tests.
#include "root/ghc_program.h"

#include <algorithm>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tracer::test {
namespace {

constexpr Milliseconds kLimit{60'000};

// Of `+RTS -t --machine-readable`: lines of ("key", "value").
uint64_t said_number(const std::string& said, const std::string& key) {
    const std::string begin = "(\"" + key + "\", \"";
    const size_t at = said.find(begin);
    EXPECT_NE(at, said.npos) << key << " in " << said;
    return at == said.npos ? 0 : std::stoull(said.substr(at + begin.size()));
}

RecordedGhc read_back(TracerResult result, const std::string& log, const std::string& said) {
    EXPECT_EQ(result.status, ExitStatus{}) << result.errors;
    if (result.summary.is_object()) {
        EXPECT_TRUE(result.summary.value("agree", false));
        for (const auto& [cause, count] : result.summary.at("loss").items()) {
            EXPECT_EQ(count, 0) << cause;
        }
    }
    return RecordedGhc{std::move(result), load_valid_eventlog(log), read_file(said).value_or("")};
}

std::vector<const EventlogEvent*> by_time(const EventlogFile& file) {
    std::vector<const EventlogEvent*> events;
    for (const EventlogEvent& event : file.events) events.push_back(&event);
    std::ranges::stable_sort(events, {}, &EventlogEvent::time_ns);
    return events;
}

bool is_marker(const EventlogEvent& event, std::string_view text) {
    return event.is(EventlogId::user_marker) && event.text("text") == text;
}

// The program says "waits" and "begin" before and behind; its longest pause in between is the wait.
std::vector<const EventlogEvent*> behind_wait(const std::vector<const EventlogEvent*>& events) {
    const auto of = [&](std::string_view text) {
        return std::ranges::find_if(
            events, [&](const EventlogEvent* event) { return is_marker(*event, text); });
    };
    auto begin = of("waits");
    const auto end = of("begin");
    EXPECT_NE(begin, events.end());
    EXPECT_NE(end, events.end());
    uint64_t longest_ns = 0;
    for (auto it = begin; it < end; ++it) {
        const uint64_t pause_ns = (*std::next(it))->time_ns - (*it)->time_ns;
        if (pause_ns <= longest_ns) continue;
        longest_ns = pause_ns;
        begin = std::next(it);
    }
    return {begin, events.end()};
}

}  // namespace

nlohmann::json RecordedGhc::row(const std::string& probe) const {
    for (const auto& file : result.summary.at("packs")) {
        for (const auto& row : file.at("probes")) {
            if (row.at("name") == probe) return row;
        }
    }
    return nullptr;
}

uint64_t RecordedGhc::hits(std::string_view text) const {
    uint64_t sum = 0;
    for (const auto& probe : result.summary.at("probes")) {
        const bool is_named = probe.at("spec").get<std::string>().find(text) != std::string::npos;
        if (is_named) sum += probe.at("hits").get<uint64_t>();
    }
    return sum;
}

Result<RecordedGhc> record_started_ghc(const TempFolder& folder,
                                       const std::string& program,
                                       const std::vector<std::string>& options,
                                       const std::vector<std::string>& runtime_options) {
    const std::string said = folder.file("said.txt");
    const std::string log = folder.file("recorded.eventlog");
    std::vector<std::string> arguments = options;
    arguments.insert(arguments.end(),
                     {"-o", log, "--", program, "+RTS", "-t" + said, "--machine-readable"});
    arguments.insert(arguments.end(), runtime_options.begin(), runtime_options.end());
    TR_ASSIGN(auto run, TracerRun::start(arguments));
    TR_ASSIGN(auto result, run.finish());
    return read_back(std::move(result), log, said);
}

Result<RecordedGhc> record_waiting_ghc(const WaitingGhc& program,
                                       const std::vector<std::string>& options) {
    TR_ASSIGN(auto target, ChildProcess::start(program.command));
    TR_ASSIGN(const std::string ready, target.read_line(kLimit));
    if (ready != "ready") return fail(ErrorCode::bad_input, "said " + ready);
    std::vector<std::string> arguments{"--pid", std::to_string(target.pid()), "-o", program.log};
    arguments.insert(arguments.end(), options.begin(), options.end());
    TR_ASSIGN(auto run, TracerRun::start(arguments));
    TR_TRY(run.wait_until_recording());
    TR_TRY(target.send_line("go"));
    TR_ASSIGN(auto result, run.finish());
    TR_ASSIGN(const ExitStatus status, target.wait(kLimit));
    EXPECT_EQ(status, ExitStatus{}) << target.errors();
    return read_back(std::move(result), program.log, program.said);
}

void expect_collections(const RecordedGhc& program) {
    const EventlogFile& log = program.log;
    const uint64_t all = said_number(program.said, "num_GCs");
    const uint64_t major = said_number(program.said, "major_gcs");
    EXPECT_GT(major, 0u);
    EXPECT_EQ(count_by(log, EventlogId::gc_stats_ghc, "generation"),
              (Counts{{0, all - major}, {1, major}}));
    EXPECT_EQ(sum_of(log, EventlogId::gc_stats_ghc, "copied"),
              said_number(program.said, "copied_bytes"));
    for (const EventlogId id : {EventlogId::gc_start, EventlogId::gc_end,
                                EventlogId::gc_global_sync, EventlogId::heap_size}) {
        EXPECT_EQ(count_of(log, id), all) << static_cast<int>(id);
    }
    EXPECT_EQ(count_of(log, EventlogId::heap_live), major);
}

void expect_threads_of_own_log(const RecordedGhc& program,
                               const std::string& own_path,
                               OwnLogPart part) {
    const auto own = load_eventlog(own_path);
    ASSERT_TRUE(own) << own.error().what;
    auto events = by_time(*own);
    if (part == OwnLogPart::behind_wait) events = behind_wait(events);
    Counts expected;
    std::vector<std::string> labels;
    for (const EventlogEvent* event : events) {
        if (event->is(EventlogId::stop_thread)) ++expected[event->number("status")];
        if (event->is(EventlogId::thread_label)) labels.emplace_back(event->text("text"));
    }
    std::ranges::sort(labels);
    if (part == OwnLogPart::whole) {
        EXPECT_EQ(count_of(program.log, EventlogId::create_thread),
                  count_of(*own, EventlogId::create_thread));
    }
    // The log leaves out attempts that find the thread running.
    const auto wakeups = static_cast<uint64_t>(std::ranges::count_if(
        events, [](const EventlogEvent* event) { return event->is(EventlogId::thread_wakeup); }));
    EXPECT_EQ(program.hits("runtime wakeup"), wakeups);
    EXPECT_LE(count_of(program.log, EventlogId::thread_wakeup), wakeups);
    auto stops = count_by(program.log, EventlogId::stop_thread, "status");
    // Threads that are ended with the program have a run in their own log that is none.
    constexpr uint64_t kFinished = 5;
    EXPECT_LE(stops[kFinished], expected[kFinished]);
    expected.erase(kFinished);
    stops.erase(kFinished);
    EXPECT_EQ(stops, expected);
    EXPECT_GE(stops[7], 3u) << "MVar";
    EXPECT_EQ(texts_of(program.log, EventlogId::thread_label), labels);
    // Beside what the kernel's threads and the tracer do, which are messages in a log.
    const auto messages = texts_of(*own, EventlogId::user_msg);
    EXPECT_THAT(texts_of(program.log, EventlogId::user_msg), testing::IsSupersetOf(messages));
    EXPECT_EQ(program.hits("runtime message"), messages.size());
}

}  // namespace tracer::test
