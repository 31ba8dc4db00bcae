// SPDX-License-Identifier: Apache-2.0
//
// The judge of eventlogs itself: it passes what is good and refuses, with the right status, what is
// not.
#include "support/eventlog_builder.h"
#include "support/fixtures/eventlog_checker.h"
#include "support/fixtures/temp_folder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tracer::test {
namespace {

using testing::HasSubstr;

EventlogVerdict judge(std::string_view mode, std::string_view bytes) {
    const auto folder = TempFolder::make();
    if (!folder) return {-1, "", folder.error().what};
    const std::string path = folder->file("x.eventlog");
    if (const auto written = write_file(path, bytes); !written)
        return {-1, "", written.error().what};
    const auto verdict = run_eventlog_checker(mode, path);
    return verdict ? *verdict : EventlogVerdict{-1, "", verdict.error().what};
}

EventlogBuilder make_builder() {
    EventlogBuilder builder;
    builder.declare_all().end_header().block(0, 1, 0);
    return builder;
}

TEST(EventlogJudge, PassesTheSamples) {
    TR_REQUIRE_EVENTLOG_CHECKER();
    for (const char* name :
         {"hello", "w90", "w90-heap", "w910", "w910-heap", "w910-nonmoving", "w910-cut"}) {
        const std::string base = std::string(TRACER_EVENTLOG_SAMPLES) + "/" + name;
        EXPECT_TRUE(validates_as_eventlog(base + ".eventlog"));
        const auto raw = run_eventlog_checker("raw", base + ".eventlog");
        ASSERT_TRUE(raw) << raw.error().what;
        EXPECT_EQ(raw->status, 0) << raw->errors;
        const auto expected = read_file(base + ".expected.txt");
        ASSERT_TRUE(expected) << expected.error().what;
        EXPECT_EQ(raw->output, *expected) << name;
    }
}

TEST(EventlogJudge, RefusesARunOfAThreadThatWasNotCreated) {
    TR_REQUIRE_EVENTLOG_CHECKER();
    auto builder = make_builder();
    builder.event(EventlogId::run_thread, 2, BigEndianBytes().u32(7)).end();
    const auto verdict = judge("validate", builder.bytes());
    EXPECT_EQ(verdict.status, 2) << verdict.errors;
    EXPECT_THAT(verdict.output, HasSubstr("threads: INVALID at 2 cap=0 running thread 7"));
    EXPECT_THAT(verdict.output, HasSubstr("threadrun: valid"));
    EXPECT_FALSE(bytes_validate_as_eventlog(builder.bytes()));
}

TEST(EventlogJudge, SeesAnUndeclaredEventInTheMiddle) {
    TR_REQUIRE_EVENTLOG_CHECKER();
    EventlogBuilder builder;
    builder.declare({EventlogId::gc_start, EventlogId::gc_end}).declare(100, 0).end_header();
    builder.event(EventlogId::gc_start, 1).event(EventlogId{50}, 2).event(EventlogId::gc_end, 3);
    for (const char* mode : {"raw", "show", "validate"}) {
        const auto verdict = judge(mode, builder.bytes());
        EXPECT_EQ(verdict.status, 3);
        EXPECT_THAT(verdict.errors, HasSubstr("after 1 events"));
        EXPECT_THAT(verdict.errors, HasSubstr("undeclared event type: 50"));
    }
}

TEST(EventlogJudge, SurvivesAnIdAboveAllDeclared) {
    TR_REQUIRE_EVENTLOG_CHECKER();
    EventlogBuilder builder;
    builder.declare({EventlogId::gc_start}).end_header().event(EventlogId{500}, 1);
    EXPECT_EQ(judge("validate", builder.bytes()).status, 3);
}

TEST(EventlogJudge, RefusesTextThatIsNotUtf8) {
    TR_REQUIRE_EVENTLOG_CHECKER();
    for (const auto id : {EventlogId::user_msg, EventlogId::log_msg, EventlogId::user_marker}) {
        auto builder = make_builder();
        builder.event(id, 2, BigEndianBytes().text("a\xFF"));
        EXPECT_EQ(judge("validate", builder.bytes()).status, 3);
    }
}

TEST(EventlogJudge, RefusesABrokenHeader) {
    TR_REQUIRE_EVENTLOG_CHECKER();
    const auto verdict = judge("raw", "hdrbxxxx");
    EXPECT_EQ(verdict.status, 3);
    EXPECT_THAT(verdict.errors, HasSubstr("header"));
}

TEST(EventlogJudge, MissingFileIsAnErrorOfTheRun) {
    TR_REQUIRE_EVENTLOG_CHECKER();
    EXPECT_FALSE(run_eventlog_checker("raw", "/nonexistent/x.eventlog"));
    EXPECT_FALSE(run_eventlog_checker("no such mode", "/nonexistent/x.eventlog"));
}

}  // namespace
}  // namespace tracer::test
