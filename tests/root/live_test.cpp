// SPDX-License-Identifier: Apache-2.0
//
// Recordings that are steered while they run: another sink hundreds of times under load, and what a
// user does with `tracer ctl`.
#include "control/connection.h"
#include "control/place.h"
#include "root/recording.h"
#include "support/eventlog_check.h"
#include "support/eventlog_reader.h"
#include "support/eventlog_text.h"
#include "support/fixtures/eventlog_checker.h"
#include "support/fixtures/requirements.h"
#include "support/fixtures/target_program.h"

#include <algorithm>
#include <array>
#include <csignal>
#include <thread>
#include <unistd.h>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tracer::test {
namespace {

constexpr Milliseconds kLimit{60000};
constexpr int kSwitches = 200;
// Hits a second: more than two busy CPUs can send (loss is counted, not forbidden), and as many as
// the checks of eventlogs are through with in time.
constexpr const char* kFlood = "500000";
constexpr const char* kTrickle = "5000";
constexpr Milliseconds kPause{2};

// The flood, endless, and a recording of it that is sent from file to file.
struct Switched {
    TracerResult result;
    std::vector<std::string> pieces;
};

Result<Switched> record_switching(const TempFolder& folder,
                                  const std::string& suffix,
                                  const std::string& header,
                                  const char* hits_a_second) {
    const auto piece = [&](int number) { return folder.file(fmt::format("{}{}", number, suffix)); };
    TR_ASSIGN(auto target,
              start_target("flood", {"--hits", "1000000000", "--rate", hits_a_second}));
    TR_ASSIGN(auto run,
              TracerRun::start({"--pid", std::to_string(target.pid()), "--no-sched", "--no-packs",
                                "-e", "usdt:flood:hit(n=arg0)", "-o", piece(0)}));
    TR_TRY(run.wait_until_recording());
    TR_TRY(target.send_line("go"));
    TR_ASSIGN(const std::string control, control_folder(geteuid(), nullptr));
    const auto pid = static_cast<uint32_t>(run.process().pid());
    TR_ASSIGN(auto connection, ControlConnection::open(control, pid, kLimit));
    Switched switched;
    switched.pieces.push_back(piece(0));
    for (int i = 1; i <= kSwitches; ++i) {
        const std::vector<std::string> words{"sink", piece(i), "close-old", header};
        TR_ASSIGN(const std::string answer, connection.ask(words));
        if (!nlohmann::json::parse(answer).value("ok", false)) {
            return fail(ErrorCode::io, fmt::format("change {}: {}", i, answer));
        }
        switched.pieces.push_back(piece(i));
        // Some hits between any two: the changes alone may all be through within 30 ms.
        std::this_thread::sleep_for(kPause);
    }
    TR_TRY(target.send_signal(SIGKILL));
    TR_ASSIGN(switched.result, run.finish());
    return switched;
}

// What the summary says must be in the pieces: all hits but those counted as lost.
uint64_t expect_ledger(const TracerResult& result) {
    const nlohmann::json& summary = result.summary;
    EXPECT_EQ(result.status, ExitStatus{}) << result.errors;
    EXPECT_TRUE(summary.value("agree", false)) << summary.dump();
    EXPECT_EQ(summary.at("sinks").size(), kSwitches + 1u);
    const nlohmann::json probe = probe_row(summary, "usdt:flood:hit(n=arg0)");
    const auto hits = probe.at("hits").get<uint64_t>();
    const auto lost = probe.at("lost").at("ring_full").get<uint64_t>() +
                      summary.at("loss").at("sink_full").get<uint64_t>();
    EXPECT_EQ(summary.at("loss").at("unwritten"), 0);
    EXPECT_GT(hits, uint64_t{kSwitches});
    return hits - lost;
}

std::vector<uint64_t> numbers_in(const FxtFile& file) {
    EXPECT_THAT(file.problems, testing::IsEmpty());
    EXPECT_EQ(file.truncated_tail_bytes, 0u);
    std::vector<uint64_t> numbers;
    for (const FxtEvent* hit : events_of(file, "hit")) {
        numbers.push_back(integer_argument(file, *hit, "n").value_or(UINT64_MAX));
    }
    return numbers;
}

void expect_each_once(const std::vector<uint64_t>& numbers, const TracerResult& result) {
    EXPECT_EQ(numbers.size(), expect_ledger(result));
    EXPECT_TRUE(std::ranges::is_sorted(numbers));
    EXPECT_EQ(std::ranges::adjacent_find(numbers), numbers.end()) << "a number came twice";
    const nlohmann::json probe = probe_row(result.summary, "usdt:flood:hit(n=arg0)");
    // Counted from 0, each hit once: so none is beyond their number.
    ASSERT_FALSE(numbers.empty());
    EXPECT_LT(numbers.back(), probe.at("hits").get<uint64_t>());
}

TEST(LiveRecorded, PiecesOfTwoHundredSinksHoldEveryNumberOnce) {
    TR_REQUIRE_ROOT();
    TR_REQUIRE_FILE(tracer_binary());
    auto folder = TempFolder::make();
    ASSERT_TRUE(folder);
    const auto switched = record_switching(*folder, ".fxt", "header", kFlood);
    ASSERT_TRUE(switched) << switched.error().what;
    std::vector<uint64_t> numbers;
    for (const std::string& piece : switched->pieces) {
        const auto file = load_fxt(piece);
        ASSERT_TRUE(file) << file.error().what;
        const auto some = numbers_in(*file);
        numbers.insert(numbers.end(), some.begin(), some.end());
    }
    expect_each_once(numbers, switched->result);
}

TEST(LiveRecorded, PiecesWithoutHeadersAreOneTrace) {
    TR_REQUIRE_ROOT();
    TR_REQUIRE_FILE(tracer_binary());
    auto folder = TempFolder::make();
    ASSERT_TRUE(folder);
    const auto switched = record_switching(*folder, ".fxt", "no-header", kFlood);
    ASSERT_TRUE(switched) << switched.error().what;
    std::string whole;
    for (const std::string& piece : switched->pieces) {
        const auto bytes = read_file(piece);
        ASSERT_TRUE(bytes) << bytes.error().what;
        whole += *bytes;
    }
    EXPECT_EQ(switched->result.summary.at("output").at("bytes"), whole.size());
    const FxtFile file = parse_fxt(std::as_bytes(std::span(whole.data(), whole.size())));
    expect_each_once(numbers_in(file), switched->result);
}

TEST(LiveRecorded, PiecesOfAnEventlogAreSoundLogs) {
    TR_REQUIRE_ROOT();
    TR_REQUIRE_FILE(tracer_binary());
    auto folder = TempFolder::make();
    ASSERT_TRUE(folder);
    const auto switched = record_switching(*folder, ".eventlog", "header", kTrickle);
    ASSERT_TRUE(switched) << switched.error().what;
    uint64_t hits = 0;
    for (size_t i = 0; i < switched->pieces.size(); ++i) {
        const std::string& piece = switched->pieces[i];
        const auto file = load_eventlog(piece);
        ASSERT_TRUE(file) << file.error().what;
        EXPECT_EQ(problems_text(*file), "") << piece;
        EXPECT_THAT(check_eventlog(*file).refusals, testing::IsEmpty()) << piece;
        // The judge itself takes a second a file.
        if (i % 40 == 0 && !missing_eventlog_checker()) {
            EXPECT_TRUE(validates_as_eventlog(piece));
        }
        hits += static_cast<uint64_t>(std::ranges::count_if(file->events, [](const auto& event) {
            return event.is(EventlogId::user_msg) &&
                   event.text("text").find("hit") != std::string_view::npos;
        }));
    }
    EXPECT_EQ(hits, expect_ledger(switched->result));
}

nlohmann::json ctl(const std::vector<std::string>& words) {
    std::vector<std::string> arguments{"ctl"};
    arguments.insert(arguments.end(), words.begin(), words.end());
    arguments.emplace_back("--json");
    const auto result = run_tracer(arguments);
    EXPECT_TRUE(result);
    if (!result) return {};
    return nlohmann::json::parse(result->output, nullptr, false);
}

class RingsChanged : public testing::TestWithParam<bool> {};

// Up and down again under load, and for programs that read memory of the target too: those may
// sleep, so nobody waits for them at the exchange.
TEST_P(RingsChanged, LoseNothingThatIsNotCounted) {
    TR_REQUIRE_ROOT();
    TR_REQUIRE_FILE(tracer_binary());
    const bool may_sleep = GetParam();
    const std::string function = "u:" + target_path("flood") + ":flood_function(n=arg0:u32, ";
    const std::string probe =
        may_sleep ? function + "handle=*(&__dso_handle):u64) as \"hit\"" : "usdt:flood:hit(n=arg0)";
    auto folder = TempFolder::make();
    ASSERT_TRUE(folder);
    auto target = start_target(
        "flood", {"--hits", "1000000000", "--rate", kFlood, may_sleep ? "--function" : "--pin"});
    ASSERT_TRUE(target) << target.error().what;
    auto run = TracerRun::start({"--pid", std::to_string(target->pid()), "--no-packs", "-e", probe,
                                 "--buffer", "1M/cpu", "-o", folder->file("rings.fxt")});
    ASSERT_TRUE(run) << run.error().what;
    ASSERT_TRUE(run->wait_until_recording());
    ASSERT_TRUE(target->send_line("go"));
    const auto control = control_folder(geteuid(), nullptr);
    ASSERT_TRUE(control);
    const auto pid = static_cast<uint32_t>(run->process().pid());
    auto connection = ControlConnection::open(*control, pid, kLimit);
    ASSERT_TRUE(connection) << connection.error().what;
    constexpr std::array kSizes{"8M/cpu", "256K/cpu", "4M/cpu", "16M/cpu", "1M/cpu"};
    // The kernel takes its time for each where programs may sleep.
    const int changes = may_sleep ? 10 : 30;
    for (int i = 0; i < changes; ++i) {
        const std::vector<std::string> words{"buffers", kSizes[static_cast<size_t>(i) % 5],
                                             i % 2 == 0 ? "8M" : "64M"};
        const auto answer = connection->ask(words);
        ASSERT_TRUE(answer) << answer.error().what;
        EXPECT_TRUE(nlohmann::json::parse(*answer).value("ok", false)) << *answer;
        std::this_thread::sleep_for(Milliseconds(20));
    }
    // Refused as a whole: what is in use stays.
    const auto refused = connection->ask(std::vector<std::string>{"buffers", "4G/cpu"});
    ASSERT_TRUE(refused) << refused.error().what;
    EXPECT_EQ(nlohmann::json::parse(*refused).value("ok", true), false) << *refused;
    ASSERT_TRUE(target->send_signal(SIGKILL));
    const auto result = run->finish();
    ASSERT_TRUE(result) << result.error().what;
    EXPECT_EQ(result->status, ExitStatus{}) << result->errors;
    const nlohmann::json& summary = result->summary;
    EXPECT_TRUE(summary.value("agree", false)) << summary.dump();
    EXPECT_TRUE(summary.value("checked", false));
    EXPECT_EQ(summary.at("ring_bytes"), 1u << 20);
    const auto file = load_fxt(folder->file("rings.fxt"));
    ASSERT_TRUE(file) << file.error().what;
    const std::vector<uint64_t> numbers = numbers_in(*file);
    const nlohmann::json row = probe_row(summary, probe);
    EXPECT_EQ(numbers.size(), row.at("written").get<uint64_t>());
    EXPECT_EQ(row.at("hits").get<uint64_t>(),
              numbers.size() + row.at("lost").at("ring_full").get<uint64_t>() +
                  summary.at("loss").at("sink_full").get<uint64_t>());
    EXPECT_GT(numbers.size(), 100'000u);
    EXPECT_TRUE(std::ranges::is_sorted(numbers));
    EXPECT_EQ(std::ranges::adjacent_find(numbers), numbers.end()) << "a number came twice";
}

INSTANTIATE_TEST_SUITE_P(LiveRecorded, RingsChanged, testing::Bool(), [](const auto& may_sleep) {
    return std::string(may_sleep.param ? "Sleepable" : "Plain");
});

// One chunk on its way to a reader who takes his time; false: none was whole.
Result<bool> take_chunk(ControlConnection& connection, std::string& chunk) {
    TR_ASSIGN(const std::string line, connection.ask(std::vector<std::string>{"chunks"}));
    const auto answer = nlohmann::json::parse(line);
    if (!answer.value("ok", false)) return fail(ErrorCode::io, line);
    const auto bytes = answer.at("payload_bytes").get<uint64_t>();
    if (bytes == 0) return false;
    chunk.clear();
    TR_TRY(connection.read_payload(bytes, [&](std::span<const std::byte> part) -> Status {
        chunk.append(reinterpret_cast<const char*>(part.data()), part.size());
        return {};
    }));
    return true;
}

TEST(LiveRecorded, ChunksTakenSlowlyHoldAllButWhatIsCounted) {
    TR_REQUIRE_ROOT();
    TR_REQUIRE_FILE(tracer_binary());
    auto folder = TempFolder::make();
    ASSERT_TRUE(folder);
    auto target = start_target("flood", {"--hits", "1000000000", "--rate", kFlood});
    ASSERT_TRUE(target) << target.error().what;
    // What two chunks need, and a little.
    auto run = TracerRun::start({"--pid", std::to_string(target->pid()), "--no-sched", "--no-packs",
                                 "-e", "usdt:flood:hit(n=arg0)", "--chunks", "1M", "--chunk-memory",
                                 "4M", "-o", folder->file("left.fxt")});
    ASSERT_TRUE(run) << run.error().what;
    ASSERT_TRUE(run->wait_until_recording());
    ASSERT_TRUE(target->send_line("go"));
    const auto control = control_folder(geteuid(), nullptr);
    ASSERT_TRUE(control);
    const auto pid = static_cast<uint32_t>(run->process().pid());
    auto connection = ControlConnection::open(*control, pid, kLimit);
    ASSERT_TRUE(connection) << connection.error().what;
    std::vector<std::string> chunks;
    constexpr size_t kChunks = 12;
    constexpr Milliseconds kSlow{200};
    for (int i = 0; i < 1000 && chunks.size() < kChunks; ++i) {
        std::string chunk;
        const auto taken = take_chunk(*connection, chunk);
        ASSERT_TRUE(taken) << taken.error().what;
        if (*taken) chunks.push_back(std::move(chunk));
        std::this_thread::sleep_for(kSlow);
    }
    ASSERT_EQ(chunks.size(), kChunks);
    ASSERT_TRUE(target->send_signal(SIGKILL));
    const auto result = run->finish();
    ASSERT_TRUE(result) << result.error().what;
    EXPECT_EQ(result->status, ExitStatus{}) << result->errors;
    const nlohmann::json& summary = result->summary;
    EXPECT_TRUE(summary.value("agree", false)) << summary.dump();
    EXPECT_EQ(summary.at("output").at("chunks_taken"), kChunks);
    std::vector<FxtFile> files;
    for (const std::string& chunk : chunks) {
        // It ends between two batches of records.
        EXPECT_LT(chunk.size(), 2u << 20);
        files.push_back(parse_fxt(std::as_bytes(std::span(chunk.data(), chunk.size()))));
    }
    // What nobody took by the end is in files.
    for (const auto& path : summary.at("output").at("files")) {
        auto file = load_fxt(path.get<std::string>());
        ASSERT_TRUE(file) << file.error().what;
        files.push_back(std::move(*file));
    }
    EXPECT_GT(files.size(), kChunks);
    std::vector<uint64_t> numbers;
    for (const FxtFile& file : files) {
        const auto some = numbers_in(file);
        numbers.insert(numbers.end(), some.begin(), some.end());
    }
    const nlohmann::json probe = probe_row(summary, "usdt:flood:hit(n=arg0)");
    const auto lost = probe.at("lost").at("ring_full").get<uint64_t>() +
                      summary.at("loss").at("sink_full").get<uint64_t>();
    EXPECT_GT(summary.at("loss").at("sink_full").get<uint64_t>(), 0u) << "nothing was too slow";
    // A few of what is counted as lost are no hits: what says that there was loss, names.
    const uint64_t missing = probe.at("hits").get<uint64_t>() - numbers.size();
    EXPECT_LE(missing, lost);
    EXPECT_GE(missing, lost - lost / 100);
    EXPECT_TRUE(std::ranges::is_sorted(numbers));
    EXPECT_EQ(std::ranges::adjacent_find(numbers), numbers.end());
}

TEST(LiveRecorded, IsMarkedAndStoppedByItsUser) {
    TR_REQUIRE_ROOT();
    TR_REQUIRE_FILE(tracer_binary());
    auto target = start_target("flood", {"--hits", "1000"});
    ASSERT_TRUE(target) << target.error().what;
    auto recorder =
        Recorder::start({"--pid", std::to_string(target->pid()), "-e", "usdt:flood:hit"});
    ASSERT_TRUE(recorder) << recorder.error().what;
    const std::string pid = std::to_string(recorder->process().pid());
    const nlohmann::json status = ctl({pid, "status"});
    EXPECT_EQ(status.value("ok", false), true) << status;
    EXPECT_EQ(status.value("output", ""), recorder->path());
    const nlohmann::json list = ctl({"list"});
    EXPECT_TRUE(std::ranges::any_of(list, [&](const auto& row) {
        return std::to_string(row.value("pid", 0)) == pid;
    })) << list;
    EXPECT_EQ(ctl({pid, "mark", "deployed", "1.4"}).value("ok", false), true);
    EXPECT_EQ(ctl({pid, "stop"}).value("ok", false), true);
    // Whole by now.
    const auto file = load_fxt(recorder->path());
    ASSERT_TRUE(file) << file.error().what;
    const auto marks = events_of(*file, "mark");
    ASSERT_EQ(marks.size(), 1u);
    const FxtValue* text = file->find(marks[0]->arguments, "text");
    ASSERT_NE(text, nullptr);
    EXPECT_TRUE(same_value(*text, "deployed 1.4", false)) << to_text(*text);
    const auto recorded = recorder->finish();
    ASSERT_TRUE(recorded) << recorded.error().what;
    expect_sound(*recorded);
    EXPECT_EQ(recorded->result.summary.at("ended_by"), "stopped");
    EXPECT_NE(access(("/run/tracer/" + pid + ".sock").c_str(), F_OK), 0);
    const auto gone = run_tracer({"ctl", pid, "status"});
    ASSERT_TRUE(gone);
    EXPECT_EQ(gone->status.code, 4);
    EXPECT_THAT(gone->errors, testing::HasSubstr("no recording"));
}

// The events of the file as they lie: the numbers between two marks of the recorder.
std::vector<std::vector<uint64_t>> windows_of(const FxtFile& file) {
    std::vector<std::vector<uint64_t>> windows(1);
    for (const FxtEvent& event : file.events) {
        if (event.name == "hit") {
            windows.back().push_back(integer_argument(file, event, "n").value_or(UINT64_MAX));
        } else if (event.name == "paused" || event.name == "resumed") {
            windows.emplace_back();
        }
    }
    return windows;
}

TEST(LiveRecorded, PausedFiftyTimesHasEveryNumberOfItsWindowsAndNoOther) {
    TR_REQUIRE_ROOT();
    TR_REQUIRE_FILE(tracer_binary());
    constexpr int kPauses = 50;
    auto target = start_target("flood", {"--hits", "1000000000", "--rate", "50000"});
    ASSERT_TRUE(target) << target.error().what;
    auto recorder = Recorder::start(
        {"--pid", std::to_string(target->pid()), "--no-packs", "-e", "usdt:flood:hit(n=arg0)"});
    ASSERT_TRUE(recorder) << recorder.error().what;
    ASSERT_TRUE(target->send_line("go"));
    const auto control = control_folder(geteuid(), nullptr);
    ASSERT_TRUE(control) << control.error().what;
    const auto pid = static_cast<uint32_t>(recorder->process().pid());
    auto connection = ControlConnection::open(*control, pid, kLimit);
    ASSERT_TRUE(connection) << connection.error().what;
    const auto ask = [&](const std::string& verb) {
        const auto answer = connection->ask(std::vector<std::string>{verb});
        return answer ? nlohmann::json::parse(*answer) : nlohmann::json();
    };
    // Hits before, between and while paused: the target counts by its clock alone.
    for (int i = 0; i < kPauses; ++i) {
        std::this_thread::sleep_for(kPause);
        EXPECT_EQ(ask("pause").value("changed", false), true);
        std::this_thread::sleep_for(kPause);
        EXPECT_EQ(ask("resume").value("changed", false), true);
    }
    std::this_thread::sleep_for(kPause);
    const nlohmann::json status = ask("status");
    EXPECT_EQ(status.value("paused", true), false);
    EXPECT_EQ(status.value("pauses", 0), kPauses);
    ASSERT_TRUE(target->send_signal(SIGKILL));
    const auto recorded = recorder->finish();
    ASSERT_TRUE(recorded) << recorded.error().what;
    expect_sound(*recorded);
    expect_nothing_lost(*recorded);
    const nlohmann::json& summary = recorded->result.summary;
    EXPECT_EQ(summary.at("pauses"), kPauses);
    EXPECT_GT(summary.at("paused_seconds").get<double>(), 0.002 * kPauses);
    const auto windows = windows_of(recorded->file);
    ASSERT_EQ(windows.size(), 2u * kPauses + 1);
    uint64_t next = 0;
    uint64_t count = 0;
    for (size_t i = 0; i < windows.size(); ++i) {
        if (i % 2 == 1) {
            EXPECT_THAT(windows[i], testing::IsEmpty()) << "hits within pause " << i / 2;
            continue;
        }
        ASSERT_FALSE(windows[i].empty()) << "window " << i / 2;
        if (i != 0) {
            EXPECT_GT(windows[i].front(), next) << "nothing was left out by pause " << i;
        }
        for (const uint64_t number : windows[i]) {
            EXPECT_TRUE(number == next || number == windows[i].front()) << number;
            next = number + 1;
        }
        count += windows[i].size();
    }
    const nlohmann::json probe = probe_row(summary, "usdt:flood:hit(n=arg0)");
    EXPECT_EQ(probe.at("hits"), count);
    EXPECT_EQ(probe.at("written"), count);
}

TEST(LiveRecorded, StartsAfterItsTimeWithWholeNumbersFromThenOn) {
    TR_REQUIRE_ROOT();
    TR_REQUIRE_FILE(tracer_binary());
    auto target = start_target("flood", {"--hits", "1000000000", "--rate", "20000"});
    ASSERT_TRUE(target) << target.error().what;
    auto recorder =
        Recorder::start({"--pid", std::to_string(target->pid()), "--no-packs", "-e",
                         "usdt:flood:hit(n=arg0)", "--start-after", "400ms", "-d", "300ms"});
    ASSERT_TRUE(recorder) << recorder.error().what;
    ASSERT_TRUE(target->send_line("go"));
    const auto recorded = recorder->finish();
    ASSERT_TRUE(target->send_signal(SIGKILL));
    ASSERT_TRUE(recorded) << recorded.error().what;
    expect_sound(*recorded);
    expect_nothing_lost(*recorded);
    const nlohmann::json& summary = recorded->result.summary;
    EXPECT_EQ(summary.at("ended_by"), "duration");
    EXPECT_GE(summary.at("waited_seconds").get<double>(), 0.4);
    EXPECT_GE(summary.at("seconds").get<double>(), 0.3);
    EXPECT_EQ(summary.at("pauses"), 0);
    const auto windows = windows_of(recorded->file);
    ASSERT_EQ(windows.size(), 2u);
    EXPECT_THAT(windows[0], testing::IsEmpty());
    ASSERT_FALSE(windows[1].empty());
    EXPECT_GT(windows[1].front(), 0u) << "hits before the opening are there";
    EXPECT_EQ(windows[1].back() - windows[1].front() + 1, windows[1].size());
}

TEST(LiveRecorded, StopsWhenASlowRequestIsInTheFile) {
    TR_REQUIRE_ROOT();
    TR_REQUIRE_FILE(tracer_binary());
    auto target = start_target("requests", {"--requests", "100000", "--slow-every", "100",
                                            "--slow-ms", "150", "--quick-us", "1000"});
    ASSERT_TRUE(target) << target.error().what;
    auto recorder =
        Recorder::start({"--pid", std::to_string(target->pid()), "--no-packs", "-e",
                         "span:" + target_path("requests") + ":handle_request(number=arg0:s32)",
                         "--stop-when", "span(handle_request) > 120ms"});
    ASSERT_TRUE(recorder) << recorder.error().what;
    ASSERT_TRUE(target->send_line("go"));
    const auto recorded = recorder->finish();
    ASSERT_TRUE(target->send_signal(SIGKILL));
    ASSERT_TRUE(recorded) << recorded.error().what;
    expect_sound(*recorded);
    expect_nothing_lost(*recorded);
    EXPECT_EQ(recorded->result.summary.at("ended_by"), "stop-when");
    EXPECT_EQ(recorded->result.summary.at("stop_condition"), "span(handle_request) > 120ms");
    std::vector<uint64_t> numbers;
    for (const FxtEvent* begin :
         events_of(recorded->file, "handle_request", FxtEventType::duration_begin)) {
        numbers.push_back(integer_argument(recorded->file, *begin, "number").value_or(0));
    }
    // From the first to the first slow one and some more, none left out.
    ASSERT_GE(numbers.size(), 100u);
    for (size_t i = 0; i < numbers.size(); ++i) EXPECT_EQ(numbers[i], numbers.front() + i);
    EXPECT_THAT(numbers, testing::Contains(100u));
    EXPECT_LT(numbers.back(), 400u);
}

TEST(LiveRecorded, BeginsWithTheEventThatItWaitedFor) {
    TR_REQUIRE_ROOT();
    TR_REQUIRE_FILE(tracer_binary());
    auto target =
        start_target("requests", {"--requests", "400", "--slow-every", "100", "--slow-ms", "150"});
    ASSERT_TRUE(target) << target.error().what;
    auto recorder =
        Recorder::start({"--pid", std::to_string(target->pid()), "--no-packs", "-e",
                         "span:" + target_path("requests") + ":handle_request(number=arg0:s32)",
                         "--start-when", "span(handle_request) > 120ms"});
    ASSERT_TRUE(recorder) << recorder.error().what;
    ASSERT_TRUE(run_target(*target, kLimit, 1));
    ASSERT_TRUE(target->send_signal(SIGKILL));
    const auto recorded = recorder->finish();
    ASSERT_TRUE(recorded) << recorded.error().what;
    expect_sound(*recorded);
    expect_nothing_lost(*recorded);
    EXPECT_GT(recorded->result.summary.at("held_back").get<uint64_t>(), 0u);
    EXPECT_GT(recorded->result.summary.at("waited_seconds").get<double>(), 0.0);
    std::vector<uint64_t> numbers;
    for (const FxtEvent* begin :
         events_of(recorded->file, "handle_request", FxtEventType::duration_begin)) {
        numbers.push_back(integer_argument(recorded->file, *begin, "number").value_or(0));
    }
    ASSERT_FALSE(numbers.empty());
    EXPECT_EQ(numbers.front(), 100u) << "the first slow one, with its begin";
    EXPECT_EQ(numbers.back(), 400u);
    EXPECT_EQ(numbers.size(), 301u);
}

TEST(LiveRecorded, OneThatNothingOpenedLeavesNoFile) {
    TR_REQUIRE_ROOT();
    TR_REQUIRE_FILE(tracer_binary());
    auto target = start_target("flood", {"--hits", "1000"});
    ASSERT_TRUE(target) << target.error().what;
    auto folder = TempFolder::make();
    ASSERT_TRUE(folder);
    const std::string path = folder->file("never.fxt");
    auto run = TracerRun::start({"--pid", std::to_string(target->pid()), "-e", "usdt:flood:hit",
                                 "--start-when", "span(nothing) > 1s", "-o", path});
    ASSERT_TRUE(run) << run.error().what;
    ASSERT_TRUE(run->wait_until_recording());
    ASSERT_TRUE(target->send_signal(SIGKILL));
    auto& process = run->process();
    const auto status = process.wait(kLimit);
    ASSERT_TRUE(status) << status.error().what;
    EXPECT_EQ(status->code, 4);
    EXPECT_THAT(process.errors(), testing::HasSubstr("before --start-when span(nothing) > 1s"));
    EXPECT_NE(access(path.c_str(), F_OK), 0);
}

TEST(LiveRecorded, OneThatWasNeverOpenedLeavesNoFile) {
    TR_REQUIRE_ROOT();
    TR_REQUIRE_FILE(tracer_binary());
    auto target = start_target("flood", {"--hits", "1000"});
    ASSERT_TRUE(target) << target.error().what;
    auto folder = TempFolder::make();
    ASSERT_TRUE(folder);
    const std::string path = folder->file("never.fxt");
    auto run = TracerRun::start({"--pid", std::to_string(target->pid()), "-e", "usdt:flood:hit",
                                 "--start-after", "1h", "-o", path});
    ASSERT_TRUE(run) << run.error().what;
    ASSERT_TRUE(run->wait_until_recording());
    ASSERT_TRUE(target->send_signal(SIGKILL));
    auto& process = run->process();
    const auto status = process.wait(kLimit);
    ASSERT_TRUE(status) << status.error().what;
    EXPECT_EQ(status->code, 4);
    EXPECT_THAT(process.errors(), testing::HasSubstr("ended (targets-ended) before --start-after "
                                                     "1h: nothing is recorded"));
    EXPECT_NE(access(path.c_str(), F_OK), 0);
}

TEST(LiveRecorded, SpansAcrossPausesAreNoFaults) {
    TR_REQUIRE_ROOT();
    TR_REQUIRE_FILE(tracer_binary());
    constexpr int kPauses = 20;
    auto target = start_target("requests", {"--requests", "1000000"});
    ASSERT_TRUE(target) << target.error().what;
    auto recorder =
        Recorder::start({"--pid", std::to_string(target->pid()), "--no-packs", "-e",
                         "span:" + target_path("requests") + ":handle_request(number=arg0:s32)"});
    ASSERT_TRUE(recorder) << recorder.error().what;
    ASSERT_TRUE(target->send_line("go"));
    const std::string pid = std::to_string(recorder->process().pid());
    for (int i = 0; i < kPauses; ++i) {
        EXPECT_EQ(ctl({pid, "pause"}).value("changed", false), true);
        EXPECT_EQ(ctl({pid, "resume"}).value("changed", false), true);
    }
    // What is paused ends as well as any.
    EXPECT_EQ(ctl({pid, "pause"}).value("changed", false), true);
    EXPECT_EQ(ctl({pid, "pause"}).value("changed", true), false);
    EXPECT_EQ(ctl({pid, "stop"}).value("ok", false), true);
    ASSERT_TRUE(target->send_signal(SIGKILL));
    const auto recorded = recorder->finish();
    ASSERT_TRUE(recorded) << recorded.error().what;
    expect_sound(*recorded);
    expect_nothing_lost(*recorded);
    const nlohmann::json& spans = recorded->result.summary.at("spans");
    EXPECT_GT(
        spans.at("closed_at_pause").get<uint64_t>() + spans.at("begun_before").get<uint64_t>(), 0u);
    EXPECT_EQ(spans.at("orphan_ends"), 0) << spans;
    EXPECT_EQ(spans.at("unwound"), 0) << spans;
    EXPECT_EQ(spans.at("cut_by_loss"), 0) << spans;
    EXPECT_EQ(recorded->file.open_span_count, 0u);
}

}  // namespace
}  // namespace tracer::test
