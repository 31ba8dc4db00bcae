// SPDX-License-Identifier: Apache-2.0
//
// Programs that fork: nobody dies of being traced, and every task has its names and its end.
#include "root/recording.h"
#include "support/fixtures/requirements.h"
#include "support/fixtures/target_program.h"

#include <gtest/gtest.h>

namespace tracer::test {
namespace {

constexpr Milliseconds kLimit{60000};

TEST(ForkRecorded, ChildrenLiveAndRedZonesStay) {
    TR_REQUIRE_ROOT();
    TR_REQUIRE_FILE(tracer_binary());
    auto target = start_target("fork_server", {"--children", "40", "--hits", "25"});
    ASSERT_TRUE(target) << target.error().what;
    auto recorder =
        Recorder::start({"-e", "usdt:forking:*", "--pid", std::to_string(target->pid()), "--tree"});
    ASSERT_TRUE(recorder) << recorder.error().what;
    const auto lines = run_target(*target, kLimit, 1);
    ASSERT_TRUE(lines) << lines.error().what;
    const auto recorded = recorder->stop();
    ASSERT_TRUE(recorded) << recorded.error().what;
    expect_sound(*recorded);
    expect_nothing_lost(*recorded);

    const nlohmann::json& said = lines->at(0);
    EXPECT_EQ(said.at("killed"), 0);
    EXPECT_EQ(said.at("red_zone_wrong"), 0);
    EXPECT_EQ(said.at("wrong_checksum"), 0);
    const auto pid = static_cast<uint64_t>(target->pid());
    uint64_t in_parent = 0;
    uint64_t in_children = 0;
    for (const FxtEvent* event : events_of(recorded->file, "request")) {
        (event->pid == pid ? in_parent : in_children)++;
    }
    EXPECT_EQ(in_parent, said.at("parent_hits").get<uint64_t>());
    EXPECT_EQ(in_children, said.at("child_hits").get<uint64_t>());
    EXPECT_EQ(events_of(recorded->file, "red_zone").size(),
              said.at("red_zone_hits").get<uint64_t>());
}

TEST(ForkRecorded, WithoutTreeOnlyTheProcessItself) {
    TR_REQUIRE_ROOT();
    TR_REQUIRE_FILE(tracer_binary());
    auto target = start_target("fork_server", {"--children", "5", "--hits", "5"});
    ASSERT_TRUE(target) << target.error().what;
    auto recorder =
        Recorder::start({"-e", "usdt:forking:request", "--pid", std::to_string(target->pid())});
    ASSERT_TRUE(recorder) << recorder.error().what;
    ASSERT_TRUE(run_target(*target, kLimit, 1));
    const auto recorded = recorder->stop();
    ASSERT_TRUE(recorded) << recorded.error().what;
    expect_sound(*recorded);
    EXPECT_EQ(events_of(recorded->file, "request").size(), 5u);
}

// The names that a thread was given, in order, one after another without repeats.
std::vector<std::string> names_of_thread(const FxtFile& file, uint64_t tid) {
    std::vector<std::string> names;
    for (const FxtKernelObject& object : file.objects) {
        if (object.type != 2 || object.koid != tid) continue;
        if (names.empty() || names.back() != object.name) names.emplace_back(object.name);
    }
    return names;
}

// The life events of tasks, counted by the task they are about.
struct Lives {
    std::map<uint64_t, int> forks;            // by child
    std::map<uint64_t, std::string> execs;    // path by tid
    std::map<uint64_t, uint64_t> exit_codes;  // by tid
};

Lives lives_in(const FxtFile& file) {
    Lives lives;
    for (const FxtEvent& event : file.events) {
        if (event.category != "task") continue;
        if (event.name == "fork") {
            lives.forks[integer_argument(file, event, "child_tid").value_or(0)]++;
        } else if (event.name == "exec") {
            const FxtValue* path = file.find(event.arguments, "path");
            if (path != nullptr) lives.execs[event.tid] = to_text(*path);
        } else if (event.name == "exit") {
            EXPECT_FALSE(lives.exit_codes.contains(event.tid)) << "two ends of " << event.tid;
            lives.exit_codes[event.tid] = integer_argument(file, event, "code").value_or(9999);
        }
    }
    return lives;
}

void expect_life_of(const nlohmann::json& task, const Lives& lives, const FxtFile& file) {
    SCOPED_TRACE(task.dump());
    const auto pid = task.at("pid").get<uint64_t>();
    const auto tid = task.at("tid").get<uint64_t>();
    const auto expected = task.at("names").get<std::vector<std::string>>();
    // A task begins with its parent's name, which the program does not print.
    std::vector<std::string> names = names_of_thread(file, tid);
    if (names.size() > expected.size()) names.erase(names.begin());
    EXPECT_EQ(names, expected);
    EXPECT_EQ(lives.forks.count(tid), 1u);
    ASSERT_EQ(lives.exit_codes.count(tid), 1u);
    EXPECT_EQ(lives.exit_codes.at(tid), task.at("exit_code").get<uint64_t>());
    ASSERT_EQ(lives.execs.count(tid), pid == tid ? 1u : 0u);
    if (pid != tid) return;
    const std::string& program = expected.at(1);
    EXPECT_EQ(file.process_name(pid), program);
    EXPECT_TRUE(lives.execs.at(tid).ends_with("/" + program + "\"")) << lives.execs.at(tid);
}

TEST(ChurnRecorded, EveryTaskHasItsNamesItsBirthAndItsEnd) {
    TR_REQUIRE_ROOT();
    TR_REQUIRE_FILE(tracer_binary());
    auto target = start_target("churn", {"--processes", "6", "--threads", "4"});
    ASSERT_TRUE(target) << target.error().what;
    auto recorder = Recorder::start({"--pid", std::to_string(target->pid()), "--tree"});
    ASSERT_TRUE(recorder) << recorder.error().what;
    const auto tasks = run_target(*target, kLimit);
    ASSERT_TRUE(tasks) << tasks.error().what;
    const auto recorded = recorder->stop();
    ASSERT_TRUE(recorded) << recorded.error().what;
    expect_sound(*recorded);
    expect_nothing_lost(*recorded);
    ASSERT_EQ(tasks->size(), 6u * 5u);
    const Lives lives = lives_in(recorded->file);
    EXPECT_EQ(lives.forks.size(), tasks->size());
    EXPECT_EQ(lives.execs.size(), 6u);
    EXPECT_EQ(lives.exit_codes.size(), tasks->size());
    for (const nlohmann::json& task : *tasks) expect_life_of(task, lives, recorded->file);
}

}  // namespace
}  // namespace tracer::test
