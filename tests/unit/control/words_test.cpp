// SPDX-License-Identifier: Apache-2.0
#include "control/words.h"

#include <gtest/gtest.h>

namespace tracer {
namespace {

using Words = std::vector<std::string>;

Words split(std::string_view line) {
    const auto words = split_words(line);
    return words ? *words : Words{"refused: " + words.error().what};
}

TEST(ControlWords, AreSeparatedBySpaces) {
    EXPECT_EQ(split(""), Words{});
    EXPECT_EQ(split("  status  "), Words{"status"});
    EXPECT_EQ(split("sink a.fxt keep-old"), (Words{"sink", "a.fxt", "keep-old"}));
}

TEST(ControlWords, StandInQuotes) {
    EXPECT_EQ(split(R"(mark "a b" "" "\"\\\n\x07")"), (Words{"mark", "a b", "", "\"\\\n\a"}));
}

TEST(ControlWords, RefuseWhatHasNoMeaning) {
    for (const std::string line :
         {R"(mark "a)", R"("a"b)", R"(a"b")", R"(a\b)", R"("\q")", R"("\x0)", R"("\x00")", R"("\)",
          "tab\tbed", "bell\a", "del\x7f"}) {
        EXPECT_FALSE(split_words(line)) << line;
    }
    EXPECT_FALSE(split_words(std::string("zero\0byte", 9)));
    EXPECT_FALSE(split_words(std::string(kRequestBytesMax, 'a')));
    EXPECT_TRUE(split_words(std::string(kRequestBytesMax - 1, 'a')));
}

TEST(ControlWords, SurviveTheirLine) {
    const Words words{
        "sink", "/tmp/a b", "", "\"q\"\\", "line\nend\ttab\x01\x7f", "caf\xc3\xa9 \xff"};
    EXPECT_EQ(split(join_words(words)), words);
}

}  // namespace
}  // namespace tracer
