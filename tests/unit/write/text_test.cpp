// SPDX-License-Identifier: Apache-2.0
#include "write/text.h"

#include <array>
#include <string>

#include <gtest/gtest.h>

namespace tracer {
namespace {

std::string repaired(std::string_view bytes) {
    std::string out;
    append_as_utf8(out, bytes);
    return out;
}

TEST(Text, TakesUtf8AsItIs) {
    for (const std::string_view good :
         {"", "plain ascii, longer than a word", "na\xC3\xAFve", "\xE2\x82\xAC",
          "\xF0\x9F\x98\x80 tail", "\xED\x9F\xBF", "\xEE\x80\x80", "\xF4\x8F\xBF\xBF"}) {
        EXPECT_TRUE(is_utf8(good)) << good;
        EXPECT_EQ(repaired(good), good);
    }
}

TEST(Text, ReplacesWhatIsNotUtf8) {
    EXPECT_EQ(repaired("a\xFF"
                       "b"),
              "a\xEF\xBF\xBD"
              "b");
    EXPECT_EQ(repaired("\xC0\x80"), "\xEF\xBF\xBD\xEF\xBF\xBD") << "a long form of NUL";
    EXPECT_EQ(repaired("\xED\xA0\x80"), "\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD") << "a surrogate";
    EXPECT_EQ(repaired("\xF4\x90\x80\x80").substr(0, 3), "\xEF\xBF\xBD") << "past U+10FFFF";
    EXPECT_EQ(repaired("\xE2\x82"), "\xEF\xBF\xBD") << "one mark for a cut character";
    EXPECT_EQ(repaired("\xE2\x82z"), "\xEF\xBF\xBDz");
    EXPECT_TRUE(is_utf8(repaired("\x80\xC3\xE2\x28\xA1\xF0\x90")));
    EXPECT_FALSE(is_utf8("12345678\xC3"));
}

TEST(Text, CopiesAsManyWholeCharactersAsThereIsRoomFor) {
    std::array<std::byte, 8> room{};
    const auto copied = [&](size_t bytes, std::string_view text) {
        const Utf8Copy copy = copy_as_utf8(std::span(room).first(bytes), text);
        std::string out(reinterpret_cast<const char*>(room.data()), copy.written);
        if (!copy.is_whole) out += " cut";
        if (copy.is_repaired) out += " repaired";
        return out;
    };
    EXPECT_EQ(copied(0, ""), "");
    EXPECT_EQ(copied(0, "a"), " cut");
    EXPECT_EQ(copied(5, "ab\xE2\x82\xAC"), "ab\xE2\x82\xAC");
    EXPECT_EQ(copied(4, "ab\xE2\x82\xAC"), "ab cut");
    EXPECT_EQ(copied(5, "ab\xFF"), "ab\xEF\xBF\xBD repaired");
    EXPECT_EQ(copied(4, "ab\xFF"), "ab cut") << "the mark itself finds no room";
}

TEST(Text, CutsBetweenCharacters) {
    EXPECT_EQ(utf8_prefix("ab\xE2\x82\xAC", 5), "ab\xE2\x82\xAC");
    EXPECT_EQ(utf8_prefix("ab\xE2\x82\xAC", 4), "ab");
    EXPECT_EQ(utf8_prefix("ab\xE2\x82\xAC", 3), "ab");
    EXPECT_EQ(utf8_prefix("ab\xE2\x82\xAC", 2), "ab");
    EXPECT_EQ(utf8_prefix("\xE2\x82\xAC", 0), "");
}

TEST(Text, DropsOnlyAnUnfinishedTail) {
    EXPECT_EQ(without_partial_tail("ab\xE2\x82"), "ab");
    EXPECT_EQ(without_partial_tail("ab\xF0\x9F\x98"), "ab");
    EXPECT_EQ(without_partial_tail("ab\xC3\xA9"), "ab\xC3\xA9");
    EXPECT_EQ(without_partial_tail("ab"), "ab");
    EXPECT_EQ(without_partial_tail("\x80\x80\x80\x80"), "\x80\x80\x80\x80") << "no beginning";
    EXPECT_EQ(without_partial_tail(""), "");
}

}  // namespace
}  // namespace tracer
