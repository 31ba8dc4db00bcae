// SPDX-License-Identifier: Apache-2.0
#include "session/end_watch.h"

#include <csignal>
#include <sys/eventfd.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

#include <gtest/gtest.h>

namespace tracer {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kNever{3'600'000};

TEST(EndWatch, EndsAfterTheDuration) {
    auto watch = EndWatch::make();
    ASSERT_TRUE(watch);
    ASSERT_TRUE(watch->start_timers(milliseconds(5), kNever));
    EXPECT_EQ(watch->wait([] {}), EndCause::duration);
}

TEST(EndWatch, TicksUntilTheEnd) {
    auto watch = EndWatch::make();
    ASSERT_TRUE(watch);
    ASSERT_TRUE(watch->start_timers({}, milliseconds(1)));
    int ticks = 0;
    EXPECT_EQ(watch->wait([&] {
        if (++ticks == 3) kill(getpid(), SIGTERM);
    }),
              EndCause::interrupted);
    EXPECT_GE(ticks, 3);
    EXPECT_EQ(watch->signal(), SIGTERM);
}

TEST(EndWatch, HandlesWhatIsReadableUntilForgottenAndEndsByRequest) {
    auto watch = EndWatch::make();
    ASSERT_TRUE(watch);
    ASSERT_TRUE(watch->start_timers({}, kNever));
    const UniqueFd first(eventfd(1, EFD_CLOEXEC | EFD_NONBLOCK));
    const UniqueFd second(eventfd(1, EFD_CLOEXEC | EFD_NONBLOCK));
    int firsts = 0;
    int seconds = 0;
    // Both are readable in the same poll: what is forgotten by the one before is not called.
    watch->add_readable(first.get(), [&] {
        if (++firsts == 1) watch->forget_readable(second.get());
        if (firsts == 3) watch->end_by(EndCause::stopped);
    });
    watch->add_readable(second.get(), [&] { ++seconds; });
    EXPECT_EQ(watch->wait([] {}), EndCause::stopped);
    EXPECT_EQ(firsts, 3);
    EXPECT_EQ(seconds, 0);
}

TEST(EndWatch, AUserSignalEndsNothing) {
    auto watch = EndWatch::make();
    ASSERT_TRUE(watch);
    ASSERT_TRUE(watch->start_timers({}, kNever));
    kill(getpid(), SIGUSR1);  // early: it waits
    int signals = 0;
    watch->on_user_signal([&] {
        if (++signals == 1) kill(getpid(), SIGUSR1);
        if (signals == 2) watch->end_by(EndCause::stopped);
    });
    EXPECT_EQ(watch->wait([] {}), EndCause::stopped);
    EXPECT_EQ(signals, 2);
    EXPECT_EQ(watch->signal(), 0);
}

class EndWatchSignal : public testing::TestWithParam<int> {};

TEST_P(EndWatchSignal, EndsTheWait) {
    auto watch = EndWatch::make();
    ASSERT_TRUE(watch);
    ASSERT_TRUE(watch->start_timers({}, kNever));
    kill(getpid(), GetParam());
    EXPECT_EQ(watch->wait([] {}), EndCause::interrupted);
    EXPECT_EQ(watch->signal(), GetParam());
    EXPECT_FALSE(watch->take_signal());
}

// As in a shell script: `tracer ... &` starts with SIGINT and SIGQUIT ignored.
TEST_P(EndWatchSignal, KillsOnceTheSinkIsClosingAlsoWhenItWasIgnored) {
    const pid_t child = fork();
    if (child == 0) {
        std::signal(GetParam(), GetParam() == SIGHUP ? SIG_DFL : SIG_IGN);
        if (!EndWatch::make()) _exit(1);
        EndWatch::let_signals_kill();
        kill(getpid(), GetParam());
        _exit(2);
    }
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFSIGNALED(status)) << "exit status " << WEXITSTATUS(status);
    EXPECT_EQ(WTERMSIG(status), GetParam());
}

TEST(EndWatch, AHangupThatNohupIgnoresEndsNothing) {
    const pid_t child = fork();
    if (child == 0) {
        // As nohup leaves it: ignored, and not blocked by a watch before.
        std::signal(SIGHUP, SIG_IGN);
        sigset_t hangup;
        sigemptyset(&hangup);
        sigaddset(&hangup, SIGHUP);
        sigprocmask(SIG_UNBLOCK, &hangup, nullptr);
        auto watch = EndWatch::make();
        kill(getpid(), SIGHUP);
        if (!watch || watch->take_signal()) _exit(1);
        EndWatch::let_signals_kill();
        kill(getpid(), SIGHUP);
        _exit(0);
    }
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
}

INSTANTIATE_TEST_SUITE_P(All, EndWatchSignal, testing::Values(SIGINT, SIGTERM, SIGHUP, SIGQUIT));

TEST(EndWatch, EndsWithTheLastTargetNotTheFirst) {
    auto watch = EndWatch::make();
    ASSERT_TRUE(watch);
    const pid_t first = fork();
    if (first == 0) _exit(0);
    const pid_t second = fork();
    if (second == 0) {
        pause();
        _exit(0);
    }
    ASSERT_TRUE(watch->add_process(static_cast<uint32_t>(first)));
    ASSERT_TRUE(watch->add_process(static_cast<uint32_t>(second)));
    ASSERT_TRUE(watch->start_timers({}, milliseconds(1)));
    bool is_first_gone = false;
    const EndCause cause = watch->wait([&] {
        if (is_first_gone) return;
        is_first_gone = waitpid(first, nullptr, WNOHANG) == first;
        if (is_first_gone) kill(second, SIGKILL);
    });
    EXPECT_EQ(cause, EndCause::targets_ended);
    EXPECT_TRUE(is_first_gone);
    waitpid(second, nullptr, 0);
}

TEST(EndWatch, ATargetThatIsGoneAlreadyIsNoError) {
    auto watch = EndWatch::make();
    ASSERT_TRUE(watch);
    const pid_t child = fork();
    if (child == 0) _exit(0);
    waitpid(child, nullptr, 0);
    ASSERT_TRUE(watch->add_process(static_cast<uint32_t>(child)));
    EXPECT_EQ(watch->wait([] {}), EndCause::targets_ended);
}

TEST(EndWatch, AsksWhoeverWokeItForTheCause) {
    auto watch = EndWatch::make();
    ASSERT_TRUE(watch);
    watch->raise_by([] { return EndCause::max_size; });
    ASSERT_TRUE(watch->start_timers({}, kNever));
    std::thread other([fd = watch->wake_fd()] {
        const uint64_t one = 1;
        EXPECT_EQ(write(fd, &one, sizeof(one)), static_cast<ssize_t>(sizeof(one)));
    });
    EXPECT_EQ(watch->wait([] {}), EndCause::max_size);
    other.join();
}

}  // namespace
}  // namespace tracer
