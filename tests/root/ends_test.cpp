// SPDX-License-Identifier: Apache-2.0
//
// The ways in which a recording ends. Each leaves a file that opens and says why it ended; none
// leaves anything behind in the traced program.
#include "root/proc_view.h"
#include "root/recording.h"
#include "support/fixtures/requirements.h"
#include "support/fixtures/target_program.h"

#include <csignal>
#include <filesystem>
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>

#include <gtest/gtest.h>

namespace tracer::test {
namespace {

constexpr Milliseconds kLimit{60000};

Result<ChildProcess> endless_flood() {
    return start_target("flood", {"--hits", "1000000000", "--rate", "5000"});
}

std::vector<std::string> flood_options(const ChildProcess& target) {
    return {"-e", "usdt:flood:hit", "--pid", std::to_string(target.pid())};
}

void expect_end(const Recorded& recorded, const std::string& cause) {
    expect_sound(recorded);
    expect_nothing_lost(recorded);
    EXPECT_EQ(recorded.result.summary.at("ended_by"), cause);
    EXPECT_GT(events_of(recorded.file, "hit").size(), 0u);
}

class EndsBySignal : public testing::TestWithParam<int> {};

TEST_P(EndsBySignal, LeavesAWholeFileAndTheTargetAlone) {
    TR_REQUIRE_ROOT();
    TR_REQUIRE_FILE(tracer_binary());
    auto target = start_target("flood", {"--hits", "100"});
    ASSERT_TRUE(target) << target.error().what;
    auto recorder = Recorder::start(flood_options(*target));
    ASSERT_TRUE(recorder) << recorder.error().what;
    ASSERT_TRUE(run_target(*target, kLimit, 1));
    const auto recorded = recorder->stop(GetParam());
    ASSERT_TRUE(recorded) << recorded.error().what;
    expect_end(*recorded, "interrupted");
    EXPECT_EQ(events_of(recorded->file, "hit").size(), 100u);
    EXPECT_EQ(changed_text_bytes(target->pid()).value_or(SIZE_MAX), 0u);
    target->close_input();
    EXPECT_EQ(target->wait(kLimit).value_or(ExitStatus{-1, 0}), ExitStatus{});
}

INSTANTIATE_TEST_SUITE_P(Signals,
                         EndsBySignal,
                         testing::Values(SIGINT, SIGTERM, SIGHUP, SIGQUIT),
                         [](const auto& signal) {
                             return std::string("SIG") + sigabbrev_np(signal.param);
                         });

TEST(Ends, WithTheTargetKilled) {
    TR_REQUIRE_ROOT();
    TR_REQUIRE_FILE(tracer_binary());
    auto target = start_target("flood", {"--hits", "100"});
    ASSERT_TRUE(target) << target.error().what;
    auto recorder = Recorder::start(flood_options(*target));
    ASSERT_TRUE(recorder) << recorder.error().what;
    ASSERT_TRUE(run_target(*target, kLimit, 1));
    ASSERT_TRUE(target->send_signal(SIGKILL));
    const auto recorded = recorder->finish();
    ASSERT_TRUE(recorded) << recorded.error().what;
    expect_end(*recorded, "targets-ended");
    EXPECT_EQ(events_of(recorded->file, "hit").size(), 100u);
    EXPECT_EQ(events_of(recorded->file, "exit").size(), 2u);  // main and the hitting thread
}

TEST(Ends, AfterTheTimeAskedFor) {
    TR_REQUIRE_ROOT();
    TR_REQUIRE_FILE(tracer_binary());
    auto target = endless_flood();
    ASSERT_TRUE(target) << target.error().what;
    ASSERT_TRUE(target->send_line("go"));
    auto arguments = flood_options(*target);
    arguments.insert(arguments.end(), {"-d", "500ms"});
    auto recorder = Recorder::start(arguments);
    ASSERT_TRUE(recorder) << recorder.error().what;
    const auto recorded = recorder->finish();
    ASSERT_TRUE(recorded) << recorded.error().what;
    expect_end(*recorded, "duration");
    const double seconds = recorded->result.summary.at("seconds");
    EXPECT_GE(seconds, 0.5);
    EXPECT_LT(seconds, 5.0);
}

TEST(Ends, AtTheSizeAskedFor) {
    TR_REQUIRE_ROOT();
    TR_REQUIRE_FILE(tracer_binary());
    auto target = endless_flood();
    ASSERT_TRUE(target) << target.error().what;
    ASSERT_TRUE(target->send_line("go"));
    auto arguments = flood_options(*target);
    arguments.insert(arguments.end(), {"--max-size", "256K"});
    auto recorder = Recorder::start(arguments);
    ASSERT_TRUE(recorder) << recorder.error().what;
    const auto recorded = recorder->finish();
    ASSERT_TRUE(recorded) << recorded.error().what;
    expect_end(*recorded, "max-size");
    EXPECT_GE(std::filesystem::file_size(recorder->path()), 128u << 10);
    EXPECT_LE(std::filesystem::file_size(recorder->path()), 256u << 10);
}

TEST(Ends, AreToldToAPersonToo) {
    TR_REQUIRE_ROOT();
    TR_REQUIRE_FILE(tracer_binary());
    const auto folder = TempFolder::make();
    ASSERT_TRUE(folder);
    auto target = endless_flood();
    ASSERT_TRUE(target) << target.error().what;
    ASSERT_TRUE(target->send_line("go"));
    auto arguments = flood_options(*target);
    const std::string path = folder->file("told.fxt");
    arguments.insert(arguments.end(), {"-d", "200ms", "-o", path});
    const auto result = run_tracer(arguments);
    ASSERT_TRUE(result) << result.error().what;
    EXPECT_EQ(result->status, ExitStatus{}) << result->errors;
    EXPECT_NE(result->errors.find("(stopped after the time asked for)"), std::string::npos);
    EXPECT_NE(result->errors.find("checked: hits = written + lost"), std::string::npos);
    EXPECT_TRUE(
        result->errors.ends_with("wrote " + path + "; open it in https://ui.perfetto.dev\n"))
        << result->errors;
}

// A small tmpfs in a mount namespace of our own, so that it is gone with us however the test ends.
class SmallDisk {
public:
    explicit SmallDisk(std::string folder) : folder_(std::move(folder)) {
        mounted_ = unshare(CLONE_NEWNS) == 0 &&
                   mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0 &&
                   mount("tracer-test", folder_.c_str(), "tmpfs", 0, "size=256k") == 0;
    }
    ~SmallDisk() {
        if (mounted_) umount2(folder_.c_str(), MNT_DETACH);
    }
    SmallDisk(const SmallDisk&) = delete;
    SmallDisk& operator=(const SmallDisk&) = delete;

    [[nodiscard]] bool mounted() const { return mounted_; }

private:
    std::string folder_;
    bool mounted_;
};

TEST(Ends, OnAFullDiskWithWhatFittedInTheFile) {
    TR_REQUIRE_ROOT();
    TR_REQUIRE_FILE(tracer_binary());
    const auto folder = TempFolder::make();
    ASSERT_TRUE(folder);
    const SmallDisk disk(folder->path());
    if (!disk.mounted()) GTEST_SKIP() << "no right to mount a tmpfs";
    auto target = endless_flood();
    ASSERT_TRUE(target) << target.error().what;
    ASSERT_TRUE(target->send_line("go"));
    auto arguments = flood_options(*target);
    const std::string path = folder->file("full.fxt");
    arguments.insert(arguments.end(), {"-o", path});
    auto run = TracerRun::start(arguments);
    ASSERT_TRUE(run) << run.error().what;
    const auto result = run->finish();
    ASSERT_TRUE(result) << result.error().what;
    EXPECT_EQ(result->status, (ExitStatus{5, 0})) << result->errors;
    EXPECT_EQ(result->summary.at("ended_by"), "output-failed");
    EXPECT_NE(result->errors.find("No space left on device"), std::string::npos) << result->errors;
    const auto file = load_fxt(path);
    ASSERT_TRUE(file) << file.error().what;
    EXPECT_EQ(file->problem_count, 0u) << file->problems.front();
    EXPECT_EQ(file->truncated_tail_bytes, 0u);
    EXPECT_GT(events_of(*file, "hit").size(), 1000u);
}

TEST(Ends, InAFileOfTheUserBehindSudoAlone) {
    TR_REQUIRE_ROOT();
    TR_REQUIRE_FILE(tracer_binary());
    auto target = start_target("flood");
    ASSERT_TRUE(target) << target.error().what;
    ChildOptions sudo;
    sudo.environment = {{"SUDO_UID", "12345"}, {"SUDO_GID", "23456"}};
    auto recorder = Recorder::start({"--pid", std::to_string(target->pid())}, sudo);
    ASSERT_TRUE(recorder) << recorder.error().what;
    struct stat info {};
    ASSERT_EQ(stat(recorder->path().c_str(), &info), 0);
    EXPECT_EQ(info.st_mode & 07777, 0600u);
    EXPECT_EQ(info.st_uid, 12345u);
    EXPECT_EQ(info.st_gid, 23456u);
    const auto recorded = recorder->stop();
    ASSERT_TRUE(recorded) << recorded.error().what;
    expect_sound(*recorded);
}

std::string semaphores(ChildProcess& target) {
    if (!target.send_line("semaphores")) return "the target is gone";
    const auto line = target.read_json(kLimit);
    return line ? line->at("semaphores").dump() : line.error().what;
}

// Links and maps go with the process that holds them; the kernel takes a moment to do so.
TEST(Ends, ByKillingTheTracerLeavesNothingInTheTarget) {
    TR_REQUIRE_ROOT();
    TR_REQUIRE_FILE(tracer_binary());
    auto target = start_target("usdt_matrix_pie");
    ASSERT_TRUE(target) << target.error().what;
    ASSERT_EQ(changed_text_bytes(target->pid()).value_or(SIZE_MAX), 0u);
    auto recorder =
        Recorder::start({"-e", "usdt:matrix:sem_*", "--pid", std::to_string(target->pid())});
    ASSERT_TRUE(recorder) << recorder.error().what;
    EXPECT_EQ(changed_text_bytes(target->pid()).value_or(0), 5u) << "one breakpoint a site";
    EXPECT_EQ(semaphores(*target), R"({"sem_guarded":1,"sem_never":1,"sem_one":1,"sem_two":2})");
    // The file grows every half a second.
    EXPECT_TRUE(wait_until(Milliseconds(10000), [&] {
        std::error_code error;
        return std::filesystem::file_size(recorder->path(), error) > 0;
    }));
    const auto recorded = recorder->stop(SIGKILL);
    ASSERT_TRUE(recorded) << recorded.error().what;
    EXPECT_EQ(recorded->result.status, (ExitStatus{0, SIGKILL}));
    // What was written by then opens.
    EXPECT_EQ(recorded->file.problem_count, 0u) << recorded->file.problems.front();

    EXPECT_TRUE(wait_until(Milliseconds(10000), [&] {
        return changed_text_bytes(target->pid()).value_or(SIZE_MAX) == 0;
    }));
    EXPECT_EQ(semaphores(*target), R"({"sem_guarded":0,"sem_never":0,"sem_one":0,"sem_two":0})");
    // And it goes on as if nothing had been.
    EXPECT_TRUE(run_target(*target, kLimit));
}

}  // namespace
}  // namespace tracer::test
