// SPDX-License-Identifier: Apache-2.0
//
// The grammar of arguments: what each form means, and which token each refusal points at.
#include "probe/probe_spec.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tracer {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

ArgSpec parse(const std::string& argument, const std::string& probe = "u:app:f") {
    auto spec = parse_probe_spec(probe + "(" + argument + ")");
    EXPECT_TRUE(spec) << argument << ": " << spec.error().what;
    if (!spec || spec->args.size() != 1) return {};
    return spec->args[0];
}

Error refusal(const std::string& argument, const std::string& probe = "u:app:f") {
    auto spec = parse_probe_spec(probe + "(" + argument + ")");
    EXPECT_FALSE(spec) << argument;
    if (spec) return {};
    EXPECT_EQ(spec.error().code, ErrorCode::usage) << argument;
    return spec.error();
}

// The token that the caret line points at.
std::string pointed_at(const std::string& argument, const std::string& probe = "u:app:f") {
    const auto what = refusal(argument, probe).what;
    const auto last = what.rfind('\n');
    if (last == std::string::npos) return "";
    const auto shown = what.rfind('\n', last - 1);
    const auto line = what.substr(shown + 1, last - shown - 1);
    const auto carets = what.substr(last + 1);
    const auto begin = carets.find('^');
    return begin < line.size() ? line.substr(begin, carets.size() - begin) : "";
}

TEST(ProbeArguments, WalksFromTheInside) {
    const auto one = parse("*(arg0+8)");
    EXPECT_EQ(one.operand, "arg0");
    EXPECT_THAT(one.walk, ElementsAre(8));
    EXPECT_EQ(one.label, "*(arg0+8)");
    const auto two = parse("flags = *( *(arg1 - 0x10) + 16 ) : u32 / x");
    EXPECT_EQ(two.operand, "arg1");
    EXPECT_THAT(two.walk, ElementsAre(-16, 16));
    EXPECT_EQ(two.type, ArgType::u32);
    EXPECT_TRUE(two.is_hex);
    EXPECT_EQ(two.label, "flags");
    const auto place = parse("arg0+8+8:str[16]");
    EXPECT_TRUE(place.walk.empty());
    EXPECT_EQ(place.addend, 16);
    const auto both = parse("*(arg0)+4:str[16]");
    EXPECT_THAT(both.walk, ElementsAre(0));
    EXPECT_EQ(both.addend, 4);
    EXPECT_THAT(parse("*(ret+8)", "ur:app:f").walk, ElementsAre(8));
    EXPECT_EQ(parse("*(skbaddr+8)", "t:net:netif_rx").operand, "skbaddr");
    EXPECT_EQ(parse("*(arg2)", "usdt:a:b").operand, "arg2");
}

TEST(ProbeArguments, TextComesInFourForms) {
    EXPECT_EQ(parse("arg0:str").text_form, TextForm::ended);
    EXPECT_EQ(parse("arg0:str").text_bytes, 0u);
    EXPECT_EQ(parse("arg0:str[4096+]").text_form, TextForm::ended);
    EXPECT_EQ(parse("arg0:str[4096+]").text_bytes, 4096u);
    EXPECT_EQ(parse("arg0:str[ 16 ]").text_form, TextForm::array);
    EXPECT_EQ(parse("arg0:str[16]").text_bytes, 16u);
    const auto counted = parse("buf=arg0:str[*(arg1+8):u32, 100]");
    EXPECT_EQ(counted.text_form, TextForm::counted);
    EXPECT_EQ(counted.text_bytes, 100u);
    ASSERT_EQ(counted.length.size(), 1u);
    EXPECT_EQ(counted.length[0].operand, "arg1");
    EXPECT_EQ(counted.length[0].type, ArgType::u32);
    EXPECT_THAT(counted.length[0].walk, ElementsAre(8));
    EXPECT_EQ(parse("buf:str[count]", "t:syscalls:sys_enter_write").length.at(0).operand, "count");
}

TEST(ProbeArguments, NamesParametersAndTheirMembers) {
    const auto one = parse("arg:request");
    EXPECT_TRUE(one.is_parameter);
    EXPECT_EQ(one.operand, "request");
    EXPECT_EQ(one.label, "request");
    const auto deep = parse("arg:request->head.size:u16");
    ASSERT_EQ(deep.members.size(), 2u);
    EXPECT_EQ(deep.members[0].name, "head");
    EXPECT_TRUE(deep.members[0].is_behind_pointer);
    EXPECT_EQ(deep.members[1].name, "size");
    EXPECT_FALSE(deep.members[1].is_behind_pointer);
    EXPECT_EQ(deep.type, ArgType::u16);
    EXPECT_EQ(deep.label, "request->head->size") << "readers take a '.' for a path";
    EXPECT_EQ(parse("arg:p-8").addend, -8);
    EXPECT_THAT(parse("*(arg:p->q+8)").walk, ElementsAre(8));
    EXPECT_FALSE(parse("arg:u32", "t:a:b").is_parameter) << "a tracepoint's field called arg";
}

TEST(ProbeArguments, NamesValuesInTheirOrder) {
    const auto arg = parse("arg1:s32/map( 1 = write , 0=read,-1=\"not \\\"open\\\"\",0x10=x.y )");
    EXPECT_THAT(arg.names, ElementsAre(model::ValueName{0, "read"}, model::ValueName{1, "write"},
                                       model::ValueName{16, "x.y"},
                                       model::ValueName{~uint64_t{0}, "not \"open\""}));
    // In quotes a name may be empty: of a state none.
    EXPECT_THAT(parse("arg1/map(0=\"\",1=busy)").names,
                ElementsAre(model::ValueName{0, ""}, model::ValueName{1, "busy"}));
    EXPECT_TRUE(parse("arg1/x").is_hex);
    EXPECT_EQ(parse("arg1/x").type, ArgType::automatic);
}

// Two texts for one place are the same probe when this is the same.
TEST(ProbeArguments, HaveOneSpelling) {
    for (const auto* text :
         {"arg0", "*(*(arg0+8)-16):u32/x", "arg0+8:str[16]", "arg0:str[4096+]",
          "arg0:str[*(arg1+8):u32,100]", "arg:p->q.r", "*(arg:p+1)", "arg1:s32/map(0=a,-1=b)"}) {
        EXPECT_EQ(argument_text(parse(text)), text);
        EXPECT_EQ(argument_text(parse(argument_text(parse(text)))), text);
    }
}

TEST(ProbeArguments, RefusalsPointAtTheToken) {
    EXPECT_EQ(pointed_at("*arg0"), "a");
    EXPECT_EQ(pointed_at("*(argh+8)"), "argh");
    EXPECT_EQ(pointed_at("*(arg0+x)"), "x");
    EXPECT_EQ(pointed_at("*(arg0+0x80000000)"), "0x80000000");
    EXPECT_EQ(pointed_at("*(arg0+8:u32"), ":");
    EXPECT_EQ(pointed_at("*(*(*(*(*(*(*(*(arg0))))))))"), "*(*(*(*(*(*(*(*(");
    EXPECT_EQ(pointed_at("arg0:str[0]"), "0");
    EXPECT_EQ(pointed_at("arg0:str[4097]"), "4097");
    EXPECT_EQ(pointed_at("arg0:str[arg1,0]"), "0");
    EXPECT_EQ(pointed_at("arg0:str[argh]"), "argh");
    EXPECT_EQ(pointed_at("arg0:str[arg1:str]"), "str");
    EXPECT_EQ(pointed_at("arg0:str[16"), ")");
    EXPECT_EQ(pointed_at("arg0:u32[16]"), "[");
    EXPECT_EQ(pointed_at("arg0/y"), "y");
    EXPECT_EQ(pointed_at("arg0:str/x"), "x");
    EXPECT_EQ(pointed_at("arg0:f64/map(0=a)", "usdt:a:b"), "map");
    EXPECT_EQ(pointed_at("arg0/map"), ")");
    EXPECT_EQ(pointed_at("arg0/map()"), ")");
    EXPECT_EQ(pointed_at("arg0/map(a=b)"), "a");
    EXPECT_EQ(pointed_at("arg0/map(0)"), ")");
    EXPECT_EQ(pointed_at("arg0/map(0=)"), ")");
    EXPECT_EQ(pointed_at("arg0/map(0=a,0x0=b)"), "0x0");
    EXPECT_EQ(pointed_at("arg0:u8/map(-1=a)"), "-1");
    EXPECT_EQ(pointed_at("arg:"), ")");
    EXPECT_EQ(pointed_at("arg:p->"), ")");
    EXPECT_EQ(pointed_at("arg:p", "usdt:a:b"), "arg");
    EXPECT_EQ(pointed_at("arg:p", "ur:app:f"), "arg");
    EXPECT_EQ(pointed_at("ret:str[arg1]", "span:app:f"), "arg1");
    EXPECT_EQ(pointed_at("arg0:str[ret]", "span:app:f"), "ret");
}

TEST(ProbeArguments, TextMayNameACxxType) {
    const auto one = parse("thrown=*(arg1+8):str/type", "usdt:libstdcxx:throw");
    EXPECT_TRUE(one.is_cxx_type);
    EXPECT_EQ(argument_text(one), "*(arg1+8):str/type");
    EXPECT_EQ(argument_text(parse("arg0:str[64+] / type")), "arg0:str[64+]/type");
    EXPECT_TRUE(parse("arg:name/type").is_cxx_type);
    EXPECT_FALSE(parse("arg0:str").is_cxx_type);
    EXPECT_EQ(pointed_at("arg0:u64/type"), "type");
    EXPECT_EQ(pointed_at("arg0:str/types"), "types");
    EXPECT_THAT(refusal("arg0/hex").hint, HasSubstr("/type"));
    EXPECT_EQ(pointed_at("arg0:str/x"), "x");
}

TEST(ProbeArguments, BoundsWhatATextMayAskFor) {
    std::string names = "arg0/map(0=a";
    for (int i = 1; i < 64; ++i) names += "," + std::to_string(i) + "=a";
    EXPECT_EQ(parse(names + ")").names.size(), 64u);
    EXPECT_THAT(refusal(names + ",64=a)").what, HasSubstr("more than 64 names"));
    EXPECT_THAT(refusal("arg0/map(0=" + std::string(65, 'a') + ")").what,
                HasSubstr("1 to 64 bytes"));
    std::string members = "arg:p";
    for (int i = 0; i < 16; ++i) members += ".m";
    EXPECT_EQ(parse(members).members.size(), 16u);
    EXPECT_THAT(refusal(members + ".m").what, HasSubstr("more than 16 members"));
    EXPECT_THAT(refusal("*(arg0,*(arg0)").what, HasSubstr("')'"));
}

}  // namespace
}  // namespace tracer
