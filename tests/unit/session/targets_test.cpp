// SPDX-License-Identifier: Apache-2.0
#include "session/targets.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <unistd.h>

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace tracer {
namespace {

// A /proc of a few files.
class TargetsTest : public testing::Test {
protected:
    void SetUp() override {
        root_ = testing::TempDir() + fmt::format("tracer-targets-{}", getpid());
        std::filesystem::remove_all(root_);
    }
    void TearDown() override { std::filesystem::remove_all(root_); }

    void add_task(uint32_t id,
                  uint32_t tgid,
                  uint32_t parent,
                  const std::string& name,
                  uint32_t flags = 0x400000) {
        const std::string folder = fmt::format("{}/{}", root_, id);
        std::filesystem::create_directories(folder);
        std::ofstream(folder + "/status") << "Name:\t" << name << "\nUmask:\t0022\nTgid:\t" << tgid
                                          << "\nPid:\t" << id << "\nPPid:\t" << parent << "\n";
        std::ofstream(folder + "/stat")
            << id << " (" << name << ") S " << parent << " 1 1 0 -1 " << flags << " 0 0\n";
    }

    Result<Targets> resolve(std::vector<uint32_t> ids, bool tree = false) {
        return resolve_targets({.ids = std::move(ids), .with_children = tree, .own_pid = 99},
                               root_);
    }

    std::string root_;
};

TEST_F(TargetsTest, TakesSeveralProcessesOnce) {
    add_task(10, 10, 1, "first");
    add_task(20, 20, 1, "second");
    const auto targets = resolve({10, 20, 10});
    ASSERT_TRUE(targets);
    EXPECT_EQ(targets->pids, (std::vector<uint32_t>{10, 20}));
    EXPECT_TRUE(targets->threads.empty());
    EXPECT_EQ(targets->name, "first");
}

TEST_F(TargetsTest, ReadsTheArgumentsOfAProcess) {
    add_task(10, 10, 1, "app");
    EXPECT_TRUE(read_arguments(10, root_).empty());
    const std::string file = root_ + "/10/cmdline";
    std::ofstream(file) << std::string("app\0\0two words\0", 15);
    EXPECT_EQ(read_arguments(10, root_), (std::vector<std::string>{"app", "", "two words"}));
    std::ofstream(file) << "wiped and written over";
    EXPECT_EQ(read_arguments(10, root_), (std::vector<std::string>{"wiped and written over"}));
    std::ofstream(file) << std::string(5000, 'x') << '\0';
    EXPECT_EQ(read_arguments(10, root_), (std::vector<std::string>{std::string(4096, 'x')}));
}

TEST_F(TargetsTest, TakesAThreadIdAsThatThreadAlone) {
    add_task(11, 10, 1, "worker");
    const auto targets = resolve({11});
    ASSERT_TRUE(targets);
    EXPECT_TRUE(targets->pids.empty());
    ASSERT_EQ(targets->threads.size(), 1u);
    EXPECT_EQ(targets->threads[0].tid, 11u);
    EXPECT_EQ(targets->threads[0].pid, 10u);
    EXPECT_EQ(targets->processes(), std::vector<uint32_t>{10});
}

TEST_F(TargetsTest, RefusesAnIdThatDoesNotExist) {
    const auto targets = resolve({12345});
    ASSERT_FALSE(targets);
    EXPECT_EQ(targets.error().code, ErrorCode::not_found);
    EXPECT_NE(targets.error().what.find("12345"), std::string::npos);
    EXPECT_FALSE(targets.error().hint.empty());
}

TEST_F(TargetsTest, RefusesAKernelThread) {
    add_task(30, 30, 2, "kworker/0:1", 0x4208060);
    const auto targets = resolve({30});
    ASSERT_FALSE(targets);
    EXPECT_EQ(targets.error().code, ErrorCode::usage);
    EXPECT_NE(targets.error().what.find("kernel thread"), std::string::npos);
}

TEST_F(TargetsTest, RefusesTheTracerItselfByAnyOfItsThreads) {
    add_task(99, 99, 1, "tracer");
    add_task(100, 99, 1, "tracer-drain");
    EXPECT_FALSE(resolve({99}));
    EXPECT_FALSE(resolve({100}));
}

TEST_F(TargetsTest, TakesAProcessWhoseNameLooksLikeFields) {
    add_task(40, 40, 1, "a) S 2 (b");
    const auto targets = resolve({40});
    ASSERT_TRUE(targets);
    EXPECT_EQ(targets->name, "a) S 2 (b");
}

TEST_F(TargetsTest, TreeFindsChildrenOfChildrenButNotTheTracer) {
    add_task(10, 10, 1, "shell");
    add_task(20, 20, 10, "child");
    add_task(30, 30, 20, "grandchild");
    add_task(99, 99, 10, "tracer");
    add_task(50, 50, 1, "other");
    auto targets = resolve({10}, true);
    ASSERT_TRUE(targets);
    std::ranges::sort(targets->pids);
    EXPECT_EQ(targets->pids, (std::vector<uint32_t>{10, 20, 30}));
}

TEST_F(TargetsTest, TruncatedStatusIsAnErrorNotPidZero) {
    const std::string folder = root_ + "/60";
    std::filesystem::create_directories(folder);
    std::ofstream(folder + "/status") << "Name:\tx\nTg";
    EXPECT_FALSE(resolve({60}));
}

TEST_F(TargetsTest, FindsAThreadByItsOwnNameForItself) {
    const auto add_thread = [this](uint32_t tid, const char* ids) {
        const std::string folder = fmt::format("{}/10/task/{}", root_, tid);
        std::filesystem::create_directories(folder);
        std::ofstream(folder + "/status") << "Name:\tapp\nNSpid:\t" << ids << "\n";
    };
    add_thread(10, "10\t1");
    add_thread(12, "12\t7");
    EXPECT_EQ(find_thread_of(10, 1, root_), 10U);
    EXPECT_EQ(find_thread_of(10, 7, root_), 12U);
    EXPECT_EQ(find_thread_of(10, 12, root_), 0U);
    EXPECT_EQ(find_thread_of(11, 7, root_), 0U);
}

TEST(Targets, ReadsThisProcessFromTheRealProc) {
    const auto own = read_task_status(static_cast<uint32_t>(getpid()));
    ASSERT_TRUE(own);
    EXPECT_EQ(own->tgid, static_cast<uint32_t>(getpid()));
    EXPECT_EQ(own->parent_pid, static_cast<uint32_t>(getppid()));
    EXPECT_FALSE(own->is_kernel_thread);
}

}  // namespace
}  // namespace tracer
