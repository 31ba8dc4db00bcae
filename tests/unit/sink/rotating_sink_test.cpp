// SPDX-License-Identifier: Apache-2.0
#include "tracer/write/rotating_sink.h"

#include "support/fxt_reader.h"
#include "tracer/write/chunk_switch.h"
#include "tracer/write/formats.h"
#include "unit/session/wait_until.h"
#include "unit/sink/fake_sync.h"
#include "unit/sink/sink_test_support.h"

#include <array>
#include <cerrno>
#include <ctime>
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tracer {
namespace {

using test::event_at;
using test::kBufferBytes;
using test::put;
using test::read_records;
using test::RecordHeader;
using test::RecordKind;
using test::RecordWriter;
using test::wait_until;
using testing::HasSubstr;
using testing::MatchesRegex;
using testing::SizeIs;

RotatingSinkOptions every(uint64_t chunk_bytes) {
    return {.file = {.buffer_bytes = kBufferBytes, .buffer_count = 8, .owner = {}},
            .limits = {.chunk_bytes = chunk_bytes}};
}

class RotatingSinkTest : public test::ChunkTest {};

TEST_F(RotatingSinkTest, EveryRecordIsInOneChunkUnderLoad) {
    constexpr uint64_t kChunkBytes = 300'000;
    // As many as all of it fills: while none is free a chunk does not end, however slow the disk.
    RotatingSinkOptions options = every(kChunkBytes);
    options.file.buffer_count = 256;
    const auto sink = open(options);
    RecordWriter writer(*sink);
    ASSERT_TRUE(writer.open().has_value());
    write(*sink, writer, 40'000);
    ASSERT_TRUE(sink->close().has_value());
    const auto paths = sink->chunk_paths();
    EXPECT_EQ(paths.size(), writer.openings);
    EXPECT_GT(paths.size(), 15U);
    expect_whole(paths, 0);
    unsigned long long total = 0;
    for (const std::string& file : paths) {
        const uint64_t size = std::filesystem::file_size(file);
        EXPECT_LE(size, kChunkBytes + ByteSink::kReserveBytesMax);
        total += size;
    }
    EXPECT_EQ(total, sink->bytes_committed());
}

TEST_F(RotatingSinkTest, EachChunkOfATraceReadsAlone) {
    const auto sink = open(every(kBufferBytes));
    const auto writer = find_format_by_name("fxt")->make_writer(*sink);
    ASSERT_TRUE(writer->open().has_value());
    const model::ThreadIndex thread{0};
    const model::PointIndex point{0};
    writer->define(model::Thread{.index = thread, .pid = 7, .tid = 7, .thread_name = "main"});
    writer->define(model::Point{.index = point, .category = "test", .name = "tick"});
    constexpr uint64_t kEvents = 10'000;
    for (uint64_t i = 1; i <= kEvents; ++i) {
        ASSERT_TRUE(begin_chunk_if_due(*sink, *writer).has_value());
        const model::Event event{i, model::Instant{point, thread, {}}};
        ASSERT_TRUE(wait_until([&] { return writer->write(event) == WriteStatus::ok; }));
    }
    ASSERT_TRUE(writer->close().has_value());
    ASSERT_TRUE(sink->close().has_value());
    ASSERT_GT(sink->chunk_paths().size(), 2U);
    uint64_t expected = 1;
    for (const std::string& file : sink->chunk_paths()) {
        const auto trace = test::load_fxt(file);
        ASSERT_TRUE(trace.has_value());
        EXPECT_THAT(trace->problems, SizeIs(0)) << file;
        EXPECT_EQ(trace->truncated_tail_bytes, 0U);
        for (const test::FxtEvent& event : trace->events) {
            EXPECT_EQ(event.time, expected++);
            EXPECT_EQ(event.name, "tick");
        }
        EXPECT_EQ(trace->thread_name(7), "main");
    }
    EXPECT_EQ(expected, kEvents + 1);
}

TEST_F(RotatingSinkTest, NamesFollowTheSchemeAndSortByTime) {
    const auto sink = open({.limits = {}});
    RecordWriter writer(*sink);
    ASSERT_TRUE(writer.open().has_value());
    for (int i = 0; i < 11; ++i) ASSERT_TRUE(begin_chunk(*sink, writer).has_value());
    ASSERT_TRUE(sink->close().has_value());
    const auto found = names();
    ASSERT_THAT(found, SizeIs(12));
    for (size_t i = 0; i < found.size(); ++i) {
        EXPECT_THAT(found[i], MatchesRegex("out-[0-9]{8}-[0-9]{8}T[0-9]{6}Z\\.fxt"));
        EXPECT_EQ(std::filesystem::path(sink->chunk_paths()[i]).filename(), found[i]);
        const auto records = read_records(contents(path(found[i])));
        ASSERT_THAT(records, SizeIs(1));
        EXPECT_EQ(records[0].number, i);
    }
    EXPECT_THAT(found.front(), HasSubstr("out-00000001-"));
    EXPECT_THAT(found.back(), HasSubstr("out-00000012-"));
}

TEST_F(RotatingSinkTest, OnlyTheLastDotBeginsTheSuffix) {
    for (const char* const name : {"no-suffix", "two.dots.fxt", ".hidden"}) {
        auto sink = open_rotating_sink(path(name), {});
        ASSERT_TRUE(sink.has_value());
        ASSERT_TRUE((*sink)->close().has_value());
    }
    EXPECT_THAT(names(), testing::ElementsAre(MatchesRegex("\\.hidden-00000001-[0-9]+T[0-9]+Z"),
                                              MatchesRegex("no-suffix-00000001-[0-9]+T[0-9]+Z"),
                                              MatchesRegex("two\\.dots-00000001-[0-9T]+Z\\.fxt")));
}

TEST_F(RotatingSinkTest, AChunkEndsAtItsAgeByTheSinksClock) {
    const auto sink = open({.limits = {.chunk_age_ns = 1'000'000}});
    EXPECT_FALSE(sink->chunk_is_due());
    ASSERT_TRUE(put(*sink, 'a'));
    EXPECT_TRUE(wait_until([&] { return sink->chunk_is_due(); }));
    ASSERT_TRUE(sink->next_chunk().has_value());
    EXPECT_FALSE(sink->chunk_is_due()) << "nothing is in it yet";
    ASSERT_TRUE(sink->close().has_value());
}

TEST_F(RotatingSinkTest, AChunkEndsAtItsAgeByTheCallersClock) {
    const auto sink = open({.limits = {.chunk_age_ns = 100}});
    RecordWriter writer(*sink);
    ASSERT_TRUE(writer.open().has_value());
    const auto write_at = [&](uint64_t now_ns) {
        ASSERT_TRUE(begin_chunk_if_due_at(*sink, writer, now_ns).has_value());
        ASSERT_EQ(writer.write(event_at(now_ns)), WriteStatus::ok);
    };
    for (const uint64_t now_ns : {5000, 5099, 5050, 5100, 5199, 4000, 5200}) write_at(now_ns);
    ASSERT_TRUE(sink->close().has_value());
    std::vector<std::vector<uint64_t>> times;
    for (const std::string& file : sink->chunk_paths()) {
        times.emplace_back();
        for (const RecordHeader& record : read_records(contents(file))) {
            if (record.kind == RecordKind::event) times.back().push_back(record.number);
        }
    }
    // The age counts from the first question in a chunk, which is the event after its opening.
    EXPECT_THAT(times, testing::ElementsAre(testing::ElementsAre(5000, 5099, 5050),
                                            testing::ElementsAre(5100, 5199, 4000, 5200)));
}

TEST_F(RotatingSinkTest, AChunkWithNothingInItGoesOn) {
    const auto sink = open(every(1));
    EXPECT_FALSE(sink->chunk_is_due());
    for (int i = 0; i < 3; ++i) ASSERT_TRUE(sink->next_chunk().has_value());
    ASSERT_TRUE(put(*sink, 'a'));
    EXPECT_TRUE(sink->chunk_is_due());
    ASSERT_TRUE(sink->next_chunk().has_value());
    ASSERT_TRUE(sink->next_chunk().has_value());
    ASSERT_TRUE(put(*sink, 'b', 8));
    ASSERT_TRUE(sink->close().has_value());
    ASSERT_THAT(sink->chunk_paths(), SizeIs(2));
    EXPECT_EQ(contents(sink->chunk_paths()[1]), "bbbbbbbb");
}

TEST_F(RotatingSinkTest, AsksForNoChunkWhileItsOpeningWouldFindNoRoom) {
    test::FakeSync fake;
    RotatingSinkOptions options = every(1);
    options.file.buffer_count = 1;  // two are taken
    options.file.sync.every_bytes = 1;
    const auto sink = open(options);
    fake.is_slow = true;
    size_t taken_count = 0;
    while (put(*sink, 'a')) ++taken_count;
    EXPECT_GT(taken_count, 0U);
    EXPECT_FALSE(sink->chunk_is_due());
    fake.is_slow = false;
    EXPECT_TRUE(wait_until([&] { return sink->chunk_is_due(); }));
    ASSERT_TRUE(sink->close().has_value());
}

TEST_F(RotatingSinkTest, KeepsTheNewestFiles) {
    RotatingSinkOptions options = every(2 * kBufferBytes);
    options.keep_files = 3;
    const auto sink = open(options);
    RecordWriter writer(*sink);
    ASSERT_TRUE(writer.open().has_value());
    for (int i = 0; i < 200; ++i) {
        write(*sink, writer, 100);
        EXPECT_LE(sink->chunk_paths().size(), 3U);
    }
    ASSERT_TRUE(sink->close().has_value());
    const auto paths = sink->chunk_paths();
    ASSERT_THAT(paths, SizeIs(3));
    EXPECT_THAT(names(), SizeIs(3));
    EXPECT_EQ(sink->chunks_deleted() + 3, writer.openings);
    expect_whole(paths, read_records(contents(paths[0])).at(1).number);
}

TEST_F(RotatingSinkTest, KeepsSoManyBytes) {
    constexpr uint64_t kKeepBytes = 6 * kBufferBytes;
    RotatingSinkOptions options = every(kBufferBytes);
    options.keep_bytes = kKeepBytes;
    const auto sink = open(options);
    RecordWriter writer(*sink);
    ASSERT_TRUE(writer.open().has_value());
    write(*sink, writer, 10'000);
    ASSERT_TRUE(sink->close().has_value());
    const auto paths = sink->chunk_paths();
    EXPECT_GT(sink->chunks_deleted(), 0U);
    EXPECT_THAT(names(), SizeIs(paths.size()));
    uint64_t kept = 0;
    for (const std::string& file : paths) kept += std::filesystem::file_size(file);
    EXPECT_LE(kept, kKeepBytes);
    EXPECT_GT(kept, kKeepBytes - 3 * kBufferBytes) << "no more was deleted than had to be";
    expect_whole(paths, read_records(contents(paths[0])).at(1).number);
}

TEST_F(RotatingSinkTest, DeletesNoFileThatItDidNotMake) {
    RotatingSinkOptions options = every(1);
    options.keep_files = 1;
    const auto sink = open(options);
    const std::string first = sink->chunk_paths()[0];
    std::ofstream(path("other-00000001-20200101T000000Z.fxt")) << "other";
    ASSERT_EQ(::unlink(first.c_str()), 0);
    std::ofstream(first) << "somebody else's";
    RecordWriter writer(*sink);
    ASSERT_TRUE(writer.open().has_value());
    write(*sink, writer, 3);
    ASSERT_TRUE(sink->close().has_value());
    EXPECT_EQ(contents(first), "somebody else's");
    EXPECT_EQ(contents(path("other-00000001-20200101T000000Z.fxt")), "other");
    EXPECT_THAT(names(), SizeIs(3)) << "and the last chunk";
    EXPECT_EQ(sink->chunks_deleted(), 2U) << "the first was no longer there to delete";
}

TEST_F(RotatingSinkTest, PassesOverNamesThatAreTakenAndLinks) {
    std::ofstream(path("victim")) << "precious";
    const time_t now = ::time(nullptr);
    // The sink opens within the next minute, whatever the machine is busy with.
    for (time_t at = now; at < now + 60; ++at) {
        tm utc{};
        ASSERT_NE(::gmtime_r(&at, &utc), nullptr);
        std::array<char, 32> text{};
        ASSERT_NE(std::strftime(text.data(), text.size(), "%Y%m%dT%H%M%SZ", &utc), 0U);
        const auto name = [&](const char* number) {
            return path(std::string("out-") + number + "-" + text.data() + ".fxt");
        };
        std::ofstream(name("00000001")) << "taken";
        ASSERT_EQ(::symlink(path("victim").c_str(), name("00000002").c_str()), 0);
        ASSERT_EQ(::symlink(path("nothing").c_str(), name("00000003").c_str()), 0);
    }
    const auto sink = open({});
    ASSERT_TRUE(put(*sink, 'a'));
    ASSERT_TRUE(sink->close().has_value());
    EXPECT_THAT(sink->chunk_paths(), testing::ElementsAre(HasSubstr("out-00000004-")));
    EXPECT_EQ(contents(path("victim")), "precious");
    EXPECT_FALSE(std::filesystem::exists(path("nothing")));
}

TEST_F(RotatingSinkTest, EveryFileIsPrivateAndItsOwners) {
    const bool is_root = ::geteuid() == 0;
    RotatingSinkOptions options = every(1);
    if (is_root) options.file.owner = FileOwner{.uid = 65534, .gid = 65534};
    const auto sink = open(options);
    RecordWriter writer(*sink);
    ASSERT_TRUE(writer.open().has_value());
    write(*sink, writer, 2);
    ASSERT_TRUE(sink->close().has_value());
    ASSERT_THAT(sink->chunk_paths(), SizeIs(3));
    for (const std::string& file : sink->chunk_paths()) {
        struct stat found {};
        ASSERT_EQ(::stat(file.c_str(), &found), 0);
        EXPECT_EQ(found.st_mode & 07777, 0600U);
        EXPECT_EQ(found.st_uid, is_root ? 65534U : ::geteuid());
    }
}

TEST_F(RotatingSinkTest, SyncsEachFileThatItCloses) {
    test::FakeSync fake;
    RotatingSinkOptions options = every(1);
    options.file.sync.at_close = true;
    const auto sink = open(options);
    RecordWriter writer(*sink);
    ASSERT_TRUE(writer.open().has_value());
    write(*sink, writer, 4);
    ASSERT_TRUE(sink->close().has_value());
    EXPECT_EQ(fake.file_count, 5);
    EXPECT_EQ(fake.folder_count, 5);
}

TEST_F(RotatingSinkTest, AFailingChunkEndsTheSink) {
    test::FakeSync fake;
    RotatingSinkOptions options = every(1);
    options.file.sync.at_close = true;
    const auto sink = open(options);
    RecordWriter writer(*sink);
    ASSERT_TRUE(writer.open().has_value());
    fake.fails_with = EIO;
    ASSERT_TRUE(begin_chunk(*sink, writer).has_value()) << "the thread has not closed it yet";
    sink->flush();
    ASSERT_TRUE(wait_until([&] { return !sink->health().has_value(); }));
    EXPECT_FALSE(begin_chunk(*sink, writer).has_value());
    EXPECT_FALSE(sink->chunk_is_due());
    EXPECT_EQ(writer.write(event_at(1)), WriteStatus::no_room);
    const Status status = sink->close();
    ASSERT_FALSE(status.has_value());
    EXPECT_EQ(status.error().sys_errno, EIO);
    EXPECT_THAT(status.error().what, HasSubstr("out-00000001-"));
}

TEST_F(RotatingSinkTest, AFolderThatIsGoneEndsTheSink) {
    std::filesystem::create_directory(path("sub"));
    auto sink = open_rotating_sink(path("sub/out.fxt"), every(1));
    ASSERT_TRUE(sink.has_value());
    RecordWriter writer(**sink);
    ASSERT_TRUE(writer.open().has_value());
    std::filesystem::remove_all(path("sub"));
    ASSERT_TRUE(begin_chunk(**sink, writer).has_value());
    const Status status = (*sink)->close();
    ASSERT_FALSE(status.has_value());
    EXPECT_EQ(status.error().sys_errno, ENOENT);
}

TEST_F(RotatingSinkTest, AFullDiskKeepsWholeRecords) {
    if (::geteuid() != 0) GTEST_SKIP() << "needs root: mounts a small file system";
    // In a mount name space of this thread's own, so that nothing is left behind whatever happens.
    if (::unshare(CLONE_NEWNS) != 0 ||
        ::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 ||
        ::mount("tracer-test", folder.c_str(), "tmpfs", 0, "size=256k") != 0) {
        GTEST_SKIP() << "no file system may be mounted here";
    }
    const auto sink = open(every(100'000));
    RecordWriter writer(*sink);
    ASSERT_TRUE(writer.open().has_value());
    const bool has_ended = wait_until([&] {
        static_cast<void>(begin_chunk_if_due(*sink, writer));
        static_cast<void>(writer.write(event_at(next_event++)));
        return !sink->health().has_value();
    });
    const Status status = sink->close();
    std::string all;
    for (const std::string& file : sink->chunk_paths()) all += contents(file);
    ASSERT_EQ(::umount(folder.c_str()), 0);
    EXPECT_TRUE(has_ended);
    ASSERT_FALSE(status.has_value());
    EXPECT_EQ(status.error().sys_errno, ENOSPC);
    // Every file's last record is whole where this system can cut at one: within 4 KiB.
    EXPECT_GT(read_records(all).size(), 500U);
}

TEST_F(RotatingSinkTest, ABadPathIsAnErrorAtOnce) {
    const auto no_name = open_rotating_sink(folder + "/", {});
    ASSERT_FALSE(no_name.has_value());
    EXPECT_EQ(no_name.error().code, ErrorCode::usage);
    const auto no_folder = open_rotating_sink(path("no/such/out.fxt"), {});
    ASSERT_FALSE(no_folder.has_value());
    EXPECT_EQ(no_folder.error().sys_errno, ENOENT);
    EXPECT_FALSE(open_rotating_sink("", {}).has_value());
}

}  // namespace
}  // namespace tracer
