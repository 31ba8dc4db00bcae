// SPDX-License-Identifier: Apache-2.0
//
// The reader of a stream: pieces of any size give what the whole gives, providers have tables of
// their own, and sizes that a file only claims cost nothing.
#include "support/fxt_generator.h"
#include "support/fxt_stream.h"
#include "support/fxt_text.h"
#include "unit/write/fxt_reader_fixture.h"

#include <algorithm>
#include <array>
#include <random>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tracer::test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

// Keeps the names of events and the faults.
class Names : public FxtVisitor {
public:
    void on_record(const FxtRecordView& record) override {
        if (const auto* event = std::get_if<FxtEvent>(&record.payload)) {
            names.emplace_back(event->name);
            threads.push_back(event->tid);
        }
        if (const auto* skipped = std::get_if<FxtSkipped>(&record.payload)) {
            skips.push_back(skipped->reason);
        }
    }
    void on_fault(const FxtFaultReport& report) override { faults.push_back(report.fault); }

    std::vector<std::string> names;
    std::vector<uint64_t> threads;
    std::vector<FxtSkipReason> skips;
    std::vector<FxtFault> faults;
};

FxtEvent instant(std::string_view name, uint64_t tid = 101) {
    return {10, FxtEventType::instant, 0, "", name, 100, tid, {}};
}

void feed(FxtStream& stream, const FxtSpeller& speller) {
    stream.feed(speller.bytes());
    stream.finish();
}

TEST(FxtStream, GivesTheSameForPiecesOfAnySize) {
    const FxtSpeller speller = spell_every_record();
    const auto bytes = speller.bytes();
    const std::string whole = to_text_with_words(parse_fxt(bytes), bytes);
    for (const size_t piece : {1, 3, 7, 8, 9, 16, 63, 1000}) {
        FxtCollector collector;
        for (size_t at = 0; at < bytes.size(); at += piece) {
            collector.feed(bytes.subspan(at, std::min(piece, bytes.size() - at)));
        }
        EXPECT_EQ(to_text_with_words(collector.finish(), bytes), whole) << piece;
    }
}

// Compares each record with the one that was spelled last.
class LastSpelled : public FxtVisitor {
public:
    void on_record(const FxtRecordView& record) override {
        EXPECT_TRUE(record.payload == spelled->payload) << "kind " << record.payload.index();
        EXPECT_TRUE(std::ranges::equal(record.arguments, spelled->arguments));
        read += 1;
    }
    void on_fault(const FxtFaultReport& report) override { ADD_FAILURE() << describe(report); }

    const FxtGenerated* spelled = nullptr;
    size_t read = 0;
};

TEST(FxtStream, GivesBackRandomRecordsAsTheyWereSpelled) {
    constexpr size_t kRecords = 3000;
    std::mt19937_64 random(1);
    FxtGenerator generator([&](uint64_t bound) { return random() % bound; });
    LastSpelled visitor;
    FxtStream stream(visitor);
    FxtSpeller speller;
    const auto spell = [&](const FxtGenerated& record) {
        const size_t before = speller.bytes().size();
        speller.add(record.payload, record.arguments);
        visitor.spelled = &record;
        stream.feed(speller.bytes().subspan(before));
    };
    spell({FxtMagic{}, {}});
    for (size_t i = 0; i < kRecords && !testing::Test::HasFailure(); ++i) {
        spell(generator.any_record());
    }
    EXPECT_EQ(visitor.read, 1 + kRecords);
}

TEST(FxtStream, GivesARecordAsSoonAsItIsWhole) {
    FxtSpeller speller = spell_threads();
    const size_t before = speller.bytes().size();
    speller.add(instant("first"));
    const auto bytes = speller.bytes();
    Names names;
    FxtStream stream(names);
    stream.feed(bytes.first(before));
    stream.feed(bytes.subspan(before, bytes.size() - before - 1));
    EXPECT_THAT(names.names, IsEmpty());
    stream.feed(bytes.last(1));
    EXPECT_THAT(names.names, ElementsAre("first"));
    EXPECT_EQ(stream.counts().bytes, bytes.size());
}

TEST(FxtStream, KeepsTheTablesOfEachProvider) {
    FxtSpeller speller;
    speller.add(FxtMagic{})
        .add(FxtString{1, "nobody's"})
        .add(instant("nobody's"))
        .add(FxtProvider{1, "one"})
        .add(FxtString{1, "one's"})
        .add(FxtThread{1, 100, 11})
        .add(FxtProvider{2, "two"})
        .add(FxtString{1, "two's"})
        .add(FxtThread{1, 100, 22})
        .add(FxtProviderSection{1})
        .add(instant("one's", 11))
        .add(FxtProviderSection{2})
        .add(instant("two's", 22))
        .add(FxtProviderSection{0})
        .add(instant("nobody's"));
    Names names;
    FxtStream stream(names);
    feed(stream, speller);
    EXPECT_THAT(names.faults, IsEmpty());
    EXPECT_THAT(names.names, ElementsAre("nobody's", "one's", "two's", "nobody's"));
    EXPECT_THAT(names.threads, ElementsAre(101, 11, 22, 101));
}

// One introduced again has empty tables, as if it had been restarted.
TEST(FxtStream, ForgetsTheTablesOfAProviderIntroducedAgain) {
    FxtSpeller speller;
    speller.add(FxtMagic{})
        .add(FxtProvider{1, "one"})
        .add(FxtString{1, "a"})
        .add(FxtThread{1, 100, 11})
        .add(FxtProvider{1, "one"})
        .add_words(std::array<uint64_t, 2>{0x0001000001000024, 10});
    Names names;
    FxtStream stream(names);
    feed(stream, speller);
    EXPECT_THAT(names.faults, ElementsAre(FxtFault::thread_undefined, FxtFault::string_undefined));
}

TEST(FxtStream, ReadsOnBehindAProviderThatNobodyIntroduced) {
    FxtSpeller speller;
    speller.add(FxtMagic{})
        .add(FxtProvider{1, "one"})
        .add(FxtString{1, "one's"})
        .add(FxtProviderSection{7})
        .add(instant("seven's"))
        .add(FxtProviderSection{1})
        .add(instant("one's"));
    Names names;
    FxtStream stream(names);
    feed(stream, speller);
    EXPECT_THAT(names.faults, ElementsAre(FxtFault::provider_undefined));
    EXPECT_THAT(names.names, ElementsAre("seven's", "one's"));
}

TEST(FxtStream, GivesProvidersPastTheLimitNoTablesToKeep) {
    FxtSpeller speller;
    speller.add(FxtMagic{});
    for (const uint32_t id : {1, 2, 3}) {
        speller.add(FxtProvider{id, ""}).add(FxtString{1, "a"}).add(instant("a"));
    }
    speller.add(FxtProviderSection{1}).add(instant("a"));
    Names names;
    FxtStream stream(names, {.providers_max = 3});  // with that of id 0
    feed(stream, speller);
    EXPECT_THAT(names.faults, ElementsAre(FxtFault::providers_too_many));
    EXPECT_THAT(names.names, ElementsAre("a", "a", "a", "a"));
}

// No name is better than a wrong one: the old text of the index must not come back either.
TEST(FxtStream, EntersNoStringPastTheTablesLimit) {
    FxtSpeller speller;
    speller.add(FxtMagic{})
        .add(FxtString{1, "12345678"})
        .add(FxtString{1, "a text too long"})
        .add(instant("a text too long"))
        .add(FxtString{2, "12345678"})
        .add(instant("12345678"))
        .add(FxtProvider{0, ""})
        .add(FxtString{1, "abcdefgh"})
        .add(instant("abcdefgh"));
    Names names;
    FxtStream stream(names, {.table_bytes_max = 8});
    feed(stream, speller);
    EXPECT_THAT(names.faults, ElementsAre(FxtFault::string_table_full, FxtFault::string_undefined));
    EXPECT_THAT(names.names, ElementsAre("", "12345678", "abcdefgh"));
}

TEST(FxtStream, SkipsALargeRecordPastTheLimit) {
    const std::string payload(40000, 'x');
    FxtSpeller speller = spell_threads();
    speller.add(FxtLargeBlob{"", "", {}, {}, payload}).add(instant("behind"));
    for (const size_t piece : {size_t{5}, size_t{8}, speller.bytes().size()}) {
        Names names;
        FxtStream stream(names, {.record_bytes_max = 32768});
        const auto bytes = speller.bytes();
        for (size_t at = 0; at < bytes.size(); at += piece) {
            stream.feed(bytes.subspan(at, std::min(piece, bytes.size() - at)));
        }
        stream.finish();
        EXPECT_THAT(names.faults, ElementsAre(FxtFault::too_large));
        EXPECT_THAT(names.skips, ElementsAre(FxtSkipReason::too_large));
        EXPECT_THAT(names.names, ElementsAre("behind"));
        EXPECT_EQ(stream.counts().truncated_tail_bytes, 0U);
    }
    Names names;
    FxtStream stream(names);
    feed(stream, speller);
    EXPECT_THAT(names.faults, IsEmpty());
    EXPECT_EQ(stream.counts().of(FxtRecordKind::large_blob), 1U);
}

// 32 GiB are claimed and 24 bytes are there.
TEST(FxtStream, TakesAClaimedSizeForATail) {
    Names names;
    FxtStream stream(names);
    FxtSpeller speller;
    speller.add(FxtMagic{}).add_words(std::array<uint64_t, 2>{0x0000000fffffffff, 0});
    feed(stream, speller);
    EXPECT_THAT(names.faults, ElementsAre(FxtFault::too_large));
    EXPECT_EQ(stream.counts().truncated_tail_bytes, 16U);
    EXPECT_EQ(stream.counts().of(FxtRecordKind::skipped), 0U);
}

// The payload's own size is 64 bits wide and may be near their end.
TEST(FxtStream, RefusesAPayloadThatClaimsMoreThanTheRecord) {
    for (const uint64_t claimed : {UINT64_MAX, UINT64_MAX - 6, uint64_t{9}}) {
        Names names;
        FxtStream stream(names);
        FxtSpeller speller;
        speller.add(FxtMagic{})
            .add_words(std::array<uint64_t, 4>{0x000001000000004f, 0, claimed, 0});
        feed(stream, speller);
        EXPECT_THAT(names.faults, ElementsAre(FxtFault::too_short)) << claimed;
    }
}

TEST(FxtStream, CountsWhatStandsBehindARecordOfNoWords) {
    FxtSpeller speller = spell_threads();
    const size_t before = speller.bytes().size();
    speller.add_words(std::array<uint64_t, 2>{0, 0}).add(instant("lost"));
    const auto bytes = speller.bytes();
    for (const size_t piece : {size_t{3}, bytes.size()}) {
        Names names;
        FxtStream stream(names);
        for (size_t at = 0; at < bytes.size(); at += piece) {
            stream.feed(bytes.subspan(at, std::min(piece, bytes.size() - at)));
        }
        stream.finish();
        EXPECT_THAT(names.faults, ElementsAre(FxtFault::no_words));
        EXPECT_THAT(names.names, IsEmpty());
        EXPECT_EQ(stream.counts().unreadable_bytes, bytes.size() - before);
        EXPECT_EQ(stream.counts().truncated_tail_bytes, 0U);
    }
}

}  // namespace
}  // namespace tracer::test
