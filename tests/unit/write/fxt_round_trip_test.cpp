// SPDX-License-Identifier: Apache-2.0
//
// Thousands of random records through every way of writing them, and back: the reader must find
// the same records in the same order, whatever tables, chunks and sinks lie between. What is
// expected is drawn a second time from the same seed.
#include "support/fxt_generator.h"
#include "support/fxt_stream.h"
#include "unit/write/fxt_round_trip_writer.h"

#include <algorithm>
#include <random>
#include <set>
#include <vector>

#include <gtest/gtest.h>

namespace tracer::test {
namespace {

// Compares what is read with what the generator gives once more.
class RandomComparer : public FxtVisitor {
public:
    // `is_written` says which of the generator's records are expected; borrowed.
    RandomComparer(uint64_t seed, const std::vector<bool>& is_written)
        : is_written_(is_written), random_(seed), generator_(choices_of(random_)) {}

    // A chunk begins: nothing of those before is known.
    void restart() { providers_with_clock_.clear(); }

    void on_record(const FxtRecordView& record) override {
        if (take_definition(record)) return;
        EXPECT_TRUE(providers_with_clock_.contains(record.provider))
            << "no clock for a record of provider " << record.provider;
        if (has_difference_) return;
        skip_unwritten();
        ASSERT_LT(next_, is_written_.size()) << "a record that was never written";
        const FxtGenerated& expected = generator_.written_record();
        next_ += 1;
        has_difference_ = !(record.payload == expected.payload &&
                            std::ranges::equal(record.arguments, expected.arguments));
        EXPECT_FALSE(has_difference_)
            << "record " << next_ << " of kind " << static_cast<int>(record.kind()) << ", expected "
            << expected.payload.index();
    }
    void on_fault(const FxtFaultReport& report) override {
        ADD_FAILURE() << "at " << report.offset << ": " << describe(report);
    }

    void finish() {
        skip_unwritten();
        EXPECT_EQ(next_, is_written_.size()) << "records are missing";
    }

private:
    void skip_unwritten() {
        for (; next_ < is_written_.size() && !is_written_[next_]; ++next_) {
            static_cast<void>(generator_.written_record());
        }
    }

    // True: the stream wrote it of its own accord, or for a turn between records.
    bool take_definition(const FxtRecordView& record) {
        switch (record.kind()) {
            case FxtRecordKind::provider_info:
                providers_with_clock_.erase(record.provider);
                return true;
            case FxtRecordKind::initialization:
                EXPECT_EQ(std::get<FxtInitialization>(record.payload).ticks_per_second,
                          kTicksPerSecond);
                providers_with_clock_.insert(record.provider);
                return true;
            case FxtRecordKind::magic:
            case FxtRecordKind::provider_section:
            case FxtRecordKind::string:
            case FxtRecordKind::thread:
                return true;
            default:
                return false;
        }
    }

    const std::vector<bool>& is_written_;
    size_t next_ = 0;  // of the generator's records
    bool has_difference_ = false;
    std::set<uint32_t> providers_with_clock_;
    Random random_;
    FxtGenerator generator_;
};

class FxtRoundTrip : public testing::TestWithParam<RoundTripPlan> {};

TEST_P(FxtRoundTrip, GivesBackEveryRecord) {
    constexpr size_t kRecords = 5000;
    const RoundTripPlan plan = GetParam();
    RandomWriter writer(plan);
    Random random(plan.seed);
    FxtGenerator generator(choices_of(random));
    std::vector<bool> is_written;
    while (is_written.size() < kRecords && !HasFailure()) {
        is_written.push_back(writer.write(generator.written_record()));
    }
    ASSERT_FALSE(HasFailure()) << "record " << is_written.size();
    EXPECT_EQ(std::ranges::count(is_written, false) > 0, plan.refused_of_100 > 0);

    RandomComparer comparer(plan.seed, is_written);
    for (const auto& chunk : writer.close()) {
        // Alone: nothing of the chunks before is known here.
        FxtStream stream(comparer);
        comparer.restart();
        stream.feed(chunk);
        stream.finish();
        EXPECT_EQ(stream.counts().truncated_tail_bytes, 0U);
        ASSERT_FALSE(HasFailure());
    }
    comparer.finish();
}

INSTANTIATE_TEST_SUITE_P(Seeds,
                         FxtRoundTrip,
                         testing::Values(RoundTripPlan{1, ByteSink::kReserveBytesMax},
                                         RoundTripPlan{2, 4096},
                                         RoundTripPlan{3, 0},
                                         RoundTripPlan{4, 0, 20},
                                         RoundTripPlan{5, 2048, 50}));

}  // namespace
}  // namespace tracer::test
