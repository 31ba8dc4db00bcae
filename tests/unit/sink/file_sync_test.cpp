// SPDX-License-Identifier: Apache-2.0
#include "tracer/write/sinks.h"
#include "unit/session/wait_until.h"
#include "unit/sink/fake_sync.h"
#include "unit/sink/sink_test_support.h"

#include <array>
#include <cerrno>
#include <fcntl.h>
#include <string>
#include <unistd.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tracer {
namespace {

using test::kBufferBytes;
using test::kRecordBytes;
using test::put;
using test::wait_until;
using testing::HasSubstr;

class FileSync : public test::FolderTest {
protected:
    [[nodiscard]] std::unique_ptr<ByteSink> open(const SyncOptions& sync, size_t buffer_count = 4) {
        auto sink = open_file_sink(path(), {.buffer_bytes = kBufferBytes,
                                            .buffer_count = buffer_count,
                                            .owner = {},
                                            .sync = sync});
        EXPECT_TRUE(sink.has_value());
        return std::move(*sink);
    }
    // Exactly `count` buffers, as soon as there is room.
    static void fill_buffers(ByteSink& sink, size_t count) {
        for (size_t i = 0; i < count * (kBufferBytes / kRecordBytes); ++i) {
            ASSERT_TRUE(wait_until([&] { return put(sink, 'a'); }));
        }
        sink.flush();
    }

    test::FakeSync fake;
};

TEST_F(FileSync, NothingIsSyncedUnlessAsked) {
    const auto sink = open({});
    fill_buffers(*sink, 8);
    ASSERT_TRUE(sink->close().has_value());
    EXPECT_EQ(fake.file_count, 0);
    EXPECT_EQ(fake.folder_count, 0);
}

TEST_F(FileSync, AtCloseTheFileAndItsNameAreSynced) {
    const auto sink = open({.at_close = true});
    fill_buffers(*sink, 8);
    EXPECT_EQ(fake.file_count, 0);
    ASSERT_TRUE(sink->close().has_value());
    EXPECT_EQ(fake.file_count, 1);
    EXPECT_EQ(fake.folder_count, 1);
}

TEST_F(FileSync, SyncsAfterAsManyBytesAndAtClose) {
    const auto sink = open({.every_bytes = 2 * kBufferBytes});
    fill_buffers(*sink, 9);
    ASSERT_TRUE(sink->close().has_value());
    EXPECT_EQ(fake.file_count, 4 + 1);
    EXPECT_EQ(fake.folder_count, 1) << "the name needs it once";
}

TEST_F(FileSync, SyncsAfterAWhileThoughNothingMoreComes) {
    const auto sink = open({.every_ms = 1});
    ASSERT_TRUE(put(*sink, 'a'));
    sink->flush();
    EXPECT_TRUE(wait_until([&] { return fake.file_count == 1; }));
    ASSERT_TRUE(put(*sink, 'b'));
    sink->flush();
    EXPECT_TRUE(wait_until([&] { return fake.file_count == 2; }));
    ASSERT_TRUE(sink->close().has_value());
    EXPECT_EQ(fake.file_count, 3) << "no sync without new bytes but the last";
}

TEST_F(FileSync, SyncsAfterAWhileThoughTheQueueNeverRunsEmpty) {
    const auto sink = open({.every_ms = 1});
    EXPECT_TRUE(wait_until([&] {
        while (put(*sink, 'a')) continue;
        return fake.file_count >= 3;
    }));
    ASSERT_TRUE(sink->close().has_value());
}

TEST_F(FileSync, ASyncThatFailsEndsTheSink) {
    const auto sink = open({.every_bytes = 1});
    fake.fails_with = EIO;
    ASSERT_TRUE(put(*sink, 'a'));
    sink->flush();
    ASSERT_TRUE(wait_until([&] { return !sink->health().has_value(); }));
    EXPECT_FALSE(put(*sink, 'b'));
    const Status status = sink->close();
    ASSERT_FALSE(status.has_value());
    EXPECT_EQ(status.error().sys_errno, EIO);
    EXPECT_THAT(status.error().what, HasSubstr("sync " + path()));
}

TEST_F(FileSync, ASyncThatFailsAtCloseIsReported) {
    const auto sink = open({.at_close = true});
    ASSERT_TRUE(put(*sink, 'a'));
    fake.fails_with = ENOSPC;
    const Status status = sink->close();
    ASSERT_FALSE(status.has_value());
    EXPECT_EQ(status.error().sys_errno, ENOSPC);
}

TEST_F(FileSync, ASlowSyncNeverHoldsUpTheProducer) {
    const auto sink = open({.every_bytes = 1}, 2);
    fake.is_slow = true;
    size_t taken_count = 0;
    // Ends although the thread cannot go on.
    while (put(*sink, 'a')) ++taken_count;
    EXPECT_GE(taken_count, kBufferBytes / kRecordBytes);
    EXPECT_TRUE(sink->health().has_value()) << "full is not broken";
    fake.is_slow = false;
    EXPECT_TRUE(wait_until([&] { return put(*sink, 'b'); }));
    ASSERT_TRUE(sink->close().has_value());
    EXPECT_EQ(contents(path()).size(), (taken_count + 1) * kRecordBytes);
}

TEST_F(FileSync, APipeIsLeftAlone) {
    std::array<int, 2> ends{};
    ASSERT_EQ(::pipe2(ends.data(), O_CLOEXEC), 0);
    const UniqueFd reader(ends[0]);
    const auto sink =
        make_fd_sink(UniqueFd(ends[1]), {.sync = {.at_close = true, .every_bytes = 1}});
    ASSERT_TRUE(put(*sink, 'a'));
    EXPECT_TRUE(sink->close().has_value());
    EXPECT_GE(fake.file_count, 1);
}

}  // namespace
}  // namespace tracer
