// SPDX-License-Identifier: Apache-2.0
#include "probe/event_spec.h"

#include "probe/probe_compiler.h"
#include "unit/probe/fake_tracepoints.h"
#include "unit/symbol/elf_builder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tracer {
namespace {

using model::ValueType;
using test::ElfBuilder;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

EventSpec parse(std::string_view text) {
    auto event = parse_event_spec(text);
    EXPECT_TRUE(event) << text << ": " << event.error().what;
    return event ? std::move(*event) : EventSpec{};
}

Error refusal(std::string_view text) {
    auto event = parse_event_spec(text);
    EXPECT_FALSE(event) << text;
    return event ? Error{} : event.error();
}

TEST(EventSpec, AProbeAloneIsAsBefore) {
    const auto event = parse("usdt:app:start(n=arg0)");
    EXPECT_FALSE(event.is_pair());
    EXPECT_EQ(event.begin.name, "start");
    EXPECT_EQ(event.text, "usdt:app:start(n=arg0)");
}

TEST(EventSpec, ReadsBeginEndAndUntil) {
    const auto event = parse(
        "usdt:pg:query__start(q=arg0:str) ~~ usdt:pg:query__done until usdt:pg:abort , "
        "u:/bin/pg:die");
    ASSERT_TRUE(event.is_pair());
    EXPECT_EQ(event.begin.text, "usdt:pg:query__start(q=arg0:str)");
    EXPECT_EQ(event.end->text, "usdt:pg:query__done");
    ASSERT_EQ(event.until.size(), 2U);
    EXPECT_EQ(event.until[0].text, "usdt:pg:abort");
    EXPECT_EQ(event.until[1].text, "u:/bin/pg:die");
}

TEST(EventSpec, QuotesAndParenthesesHideWhatIsInThem) {
    const auto event = parse(R"(u:"/x ~~ y, until z":f(a=arg0,b=arg1)~~u:"q\"~~":until)");
    ASSERT_TRUE(event.is_pair());
    EXPECT_EQ(event.begin.path, "/x ~~ y, until z");
    EXPECT_EQ(event.begin.args.size(), 2U);
    EXPECT_EQ(event.end->path, "q\"~~");
    EXPECT_EQ(event.end->name, "until");
}

TEST(EventSpec, FindsTheKey) {
    const auto event = parse("u:a:f(x=arg0, key=arg1) ~~ u:a:g(key=arg2)");
    EXPECT_EQ(key_argument(event.begin).scope, PairKey::process);
    EXPECT_EQ(key_argument(event.begin).index, 1U);
    EXPECT_EQ(key_argument(*event.end).index, 0U);
    const auto shared = parse("u:a:f(shared_key=arg1) ~~ u:b:g(shared_key=arg2)");
    EXPECT_EQ(key_argument(shared.begin).scope, PairKey::shared);
    EXPECT_EQ(key_argument(parse("u:a:f ~~ u:a:g").begin).scope, PairKey::none);
}

TEST(EventSpec, RefusesWithTheTokenAndTheCure) {
    const std::vector<std::pair<std::string_view, std::string_view>> texts = {
        {"u:a:f ~~", "expected a probe"},
        {"~~ u:a:f", "expected a probe"},
        {"u:a:f ~~ u:a:g ~~ u:a:h", "a second ~~"},
        {"u:a:f until u:a:g", "until ends a span"},
        {"u:a:f ~~ u:a:g until u:a:h until u:a:i", "until ends a span"},
        {"u:a:f ~~ u:a:g until u:a:h,", "expected a probe"},
        {"u:a:f ~~ span:a:g", "a span by itself"},
        {"u:a:f* ~~ u:a:g", "a wildcard in a name"},
        {"usdt:*:f ~~ u:a:g", "a wildcard in a name"},
        {"u:a:f(key=arg0) ~~ u:a:g", "a key on the other side only"},
        {"u:a:f ~~ u:a:g(key=arg0)", "a key on the other side only"},
        {"u:a:f(key=arg0) ~~ u:a:g(shared_key=arg0)", "key on one side"},
        {"u:a:f(key=arg0, shared_key=arg1) ~~ u:a:g(key=arg0)", "a span has one"},
        {"u:a:f(key=arg0:f64) ~~ u:a:g(key=arg0)", "a key is an integer"},
        {"u:a:f ~~ u:a:g until u:a:h(key=arg0)", "that the begin does not have"},
        {"u:a:f ~~ u:a:g until u:a:h(x=arg0)", "only the key is read"},
        {"u:a:f ~~ x:a:g", "begins with its kind"},
        {"u:a:f(a ~~ u:a:g", "expected"},
        {"u:\"a:f ~~ u:a:g", "a quote without an end"},
    };
    for (const auto& [text, what] : texts) {
        const Error error = refusal(text);
        EXPECT_EQ(error.code, ErrorCode::usage) << text;
        EXPECT_THAT(error.what, HasSubstr(what)) << text;
        EXPECT_THAT(error.what, HasSubstr("^")) << text;
    }
    EXPECT_THAT(refusal("u:a:f(key=arg0) ~~ u:a:g").hint, HasSubstr("key=argN"));
}

TEST(EventSpec, WildcardsOfAPathAreFine) {
    EXPECT_TRUE(parse("u:/lib/*:f ~~ u:/lib/*:g").is_pair());
}

// ---- compiled ----

class PairCompiled : public ::testing::Test {
protected:
    void SetUp() override {
        const auto app =
            ElfBuilder()
                .function("work", ElfBuilder::kText, 16)
                .function("rest", ElfBuilder::kText + 16, 16)
                .note("app", "req__begin", "8@%rdi 4@%esi 8@%rdx", ElfBuilder::kText + 4)
                .note("app", "req__begin", "8@%rax 4@%ecx 8@%rdx", ElfBuilder::kText + 5)
                .note("app", "req__end", "-4@%edi 8@%rsi", ElfBuilder::kText + 6)
                .note("app", "abort", "4@%edi 8@%rsi", ElfBuilder::kText + 7);
        const auto path = test::write_file(folder.path(), "app", app.build());
        files.add_file({path, path});
    }

    Result<AttachPlan> try_compile(const std::vector<std::string>& texts) {
        std::vector<EventSpec> events;
        events.reserve(texts.size());
        for (const auto& text : texts) events.push_back(parse(text));
        return compile_events(events, files, options);
    }
    AttachPlan compile(const std::vector<std::string>& texts) {
        auto plan = try_compile(texts);
        EXPECT_TRUE(plan) << plan.error().what;
        return plan ? std::move(*plan) : AttachPlan{};
    }

    test::TemporaryFolder folder;
    TargetFiles files;
    test::FakeTracepoints tracepoints;
    CompileOptions options{.tracepoints = &tracepoints};
};

std::vector<std::string> names(const std::vector<model::Argument>& arguments) {
    std::vector<std::string> names;
    names.reserve(arguments.size());
    for (const auto& argument : arguments) names.push_back(argument.name);
    return names;
}

TEST_F(PairCompiled, IsOnePointWithTheArgumentsOfBothEnds) {
    const auto plan = compile({"usdt:app:req__begin(url=arg1, n=arg2) ~~ usdt:app:req__end"});
    ASSERT_EQ(plan.points.size(), 1U);
    const auto& point = plan.points[0];
    EXPECT_EQ(point.kind, model::PointKind::span);
    EXPECT_EQ(point.category, "app");
    EXPECT_EQ(point.name, "req");
    EXPECT_THAT(names(point.arguments), ElementsAre("url", "n"));
    EXPECT_THAT(names(point.end_arguments), ElementsAre("arg0", "arg1"));
    ASSERT_EQ(plan.probes.size(), 3U);
    EXPECT_EQ(plan.probes[0].role, HitRole::pair_begin);
    EXPECT_EQ(plan.probes[1].role, HitRole::pair_begin);
    EXPECT_EQ(plan.probes[2].role, HitRole::pair_end);
    EXPECT_EQ(plan.probes[2].key, PairKey::none);
    EXPECT_EQ(plan.programs[0].arg_count, 2) << "no stack pointer";
    EXPECT_EQ(plan.files.at(0).sites.size(), 3U);
}

TEST_F(PairCompiled, PutsTheKeyFirstAndShowsItOnce) {
    const auto plan =
        compile({"usdt:app:req__begin(url=arg1, key=arg0) ~~ usdt:app:req__end(status=arg0, "
                 "key=arg1) until usdt:app:abort(key=arg1), usdt:app:req__begin"});
    const auto& point = plan.points.at(0);
    EXPECT_THAT(names(point.arguments), ElementsAre("key", "url"));
    EXPECT_THAT(names(point.end_arguments), ElementsAre("status"));
    ASSERT_EQ(plan.probes.size(), 6U);
    EXPECT_EQ(plan.probes[0].key, PairKey::process);
    EXPECT_THAT(plan.probes[0].slots, ElementsAre(ValueType::u64, ValueType::u32));
    EXPECT_THAT(plan.probes[2].slots, ElementsAre(ValueType::u64, ValueType::s32));
    EXPECT_EQ(plan.probes[3].role, HitRole::pair_until);
    EXPECT_THAT(plan.probes[3].slots, ElementsAre(ValueType::u64));
    EXPECT_EQ(plan.probes[4].key, PairKey::none);
    EXPECT_TRUE(plan.probes[4].slots.empty());
}

TEST_F(PairCompiled, ArgumentsOfTheSameNameAreKeptApart) {
    const auto plan = compile({"usdt:app:req__begin ~~ usdt:app:req__end"});
    EXPECT_THAT(names(plan.points.at(0).arguments), ElementsAre("arg0", "arg1", "arg2"));
    EXPECT_THAT(names(plan.points.at(0).end_arguments), ElementsAre("end_arg0", "end_arg1"));
}

TEST_F(PairCompiled, APlaceOfSeveralPairsIsAttachedForEach) {
    const auto plan = compile({"usdt:app:req__begin ~~ usdt:app:req__end until usdt:app:abort",
                               "u:app:work ~~ ur:app:rest until usdt:app:abort", "usdt:app:abort"});
    size_t aborts = 0;
    for (const auto& site : plan.files.at(0).sites) aborts += site.file_offset == 0x207 ? 1 : 0;
    EXPECT_EQ(aborts, 3U);
    EXPECT_EQ(plan.points.size(), 3U);
    EXPECT_EQ(plan.points[1].name, "req");
    EXPECT_EQ(plan.points[2].name, "work") << "nothing in common: the begin's";
    EXPECT_TRUE(plan.warnings.empty());
}

TEST_F(PairCompiled, RefusesWhatCannotBe) {
    EXPECT_FALSE(try_compile({"usdt:app:abort ~~ usdt:app:abort"}));
    EXPECT_FALSE(try_compile({"usdt:app:abort ~~ usdt:app:nothing"}));
    const auto mixed =
        try_compile({"usdt:app:req__begin(key=arg0:str) ~~ usdt:app:req__end(key=arg1)"});
    ASSERT_FALSE(mixed);
    EXPECT_THAT(mixed.error().what, HasSubstr("text on one side"));
    options.programs_max = 2;
    EXPECT_FALSE(try_compile({"usdt:app:req__begin ~~ usdt:app:req__end"}));
}

}  // namespace
}  // namespace tracer
