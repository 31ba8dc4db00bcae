// SPDX-License-Identifier: Apache-2.0
//
// What users do beside the plain case: name a place twice, probe a whole library, look into or out
// of a container, close a stream, interrupt before all is attached.
#include "root/recording.h"
#include "support/fixtures/requirements.h"
#include "support/fixtures/target_program.h"
#include "support/fixtures/temp_folder.h"

#include <csignal>
#include <filesystem>
#include <fstream>

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace tracer::test {
namespace {

constexpr Milliseconds kLimit{60000};

TEST(Edges, APlaceNamedTwiceIsRecordedOnce) {
    TR_REQUIRE_ROOT();
    TR_REQUIRE_FILE(tracer_binary());
    auto target = start_target("flood", {"--hits", "100"});
    ASSERT_TRUE(target) << target.error().what;
    auto recorder = Recorder::start({"--pid", std::to_string(target->pid()), "-e", "usdt:flood:*",
                                     "-e", "usdt:flood:hit(n=arg0)", "-e",
                                     "usdt:" + target_path("flood") + ":flood:hit"});
    ASSERT_TRUE(recorder) << recorder.error().what;
    ASSERT_TRUE(run_target(*target, kLimit, 1));
    const auto recorded = recorder->stop();
    ASSERT_TRUE(recorded) << recorded.error().what;
    expect_sound(*recorded);
    const auto hits = events_of(recorded->file, "hit");
    ASSERT_EQ(hits.size(), 100u);
    EXPECT_EQ(integer_argument(recorded->file, *hits[7], "n"), 7u);
    EXPECT_EQ(probe_row(recorded->result.summary, "usdt:flood:hit(n=arg0)").value("hits", 0), 100);
}

// One line for each reason, however many places it has.
void expect_few_lines_of_what_is_left_out(const Recorded& recorded) {
    size_t lines = 0;
    for (const auto& warning : recorded.result.summary.at("warnings")) {
        if (warning.get<std::string>().find("left out") != std::string::npos) ++lines;
    }
    EXPECT_LE(lines, 5u);
}

TEST(Edges, AWholeLibraryIsProbedButForWhatTheKernelRefuses) {
    TR_REQUIRE_ROOT();
    TR_REQUIRE_FILE(tracer_binary());
    auto target = start_target("flood", {"--hits", "10"});
    ASSERT_TRUE(target) << target.error().what;
    auto recorder =
        Recorder::start({"--pid", std::to_string(target->pid()), "-e", "u:libc.so.6:*"});
    ASSERT_TRUE(recorder) << recorder.error().what;
    const auto results = run_target(*target, kLimit, 1);
    ASSERT_TRUE(results) << results.error().what;
    EXPECT_EQ(results->front().at("hits"), 10);
    EXPECT_EQ(results->front().at("threads").at(0).at("hits"), 10);
    ASSERT_TRUE(target->send_line("end"));
    const auto status = target->wait(kLimit);
    ASSERT_TRUE(status);
    EXPECT_EQ(*status, (ExitStatus{0, 0})) << target->errors();
    const auto recorded = recorder->finish();
    ASSERT_TRUE(recorded) << recorded.error().what;
    expect_sound(*recorded);
    EXPECT_FALSE(count_by_name(recorded->file, "libc.so.6").empty());
    expect_few_lines_of_what_is_left_out(*recorded);
}

std::string text_of(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

TEST(Edges, ProgramsDoTheSameWithTheirWholeLibraryProbed) {
    TR_REQUIRE_ROOT();
    TR_REQUIRE_FILE(tracer_binary());
    const std::string library = "/lib/x86_64-linux-gnu/libc.so.6";
    TR_REQUIRE_FILE(library);
    const auto folder = TempFolder::make();
    ASSERT_TRUE(folder);
    // A libc of their own, or every program of the machine would be stepped through it.
    const std::string copy = folder->file("libc.so.6");
    std::filesystem::copy_file(library, copy);
    // Leaving a subshell by exit or by an error is a longjmp of the shell's.
    const std::string work =
        "(ls -l /usr /usr/lib | sort -k5 -n | awk '{ printf \"%s %5.2f\\n\", $9, $5 / 3 }' "
        "| sed 's/[aeiou]/_/g' | tr a-m A-M | grep -v '^$'; "
        "(exit 3); echo $?; (: ${none?}) 2> /dev/null; echo $?) > \"$0\"";
    const auto run_into = [&](const std::string& path) -> std::vector<std::string> {
        return {
            "/usr/bin/env", "LD_LIBRARY_PATH=" + folder->path().string(), "sh", "-c", work, path};
    };
    const std::string before = folder->file("before");
    ASSERT_TRUE(run_program(run_into(before), kLimit));
    ASSERT_GT(text_of(before).size(), 100u);
    for (const std::string kind : {"u", "span"}) {
        std::vector<std::string> arguments = {"--no-sched", "-e",
                                              fmt::format("{}:{}:*", kind, copy), "--"};
        const std::string probed = folder->file(kind);
        for (const auto& argument : run_into(probed)) arguments.push_back(argument);
        auto recorder = Recorder::start(arguments);
        ASSERT_TRUE(recorder) << recorder.error().what;
        const auto recorded = recorder->finish();
        ASSERT_TRUE(recorded) << recorded.error().what;
        expect_sound(*recorded);
        EXPECT_GT(recorded->result.summary.value("events", 0), 10000) << kind;
        expect_few_lines_of_what_is_left_out(*recorded);
        EXPECT_EQ(text_of(probed), text_of(before)) << kind;
    }
}

TEST(Edges, EveryFirstInstructionRunsAsWithoutAProbe) {
    TR_REQUIRE_ROOT();
    TR_REQUIRE_FILE(tracer_binary());
    auto target = start_target("first_steps");
    ASSERT_TRUE(target) << target.error().what;
    auto recorder =
        Recorder::start({"--pid", std::to_string(target->pid()), "-e", "u:first_steps:step_*"});
    ASSERT_TRUE(recorder) << recorder.error().what;
    const auto results = run_target(*target, kLimit, 1);
    ASSERT_TRUE(results) << results.error().what;
    EXPECT_EQ(results->front().at("wrong"), nlohmann::json::array());
    const auto recorded = recorder->stop();
    ASSERT_TRUE(recorded) << recorded.error().what;
    expect_sound(*recorded);
    if (results->front().at("functions") == 0) GTEST_SKIP() << "the CPU lacks AVX2, FMA or BMI";
    auto hits = count_by_name(recorded->file, "first_steps");
    for (const char* name : {"step_push", "step_move", "step_load_vector", "step_call", "step_jump",
                             "step_xor_float", "step_fused_213", "step_and_not"}) {
        EXPECT_EQ(hits[name], 1u) << name;
    }
    for (const char* name : {"step_broadcast", "step_less", "step_store", "step_save_flags"}) {
        EXPECT_EQ(hits.count(name), 0u) << name;
    }
    expect_few_lines_of_what_is_left_out(*recorded);
}

// The first child of a process, as our own namespace numbers it.
std::string child_of(pid_t pid) {
    std::string child;
    const auto id = std::to_string(pid);
    std::ifstream("/proc/" + id + "/task/" + id + "/children") >> child;
    return child;
}

TEST(Edges, AProcessInAContainerIsRecordedFromOutside) {
    TR_REQUIRE_ROOT();
    TR_REQUIRE_FILE(tracer_binary());
    TR_REQUIRE_FILE("/usr/bin/unshare");
    const std::string copy = "/mnt/flood_in_the_container";
    auto target = ChildProcess::start(
        {"/usr/bin/unshare", "--pid", "--mount", "--fork", "--mount-proc", "--kill-child", "sh",
         "-c", "mount -t tmpfs none /mnt && cp \"$0\" " + copy + " && exec " + copy + " --hits 100",
         target_path("flood")});
    ASSERT_TRUE(target) << target.error().what;
    ASSERT_TRUE(target->read_json(kLimit)) << target->errors();
    ASSERT_FALSE(std::filesystem::exists(copy));
    const std::string pid = child_of(target->pid());
    auto recorder = Recorder::start(
        {"--pid", pid, "-e", "usdt:" + copy + ":flood:hit", "-e", "u:" + copy + ":flood_usdt"});
    ASSERT_TRUE(recorder) << recorder.error().what;
    ASSERT_TRUE(target->send_line("go"));
    ASSERT_TRUE(target->read_json(kLimit));
    const auto recorded = recorder->stop();
    ASSERT_TRUE(recorded) << recorded.error().what;
    expect_sound(*recorded);
    EXPECT_EQ(events_of(recorded->file, "hit").size(), 100u);
    EXPECT_GT(events_of(recorded->file, "flood_usdt").size(), 0u);
}

TEST(Edges, WithinAContainerRecordingIsRefusedByName) {
    TR_REQUIRE_ROOT();
    TR_REQUIRE_FILE(tracer_binary());
    TR_REQUIRE_FILE("/usr/bin/unshare");
    auto run = ChildProcess::start({"/usr/bin/unshare", "--pid", "--fork", "--mount-proc",
                                    "--kill-child", tracer_binary(), "-d", "1s", "--pid", "1"});
    ASSERT_TRUE(run) << run.error().what;
    const auto status = run->wait(kLimit);
    ASSERT_TRUE(status);
    // Process 1 is the tracer itself there.
    EXPECT_EQ(status->code, 2) << run->errors();
    run = ChildProcess::start({"/usr/bin/unshare", "--pid", "--fork", "--mount-proc",
                               "--kill-child", tracer_binary(), "-a", "-d", "1s"});
    ASSERT_TRUE(run) << run.error().what;
    EXPECT_EQ(run->wait(kLimit).value_or(ExitStatus{}).code, 3) << run->errors();
    EXPECT_NE(run->errors().find("hint: run tracer outside"), std::string::npos) << run->errors();
}

TEST(Edges, ClosedStreamsNeverReachTheTrace) {
    TR_REQUIRE_ROOT();
    TR_REQUIRE_FILE(tracer_binary());
    const auto folder = TempFolder::make();
    ASSERT_TRUE(folder);
    const std::string path = folder->file("quiet.fxt");
    const auto run = run_program(
        {"sh", "-c", "exec \"$0\" -a -d 200ms -o \"$1\" <&- >&- 2>&-", tracer_binary(), path},
        kLimit);
    ASSERT_TRUE(run) << run.error().what;
    std::ifstream file(path, std::ios::binary);
    const std::string bytes{std::istreambuf_iterator<char>(file), {}};
    const auto trace = parse_fxt(std::as_bytes(std::span(bytes.data(), bytes.size())));
    EXPECT_EQ(trace.problem_count, 0u);
    EXPECT_EQ(bytes.find("recording to"), std::string::npos);

    auto piped =
        ChildProcess::start({"sh", "-c", "exec \"$0\" -a -d 200ms -o - >&-", tracer_binary()});
    ASSERT_TRUE(piped) << piped.error().what;
    EXPECT_EQ(piped->wait(kLimit).value_or(ExitStatus{}).code, 5);
    EXPECT_NE(piped->errors().find("standard output is closed"), std::string::npos);
}

TEST(Edges, AFullStandardOutputIsAnErrorOfItsOwn) {
    TR_REQUIRE_ROOT();
    TR_REQUIRE_FILE(tracer_binary());
    for (const std::string arguments : {"list /proc/self/exe", "doctor", "--help"}) {
        auto run = ChildProcess::start(
            {"sh", "-c", "exec \"$0\" " + arguments + " > /dev/full", tracer_binary()});
        ASSERT_TRUE(run) << run.error().what;
        EXPECT_EQ(run->wait(kLimit).value_or(ExitStatus{}), (ExitStatus{5, 0})) << arguments;
        EXPECT_NE(run->errors().find("write standard output"), std::string::npos) << arguments;
    }
}

class EdgesInterrupted : public testing::TestWithParam<int> {};

TEST_P(EdgesInterrupted, WhileAttachingLeavesNoFileAndSaysSoByItsStatus) {
    TR_REQUIRE_ROOT();
    TR_REQUIRE_FILE(tracer_binary());
    const auto folder = TempFolder::make();
    ASSERT_TRUE(folder);
    const std::string path = folder->file("none.fxt");
    auto target = start_target("flood");
    ASSERT_TRUE(target) << target.error().what;
    // A perf event for each of some thousand places takes minutes; ^C is heard all the same.
    auto run = TracerRun::start({"--force-perf-links", "--pid", std::to_string(target->pid()), "-e",
                                 "u:libc.so.6:*", "-o", path});
    ASSERT_TRUE(run) << run.error().what;
    ASSERT_TRUE(wait_until(kLimit, [&] { return std::filesystem::exists(path); }));
    const auto result = run->stop(GetParam());
    ASSERT_TRUE(result) << result.error().what;
    EXPECT_EQ(result->status, (ExitStatus{128 + GetParam(), 0})) << result->errors;
    EXPECT_NE(result->errors.find(std::string("interrupted by SIG") + sigabbrev_np(GetParam())),
              std::string::npos)
        << result->errors;
    EXPECT_FALSE(std::filesystem::exists(path));
}

INSTANTIATE_TEST_SUITE_P(Signals,
                         EdgesInterrupted,
                         testing::Values(SIGINT, SIGTERM, SIGHUP),
                         [](const auto& signal) {
                             return std::string("SIG") + sigabbrev_np(signal.param);
                         });

}  // namespace
}  // namespace tracer::test
