// SPDX-License-Identifier: Apache-2.0
#include "write/text_width.h"

#include <gtest/gtest.h>

namespace tracer {
namespace {

TEST(TextWidth, CountsColumnsNotBytes) {
    EXPECT_EQ(display_width(""), 0u);
    EXPECT_EQ(display_width("abc"), 3u);
    EXPECT_EQ(display_width("für"), 3u);
    EXPECT_EQ(display_width("日本"), 4u);
    EXPECT_EQ(display_width("e\u0301"), 1u);  // an accent of its own goes over the letter
}

TEST(TextWidth, CutsBetweenCharactersAndSaysSo) {
    EXPECT_EQ(cut_to_width("abc", 3), "abc");
    EXPECT_EQ(cut_to_width("abcd", 3), "ab…");
    EXPECT_EQ(cut_to_width("für alle", 4), "für…");
    // A wide character that would need the last column too is left out.
    EXPECT_EQ(cut_to_width("日本語", 4), "日…");
    EXPECT_EQ(cut_to_width("日本語", 5), "日本…");
    EXPECT_EQ(cut_to_width("abc", 1), "…");
    EXPECT_EQ(cut_to_width("abc", 0), "");
}

}  // namespace
}  // namespace tracer
