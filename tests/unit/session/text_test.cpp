// SPDX-License-Identifier: Apache-2.0
#include "session/human.h"
#include "session/status_line.h"

#include <array>
#include <cstdio>

#include <gtest/gtest.h>

namespace tracer {
namespace {

TEST(Human, GroupsDigits) {
    EXPECT_EQ(human_count(0), "0");
    EXPECT_EQ(human_count(999), "999");
    EXPECT_EQ(human_count(1000), "1,000");
    EXPECT_EQ(human_count(1234567), "1,234,567");
}

TEST(Human, ScalesBytes) {
    EXPECT_EQ(human_bytes(1023), "1023 B");
    EXPECT_EQ(human_bytes(1024), "1.0 KiB");
    EXPECT_EQ(human_bytes((1u << 20) - 1), "1.0 MiB");
    EXPECT_EQ(human_bytes(1536u << 20), "1.5 GiB");
}

TEST(Human, WritesSizesAsTheOptionTakesThem) {
    EXPECT_EQ(size_option(64 << 10), "64K");
    EXPECT_EQ(size_option(1u << 30), "1G");
    EXPECT_EQ(size_option(1000), "1000");
}

TEST(Human, WritesOutWhatATerminalTakesForACommand) {
    EXPECT_EQ(printable("a\x1b[31mb\r\n\tc"), "a\\x1b[31mb\\x0d\\x0a\\x09c");
    EXPECT_EQ(printable("lines\nand\ttabs\x07", false), "lines\nand\ttabs\\x07");
    EXPECT_EQ(printable("\x7f\xc2\x9b"), "\\u007f\\u009b");
    // Letters of any script are letters; a sequence that is cut is left alone.
    EXPECT_EQ(printable("m\xc3\xbc \xc2\xb5 \xe6\xbc\xa2 \xc2"),
              "m\xc3\xbc \xc2\xb5 \xe6\xbc\xa2 \xc2");
    EXPECT_EQ(printable(std::string_view("\0", 1)), "\\x00");
}

TEST(Human, WritesClocks) {
    EXPECT_EQ(clock_text(3725.9), "01:02:05");
    EXPECT_EQ(clock_text(-1), "00:00:00");
}

std::string contents(FILE* file) {
    std::rewind(file);
    std::array<char, 512> buffer{};
    const size_t count = std::fread(buffer.data(), 1, buffer.size(), file);
    return {buffer.data(), count};
}

TEST(StatusLine, IsSilentWhenNotOnATerminal) {
    FILE* file = std::tmpfile();
    ASSERT_NE(file, nullptr);
    StatusLine(file).show({.seconds = 1});
    EXPECT_EQ(contents(file), "");
    std::fclose(file);
}

TEST(StatusLine, ShowsRatesBetweenTwoCallsAndWipesItself) {
    FILE* file = std::tmpfile();
    ASSERT_NE(file, nullptr);
    {
        StatusLine line(file, true);
        line.show({.seconds = 1, .records = 1000, .bytes = 2048});
        line.show({.seconds = 2, .records = 3000, .lost = 7, .bytes = 4096});
    }
    const std::string text = contents(file);
    EXPECT_NE(text.find("00:00:02  2,000 events/s  4.0 KiB  LOST 7"), std::string::npos);
    EXPECT_EQ(text.back(), '\r');
    std::fclose(file);
}

}  // namespace
}  // namespace tracer
