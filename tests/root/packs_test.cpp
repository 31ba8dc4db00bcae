// SPDX-License-Identifier: Apache-2.0
//
// Packs of the tests' own on programs that count their hits: recognised whenever they begin to run,
// armed as far as they were asked for, and told of in the summary.
#include "root/pack_script.h"
#include "root/recording.h"
#include "support/fixtures/requirements.h"
#include "support/fixtures/target_program.h"

#include <filesystem>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tracer::test {
namespace {

using ::testing::HasSubstr;

constexpr Milliseconds kLimit{60000};
constexpr uint64_t kHits = 300;

constexpr std::string_view kPack = R"([pack]
name = "flood"
runtime = "the flood"
version = 1
about = "its hits"
process_title = "flood: *"
[[match]]
provider = "flood"
[[probe]]
name = "hit"
about = "one hit"
stability = "stable"
probe = ['usdt:flood:strike', 'usdt:flood:hit(counter=arg0:s32, thread=arg1:u32)']
[[probe]]
name = "function"
about = "one call"
level = "more"
stability = "internal"
probe = 'u:@:flood_function(counter=arg0:s32)'
[[probe]]
name = "wave"
about = "one wave"
stability = "stable"
probe = 'usdt:flood:wave'
without = "waves need flood 2"
[[probe]]
name = "paced"
about = "hits of a paced flood"
stability = "stable"
probe = 'usdt:flood:hit(paced=arg0:s32) as "paced hit"'
requires_argument = ["--rate"]
)";

class Packs : public testing::Test {
protected:
    void SetUp() override {
        TR_REQUIRE_ROOT();
        TR_REQUIRE_FILE(tracer_binary());
        auto folder = TempFolder::make();
        ASSERT_TRUE(folder);
        folder_.emplace(std::move(*folder));
        ASSERT_TRUE(write_file(folder_->file("flood.toml"), kPack));
    }

    // With the pack of the test, whatever else runs on the machine.
    [[nodiscard]] std::vector<std::string> with_pack(std::vector<std::string> more) const {
        std::vector<std::string> arguments{"--no-sched", "--pack", folder_->file("flood.toml"),
                                           "--packs", "flood"};
        arguments.insert(arguments.end(), more.begin(), more.end());
        return arguments;
    }

    [[nodiscard]] static Result<ChildProcess> start_flood(std::vector<std::string> more = {}) {
        std::vector<std::string> arguments{"--hits", std::to_string(kHits)};
        arguments.insert(arguments.end(), more.begin(), more.end());
        return start_target("flood", arguments);
    }

    // Lets the targets run to their end, and the recording to its.
    [[nodiscard]] static Recorded finish(Result<Recorder>& recorder,
                                         const std::vector<ChildProcess*>& targets) {
        if (!recorder) {
            ADD_FAILURE() << recorder.error().what;
            return {};
        }
        for (ChildProcess* target : targets) EXPECT_TRUE(run_target(*target, kLimit, 1));
        auto recorded = recorder->stop();
        if (!recorded) {
            ADD_FAILURE() << recorded.error().what;
            return {};
        }
        expect_sound(*recorded);
        expect_nothing_lost(*recorded);
        return std::move(*recorded);
    }

    static uint64_t hits_of(const FxtFile& file, const ChildProcess& target) {
        uint64_t count = 0;
        for (const FxtEvent* event : events_of(file, "hit")) {
            if (event->pid == static_cast<uint64_t>(target.pid())) ++count;
        }
        return count;
    }

    static std::string status_of(const Recorded& recorded, std::string_view probe) {
        const auto row = packed_probe(recorded.result.summary, "flood", probe);
        return row.is_object() ? row.value("status", "") : "no row";
    }

    std::optional<TempFolder> folder_;
};

TEST_F(Packs, ARunningProcessIsRecognised) {
    auto target = start_flood();
    ASSERT_TRUE(target);
    auto recorder = Recorder::start(with_pack({"--pid", std::to_string(target->pid())}));
    ASSERT_TRUE(recorder) << recorder.error().what;
    EXPECT_THAT(recorder->process().errors(), HasSubstr("flood recognised in "));
    const Recorded recorded = finish(recorder, {&*target});
    EXPECT_EQ(hits_of(recorded.file, *target), kHits);
    const auto& summary = recorded.result.summary;
    ASSERT_EQ(summary.at("packs").size(), 1u);
    EXPECT_EQ(summary.at("packs")[0].at("pack"), "flood");
    EXPECT_EQ(summary.at("packs")[0].at("runtime"), "the flood");
    EXPECT_EQ(summary.at("packs")[0].at("file"), target_path("flood"));
    const auto hit = packed_probe(summary, "flood", "hit");
    EXPECT_EQ(hit.at("status"), "armed");
    EXPECT_EQ(hit.at("sites"), 1);
    EXPECT_EQ(hit.at("spec"), "usdt:flood:hit(counter=arg0:s32, thread=arg1:u32)");
    EXPECT_EQ(status_of(recorded, "function"), "off");
    EXPECT_EQ(status_of(recorded, "wave"), "missing");
    EXPECT_EQ(packed_probe(summary, "flood", "wave").at("reason"), "waves need flood 2");
    EXPECT_EQ(status_of(recorded, "paced"), "silent");
    const auto row = probe_row(summary, hit.at("spec").get<std::string>());
    ASSERT_TRUE(row.is_object());
    EXPECT_EQ(row.at("hits"), kHits);
    EXPECT_EQ(row.at("pack"), "flood/hit");
}

TEST_F(Packs, ALevelHoldsThoseBeforeIt) {
    auto target = start_flood({"--function", "--rate", "100000"});
    ASSERT_TRUE(target);
    auto recorder =
        Recorder::start(with_pack({"--level", "more", "--pid", std::to_string(target->pid())}));
    const Recorded recorded = finish(recorder, {&*target});
    EXPECT_EQ(status_of(recorded, "hit"), "armed");
    EXPECT_EQ(status_of(recorded, "paced"), "armed");
    EXPECT_EQ(status_of(recorded, "function"), "armed");
    EXPECT_EQ(events_of(recorded.file, "flood_function").size(), kHits);
    const auto spec = packed_probe(recorded.result.summary, "flood", "function").at("spec");
    EXPECT_EQ(spec, "u:" + target_path("flood") + ":flood_function(counter=arg0:s32)");
}

TEST_F(Packs, SeveralProcessesOfOneFileAndTheWholeMachine) {
    auto first = start_flood();
    auto second = start_flood();
    ASSERT_TRUE(first && second);
    auto recorder = Recorder::start(with_pack({"-a"}));
    auto third = start_flood();
    ASSERT_TRUE(third);
    const Recorded recorded = finish(recorder, {&*first, &*second, &*third});
    for (const ChildProcess* target : {&*first, &*second, &*third}) {
        EXPECT_EQ(hits_of(recorded.file, *target), kHits);
    }
    EXPECT_EQ(recorded.result.summary.at("packs").size(), 1u);
}

// A probe of the user's and one of the pack's on one place, each with its own name and arguments.
TEST_F(Packs, WhatTheUserNamedIsRecordedBesideThePacks) {
    auto target = start_flood();
    ASSERT_TRUE(target);
    const std::string own = "usdt:flood:hit(mine=arg0:s32) as \"my hit\"";
    auto recorder = Recorder::start(with_pack({"-e", own, "--pid", std::to_string(target->pid())}));
    const Recorded recorded = finish(recorder, {&*target});
    EXPECT_EQ(hits_of(recorded.file, *target), kHits);
    EXPECT_EQ(events_of(recorded.file, "my hit").size(), kHits);
    const auto row = probe_row(recorded.result.summary, own);
    ASSERT_TRUE(row.is_object());
    EXPECT_FALSE(row.contains("pack"));
}

// Both enter and return at one stack pointer.
TEST_F(Packs, ASpanOfTheUsersAndThePacksOnOneFunctionNest) {
    const std::string pack = folder_->file("calls.toml");
    ASSERT_TRUE(write_file(pack, R"([pack]
name = "calls"
runtime = "the flood"
version = 1
about = "its calls"
[[match]]
provider = "flood"
[[probe]]
name = "call"
about = "one call"
stability = "internal"
probe = 'span:@:flood_function(counter=arg0:s32) as "pack call"'
)"));
    auto target = start_flood({"--function"});
    ASSERT_TRUE(target);
    const std::string own = "span:" + target_path("flood") + ":flood_function";
    auto recorder = Recorder::start({"--no-sched", "--pack", pack, "--packs", "calls", "-e", own,
                                     "--pid", std::to_string(target->pid())});
    const Recorded recorded = finish(recorder, {&*target});
    const auto& rows = recorded.result.summary.at("durations");
    ASSERT_EQ(rows.size(), 2u) << rows;
    for (const auto& row : rows) {
        EXPECT_EQ(row.at("ends").at("returned"), kHits) << row;
        EXPECT_EQ(row.at("orphan_ends"), 0) << row;
    }
}

// The kernel refuses a semaphore where another tool holds the place without: of a pack that costs
// the one probe, of the user's the run.
TEST_F(Packs, APlaceThatAnotherToolHoldsIsLeftOut) {
    const std::string pack = folder_->file("matrix.toml");
    ASSERT_TRUE(write_file(pack, R"([pack]
name = "matrix"
runtime = "the matrix"
version = 1
about = "its probes"
[[match]]
provider = "matrix"
[[probe]]
name = "one"
about = "held"
stability = "stable"
probe = 'usdt:matrix:sem_one'
[[probe]]
name = "two"
about = "free"
stability = "stable"
probe = 'usdt:matrix:sem_two'
)"));
    auto target = start_target("usdt_matrix_pie");
    ASSERT_TRUE(target) << target.error().what;
    const std::string program = target_path("usdt_matrix_pie");
    const auto explained = run_tracer({"explain", "-e", "usdt:" + program + ":matrix:sem_one"});
    ASSERT_TRUE(explained);
    constexpr std::string_view kAddress = "address ";
    const size_t at = explained->output.find(kAddress);
    ASSERT_NE(at, std::string::npos) << explained->output;
    const size_t begin = at + kAddress.size();
    const std::string address =
        explained->output.substr(begin, explained->output.find_first_of(" \n", begin) - begin);
    const std::string pid = std::to_string(target->pid());
    auto holder = Recorder::start(
        {"--no-sched", "--no-packs", "-e", "u:" + program + ":" + address, "--pid", pid});
    ASSERT_TRUE(holder) << holder.error().what;
    auto recorder =
        Recorder::start({"--no-sched", "--pack", pack, "--packs", "matrix", "--pid", pid});
    ASSERT_TRUE(recorder) << recorder.error().what;
    const auto refused = run_tracer({"--no-packs", "-e", "usdt:matrix:sem_one", "--pid", pid});
    ASSERT_TRUE(refused);
    EXPECT_NE(refused->status, ExitStatus{});
    const auto recorded = recorder->stop();
    ASSERT_TRUE(recorded) << recorded.error().what;
    const auto& summary = recorded->result.summary;
    const auto held = packed_probe(summary, "matrix", "one");
    EXPECT_EQ(held.at("status"), "refused");
    EXPECT_THAT(held.at("reason").get<std::string>(), HasSubstr("another tool may hold"));
    EXPECT_EQ(packed_probe(summary, "matrix", "two").at("status"), "armed");
    EXPECT_TRUE(holder->stop());
}

TEST_F(Packs, WhatTheUserNamedStillFailsAlone) {
    auto target = start_flood();
    ASSERT_TRUE(target);
    const auto refused =
        run_tracer(with_pack({"-e", "usdt:flood:wave", "--pid", std::to_string(target->pid())}));
    ASSERT_TRUE(refused);
    EXPECT_EQ(refused->status.code, 4);
    EXPECT_THAT(refused->errors, HasSubstr("flood:wave"));
}

TEST_F(Packs, ACommandFromItsFirstHit) {
    auto recorder =
        Recorder::start(with_pack({"--", target_path("flood"), "--hits", std::to_string(kHits)}));
    ASSERT_TRUE(recorder) << recorder.error().what;
    ASSERT_TRUE(recorder->process().send_line("go"));
    recorder->process().close_input();
    const auto recorded = recorder->finish();
    ASSERT_TRUE(recorded) << recorded.error().what;
    expect_sound(*recorded);
    EXPECT_EQ(events_of(recorded->file, "hit").size(), kHits);
    EXPECT_EQ(recorded->result.summary.at("armed_late").at("files"), 0);
}

// The program is run for the first time during the recording, and waits for its line until the test
// has read that it is ready; by then it is armed or soon will be, so its hits are paced.
TEST_F(Packs, AProgramThatIsRunLater) {
    const std::string script = "exec " + target_path("flood") + " --rate 1000 --hits 1500";
    auto recorder = Recorder::start(with_pack({"--", "/bin/sh", "-c", script}));
    ASSERT_TRUE(recorder) << recorder.error().what;
    ASSERT_TRUE(recorder->process().send_line("go"));
    recorder->process().close_input();
    const auto recorded = recorder->finish();
    ASSERT_TRUE(recorded) << recorded.error().what;
    expect_sound(*recorded);
    EXPECT_GT(events_of(recorded->file, "hit").size(), 0u);
    EXPECT_GT(events_of(recorded->file, "paced hit").size(), 0u);
    EXPECT_EQ(recorded->result.summary.at("armed_late").at("files"), 1);
    EXPECT_EQ(status_of(*recorded, "hit"), "armed");
    EXPECT_EQ(status_of(*recorded, "paced"), "armed");
    EXPECT_EQ(events_of(recorded->file, "probes armed").size(), 1u);
}

TEST_F(Packs, ALibraryThatIsLoadedLater) {
    const std::string pack = folder_->file("late.toml");
    ASSERT_TRUE(write_file(pack, R"([pack]
name = "late"
runtime = "the library"
version = 1
about = "its hits"
[[match]]
soname = "liblate_*"
[[probe]]
name = "hit"
about = "one hit"
stability = "stable"
probe = 'usdt:@:late:hit(n=arg0)'
)"));
    auto target =
        start_target("late_loader", {target_path("liblate_library.so"), "--hits", "1500"});
    ASSERT_TRUE(target);
    auto recorder = Recorder::start(
        {"--no-sched", "--pack", pack, "--packs", "late", "--pid", std::to_string(target->pid())});
    const Recorded recorded = finish(recorder, {&*target});
    EXPECT_GT(events_of(recorded.file, "hit").size(), 0u);
    const auto row = packed_probe(recorded.result.summary, "late", "hit");
    ASSERT_TRUE(row.is_object());
    EXPECT_EQ(row.at("status"), "armed");
}

TEST_F(Packs, TheUsersFolderReplacesAndNoPacksTurnsOff) {
    namespace fs = std::filesystem;
    const std::string packs = folder_->file("config/tracer/packs");
    fs::create_directories(packs);
    fs::copy_file(folder_->file("flood.toml"), packs + "/flood.toml");
    ChildOptions options;
    options.environment["XDG_CONFIG_HOME"] = folder_->file("config");
    for (const bool is_off : {false, true}) {
        auto target = start_flood();
        ASSERT_TRUE(target);
        std::vector<std::string> arguments{"--no-sched", "--pid", std::to_string(target->pid())};
        if (is_off) arguments.emplace_back("--no-packs");
        auto recorder = Recorder::start(arguments, options);
        const Recorded recorded = finish(recorder, {&*target});
        EXPECT_EQ(hits_of(recorded.file, *target), is_off ? 0 : kHits);
        EXPECT_EQ(status_of(recorded, "hit"), is_off ? "no row" : "armed");
    }
}

TEST_F(Packs, ProcessesAreNamedByTheirCommandLine) {
    const std::string script =
        fmt::format("exec -a 'flood: worker 7' {} --hits {}", target_path("flood"), kHits);
    auto target = ChildProcess::start({"/bin/bash", "-c", script});
    ASSERT_TRUE(target);
    ASSERT_TRUE(target->read_json(kLimit)) << target->errors();
    auto recorder = Recorder::start(with_pack({"--pid", std::to_string(target->pid())}));
    const Recorded recorded = finish(recorder, {&*target});
    bool is_named = false;
    for (const FxtKernelObject& object : recorded.file.objects) {
        if (object.koid == static_cast<uint64_t>(target->pid()) && object.name == "worker 7") {
            is_named = true;
        }
    }
    EXPECT_TRUE(is_named);
}

TEST_F(Packs, TheCommandSaysWhatWouldBeArmedAndAttachesNothing) {
    auto target = start_flood();
    ASSERT_TRUE(target);
    const std::string pack = folder_->file("flood.toml");
    const std::string pid = std::to_string(target->pid());
    const auto told = run_tracer({"packs", "flood", "--pack", pack, "--pid", pid});
    ASSERT_TRUE(told);
    EXPECT_EQ(told->status, ExitStatus{}) << told->errors;
    EXPECT_THAT(told->output, HasSubstr("would be armed, 1 site"));
    EXPECT_THAT(told->output, HasSubstr("missing: waves need flood 2"));
    EXPECT_THAT(told->output, HasSubstr("--level more arms it"));
    EXPECT_THAT(told->output, HasSubstr("started with --rate"));
    // Neither is a pack that does not fit silence, nor one that there is not.
    EXPECT_EQ(run_tracer({"packs", "python", "--pid", pid})->status.code, 4);
    EXPECT_NE(run_tracer({"packs", "pythn"})->errors.find("python"), std::string::npos);
    EXPECT_EQ(run_tracer({"--packs", "pythn", "--pid", pid})->status.code, 4);
}

}  // namespace
}  // namespace tracer::test
