// SPDX-License-Identifier: Apache-2.0
//
// What Perfetto would report, drop or draw wrong: each rule kept and broken.
#include "unit/write/fxt_reader_fixture.h"

#include <limits>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tracer::test {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using Arguments = std::vector<FxtArgument>;
using enum FxtEventType;

constexpr int32_t kIdle = std::numeric_limits<int32_t>::min();

// An event in process 100; the last word is an end or an id.
struct Step {
    FxtEventType type;
    uint64_t time;
    uint64_t last_word = 0;
    uint64_t tid = 101;
    std::string_view name = "name";
    std::string_view category = "category";
    Arguments arguments{};
    uint64_t pid = 100;
};

FxtFile file_of(const std::vector<Step>& steps) {
    FxtSpeller speller = spell_threads();
    for (const Step& step : steps) {
        speller.add(FxtEvent{step.time,
                             step.type,
                             step.last_word,
                             step.category,
                             step.name,
                             step.pid,
                             step.tid,
                             {}},
                    step.arguments);
    }
    return parse_fxt(speller.bytes());
}

std::vector<std::string> problems_of(const std::vector<Step>& steps) {
    return file_of(steps).problems;
}

TEST(FxtRules, NestsDurations) {
    EXPECT_THAT(
        problems_of({{duration_begin, 10}, {duration_complete, 11, 20}, {duration_end, 20}}),
        IsEmpty());
    EXPECT_THAT(problems_of({{duration_end, 10}}), Contains(HasSubstr("end of name without")));
    EXPECT_THAT(
        problems_of({{duration_begin, 10}, {duration_complete, 11, 20}, {duration_end, 15}}),
        Contains(HasSubstr("inside another slice")));
    EXPECT_EQ(
        file_of({{duration_begin, 10}, {duration_begin, 11}, {duration_end, 12}}).open_span_count,
        1U);
}

TEST(FxtRules, LetsNoCompleteDurationOverlapInPart) {
    EXPECT_THAT(problems_of({{duration_complete, 10, 20},
                             {duration_complete, 10, 15},
                             {duration_complete, 15, 20},
                             {duration_complete, 20, 30}}),
                IsEmpty());
    EXPECT_THAT(problems_of({{duration_complete, 10, 20}, {duration_complete, 15, 25}}),
                ElementsAre(HasSubstr("overlaps another in part")));
    // Equal starts: the parent must stand first.
    EXPECT_THAT(problems_of({{duration_complete, 10, 15}, {duration_complete, 10, 20}}),
                ElementsAre(HasSubstr("overlaps another in part")));
    // Also where an open one is between the two.
    EXPECT_THAT(problems_of({{duration_complete, 10, 20},
                             {duration_begin, 12},
                             {duration_complete, 15, 25},
                             {duration_end, 30}}),
                Contains(HasSubstr("overlaps another in part")));
    EXPECT_THAT(problems_of({{duration_complete, 10, 20}, {duration_begin, 12}, {instant, 25}}),
                Contains(HasSubstr("still open when name around it is over")));
}

TEST(FxtRules, LetsNoDurationEndBeforeItBegins) {
    EXPECT_THAT(problems_of({{duration_complete, 10, 10}}), IsEmpty());
    EXPECT_THAT(problems_of({{duration_complete, 10, 9}}),
                ElementsAre(HasSubstr("ends before it begins")));
}

TEST(FxtRules, BoundsTheDepth) {
    std::vector<Step> steps;
    for (uint64_t i = 0; i < 512; ++i) steps.push_back({duration_begin, i});
    EXPECT_THAT(problems_of(steps), IsEmpty());
    steps.push_back({duration_begin, 512});
    EXPECT_THAT(problems_of(steps), ElementsAre(HasSubstr("deeper than 512")));
}

TEST(FxtRules, PairsAsynchronousEventsByIdCategoryAndName) {
    EXPECT_THAT(
        problems_of({{async_begin, 10, 1}, {async_instant, 15, 1, 102}, {async_end, 20, 1, 102}}),
        IsEmpty());
    EXPECT_THAT(problems_of({{async_begin, 10, 1}, {async_end, 20, 2}}),
                ElementsAre(HasSubstr("repeats no begin's category and name")));
    EXPECT_THAT(problems_of({{async_begin, 10, 1}, {async_end, 20, 1, 101, "other"}}),
                ElementsAre(HasSubstr("asynchronous end of other")));
    EXPECT_THAT(problems_of({{async_begin, 10, 1}, {async_end, 20, 1, 101, "name", "other"}}),
                ElementsAre(HasSubstr("repeats no begin's")));
    EXPECT_THAT(problems_of({{async_begin, 10, 1, 101, "outer"},
                             {async_begin, 11, 1, 101, "inner"},
                             {async_end, 12, 1, 101, "outer"}}),
                ElementsAre(HasSubstr("end of outer inside another")));
    EXPECT_EQ(file_of({{async_begin, 10, 1}}).open_async_count, 1U);
}

TEST(FxtRules, BindsFlowsToSlices) {
    EXPECT_THAT(problems_of({{duration_begin, 10},
                             {flow_begin, 10, 7},
                             {duration_end, 12},
                             {duration_begin, 20, 0, 102},
                             {flow_step, 21, 7, 102},
                             {flow_end, 22, 7, 102},
                             {duration_end, 30, 0, 102}}),
                IsEmpty());
    // What is over stays on top until the next slice begins.
    EXPECT_THAT(problems_of({{instant, 10}, {flow_begin, 11, 7}, {flow_end, 12, 7}}), IsEmpty());
    EXPECT_THAT(problems_of({{flow_begin, 11, 7}}), ElementsAre(HasSubstr("no slice around")));
    EXPECT_THAT(problems_of({{duration_begin, 10}, {duration_end, 11}, {flow_begin, 11, 7}}),
                ElementsAre(HasSubstr("no slice around")));
    EXPECT_THAT(problems_of({{instant, 10}, {flow_begin, 11, 7}, {flow_begin, 12, 7}}),
                ElementsAre(HasSubstr("begins twice")));
    EXPECT_THAT(problems_of({{instant, 10}, {flow_step, 11, 7}}),
                ElementsAre(HasSubstr("flow 7 was not begun")));
    EXPECT_THAT(
        problems_of({{instant, 10}, {flow_begin, 11, 7}, {flow_end, 12, 7}, {flow_end, 13, 7}}),
        ElementsAre(HasSubstr("flow 7 was not begun")));
    EXPECT_EQ(file_of({{instant, 10}, {flow_begin, 11, 7}}).open_flow_count, 1U);
}

// A flow of another process is found if only one began it.
TEST(FxtRules, FindsAFlowAcrossProcesses) {
    const auto in = [](uint64_t pid, FxtEventType type, uint64_t time) {
        return Step{type, time, 7, pid + 1, "name", "category", {}, pid};
    };
    std::vector<Step> steps{in(200, instant, 10), in(200, flow_begin, 11), in(300, instant, 12)};
    auto joined = steps;
    joined.push_back(in(300, flow_end, 13));
    EXPECT_THAT(problems_of(joined), IsEmpty());
    steps.push_back(in(400, instant, 12));
    steps.push_back(in(400, flow_begin, 12));
    steps.push_back(in(300, flow_end, 13));
    EXPECT_THAT(problems_of(steps), ElementsAre(HasSubstr("several other processes")));
}

TEST(FxtRules, CountsWithNumbers) {
    EXPECT_THAT(problems_of({{counter, 10, 0, 101, "c", "", {{"a", 1.5}, {"b", uint64_t{2}}}}}),
                IsEmpty());
    EXPECT_THAT(problems_of({{counter, 10}}), ElementsAre(HasSubstr("without values")));
    const FxtValue no_numbers[] = {std::string_view{"1"}, true, FxtKoid{1}, FxtPointer{1},
                                   std::monostate{}};
    for (const FxtValue& value : no_numbers) {
        EXPECT_THAT(problems_of({{counter, 10, 0, 101, "c", "", {{"a", value}}}}),
                    ElementsAre(HasSubstr("counter value a is no number")));
    }
}

// A name may be a path, but no path may lead through a value.
TEST(FxtRules, KeepsArgumentNamesATree) {
    const auto with = [](Arguments begin, Arguments end) {
        return problems_of({{duration_begin, 10, 0, 101, "n", "", std::move(begin)},
                            {duration_end, 11, 0, 101, "n", "", std::move(end)}});
    };
    EXPECT_THAT(with({{"gc.gen", 1}, {"gc.time", 1}, {"g", 1}}, {{"gc.other", 1}}), IsEmpty());
    EXPECT_THAT(with({{"gc", 1}, {"gc.gen", 1}}, {}),
                ElementsAre(HasSubstr("gc is a value, and gc.gen a part")));
    EXPECT_THAT(with({{"gc[0]", 1}, {"gc", 1}}, {}), ElementsAre(HasSubstr("gc is a value")));
    EXPECT_THAT(with({{"gc", 1}}, {{"gc.gen", 1}}), ElementsAre(HasSubstr("gc is a value")));
    EXPECT_THAT(with({{"gc.gen", 1}}, {{"gc", 1}}), ElementsAre(HasSubstr("gc is a value")));
}

TEST(FxtRules, KeepsIdsAndTimesToTheBitsOfReaders) {
    EXPECT_THAT(problems_of({{instant, 10, 0, 0x100000000}}), Contains(HasSubstr("more bits")));
    EXPECT_THAT(problems_of({{instant, uint64_t{1} << 63}}), ElementsAre(HasSubstr("more bits")));
    EXPECT_THAT(problems_of({{duration_complete, 10, UINT64_MAX}}),
                ElementsAre(HasSubstr("more bits")));
    EXPECT_THAT(problems_of({{instant, (uint64_t{1} << 63) - 1}}), IsEmpty());
    EXPECT_THAT(problems_of({{instant, 10, 0, 0}}), ElementsAre(HasSubstr("event of thread 0")));
}

// Providers may tick at rates of their own: what is compared is nanoseconds.
TEST(FxtRules, ComparesTheTimesOfProvidersInNanoseconds) {
    FxtSpeller speller = spell_threads();
    const auto event = [](uint64_t time, FxtEventType type) {
        return FxtEvent{time, type, 0, "", "name", 100, 101, {}};
    };
    speller.add(event(5000, duration_end))
        .add(FxtProvider{2, "slow"})
        .add(FxtInitialization{1'000'000, {}})
        .add(event(4, duration_begin));
    EXPECT_THAT(parse_fxt(speller.bytes()).problems, IsEmpty());
    speller.add(FxtInitialization{1, {}}).add(event(uint64_t{1} << 34, instant));
    EXPECT_THAT(parse_fxt(speller.bytes()).problems, ElementsAre(HasSubstr("more bits")));
}

TEST(FxtRules, NeedsAClock) {
    FxtSpeller speller;
    speller.add(FxtMagic{}).add(FxtEvent{10, instant, 0, "", "name", 100, 101, {}});
    EXPECT_THAT(parse_fxt(speller.bytes()).problems,
                ElementsAre(HasSubstr("no initialization record")));
}

std::vector<std::string> problems_with(const FxtPayload& payload, const Arguments& arguments = {}) {
    FxtSpeller speller = spell_threads();
    speller.add(payload, arguments);
    return parse_fxt(speller.bytes()).problems;
}

TEST(FxtRules, NeedsTheProcessOfAThread) {
    const FxtKernelObject thread{kFxtObjectThread, 103, "", {}};
    EXPECT_THAT(problems_with(thread, {{"process", FxtKoid{100}}}), IsEmpty());
    EXPECT_THAT(problems_with(thread), ElementsAre(HasSubstr("without a process")));
    EXPECT_THAT(problems_with(thread, {{"process", uint64_t{100}}}),
                ElementsAre(HasSubstr("without a process")));
    EXPECT_THAT(
        problems_with(FxtKernelObject{kFxtObjectThread, 101, "", {}}, {{"process", FxtKoid{99}}}),
        ElementsAre(HasSubstr("moves from process 100 to 99")));
    EXPECT_THAT(problems_with(FxtKernelObject{kFxtObjectProcess, 0x100000000, "", {}}),
                ElementsAre(HasSubstr("more bits")));
    EXPECT_THAT(problems_with(FxtKernelObject{kFxtObjectProcess, 0, "", {}}),
                ElementsAre(HasSubstr("id 0")));
    EXPECT_THAT(problems_with(FxtEvent{10, instant, 0, "", "", 99, 101, {}}),
                ElementsAre(HasSubstr("thread 101 belongs to 100")));
}

TEST(FxtRules, BoundsTheCpu) {
    EXPECT_THAT(problems_with(FxtWakeup{10, 4095, 101, {}}), IsEmpty());
    EXPECT_THAT(problems_with(FxtWakeup{10, 4096, 101, {}}),
                ElementsAre(HasSubstr("CPU 4096 is too large")));
    EXPECT_THAT(problems_with(FxtSwitch{10, 4096, 3, 101, 102, {}}),
                ElementsAre(HasSubstr("CPU 4096 is too large")));
}

TEST(FxtRules, MarksTheIdleSideOfASwitch) {
    EXPECT_THAT(problems_with(FxtSwitch{10, 1, 3, 0, 101, {}}, {{"outgoing_weight", kIdle}}),
                IsEmpty());
    EXPECT_THAT(problems_with(FxtSwitch{10, 1, 3, 0, 101, {}}), ElementsAre(HasSubstr("outgoing")));
    EXPECT_THAT(problems_with(FxtSwitch{10, 1, 3, 101, 102, {}}, {{"incoming_weight", kIdle}}),
                ElementsAre(HasSubstr("incoming")));
    EXPECT_THAT(
        problems_with(FxtSwitch{10, 1, 3, 101, 102, {}}, {{"incoming_weight", int64_t{120}}}),
        ElementsAre(HasSubstr("not an int32")));
    EXPECT_THAT(problems_with(FxtSwitch{10, 1, 6, 101, 102, {}}),
                ElementsAre(HasSubstr("state 6 is unknown")));
}

TEST(FxtRules, MarksTheIdleSideOfALegacySwitchByPriority) {
    EXPECT_THAT(problems_with(FxtLegacySwitch{10, 1, 3, 0, 0, 100, 101, 0, 120}), IsEmpty());
    EXPECT_THAT(problems_with(FxtLegacySwitch{10, 1, 3, 0, 0, 100, 101, 1, 120}),
                ElementsAre(HasSubstr("outgoing side reads as idle")));
    EXPECT_THAT(problems_with(FxtLegacySwitch{10, 1, 3, 0, 0, 77, 77, 0, 0}),
                testing::IsSupersetOf({HasSubstr("incoming side reads as idle"),
                                       HasSubstr("thread 77 has no object")}));
}

TEST(FxtRules, ChainsSwitchesOfBothForms) {
    FxtSpeller speller = spell_threads();
    speller.add(FxtSwitch{10, 1, 3, 101, 102, {}})
        .add(FxtLegacySwitch{20, 1, 3, 100, 102, 100, 101, 120, 120});
    EXPECT_THAT(parse_fxt(speller.bytes()).problems, IsEmpty());
    speller.add(FxtSwitch{30, 1, 3, 102, 101, {}});
    EXPECT_THAT(parse_fxt(speller.bytes()).problems,
                ElementsAre(HasSubstr("switches away from 102 while it runs 101")));
    FxtSpeller twice = spell_threads();
    twice.add(FxtSwitch{10, 1, 3, 101, 102, {}}).add(FxtSwitch{11, 2, 3, 101, 102, {}});
    EXPECT_THAT(parse_fxt(twice.bytes()).problems,
                ElementsAre(HasSubstr("runs on CPU 1 and on CPU 2")));
}

TEST(FxtRules, WakesOnlyWhatSleeps) {
    EXPECT_THAT(problems_with(FxtWakeup{10, 1, 101, {}}, {{"waker", FxtKoid{102}}}), IsEmpty());
    EXPECT_THAT(problems_with(FxtWakeup{10, 1, 101, {}}, {{"waker", uint64_t{102}}}),
                ElementsAre(HasSubstr("waker is not a koid")));
    EXPECT_THAT(problems_with(FxtWakeup{10, 1, 101, {}}, {{"weight", uint32_t{102}}}),
                ElementsAre(HasSubstr("weight is not an int32")));
    EXPECT_THAT(problems_with(FxtWakeup{10, 1, 77, {}}),
                ElementsAre(HasSubstr("no object with its process")));
    FxtSpeller speller = spell_threads();
    speller.add(FxtSwitch{10, 1, 3, 102, 101, {}}).add(FxtWakeup{11, 1, 101, {}});
    EXPECT_THAT(parse_fxt(speller.bytes()).problems,
                ElementsAre(HasSubstr("wakeup of thread 101, which is running")));
}

TEST(FxtRules, WarnsOfLargeRecords) {
    EXPECT_THAT(problems_with(FxtLargeBlob{"", "", {}, {}, "x"}),
                ElementsAre(HasSubstr("only while it is short")));
    const std::string payload(4095 * 8, 'x');
    EXPECT_THAT(problems_with(FxtLargeBlob{"", "", {}, {}, payload}),
                ElementsAre(HasSubstr("loses its place")));
}

TEST(FxtRules, CountsWhatPerfettoDoesNotShow) {
    FxtSpeller speller = spell_threads();
    speller.add(FxtLog{10, 100, 101, "m"})
        .add(FxtUserspaceObject{1, 100, "o", {}})
        .add(FxtKernelObject{3, 1, "vmo", {}})
        .add(FxtBlobRecord{kFxtBlobRaw, "", "x"})
        .add(FxtBlobRecord{kFxtBlobPerfetto, "", "x"})
        .add(FxtSkipped{10, FxtSkipReason::profiler});
    const FxtFile file = parse_fxt(speller.bytes());
    EXPECT_THAT(file.problems, IsEmpty());
    EXPECT_EQ(file.unshown_count, 5U);
}

}  // namespace
}  // namespace tracer::test
