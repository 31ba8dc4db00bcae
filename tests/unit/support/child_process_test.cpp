// SPDX-License-Identifier: Apache-2.0
//
// The fixtures that other tests stand on, with programs of the system that do one thing each.
#include "support/fixtures/child_process.h"

#include "support/fixtures/python_recipe.h"
#include "support/fixtures/temp_folder.h"

#include <csignal>
#include <unistd.h>

#include <gtest/gtest.h>

namespace tracer::test {
namespace {

constexpr Milliseconds kLimit{20000};
constexpr Milliseconds kShort{50};

TEST(ChildProcess, EchoesLinesInOrder) {
    auto child = ChildProcess::start({"cat"});
    ASSERT_TRUE(child) << child.error().what;
    ASSERT_TRUE(child->send_line("first"));
    ASSERT_TRUE(child->send_line("second"));
    EXPECT_EQ(child->read_line(kLimit).value_or(""), "first");
    EXPECT_EQ(child->read_line(kLimit).value_or(""), "second");
    child->close_input();
    EXPECT_FALSE(child->read_line(kLimit));  // the end of output, long before the limit
    EXPECT_EQ(child->wait(kLimit).value(), (ExitStatus{0, 0}));
}

TEST(ChildProcess, GivesUpAtTheDeadline) {
    auto child = ChildProcess::start({"cat"});
    ASSERT_TRUE(child);
    const auto line = child->read_line(kShort);
    ASSERT_FALSE(line);
    EXPECT_EQ(line.error().code, ErrorCode::limit);
    EXPECT_EQ(child->wait(kShort).error().code, ErrorCode::limit);
}

TEST(ChildProcess, TellsExitFromSignal) {
    auto exits = ChildProcess::start({"sh", "-c", "exit 7"});
    ASSERT_TRUE(exits);
    EXPECT_EQ(exits->wait(kLimit).value(), (ExitStatus{7, 0}));
    EXPECT_FALSE(exits->send_signal(SIGTERM));

    auto killed = ChildProcess::start({"cat"});
    ASSERT_TRUE(killed);
    ASSERT_TRUE(killed->send_signal(SIGTERM));
    EXPECT_EQ(killed->wait(kLimit).value(), (ExitStatus{0, SIGTERM}));
}

TEST(ChildProcess, RefusesAProgramThatIsNotThere) {
    const auto child = ChildProcess::start({"/no/such/program"});
    ASSERT_FALSE(child);
    EXPECT_EQ(child.error().code, ErrorCode::not_found);
    EXPECT_EQ(child.error().sys_errno, ENOENT);
}

TEST(ChildProcess, SendingToADeadChildIsAnErrorAndNoSignal) {
    auto child = ChildProcess::start({"true"});
    ASSERT_TRUE(child);
    ASSERT_TRUE(child->wait(kLimit));
    EXPECT_FALSE(child->send_line("anyone?"));
}

TEST(ChildProcess, KeepsErrorsApartAndWaitsForThem) {
    auto child = ChildProcess::start({"sh", "-c", "echo out; echo attached >&2; exec cat"});
    ASSERT_TRUE(child);
    ASSERT_TRUE(child->wait_for_errors("attached", kLimit));
    EXPECT_EQ(child->wait_for_errors("never said", kShort).error().code, ErrorCode::limit);
    EXPECT_EQ(child->read_line(kLimit).value_or(""), "out");
    child->close_input();
    ASSERT_TRUE(child->wait(kLimit));
    EXPECT_EQ(child->errors(), "attached\n");
    EXPECT_EQ(child->wait_for_errors("never said", kLimit).error().code, ErrorCode::bad_input);
}

TEST(ChildProcess, DoesNotBlockOnMoreOutputThanAPipeHolds) {
    const auto output =
        run_program({"sh", "-c", "head -c 300000 /dev/zero >&2; head -c 300000 /dev/zero"}, kLimit);
    ASSERT_TRUE(output) << output.error().what;
    EXPECT_EQ(output->size(), 300000u);
}

TEST(ChildProcess, DestructorEndsAndReapsIt) {
    pid_t pid = -1;
    {
        auto child = ChildProcess::start({"cat"});
        ASSERT_TRUE(child);
        pid = child->pid();
        ASSERT_EQ(kill(pid, 0), 0);
    }
    EXPECT_EQ(kill(pid, 0), -1);
    EXPECT_EQ(errno, ESRCH);
}

TEST(ChildProcess, MovingKeepsOneOwner) {
    auto first = ChildProcess::start({"cat"});
    ASSERT_TRUE(first);
    const pid_t pid = first->pid();
    ChildProcess second = std::move(*first);
    EXPECT_EQ(second.pid(), pid);
    ASSERT_TRUE(second.send_line("still here"));
    EXPECT_EQ(second.read_line(kLimit).value_or(""), "still here");
}

TEST(ChildProcess, RunsInAFolderWithAnEnvironment) {
    auto folder = TempFolder::make();
    ASSERT_TRUE(folder);
    ChildOptions options;
    options.folder = folder->path();
    options.environment["TRACER_TEST_WORD"] = "word";
    const auto output = run_program({"sh", "-c", "pwd; echo $TRACER_TEST_WORD"}, kLimit, options);
    ASSERT_TRUE(output);
    EXPECT_EQ(*output, folder->path().string() + "\nword\n");
}

TEST(ChildProcess, SendsErrorsToAFile) {
    auto folder = TempFolder::make();
    ASSERT_TRUE(folder);
    ChildOptions options;
    options.errors_path = folder->file("log");
    ASSERT_TRUE(run_program({"sh", "-c", "echo oops >&2"}, kLimit, options));
    EXPECT_EQ(read_file(options.errors_path).value_or(""), "oops\n");
}

TEST(ChildProcess, RefusesOutputThatIsNotJson) {
    auto child = ChildProcess::start({"sh", "-c", "echo '{\"a\":1}'; echo '{\"a\":'"});
    ASSERT_TRUE(child);
    EXPECT_EQ(child->read_json(kLimit).value(), (nlohmann::json{{"a", 1}}));
    EXPECT_EQ(child->read_json(kLimit).error().code, ErrorCode::bad_input);
}

TEST(RunProgram, ReportsWhatAFailingProgramSaid) {
    const auto output = run_program({"sh", "-c", "echo sorry >&2; exit 3"}, kLimit);
    ASSERT_FALSE(output);
    EXPECT_NE(output.error().what.find("status 3"), std::string::npos);
    EXPECT_NE(output.error().what.find("sorry"), std::string::npos);
}

TEST(TempFolder, IsRemovedWithItsContents) {
    std::string path;
    {
        auto folder = TempFolder::make();
        ASSERT_TRUE(folder);
        path = folder->path();
        ASSERT_TRUE(write_file(folder->file("inside"), "text"));
        EXPECT_EQ(read_file(folder->file("inside")).value_or(""), "text");
    }
    EXPECT_NE(access(path.c_str(), F_OK), 0);
    EXPECT_FALSE(read_file(path + "/inside"));
}

TEST(WaitUntil, SaysWhetherTheConditionHeld) {
    int asked = 0;
    EXPECT_TRUE(wait_until(kLimit, [&] { return ++asked == 3; }));
    EXPECT_EQ(asked, 3);
    EXPECT_FALSE(wait_until(kShort, [] { return false; }));
}

TEST(PythonRecipe, AddsTheCollectionsAtExit) {
    const auto collections = python_collections("ready\n[7, 2, 3]\n");
    ASSERT_TRUE(collections);
    EXPECT_EQ(collections->generation[0], 7u);
    EXPECT_EQ(collections->generation[2], 6u);
    EXPECT_EQ(collections->total(), 15u);
    EXPECT_FALSE(python_collections("no counts"));
    EXPECT_FALSE(python_collections("[1, 2]"));
    EXPECT_FALSE(python_collections("[1, 2, \"x\"]"));
    EXPECT_FALSE(python_collections("[1, 2"));
}

}  // namespace
}  // namespace tracer::test
