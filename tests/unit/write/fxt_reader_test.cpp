// SPDX-License-Identifier: Apache-2.0
//
// The reader against words written out by hand: each rule is broken once.
#include "support/fxt_reader.h"

#include <cstring>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tracer::test {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr uint64_t kMagic = 0x0016547846040010;

FxtFile parse_words(const std::vector<uint64_t>& words, size_t cut_bytes = 0) {
    const auto bytes = std::as_bytes(std::span(words));
    return parse_fxt(bytes.first(bytes.size() - cut_bytes));
}

// A good file: two threads' worth of tables, then `more`.
std::vector<uint64_t> file_with(const std::vector<uint64_t>& more) {
    std::vector<uint64_t> words{kMagic,
                                0x0060000000110020,
                                0x0000726563617274,  // provider 1
                                0x0000000000000021,
                                0x000000003b9aca00,  // 1e9 ticks
                                0x0000000700010022,
                                0x00737365636f7270,  // string 1 "process"
                                0x0000000300020022,
                                0x0000000000636867,  // string 2 "ghc"
                                0x0000000800030022,
                                0x726f6a616d2e6367,  // string 3 "gc.major"
                                0x0000000300060022,
                                0x00000000006e6567,  // string 6 "gen"
                                0x0000000f00070032,
                                0x676e696d6f636e69,
                                0x007468676965775f,
                                0x0000000f00080032,
                                0x676e696f6774756f,
                                0x007468676965775f,
                                0x0000000000010033,
                                0x0000000000000064,
                                0x0000000000000065,  // thread 1 = 100/101
                                0x0000010003020047,
                                0x0000000000000065,
                                0x0000000000010028,
                                0x0000000000000064};
    words.insert(words.end(), more.begin(), more.end());
    return words;
}

constexpr uint64_t kBegin = 0x0003000201020024;
constexpr uint64_t kEnd = 0x0003000201030024;

TEST(FxtReader, ReadsTheDocumentsExamples) {
    const FxtFile file = parse_words(
        file_with({0x0003000201140044, 1000, 0x0000000200060011, 5000,     // complete, gen=2
                   0x0003000201110054, 1500, 0x0000000000060023, 0x4d, 0,  // counter gen=77
                   0x1000003000320068, 900, 0, 101, 0x0000007800070011, 0x8000000000080011,
                   0x2000000000300038, 800, 101}));  // wakeup
    EXPECT_THAT(file.problems, IsEmpty());
    ASSERT_EQ(file.events.size(), 2U);
    EXPECT_EQ(file.events[0].name, "gc.major");
    EXPECT_EQ(file.events[0].pid, 100U);
    EXPECT_EQ(file.events[0].last_word, 5000U);
    EXPECT_EQ(std::get<int64_t>(*file.find(file.events[1].arguments, "gen")), 77);
    ASSERT_EQ(file.switches.size(), 1U);
    EXPECT_EQ(file.switches[0].cpu, 3);
    EXPECT_EQ(file.switches[0].out_state, 3);
    EXPECT_EQ(file.wakeups.at(0).tid, 101U);
    EXPECT_EQ(file.thread_name(101), "gc.major");
}

TEST(FxtReader, ReportsATailApartFromProblems) {
    const auto words = file_with({kBegin, 10, kEnd, 20});
    for (size_t cut = 1; cut < 16; ++cut) {
        const FxtFile file = parse_words(words, cut);
        EXPECT_THAT(file.problems, IsEmpty());
        EXPECT_EQ(file.truncated_tail_bytes, 16 - cut);
        EXPECT_EQ(file.open_span_count, 1U);
    }
}

struct Broken {
    const char* what;
    std::vector<uint64_t> words;
};

TEST(FxtReader, SaysWhatIsWrong) {
    const std::vector<Broken> cases{
        {"no words", {0}},
        {"large record", {0x000000000000002f, 0}},
        {"string 9 is not defined", {0x0009000201020024, 10}},
        {"thread 2 is not defined", {0x0003000202000024, 10}},
        {"end of gc.major without a begin", {kEnd, 10}},
        {"reserved bits", {0x8000000000010033, 1, 2}},
        {"too many", {0x0003000201000034, 10, 0}},
        {"too short", {0x0003000201100024, 10}},
        {"reads as a path", {0x0003000201100034, 10, 0x0000000200030011}},
        {"says 2 words and has 1", {0x0003000201100034, 10, 0x0000000200060021}},
        {"argument of unknown type", {0x0003000201100034, 10, 0x000000000006001e}},
        {"event of unknown type", {0x00030002010e0024, 10}},
        {"record of unknown type", {0x000000000000001c}},
        {"subtype 0", {0x0000000000000038, 1, 2}},
        {"padding", {0x0000000300090022, 0x0100000000636867}},
        {"ends before it begins", {0x0003000201040034, 1000, 999}},
        {"overlaps", {0x0003000201040034, 1000, 2000, 0x0003000201040034, 1500, 2500}},
        {"no object with its process", {0x2000000000300038, 800, 77}},
        {"which is running",
         {0x1000003000320068, 900, 0, 101, 0x0000007800070011, 0x8000000000080011,
          0x2000000000300038, 950, 101}},
        {"marked idle", {0x1000003000320068, 900, 0, 101, 0x0000007800070011, 0x0000000000080011}},
        {"without a process argument", {0x0000000003020027, 0x66}},
        {"moves from process", {0x0000010003020047, 0x65, 0x0000000000010028, 0x63}},
        {"more bits than readers keep", {0x0000000003010027, 0x100000000}},
        {"CPU 4096", {0x2000000100000038, 800, 101}},
        {"no number", {0x0003000201110044, 10, 0x0000000000060010, 0}},
    };
    for (const Broken& broken : cases) {
        const FxtFile file = parse_words(file_with(broken.words));
        EXPECT_THAT(file.problems, Contains(HasSubstr(broken.what)));
    }
}

TEST(FxtReader, SeesABrokenChainOfSwitches) {
    const std::vector<uint64_t> other{0x0000010003020047, 0x66, 0x0000000000010028, 0x64};
    std::vector<uint64_t> words = other;
    const std::vector<uint64_t> in{0x1000003000320068, 900, 0, 101, 0x0000007800070011,
                                   0x8000000000080011};
    const std::vector<uint64_t> out{0x1000003000320068, 901, 0x66, 0, 0x8000000000070011,
                                    0x0000007800080011};
    words.insert(words.end(), in.begin(), in.end());
    words.insert(words.end(), out.begin(), out.end());
    EXPECT_THAT(parse_words(file_with(words)).problems, Contains(HasSubstr("switches away")));
}

TEST(FxtReader, NeedsTheMagicAndSurvivesAnything) {
    EXPECT_THAT(parse_fxt({}).problems, Contains(HasSubstr("magic")));
    EXPECT_THAT(parse_words({0x21, 1}).problems, Contains(HasSubstr("magic")));
    const auto words = file_with({kBegin, 10, 0x0003000201140044, 1000, 0x0000000200060011, 5000});
    // Each byte of a good file damaged in turn: no crash, and no read past the end.
    std::vector<std::byte> bytes(words.size() * 8);
    std::memcpy(bytes.data(), words.data(), bytes.size());
    for (size_t i = 0; i < bytes.size(); ++i) {
        auto damaged = bytes;
        damaged[i] ^= std::byte{0xff};
        static_cast<void>(parse_fxt(damaged));
    }
}

}  // namespace
}  // namespace tracer::test
