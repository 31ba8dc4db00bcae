// SPDX-License-Identifier: Apache-2.0
#include "cli/start_time.h"

#include <cstdlib>

#include <gtest/gtest.h>

namespace tracer {
namespace {

// 2026-03-28T12:00:00 in Berlin, the day before its clocks go from 02:00 to 03:00.
constexpr time_t kNow = 1774695600;

class StartTime : public testing::Test {
protected:
    StartTime() {
        setenv("TZ", "CET-1CEST,M3.5.0,M10.5.0/3", 1);
        tzset();
    }
    ~StartTime() override {
        unsetenv("TZ");
        tzset();
    }
    StartTime(const StartTime&) = delete;
    StartTime& operator=(const StartTime&) = delete;

    static std::string error_of(const char* text) {
        const auto time = parse_start_time(text, kNow);
        return time ? "" : time.error().what + "; " + time.error().hint;
    }
};

TEST_F(StartTime, IsTheLocalTimeOfToday) {
    EXPECT_EQ(parse_start_time("12:01", kNow), kNow + 60);
    EXPECT_EQ(parse_start_time("12:00:05", kNow), kNow + 5);
    EXPECT_EQ(parse_start_time("23:59:59", kNow), kNow + 12 * 3600 - 1);
}

TEST_F(StartTime, MayNameADay) {
    EXPECT_EQ(parse_start_time("2026-03-28T12:30", kNow), kNow + 1800);
    EXPECT_EQ(parse_start_time("2026-03-28 12:30:01", kNow), kNow + 1801);
    // An hour less: the clocks go on.
    EXPECT_EQ(parse_start_time("2026-03-29T12:00", kNow), kNow + 23 * 3600);
}

TEST_F(StartTime, APastOneNamesTheNext) {
    EXPECT_EQ(error_of("12:00"),
              "12:00 is past: it is 2026-03-28T12:00:00; the next one: 2026-03-29T12:00:00");
    EXPECT_EQ(error_of("11:59:59"),
              "11:59:59 is past: it is 2026-03-28T12:00:00; the next one: 2026-03-29T11:59:59");
    EXPECT_NE(error_of("2026-03-28T11:00").find("is past"), std::string::npos);
}

TEST_F(StartTime, WhatIsNoTimeIsRefused) {
    for (const char* text : {"", "soon", "25:00", "12:60", "12:01x", "2026-02-30T12:00",
                             "2026-13-01T12:00", "12", "-1:00", "2026-12-01"}) {
        EXPECT_NE(error_of(text), "") << text;
    }
    EXPECT_NE(error_of("2026-03-29T02:30").find("no such time"), std::string::npos);
}

}  // namespace
}  // namespace tracer
