// SPDX-License-Identifier: Apache-2.0
//
// The pack of C++ exceptions against a program that counts its own by type, with the runtime as a
// library, linked in, and linked in without its notes.
#include "root/pack_script.h"
#include "support/fixtures/requirements.h"
#include "support/fixtures/target_program.h"

#include <gtest/gtest.h>

namespace tracer::test {
namespace {

constexpr Milliseconds kLimit{60000};

using Counts = std::map<std::string, uint64_t>;

Counts instants(const FxtFile& file, const nlohmann::json& counts, std::string_view prefix) {
    return counts_behind(file, counts.at("pid"), prefix, FxtEventType::instant);
}

// Each type by its name in the source; what came through an exception_ptr is thrown again there.
void expect_exceptions(const FxtFile& file, const nlohmann::json& counts) {
    EXPECT_EQ(instants(file, counts, "throw "), counts_of(counts.at("thrown")));
    EXPECT_EQ(instants(file, counts, "catch "), counts_of(counts.at("caught")));
    Counts again = counts_of(counts.at("rethrown"));
    for (const auto& [type, count] : counts_of(counts.at("passed_on"))) again[type] += count;
    EXPECT_EQ(instants(file, counts, "rethrow "), again);
}

class PackCxx : public testing::TestWithParam<const char*> {};

TEST_P(PackCxx, ExceptionsOfARunningProgramAreItsOwn) {
    TR_REQUIRE_ROOT();
    const auto script = record_running_script({target_path(GetParam())});
    ASSERT_TRUE(script) << script.error().what;
    expect_sound(script->recorded);
    expect_nothing_lost(script->recorded);
    expect_exceptions(script->recorded.file, script->counts);
}

TEST_P(PackCxx, ExceptionsFromTheFirstInstructionAreItsOwn) {
    TR_REQUIRE_ROOT();
    const auto script = record_started_script({target_path(GetParam())});
    ASSERT_TRUE(script) << script.error().what;
    expect_sound(script->recorded);
    expect_nothing_lost(script->recorded);
    expect_exceptions(script->recorded.file, script->counts);
}

INSTANTIATE_TEST_SUITE_P(Runtimes,
                         PackCxx,
                         testing::Values("pack_cxx", "pack_cxx_runtime", "pack_cxx_static"),
                         [](const auto& each) { return std::string(each.param); });

TEST(PackCxxWithoutNotes, ExceptionsAreFoundByTheFunctionsOfTheAbi) {
    TR_REQUIRE_ROOT();
    const auto script = record_running_script({target_path("pack_cxx_bare")});
    ASSERT_TRUE(script) << script.error().what;
    expect_sound(script->recorded);
    const FxtFile& file = script->recorded.file;
    const nlohmann::json& counts = script->counts;
    EXPECT_EQ(instants(file, counts, "throw "), counts_of(counts.at("thrown")));
    EXPECT_EQ(instants(file, counts, "catch "), counts_of(counts.at("caught")));
    // The function knows no type.
    uint64_t rethrown = 0;
    for (const auto& [type, count] : counts_of(counts.at("rethrown"))) rethrown += count;
    EXPECT_EQ(instants(file, counts, "rethrow")[""], rethrown);
}

TEST(PackCxxPrograms, AtOnceKeepTheirExceptionsApart) {
    TR_REQUIRE_ROOT();
    auto first = start_command({target_path("pack_cxx")});
    ASSERT_TRUE(first) << first.error().what;
    auto second = start_command({target_path("pack_cxx_static")});
    ASSERT_TRUE(second) << second.error().what;
    auto unasked = start_command({target_path("pack_cxx")});
    ASSERT_TRUE(unasked) << unasked.error().what;
    auto recorder = Recorder::start(
        {"--pid", std::to_string(first->pid()) + "," + std::to_string(second->pid())});
    ASSERT_TRUE(recorder) << recorder.error().what;
    std::vector<nlohmann::json> counts;
    for (ChildProcess* program : {&*first, &*second, &*unasked}) {
        auto lines = run_target(*program, kLimit, 1);
        ASSERT_TRUE(lines) << lines.error().what;
        counts.push_back(std::move(lines->at(0)));
    }
    const auto recorded = recorder->stop();
    ASSERT_TRUE(recorded) << recorded.error().what;
    expect_sound(*recorded);
    expect_nothing_lost(*recorded);
    expect_exceptions(recorded->file, counts[0]);
    expect_exceptions(recorded->file, counts[1]);
    EXPECT_EQ(instants(recorded->file, counts[2], ""), Counts{});
}

}  // namespace
}  // namespace tracer::test
