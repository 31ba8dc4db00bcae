// SPDX-License-Identifier: Apache-2.0
#include "tracer/write/sinks.h"
#include "unit/session/wait_until.h"
#include "unit/sink/sink_test_support.h"

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <string>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tracer {
namespace {

using testing::HasSubstr;

using test::kBufferBytes;
using test::kRecordBytes;
using test::put;
using test::wait_until;

class FileSink : public test::FolderTest {};

FileSinkOptions small(size_t buffer_count = 4) {
    return {.buffer_bytes = kBufferBytes, .buffer_count = buffer_count, .owner = {}};
}

TEST_F(FileSink, WritesEverythingInOrder) {
    auto sink = open_file_sink(path(), small());
    ASSERT_TRUE(sink.has_value()) << sink.error().what;
    std::string expected;
    for (int i = 0; i < 2000; ++i) {
        const char fill = static_cast<char>('a' + i % 26);
        ASSERT_TRUE(wait_until([&] { return put(**sink, fill); }));
        expected.append(kRecordBytes, fill);
    }
    EXPECT_EQ((*sink)->bytes_committed(), expected.size());
    ASSERT_TRUE((*sink)->close().has_value());
    EXPECT_TRUE(contents(path()) == expected);
}

TEST_F(FileSink, GivesBackTheBlocksItTookAhead) {
    auto sink = open_file_sink(path(), small());
    ASSERT_TRUE(sink.has_value());
    ASSERT_TRUE(put(**sink, 'a'));
    ASSERT_TRUE((*sink)->close().has_value());
    struct stat file {};
    ASSERT_EQ(::stat(path().c_str(), &file), 0);
    EXPECT_EQ(file.st_size, static_cast<off_t>(kRecordBytes));
    EXPECT_LE(file.st_blocks * 512, 16384);
}

TEST_F(FileSink, FlushHandsOverAPartialBuffer) {
    auto sink = open_file_sink(path(), small());
    ASSERT_TRUE(sink.has_value());
    ASSERT_TRUE(put(**sink, 'a'));
    EXPECT_EQ(contents(path()).size(), 0U);
    (*sink)->flush();
    EXPECT_TRUE(wait_until([&] { return contents(path()).size() == kRecordBytes; }));
    ASSERT_TRUE((*sink)->close().has_value());
}

TEST_F(FileSink, MakesAPrivateFileAndReplacesAnOldOne) {
    std::ofstream(path()) << "old";
    ASSERT_EQ(::chmod(path().c_str(), 0666), 0);
    const int old = ::open(path().c_str(), O_RDONLY);
    auto sink = open_file_sink(path(), small());
    ASSERT_TRUE(sink.has_value());
    ASSERT_TRUE(put(**sink, 'n'));
    ASSERT_TRUE((*sink)->close().has_value());
    struct stat file {};
    ASSERT_EQ(::stat(path().c_str(), &file), 0);
    EXPECT_EQ(file.st_mode & 07777, 0600U);
    std::array<char, 8> bytes{};
    EXPECT_EQ(::read(old, bytes.data(), bytes.size()), 3) << "the old file is as it was";
    ::close(old);
}

TEST_F(FileSink, GivesTheFileToItsOwner) {
    if (::geteuid() != 0) GTEST_SKIP() << "needs root: gives a file to another user";
    FileSinkOptions options = small();
    options.owner = FileOwner{.uid = 65534, .gid = 65534};
    auto sink = open_file_sink(path(), options);
    ASSERT_TRUE(sink.has_value());
    struct stat file {};
    ASSERT_EQ(::stat(path().c_str(), &file), 0);
    EXPECT_EQ(file.st_uid, 65534U);
    EXPECT_EQ(file.st_gid, 65534U);
    ASSERT_TRUE((*sink)->close().has_value());
}

TEST_F(FileSink, RefusesASymbolicLinkOfSomebodyElse) {
    if (::geteuid() != 0) GTEST_SKIP() << "needs root: makes a link of another user";
    std::ofstream(path("victim")) << "precious";
    ASSERT_EQ(::symlink(path("victim").c_str(), path().c_str()), 0);
    ASSERT_EQ(::lchown(path().c_str(), 65534, 65534), 0);
    const auto sink = open_file_sink(path(), small());
    ASSERT_FALSE(sink.has_value());
    EXPECT_THAT(sink.error().what, HasSubstr("symbolic link"));
    EXPECT_EQ(contents(path("victim")), "precious");
}

TEST_F(FileSink, FollowsALinkOfOurs) {
    std::ofstream(path("real")) << "old";
    ASSERT_EQ(::symlink(path("real").c_str(), path().c_str()), 0);
    auto sink = open_file_sink(path(), small());
    ASSERT_TRUE(sink.has_value());
    ASSERT_TRUE(put(**sink, 'n', 8));
    ASSERT_TRUE((*sink)->close().has_value());
    EXPECT_EQ(contents(path("real")), "nnnnnnnn");
    EXPECT_TRUE(std::filesystem::is_symlink(path()));
}

TEST_F(FileSink, SaysWhyAFileCannotBeOpened) {
    const auto missing = open_file_sink(folder + "/no/such/out.fxt", small());
    ASSERT_FALSE(missing.has_value());
    EXPECT_EQ(missing.error().code, ErrorCode::io);
    EXPECT_EQ(missing.error().sys_errno, ENOENT);
    EXPECT_THAT(missing.error().hint, HasSubstr("no folder " + folder + "/no/such"));

    const auto is_folder = open_file_sink(folder, small());
    ASSERT_FALSE(is_folder.has_value());
    EXPECT_THAT(is_folder.error().what, HasSubstr("is a folder"));

    EXPECT_FALSE(open_file_sink("", small()).has_value());
    EXPECT_FALSE(open_file_sink(folder + "/new/", small()).has_value());
}

TEST_F(FileSink, FullDeviceIsAnErrorAndEndsReservations) {
    auto sink = open_file_sink("/dev/full", small());
    ASSERT_TRUE(sink.has_value());
    ASSERT_TRUE(put(**sink, 'a'));
    (*sink)->flush();
    ASSERT_TRUE(wait_until([&] { return !(*sink)->health().has_value(); }));
    EXPECT_EQ((*sink)->health().error().sys_errno, ENOSPC);
    EXPECT_FALSE(put(**sink, 'a'));
    const Status status = (*sink)->close();
    ASSERT_FALSE(status.has_value());
    EXPECT_EQ(status.error().code, ErrorCode::io);
    EXPECT_THAT(status.error().what, HasSubstr("/dev/full"));
}

TEST_F(FileSink, AFileThatCannotGrowEndsAtAWholeRecord) {
    // A record of 1000 bytes never ends where the limit is, so a plain short write would cut one.
    constexpr size_t kOdd = 1000;
    constexpr rlim_t kLimit = kBufferBytes + 10 * 4096;
    struct rlimit before {};
    ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
    const struct rlimit limit { kLimit, before.rlim_max };
    ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &limit), 0);
    auto sink = open_file_sink(path(), small());
    ASSERT_TRUE(sink.has_value());
    for (int i = 0; i < 200; ++i) static_cast<void>(put(**sink, 'a', kOdd));
    const Status status = (*sink)->close();
    ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &before), 0);
    ASSERT_FALSE(status.has_value());
    EXPECT_EQ(status.error().sys_errno, EFBIG);
    const size_t size = contents(path()).size();
    const size_t first_buffer = kBufferBytes / kOdd * kOdd;
    EXPECT_EQ((size - first_buffer) % kOdd, 0U);
    EXPECT_GT(size, first_buffer) << "whole records of the cut buffer are kept";
    EXPECT_LE(size, kLimit);
    EXPECT_EQ((*sink)->bytes_written(), size);
    EXPECT_GT((*sink)->bytes_committed(), size);
}

TEST_F(FileSink, ASlowReaderMeansNoRoomAndNeverWaiting) {
    std::array<int, 2> ends{};
    ASSERT_EQ(::pipe2(ends.data(), O_CLOEXEC), 0);
    UniqueFd reader(ends[0]);
    const auto sink = make_fd_sink(UniqueFd(ends[1]), small(2));
    size_t taken = 0;
    // Far more than two buffers and a pipe hold.
    for (size_t i = 0; i < 10000; ++i) taken += put(*sink, 'a') ? kRecordBytes : 0;
    EXPECT_LT(taken, 10000 * kRecordBytes);
    EXPECT_GE(taken, kBufferBytes);
    EXPECT_TRUE(sink->health().has_value()) << "full is not broken";

    size_t received = 0;
    std::thread drain([&] {
        std::array<char, 4096> bytes{};
        ssize_t count = 0;
        while ((count = ::read(reader.get(), bytes.data(), bytes.size())) > 0) {
            received += static_cast<size_t>(count);
        }
    });
    EXPECT_TRUE(wait_until([&] { return put(*sink, 'b'); })) << "room again once it is read";
    EXPECT_TRUE(sink->close().has_value());
    drain.join();
    EXPECT_EQ(received, sink->bytes_committed());
}

// Faults of this thread while it writes the first MiB into a buffer so large that it is always a
// mapping of its own.
long faults_of_first_fill(const std::string& path, size_t buffers_ready) {
    constexpr size_t kFillBytes = 1 << 20;
    const auto sink = open_file_sink(path, {.buffer_bytes = 40 * kFillBytes,
                                            .buffer_count = 1,
                                            .buffers_ready = buffers_ready,
                                            .owner = {}});
    if (!sink) return -1;
    rusage before{};
    rusage after{};
    ::getrusage(RUSAGE_THREAD, &before);
    for (size_t i = 0; i < kFillBytes / kRecordBytes; ++i) static_cast<void>(put(**sink, 'a'));
    ::getrusage(RUSAGE_THREAD, &after);
    if (!(*sink)->close()) return -1;
    return after.ru_minflt - before.ru_minflt;
}

TEST_F(FileSink, AReadyBufferMeetsNoPageFaultWhenItIsFilled) {
    ASSERT_EQ(::prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0), 0);
    const long cold = faults_of_first_fill(path(), 0);
    // More than there may be are not made.
    const long ready = faults_of_first_fill(path(), 5);
    EXPECT_GE(ready, 0);
    EXPECT_LT(4 * ready, cold);
}

TEST_F(FileSink, ANamedPipeNeedsItsReaderFirst) {
    ASSERT_EQ(::mkfifo(path("pipe").c_str(), 0600), 0);
    const auto refused = open_file_sink(path("pipe"), {});
    ASSERT_FALSE(refused.has_value());
    EXPECT_THAT(refused.error().hint, HasSubstr("start the reader first"));
    const UniqueFd reader(::open(path("pipe").c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
    auto sink = open_file_sink(path("pipe"), {});
    ASSERT_TRUE(sink.has_value());
    ASSERT_TRUE(put(**sink, 'a'));
    EXPECT_TRUE((*sink)->close().has_value());
    std::array<char, 2 * kRecordBytes> bytes{};
    EXPECT_EQ(::read(reader.get(), bytes.data(), bytes.size()), static_cast<ssize_t>(kRecordBytes));
}

TEST_F(FileSink, AReaderThatWentAwayIsAnErrorNotASignal) {
    std::array<int, 2> ends{};
    ASSERT_EQ(::pipe2(ends.data(), O_CLOEXEC), 0);
    const auto sink = make_fd_sink(UniqueFd(ends[1]), small());
    ::close(ends[0]);
    ASSERT_TRUE(put(*sink, 'a'));
    const Status status = sink->close();
    ASSERT_FALSE(status.has_value());
    EXPECT_EQ(status.error().sys_errno, EPIPE);
}

TEST_F(FileSink, WaitsForANonBlockingReader) {
    std::array<int, 2> ends{};
    ASSERT_EQ(::pipe2(ends.data(), O_CLOEXEC), 0);
    ASSERT_EQ(::fcntl(ends[1], F_SETFL, O_NONBLOCK), 0);
    UniqueFd reader(ends[0]);
    const auto sink = make_fd_sink(UniqueFd(ends[1]), small());
    for (int i = 0; i < 200; ++i) ASSERT_TRUE(put(*sink, 'a'));
    size_t received = 0;
    std::thread drain([&] {
        std::array<char, 4096> bytes{};
        ssize_t count = 0;
        while ((count = ::read(reader.get(), bytes.data(), bytes.size())) > 0) {
            received += static_cast<size_t>(count);
        }
    });
    EXPECT_TRUE(sink->close().has_value());
    drain.join();
    EXPECT_EQ(received, 200 * kRecordBytes);
}

TEST_F(FileSink, AChildOfForkLeavesTheFileToItsParent) {
    auto sink = open_file_sink(path(), small());
    ASSERT_TRUE(sink.has_value());
    ASSERT_TRUE(put(**sink, 'a'));
    const pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
        const bool is_closed = (*sink)->close().has_value();
        sink->reset();
        ::_exit(is_closed ? 0 : 1);
    }
    int status = 0;
    const bool has_ended = wait_until([&] { return ::waitpid(child, &status, WNOHANG) == child; });
    if (!has_ended) {
        ::kill(child, SIGKILL);
        ::waitpid(child, &status, 0);
    }
    EXPECT_TRUE(has_ended) << "the child waited for a thread that it does not have";
    EXPECT_EQ(status, 0);
    ASSERT_TRUE(put(**sink, 'b'));
    ASSERT_TRUE((*sink)->close().has_value());
    EXPECT_EQ(contents(path()), std::string(kRecordBytes, 'a') + std::string(kRecordBytes, 'b'));
}

TEST_F(FileSink, ACloseErrorIsReported) {
    std::array<int, 2> ends{};
    ASSERT_EQ(::pipe2(ends.data(), O_CLOEXEC), 0);
    ::close(ends[0]);
    const auto sink = make_fd_sink(UniqueFd(ends[1]), small());
    // Somebody closed our descriptor: close(2) says EBADF.
    ::close(ends[1]);
    const Status status = sink->close();
    ASSERT_FALSE(status.has_value());
    EXPECT_EQ(status.error().sys_errno, EBADF);
}

}  // namespace
}  // namespace tracer
