// SPDX-License-Identifier: Apache-2.0
//
// The same program recorded in different ways says the same: to a file, through a pipe, as a raw
// capture that is converted, by many links or one.
#include "root/recording.h"
#include "support/fixtures/requirements.h"
#include "support/fixtures/target_program.h"

#include <gtest/gtest.h>

namespace tracer::test {
namespace {

constexpr Milliseconds kLimit{60000};

const std::vector<std::string> kFunctions{"fib", "outer", "middle", "inner"};

std::vector<std::string> span_options(const ChildProcess& target) {
    std::vector<std::string> options{"--pid", std::to_string(target.pid())};
    for (const std::string& function : kFunctions) {
        options.insert(options.end(), {"-e", "span:" + target_path("call_tree") + ":" + function});
    }
    return options;
}

void expect_calls(const FxtFile& file, const nlohmann::json& said) {
    for (const std::string& function : kFunctions) {
        const auto calls = said.at("calls").at(function).get<uint64_t>();
        EXPECT_EQ(events_of(file, function, FxtEventType::duration_begin).size(), calls)
            << function;
        EXPECT_EQ(events_of(file, function, FxtEventType::duration_end).size(), calls) << function;
    }
}

std::span<const std::byte> bytes_of(const std::string& text) {
    return std::as_bytes(std::span(text.data(), text.size()));
}

TEST(OutputsAgree, APipeHoldsWhatAFileWould) {
    TR_REQUIRE_ROOT();
    TR_REQUIRE_FILE(tracer_binary());
    auto target = start_target("call_tree");
    ASSERT_TRUE(target) << target.error().what;
    auto arguments = span_options(*target);
    arguments.insert(arguments.end(), {"-o", "-"});
    auto run = TracerRun::start(arguments);
    ASSERT_TRUE(run) << run.error().what;
    ASSERT_TRUE(run->wait_until_recording());
    const auto lines = run_target(*target, kLimit, 1);
    ASSERT_TRUE(lines) << lines.error().what;
    auto result = run->stop();
    ASSERT_TRUE(result) << result.error().what;
    const std::string piped = result->output;
    const Recorded recorded{std::move(*result), parse_fxt(bytes_of(piped))};
    expect_sound(recorded);
    expect_nothing_lost(recorded);
    EXPECT_EQ(recorded.result.summary.at("output").at("bytes"), piped.size());
    expect_calls(recorded.file, lines->at(0));
}

TEST(OutputsAgree, ACaptureConvertedHoldsWhatAFileWould) {
    TR_REQUIRE_ROOT();
    TR_REQUIRE_FILE(tracer_binary());
    auto target = start_target("call_tree");
    ASSERT_TRUE(target) << target.error().what;
    auto recorder = Recorder::start_capture(span_options(*target));
    ASSERT_TRUE(recorder) << recorder.error().what;
    const auto lines = run_target(*target, kLimit, 1);
    ASSERT_TRUE(lines) << lines.error().what;
    const auto recorded = recorder->stop();
    ASSERT_TRUE(recorded) << recorded.error().what;
    expect_sound(*recorded);
    expect_nothing_lost(*recorded);
    expect_calls(recorded->file, lines->at(0));

    // Converted to a pipe it is the same, byte for byte, and so is every number of the summary.
    const std::string trace = recorder->path() + ".fxt";
    const auto to_file = run_tracer({"convert", "--json", recorder->path(), "-o", trace});
    const auto to_pipe = run_tracer({"convert", "--json", recorder->path(), "-o", "-"});
    ASSERT_TRUE(to_file && to_pipe);
    EXPECT_EQ(to_pipe->status, ExitStatus{}) << to_pipe->errors;
    EXPECT_EQ(read_file(trace).value_or(""), to_pipe->output);
    EXPECT_EQ(to_file->summary.at("probes"), recorded->result.summary.at("probes"));
    EXPECT_EQ(to_file->summary.at("loss"), recorded->result.summary.at("loss"));
    EXPECT_TRUE(to_file->summary.value("agree", false));
}

TEST(OutputsAgree, ALinkForEachSiteCountsAsOneForAll) {
    TR_REQUIRE_ROOT();
    TR_REQUIRE_FILE(tracer_binary());
    auto target = start_target("call_tree");
    ASSERT_TRUE(target) << target.error().what;
    auto arguments = span_options(*target);
    arguments.emplace_back("--force-perf-links");
    auto recorder = Recorder::start(arguments);
    ASSERT_TRUE(recorder) << recorder.error().what;
    const auto lines = run_target(*target, kLimit, 1);
    ASSERT_TRUE(lines) << lines.error().what;
    const auto recorded = recorder->stop();
    ASSERT_TRUE(recorded) << recorded.error().what;
    expect_sound(*recorded);
    expect_nothing_lost(*recorded);
    expect_calls(recorded->file, lines->at(0));
}

}  // namespace
}  // namespace tracer::test
