// SPDX-License-Identifier: Apache-2.0
#include "probe/event_spec.h"

#include "probe/probe_compiler.h"
#include "unit/probe/fake_tracepoints.h"
#include "unit/symbol/elf_builder.h"

#include <algorithm>

#include <fmt/format.h>
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

TEST(EventSpec, ASpanMayHaveSeveralBegins) {
    const auto event =
        parse("u:a:f(n=arg0) as \"f {n}\" runtime run or ur:a:g(n=ret) ~~ calls:a:h until u:a:g");
    EXPECT_EQ(event.begin.clauses.role, model::PointRole::run);
    ASSERT_EQ(event.other_begins.size(), 1U);
    EXPECT_EQ(event.other_begins[0].text, "ur:a:g(n=ret)");
    ASSERT_TRUE(event.end);
    EXPECT_TRUE(event.end->is_at_calls);
    ASSERT_EQ(event.until.size(), 1U);
    EXPECT_FALSE(event.all([](const ProbeSpec& spec) { return spec.name != "g"; }));
    const auto refused = [](const char* text) {
        const auto wrong = parse_event_spec(text);
        EXPECT_FALSE(wrong) << text;
        return wrong ? std::string() : wrong.error().what;
    };
    EXPECT_THAT(refused("u:a:f or u:a:g"), testing::HasSubstr("several begins, and no end"));
    EXPECT_THAT(refused("u:a:f(n=arg0) or u:a:g(m=arg0) ~~ u:a:h"),
                testing::HasSubstr("arguments of other names"));
    EXPECT_THAT(refused("u:a:f* or u:a:g* ~~ u:a:h*"),
                testing::HasSubstr("a wildcard in one of several begins"));
    EXPECT_THAT(refused("u:a:f or u:a:g as \"x\" ~~ u:a:h"),
                testing::HasSubstr("behind the span's begin"));
    EXPECT_THAT(refused("u:a:f runtime sleep ~~ u:a:h"),
                testing::HasSubstr("expected what a runtime's event is"));
    EXPECT_THAT(refused("u:a:f(n=arg0) counter runtime gc"),
                testing::HasSubstr("only an event is one of a runtime's"));
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
    const auto frame = parse("u:a:f(x=arg0, frame_key=arg1) ~~ u:a:g(frame_key=arg0)");
    EXPECT_EQ(key_argument(frame.begin).scope, PairKey::frame);
    EXPECT_EQ(key_argument(frame.begin).index, 1U);
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
        {"u:a:f* ~~ u:a:g", "0 wildcards in its name, and 1 in that of the begin"},
        {"u:a:f ~~ u:a:g*", "1 wildcard in its name, and 0"},
        {"u:a:f*?~~ u:a:g*", "1 wildcard in its name, and 2"},
        {"u:a:f* ~~ u:a:g* until u:a:h**", "2 wildcards in its name, and 1"},
        {"u:a:f*+4 ~~ u:a:g*", "an offset is for one symbol"},
        {"u:a:\"f*(int)\" ~~ u:a:\"g*(int)\"", "with parameters"},
        {"usdt:*:f ~~ u:a:g", "a wildcard in the provider"},
        {"u:a:f(key=arg0) ~~ u:a:g", "a key on the other side only"},
        {"u:a:f ~~ u:a:g(key=arg0)", "a key on the other side only"},
        {"u:a:f(key=arg0) ~~ u:a:g(shared_key=arg0)", "keys of two kinds"},
        {"u:a:f(key=arg0, shared_key=arg1) ~~ u:a:g(key=arg0)", "a span has one"},
        {"u:a:f(key=arg0:f64) ~~ u:a:g(key=arg0)", "a key is an integer"},
        {"u:a:f(key=arg0:str/type) ~~ u:a:g(key=arg0:str)", "without /type"},
        {"u:a:f(frame_key=arg0) ~~ u:a:g", "a key on the other side only"},
        {"u:a:f(frame_key=arg0) ~~ u:a:g(key=arg0)", "keys of two kinds"},
        {"u:a:f(frame_key=arg0:str) ~~ u:a:g(frame_key=arg0)", "an integer or a pointer"},
        {"u:a:f(frame_key=arg0) ~~ u:a:g(frame_key=arg0:f32)", "a key is an integer"},
        {"u:a:f(key=arg0, frame_key=arg1) ~~ u:a:g(key=arg0)", "a span has one"},
        {"u:a:f counter ~~ u:a:g", "begins and ends here"},
        {"u:a:f state \"s\" ~~ u:a:g", "begins and ends here"},
        {"u:a:f ~~ u:a:g as \"x\"", "this belongs behind the span's begin"},
        {"u:a:f names thread as \"x\" ~~ u:a:g", "begins and ends here"},
        {"u:a:f ~~ u:a:g counter", "behind the span's begin"},
        {"u:a:f ~~ u:a:g track \"t\"", "behind the span's begin"},
        {"u:a:f ~~ u:a:g unless ring", "behind the span's begin"},
        {"u:a:f(d=arg0) track \"t {d}\" of process ~~ u:a:g", "{d} is no argument of the end"},
        {"u:a:f(frame_key=arg0) track \"t {frame_key}\" of process ~~ u:a:g(frame_key=arg0)",
         "names no line of the process"},
        {"u:a:f(key=arg0) unless ring ~~ u:a:g(key=arg0)", "and pairs by thread"},
        {"u:a:f track \"t\" of process ~~ u:a:g until u:a:h", "not of its process"},
        {"u:a:f(key=arg0) track \"t\" of process ~~ u:a:g(key=arg0)", "a track of its own"},
        {"u:a:f ~~ u:a:g until u:a:h raise a:b", "behind the span's begin"},
        {"u:a:f(key=arg0) track \"t\" ~~ u:a:g(key=arg0)", "a track of its own"},
        {"u:@:f ~~ u:a:g", "this is no pack"},
        {"u:a:f ~~ u:a:g until u:a:h(key=arg0)", "that the begin does not have"},
        {"u:a:f ~~ u:a:g until u:a:h(x=arg0)", "only the key is read"},
        {"u:a:f(key=arg0, key2=arg1) ~~ u:a:g(key=arg0)", "a second key on the other side only"},
        {"u:a:f(key=arg0) ~~ u:a:g(key=arg0, key2=arg1)", "a second key on the other side only"},
        {"u:a:f(key2=arg0) ~~ u:a:g(key2=arg0)", "key2 without the key"},
        {"u:a:f(frame_key=arg0, key2=arg1) ~~ u:a:g(frame_key=arg0)", "key2 without the key"},
        {"u:a:f(shared_key=arg0, key2=arg1) ~~ u:a:g(shared_key=arg0)", "key2 without the key"},
        {"u:a:f(key=arg0, key2=arg1:str) ~~ u:a:g(key=arg0, key2=arg1)", "is an integer"},
        {"u:a:f(key=arg0, key2=arg1) ~~ u:a:g(key=arg0, key2=arg1) until u:a:h(key=arg0)",
         "as many values"},
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

TEST(EventSpec, APackNamesTheFileThatItMatched) {
    const auto event = parse_event_spec("u:@:f ~~ usdt:@:a:g", ProbeTextOrigin::pack);
    ASSERT_TRUE(event) << event.error().what;
    EXPECT_TRUE(event->begin.is_matched_file);
    EXPECT_EQ(event->begin.path, "@");
    EXPECT_TRUE(event->end->is_matched_file);
    // In quotes it is a name like any other.
    EXPECT_FALSE(parse(R"(u:"@":f)").begin.is_matched_file);
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

const AttachSite& return_of(const AttachPlan& plan) {
    const auto& sites = plan.files.at(0).sites;
    const auto found = std::ranges::find(sites, ProbeProgram::return_hit, &AttachSite::program);
    EXPECT_NE(found, sites.end());
    return *found;
}

TEST_F(PairCompiled, TiesAReturnToTheEntryOfItsOwnCallOnly) {
    const auto own = compile({"u:app:rest", "u:app:rest(arg0) ~~ ur:app:rest"});
    EXPECT_EQ(return_of(own).begin_id, TR_PROBE_FIRST_USER + 1);
    const auto framed = compile({"u:app:rest(frame_key=arg0) ~~ ur:app:rest(frame_key=ret)"});
    EXPECT_EQ(return_of(framed).begin_id, TR_PROBE_FIRST_USER);
    // What is returned may be the key of another call's begin.
    const auto keyed = compile({"u:app:rest(key=arg0) ~~ ur:app:rest(key=ret)"});
    EXPECT_EQ(return_of(keyed).begin_id, 0U);
    const auto other = compile({"usdt:app:req__begin ~~ ur:app:rest"});
    EXPECT_EQ(return_of(other).begin_id, 0U);
}

// Of sampled begins, and of those with a condition that their ends do not have, ends come alone.
TEST_F(PairCompiled, KnowsWhereEndsMayLackTheirBegins) {
    const auto may_lack = [&](const std::string& text) {
        const auto plan = compile({text});
        const auto end = std::ranges::find(plan.probes, HitRole::pair_end, &ProbeDefinition::role);
        EXPECT_NE(end, plan.probes.end());
        return end != plan.probes.end() && end->may_lack_begin;
    };
    EXPECT_FALSE(may_lack("usdt:app:req__begin ~~ usdt:app:req__end"));
    EXPECT_TRUE(may_lack("usdt:app:req__begin sample 1/10 ~~ usdt:app:req__end"));
    EXPECT_TRUE(may_lack("usdt:app:req__begin rate 10/s ~~ usdt:app:req__end"));
    EXPECT_TRUE(may_lack("usdt:app:req__begin if pid == 7 ~~ usdt:app:req__end"));
    EXPECT_FALSE(may_lack("usdt:app:req__begin if pid == 7 ~~ usdt:app:req__end if pid == 7"));
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

TEST_F(PairCompiled, PutsBothValuesOfAKeyFirstAndNamesFollowThem) {
    for (const std::string begin :
         {"key2=arg1, url=arg2, key=arg0", "url=arg2, key=arg0, key2=arg1",
          "key=arg0, key2=arg1, url=arg2"}) {
        SCOPED_TRACE(begin);
        const auto plan =
            compile({"usdt:app:req__begin(" + begin + ") as \"{url} {key2} {key}\" ~~ " +
                     "usdt:app:req__end(status=arg0, key2=arg0, key=arg1) "
                     "until usdt:app:abort(key2=arg0, key=arg1)"});
        const auto& point = plan.points.at(0);
        EXPECT_THAT(names(point.arguments), ElementsAre("key", "key2", "url"));
        EXPECT_THAT(names(point.end_arguments), ElementsAre("status"));
        ASSERT_EQ(plan.probes.size(), 4U);
        for (const auto& probe : plan.probes) {
            EXPECT_TRUE(probe.has_second_key);
            EXPECT_EQ(probe.key_slots(), 2U);
        }
        EXPECT_THAT(plan.probes[0].slots,
                    ElementsAre(ValueType::u64, ValueType::u32, ValueType::u64));
        EXPECT_THAT(
            plan.probes[0].name,
            ElementsAre(NamePiece{"", 2}, NamePiece{" ", NamePiece::kText}, NamePiece{"", 1},
                        NamePiece{" ", NamePiece::kText}, NamePiece{"", 0}));
        EXPECT_THAT(plan.probes[2].slots,
                    ElementsAre(ValueType::u64, ValueType::s32, ValueType::s32));
        EXPECT_THAT(plan.probes[3].slots, ElementsAre(ValueType::u64, ValueType::u32));
    }
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

TEST_F(PairCompiled, AFrameKeyIsTheFirstValueAndALineCountsIt) {
    const auto plan =
        compile({"usdt:app:req__begin(url=arg1, frame_key=arg0) track \"u {url} {frame_key}\" ~~ "
                 "usdt:app:req__end(status=arg0, frame_key=arg1)"});
    ASSERT_EQ(plan.probes.size(), 3U);
    EXPECT_EQ(plan.probes[0].key, PairKey::frame);
    EXPECT_THAT(plan.probes[0].line,
                ElementsAre(NamePiece{"u ", NamePiece::kText}, NamePiece{"", 1},
                            NamePiece{" ", NamePiece::kText}, NamePiece{"", 0}));
    EXPECT_TRUE(plan.probes[2].line.empty());
    EXPECT_THAT(names(plan.points[0].arguments), ElementsAre("frame_key", "url"));
    EXPECT_THAT(names(plan.points[0].end_arguments), ElementsAre("status"));
}

TEST_F(PairCompiled, ALineOfTheProcessIsNamedByBothEnds) {
    const auto plan = compile(
        {"usdt:app:req__begin(frame_key=arg0, d=arg1) track \"domain {d}\" of process unless ring "
         "~~ usdt:app:req__end(d=arg1, frame_key=arg0)"});
    ASSERT_EQ(plan.probes.size(), 3U);
    const auto domain = [](uint8_t slot) {
        return ElementsAre(NamePiece{"domain ", NamePiece::kText}, NamePiece{"", slot});
    };
    EXPECT_THAT(plan.probes[0].line, domain(1));
    EXPECT_THAT(plan.probes[2].line, domain(0)) << "of the values that are shown";
    for (const auto& probe : plan.probes) {
        EXPECT_TRUE(probe.is_line_of_process);
        EXPECT_TRUE(probe.yields_to_ring);
    }
}

// A begin for each name, with the end of the same: never with another's.
TEST_F(PairCompiled, WildcardsOfTheEndAreWhatThoseOfTheBeginWere) {
    const auto jni = ElfBuilder()
                         .note("jni", "Find__entry", "8@%rdi", ElfBuilder::kText + 4)
                         .note("jni", "Find__return", "", ElfBuilder::kText + 5)
                         .note("jni", "Alone__entry", "8@%rdi", ElfBuilder::kText + 6)
                         .note("jni", "Get__entry", "8@%rdi", ElfBuilder::kText + 7)
                         .note("jni", "Get__entry", "8@%rsi", ElfBuilder::kText + 8)
                         .note("jni", "Get__return", "8@%rax", ElfBuilder::kText + 9)
                         .note("jni", "Get__failed", "8@%rax", ElfBuilder::kText + 10)
                         .note("jni", "reset", "", ElfBuilder::kText + 11);
    const auto path = test::write_file(folder.path(), "jni", jni.build());
    files.add_file({path, path});
    const auto plan = compile(
        {"usdt:jni:*__entry(key=arg0) ~~ usdt:jni:*__return(key=arg0) until usdt:jni:*__failed, "
         "usdt:jni:reset"});
    ASSERT_EQ(plan.points.size(), 2U);
    EXPECT_EQ(plan.points[0].name, "Find");
    EXPECT_EQ(plan.points[1].name, "Get");
    std::vector<std::string> places;
    for (const auto& file : plan.files) {
        for (const auto& site : file.sites) {
            const auto& probe = plan.probes.at(site.probe_id - plan.first_probe_id);
            places.push_back(fmt::format("{} {} {:#x}",
                                         plan.points.at(static_cast<size_t>(probe.point)).name,
                                         static_cast<int>(probe.role), site.file_offset));
            // What only a wildcard found need not attach, what was named must.
            EXPECT_EQ(site.may_fail, site.file_offset != 0x20b);
        }
    }
    const int begin = static_cast<int>(HitRole::pair_begin);
    const int end = static_cast<int>(HitRole::pair_end);
    const int until = static_cast<int>(HitRole::pair_until);
    EXPECT_THAT(places,
                testing::UnorderedElementsAre(
                    fmt::format("Find {} 0x204", begin), fmt::format("Find {} 0x205", end),
                    fmt::format("Find {} 0x20b", until), fmt::format("Get {} 0x207", begin),
                    fmt::format("Get {} 0x208", begin), fmt::format("Get {} 0x209", end),
                    fmt::format("Get {} 0x20a", until), fmt::format("Get {} 0x20b", until)));
    EXPECT_THAT(plan.warnings, testing::Contains(HasSubstr("Alone__entry")));
    EXPECT_FALSE(try_compile({"usdt:jni:Al*__entry ~~ usdt:jni:*__return"}));
}

// Functions are named by their files, and a path may find several.
TEST_F(PairCompiled, WildcardsOfFunctionsArePairedToo) {
    const auto app = ElfBuilder()
                         .function("a_open", ElfBuilder::kText, 16)
                         .function("a_shut", ElfBuilder::kText + 16, 16)
                         .function("b_open", ElfBuilder::kText + 32, 16);
    const auto path = test::write_file(folder.path(), "lib", app.build());
    files.add_file({path, path});
    const auto plan = compile({"u:lib:*_open ~~ u:lib:*_shut"});
    ASSERT_EQ(plan.points.size(), 1U);
    EXPECT_EQ(plan.probes.size(), 2U);
    EXPECT_THAT(plan.warnings, testing::Contains(HasSubstr("b_open")));
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
