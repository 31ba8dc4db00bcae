// SPDX-License-Identifier: Apache-2.0
//
// The file's life: where it is made, whom it belongs to, and that it goes.
#include "tracer/ring/tracer_ring.h"
#include "unit/ring/producer_fixture.h"

#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <fcntl.h>
#include <fstream>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace tracer::test {
namespace {

using Texts = std::vector<std::string>;

// What a shell command prints, without the last line's end.
std::string output_of(const std::string& command) {
    std::string text;
    FILE* const pipe = popen(command.c_str(), "r");
    if (pipe == nullptr) return {};
    char buffer[4096];
    for (size_t count = 0; (count = fread(buffer, 1, sizeof(buffer), pipe)) > 0;) {
        text.append(buffer, count);
    }
    pclose(pipe);
    while (text.ends_with('\n')) text.pop_back();
    return text;
}

// The program's report with these variables and no others of the kind; $$ becomes its pid.
std::string report_with(const std::string& variables) {
    return output_of(fmt::format("env -i {} sh -c 'cd / && echo $$ && exec {} report' 2>&1",
                                 variables, TRACER_RING_PROGRAM));
}

class RingEnvironment : public ::testing::Test {
protected:
    // "RINGS WORDS" of a program that ran in `directory`, or what it printed.
    static std::string sizes(const std::string& variables, const std::string& directory) {
        const std::string text = report_with(variables);
        const size_t line = text.find('\n');
        const std::string expected = fmt::format("{}/{}.events ", directory, text.substr(0, line));
        const std::string report = line != std::string::npos ? text.substr(line + 1) : "";
        return report.starts_with(expected) ? report.substr(expected.size()) : report;
    }

    TemporaryFolder folder;
    TemporaryFolder other;
};

TEST_F(RingEnvironment, StartsThemOnlyWhenAsked) {
    const std::string here = "TRACER_RING_DIR=" + folder.path();
    EXPECT_EQ(sizes(here, folder.path()), "off");
    EXPECT_EQ(sizes(here + " TRACER_RING_START=1", folder.path()), "128 65536");
    EXPECT_EQ(sizes(here + " OCAML_RUNTIME_EVENTS_START=0", folder.path()), "128 65536");
    EXPECT_EQ(sizes(here + " TRACER_RING_START=0 OCAML_RUNTIME_EVENTS_START=1", folder.path()),
              "off");
    EXPECT_TRUE(folder.names().empty());
}

TEST_F(RingEnvironment, OwnNamesWinOverOcamls) {
    const std::string ocaml = fmt::format(
        "OCAML_RUNTIME_EVENTS_START= OCAML_RUNTIME_EVENTS_DIR={} OCAMLRUNPARAM=v=0,e=12,d=0x4,b",
        folder.path());
    EXPECT_EQ(sizes(ocaml, folder.path()), "4 4096");
    EXPECT_EQ(sizes(ocaml + " TRACER_RING_WORDS_LOG2=8 TRACER_RING_COUNT=2", folder.path()),
              "2 256");
    EXPECT_EQ(sizes(ocaml + " TRACER_RING_DIR=" + other.path(), other.path()), "4 4096");
    EXPECT_TRUE(folder.names().empty() && other.names().empty());
    sizes(ocaml + " OCAML_RUNTIME_EVENTS_PRESERVE=", folder.path());
    EXPECT_EQ(folder.names().size(), 1u);
    sizes(ocaml + " OCAML_RUNTIME_EVENTS_PRESERVE= TRACER_RING_PRESERVE=0", folder.path());
    EXPECT_EQ(folder.names().size(), 1u);
}

TEST_F(RingEnvironment, SaysWhyItDidNotStartAndGoesOn) {
    EXPECT_EQ(sizes("TRACER_RING_START=1 TRACER_RING_DIR=/nonexistent", ""),
              "tracer_ring: not started: No such file or directory\noff");
}

TEST_F(RingEnvironment, PrefersTheUsersDirectoryThenSharedMemory) {
    EXPECT_EQ(sizes("TRACER_RING_START=1 XDG_RUNTIME_DIR=" + folder.path(), folder.path()),
              "128 65536");
    EXPECT_EQ(sizes("TRACER_RING_START=1 XDG_RUNTIME_DIR=/nonexistent", "/dev/shm"), "128 65536");
    const std::string report = report_with("TRACER_RING_START=1 TRACER_RING_DIR=memfd");
    EXPECT_NE(report.find("/fd/"), std::string::npos) << report;
}

TEST_F(RingProducer, IsFoundThroughItsProcessWhenItHasNoName) {
    options.directory = "memfd";
    ASSERT_EQ(start(), 0);
    tracer_ring_write_int(int_event(), 5);
    char path[64];
    EXPECT_GT(tracer_ring_path(path, sizeof(path)), 0);
    EXPECT_EQ(read_ring_texts(path), (Texts{"ring_start", "int 5"}));
    auto cursor = ring::Cursor::open_process(getpid());
    ASSERT_TRUE(cursor) << cursor.error().what;
    RingReading reading(*cursor);
    ASSERT_TRUE(cursor->poll(reading));
    EXPECT_EQ(reading.texts.back(), "int 5");
}

TEST_F(RingProducer, IsForItsUserAlone) {
    ASSERT_EQ(start(), 0);
    struct stat status {};
    ASSERT_EQ(stat(file().c_str(), &status), 0);
    EXPECT_EQ(status.st_mode & 07777, 0600u);
    EXPECT_EQ(fcntl(open(file().c_str(), O_RDONLY | O_CLOEXEC), F_GETFD) & FD_CLOEXEC, FD_CLOEXEC);
}

TEST_F(RingProducer, ReplacesADeadProcesssFileAndKeepsItForItsReaders) {
    std::ofstream(file()) << "old";
    const int old = open(file().c_str(), O_RDONLY | O_CLOEXEC);
    ASSERT_EQ(start(), 0);
    EXPECT_EQ(texts(), Texts{"ring_start"});
    char text[4] = {};
    EXPECT_EQ(read(old, text, 3), 3);
    EXPECT_STREQ(text, "old");
    close(old);
}

TEST_F(RingProducer, RefusesToFollowALinkOrToTakeALiveFile) {
    const std::string target = folder.path() + "/target";
    std::ofstream(target) << "precious";
    ASSERT_EQ(symlink(target.c_str(), file().c_str()), 0);
    EXPECT_EQ(start(), -EEXIST);
    unlink(file().c_str());
    // As a producer of another pid namespace has it.
    const int live = open(file().c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    ASSERT_EQ(flock(live, LOCK_EX), 0);
    EXPECT_EQ(start(), -EEXIST);
    close(live);
    EXPECT_EQ(start(), 0);
    EXPECT_EQ(std::ifstream(target).get(), 'p');
}

TEST_F(RingProducer, SaysSoWhereItCannotMakeItsFile) {
    const std::string missing = folder.path() + "/missing";
    options.directory = missing.c_str();
    EXPECT_EQ(start(), -ENOENT);
    options.directory = folder.path().c_str();
    ASSERT_EQ(chmod(folder.path().c_str(), 0555), 0);
    // Root may write there all the same.
    const int status = run_in_child([this] {
        if (geteuid() == 0 && setresuid(65534, 65534, 65534) != 0) return 1;
        return start() == -EACCES && !tracer_ring_is_active() ? 0 : 2;
    });
    EXPECT_EQ(status, 0);
    chmod(folder.path().c_str(), 0700);
    EXPECT_TRUE(folder.names().empty());
}

struct End {
    const char* how;
    const char* remove;
    int signal;  // 0: it exits
    bool is_left;
};

TEST(RingProgram, LeavesNoFileWhereItIsAskedToRemoveIt) {
    constexpr End kEnds[] = {{"exit", "", 0, false},       {"quick", "", 0, false},
                             {"abort", "", SIGABRT, true}, {"abort", "remove", SIGABRT, false},
                             {"term", "", SIGTERM, true},  {"term", "remove", SIGTERM, false}};
    for (const End& end : kEnds) {
        SCOPED_TRACE(fmt::format("{} {}", end.how, end.remove));
        const TemporaryFolder folder;
        // The status of the program itself: the shell becomes it.
        const std::string text =
            output_of(fmt::format("ulimit -c 0; {} end {} {} {} 2>&1; echo $?", TRACER_RING_PROGRAM,
                                  folder.path(), end.how, end.remove));
        const std::string status = std::to_string(end.signal == 0 ? 0 : 128 + end.signal);
        EXPECT_TRUE(text.ends_with("\n" + status) || text.find(status) != std::string::npos)
            << text;
        EXPECT_EQ(folder.names().size(), end.is_left ? 1u : 0u);
    }
}

TEST(RingProgram, ExecReplacesTheFile) {
    const TemporaryFolder folder;
    const std::string text =
        output_of(fmt::format("{} exec {} 2>&1", TRACER_RING_PROGRAM, folder.path()));
    ASSERT_EQ(folder.names().size(), 1u);
    const std::string path = folder.path() + "/" + folder.names()[0];
    EXPECT_TRUE(text.starts_with(path)) << text;
    // Nothing of the program before.
    EXPECT_EQ(read_ring_texts(path), (Texts{"ring_start", "ring_stop"}));
}

TEST_F(RingProducer, AChildOfForkHasAFileOfItsOwn) {
    options.preserve = true;
    ASSERT_EQ(start(), 0);
    tracer_ring_write_int(int_event(), 1);
    const pid_t child = fork();
    if (child == 0) {
        tracer_ring_write_int(int_event(), 2);
        tracer_ring_stop();
        _exit(0);
    }
    ASSERT_EQ(waitpid(child, nullptr, 0), child);
    tracer_ring_write_int(int_event(), 3);
    EXPECT_EQ(texts(), (Texts{"ring_start", "int 1", "fork_parent", "int 3"}));
    EXPECT_EQ(read_ring_texts(folder.file_of(child)),
              (Texts{"ring_start", "fork_child", "int 2", "ring_stop"}));
}

TEST_F(RingProducer, AChildThatWritesNothingHasNoFile) {
    ASSERT_EQ(start(), 0);
    EXPECT_EQ(run_in_child([] { return tracer_ring_is_active() ? 0 : 1; }), 0);
    EXPECT_EQ(run_in_child([] { return tracer_ring_stop(); }), 0);
    EXPECT_EQ(folder.names().size(), 1u);
    EXPECT_EQ(texts(), (Texts{"ring_start", "fork_parent", "fork_parent"}));
}

TEST_F(RingProducer, ForkBesideAWriterTouchesNothingOfTheParents) {
    options.preserve = true;
    // A child must not wait for the registration that another thread was within.
    ASSERT_NE(int_event(), nullptr);
    ASSERT_EQ(start(8, 4), 0);
    std::atomic<bool> is_over = false;
    std::atomic<uint64_t> written = 0;
    std::thread writer([&] {
        while (!is_over) written += tracer_ring_write_int(int_event(), 1) == 0;
    });
    for (int i = 0; i < 20; ++i) {
        const pid_t child = fork();
        if (child == 0) {
            for (int64_t value = 0; value < 10; ++value) tracer_ring_write_int(int_event(), value);
            _exit(0);
        }
        ASSERT_EQ(waitpid(child, nullptr, 0), child);
        EXPECT_EQ(read_ring_texts(folder.file_of(child)).size(), 12u);
    }
    is_over = true;
    writer.join();
    tracer_ring_counts counts{};
    ASSERT_EQ(tracer_ring_get_counts(&counts), 0);
    // Start, spawn, terminate, and twenty forks.
    EXPECT_EQ(counts.written, written + 23);
    static_cast<void>(texts());
}

// Neither runs fork()'s handlers.
pid_t fork_by_clone() {
    return static_cast<pid_t>(syscall(SYS_clone, SIGCHLD, nullptr, nullptr, nullptr, nullptr));
}

class RingRawFork : public RingProducer, public testing::WithParamInterface<pid_t (*)()> {};

TEST_P(RingRawFork, AChildThatNobodyToldHasAFileOfItsOwn) {
    options.preserve = true;
    ASSERT_NE(int_event(), nullptr);
    ASSERT_EQ(start(8, 4), 0);
    tracer_ring_write_int(int_event(), 1);
    const pid_t child = GetParam()();
    if (child == 0) {
        tracer_ring_write_int(int_event(), 2);
        const pid_t grandchild = GetParam()();
        if (grandchild == 0) {
            tracer_ring_write_int(int_event(), 3);
            tracer_ring_stop();
            _exit(0);
        }
        if (waitpid(grandchild, nullptr, 0) != grandchild) _exit(1);
        if (read_ring_texts(folder.file_of(grandchild)) !=
            Texts{"ring_start", "fork_child", "int 3", "ring_stop"}) {
            _exit(2);
        }
        tracer_ring_stop();
        _exit(0);
    }
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
    tracer_ring_write_int(int_event(), 4);
    EXPECT_EQ(texts(), (Texts{"ring_start", "int 1", "int 4"}));
    EXPECT_EQ(read_ring_texts(folder.file_of(child)),
              (Texts{"ring_start", "fork_child", "int 2", "ring_stop"}));
}

// Whatever it calls first: none of it is done to the parent's file.
TEST_P(RingRawFork, WhatAChildDoesIsNotDoneToTheParent) {
    ASSERT_NE(int_event(), nullptr);
    ASSERT_EQ(start(8, 4), 0);
    const auto calls = std::to_array<int (*)()>({
        &tracer_ring_stop,
        &tracer_ring_pause,
        [] {
            const tracer_ring_event* event = nullptr;
            return tracer_ring_register("of the child", TRACER_RING_UNIT, 0, &event);
        },
        [] {
            tracer_ring_remove_file();
            return 0;
        },
    });
    for (int (*const call)() : calls) {
        const pid_t child = GetParam()();
        if (child == 0) _exit(call());
        int status = 0;
        ASSERT_EQ(waitpid(child, &status, 0), child);
        EXPECT_EQ(status, 0);
    }
    tracer_ring_write_int(int_event(), 4);
    EXPECT_EQ(texts(), (Texts{"ring_start", "int 4"}));
    auto cursor = ring::Cursor::open_file(file());
    ASSERT_TRUE(cursor);
    EXPECT_FALSE(cursor->producer().is_stopped);
    for (const ring::UserEvent& event : cursor->user_events()) {
        EXPECT_NE(event.name, "of the child");
    }
}

TEST_P(RingRawFork, BesideAWriterToo) {
#ifdef __SANITIZE_THREAD__
    GTEST_SKIP() << "thread-sanitizer takes the child's only thread for one beside its parent's";
#endif
    options.preserve = true;
    ASSERT_NE(int_event(), nullptr);
    ASSERT_EQ(start(8, 4), 0);
    std::atomic<bool> is_over = false;
    std::atomic<uint64_t> written = 0;
    // Threads that come and go take the lock, which a child may find taken.
    std::thread writer([&] {
        while (!is_over) {
            std::thread([&] { written += tracer_ring_write_int(int_event(), 1) == 0; }).join();
        }
    });
    for (int i = 0; i < 100; ++i) {
        const pid_t child = GetParam()();
        if (child == 0) {
            for (int64_t value = 0; value < 10; ++value) tracer_ring_write_int(int_event(), value);
            _exit(0);
        }
        ASSERT_EQ(waitpid(child, nullptr, 0), child);
        EXPECT_EQ(read_ring_texts(folder.file_of(child)).size(), 12u);
    }
    is_over = true;
    writer.join();
    tracer_ring_counts counts{};
    ASSERT_EQ(tracer_ring_get_counts(&counts), 0);
    EXPECT_EQ(counts.written, 3 * written + 1);
    static_cast<void>(texts());
}

INSTANTIATE_TEST_SUITE_P(Ways, RingRawFork, testing::Values(&_Fork, &fork_by_clone));

std::atomic<pid_t> forked_within;

void fork_within_write(int) {
    const int error = errno;
    if (forked_within == 0 && tracer_ring_write_int(int_event(), 5) == -EBUSY) {
        forked_within = fork();
        // The child goes on with the write that the signal came into.
    }
    errno = error;
}

TEST_F(RingProducer, AChildForkedWithinAWriteLeavesTheParentsRingAlone) {
    options.preserve = true;
    ASSERT_NE(int_event(), nullptr);
    ASSERT_EQ(start(8, 4), 0);
    forked_within = 0;
    struct sigaction action {};
    action.sa_handler = fork_within_write;
    struct sigaction old {};
    ASSERT_EQ(sigaction(SIGUSR1, &action, &old), 0);
    std::atomic<bool> is_over = false;
    const pid_t parent = getpid();
    std::thread writer([&] {
        while (!is_over && getpid() == parent) tracer_ring_write_int(int_event(), 1);
        if (getpid() == parent) return;
        for (int64_t value = 0; value < 10; ++value) tracer_ring_write_int(int_event(), value);
        _exit(0);
    });
    const bool has_forked = wait_for([&] {
        for (int i = 0; i < 20; ++i) pthread_kill(writer.native_handle(), SIGUSR1);
        return forked_within != 0;
    });
    is_over = true;
    writer.join();
    sigaction(SIGUSR1, &old, nullptr);
    ASSERT_TRUE(has_forked);
    ASSERT_EQ(waitpid(forked_within, nullptr, 0), forked_within);
    static_cast<void>(texts());
    const Texts child = read_ring_texts(folder.file_of(forked_within));
    ASSERT_GE(child.size(), 12u);
    EXPECT_EQ(child[0], "ring_start");
    EXPECT_EQ(child.back(), "int 9");
}

TEST_F(RingProducer, AKillLosesNothingThatWasWritten) {
    void* const page =
        mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    ASSERT_NE(page, MAP_FAILED);
    auto& published = *static_cast<std::atomic<int64_t>*>(page);
    unsigned random = 12345;
    for (int round = 0; round < 100; ++round) {
        published = 0;
        const pid_t child = fork();
        if (child == 0) {
            if (start(8, 2) != 0) _exit(1);
            for (int64_t value = 1;; ++value) {
                tracer_ring_write_int(int_event(), value);
                published.store(value, std::memory_order_release);
            }
        }
        random = random * 1103515245 + 12345;
        const int64_t enough = 1 + (random >> 16) % 5000;
        EXPECT_TRUE(wait_for([&] { return published >= enough; }));
        kill(child, SIGKILL);
        ASSERT_EQ(waitpid(child, nullptr, 0), child);
        const std::string path = folder.file_of(child);
        auto cursor = ring::Cursor::open_file(path);
        ASSERT_TRUE(cursor) << cursor.error().what;
        RingReading reading(*cursor);
        int64_t last = 0;
        int64_t gaps = 0;
        reading.on_int = [&](const ring::Event& event) {
            gaps += last != 0 && event.value != last + 1;
            last = event.value;
        };
        ASSERT_TRUE(cursor->poll(reading));
        EXPECT_GE(last, published);
        EXPECT_LE(last, published + 1);
        EXPECT_EQ(gaps, 0);
        EXPECT_EQ(reading.malformed + reading.inexact, 0u);
        // The start is the ring's first event.
        EXPECT_EQ(reading.events[0] + reading.lost[0], static_cast<uint64_t>(last) + 1);
        unlink(path.c_str());
    }
    munmap(page, 4096);
}

}  // namespace
}  // namespace tracer::test
