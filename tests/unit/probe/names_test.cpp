// SPDX-License-Identifier: Apache-2.0
#include "probe/nearest.h"
#include "probe/probe_compiler.h"
#include "probe/probe_list.h"
#include "probe/wildcard.h"
#include "unit/probe/fake_tracepoints.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tracer {
namespace {

TEST(Wildcard, MatchesStarsAndQuestionMarks) {
    EXPECT_TRUE(wildcard_matches("gc__*", "gc__start"));
    EXPECT_TRUE(wildcard_matches("*", ""));
    EXPECT_TRUE(wildcard_matches("**a*", "bca"));
    EXPECT_TRUE(wildcard_matches("a?c", "abc"));
    EXPECT_TRUE(wildcard_matches("*a*b*c", "xxaxxbxxbc"));
    EXPECT_FALSE(wildcard_matches("a?c", "ac"));
    EXPECT_FALSE(wildcard_matches("abc", "abcd"));
    EXPECT_FALSE(wildcard_matches("*x", "xy"));
    EXPECT_FALSE(wildcard_matches("", "a"));
    EXPECT_TRUE(wildcard_matches("", ""));
}

TEST(Wildcard, IsNotSlowOnPurpose) {
    const std::string text(20000, 'a');
    EXPECT_FALSE(wildcard_matches("*a*a*a*a*a*a*a*a*a*b", text));
}

TEST(Wildcard, CapturesWhatEachStandsFor) {
    using Captures = std::optional<std::vector<std::string>>;
    EXPECT_EQ(wildcard_captures("*__entry", "Find__entry"), Captures({"Find"}));
    EXPECT_EQ(wildcard_captures("*__entry", "__entry"), Captures({""}));
    EXPECT_EQ(wildcard_captures("a?c*", "abcde"), (Captures({"b", "de"})));
    EXPECT_EQ(wildcard_captures("*_*", "a_b_c"), (Captures({"a", "b_c"})));
    EXPECT_EQ(wildcard_captures("plain", "plain"), Captures(std::vector<std::string>{}));
    EXPECT_EQ(wildcard_captures("*__entry", "Find__return"), std::nullopt);
    EXPECT_EQ(fill_wildcards("?_*_end", {"b", "de"}), "b_de_end");
    EXPECT_EQ(fill_wildcards("plain", {}), "plain");
}

TEST(Nearest, CountsEditsAndSwaps) {
    EXPECT_EQ(edit_distance("start", "start", 3), 0u);
    EXPECT_EQ(edit_distance("strat", "start", 3), 1u);
    EXPECT_EQ(edit_distance("sart", "start", 3), 1u);
    EXPECT_EQ(edit_distance("stairt", "start", 3), 1u);
    EXPECT_EQ(edit_distance("", "abc", 3), 3u);
    EXPECT_EQ(edit_distance("abcdef", "uvwxyz", 2), 3u);
}

TEST(Nearest, OffersTheThreeBest) {
    NearestNames nearest("query__start");
    for (auto name : {"query__done", "query__star", "query__start2", "query_start", "malloc",
                      "query__start2"}) {
        nearest.offer(name);
    }
    EXPECT_EQ(nearest.best(),
              (std::vector<std::string>{"query__star", "query__start2", "query_start"}));
    EXPECT_EQ(nearest.hint(), "did you mean query__star, query__start2 or query_start?");
    EXPECT_EQ(NearestNames("zzz").hint(), "");
}

TEST(ProbeList, TracepointLinesCompile) {
    test::FakeTracepoints tracepoints;
    std::vector<ProbeSpec> specs;
    auto listed = list_tracepoints(tracepoints, "", [&](const ListedProbe& probe) {
        auto spec = parse_probe_spec(probe.line);
        ASSERT_TRUE(spec) << probe.line;
        specs.push_back(*spec);
    });
    ASSERT_TRUE(listed);
    ASSERT_EQ(specs.size(), 3u);
    EXPECT_EQ(specs[1].text, "t:sched:sched_switch(prev_comm:str, prev_pid:s32, prev_state:s64)");
    auto plan = compile_probes(specs, TargetFiles(), {.tracepoints = &tracepoints});
    ASSERT_TRUE(plan) << plan.error().what;
    EXPECT_EQ(plan->tracepoints.size(), 3u);
}

TEST(ProbeList, PatternsMatchNamesAndHolders) {
    test::FakeTracepoints tracepoints;
    auto count = [&](std::string_view pattern) {
        size_t lines = 0;
        EXPECT_TRUE(list_tracepoints(tracepoints, pattern, [&](const ListedProbe&) { ++lines; }));
        return lines;
    };
    EXPECT_EQ(count("sched_*"), 2u);
    EXPECT_EQ(count("sched:*"), 2u);
    EXPECT_EQ(count("*openat"), 1u);
    EXPECT_EQ(count("nothing"), 0u);
}

}  // namespace
}  // namespace tracer
