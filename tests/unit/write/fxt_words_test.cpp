// SPDX-License-Identifier: Apache-2.0
//
// The words of each record against values computed by hand from the format's document.
#include "tracer/write/fxt/words.h"
#include "unit/write/fxt_fixture.h"

#include <algorithm>

#include <gmock/gmock.h>

namespace tracer::test {
namespace {

using testing::ElementsAre;

// True if `part` stands in `whole` as it is.
bool contains(const std::vector<uint64_t>& whole, const std::vector<uint64_t>& part) {
    return std::search(whole.begin(), whole.end(), part.begin(), part.end()) != whole.end();
}

TEST(FxtWords, HeadersOfRecordsWithoutNames) {
    EXPECT_EQ(fxt::magic_word(), 0x0016547846040010U);
    EXPECT_EQ(fxt::provider_info_header(1, 6), 0x0060000000110020U);
    EXPECT_EQ(fxt::initialization_header(), 0x0000000000000021U);
    EXPECT_EQ(fxt::string_record_header(1, 7), 0x0000000700010022U);
    EXPECT_EQ(fxt::string_record_header(3, 8), 0x0000000800030022U) << "a whole word: no padding";
    EXPECT_EQ(fxt::string_record_header(7, 15), 0x0000000f00070032U);
    EXPECT_EQ(fxt::thread_record_header(1), 0x0000000000010033U);
}

TEST(FxtWords, HeadersOfObjects) {
    EXPECT_EQ(fxt::kernel_object_header(fxt::ObjectType::process, 2, 4, 0), 0x0000000004010027U);
    EXPECT_EQ(fxt::kernel_object_header(fxt::ObjectType::thread, 4, 5, 1), 0x0000010005020047U);
    EXPECT_EQ(fxt::argument_header(fxt::ArgumentType::koid, 2, 1), 0x0000000000010028U);
}

TEST(FxtWords, HeadersOfEvents) {
    const auto names = fxt::event_names(2, 3);
    EXPECT_EQ(fxt::event_header(fxt::EventType::duration_complete, 4, 1, 1, names),
              0x0003000201140044U);
    EXPECT_EQ(fxt::event_header(fxt::EventType::counter, 5, 1, 1, names), 0x0003000201110054U);
    EXPECT_EQ(fxt::argument_header(fxt::ArgumentType::int32, 1, 6) | fxt::argument_payload_32(2),
              0x0000000200060011U);
    EXPECT_EQ(fxt::argument_header(fxt::ArgumentType::int64, 2, 6), 0x0000000000060023U);
}

TEST(FxtWords, HeadersOfScheduling) {
    EXPECT_EQ(fxt::switch_header(6, 2, 3, fxt::OutgoingState::blocked), 0x1000003000320068U);
    EXPECT_EQ(fxt::wakeup_header(3, 0, 3), 0x2000000000300038U);
    EXPECT_EQ(fxt::argument_header(fxt::ArgumentType::int32, 1, 7) | fxt::argument_payload_32(120),
              0x0000007800070011U);
    EXPECT_EQ(
        fxt::argument_header(fxt::ArgumentType::int32, 1, 8) | fxt::argument_payload_32(0x80000000),
        0x8000000000080011U);
}

TEST(FxtWriter, BeginsEveryFileWithTheSameWords) {
    Recording recording;
    ASSERT_TRUE(recording.writer->open().has_value());
    auto words = recording.words();
    ASSERT_GE(words.size(), 18U);
    words.resize(18);
    EXPECT_THAT(words, ElementsAre(0x0016547846040010,                      // magic
                                   0x0060000000110020, 0x0000726563617274,  // provider 1 "tracer"
                                   0x21, 0x3b9aca00,                        // 1e9 ticks a second
                                   0x0000000700010022, 0x00737365636f7270,  // "process"
                                   0x0000000f00020032, 0x676e696d6f636e69, 0x007468676965775f,
                                   0x0000000f00030032, 0x676e696f6774756f, 0x007468676965775f,
                                   0x0000000600040022, 0x0000746867696577,  // "weight"
                                   0x0000000500050022, 0x00000072656b6177,  // "waker"
                                   0x0000000600060022));                    // "tracer"
}

TEST(FxtWriter, SpellsObjectsAndSwitchesInTheDocumentsWords) {
    Recording recording;
    recording.start();
    EXPECT_TRUE(contains(recording.words(), {0x0000008005010037, 100, 0x000000707061796d}))
        << "process 100 \"myapp\"";
    EXPECT_TRUE(contains(recording.words(),
                         {0x0000018006020057, 101, 0x000072656b726f77, 0x0000000000010028, 100}))
        << "thread 101 \"worker\" of process 100";

    const size_t before = recording.size();
    ASSERT_EQ(recording.run(900, 3, model::kIdleThread, kWorker), WriteStatus::ok);
    EXPECT_THAT(recording.words(before), ElementsAre(0x1000003000320068, 900, 0, 101,
                                                     0x0000007800020011, 0x8000000000030011));
}

TEST(FxtWriter, InstantWithTwoIntegersIsFourWords) {
    Recording recording;
    recording.start();
    const auto point = recording.point(
        "ghc", "gc.major", {{"gen", model::ValueType::s32}, {"live", model::ValueType::s32}});
    ASSERT_EQ(recording.instant(1, point, kWorker, {s32(2), s32(-1)}), WriteStatus::ok);
    const size_t before = recording.size();
    ASSERT_EQ(recording.instant(1000, point, kWorker, {s32(2), s32(-1)}), WriteStatus::ok);
    const auto words = recording.words(before);
    ASSERT_EQ(words.size(), 4U) << "32 bytes an event";
    EXPECT_EQ(words[0] & 0xffffffff, 0x01200044U) << "thread slot 1, 2 arguments, instant, 4 words";
    EXPECT_EQ(words[1], 1000U);
    EXPECT_EQ(words[2] >> 32, 2U);
    EXPECT_EQ(words[3] >> 32, 0xffffffffU);
}

}  // namespace
}  // namespace tracer::test
