// SPDX-License-Identifier: Apache-2.0
//
// Chunks compressed once they are closed. What is compressed is read back by the zstd program, not
// by the library that wrote it.
#include "sink/compressed_copy.h"
#include "tracer/write/chunk_switch.h"
#include "tracer/write/rotating_sink.h"
#include "unit/session/wait_until.h"
#include "unit/sink/sink_test_support.h"

#include <algorithm>
#include <array>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <memory>
#include <optional>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tracer {
namespace {

using test::event_at;
using test::kBufferBytes;
using test::read_records;
using test::RecordHeader;
using test::RecordKind;
using test::RecordWriter;
using test::wait_until;
using testing::AllOf;
using testing::Each;
using testing::EndsWith;
using testing::HasSubstr;
using testing::SizeIs;

class CompressedChunksTest : public test::ChunkTest {
protected:
    [[nodiscard]] RotatingSinkOptions every(uint64_t chunk_bytes) const {
        return {.file = {.buffer_bytes = kBufferBytes, .buffer_count = 64, .owner = owner},
                .limits = {.chunk_bytes = chunk_bytes},
                .compression = ChunkCompression::zstd};
    }
    static std::string decompressed(const std::string& file) {
        const std::string command = "zstd -q -d -c '" + file + "'";
        std::unique_ptr<FILE, int (*)(FILE*)> pipe(popen(command.c_str(), "r"), &pclose);
        std::string text;
        std::array<char, 65536> part{};
        while (const size_t bytes = fread(part.data(), 1, part.size(), pipe.get())) {
            text.append(part.data(), bytes);
        }
        EXPECT_EQ(pclose(pipe.release()), 0) << file;
        return text;
    }
    static std::string plain(const std::string& file) {
        return file.ends_with(kZstdSuffix) ? decompressed(file) : contents(file);
    }
    const std::optional<FileOwner> owner =
        ::geteuid() == 0 ? std::optional(FileOwner{.uid = 65534, .gid = 65534}) : std::nullopt;
};

TEST_F(CompressedChunksTest, EachChunkIsThereOnceWholeAndPrivate) {
    const auto sink = open(every(300'000));
    RecordWriter writer(*sink);
    ASSERT_TRUE(writer.open().has_value());
    write(*sink, writer, 20'000);
    ASSERT_TRUE(sink->close().has_value());
    const auto paths = sink->chunk_paths();
    ASSERT_GT(paths.size(), 5U);
    EXPECT_THAT(paths, Each(EndsWith(".fxt.zst")));
    EXPECT_EQ(sink->chunks_left_plain().count, 0U) << sink->chunks_left_plain().reason;
    EXPECT_THAT(names(), SizeIs(paths.size())) << "no plain file, and no half one";
    expect_whole(paths, 0, &plain);
    for (const std::string& file : paths) {
        struct stat found {};
        ASSERT_EQ(::stat(file.c_str(), &found), 0);
        EXPECT_EQ(found.st_mode & 07777, 0600U);
        EXPECT_EQ(found.st_uid, owner ? owner->uid : ::geteuid());
    }
}

TEST_F(CompressedChunksTest, WhatIsKeptIsCountedAsItIs) {
    constexpr uint64_t kKeepBytes = 3 * kBufferBytes;
    RotatingSinkOptions options = every(kBufferBytes);
    options.keep_bytes = kKeepBytes;
    const auto sink = open(options);
    RecordWriter writer(*sink);
    ASSERT_TRUE(writer.open().has_value());
    uint64_t most = 0;
    for (int i = 0; i < 100; ++i) {
        write(*sink, writer, 200);
        uint64_t kept = 0;
        for (const auto& entry : std::filesystem::directory_iterator(folder)) {
            std::error_code gone;
            const uint64_t bytes = entry.file_size(gone);
            if (!gone) kept += bytes;
        }
        most = std::max(most, kept);
        // Else the writer is faster, and what is deleted first need not be compressed.
        sink->flush();
        ASSERT_TRUE(wait_until([&] {
            const auto paths = sink->chunk_paths();
            const auto is_plain = [](const std::string& file) {
                return !file.ends_with(kZstdSuffix);
            };
            return paths.size() + sink->chunks_deleted() == writer.openings &&
                   std::ranges::count_if(paths, is_plain) == 1;
        }));
    }
    ASSERT_TRUE(sink->close().has_value());
    EXPECT_LE(most, kKeepBytes);
    const auto paths = sink->chunk_paths();
    EXPECT_GT(sink->chunks_deleted(), 0U);
    EXPECT_GT(paths.size(), 6U) << "compressed ones are smaller, so more of them are kept";
    expect_whole(paths, read_records(plain(paths[0])).at(1).number, &plain);
}

TEST_F(CompressedChunksTest, WhatHasTheNameAlreadyIsLeftAlone) {
    const auto sink = open(every(100'000));
    const std::string first = sink->chunk_paths()[0];
    std::ofstream(first + kZstdSuffix) << "somebody else's";
    RecordWriter writer(*sink);
    ASSERT_TRUE(writer.open().has_value());
    write(*sink, writer, 2'000);
    ASSERT_TRUE(sink->close().has_value());
    EXPECT_EQ(contents(first + kZstdSuffix), "somebody else's");
    EXPECT_EQ(sink->chunk_paths()[0], first);
    EXPECT_GE(sink->chunks_left_plain().count, 1U);
    EXPECT_THAT(sink->chunks_left_plain().reason, AllOf(HasSubstr("File exists")));
    expect_whole(sink->chunk_paths(), 0, &plain);
}

TEST_F(CompressedChunksTest, WhatDoesNotBecomeSmallerStaysPlain) {
    std::string noise;
    uint64_t state = 88172645463325252ULL;
    while (noise.size() < 500'000) {
        state ^= state << 13U;
        state ^= state >> 7U;
        state ^= state << 17U;
        noise.append(reinterpret_cast<const char*>(&state), sizeof state);
    }
    std::ofstream(path(), std::ios::binary) << noise;
    const auto copy = CompressedCopy::make(path(), {}, [] { return false; });
    ASSERT_FALSE(copy.has_value());
    EXPECT_EQ(copy.error().code, ErrorCode::limit);
    EXPECT_THAT(names(), SizeIs(1));
}

TEST_F(CompressedChunksTest, OneThatIsNotWantedAnyMoreLeavesNothing) {
    std::ofstream(path(), std::ios::binary) << std::string(10'000'000, 'a');
    int asked = 0;
    const auto copy = CompressedCopy::make(path(), {}, [&] { return ++asked == 5; });
    ASSERT_FALSE(copy.has_value());
    EXPECT_EQ(copy.error().code, ErrorCode::interrupted);
    EXPECT_THAT(names(), SizeIs(1));
}

// Without a record that was cut: a kill may end a write between two pages.
std::string_view whole_part(std::string_view bytes) {
    size_t end = 0;
    RecordHeader header;
    while (bytes.size() - end >= sizeof header) {
        std::memcpy(&header, bytes.data() + end, sizeof header);
        if (header.bytes > bytes.size() - end) break;
        end += header.bytes;
    }
    return bytes.substr(0, end);
}

// Killed at any time: each chunk is there, whole.
TEST_F(CompressedChunksTest, AKillLosesNoChunkAndLeavesNoHalfOne) {
    for (int round = 0; round < 8; ++round) {
        std::filesystem::remove_all(folder);
        std::filesystem::create_directory(folder);
        const pid_t child = ::fork();
        ASSERT_GE(child, 0);
        if (child == 0) {
            const auto sink = open(every(200'000));
            RecordWriter writer(*sink);
            static_cast<void>(writer.open());
            for (uint64_t i = 0;;) {
                static_cast<void>(begin_chunk_if_due(*sink, writer));
                if (writer.write(event_at(i)) == WriteStatus::ok) ++i;
            }
        }
        ::usleep(20'000 + 17'000 * static_cast<useconds_t>(round));
        ::kill(child, SIGKILL);
        int status = 0;
        ASSERT_EQ(::waitpid(child, &status, 0), child);
        uint64_t expected = 0;
        for (const std::string& name : names()) {
            // Both are there for the moment between two system calls.
            if (std::filesystem::exists(path(name) + kZstdSuffix)) continue;
            const std::string bytes = plain(path(name));
            // The last one alone was being written.
            const bool is_last = name == names().back();
            for (const RecordHeader& record : read_records(is_last ? whole_part(bytes) : bytes)) {
                if (record.kind != RecordKind::event) continue;
                EXPECT_EQ(record.number, expected++);
            }
        }
    }
}

}  // namespace
}  // namespace tracer
