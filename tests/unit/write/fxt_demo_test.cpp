// SPDX-License-Identifier: Apache-2.0
//
// The demo against its golden: every record as text with its words below, so the file is compared
// byte for byte and can be read.
#include "unit/write/fxt_demo.h"

#include "support/fxt_reader.h"
#include "support/fxt_text.h"
#include "tracer/write/sinks.h"
#include "unit/write/fxt_golden.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tracer::test {
namespace {

TEST(FxtDemo, WritesEveryRecord) {
    MemorySink sink;
    write_fxt_demo(sink);
    ASSERT_FALSE(HasFailure());
    const FxtFile file = parse_fxt(sink.bytes());
    for (size_t kind = 0; kind < kFxtRecordKinds; ++kind) {
        if (FxtRecordKind(kind) == FxtRecordKind::skipped) continue;
        EXPECT_GT(file.counts.records[kind], 0U) << "no record of kind " << kind;
    }
    EXPECT_EQ(file.counts.of(FxtRecordKind::skipped), 0U);
    EXPECT_EQ(counts_text(file.counts), "");
    EXPECT_THAT(file.problems, testing::Each(testing::HasSubstr("large record")));
    EXPECT_EQ(file.truncated_tail_bytes, 0U);
    expect_golden("every_record.txt", to_text_with_words(file, sink.bytes()));
}

}  // namespace
}  // namespace tracer::test
