// SPDX-License-Identifier: Apache-2.0
//
// The reader against words written out by hand: the document's examples, and each rule of the
// format broken once.
#include "support/fxt_text.h"
#include "unit/write/fxt_reader_fixture.h"

#include <cstring>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tracer::test {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr uint64_t kBegin = 0x0003000201020024;
constexpr uint64_t kEnd = 0x0003000201030024;

std::vector<std::string> lines_of(const FxtFile& file) {
    std::vector<std::string> lines;
    for (const FxtRecord& record : file.records) lines.push_back(to_text(file, record));
    return lines;
}

TEST(FxtReader, ReadsTheDocumentsExamples) {
    const FxtFile file = parse_words({
        kMagicWord,         0x0060000000110020, 0x0000726563617274,
        0x0000000000120010, 0x0000000000000021, 0x000000003b9aca00,
        0x0000000700010022, 0x00737365636f7270, 0x0000000300020022,
        0x0000000000636867, 0x0000000800030022, 0x726f6a616d2e6367,
        0x0000000500040022, 0x000000707061796d, 0x0000000600050022,
        0x000072656b726f77, 0x0000000300060022, 0x00000000006e6567,
        0x0000000f00070032, 0x676e696d6f636e69, 0x007468676965775f,
        0x0000000f00080032, 0x676e696f6774756f, 0x007468676965775f,
        0x0000000000010033, 0x0000000000000064, 0x0000000000000065,
        0x0000000004010027, 0x0000000000000064, 0x0000010005020047,
        0x0000000000000065, 0x0000000000010028, 0x0000000000000064,
        0x0003000201140044, 0x00000000000003e8, 0x0000000200060011,
        0x0000000000001388, 0x0003000201110054, 0x00000000000005dc,
        0x0000000000060023, 0x000000000000004d, 0,
        0x1000003000320068, 0x0000000000000384, 0,
        0x0000000000000065, 0x0000007800070011, 0x8000000000080011,
        0x2000000000300038, 0x0000000000000320, 0x0000000000000065,
        0x0003000200000025, 0x000000000000000a,
    });
    EXPECT_THAT(file.problems, IsEmpty());
    EXPECT_THAT(lines_of(file),
                ElementsAre("magic", "provider 1 \"tracer\"", "provider_section 1",
                            "initialization 1000000000", "string 1 \"process\"", "string 2 \"ghc\"",
                            "string 3 \"gc.major\"", "string 4 \"myapp\"", "string 5 \"worker\"",
                            "string 6 \"gen\"", "string 7 \"incoming_weight\"",
                            "string 8 \"outgoing_weight\"", "thread_slot 1 100/101",
                            "process 100 \"myapp\"", "thread 101 \"worker\" process=koid 100",
                            "complete 1000 100/101 \"ghc\" \"gc.major\" gen=i32 2 until 5000",
                            "counter 1500 100/101 \"ghc\" \"gc.major\" gen=i64 77",
                            "switch 900 cpu 3 0 -> 101 state 3 incoming_weight=i32 120 "
                            "outgoing_weight=i32 -2147483648",
                            "wakeup 800 cpu 3 101", "blob of type 3 \"\" 2 bytes 0a00"));
    EXPECT_EQ(file.process_name(100), "myapp");
    EXPECT_EQ(file.thread_name(101), "worker");
    EXPECT_EQ(std::get<int64_t>(*file.find(file.events.at(1).arguments, "gen")), 77);
}

TEST(FxtReader, ReadsBothFormsOfInitialization) {
    const FxtFile file =
        parse_words(file_with({0x21, 1000, 0x41, 2000, 7, static_cast<uint64_t>(-9)}));
    EXPECT_THAT(file.problems, IsEmpty());
    ASSERT_EQ(file.initializations.size(), 3U);
    EXPECT_FALSE(file.initializations[1].base.has_value());
    EXPECT_EQ(file.initializations[2], (FxtInitialization{2000, FxtInitialization::Base{7, -9}}));
}

// By index, inline, empty by reference 0 and empty inline; threads likewise.
TEST(FxtReader, ResolvesEveryFormOfReference) {
    const FxtFile file =
        parse_words(file_with({0x0003800000000044, 10, 100, 101, 0x8003000201000034, 11,
                               0x0000000000636261, 0x0000000001000024, 12}));
    EXPECT_THAT(file.problems, IsEmpty());
    ASSERT_EQ(file.events.size(), 3U);
    EXPECT_EQ(file.events[0].category, "");
    EXPECT_EQ(file.events[0].name, "gc.major");
    EXPECT_EQ(file.events[1].category, "ghc");
    EXPECT_EQ(file.events[1].name, "abc");
    EXPECT_EQ(file.events[2].category, "");
    EXPECT_EQ(file.events[2].name, "");
    for (const FxtEvent& event : file.events) {
        EXPECT_EQ(event.pid, 100U);
        EXPECT_EQ(event.tid, 101U);
    }
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
    FxtFault fault;
    std::vector<uint64_t> words;
};

TEST(FxtReader, NamesAndCountsEveryFault) {
    const std::vector<Broken> cases{
        {"no words", FxtFault::no_words, {0}},
        {"no words", FxtFault::no_words, {0x000000000000000f}},
        {"string 9 is not defined", FxtFault::string_undefined, {0x0009000201020024, 10}},
        {"string 9 is not defined",
         FxtFault::string_undefined,
         {0x0003000201100034, 10, 0x0000000900060016}},
        {"thread 2 is not defined", FxtFault::thread_undefined, {0x0003000202000024, 10}},
        {"thread 2 is not defined", FxtFault::thread_undefined, {0x0000000200000029, 10}},
        {"reserved bits", FxtFault::reserved_bits, {0x8000000000010033, 1, 2}},
        {"reserved bits 48..63",
         FxtFault::reserved_bits,
         {0x0003000201100034, 10, 0x0001000200060016}},
        {"reserved bits 33..63",
         FxtFault::reserved_bits,
         {0x0003000201100034, 10, 0x0000000200060019}},
        {"1 words too many", FxtFault::too_long, {0x0003000201000034, 10, 0}},
        {"too short", FxtFault::too_short, {0x0003000201100024, 10}},
        {"too short", FxtFault::too_short, {0x0000000100090012}},
        {"too short", FxtFault::too_short, {0x0000000000010023, 1}},
        {"too short", FxtFault::too_short, {0x0000000000000011}},
        {"too short", FxtFault::too_short, {0x0000000000000028, 1}},
        {"too short", FxtFault::too_short, {0x0000000000000027, 1, 0x0000010000010017}},
        {"says 2 words and has 1",
         FxtFault::argument_size,
         {0x0003000201100034, 10, 0x0000000200060021}},
        {"argument of unknown type 14",
         FxtFault::argument_type,
         {0x0003000201100034, 10, 0x000000000006001e}},
        {"event of unknown type 14", FxtFault::event_type, {0x00030002010e0024, 10}},
        {"record of unknown type 12", FxtFault::record_type, {0x000000000000001c}},
        {"metadata of unknown type 5", FxtFault::metadata_type, {0x0000000000050010}},
        {"other than the magic", FxtFault::trace_info_type, {0x0016547846140010}},
        {"subtype 3", FxtFault::scheduling_type, {0x3000000000000038, 1, 2}},
        {"blob of unknown type 4", FxtFault::blob_type, {0x0004000000000015}},
        {"large record of unknown type 2", FxtFault::large_type, {0x000000200000001f}},
        {"large blob of unknown format 2", FxtFault::large_format, {0x000002000000001f}},
        {"padding", FxtFault::padding, {0x0000000300090022, 0x0100000000636867}},
        {"a string of index 0", FxtFault::string_index_zero, {0x0000000000000012}},
        {"a thread of index 0", FxtFault::thread_index_zero, {0x0000000000000033, 1, 2}},
        {"no ticks per second", FxtFault::no_tick_rate, {0x0000000000000021, 0}},
        {"of 3 words, neither", FxtFault::initialization_size, {0x0000000000000031, 1, 0}},
        {"provider 9 is not defined", FxtFault::provider_undefined, {0x0000000000920010}},
    };
    for (const Broken& broken : cases) {
        const FxtFile file = parse_words(file_with(broken.words));
        EXPECT_THAT(file.problems, Contains(HasSubstr(broken.what)));
        EXPECT_GE(file.counts.of(broken.fault), 1U) << name_of(broken.fault);
        EXPECT_THAT(counts_text(file.counts), HasSubstr(std::string(name_of(broken.fault)) + ": "));
    }
}

TEST(FxtReader, RefusesTextsLongerThanTheDocumentAllows) {
    const std::string longest(32000, 'a');
    FxtSpeller good = spell_threads();
    good.add(FxtString{1, longest});
    EXPECT_THAT(parse_fxt(good.bytes()).problems, IsEmpty());

    const std::string too_long(32001, 'b');
    FxtSpeller bad = spell_threads();
    bad.add(FxtString{1, too_long});
    bad.add(FxtEvent{1, FxtEventType::instant, 0, too_long, "b", 100, 101, {}});
    const FxtFile file = parse_fxt(bad.bytes());
    EXPECT_EQ(file.counts.of(FxtFault::string_too_long), 1U) << "the second stands in the table";
    EXPECT_EQ(file.events.at(0).category.size(), too_long.size());
}

// A record that says more than it holds is skipped whole: no half definition stays.
TEST(FxtReader, TakesNothingFromADamagedRecord) {
    const FxtFile file =
        parse_words(file_with({0x0000001000030022, 0x6161616161616161, kBegin, 10, kEnd, 20}));
    EXPECT_EQ(file.counts.of(FxtFault::too_short), 1U);
    ASSERT_EQ(file.skips.size(), 1U);
    EXPECT_EQ(file.skips[0], (FxtSkipped{2, FxtSkipReason::damaged}));
    EXPECT_EQ(file.events.at(0).name, "gc.major") << "string 3 is what it was";
}

TEST(FxtReader, SkipsAndCountsWhatHasNoMeaningHere) {
    const FxtFile file = parse_words(file_with({0x000000000000002a, 5, kBegin, 10, kEnd, 20}));
    EXPECT_THAT(file.problems, IsEmpty());
    ASSERT_EQ(file.skips.size(), 1U);
    EXPECT_EQ(file.skips[0], (FxtSkipped{10, FxtSkipReason::profiler}));
    EXPECT_EQ(file.unshown_count, 1U);
    EXPECT_EQ(file.events.size(), 2U);
}

TEST(FxtReader, GivesBackEveryRecordAsItWasSpelled) {
    const FxtSpeller speller = spell_every_record();
    const FxtFile file = parse_fxt(speller.bytes());
    EXPECT_EQ(counts_text(file.counts), "");
    for (size_t kind = 0; kind < kFxtRecordKinds; ++kind) {
        EXPECT_GT(file.counts.records[kind], 0U) << "no record of kind " << kind;
    }
    EXPECT_THAT(file.problems, testing::Each(HasSubstr("large record")));
    EXPECT_EQ(file.open_span_count + file.open_async_count + file.open_flow_count, 0U);
    EXPECT_EQ(file.truncated_tail_bytes, 0U);
    EXPECT_THAT(lines_of(file),
                testing::IsSupersetOf({
                    "begin 1000 100/101 \"ghc\" \"collect\" null=null i32=i32 -2147483648 "
                    "u32=u32 4294967295 i64=i64 -9223372036854775808 u64=u64 "
                    "18446744073709551615 f64=f64 -0.5 text=\"inline text\" ghc=\"gc.major\" "
                    "pointer=ptr 0xdeadbeef koid=koid 77 yes=true no=false "
                    "blob=blob 3 bytes 010203 =\"\"",
                    "counter 1020 100/101 \"ghc\" \"collect\" gen=i64 77 id 3",
                    "flow_step 1030 100/102 \"ghc\" \"collect\" id 5",
                    "legacy_switch 2020 cpu 3 100/101 -> 100/102 state 3 priority 120 -> 119",
                    "log 2030 100/101 \"a message\"",
                    "blob of type 2 \"ghc\" 8 bytes 6272616e63686573",
                    "userspace_object 0x1000 of 100 \"object\" size=u64 64",
                    "userspace_object 0x2000 of 200 \"\"",
                    "object of type 3 7 \"memory\"",
                    "large_blob 2050 100/101 \"ghc\" \"dump\" part=u32 1 7 bytes 7061796c6f6164",
                    "large_blob \"\" \"dump\" 12 bytes 6d6f7265207061796c6f6164",
                    "initialization 1000000 tick 5 at 1700000000000000000 ns",
                    "provider_event 2 buffer_full",
                    "instant 9 100/102 \"\" \"other name\"",
                    "instant 9000 100/101 \"ghc\" \"gc.major\"",
                }));
}

// Cut anywhere, the whole records before the cut are there and the rest is the tail.
TEST(FxtReader, KeepsWholeRecordsOfAFileCutAtAnyByte) {
    const FxtSpeller speller = spell_every_record();
    const auto bytes = speller.bytes();
    const FxtFile whole = parse_fxt(bytes);
    size_t whole_records = 0;
    uint64_t end = 0;
    for (size_t cut = 0; cut < bytes.size(); ++cut) {
        while (end + whole.records[whole_records].words * 8 <= cut) {
            end += whole.records[whole_records].words * 8;
            ++whole_records;
        }
        const FxtFile file = parse_fxt(bytes.first(cut));
        ASSERT_EQ(file.records.size(), whole_records) << cut;
        ASSERT_EQ(file.truncated_tail_bytes, cut - end) << cut;
        ASSERT_EQ(file.counts.of(FxtFault::no_magic), cut < 8 ? 1U : 0U) << cut;
        ASSERT_EQ(file.counts.of(FxtFault::too_short), 0U) << cut;
        for (size_t i = 0; i < whole_records; ++i) {
            ASSERT_EQ(to_text(file, file.records[i]), to_text(whole, whole.records[i])) << cut;
        }
    }
}

// Wherever reading goes wrong it stays inside the file and accounts for each of its bytes.
TEST(FxtReader, SurvivesAnyDamagedByte) {
    const FxtSpeller speller = spell_every_record();
    const std::vector<std::byte> bytes(speller.bytes().begin(), speller.bytes().end());
    for (size_t i = 0; i < bytes.size(); ++i) {
        for (const unsigned flip : {0x01, 0x80, 0xff}) {
            auto damaged = bytes;
            damaged[i] ^= std::byte(flip);
            const FxtFile file = parse_fxt(damaged);
            uint64_t records_bytes = 0;
            for (const FxtRecord& record : file.records) {
                ASSERT_EQ(record.offset, records_bytes);
                records_bytes += record.words * 8;
            }
            ASSERT_EQ(records_bytes + file.truncated_tail_bytes + file.counts.unreadable_bytes,
                      damaged.size());
        }
    }
}

TEST(FxtReader, NeedsTheMagic) {
    EXPECT_THAT(parse_fxt({}).problems, Contains(HasSubstr("magic")));
    EXPECT_THAT(parse_words({0x21, 1}).problems, Contains(HasSubstr("magic")));
    EXPECT_THAT(parse_words({kMagicWord}, 1).problems, Contains(HasSubstr("magic")));
    EXPECT_THAT(parse_words({kMagicWord}).problems, IsEmpty());
    EXPECT_THAT(parse_words({kMagicWord, kMagicWord}).problems, IsEmpty()) << "files are joined so";
}

TEST(FxtReader, SaysWhatItCouldNotOpen) {
    const auto file = load_fxt("/nonexistent/file.fxt");
    ASSERT_FALSE(file.has_value());
    EXPECT_EQ(file.error().code, ErrorCode::not_found);
    EXPECT_THAT(file.error().what, HasSubstr("/nonexistent/file.fxt"));
}

}  // namespace
}  // namespace tracer::test
