// SPDX-License-Identifier: Apache-2.0
//
// What the traced programs say of themselves must be right before a trace is compared with it.
// Nothing is attached here.
#include "support/fixtures/target_program.h"

#include <map>
#include <numeric>

#include <gtest/gtest.h>

namespace tracer::test {
namespace {

constexpr Milliseconds kLimit{30000};

class Matrix : public testing::TestWithParam<std::string> {};

TEST_P(Matrix, LogsEveryProbeWithItsArguments) {
    auto target = start_target(GetParam(), {"--hits", "2"});
    ASSERT_TRUE(target) << target.error().what;
    const auto results = run_target(*target, kLimit);
    ASSERT_TRUE(results) << results.error().what;
    std::map<std::string, nlohmann::json> probes;
    for (const nlohmann::json& line : *results) {
        EXPECT_TRUE(probes.emplace(line.at("probe"), line).second) << line;
        EXPECT_EQ(line.at("args").size(), line.at("hits").get<size_t>()) << line;
    }
    EXPECT_EQ(probes.at("reg_rax").at("hits"), 2);
    EXPECT_EQ(probes.at("many_sites").at("hits"), 8);
    EXPECT_EQ(
        probes.at("constants").at("args").at(0),
        nlohmann::json::parse("[-5,7,0,81985529216486895,18446744073709551615,200,-1,65535,"
                              "-32768,4000000000,-9223372036854775808,18446744073709551615]"));
    EXPECT_EQ(probes.at("args_12").at("args").at(1).size(), 12u);
    EXPECT_EQ(probes.at("str_300").at("args").at(0).at(0).get<std::string>().size(), 300u);
    EXPECT_TRUE(probes.at("str_null").at("args").at(0).at(0).is_null());
    EXPECT_FALSE(probes.contains("sem_guarded"));  // nobody raised its semaphore
    EXPECT_EQ(probes.contains("absolute_symbol"), GetParam() != "usdt_matrix_pie");
}

TEST_P(Matrix, ReportsItsSemaphoresAndEndsWithItsInput) {
    auto target = start_target(GetParam());
    ASSERT_TRUE(target);
    ASSERT_TRUE(target->send_line("semaphores"));
    const auto line = target->read_json(kLimit);
    ASSERT_TRUE(line);
    EXPECT_EQ(*line, nlohmann::json::parse(R"({"semaphores":{"sem_one":0,"sem_two":0,
                                               "sem_guarded":0,"sem_never":0}})"));
    target->close_input();
    EXPECT_EQ(target->wait(kLimit).value(), ExitStatus{});
}

INSTANTIATE_TEST_SUITE_P(Variants,
                         Matrix,
                         testing::Values("usdt_matrix_pie",
                                         "usdt_matrix_nopie",
                                         "usdt_matrix_static"),
                         [](const auto& variant) { return variant.param; });

TEST(ForkServer, LosesNothingUntraced) {
    auto target = start_target("fork_server", {"--children", "5", "--hits", "4"});
    ASSERT_TRUE(target);
    const auto results = run_target(*target, kLimit, 1);
    ASSERT_TRUE(results) << results.error().what;
    EXPECT_EQ(results->at(0),
              nlohmann::json::parse(R"({"parent_hits":5,"child_hits":20,"red_zone_hits":25,
                  "red_zone_wrong":0,"killed":0,"wrong_checksum":0,"children":5})"));
}

TEST(CallTree, CountsAreThoseOfTheFormulas) {
    auto target = start_target("call_tree",
                               {"--fib", "10", "--deep", "50", "--jumps", "7", "--threads", "2"});
    ASSERT_TRUE(target);
    const auto results = run_target(*target, kLimit, 1);
    ASSERT_TRUE(results) << results.error().what;
    const nlohmann::json& line = results->at(0);
    EXPECT_EQ(line.at("calls").at("fib"), 2 * 177);  // 2 fib(11) - 1 calls for fib(10)
    EXPECT_EQ(line.at("calls").at("deep"), 2 * 50);
    EXPECT_EQ(line.at("calls").at("inner"), 2 * 15);
    EXPECT_EQ(line.at("calls").at("jump_leap"), 2 * 7);
    EXPECT_EQ(line.at("returns").at("jump_leap"), 0);
    EXPECT_EQ(line.at("returns").at("jump_catch"), 2 * 7);
    EXPECT_EQ(line.at("depth").at("fib"), 10);
    EXPECT_EQ(line.at("depth").at("deep"), 50);
}

TEST(Flood, SplitsExactlyTheHitsAskedFor) {
    for (const char* kind : {"--pin", "--function", "--neither"}) {
        auto target = start_target("flood", {"--hits", "1001", "--threads", "2", kind});
        ASSERT_TRUE(target);
        const auto results = run_target(*target, kLimit, 1);
        ASSERT_TRUE(results) << results.error().what;
        EXPECT_EQ(results->at(0).at("hits"), 1001);
        EXPECT_EQ(results->at(0).at("threads").at(0).at("hits"), 501);
        EXPECT_EQ(results->at(0).at("threads").at(1).at("hits"), 500);
    }
}

TEST(Flood, KeepsTheRate) {
    auto target = start_target("flood", {"--hits", "200", "--rate", "2000"});
    ASSERT_TRUE(target);
    const auto results = run_target(*target, kLimit, 1);
    ASSERT_TRUE(results) << results.error().what;
    // The last two of 200 are due after 99 ms; slower is no fault on a busy machine.
    EXPECT_GE(results->at(0).at("wall_ns").get<uint64_t>(), 90'000'000u);
}

TEST(Churn, TellsEveryTask) {
    auto target = start_target("churn", {"--processes", "2", "--threads", "2"});
    ASSERT_TRUE(target);
    const auto results = run_target(*target, kLimit);
    ASSERT_TRUE(results) << results.error().what;
    ASSERT_EQ(results->size(), 6u);  // two processes of one main and two other threads
    const nlohmann::json& last = results->back();
    EXPECT_EQ(last.at("names"), nlohmann::json::parse(R"(["churn_p1","churn_x1","churn_r1"])"));
    EXPECT_EQ(last.at("exit_code"), 11);
    EXPECT_EQ(results->at(1).at("names"), nlohmann::json::parse(R"(["churn_p0","churn_t0_1"])"));
}

TEST(PingPong, SwitchesAtLeastTwiceARound) {
    for (const char* kind : {"--processes", "--threads"}) {
        auto target = start_target("pingpong", {"--rounds", "500", kind});
        ASSERT_TRUE(target);
        const auto results = run_target(*target, kLimit);
        ASSERT_TRUE(results) << results.error().what;
        ASSERT_EQ(results->size(), 2u);
        uint64_t switches = 0;
        for (const nlohmann::json& player : *results) {
            EXPECT_EQ(player.at("rounds"), 500);
            switches +=
                player.at("voluntary").get<uint64_t>() + player.at("involuntary").get<uint64_t>();
        }
        EXPECT_GE(switches, 990u);  // the last balls may be caught without waiting
    }
}

TEST(DemoServer, AnswersEveryRequestItStarted) {
    auto server =
        ChildProcess::start({target_path("tracer_demo_server"), "--report", "--seconds", "1"});
    ASSERT_TRUE(server);
    ASSERT_TRUE(server->read_json(kLimit));
    const auto counts = server->read_json(kLimit);
    ASSERT_TRUE(counts) << counts.error().what;
    EXPECT_GT(counts->at("request__start"), 10);
    EXPECT_EQ(counts->at("request__start"), counts->at("request__done"));
    EXPECT_EQ(counts->at("request__start"), counts->at("queue__depth"));
    EXPECT_EQ(server->wait(kLimit).value(), ExitStatus{});
}

TEST(DemoServer, SaysNothingUnlessAsked) {
    const auto output = run_program({target_path("tracer_demo_server"), "--seconds", "1"}, kLimit);
    ASSERT_TRUE(output) << output.error().what;
    EXPECT_EQ(*output, "");
}

}  // namespace
}  // namespace tracer::test
