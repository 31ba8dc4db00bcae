// SPDX-License-Identifier: Apache-2.0
#include "session/child_process.h"

#include "unit/session/wait_until.h"

#include <csignal>
#include <filesystem>
#include <fstream>
#include <unistd.h>

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace tracer {
namespace {

class ChildProcessTest : public testing::Test {
protected:
    void SetUp() override {
        folder_ = testing::TempDir() + fmt::format("tracer-child-{}", getpid());
        std::filesystem::create_directories(folder_);
        marker_ = folder_ + "/marker";
    }
    void TearDown() override { std::filesystem::remove_all(folder_); }

    std::string folder_;
    std::string marker_;
};

TEST_F(ChildProcessTest, RunsNothingBeforeItIsReleased) {
    auto child = ChildProcess::start({"sh", "-c", "echo x > " + marker_});
    ASSERT_TRUE(child);
    EXPECT_FALSE(std::filesystem::exists(marker_));
    EXPECT_TRUE(child->reap().empty());
    ASSERT_TRUE(child->release());
    std::string end;
    EXPECT_TRUE(test::wait_until([&] { return !(end = child->reap()).empty(); }));
    EXPECT_EQ(end, "exited with status 0");
    EXPECT_TRUE(std::filesystem::exists(marker_));
}

TEST_F(ChildProcessTest, EndsUnstartedWhenItIsGivenUp) {
    pid_t pid = 0;
    {
        auto child = ChildProcess::start({"sh", "-c", "echo x > " + marker_});
        ASSERT_TRUE(child);
        pid = static_cast<pid_t>(child->pid());
    }
    EXPECT_FALSE(std::filesystem::exists(marker_));
    EXPECT_EQ(kill(pid, 0), -1);
}

TEST_F(ChildProcessTest, RefusesAProgramThatIsNowhere) {
    const auto child = ChildProcess::start({"tracer-no-such-program"});
    ASSERT_FALSE(child);
    EXPECT_EQ(child.error().code, ErrorCode::not_found);
}

TEST_F(ChildProcessTest, ReportsAFailedExecWithItsCause) {
    const std::string script = folder_ + "/script";
    std::ofstream(script) << "#!/no/such/interpreter\n";
    std::filesystem::permissions(script, std::filesystem::perms::owner_all);
    auto child = ChildProcess::start({script});
    ASSERT_TRUE(child);
    const auto released = child->release();
    ASSERT_FALSE(released);
    EXPECT_EQ(released.error().sys_errno, ENOENT);
    EXPECT_FALSE(released.error().hint.empty());
}

TEST_F(ChildProcessTest, StartsWithAllSignalsOpen) {
    sigset_t all;
    sigset_t before;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &before);
    auto child = ChildProcess::start({"sh", "-c", "grep SigBlk /proc/self/status > " + marker_});
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
    ASSERT_TRUE(child);
    ASSERT_TRUE(child->release());
    ASSERT_TRUE(test::wait_until([&] { return !child->reap().empty(); }));
    std::string key;
    std::string value;
    std::ifstream(marker_) >> key >> value;
    EXPECT_EQ(value, "0000000000000000");
}

}  // namespace
}  // namespace tracer
