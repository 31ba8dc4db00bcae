// SPDX-License-Identifier: Apache-2.0
#include "cli/units.h"

#include <gtest/gtest.h>

namespace tracer {
namespace {

using namespace std::chrono_literals;

TEST(Units, ReadsTimes) {
    EXPECT_EQ(parse_duration("5s").value(), 5s);
    EXPECT_EQ(parse_duration("500ms").value(), 500ms);
    EXPECT_EQ(parse_duration("2m").value(), 2min);
    EXPECT_EQ(parse_duration("1.5h").value(), 90min);
    EXPECT_EQ(parse_duration("250us").value(), 250us);
    EXPECT_EQ(parse_duration("3").value(), 3s);
}

TEST(Units, RefusesWhatIsNoTime) {
    for (const char* text : {"", "s", "5 s", "5d", "-1s", "0s", "5ss", "1e3s", "nan", "inf", "0x5s",
                             "99999999999h", ".", "5s "}) {
        const auto result = parse_duration(text);
        ASSERT_FALSE(result) << text;
        EXPECT_EQ(result.error().code, ErrorCode::usage);
        EXPECT_FALSE(result.error().hint.empty());
    }
}

TEST(Units, ReadsSizes) {
    EXPECT_EQ(parse_size("4096").value(), 4096u);
    EXPECT_EQ(parse_size("64K").value(), 65536u);
    EXPECT_EQ(parse_size("1.5M").value(), 1572864u);
    EXPECT_EQ(parse_size("1GiB").value(), 1u << 30);
}

TEST(Units, RefusesWhatIsNoSize) {
    for (const char* text : {"", "K", "0", "-1K", "5X", "1KB/s", "9999999999T", "1 K"}) {
        EXPECT_FALSE(parse_size(text)) << text;
    }
}

TEST(Units, ReadsBuffersForAllOrEach) {
    const auto all = parse_buffer("64M");
    ASSERT_TRUE(all);
    EXPECT_FALSE(all->per_cpu);
    const auto each = parse_buffer("64K/cpu");
    ASSERT_TRUE(each);
    EXPECT_TRUE(each->per_cpu);
    EXPECT_EQ(each->bytes, 65536u);
    EXPECT_FALSE(parse_buffer("/cpu"));
    EXPECT_FALSE(parse_buffer("64K/cpus"));
}

TEST(Units, ReadsIds) {
    EXPECT_EQ(parse_ids("12,34").value(), (std::vector<uint32_t>{12, 34}));
    EXPECT_EQ(parse_ids("4194304").value(), std::vector<uint32_t>{4194304});
    for (const char* text :
         {"", ",", "1,", ",1", "0", "4194305", "99999999999", "1x", "-1", " 1"}) {
        EXPECT_FALSE(parse_ids(text)) << text;
    }
}

}  // namespace
}  // namespace tracer
