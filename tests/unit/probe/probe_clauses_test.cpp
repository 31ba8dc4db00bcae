// SPDX-License-Identifier: Apache-2.0
//
// What may follow a probe's place and arguments: what is read, and where refusals point.
#include "probe/probe_spec.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tracer {
namespace {

using ::testing::HasSubstr;
using ::testing::SizeIs;

ProbeSpec parse(std::string_view text) {
    auto spec = parse_probe_spec(text);
    EXPECT_TRUE(spec) << text << ": " << spec.error().what;
    return spec ? *spec : ProbeSpec{};
}

// What the carets stand under, for a probe "u:a:f CLAUSES".
std::string pointed_at(std::string_view clauses, std::string_view probe = "u:a:f ") {
    const std::string text = std::string(probe).append(clauses);
    auto spec = parse_probe_spec(text);
    EXPECT_FALSE(spec) << text;
    if (spec) return {};
    const auto& what = spec.error().what;
    const auto last = what.rfind('\n');
    const auto carets = what.substr(last + 3);
    const auto begin = carets.find('^');
    return begin < text.size() ? text.substr(begin, carets.size() - begin) : "";
}

std::string refusal(std::string_view text) {
    auto spec = parse_probe_spec(text);
    EXPECT_FALSE(spec) << text;
    return spec ? "" : spec.error().what;
}

TEST(ProbeClauses, AreReadInAnyOrder) {
    for (const auto* text :
         {"u:a:f(q=arg0:str) if arg1 > 4096 && comm ~ \"pg*\" sample 1/100 rate 500/s as \"q {q}\"",
          "u:a:f(q=arg0:str) as \"q {q}\" rate 500/s sample 1/100 if arg1>4096&&comm~\"pg*\""}) {
        const auto clauses = parse(text).clauses;
        EXPECT_EQ(clauses.sample_every, 100u);
        EXPECT_EQ(clauses.rate_per_second, 500u);
        ASSERT_THAT(clauses.condition, SizeIs(2));
        EXPECT_EQ(clauses.condition[0].operand.operand, "arg1");
        EXPECT_EQ(clauses.condition[0].compare, ConditionOperator::greater);
        EXPECT_EQ(clauses.condition[0].magnitude, 4096u);
        EXPECT_EQ(clauses.condition[1].source, ConditionSource::comm);
        EXPECT_EQ(clauses.condition[1].text, "pg*");
        ASSERT_THAT(clauses.name, SizeIs(2));
        EXPECT_EQ(clauses.name[0].text, "q ");
        EXPECT_TRUE(clauses.name[1].is_label);
        EXPECT_EQ(clauses.name[1].text, "q");
    }
    EXPECT_EQ(parse("u:a:f  rate 1/s ").clauses.text, "rate 1/s");
    EXPECT_EQ(parse("u:a:f").clauses.text, "");
}

TEST(ProbeClauses, StayWithEachProbeOfAWildcard) {
    const auto spec = parse("usdt:a:f* if pid == 1 rate 5/s");
    EXPECT_EQ(probe_text(spec, "a", "foo"), "usdt:a:foo if pid == 1 rate 5/s");
    const auto with_args = parse("usdt:a:f*(arg0) if pid == 1");
    EXPECT_EQ(probe_text(with_args, "a", "foo"), "usdt:a:foo(arg0) if pid == 1");
}

TEST(ProbeClauses, RefusalsPointAtTheToken) {
    EXPECT_EQ(pointed_at("rate 5/s rate 6/s"), "rate");
    EXPECT_EQ(pointed_at("sample 1/0"), "1/0");
    EXPECT_EQ(pointed_at("sample 2/3"), "2/3");
    EXPECT_EQ(pointed_at("sample"), "");
    EXPECT_EQ(pointed_at("rate 5"), "5");
    EXPECT_EQ(pointed_at("rate 1000001/s"), "1000001/s");
    EXPECT_EQ(pointed_at("as x"), "x");
    EXPECT_EQ(pointed_at("as \"\""), "\"\"");
    EXPECT_EQ(pointed_at("as \"a\" b c"), "b c");
    EXPECT_EQ(pointed_at("while pid == 1"), "while pid == 1");
}

TEST(ProbeClauses, ANameTakesLabelsAndLiteralBraces) {
    const auto name = parse(R"(u:a:f(q=arg0) as "{{{q}}} \"{q}\" \\ ")").clauses.name;
    ASSERT_THAT(name, SizeIs(5));
    EXPECT_EQ(name[0].text, "{");
    EXPECT_TRUE(name[1].is_label);
    EXPECT_EQ(name[2].text, "} \"");
    EXPECT_EQ(name[4].text, "\" \\ ");
    EXPECT_EQ(pointed_at("as \"x {q\""), "{");
    EXPECT_EQ(pointed_at("as \"x {q{r}\""), "{");
    EXPECT_EQ(pointed_at("as \"x } y\""), "}");
    EXPECT_EQ(pointed_at("as \"x {} y\""), "{}");
    EXPECT_EQ(pointed_at("as \"no end"), "\"");
}

TEST(Condition, ReadsIntegersInEveryBase) {
    const auto value = [](std::string_view text) {
        return parse(std::string("u:a:f if arg0 == ").append(text)).clauses.condition.at(0);
    };
    EXPECT_EQ(value("10").magnitude, 10u);
    EXPECT_EQ(value("0x1F").magnitude, 31u);
    EXPECT_EQ(value("017").magnitude, 15u);
    EXPECT_EQ(value("0").magnitude, 0u);
    EXPECT_EQ(value("-5").magnitude, 5u);
    EXPECT_TRUE(value("-5").is_negative);
    EXPECT_FALSE(value("-0").is_negative);
    EXPECT_EQ(value("18446744073709551615").magnitude, UINT64_MAX);
    EXPECT_EQ(value("'A'").magnitude, 65u);
    EXPECT_EQ(value("' '").magnitude, 32u);
    EXPECT_EQ(value(R"('\n')").magnitude, 10u);
    EXPECT_EQ(value(R"('\'')").magnitude, 39u);
    for (const auto* text :
         {"", "18446744073709551616", "1x", "08", "0x", "--1", "'ab'", "'", "'\\q'"}) {
        EXPECT_THAT(refusal(std::string("u:a:f if arg0 == ").append(text)),
                    HasSubstr("expected an integer"))
            << text;
    }
}

// The terms' targets: "true/false" of each, T and F for the ends.
std::string jumps(std::string_view condition) {
    std::string text;
    const auto target = [](uint8_t to) {
        if (to == kConditionTrue) return std::string("T");
        return to == kConditionFalse ? std::string("F") : std::to_string(to);
    };
    for (const auto& term : parse(std::string("u:a:f if ").append(condition)).clauses.condition) {
        if (!text.empty()) text += ' ';
        text += target(term.on_true) + "/" + target(term.on_false);
    }
    return text;
}

TEST(Condition, IsAProgramOfForwardJumps) {
    EXPECT_EQ(jumps("pid==1"), "T/F");
    EXPECT_EQ(jumps("!pid==1"), "F/T");
    EXPECT_EQ(jumps("pid==1 && tid==2"), "1/F T/F");
    EXPECT_EQ(jumps("pid==1 || tid==2"), "T/1 T/F");
    EXPECT_EQ(jumps("pid==1 || pid==2 && pid==3"), "T/1 2/F T/F");
    EXPECT_EQ(jumps("(pid==1 || pid==2) && pid==3"), "2/1 2/F T/F");
    EXPECT_EQ(jumps("!(pid==1 || pid==2) && pid==3"), "F/1 F/2 T/F");
    EXPECT_EQ(jumps("!!(pid==1)"), "T/F");
}

TEST(Condition, RefusalsPointAtTheToken) {
    EXPECT_EQ(pointed_at("if"), "");
    EXPECT_EQ(pointed_at("if arg0"), "");
    EXPECT_EQ(pointed_at("if arg0 = 1"), "=");
    EXPECT_EQ(pointed_at("if arg0 && arg1 == 1"), "&");
    EXPECT_EQ(pointed_at("if foo == 1"), "foo");
    EXPECT_THAT(parse_probe_spec("u:a:f if foo == 1").error().hint, HasSubstr("names given to"));
    EXPECT_EQ(pointed_at("if ret == 1"), "ret");
    EXPECT_EQ(pointed_at("if arg0:u9 == 1"), "u9");
    EXPECT_EQ(pointed_at("if arg0:f64 == 1"), "arg0");
    EXPECT_EQ(pointed_at("if arg0 < \"x\""), "arg0 < \"x\"");
    EXPECT_EQ(pointed_at("if arg0 ~ 5"), "arg0 ~ 5");
    EXPECT_EQ(pointed_at("if comm == 5"), "comm == 5");
    EXPECT_EQ(pointed_at("if pid == \"x\""), "pid == \"x\"");
    EXPECT_EQ(pointed_at("if cgroup < 5"), "cgroup < 5");
    EXPECT_EQ(pointed_at("if container == 5"), "container == 5");
    EXPECT_EQ(pointed_at("if (pid == 1"), "");
    EXPECT_EQ(pointed_at("if pid == 1)"), ")");
    EXPECT_EQ(pointed_at("if pid == 1 &&"), "");
    EXPECT_EQ(pointed_at("if pid == 1 | tid == 1"), "| tid == 1");
    EXPECT_EQ(pointed_at("if ret == 1", "span:a:f "), "ret");
    const std::string long_text = '"' + std::string(64, 'x') + '"';
    EXPECT_EQ(pointed_at("if comm ~ " + long_text), long_text);
    EXPECT_THAT(refusal("u:a:f if " + std::string(40, '(') + "pid == 1"), HasSubstr("nested"));
    std::string nine = "if pid == 1";
    for (int i = 2; i <= 9; ++i) nine += " || pid == " + std::to_string(i);
    EXPECT_EQ(pointed_at(nine), "pid == 9");
}

TEST(Condition, TakesLabelsOfArguments) {
    const auto& term =
        parse("u:a:f(n=arg3:u16, comm=arg1) if n == 5 && comm == 1").clauses.condition;
    EXPECT_EQ(term.at(0).operand.operand, "arg3");
    EXPECT_EQ(term.at(0).operand.type, ArgType::u16);
    EXPECT_EQ(term.at(1).source, ConditionSource::operand) << "the label is meant";
    EXPECT_EQ(parse("t:a:b if next_pid == 5").clauses.condition.at(0).operand.operand, "next_pid");
}

TEST(Condition, EveryTruncationIsReadOrRefused) {
    const std::string whole =
        "u:a:f(q=arg0:str) if !(arg1:u8 > 0x1f || q ~ \"a*\") && pid == 'x' sample 1/9 as \"{q}\"";
    for (size_t bytes = 0; bytes < whole.size(); ++bytes) {
        const auto spec = parse_probe_spec(whole.substr(0, bytes));
        EXPECT_TRUE(spec || spec.error().code == ErrorCode::usage) << bytes;
    }
}

}  // namespace
}  // namespace tracer
