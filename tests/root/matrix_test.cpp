// SPDX-License-Identifier: Apache-2.0
//
// Every operand form and size of USDT arguments, against what the program itself says it passed.
#include "root/expected_hits.h"
#include "root/recording.h"
#include "support/fixtures/requirements.h"
#include "support/fixtures/target_program.h"

#include <gtest/gtest.h>

namespace tracer::test {
namespace {

constexpr Milliseconds kLimit{60000};

// Pointers that are read as strings; every other probe is typed by its note.
const std::vector<std::string> kStrings{
    "str_short(arg0:str)",
    "str_empty(arg0:str)",
    "str_255(arg0:str)",
    "str_256(arg0:str)",
    "str_300(arg0:str)",
    "str_utf8(arg0:str)",
    "str_array(arg0:str)",
    "str_untouched(arg0:str)",
    "str_page_end(arg0:str)",
    "str_null(arg0:str)",
    "str_invalid(arg0:str, arg1:str)",
    "str_two(arg0:str, arg1, arg2:str)",
    ("str_twelve(arg0:str, arg1:str, arg2:str, arg3:str, arg4:str, arg5:str, arg6:str, arg7:str, "
     "arg8:str, arg9:str, arg10:str, arg11:str)")};

const std::vector<std::string> kByNote{
    "reg_*",      "mem_*",      "rip_*",      "tls_*",        "absolute_*", "constants", "floats",
    "unreadable", "bad_memory", "many_sites", "uneven_sites", "args_*",     "types",     "sem_*"};

std::vector<std::string> probe_options(const std::string& variant) {
    std::vector<std::string> options;
    const auto add = [&](const std::string& probe) {
        options.insert(options.end(), {"-e", "usdt:matrix:" + probe});
    };
    for (const std::string& probe : kStrings) add(probe);
    for (const std::string& probe : kByNote) {
        // What the user names must be there, and a PIE has no absolute operands.
        if (probe == "absolute_*" && variant == "usdt_matrix_pie") continue;
        add(probe);
    }
    return options;
}

class MatrixRecorded : public testing::TestWithParam<std::string> {};

TEST_P(MatrixRecorded, EveryArgumentAndCountIsThatOfTheProgram) {
    TR_REQUIRE_ROOT();
    TR_REQUIRE_FILE(tracer_binary());
    auto target = start_target(GetParam(), {"--hits", "5"});
    ASSERT_TRUE(target) << target.error().what;
    std::vector<std::string> arguments = probe_options(GetParam());
    arguments.insert(arguments.end(), {"--pid", std::to_string(target->pid())});
    auto recorder = Recorder::start(arguments);
    ASSERT_TRUE(recorder) << recorder.error().what;
    const auto passed = run_target(*target, kLimit);
    ASSERT_TRUE(passed) << passed.error().what;
    const auto recorded = recorder->stop();
    ASSERT_TRUE(recorded) << recorded.error().what;
    expect_sound(*recorded);
    expect_nothing_lost(*recorded);

    expect_hits(recorded->file, "matrix", *passed);
}

TEST_P(MatrixRecorded, SemaphoresRiseOnceASiteAndFallBack) {
    TR_REQUIRE_ROOT();
    TR_REQUIRE_FILE(tracer_binary());
    const auto semaphores = [](ChildProcess& target) -> nlohmann::json {
        if (!target.send_line("semaphores")) return {};
        return target.read_json(kLimit).value_or(nlohmann::json{});
    };
    auto target = start_target(GetParam());
    ASSERT_TRUE(target) << target.error().what;
    auto recorder =
        Recorder::start({"-e", "usdt:matrix:sem_*", "--pid", std::to_string(target->pid())});
    ASSERT_TRUE(recorder) << recorder.error().what;
    EXPECT_EQ(semaphores(*target), nlohmann::json::parse(R"({"semaphores":
        {"sem_one":1,"sem_two":2,"sem_guarded":1,"sem_never":1}})"));
    const auto recorded = recorder->stop();
    ASSERT_TRUE(recorded) << recorded.error().what;
    expect_sound(*recorded);
    EXPECT_EQ(semaphores(*target), nlohmann::json::parse(R"({"semaphores":
        {"sem_one":0,"sem_two":0,"sem_guarded":0,"sem_never":0}})"));
}

INSTANTIATE_TEST_SUITE_P(Variants,
                         MatrixRecorded,
                         testing::Values("usdt_matrix_pie",
                                         "usdt_matrix_nopie",
                                         "usdt_matrix_static"),
                         [](const auto& variant) { return variant.param; });

}  // namespace
}  // namespace tracer::test
