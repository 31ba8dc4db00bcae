// SPDX-License-Identifier: Apache-2.0
//
// Recordings that go on and on: files that rotate, and the flight recorder. Every file opens by
// itself, and together they hold what happened, each event once.
#include "root/recording.h"
#include "support/fixtures/requirements.h"
#include "support/fixtures/target_program.h"

#include <algorithm>
#include <csignal>
#include <filesystem>

#include <gtest/gtest.h>

namespace tracer::test {
namespace {

constexpr Milliseconds kLimit{120000};

std::string request_probe() {
    return "span:" + target_path("requests") + ":handle_request(number=arg0:s32)";
}

// A target, and a recording of it in a folder of its own.
struct LongRecording {
    TempFolder folder;
    ChildProcess target;
    TracerRun run;

    [[nodiscard]] static Result<LongRecording> start(std::vector<std::string> target_arguments,
                                                     const std::string& program,
                                                     std::vector<std::string> arguments) {
        TR_ASSIGN(auto folder, TempFolder::make());
        TR_ASSIGN(auto target, start_target(program, target_arguments));
        arguments.insert(arguments.end(), {"--pid", std::to_string(target.pid()), "--no-sched",
                                           "-o", folder.file("long.fxt")});
        TR_ASSIGN(auto run, TracerRun::start(arguments));
        TR_TRY(run.wait_until_recording());
        return LongRecording{std::move(folder), std::move(target), std::move(run)};
    }
};

FxtFile open_whole(const std::string& path) {
    auto file = load_fxt(path);
    if (!file) {
        ADD_FAILURE() << file.error().what;
        return {};
    }
    EXPECT_EQ(file->problem_count, 0u) << path << ": " << file->problems.front();
    EXPECT_EQ(file->truncated_tail_bytes, 0u) << path;
    EXPECT_EQ(file->open_span_count, 0u) << path;
    return std::move(*file);
}

std::vector<uint64_t> numbers_in(const FxtFile& file,
                                 std::string_view event,
                                 FxtEventType type,
                                 std::string_view argument) {
    std::vector<uint64_t> numbers;
    for (const FxtEvent* one : events_of(file, event, type)) {
        // A span that was open when the file begins is there without its arguments.
        const auto number = integer_argument(file, *one, argument);
        if (number) numbers.push_back(*number);
    }
    return numbers;
}

bool are_consecutive(const std::vector<uint64_t>& numbers) {
    return std::ranges::adjacent_find(numbers, [](uint64_t one, uint64_t next) {
               return next != one + 1;
           }) == numbers.end();
}

TEST(History, EverySlowRequestIsInASnapshotWithWhatWasBefore) {
    TR_REQUIRE_ROOT();
    TR_REQUIRE_FILE(tracer_binary());
    constexpr uint64_t kSlow = 20;
    constexpr uint64_t kEvery = 60;
    auto started =
        LongRecording::start({"--requests", std::to_string(kSlow * kEvery), "--slow-every",
                              std::to_string(kEvery), "--slow-ms", "150", "--quick-us", "1000"},
                             "requests",
                             {"-e", request_probe(), "--no-packs", "--keep", "2s", "--when",
                              "span(handle_request) > 120ms", "--cooldown", "1ms"});
    ASSERT_TRUE(started) << started.error().what;
    const auto lines = run_target(started->target, kLimit, 1);
    ASSERT_TRUE(lines) << lines.error().what;
    ASSERT_EQ(lines->front().at("slow"), kSlow);
    const auto result = started->run.stop();
    ASSERT_TRUE(result) << result.error().what;
    EXPECT_EQ(result->status, ExitStatus{}) << result->errors;
    const auto& snapshots = result->summary.at("snapshots");
    // A machine under load makes others slow too.
    ASSERT_GE(snapshots.size() + result->summary.at("snapshots_skipped").at("busy").get<size_t>(),
              kSlow);
    struct Numbers {
        uint64_t first, last;
    };
    std::vector<Numbers> held;
    uint64_t last = 0;
    for (const auto& snapshot : snapshots) {
        EXPECT_EQ(snapshot.at("reason"), "span(handle_request) > 120ms");
        const FxtFile file = open_whole(snapshot.at("path"));
        const auto numbers =
            numbers_in(file, "handle_request", FxtEventType::duration_begin, "number");
        ASSERT_FALSE(numbers.empty());
        EXPECT_TRUE(are_consecutive(numbers));
        held.push_back({numbers.front(), numbers.back()});
        EXPECT_LE(numbers.front(), std::max(last, uint64_t{1})) << "a gap between snapshots";
        last = numbers.back();
        EXPECT_GE(events_of(file, "snapshot").size(), 1u);
    }
    // Each is in one of them, and so is what came before it.
    for (uint64_t slow = kEvery; slow <= kSlow * kEvery; slow += kEvery) {
        EXPECT_TRUE(std::ranges::any_of(held, [&](const Numbers& numbers) {
            return numbers.first <= slow - (kEvery - 1) && slow <= numbers.last;
        })) << slow;
    }
}

TEST(History, WritesWhatIsHeldAtASignalAndAtTheEnd) {
    TR_REQUIRE_ROOT();
    TR_REQUIRE_FILE(tracer_binary());
    auto started = LongRecording::start({"--requests", "300"}, "requests",
                                        {"-e", request_probe(), "--no-packs", "--keep", "64M"});
    ASSERT_TRUE(started) << started.error().what;
    ASSERT_TRUE(run_target(started->target, kLimit, 1));
    ASSERT_TRUE(started->run.process().send_signal(SIGUSR1));
    started->target.close_input();
    const auto result = started->run.finish();
    ASSERT_TRUE(result) << result.error().what;
    EXPECT_EQ(result->status, ExitStatus{}) << result->errors;
    EXPECT_EQ(result->summary.at("ended_by"), "targets-ended");
    const auto& snapshots = result->summary.at("snapshots");
    ASSERT_EQ(snapshots.size(), 2u);
    EXPECT_EQ(snapshots[0].at("reason"), "SIGUSR1");
    EXPECT_EQ(snapshots[1].at("reason"), "the recording ended");
    for (const auto& snapshot : snapshots) {
        const FxtFile file = open_whole(snapshot.at("path"));
        const auto numbers =
            numbers_in(file, "handle_request", FxtEventType::duration_begin, "number");
        EXPECT_EQ(numbers.size(), 300u);
        EXPECT_TRUE(are_consecutive(numbers));
    }
}

TEST(History, IsAskedForWhileItRuns) {
    TR_REQUIRE_ROOT();
    TR_REQUIRE_FILE(tracer_binary());
    auto started = LongRecording::start(
        {"--requests", "100"}, "requests",
        {"-e", request_probe(), "--no-packs", "--keep", "1m", "--when", "exit == 77"});
    ASSERT_TRUE(started) << started.error().what;
    ASSERT_TRUE(run_target(started->target, kLimit, 1));
    const std::string pid = std::to_string(started->run.process().pid());
    const auto status = run_tracer({"ctl", pid, "status", "--json"});
    ASSERT_TRUE(status) << status.error().what;
    const auto held = nlohmann::json::parse(status->output).at("history");
    EXPECT_GE(held.at("events"), 200u);
    const auto asked = run_tracer({"ctl", pid, "snapshot", "it", "was", "slow"});
    ASSERT_TRUE(asked) << asked.error().what;
    EXPECT_EQ(asked->status, ExitStatus{}) << asked->errors;
    const auto refused = run_tracer({"ctl", pid, "sink", started->folder.file("x.fxt")});
    ASSERT_TRUE(refused) << refused.error().what;
    EXPECT_NE(refused->status, ExitStatus{});
    const auto result = started->run.stop();
    ASSERT_TRUE(result) << result.error().what;
    const auto& snapshots = result->summary.at("snapshots");
    ASSERT_EQ(snapshots.size(), 1u);
    EXPECT_EQ(snapshots[0].at("reason"), "it was slow");
    const FxtFile file = open_whole(snapshots[0].at("path"));
    EXPECT_EQ(numbers_in(file, "handle_request", FxtEventType::duration_begin, "number").size(),
              100u);
}

TEST(History, ACrashIsWrittenWithWhatLedToIt) {
    TR_REQUIRE_ROOT();
    TR_REQUIRE_FILE(tracer_binary());
    auto started =
        LongRecording::start({"--requests", "200"}, "requests",
                             {"-e", request_probe(), "--no-packs", "--keep", "1m", "--when",
                              "crash(requests)", "--when", "exit == 7", "--after", "1ms"});
    ASSERT_TRUE(started) << started.error().what;
    ASSERT_TRUE(run_target(started->target, kLimit, 1));
    ASSERT_TRUE(started->target.send_signal(SIGSEGV));
    const auto result = started->run.finish();
    ASSERT_TRUE(result) << result.error().what;
    const auto& snapshots = result->summary.at("snapshots");
    ASSERT_EQ(snapshots.size(), 1u) << result->summary.dump();
    EXPECT_EQ(snapshots[0].at("reason"), "crash(requests)");
    const FxtFile file = open_whole(snapshots[0].at("path"));
    EXPECT_EQ(numbers_in(file, "handle_request", FxtEventType::duration_begin, "number").size(),
              200u);
    EXPECT_GE(events_of(file, "exit").size(), 1u);
}

TEST(History, ASnapshotThatFailsCostsTheExitStatusAlone) {
    TR_REQUIRE_ROOT();
    TR_REQUIRE_FILE(tracer_binary());
    auto started = LongRecording::start({"--requests", "50"}, "requests",
                                        {"-e", request_probe(), "--no-packs", "--keep", "1m"});
    ASSERT_TRUE(started) << started.error().what;
    // Nobody, root neither, makes files in a folder that is gone.
    std::filesystem::remove_all(started->folder.path());
    ASSERT_TRUE(started->run.process().send_signal(SIGUSR1));
    ASSERT_TRUE(run_target(started->target, kLimit, 1));
    const auto result = started->run.stop();
    ASSERT_TRUE(result) << result.error().what;
    EXPECT_EQ(result->status, (ExitStatus{5, 0})) << result->errors;
    EXPECT_NE(result->errors.find("long-"), std::string::npos) << result->errors;
    EXPECT_EQ(probe_row(result->summary, request_probe()).at("hits"), 100u);
}

TEST(Rotation, FilesOpenByThemselvesAndHoldEachEventOnce) {
    TR_REQUIRE_ROOT();
    TR_REQUIRE_FILE(tracer_binary());
    constexpr uint64_t kHits = 60'000;
    auto started = LongRecording::start({"--hits", std::to_string(kHits), "--rate", "30000"},
                                        "flood", {"-e", "usdt:flood:hit", "--rotate", "256K,1s"});
    ASSERT_TRUE(started) << started.error().what;
    ASSERT_TRUE(run_target(started->target, kLimit, 1));
    const auto result = started->run.stop();
    ASSERT_TRUE(result) << result.error().what;
    EXPECT_EQ(result->status, ExitStatus{}) << result->errors;
    EXPECT_EQ(result->summary.at("loss_rate"), 0.0);
    const auto& files = result->summary.at("output").at("files");
    EXPECT_GE(files.size(), kHits * 32 / (256 << 10));
    EXPECT_TRUE(std::is_sorted(files.begin(), files.end()));
    std::vector<uint64_t> all;
    uint64_t bytes = 0;
    for (const auto& path : files) {
        const FxtFile file = open_whole(path);
        const auto numbers = numbers_in(file, "hit", FxtEventType::instant, "arg0");
        all.insert(all.end(), numbers.begin(), numbers.end());
        const uint64_t size = std::filesystem::file_size(std::string(path));
        // Longer by what one turn of draining brings.
        EXPECT_LE(size, 2u << 20);
        bytes += size;
    }
    EXPECT_EQ(all.size(), kHits);
    EXPECT_TRUE(are_consecutive(all));
    EXPECT_EQ(bytes, result->summary.at("output").at("bytes"));
}

TEST(Rotation, DeletesWhatIsOlder) {
    TR_REQUIRE_ROOT();
    TR_REQUIRE_FILE(tracer_binary());
    auto started =
        LongRecording::start({"--hits", "60000", "--rate", "30000"}, "flood",
                             {"-e", "usdt:flood:hit", "--rotate", "128K", "--rotate-keep", "2"});
    ASSERT_TRUE(started) << started.error().what;
    ASSERT_TRUE(run_target(started->target, kLimit, 1));
    const auto result = started->run.stop();
    ASSERT_TRUE(result) << result.error().what;
    EXPECT_EQ(result->status, ExitStatus{}) << result->errors;
    const auto& output = result->summary.at("output");
    EXPECT_EQ(output.at("files").size(), 2u);
    EXPECT_GE(output.at("files_deleted"), 5u);
    size_t there = 0;
    for (const auto& entry : std::filesystem::directory_iterator(started->folder.path())) {
        const nlohmann::json path = entry.path().string();
        const auto& files = output.at("files");
        EXPECT_NE(std::find(files.begin(), files.end(), path), files.end()) << path;
        there += 1;
    }
    EXPECT_EQ(there, 2u);
}

}  // namespace
}  // namespace tracer::test
