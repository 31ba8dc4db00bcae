// SPDX-License-Identifier: Apache-2.0
//
// CPython 3.11 as Debian ships it: garbage collections and imports, counted by the interpreter too.
#include "root/recording.h"
#include "support/fixtures/python_recipe.h"
#include "support/fixtures/requirements.h"

#include <gtest/gtest.h>

namespace tracer::test {
namespace {

constexpr Milliseconds kLimit{60000};

const std::vector<std::string> kProbes{"-e", "usdt:python:gc__*", "-e",
                                       "usdt:python:import__find__load__*"};

void expect_collections(const FxtFile& file, const PythonCollections& collections) {
    std::map<uint64_t, uint64_t> by_generation;
    for (const FxtEvent* event : events_of(file, "gc__start")) {
        const FxtValue* generation = file.find(event->arguments, "arg0");
        ASSERT_NE(generation, nullptr);
        for (uint64_t i = 0; i < 3; i++) {
            if (same_value(*generation, i, false)) by_generation[i]++;
        }
    }
    for (uint64_t i = 0; i < 3; i++) {
        EXPECT_EQ(by_generation[i], collections.generation[i]) << "generation " << i;
    }
    EXPECT_EQ(events_of(file, "gc__done").size(), collections.total());
}

TEST(PythonRecorded, CollectionsOfALiveProcessAreThoseItCounts) {
    TR_REQUIRE_ROOT();
    TR_REQUIRE_FILE(kPython);
    TR_REQUIRE_FILE(tracer_binary());
    const auto folder = TempFolder::make();
    ASSERT_TRUE(folder);
    const auto script = write_python_recipe(*folder, true);
    ASSERT_TRUE(script);
    auto python = ChildProcess::start(python_command(*script));
    ASSERT_TRUE(python) << python.error().what;
    ASSERT_EQ(python->read_line(kLimit).value_or(""), "ready");
    std::vector<std::string> arguments = kProbes;
    arguments.insert(arguments.end(), {"--pid", std::to_string(python->pid())});
    auto recorder = Recorder::start(arguments);
    ASSERT_TRUE(recorder) << recorder.error().what;
    ASSERT_TRUE(python->send_line("go"));
    ASSERT_EQ(python->wait(kLimit).value_or(ExitStatus{-1, 0}), ExitStatus{});
    const auto recorded = recorder->finish();  // the target's end is the recording's
    ASSERT_TRUE(recorded) << recorded.error().what;
    expect_sound(*recorded);
    expect_nothing_lost(*recorded);
    // Collections from before the tracer came are in the interpreter's counts, not in ours.
    const auto collections = python_collections(python->output());
    ASSERT_TRUE(collections) << collections.error().what;
    const auto starts = events_of(recorded->file, "gc__start").size();
    EXPECT_EQ(starts, events_of(recorded->file, "gc__done").size());
    EXPECT_LE(starts, collections->total());
    EXPECT_GE(starts, 6u + 3u);  // those of the script and those at exit
}

TEST(PythonRecorded, CollectionsAndImportsFromTheFirstInstruction) {
    TR_REQUIRE_ROOT();
    TR_REQUIRE_FILE(kPython);
    TR_REQUIRE_FILE(tracer_binary());
    const auto folder = TempFolder::make();
    ASSERT_TRUE(folder);
    const auto script = write_python_recipe(*folder, false);
    ASSERT_TRUE(script);
    std::vector<std::string> arguments = kProbes;
    arguments.emplace_back("--");
    const auto command = python_command(*script);
    arguments.insert(arguments.end(), command.begin(), command.end());
    auto recorder = Recorder::start(arguments);
    ASSERT_TRUE(recorder) << recorder.error().what;
    const auto recorded = recorder->finish();
    ASSERT_TRUE(recorded) << recorded.error().what;
    expect_sound(*recorded);
    expect_nothing_lost(*recorded);
    const auto collections = python_collections(recorded->result.output);
    ASSERT_TRUE(collections) << collections.error().what;
    expect_collections(recorded->file, *collections);
    const size_t imports = events_of(recorded->file, "import__find__load__start").size();
    EXPECT_GT(imports, 10u);  // sys, codecs, io, site's own: 16 on Debian 12
    EXPECT_EQ(imports, events_of(recorded->file, "import__find__load__done").size());
}

}  // namespace
}  // namespace tracer::test
