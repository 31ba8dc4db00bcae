// SPDX-License-Identifier: Apache-2.0
//
// The generated matrix: operand forms x sizes x signs x 0 to 12 arguments x sites x semaphores, by
// two compilers at two levels in three kinds of program, against what each program says it passed.
#include "root/expected_hits.h"
#include "root/recording.h"
#include "support/fixtures/requirements.h"
#include "support/fixtures/target_program.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace tracer::test {
namespace {

constexpr Milliseconds kLimit{60000};
constexpr size_t kHits = 3;
// Fewer probes than this, and the generator has lost a part of the matrix.
constexpr size_t kProbesMin = 480;
constexpr size_t kSemaphoresMin = 150;

class GeneratedMatrix : public testing::TestWithParam<std::string> {};

// The lines up to {"end":true} that answer "semaphores".
std::vector<nlohmann::json> semaphores_of(ChildProcess& target) {
    std::vector<nlohmann::json> semaphores;
    if (!target.send_line("semaphores")) return semaphores;
    while (true) {
        auto line = target.read_json(kLimit);
        if (!line || line->contains("end")) return semaphores;
        semaphores.push_back(std::move(*line));
    }
}

TEST_P(GeneratedMatrix, EveryValueCountAndSemaphoreIsThatOfTheProgram) {
    TR_REQUIRE_ROOT();
    TR_REQUIRE_FILE(tracer_binary());
    TR_REQUIRE_FILE(target_path(GetParam()));
    auto target = start_target(GetParam(), {"--hits", std::to_string(kHits)});
    ASSERT_TRUE(target) << target.error().what;
    auto recorder =
        Recorder::start({"-e", "usdt:generated:*", "--pid", std::to_string(target->pid())});
    ASSERT_TRUE(recorder) << recorder.error().what;
    const auto raised = semaphores_of(*target);
    EXPECT_GE(raised.size(), kSemaphoresMin);
    for (const auto& semaphore : raised) {
        EXPECT_EQ(semaphore.at("value"), semaphore.at("sites")) << semaphore;
    }
    const auto passed = run_target(*target, kLimit);
    ASSERT_TRUE(passed) << passed.error().what;
    const auto recorded = recorder->stop();
    ASSERT_TRUE(recorded) << recorded.error().what;
    expect_sound(*recorded);
    expect_nothing_lost(*recorded);
    EXPECT_GE(passed->size(), kProbesMin);
    for (const auto& probe : *passed) EXPECT_EQ(probe.at("hits").get<size_t>() % kHits, 0u);
    expect_hits(recorded->file, "generated", *passed);
    const auto fallen = semaphores_of(*target);
    EXPECT_EQ(fallen.size(), raised.size());
    for (const auto& semaphore : fallen) EXPECT_EQ(semaphore.at("value"), 0) << semaphore;
}

std::vector<std::string> variants() {
    std::vector<std::string> names;
    for (const auto* compiler : {"gcc", "clang"}) {
        for (const auto* level : {"O0", "O2"}) {
            for (const auto* kind : {"pie", "nopie", "static"}) {
                names.push_back(fmt::format("generated_{}_{}_{}", compiler, level, kind));
            }
        }
    }
    return names;
}

INSTANTIATE_TEST_SUITE_P(Variants,
                         GeneratedMatrix,
                         testing::ValuesIn(variants()),
                         [](const auto& variant) { return variant.param; });

}  // namespace
}  // namespace tracer::test
