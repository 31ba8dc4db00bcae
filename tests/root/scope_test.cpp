// SPDX-License-Identifier: Apache-2.0
//
// Whom a recording is about and what it is asked for: several processes, one thread of one,
// wildcards, and kernel tracepoints, each held against what the programs say.
#include "root/proc_view.h"
#include "root/recording.h"
#include "support/fixtures/requirements.h"
#include "support/fixtures/target_program.h"

#include <set>

#include <gtest/gtest.h>

namespace tracer::test {
namespace {

constexpr Milliseconds kLimit{60000};

TEST(Scope, TracepointArgumentsAreThoseOfTheKernel) {
    TR_REQUIRE_ROOT();
    TR_REQUIRE_FILE(tracer_binary());
    auto target = start_target("churn", {"--processes", "4", "--threads", "2"});
    ASSERT_TRUE(target) << target.error().what;
    auto recorder = Recorder::start(
        {"-e", "t:sched:sched_process_fork", "--pid", std::to_string(target->pid()), "--tree"});
    ASSERT_TRUE(recorder) << recorder.error().what;
    const auto tasks = run_target(*target, kLimit);
    ASSERT_TRUE(tasks) << tasks.error().what;
    const auto recorded = recorder->stop();
    ASSERT_TRUE(recorded) << recorded.error().what;
    expect_sound(*recorded);
    expect_nothing_lost(*recorded);
    std::multiset<uint64_t> expected;
    for (const nlohmann::json& task : *tasks) expected.insert(task.at("tid").get<uint64_t>());
    std::multiset<uint64_t> children;
    for (const FxtEvent* event : events_of(recorded->file, "sched_process_fork")) {
        const FxtFile& file = recorded->file;
        children.insert(integer_argument(file, *event, "child_pid").value_or(0));
        EXPECT_EQ(integer_argument(file, *event, "parent_pid"), event->tid);
        const FxtValue* name = file.find(event->arguments, "child_comm");
        ASSERT_NE(name, nullptr);
        ASSERT_TRUE(std::holds_alternative<std::string_view>(*name)) << to_text(*name);
        EXPECT_TRUE(std::get<std::string_view>(*name).starts_with("churn")) << to_text(*name);
    }
    EXPECT_EQ(children, expected);
}

TEST(Scope, AWildcardTakesEveryFunctionThatFits) {
    TR_REQUIRE_ROOT();
    TR_REQUIRE_FILE(tracer_binary());
    auto target = start_target("call_tree", {"--threads", "2", "--jumps", "7"});
    ASSERT_TRUE(target) << target.error().what;
    auto recorder = Recorder::start({"-e", "u:" + target_path("call_tree") + ":jump_*", "-e",
                                     "u:" + target_path("call_tree") + ":?uter", "--pid",
                                     std::to_string(target->pid())});
    ASSERT_TRUE(recorder) << recorder.error().what;
    const auto lines = run_target(*target, kLimit, 1);
    ASSERT_TRUE(lines) << lines.error().what;
    const auto recorded = recorder->stop();
    ASSERT_TRUE(recorded) << recorded.error().what;
    expect_sound(*recorded);
    expect_nothing_lost(*recorded);
    std::map<std::string, uint64_t> counts;
    for (const FxtEvent& event : recorded->file.events) {
        if (event.category != "task" && event.category != "tracer") {
            counts[std::string(event.name)]++;
        }
    }
    std::map<std::string, uint64_t> expected;
    for (const char* function : {"jump_catch", "jump_over", "jump_leap", "outer"}) {
        expected[function] = lines->at(0).at("calls").at(function).get<uint64_t>();
    }
    EXPECT_EQ(counts, expected);
}

TEST(Scope, TheProcessesNamedAndNoOther) {
    TR_REQUIRE_ROOT();
    TR_REQUIRE_FILE(tracer_binary());
    auto first = start_target("flood", {"--hits", "100"});
    auto second = start_target("flood", {"--hits", "200"});
    auto other = start_target("flood", {"--hits", "300"});
    ASSERT_TRUE(first && second && other);
    auto recorder = Recorder::start({"-e", "usdt:flood:hit", "--pid", std::to_string(first->pid()),
                                     "--pid", std::to_string(second->pid())});
    ASSERT_TRUE(recorder) << recorder.error().what;
    for (ChildProcess* target : {&*first, &*second, &*other}) {
        ASSERT_TRUE(run_target(*target, kLimit, 1));
    }
    const auto recorded = recorder->stop();
    ASSERT_TRUE(recorded) << recorded.error().what;
    expect_sound(*recorded);
    expect_nothing_lost(*recorded);
    std::map<uint64_t, uint64_t> hits;
    for (const FxtEvent* event : events_of(recorded->file, "hit")) hits[event->pid]++;
    const std::map<uint64_t, uint64_t> expected{{static_cast<uint64_t>(first->pid()), 100},
                                                {static_cast<uint64_t>(second->pid()), 200}};
    EXPECT_EQ(hits, expected);
}

// The threads already run when the tracer comes, so the first hits of the one are not there; from
// the first recorded to its last all are.
TEST(Scope, OneThreadOfAProcess) {
    TR_REQUIRE_ROOT();
    TR_REQUIRE_FILE(tracer_binary());
    constexpr uint64_t kHitsOfEach = 3000;
    auto target = start_target(
        "flood", {"--hits", std::to_string(2 * kHitsOfEach), "--threads", "2", "--rate", "1000"});
    ASSERT_TRUE(target) << target.error().what;
    ASSERT_TRUE(target->send_line("go"));
    ASSERT_TRUE(wait_until(kLimit, [&] { return threads_of(target->pid()).size() == 3; }));
    std::vector<pid_t> threads = threads_of(target->pid());
    std::erase(threads, target->pid());
    const pid_t wanted = threads.at(0);
    auto recorder = Recorder::start({"-e", "usdt:flood:hit", "--pid", std::to_string(wanted)});
    ASSERT_TRUE(recorder) << recorder.error().what;
    const auto recorded = recorder->finish();  // the thread's end, the process lives on
    ASSERT_TRUE(recorded) << recorded.error().what;
    expect_sound(*recorded);
    expect_nothing_lost(*recorded);
    EXPECT_EQ(recorded->result.summary.at("ended_by"), "targets-ended");
    const auto tid = static_cast<uint64_t>(wanted);
    const auto hits = events_of(recorded->file, "hit");
    ASSERT_GT(hits.size(), 0u);
    const uint64_t first = integer_argument(recorded->file, *hits.front(), "arg0").value_or(0);
    EXPECT_EQ(hits.size(), kHitsOfEach - first);
    for (size_t i = 0; i < hits.size(); i++) {
        ASSERT_EQ(hits[i]->tid, tid);
        ASSERT_EQ(integer_argument(recorded->file, *hits[i], "arg0"), first + i);
    }
    for (const FxtSwitch& record : recorded->file.switches) {
        EXPECT_TRUE(record.out_tid == tid || record.in_tid == tid)
            << record.out_tid << " -> " << record.in_tid;
    }
}

}  // namespace
}  // namespace tracer::test
