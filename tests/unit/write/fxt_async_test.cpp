// SPDX-License-Identifier: Apache-2.0
//
// Spans with tracks of their own: begin and end by id, whatever thread they are on.
#include "unit/write/fxt_fixture.h"

#include <gmock/gmock.h>

namespace tracer::test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class FxtAsync : public testing::Test {
protected:
    void SetUp() override {
        recording_.start();
        point_ = recording_.point("app", "req", {{"key", model::ValueType::u64}},
                                  {{"status", model::ValueType::s32}});
    }
    WriteStatus begin(uint64_t ns,
                      uint64_t id,
                      model::ThreadIndex thread,
                      std::vector<model::Value> values) {
        return recording_.writer->write({ns, model::AsyncBegin{point_, thread, id, values}});
    }
    WriteStatus end(uint64_t ns,
                    uint64_t id,
                    model::ThreadIndex thread,
                    std::vector<model::Value> values = {},
                    model::SpanEndCause cause = model::SpanEndCause::returned) {
        return recording_.writer->write({ns, model::AsyncEnd{point_, thread, id, cause, values}});
    }
    // The events of the file in order.
    [[nodiscard]] std::vector<std::string> events() {
        std::vector<std::string> lines;
        const FxtFile file = recording_.read();
        EXPECT_THAT(file.problems, IsEmpty());
        for (const FxtRecord& record : file.records) {
            if (record.kind == FxtRecordKind::event) lines.push_back(to_text(file, record));
        }
        return lines;
    }

    Recording recording_;
    model::PointIndex point_{};
};

TEST_F(FxtAsync, ConnectsBeginAndEndOverThreadsThatCross) {
    EXPECT_EQ(begin(10, 101, kMain, {u64(5)}), WriteStatus::ok);
    EXPECT_EQ(begin(20, 102, kMain, {u64(6)}), WriteStatus::ok);
    EXPECT_EQ(end(30, 101, kWorker, {s32(200)}), WriteStatus::ok);
    EXPECT_EQ(end(40, 102, kMain, {}, model::SpanEndCause::key_reused), WriteStatus::ok);
    EXPECT_THAT(events(), ElementsAre("async_begin 10 100/100 \"app\" \"req\" key=u64 5 id 101",
                                      "async_begin 20 100/100 \"app\" \"req\" key=u64 6 id 102",
                                      "async_end 30 100/101 \"app\" \"req\" status=i32 200 id 101",
                                      "async_end 40 100/100 \"app\" \"req\" ended=\"key reused\" "
                                      "id 102"));
    EXPECT_EQ(recording_.read().open_async_count, 0U);
}

TEST_F(FxtAsync, RefusesAnIdThatIsOpenAndAnEndWithoutABegin) {
    EXPECT_EQ(end(5, 101, kMain, {s32(1)}), WriteStatus::refused);
    EXPECT_EQ(begin(10, 101, kMain, {u64(5)}), WriteStatus::ok);
    EXPECT_EQ(begin(20, 101, kMain, {u64(5)}), WriteStatus::refused);
    EXPECT_EQ(end(9, 101, kMain, {s32(1)}), WriteStatus::refused) << "before its begin";
    EXPECT_EQ(end(30, 101, kMain, {s32(1)}), WriteStatus::ok);
    EXPECT_EQ(end(40, 101, kMain, {s32(1)}), WriteStatus::refused);
}

TEST_F(FxtAsync, AnEndWithTheWrongValuesStillEnds) {
    EXPECT_EQ(begin(10, 101, kMain, {u64(5)}), WriteStatus::ok);
    EXPECT_EQ(end(20, 101, kMain, {s32(1), s32(2)}), WriteStatus::ok);
    EXPECT_EQ(recording_.read().open_async_count, 0U);
}

TEST_F(FxtAsync, GoesOnInAChunkThatReadsAlone) {
    EXPECT_EQ(begin(10, 101, kMain, {u64(5)}), WriteStatus::ok);
    const size_t size = recording_.size();
    ASSERT_TRUE(recording_.writer->begin_chunk());
    EXPECT_EQ(end(30, 101, kWorker, {s32(200)}), WriteStatus::ok);
    const FxtFile chunk = recording_.read(size);
    EXPECT_THAT(chunk.problems, IsEmpty());
    EXPECT_EQ(chunk.open_async_count, 0U);
    ASSERT_EQ(chunk.events.size(), 2U);
    EXPECT_EQ(chunk.events[0].type, FxtEventType::async_begin);
    EXPECT_EQ(chunk.events[0].time, 10U);
    EXPECT_EQ(chunk.events[0].last_word, 101U);
}

TEST(FxtAsyncFull, AnEndWithoutRoomMayComeAgain) {
    Recording recording(4096);
    recording.start();
    const auto point = recording.point("app", "req");
    const auto instant = recording.point("app", "i");
    TraceWriter& writer = *recording.writer;
    ASSERT_EQ(writer.write({1, model::AsyncBegin{point, kMain, 7, {}}}), WriteStatus::ok);
    uint64_t ns = 2;
    while (recording.instant(ns, instant, kMain) == WriteStatus::ok && ns < 4096) ++ns;
    const model::Event end{ns, model::AsyncEnd{.point = point, .thread = kMain, .id = 7}};
    EXPECT_EQ(writer.write(end), WriteStatus::no_room);
    MemorySink more;
    ASSERT_TRUE(writer.switch_sink(more, SinkStart::goes_on));
    EXPECT_EQ(writer.write(end), WriteStatus::ok);
    EXPECT_EQ(writer.write(end), WriteStatus::refused);
}

}  // namespace
}  // namespace tracer::test
