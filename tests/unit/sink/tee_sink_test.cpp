// SPDX-License-Identifier: Apache-2.0
#include "tracer/write/tee_sink.h"

#include "support/fxt_reader.h"
#include "tracer/write/chunk_memory_sink.h"
#include "tracer/write/chunk_switch.h"
#include "tracer/write/formats.h"
#include "tracer/write/rotating_sink.h"
#include "tracer/write/sinks.h"
#include "unit/session/wait_until.h"
#include "unit/sink/sink_test_support.h"

#include <array>
#include <cerrno>
#include <fcntl.h>
#include <unistd.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tracer {
namespace {

using test::event_at;
using test::kRecordBytes;
using test::put;
using test::read_records;
using test::RecordKind;
using test::RecordWriter;
using test::text_of;
using test::wait_until;
using testing::HasSubstr;
using testing::SizeIs;

// A sink into memory that is full or broken when told to.
class SwitchedSink final : public ByteSink {
public:
    std::span<std::byte> reserve(size_t bytes) override {
        asked += 1;
        if (is_full || !health()) return {};
        return memory.reserve(bytes);
    }
    void commit(size_t bytes) override { memory.commit(bytes); }
    void flush() override { flushed += 1; }
    Status close() override { return health(); }
    Status health() const override {
        if (is_broken) return fail(ErrorCode::io, "write x: broken", "mend it");
        return {};
    }
    unsigned long long bytes_committed() const override { return memory.bytes_committed(); }
    [[nodiscard]] std::string_view text() const { return text_of(memory.bytes()); }

    MemorySink memory;
    bool is_full = false;
    bool is_broken = false;
    int flushed = 0;
    int asked = 0;
};

// A tee over two of them, which asks for chunks at once.
class Pair {
public:
    explicit Pair(const TeeOptions& options = {.rejoin_ns_min = 0}) {
        auto a = std::make_unique<SwitchedSink>();
        auto b = std::make_unique<SwitchedSink>();
        left = a.get();
        right = b.get();
        std::vector<TeeBranch> branches;
        branches.push_back({"left", std::move(a)});
        branches.push_back({"right", std::move(b)});
        sink = std::move(*make_tee_sink(std::move(branches), options));
    }
    [[nodiscard]] TeeBranchReport report(size_t index) const { return sink->branches().at(index); }

    SwitchedSink* left = nullptr;
    SwitchedSink* right = nullptr;
    std::unique_ptr<TeeSink> sink;
};

class TeeSinkTest : public test::FolderTest {};

TEST(TeeSink, GivesEveryRecordToEveryBranch) {
    Pair tee;
    RecordWriter writer(*tee.sink);
    ASSERT_TRUE(writer.open().has_value());
    for (uint64_t i = 0; i < 100; ++i) ASSERT_EQ(writer.write(event_at(i)), WriteStatus::ok);
    tee.sink->flush();
    EXPECT_EQ(tee.left->flushed + tee.right->flushed, 2);
    EXPECT_EQ(tee.left->text(), tee.right->text());
    EXPECT_THAT(read_records(tee.left->text()), SizeIs(101));
    EXPECT_EQ(tee.sink->bytes_committed(), tee.left->bytes_committed());
    EXPECT_FALSE(tee.sink->chunk_is_due());
    EXPECT_EQ(tee.report(1).state, TeeBranchState::open);
    EXPECT_EQ(tee.report(1).lost_records, 0U);
    EXPECT_TRUE(tee.sink->close().has_value());
}

TEST(TeeSink, ABranchWithoutRoomLosesAlone) {
    Pair tee;
    ASSERT_TRUE(put(*tee.sink, 'a', 8));
    tee.right->is_full = true;
    ASSERT_TRUE(put(*tee.sink, 'b', 8));
    ASSERT_TRUE(put(*tee.sink, 'c', 16));
    EXPECT_EQ(tee.left->text(), "aaaaaaaabbbbbbbbcccccccccccccccc");
    EXPECT_EQ(tee.right->text(), "aaaaaaaa");
    const TeeBranchReport lost = tee.report(1);
    EXPECT_EQ(lost.name, "right");
    EXPECT_EQ(lost.state, TeeBranchState::out_of_step);
    EXPECT_EQ(lost.bytes, 8U);
    EXPECT_EQ(lost.lost_records, 2U);
    EXPECT_EQ(lost.lost_bytes, 24U);
    EXPECT_EQ(tee.report(0).lost_records, 0U);
    EXPECT_EQ(tee.sink->bytes_committed(), 32U);
    EXPECT_TRUE(tee.sink->health().has_value());
    EXPECT_TRUE(tee.sink->close().has_value());
}

TEST(TeeSink, AfterALossABranchTakesNothingUntilAChunkBegins) {
    Pair tee;
    RecordWriter writer(*tee.sink);
    ASSERT_TRUE(writer.open().has_value());
    ASSERT_EQ(writer.write(event_at(1)), WriteStatus::ok);
    tee.right->is_full = true;
    ASSERT_EQ(writer.write(event_at(2)), WriteStatus::ok);
    tee.right->is_full = false;
    ASSERT_EQ(writer.write(event_at(3)), WriteStatus::ok);
    EXPECT_EQ(tee.report(1).lost_records, 2U) << "a record may need the one that was lost";
    EXPECT_TRUE(tee.sink->branch_needs_chunk());
    ASSERT_TRUE(begin_chunk_if_due(*tee.sink, writer).has_value());
    EXPECT_FALSE(tee.sink->branch_needs_chunk());
    ASSERT_EQ(writer.write(event_at(4)), WriteStatus::ok);

    const auto records = read_records(tee.right->text());
    ASSERT_THAT(records, SizeIs(4));
    EXPECT_EQ(records[1].number, 1U);
    EXPECT_EQ(records[2].kind, RecordKind::opening);
    EXPECT_EQ(records[3].number, 4U);
    EXPECT_THAT(read_records(tee.left->text()), SizeIs(6));
    EXPECT_EQ(tee.report(1).state, TeeBranchState::open);
    EXPECT_EQ(tee.report(1).lost_records, 2U);
}

TEST(TeeSink, AsksForNoChunkWhileTheBranchHasNoRoom) {
    Pair tee;
    tee.right->is_full = true;
    ASSERT_TRUE(put(*tee.sink, 'a'));
    EXPECT_FALSE(tee.sink->branch_needs_chunk());
    const int asked = tee.right->asked;
    for (int i = 0; i < 100; ++i) EXPECT_FALSE(tee.sink->chunk_is_due());
    EXPECT_LT(tee.right->asked, asked + 100) << "the question is not asked for each record";
    tee.right->is_full = false;
    EXPECT_TRUE(wait_until([&] { return tee.sink->branch_needs_chunk(); }));
}

TEST(TeeSink, AsksForNoChunkSoonAfterALoss) {
    Pair tee({.rejoin_ns_min = UINT64_MAX / 2});
    tee.right->is_full = true;
    ASSERT_TRUE(put(*tee.sink, 'a'));
    tee.right->is_full = false;
    EXPECT_FALSE(tee.sink->branch_needs_chunk());
    // A chunk begun for another reason is as good.
    ASSERT_TRUE(tee.sink->next_chunk().has_value());
    ASSERT_TRUE(put(*tee.sink, 'b', 8));
    EXPECT_EQ(tee.right->text(), "bbbbbbbb");
}

TEST(TeeSink, ABranchWithoutRoomForTheOpeningStaysOutOfStep) {
    Pair tee;
    tee.right->is_full = true;
    ASSERT_TRUE(put(*tee.sink, 'a'));
    ASSERT_TRUE(tee.sink->next_chunk().has_value());
    ASSERT_TRUE(put(*tee.sink, 'b'));
    tee.right->is_full = false;
    ASSERT_TRUE(put(*tee.sink, 'c'));
    EXPECT_EQ(tee.right->text(), "");
    EXPECT_EQ(tee.report(1).lost_records, 3U);
}

TEST(TeeSink, ABrokenBranchStaysClosedAndSaysWhy) {
    Pair tee;
    tee.right->is_broken = true;
    ASSERT_TRUE(put(*tee.sink, 'a'));
    const TeeBranchReport broken = tee.report(1);
    EXPECT_EQ(broken.state, TeeBranchState::failed);
    ASSERT_TRUE(broken.error.has_value());
    EXPECT_EQ(broken.error->what, "write x: broken");
    EXPECT_EQ(broken.lost_records, 1U);
    EXPECT_FALSE(tee.sink->branch_needs_chunk());
    EXPECT_TRUE(tee.sink->health().has_value()) << "the other goes on";
    ASSERT_TRUE(tee.sink->next_chunk().has_value());
    ASSERT_TRUE(put(*tee.sink, 'b'));
    EXPECT_EQ(tee.left->bytes_committed(), 2 * kRecordBytes);
    EXPECT_EQ(tee.report(1).lost_records, 2U);
    const Status status = tee.sink->close();
    ASSERT_FALSE(status.has_value());
    EXPECT_EQ(status.error().what, "right: write x: broken");
    EXPECT_EQ(status.error().hint, "mend it");
}

TEST(TeeSink, ABranchThatBreaksWhileOutOfStepIsNotAskedAgain) {
    Pair tee;
    tee.right->is_full = true;
    ASSERT_TRUE(put(*tee.sink, 'a'));
    tee.right->is_broken = true;
    EXPECT_FALSE(tee.sink->branch_needs_chunk());
    tee.right->is_broken = tee.right->is_full = false;
    ASSERT_TRUE(tee.sink->next_chunk().has_value());
    ASSERT_TRUE(put(*tee.sink, 'b'));
    EXPECT_EQ(tee.right->text(), "") << "failed once is failed for good";
}

TEST(TeeSink, WithoutAnyBranchThereIsNoRoom) {
    Pair tee;
    tee.left->is_broken = tee.right->is_full = true;
    ASSERT_TRUE(put(*tee.sink, 'a', 8)) << "nobody knows before the record";
    EXPECT_FALSE(put(*tee.sink, 'b', 8));
    EXPECT_EQ(tee.sink->bytes_committed(), 0U);
    EXPECT_EQ(tee.report(0).lost_records, 2U);
    EXPECT_EQ(tee.report(1).lost_records, 2U);
    EXPECT_TRUE(tee.sink->health().has_value()) << "one may still come back";
    tee.right->is_broken = true;
    const Status health = tee.sink->health();
    ASSERT_FALSE(health.has_value());
    EXPECT_EQ(health.error().what, "left: write x: broken; right: write x: broken");
    EXPECT_FALSE(tee.sink->next_chunk().has_value());
}

TEST(TeeSink, RefusesOneBranchAndAMissingSink) {
    std::vector<TeeBranch> one;
    one.push_back({"only", make_null_sink()});
    EXPECT_EQ(make_tee_sink(std::move(one)).error().code, ErrorCode::usage);
    std::vector<TeeBranch> missing;
    missing.push_back({"there", make_null_sink()});
    missing.push_back({"missing", nullptr});
    const auto refused = make_tee_sink(std::move(missing));
    ASSERT_FALSE(refused.has_value());
    EXPECT_THAT(refused.error().what, HasSubstr("missing"));
}

TEST(TeeSink, RefusesReservationsBeyondTheContract) {
    Pair tee;
    EXPECT_TRUE(put(*tee.sink, 'a', ByteSink::kReserveBytesMax));
    EXPECT_TRUE(tee.sink->reserve(ByteSink::kReserveBytesMax + 8).empty());
    EXPECT_EQ(tee.report(0).lost_records, 0U);
}

TEST_F(TeeSinkTest, ChunkedBranchesBeginTheirChunksTogether) {
    auto files = open_rotating_sink(path(), {.limits = {.chunk_bytes = 10'000}});
    ASSERT_TRUE(files.has_value());
    const RotatingSink& rotating = **files;
    auto memory = std::make_unique<ChunkMemorySink>(ChunkMemoryOptions{});
    ChunkMemorySink& chunks = *memory;
    std::vector<TeeBranch> branches;
    branches.push_back({"files", std::move(*files)});
    branches.push_back({"memory", std::move(memory)});
    auto tee = make_tee_sink(std::move(branches));
    ASSERT_TRUE(tee.has_value());
    RecordWriter writer(**tee);
    ASSERT_TRUE(writer.open().has_value());
    for (uint64_t i = 0; i < 1000; ++i) {
        ASSERT_TRUE(begin_chunk_if_due(**tee, writer).has_value());
        ASSERT_EQ(writer.write(event_at(i)), WriteStatus::ok);
    }
    ASSERT_TRUE((*tee)->close().has_value());
    EXPECT_GT(rotating.chunk_paths().size(), 10U);
    for (const std::string& file : rotating.chunk_paths()) {
        const auto chunk = chunks.pop();
        ASSERT_TRUE(chunk.has_value());
        EXPECT_TRUE(text_of(chunk->bytes()) == contents(file));
    }
    EXPECT_FALSE(chunks.pop().has_value());
}

TEST_F(TeeSinkTest, AFileGoesOnBesideAReaderThatIsSlowAndThenGone) {
    std::array<int, 2> ends{};
    ASSERT_EQ(::pipe2(ends.data(), O_CLOEXEC), 0);
    UniqueFd reader(ends[0]);
    auto file = open_file_sink(path(), {.buffer_count = 1000});
    ASSERT_TRUE(file.has_value());
    std::vector<TeeBranch> branches;
    branches.push_back({"file", std::move(*file)});
    branches.push_back({"pipe", make_fd_sink(UniqueFd(ends[1]), {.buffer_bytes = test::kBufferBytes,
                                                                 .buffer_count = 2,
                                                                 .owner = {}})});
    auto tee = make_tee_sink(std::move(branches));
    ASSERT_TRUE(tee.has_value());
    const auto pipe_state = [&] { return (*tee)->branches()[1].state; };
    size_t count = 0;
    while (pipe_state() == TeeBranchState::open && count < 10'000) count += put(**tee, 'a') ? 1 : 0;
    EXPECT_EQ(pipe_state(), TeeBranchState::out_of_step);
    reader.reset();
    EXPECT_TRUE(wait_until([&] { return pipe_state() == TeeBranchState::failed; }));
    EXPECT_EQ((*tee)->branches()[1].error->sys_errno, EPIPE);
    for (size_t i = 0; i < 1000; ++i) count += put(**tee, 'a') ? 1 : 0;
    EXPECT_TRUE((*tee)->health().has_value());
    EXPECT_FALSE((*tee)->close().has_value());
    EXPECT_EQ(contents(path()).size(), count * kRecordBytes);
    EXPECT_EQ((*tee)->branches()[0].lost_records, 0U);
}

TEST(TeeSink, ATraceWhoseBranchLostARecordReadsWithoutFault) {
    Pair tee;
    const auto writer = find_format_by_name("fxt")->make_writer(*tee.sink);
    ASSERT_TRUE(writer->open().has_value());
    const model::ThreadIndex thread{0};
    writer->define(model::Thread{.index = thread, .pid = 7, .tid = 7, .thread_name = "main"});
    const auto tick = [&](uint32_t point, uint64_t time_ns) {
        ASSERT_EQ(writer->write({time_ns, model::Instant{model::PointIndex{point}, thread, {}}}),
                  WriteStatus::ok);
    };
    writer->define(model::Point{.category = "test", .name = "first"});
    tick(0, 1);
    tee.right->is_full = true;
    writer->define(model::Point{
        .index = model::PointIndex{1}, .category = "test", .name = "second, its name is lost"});
    tick(1, 2);
    tee.right->is_full = false;
    tick(1, 3);
    ASSERT_TRUE(begin_chunk_if_due(*tee.sink, *writer).has_value());
    tick(1, 4);
    tick(0, 5);
    ASSERT_TRUE(writer->close().has_value());
    const auto read = test::parse_fxt(tee.right->memory.bytes());
    EXPECT_THAT(read.problems, SizeIs(0));
    ASSERT_THAT(read.events, SizeIs(3));
    EXPECT_EQ(read.events[1].time, 4U);
    EXPECT_EQ(read.events[1].name, "second, its name is lost");
    EXPECT_EQ(read.events[2].name, "first");
    EXPECT_THAT(test::parse_fxt(tee.left->memory.bytes()).events, SizeIs(5));
}

}  // namespace
}  // namespace tracer
