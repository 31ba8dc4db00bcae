// SPDX-License-Identifier: Apache-2.0
//
// Clauses that say what a hit is (counter, state, track, names) and raise: what is read, where
// refusals point, and what becomes of them in a plan.
#include "probe/cold_place.h"
#include "probe/explain.h"
#include "unit/probe/compiler_fixture.h"

#include <gmock/gmock.h>

namespace tracer {
namespace {

using model::PointKind;
using test::ElfBuilder;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

ProbeClauses parse(std::string_view text) {
    auto spec = parse_probe_spec(text);
    EXPECT_TRUE(spec) << text << ": " << spec.error().what;
    return spec ? spec->clauses : ProbeClauses{};
}

// What the carets stand under; empty: the text is fine.
std::string pointed_at(const std::string& text) {
    auto spec = parse_probe_spec(text);
    if (spec) return {};
    EXPECT_EQ(spec.error().code, ErrorCode::usage);
    const auto& what = spec.error().what;
    const auto carets = what.substr(what.rfind('\n') + 3);
    const auto begin = carets.find('^');
    return begin < text.size() ? text.substr(begin, carets.size() - begin) : "(end)";
}

TEST(MeaningClauses, AreReadInAnyOrderWithTheOthers) {
    const auto counter = parse("u:a:f(n=arg0) as \"pool\" counter if pid == 1 raise py:line");
    EXPECT_EQ(counter.meaning, HitMeaning::counter);
    EXPECT_EQ(counter.raise_provider, "py");
    EXPECT_EQ(counter.raise_name, "line");
    EXPECT_THAT(counter.condition, SizeIs(1));
    const auto state = parse("t:a:b(p=x) state \"phase {p}\" as \"{p}\" rate 5/s");
    EXPECT_EQ(state.meaning, HitMeaning::state);
    ASSERT_THAT(state.line, SizeIs(2));
    EXPECT_EQ(state.line[1].text, "p");
    EXPECT_EQ(state.rate_per_second, 5U);
    const auto track = parse("span:a:f track \"collector\"");
    EXPECT_EQ(track.meaning, HitMeaning::event);
    EXPECT_EQ(track.line.at(0).text, "collector");
    EXPECT_FALSE(track.is_line_of_process);
    const auto shared = parse("u:a:f(d=arg0) track \"domain {d}\" of  process unless ring");
    EXPECT_TRUE(shared.is_line_of_process);
    EXPECT_TRUE(shared.yields_to_ring);
    ASSERT_THAT(shared.line, SizeIs(2));
    EXPECT_EQ(parse("u:a:f(arg0:str) names thread").meaning, HitMeaning::thread_name);
    EXPECT_EQ(parse("ur:a:f(ret:str) names  process").meaning, HitMeaning::process_name);
    EXPECT_EQ(parse("u:a:f state \"s\" as \"\"").name.at(0).text, "");
}

TEST(MeaningClauses, RefusalsPointAtTheToken) {
    EXPECT_EQ(pointed_at("u:a:f state"), "(end)");
    EXPECT_EQ(pointed_at("u:a:f state x"), "x");
    EXPECT_EQ(pointed_at("u:a:f state \"\""), "\"\"");
    EXPECT_EQ(pointed_at("u:a:f track \"\""), "\"\"");
    EXPECT_EQ(pointed_at("u:a:f track \"t\" of thread"), "thread");
    EXPECT_EQ(pointed_at("span:a:f track \"t\" of process"), "track \"t\" of process");
    EXPECT_EQ(pointed_at("u:a:f unless x"), "x");
    EXPECT_EQ(pointed_at("span:a:f unless ring"), "unless ring");
    EXPECT_EQ(pointed_at("u:a:f state \"s\" unless ring"), "unless ring");
    EXPECT_EQ(pointed_at("u:a:f track \"a{\""), "{");
    EXPECT_EQ(pointed_at("u:a:f names"), "(end)");
    EXPECT_EQ(pointed_at("u:a:f names file"), "file");
    for (const auto* word : {"line", "py:", ":line", "a:b:c", "py:*", "\"py\""}) {
        EXPECT_EQ(pointed_at(std::string("u:a:f raise ") + word), word);
    }
    EXPECT_EQ(pointed_at("u:a:f counter counter"), "counter");
    EXPECT_EQ(pointed_at("u:a:f counter state \"s\""), "state \"s\"");
    EXPECT_EQ(pointed_at("u:a:f names thread counter"), "counter");
    EXPECT_EQ(pointed_at("u:a:f counter track \"t\""), "track \"t\"");
    EXPECT_EQ(pointed_at("u:a:f track \"t\" state \"s\""), "track \"t\"");
    EXPECT_EQ(pointed_at("span:a:f counter"), "counter");
    EXPECT_EQ(pointed_at("span:a:f(arg0:str) names process"), "names process");
    EXPECT_EQ(pointed_at("t:a:b raise py:line"), "raise py:line");
    EXPECT_EQ(pointed_at("u:a:f() counter"), "counter");
    EXPECT_EQ(pointed_at("u:a:f(n=arg0, q=arg1:str) counter"), "arg1");
    EXPECT_EQ(pointed_at("u:a:f(n=arg0, q=arg1:str) counter as \"pool {q}\""), "");
    EXPECT_EQ(pointed_at("u:a:f track \"t\" as \"\""), "\"\"");
    EXPECT_EQ(pointed_at("u:@:f counter"), "@");
}

TEST(MeaningClauses, EveryTruncationIsReadOrRefused) {
    const std::string whole = "u:a:f(q=arg0:str,n=arg1) state \"a {q}\" raise p:q names thread";
    for (size_t bytes = 0; bytes < whole.size(); ++bytes) {
        const auto spec = parse_probe_spec(whole.substr(0, bytes));
        EXPECT_TRUE(spec || spec.error().code == ErrorCode::usage) << bytes;
    }
}

class MeaningCompiled : public ProbeCompilerTest {
protected:
    void SetUp() override {
        const auto builder =
            ElfBuilder()
                .function("work", ElfBuilder::kText, 16)
                .note("app", "pool", "8@%rdi 4@%esi 8@%rdx", ElfBuilder::kText + 4)
                .note("app", "plain", "", ElfBuilder::kText + 5)
                .note("app", "line", "", ElfBuilder::kText + 6, ElfBuilder::kData)
                .note("app", "other", "", ElfBuilder::kText + 7, ElfBuilder::kData + 2);
        path = add_file("app", builder);
    }

    std::string path;
};

TEST_F(MeaningCompiled, ACounterIsAPointOfThatKindWithoutASample) {
    const auto plan = compile("usdt:app:pool(free=arg0, q=arg2:str) counter sample 1/5 as \"{q}\"");
    ASSERT_THAT(plan.points, SizeIs(1));
    EXPECT_EQ(plan.points[0].kind, PointKind::counter);
    EXPECT_THAT(plan.points[0].arguments, SizeIs(2)) << "one_of would be a series";
    EXPECT_EQ(plan.probes.at(0).role, HitRole::instant);
    EXPECT_THAT(plan.probes[0].name, ElementsAre(NamePiece{"", 1}));
    EXPECT_THAT(refusal("usdt:app:plain counter").what, HasSubstr("is a number"));
    EXPECT_THAT(refusal("usdt:app:plain counter").what, HasSubstr("^^^^^^^"));
}

TEST_F(MeaningCompiled, OfAPatternThoseThatFitAreTaken) {
    const auto plan = compile("usdt:app:p* counter");
    ASSERT_THAT(plan.points, SizeIs(1));
    EXPECT_EQ(plan.points[0].name, "pool");
    EXPECT_THAT(plan.warnings, SizeIs(1));
}

TEST_F(MeaningCompiled, AStateIsASpanOnALine) {
    const auto plan = compile("usdt:app:pool(p=arg1/map(0=idle,1=run)) state \"{p}\" as \"x {p}\"");
    EXPECT_EQ(plan.points.at(0).kind, PointKind::span);
    EXPECT_EQ(plan.probes.at(0).role, HitRole::state);
    EXPECT_THAT(plan.probes[0].line, ElementsAre(NamePiece{"", 0}));
    EXPECT_THAT(refusal("usdt:app:pool state \"{nothing}\"").what, HasSubstr("called 'nothing'"));
}

TEST_F(MeaningCompiled, NamesTakeTheFirstTextOrTheTemplate) {
    const auto first = compile("usdt:app:pool(n=arg0, name=arg2:str) names thread");
    EXPECT_EQ(first.probes.at(0).role, HitRole::thread_name);
    EXPECT_EQ(first.points.at(0).kind, PointKind::instant);
    EXPECT_THAT(first.probes[0].name, ElementsAre(NamePiece{"", 1}));
    const auto made = compile("usdt:app:pool(n=arg0) names process as \"worker {n}\"");
    EXPECT_EQ(made.probes.at(0).role, HitRole::process_name);
    EXPECT_THAT(made.probes[0].name, SizeIs(2));
    EXPECT_THAT(refusal("usdt:app:pool names thread").what, HasSubstr("text of a name"));
}

TEST_F(MeaningCompiled, AFunctionIsASpanOnItsLine) {
    const auto plan = compile("span:app:work(n=arg0) track \"pool {n}\"");
    ASSERT_THAT(plan.probes, SizeIs(2));
    EXPECT_THAT(plan.probes[0].line, SizeIs(2));
    EXPECT_THAT(plan.probes[1].line, IsEmpty());
}

TEST_F(MeaningCompiled, OnePlaceMayMeanSeveralThings) {
    auto plan = try_compile({"usdt:app:pool(n=arg0)", "usdt:app:pool(n=arg0) counter",
                             "usdt:app:pool(n=arg0) state \"a\"", "usdt:app:pool(n=arg0) counter"});
    ASSERT_TRUE(plan) << plan.error().what;
    EXPECT_THAT(plan->points, SizeIs(3)) << "the same counter once";
    EXPECT_THAT(plan->files.at(0).sites, SizeIs(3));
    EXPECT_THAT(plan->warnings, IsEmpty());
}

TEST_F(MeaningCompiled, RaisesASemaphoreOfTheSameFileOnce) {
    auto plan = try_compile({"usdt:app:pool raise app:line", "u:app:work raise app:line",
                             "usdt:app:plain raise app:other"});
    ASSERT_TRUE(plan) << plan.error().what;
    ASSERT_THAT(plan->files, SizeIs(1));
    const auto& raises = plan->files[0].raises;
    ASSERT_THAT(raises, SizeIs(2));
    EXPECT_NE(raises[0].semaphore_offset, raises[1].semaphore_offset);
    EXPECT_NE(raises[0].file_offset, raises[1].file_offset) << "a place has one semaphore";
    EXPECT_THAT(plan->files[0].sites, SizeIs(3)) << "without the other probe's events";
    const auto explanation = explain_plan(*plan, {});
    ASSERT_TRUE(explanation) << explanation.error().what;
    EXPECT_THAT(explanation->probes.at(0).raises, SizeIs(1));
}

TEST_F(MeaningCompiled, RefusesToRaiseWhatIsNotThere) {
    const auto unknown = refusal("usdt:app:pool raise app:lines");
    EXPECT_EQ(unknown.code, ErrorCode::not_found);
    EXPECT_THAT(unknown.what, HasSubstr("^^^^^^^^^^^^^^^"));
    EXPECT_THAT(unknown.hint, HasSubstr("app:line"));
    const auto without = refusal("usdt:app:pool raise app:plain");
    EXPECT_EQ(without.code, ErrorCode::missing_feature);
    EXPECT_THAT(without.what, HasSubstr("no semaphore"));
}

TEST_F(MeaningCompiled, AColdPlaceIsInNoSegment) {
    const auto file = ElfFile::open(path);
    ASSERT_TRUE(file);
    const auto place = find_cold_place(*file, 0x1000);
    ASSERT_TRUE(place);
    const bool is_header = *place >= 9 && *place < 16;
    bool is_in_segment = false;
    for (const auto& segment : file->segments()) {
        is_in_segment |=
            *place >= segment.file_offset && *place - segment.file_offset < segment.file_bytes;
    }
    EXPECT_TRUE(is_header || !is_in_segment);
}

}  // namespace
}  // namespace tracer
