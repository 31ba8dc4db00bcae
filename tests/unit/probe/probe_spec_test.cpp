// SPDX-License-Identifier: Apache-2.0
#include "probe/probe_spec.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tracer {
namespace {

using ::testing::HasSubstr;

ProbeSpec parse(std::string_view text) {
    auto spec = parse_probe_spec(text);
    EXPECT_TRUE(spec) << text << ": " << spec.error().what;
    return spec ? *spec : ProbeSpec{};
}

// The token that the caret line points at.
std::string pointed_at(std::string_view text) {
    auto spec = parse_probe_spec(text);
    EXPECT_FALSE(spec) << text;
    if (spec) return {};
    EXPECT_EQ(spec.error().code, ErrorCode::usage);
    const auto& what = spec.error().what;
    const auto last = what.rfind('\n');
    const auto shown = what.rfind('\n', last - 1);
    const auto line = what.substr(shown + 1, last - shown - 1);
    const auto carets = what.substr(last + 1);
    EXPECT_EQ(line, "  " + std::string(text));
    const auto begin = carets.find('^');
    return begin < line.size() ? line.substr(begin, carets.size() - begin) : "";
}

std::string refusal(std::string_view text) {
    auto spec = parse_probe_spec(text);
    EXPECT_FALSE(spec) << text;
    return spec ? "" : spec.error().what;
}

TEST(ProbeSpec, ReadsEveryKind) {
    auto usdt = parse("usdt:python:gc__start");
    EXPECT_EQ(usdt.kind, ProbeKind::usdt);
    EXPECT_EQ(usdt.path, "");
    EXPECT_EQ(usdt.provider, "python");
    EXPECT_EQ(usdt.name, "gc__start");
    EXPECT_FALSE(usdt.has_args);
    EXPECT_EQ(parse("usdt:/usr/bin/python3.11:python:*").path, "/usr/bin/python3.11");
    auto function = parse("u:/usr/bin/app:handle+0x1f");
    EXPECT_EQ(function.kind, ProbeKind::uprobe);
    EXPECT_EQ(function.name, "handle");
    EXPECT_EQ(function.symbol_offset, 0x1fu);
    EXPECT_EQ(parse("u:app:f+12").symbol_offset, 12u);
    EXPECT_EQ(parse("u:app:0x4011d0").name, "0x4011d0");
    EXPECT_EQ(parse("ur:libc.so.6:malloc").kind, ProbeKind::uretprobe);
    EXPECT_EQ(parse("span:app:work*").kind, ProbeKind::span);
    EXPECT_FALSE(function.is_at_calls);
    auto calls = parse("calls:app:f(arg1:u32)");
    EXPECT_EQ(calls.kind, ProbeKind::uprobe);
    EXPECT_TRUE(calls.is_at_calls);
    auto tracepoint = parse("t:sched:sched_switch");
    EXPECT_EQ(tracepoint.provider, "sched");
    EXPECT_EQ(tracepoint.name, "sched_switch");
}

TEST(ProbeSpec, AParenthesisThatClosesNothingIsNoName) {
    EXPECT_EQ(pointed_at("usdt:app:done)"), ")");
    EXPECT_EQ(pointed_at("u:/opt/app)x:work(arg0)"), ")");
    EXPECT_EQ(parse("u:app:\"f)\"").name, "f)");
    EXPECT_EQ(quote_probe_part("f)"), "\"f)\"");
}

TEST(ProbeSpec, ReadsArguments) {
    auto spec = parse("span:app:f( arg0:str , n = arg1 : u32,ret:s64, arg2)");
    ASSERT_EQ(spec.args.size(), 4u);
    EXPECT_EQ(spec.args[0].label, "arg0");
    EXPECT_EQ(spec.args[0].type, ArgType::string);
    EXPECT_EQ(spec.args[1].label, "n");
    EXPECT_EQ(spec.args[1].operand, "arg1");
    EXPECT_EQ(spec.args[1].type, ArgType::u32);
    EXPECT_EQ(spec.args[2].operand, "ret");
    EXPECT_EQ(spec.args[3].type, ArgType::automatic);
    EXPECT_EQ(spec.text.substr(spec.args[1].text_offset, 4), "arg1");
    auto none = parse("usdt:p:n()");
    EXPECT_TRUE(none.has_args);
    EXPECT_TRUE(none.args.empty());
    EXPECT_EQ(parse("t:syscalls:sys_exit_read(ret, id=__syscall_nr)").args[0].operand, "ret");
}

TEST(ProbeSpec, ReadsQuotedParts) {
    auto spec = parse(R"(usdt:"/a b:c(d)/\"x\\":p:n)");
    EXPECT_EQ(spec.path, R"(/a b:c(d)/"x\)");
    auto symbol = parse("u:app:\"ns::f(int)\"+8(arg0)");
    EXPECT_EQ(symbol.name, "ns::f(int)");
    EXPECT_EQ(symbol.symbol_offset, 8u);
    EXPECT_EQ(parse("usdt:/lib/libstdc++.so.6:libstdcxx:throw").path, "/lib/libstdc++.so.6");
}

TEST(ProbeSpec, QuotesWhatItReads) {
    for (std::string part : {"plain", "a b", "a:b", "(x)", "q\"uote", "back\\slash", "tab\tx"}) {
        EXPECT_EQ(parse("usdt:" + quote_probe_part(part) + ":p:n").path, part);
    }
    EXPECT_EQ(parse("u:app:" + quote_probe_part("a+b", "+")).name, "a+b");
}

TEST(ProbeSpec, PointsAtTheToken) {
    EXPECT_EQ(pointed_at("probe:a:b"), "probe");
    EXPECT_EQ(pointed_at("usdt:a:b(arg0:foo)"), "foo");
    EXPECT_EQ(pointed_at("usdt:a:b(arg0:u32, ret)"), "ret");
    EXPECT_EQ(pointed_at("u:app:f(ret:s64)"), "ret");
    EXPECT_EQ(pointed_at("ur:app:f(arg0)"), "arg0");
    EXPECT_EQ(pointed_at("usdt:a:b(x.y=arg0)"), "x.y");
    EXPECT_EQ(pointed_at("usdt:a:b(argh)"), "argh");
    EXPECT_EQ(pointed_at("usdt:a:b(arg0) tail"), "tail");
    EXPECT_EQ(pointed_at("u:app:f+zz"), "zz");
    EXPECT_EQ(pointed_at("u:app:f*+4"), "f*+4");
    EXPECT_EQ(pointed_at("ur:app:f+4"), "+4");
    EXPECT_EQ(pointed_at("calls:app:f+4"), "+4");
    EXPECT_EQ(pointed_at("calls:app:f*"), "f*");
    EXPECT_EQ(pointed_at("u:app:f(%eax)"), "%eax");
    EXPECT_EQ(pointed_at("u:app:f(a=%rip0)"), "%rip0");
    EXPECT_EQ(pointed_at("usdt:a:b(%rax)"), "%rax");
    EXPECT_EQ(pointed_at("u:app:f(&)"), "&");
    EXPECT_EQ(pointed_at("u:app:f(arg0*3)"), "*3");
    EXPECT_EQ(pointed_at("u:app:f(arg7*8)"), "*8");
    EXPECT_EQ(pointed_at("usdt:a:b(arg1*8)"), "*8");
    EXPECT_EQ(pointed_at("t:a:b:c"), "c");
    EXPECT_EQ(pointed_at("usdt:\"abc"), "\"");
    EXPECT_EQ(pointed_at("usdt:a b:c"), " ");
    EXPECT_EQ(pointed_at("usdt:\"a\"x:c"), "x");
    // One column for each character, however many bytes it has.
    EXPECT_THAT(refusal("usdt:é:n(argh)"), ::testing::EndsWith("\n           ^^^^"));
}

TEST(ProbeSpec, BoundsTheArgumentsOfFunctionsButNotOfNotes) {
    EXPECT_EQ(parse("u:app:f(arg11)").args[0].operand, "arg11");
    EXPECT_EQ(parse("usdt:a:b(arg12)").args[0].operand, "arg12");
    for (const std::string kind : {"u", "span"}) {
        EXPECT_EQ(pointed_at(kind + ":app:f(arg0, x=arg12:u32)"), "arg12");
        EXPECT_EQ(pointed_at(kind + ":app:f(arg99)"), "arg99");
    }
    const auto error = parse_probe_spec("u:app:f(arg12)").error();
    EXPECT_EQ(error.code, ErrorCode::usage);
    EXPECT_THAT(error.what, HasSubstr("up to arg11"));
    EXPECT_THAT(error.hint, HasSubstr("on the stack"));
}

TEST(ProbeSpec, RefusesEveryCutText) {
    const std::string_view whole = "usdt:/usr/bin/x:provider:name(a=arg0:str)";
    for (size_t length = 0; length < whole.size(); ++length) {
        const auto text = whole.substr(0, length);
        // Three or two whole parts without parentheses are a probe of their own.
        const bool is_probe =
            length > 16 && text.find('(') == std::string_view::npos && text.back() != ':';
        EXPECT_EQ(parse_probe_spec(text).has_value(), is_probe) << text;
    }
}

TEST(ProbeSpec, NamesOneProbeOfAWildcardAsItsOwnText) {
    EXPECT_EQ(probe_text(parse("usdt:demo:*"), "demo", "request"), "usdt:demo:request");
    EXPECT_EQ(probe_text(parse("usdt:/bin/x:d*:r?(arg0:str)"), "demo", "ra"),
              "usdt:/bin/x:demo:ra(arg0:str)");
    EXPECT_EQ(probe_text(parse("t:sched:*wak*"), "sched", "sched_waking"), "t:sched:sched_waking");
    EXPECT_EQ(probe_text(parse("u:app:a*(arg1)"), "", "a+b"), "u:app:\"a+b\"(arg1)");
    EXPECT_EQ(probe_text(parse("span:libc.so.6:mall?c"), "", "malloc"), "span:libc.so.6:malloc");
    // Without a wildcard the user finds his own words again.
    EXPECT_EQ(probe_text(parse("u:app:f+4( arg1 )"), "", "f"), "u:app:f+4( arg1 )");
}

TEST(ProbeSpec, RefusesTooMuch) {
    std::string twelve = "usdt:p:n(arg0";
    for (int i = 1; i < 12; ++i) twelve += ",arg" + std::to_string(i);
    EXPECT_EQ(parse(twelve + ")").args.size(), 12u);
    EXPECT_THAT(refusal(twelve + ",arg12)"), HasSubstr("more than 12 arguments"));
    auto span = "span:a:b" + twelve.substr(8);
    EXPECT_THAT(refusal(span + ")"), HasSubstr("more than 11 arguments"));
    EXPECT_THAT(refusal(std::string(10000, 'x')), HasSubstr("longer than"));
    EXPECT_THAT(refusal(std::string_view("usdt:a\0:b", 9)), HasSubstr("NUL"));
    EXPECT_THAT(refusal("usdt:p:n(arg0, arg0:str)"), HasSubstr("two arguments called 'arg0'"));
    EXPECT_THAT(refusal("u:app:f+99999999999999999999"), HasSubstr("offset"));
    EXPECT_THAT(refusal("u:app:+4"), HasSubstr("offset without a symbol"));
    EXPECT_THAT(refusal("usdt:a:b(arg0,)"), HasSubstr("expected arg0"));
    EXPECT_THAT(refusal("usdt:a:b(arg99999999999999999999)"), HasSubstr("expected arg0"));
    EXPECT_THAT(refusal("usdt:a:b(arg01)"), HasSubstr("expected arg0"));
    EXPECT_THAT(refusal("u:app"), HasSubstr("expected u:PATH:symbol"));
    EXPECT_THAT(refusal("u"), HasSubstr("expected ':'"));
}

TEST(ProbeSpec, WhatListPrintsBehindAProbeIsPassedOver) {
    const auto spec = parse_probe_spec("usdt:app:start(arg0:u32)  # 3 sites, semaphore (\"");
    ASSERT_TRUE(spec) << spec.error().what;
    EXPECT_EQ(spec->text, "usdt:app:start(arg0:u32)");
    EXPECT_EQ(spec->args.size(), 1u);
    // Neither in quotes nor inside of a word.
    EXPECT_EQ(parse_probe_spec("u:app:\"operator #\"")->name, "operator #");
    EXPECT_EQ(parse_probe_spec("u:app:a#b")->name, "a#b");
    EXPECT_FALSE(parse_probe_spec("# nothing"));
    EXPECT_FALSE(parse_probe_spec(" # nothing"));
}

}  // namespace
}  // namespace tracer
