// SPDX-License-Identifier: Apache-2.0
//
// The compiler on ELF files made by the test and on a fake kernel's tracepoints.
#include "probe/probe_list.h"
#include "unit/probe/compiler_fixture.h"

#include <fstream>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tracer {
namespace {

using model::ValueType;
using test::ElfBuilder;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::UnorderedElementsAre;

class ProbeCompiler : public ProbeCompilerTest {};

constexpr uint64_t kText = ElfBuilder::kText;

ElfBuilder app() {
    return ElfBuilder()
        .function("work", kText, 16)
        .function("helper", kText + 16, 16)
        .function("help_alias", kText + 16, 16)
        .object("counter", ElfBuilder::kData)
        .note("app", "start", "4@%edi 8@%rsi -1@$-3", kText + 4, ElfBuilder::kData + 16)
        .note("app", "stop", "8f@%rax 4f@%edx", kText + 5)
        .note("app", "many", "4@%edi", kText + 6)
        .note("app", "many", "-4@$7 8@%rax", kText + 7)
        .note("app", "odd", "8@nowhere(%rip) 4@%eax", kText + 8);
}

TEST_F(ProbeCompiler, TypesUsdtArgumentsFromTheNote) {
    add_file("app", app());
    auto plan = compile("usdt:app:start");
    ASSERT_EQ(plan.points.size(), 1u);
    const auto& point = plan.points[0];
    EXPECT_EQ(point.category, "app");
    EXPECT_EQ(point.name, "start");
    EXPECT_EQ(point.kind, model::PointKind::instant);
    ASSERT_EQ(point.arguments.size(), 3u);
    EXPECT_EQ(point.arguments[0].name, "arg0");
    EXPECT_EQ(point.arguments[0].type, ValueType::u32);
    EXPECT_EQ(point.arguments[1].type, ValueType::u64);
    EXPECT_EQ(point.arguments[2].type, ValueType::s32);
    ASSERT_EQ(plan.files.size(), 1u);
    const auto& site = plan.files[0].sites.at(0);
    EXPECT_EQ(site.file_offset, 0x204u);
    EXPECT_EQ(site.semaphore_offset, ElfBuilder::kDataOffset + 16);
    EXPECT_EQ(site.probe_id, uint32_t{TR_PROBE_FIRST_USER});
    EXPECT_EQ(site.program, ProbeProgram::hit);
    EXPECT_EQ(plan.programs.at(0).arg_count, 3);
    EXPECT_EQ(plan.programs.at(0).shape, TR_SHAPE_args4);
    EXPECT_EQ(plan.probes.at(0).probe_id, site.probe_id);
    EXPECT_EQ(plan.probes.at(0).slots.size(), 3u);
}

TEST_F(ProbeCompiler, MarksFloatsByWidth) {
    add_file("app", app());
    auto plan = compile("usdt:app:stop");
    EXPECT_EQ(plan.points[0].arguments.at(0).type, ValueType::f64);
    EXPECT_EQ(plan.points[0].arguments.at(1).type, ValueType::f64);
    EXPECT_EQ(plan.probes[0].f32_slots, 2);
}

TEST_F(ProbeCompiler, GivesSitesThatDifferOnePointOfTheWidestType) {
    add_file("app", app());
    auto plan = compile("usdt:app:many");
    ASSERT_EQ(plan.points.size(), 1u);
    ASSERT_EQ(plan.points[0].arguments.size(), 2u);
    EXPECT_EQ(plan.points[0].arguments[0].type, ValueType::s64);
    ASSERT_EQ(plan.probes.size(), 2u);
    EXPECT_EQ(plan.probes[0].slots[0], ValueType::s64);
    EXPECT_EQ(plan.probes[0].slots[1], ValueType::none);
    EXPECT_EQ(plan.probes[1].slots[1], ValueType::u64);
    EXPECT_EQ(plan.programs[0].args[1].form, TR_ARG_UNREADABLE);
    EXPECT_EQ(plan.programs[0].arg_count, 2);
}

TEST_F(ProbeCompiler, AnUnreadableArgumentIsMissingWithAWarning) {
    add_file("app", app());
    auto plan = compile("usdt:app:odd");
    EXPECT_EQ(plan.programs[0].args[0].form, TR_ARG_UNREADABLE);
    EXPECT_EQ(plan.probes[0].slots[0], ValueType::none);
    EXPECT_EQ(plan.probes[0].slots[1], ValueType::u32);
    ASSERT_EQ(plan.warnings.size(), 1u);
    EXPECT_THAT(plan.warnings[0], HasSubstr("symbol 'nowhere' is not in the file"));
}

TEST_F(ProbeCompiler, LaysStringsOutInTheRecord) {
    add_file("app", app());
    auto plan = compile("usdt:app:start(n=arg0:u8, text=arg1:str, arg1:ptr)");
    const auto& program = plan.programs[0];
    EXPECT_EQ(program.shape, TR_SHAPE_strings1);
    EXPECT_EQ(program.args[0].bytes, 1);
    EXPECT_EQ(program.args[1].form, TR_ARG_USER_STRING);
    EXPECT_EQ(program.args[1].string_offset, TR_STRINGS_OFFSET);
    EXPECT_EQ(program.args[1].string_bytes_max, TR_STRING_BYTES);
    EXPECT_EQ(plan.files[0].sites[0].program, ProbeProgram::hit_sleepable);
    EXPECT_EQ(plan.points[0].arguments[0].name, "n");
    EXPECT_EQ(plan.points[0].arguments[2].type, ValueType::pointer);
    auto three = compile("u:app:work(a=arg0:str,b=arg1:str,c=arg2:str)");
    EXPECT_EQ(three.programs[0].shape, TR_SHAPE_strings4);
    EXPECT_EQ(three.programs[0].args[2].string_offset, TR_STRINGS_OFFSET + 2 * TR_STRING_BYTES);
}

TEST_F(ProbeCompiler, RefusesTypesThatDoNotFit) {
    add_file("app", app());
    auto error = refusal("usdt:app:start(arg0:str)");
    EXPECT_EQ(error.code, ErrorCode::usage);
    EXPECT_THAT(error.what, HasSubstr("arg0 is a 4-byte integer"));
    EXPECT_THAT(error.what, HasSubstr("^^^^"));
    EXPECT_THAT(refusal("usdt:app:start(arg0:f64)").what, HasSubstr("not f64"));
    EXPECT_THAT(refusal("u:app:work(arg0:f64)").what, HasSubstr("vector registers"));
    EXPECT_THAT(refusal("usdt:app:start(arg3)").what, HasSubstr("start has 3 arguments"));
    EXPECT_THAT(refusal("usdt:app:many(arg2)").what, HasSubstr("many has 2 arguments"));
}

TEST_F(ProbeCompiler, AWildcardsArgumentIsMissingWhereItsTypeDoesNotFit) {
    add_file("app", app());
    auto plan = compile("usdt:app:*(arg1:str)");
    ASSERT_EQ(plan.programs.size(), 5u);
    EXPECT_THAT(plan.warnings, Contains(HasSubstr("app:stop in ")));
    EXPECT_THAT(plan.warnings, Contains(HasSubstr("arg1 (4f@%edx) is no str; left out")));
    for (size_t i = 0; i < plan.probes.size(); ++i) {
        const bool fits = plan.probes[i].slots[0] == ValueType::string;
        EXPECT_EQ(plan.programs[i].args[0].form, fits ? TR_ARG_USER_STRING : TR_ARG_UNREADABLE);
    }
    EXPECT_EQ(refusal("usdt:app:stop(arg1:str)").code, ErrorCode::usage);
    plan = compile("t:sched:*(prev_comm:u32)");
    EXPECT_THAT(plan.warnings, Contains(HasSubstr("sched:sched_switch: prev_comm")));
}

TEST_F(ProbeCompiler, WidensByTheNotesOwnSign) {
    add_file("app", app());
    auto plan = compile("usdt:app:start(arg2:s64, x=arg2:u64)");
    EXPECT_EQ(plan.programs[0].args[0].bytes, 1);
    EXPECT_EQ(plan.programs[0].args[0].form, TR_ARG_SIGNED);
    EXPECT_EQ(plan.points[0].arguments[0].type, ValueType::s64);
}

TEST_F(ProbeCompiler, ReadsFunctionArgumentsByTheAbi) {
    add_file("app", app());
    auto plan = compile("u:app:work(arg0:s32,arg5,arg6:u16,arg7)");
    const auto& args = plan.programs[0].args;
    EXPECT_EQ(args[0].ops[0].reg, TR_REG_RDI);
    EXPECT_EQ(args[0].bytes, 4);
    EXPECT_EQ(args[1].ops[0].reg, TR_REG_R9);
    EXPECT_EQ(args[2].op_count, 2);
    EXPECT_EQ(args[2].ops[0].reg, TR_REG_RSP);
    EXPECT_EQ(args[2].ops[1].imm, 8);
    EXPECT_EQ(args[3].ops[1].imm, 16);
    EXPECT_EQ(plan.points[0].arguments[1].type, ValueType::s64);
    EXPECT_EQ(plan.points[0].category, "app");
    EXPECT_EQ(compile("u:app:work").programs[0].arg_count, 0);
    auto offset = compile("u:app:work+4");
    EXPECT_EQ(offset.files[0].sites[0].file_offset, 0x204u);
    EXPECT_EQ(offset.points[0].name, "work+0x4");
}

TEST_F(ProbeCompiler, ReturnsReadRaxByDefault) {
    add_file("app", app());
    auto plan = compile("ur:app:work");
    EXPECT_EQ(plan.files[0].sites[0].program, ProbeProgram::return_hit);
    EXPECT_EQ(plan.files[0].sites[0].begin_id, 0u);
    EXPECT_EQ(plan.programs[0].args[0].ops[0].reg, TR_REG_RAX);
    EXPECT_EQ(plan.points[0].arguments[0].name, "ret");
    EXPECT_EQ(plan.points[0].arguments[0].type, ValueType::s64);
    EXPECT_EQ(compile("ur:app:work()").programs[0].arg_count, 0);
    EXPECT_EQ(compile("ur:app:work(ret:str)").files[0].sites[0].program,
              ProbeProgram::return_sleepable);
}

TEST_F(ProbeCompiler, SpansAreTwoProgramsWithTheStackPointerFirst) {
    add_file("app", app());
    auto plan = compile("span:app:work(arg0:str,ret)");
    ASSERT_EQ(plan.programs.size(), 2u);
    for (const auto& program : plan.programs) {
        EXPECT_EQ(program.arg_count, 2);
        EXPECT_EQ(program.args[0].ops[0].reg, TR_REG_RSP);
    }
    EXPECT_EQ(plan.probes[0].role, HitRole::span_begin);
    EXPECT_EQ(plan.probes[1].role, HitRole::span_end);
    EXPECT_EQ(plan.probes[0].slots, std::vector{ValueType::string});
    EXPECT_EQ(plan.probes[1].slots, std::vector{ValueType::s64});
    ASSERT_EQ(plan.points.size(), 1u);
    EXPECT_EQ(plan.points[0].kind, model::PointKind::span);
    EXPECT_EQ(plan.points[0].end_arguments.at(0).name, "ret");
    EXPECT_EQ(plan.files[0].sites[0].program, ProbeProgram::hit_sleepable);
    EXPECT_EQ(plan.files[0].sites[1].program, ProbeProgram::return_hit);
    EXPECT_EQ(plan.files[0].sites[0].file_offset, plan.files[0].sites[1].file_offset);
    EXPECT_EQ(plan.files[0].sites[1].begin_id, plan.files[0].sites[0].probe_id);
    auto eleven = std::string("span:app:work(arg0");
    for (int i = 1; i < 11; ++i) eleven += ",arg" + std::to_string(i);
    EXPECT_EQ(compile(eleven + ")").programs[0].arg_count, TR_ARGS_MAX);
}

TEST_F(ProbeCompiler, WildcardsTakeEachPlaceOnce) {
    add_file("app", app());
    EXPECT_EQ(compile("u:app:*").programs.size(), 2u);
    EXPECT_EQ(compile("u:app:help*").points.size(), 1u);
    EXPECT_EQ(compile("usdt:a*:*").points.size(), 4u);
    EXPECT_EQ(compile("usdt:a*:start(arg5)").programs[0].args[0].form, TR_ARG_UNREADABLE);
}

// What of a plan a user sees: texts of the probes, each with its number of arguments.
std::vector<std::string> probes_of(const AttachPlan& plan) {
    std::vector<std::string> texts;
    for (const auto& probe : plan.probes) {
        texts.push_back(probe.spec + " " + std::to_string(probe.slots.size()));
    }
    return texts;
}

TEST_F(ProbeCompiler, AttachesEachPlaceOnceHoweverOftenItIsNamed) {
    const auto path = add_file("app", app());
    using Texts = std::vector<std::string>;
    const std::vector<Texts> same = {{"usdt:app:start", "usdt:app:start"},
                                     {"usdt:app:start(arg0)", "usdt:app:start(arg0)"},
                                     {"usdt:app:start", "usdt:" + path + ":app:start"},
                                     {"u:app:work", "u:" + path + ":work"},
                                     {"u:app:work+4(arg0)", "u:app:work+0x4( arg0 )"},
                                     {"ur:app:work", "ur:app:w*"},
                                     {"u:app:help_alias", "u:app:help*"},
                                     {"t:sched:sched_switch", "t:sched:sched_sw*"}};
    for (const auto& texts : same) {
        const auto plan = try_compile(texts);
        ASSERT_TRUE(plan) << texts[0];
        EXPECT_EQ(plan->programs.size(), 1u) << texts[0];
        EXPECT_EQ(plan->points.size(), 1u) << texts[0];
        EXPECT_EQ(plan->probes.at(0).spec, texts[0]);
        EXPECT_THAT(plan->warnings, Not(Contains(HasSubstr("the same place"))));
    }
    const auto spans = try_compile({"span:app:work", "span:app:*"});
    ASSERT_TRUE(spans);
    EXPECT_EQ(spans->programs.size(), 4u);
    // What only the wildcard found need not attach, what was named must.
    for (const auto& site : spans->files.at(0).sites) {
        EXPECT_EQ(site.may_fail, site.file_offset != 0x200u);
    }
    // Kinds record different things of one place.
    const auto kinds = try_compile({"u:app:work", "ur:app:work", "span:app:work"});
    ASSERT_TRUE(kinds);
    EXPECT_EQ(kinds->programs.size(), 4u);
}

TEST_F(ProbeCompiler, APlaceGoesToTheMostParticularProbe) {
    add_file("app", app());
    auto plan = try_compile({"usdt:app:*", "usdt:app:start(n=arg0)"});
    ASSERT_TRUE(plan);
    EXPECT_THAT(probes_of(*plan),
                ElementsAre("usdt:app:many 2", "usdt:app:many 2", "usdt:app:odd 2",
                            "usdt:app:stop 2", "usdt:app:start(n=arg0) 1"));
    EXPECT_EQ(plan->points.size(), 4u);
    for (size_t i = 0; i < plan->points.size(); ++i) {
        EXPECT_EQ(static_cast<size_t>(plan->points[i].index), i);
    }
    plan = try_compile({"u:app:*(arg0,arg1)", "u:app:work(arg0)", "u:app:helper"});
    ASSERT_TRUE(plan);
    EXPECT_THAT(probes_of(*plan),
                ElementsAre("u:app:help_alias(arg0,arg1) 2", "u:app:work(arg0) 1"));
    EXPECT_THAT(plan->warnings, ElementsAre(HasSubstr("u:app:helper is the same place as")));
    plan = try_compile({"t:sched:*", "t:sched:sched_switch(prev_pid)"});
    ASSERT_TRUE(plan);
    EXPECT_EQ(plan->probes.back().spec, "t:sched:sched_switch(prev_pid)");
    EXPECT_EQ(plan->tracepoints.size(), plan->points.size());
}

TEST_F(ProbeCompiler, TellsOfArgumentsThatAnotherTextsTake) {
    add_file("app", app());
    auto plan = try_compile({"u:app:work(arg0)", "u:app:work(arg1:u32)"});
    ASSERT_TRUE(plan);
    EXPECT_THAT(probes_of(*plan), ElementsAre("u:app:work(arg0) 1"));
    EXPECT_THAT(
        plan->warnings,
        ElementsAre(HasSubstr("u:app:work(arg1:u32) is the same place as u:app:work(arg0)")));
}

TEST_F(ProbeCompiler, AProbeKeepsTheFilesThatNobodyElseNamed) {
    const auto one = add_file("one", ElfBuilder().note("lib", "hit", "4@%edi", kText));
    add_file("two", ElfBuilder().note("lib", "hit", "4@%edi", kText + 1));
    auto plan = try_compile({"usdt:lib:hit", "usdt:" + one + ":lib:hit(x=arg0)"});
    ASSERT_TRUE(plan);
    ASSERT_EQ(plan->points.size(), 2u);
    EXPECT_EQ(plan->points[0].arguments.at(0).name, "arg0");
    EXPECT_EQ(plan->points[1].arguments.at(0).name, "x");
    EXPECT_EQ(plan->programs.size(), 2u);
    EXPECT_EQ(plan->files.size(), 2u);
}

TEST_F(ProbeCompiler, FunctionsOfOneNameInSeveralFilesStayApart) {
    add_file("lib_a", ElfBuilder().function("init", kText).function("a", kText + 16));
    add_file("lib_b", ElfBuilder().function("init", kText).function("b", kText + 16));
    auto plan = compile("u:lib_*:init");
    ASSERT_EQ(plan.points.size(), 2u);
    EXPECT_EQ(plan.points[0].category, "lib_a");
    EXPECT_EQ(plan.points[1].category, "lib_b");
    EXPECT_EQ(plan.files.size(), 2u);
}

TEST_F(ProbeCompiler, OneProbeOfSeveralFilesIsOnePoint) {
    add_file("one", ElfBuilder().note("lib", "hit", "", kText).function("a", kText));
    add_file("two", ElfBuilder().note("lib", "hit", "", kText + 1).function("b", kText));
    auto plan = compile("usdt:lib:hit");
    EXPECT_EQ(plan.points.size(), 1u);
    EXPECT_EQ(plan.files.size(), 2u);
}

TEST_F(ProbeCompiler, SaysWhatWasSearchedAndWhatIsNear) {
    auto path = add_file("app", app());
    auto error = refusal("usdt:app:strat");
    EXPECT_EQ(error.code, ErrorCode::not_found);
    EXPECT_THAT(error.what, HasSubstr("no USDT probe app:strat"));
    EXPECT_THAT(error.what, HasSubstr("/app: "));
    EXPECT_EQ(error.what.find('\n'), std::string::npos);
    EXPECT_THAT(error.hint, HasSubstr("app:start"));
    EXPECT_EQ(refusal("usdt:appp:*").hint, "did you mean app?");
    EXPECT_EQ(refusal("usdt:app:zz*").hint, "");
    EXPECT_THAT(refusal("u:app:wrok").hint, HasSubstr("did you mean work"));
    EXPECT_THAT(refusal("u:ap:work").what, HasSubstr("no file called 'ap'"));
    EXPECT_THAT(refusal("u:/no/such/file:work").what, HasSubstr("no file /no/such/file"));
    EXPECT_THAT(refusal("u:/tmp:work").what, HasSubstr("/tmp is a folder"));
    add_file("bare", ElfBuilder());
    EXPECT_THAT(refusal("u:bare:work").what, HasSubstr("stripped"));
    const auto text = test::write_file(folder.path(), "text", std::vector<std::byte>(64));
    EXPECT_THAT(refusal("usdt:" + text + ":a:b").what, HasSubstr("not an ELF file"));
}

TEST_F(ProbeCompiler, TellsWhatTheCompilerMadeOfAFunction) {
    add_file("clones", ElfBuilder()
                           .function("f.isra.0", kText)
                           .function("f.constprop.1", kText + 1)
                           .function("f.x", kText + 2)
                           .function("ff.isra.0", kText + 3));
    EXPECT_EQ(
        refusal("ur:clones:f").hint,
        "the compiler has made f.constprop.1, f.isra.0 of it, whose arguments may lie elsewhere: "
        "ur:clones:f.constprop.1");
    EXPECT_THAT(refusal("u:clones:isra").hint, HasSubstr("did you mean"));
    EXPECT_EQ(compile("u:clones:f.isra.0").programs.size(), 1u);
}

// TRACER_SPAN("work") of tracer/usdt.h: the first argument is the address of the name.
TEST_F(ProbeCompiler, NamesScopesAsTheProgramDoes) {
    add_file("scopes", ElfBuilder()
                           .code(kText, {0x90, 0x90, 0x90, 0x90})
                           .note("app", "span__begin", "8@%rax 8@%rdx", kText)
                           .note("app", "span__end", "8@%rax 8@%rdx", kText + 1)
                           .note("other", "span__begin", "4@%eax 8@%rdx", kText + 2)
                           .note("app", "begin", "8@%rax 8@%rdx", kText + 3));
    const auto plan = compile("usdt:scopes:app:span__begin");
    EXPECT_EQ(plan.probes.at(0).name, (std::vector<NamePiece>{{.text = {}, .slot = 0}}));
    EXPECT_EQ(plan.points.at(0).arguments.at(0).name, "name");
    const auto asked = compile("usdt:scopes:app:span__begin(n=arg1, arg0:str)");
    EXPECT_EQ(asked.probes.at(0).name, (std::vector<NamePiece>{{.text = {}, .slot = 1}}));
    EXPECT_EQ(compile("usdt:scopes:app:span__begin as \"x\"").probes.at(0).name.at(0).text, "x");
    EXPECT_TRUE(compile("usdt:scopes:app:span__end").points.at(0).arguments.empty());
    for (const char* text : {"usdt:scopes:app:span__begin(arg0)", "usdt:scopes:app:span__begin()",
                             "usdt:scopes:other:span__begin", "usdt:scopes:app:begin"}) {
        EXPECT_TRUE(compile(text).probes.at(0).name.empty()) << text;
    }
}

TEST_F(ProbeCompiler, RefusesReturnsOfGoAndHaskellCode) {
    add_file("go", ElfBuilder().section(".gopclntab", SHT_PROGBITS, "x").function("main.f", kText));
    EXPECT_EQ(refusal("ur:go:main.f").code, ErrorCode::missing_feature);
    EXPECT_THAT(refusal("span:go:main.f").what, HasSubstr("Go program"));
    EXPECT_EQ(compile("u:go:main.f").programs.size(), 1u);
    add_file("hs", ElfBuilder()
                       .section(".debug-ghc-link-info", SHT_PROGBITS, "x")
                       .function("Main_main_info", kText)
                       .function("hs_init", kText + 16));
    EXPECT_THAT(refusal("ur:hs:Main_main_info").what, HasSubstr("Haskell"));
    EXPECT_EQ(compile("ur:hs:*").programs.size(), 1u);
}

TEST_F(ProbeCompiler, TellsOfHaskellCodeInOneLine) {
    auto builder = ElfBuilder().section(".debug-ghc-link-info", SHT_PROGBITS, "x");
    for (uint64_t i = 0; i < 7; ++i) {
        builder.function("f" + std::to_string(i) + "_info", kText + 16 * i);
    }
    add_file("hs", builder.function("hs_init", kText + 0x100));
    const auto plan = compile("ur:hs:*");
    EXPECT_EQ(plan.programs.size(), 1u);
    EXPECT_THAT(plan.warnings, ElementsAre(AllOf(HasSubstr("7 places left out, Haskell code"),
                                                 HasSubstr("among them: ur:hs:f0_info, "),
                                                 Not(HasSubstr("f5_info")))));
}

TEST_F(ProbeCompiler, RefusesALoneFiveByteNop) {
    add_file("app", ElfBuilder()
                        .code(kText, {0x0f, 0x1f, 0x44, 0x00, 0x00})
                        .function("patched", kText)
                        .function("plain", kText + 16));
    EXPECT_THAT(refusal("u:app:patched").what, HasSubstr("5-byte nop"));
    auto plan = compile("u:app:p*");
    EXPECT_EQ(plan.programs.size(), 1u);
    EXPECT_THAT(plan.warnings.at(0), HasSubstr("left out"));
    options.allow_nop5 = true;
    EXPECT_EQ(compile("u:app:p*").programs.size(), 2u);
}

TEST_F(ProbeCompiler, RefusesAnInstructionThatGoesWrongUnderAProbe) {
    add_file("app", ElfBuilder()
                        .code(kText, {0x62, 0xe2, 0x7d, 0x28, 0x7a, 0xce, 0x89, 0xf8})
                        .code(kText + 32, {0x9c, 0x9c})
                        .function("search", kText)
                        .function("search_too", kText)
                        .function("plain", kText + 16)
                        .function("save", kText + 32)
                        .note("app", "saved", "", kText + 32));
    auto error = refusal("u:app:search");
    EXPECT_EQ(error.code, ErrorCode::missing_feature);
    EXPECT_THAT(error.what, HasSubstr("the kernel takes for another"));
    EXPECT_THAT(error.hint, HasSubstr("u:app:search+0x6"));
    EXPECT_EQ(compile("u:app:search+6").programs.size(), 1u);
    EXPECT_EQ(refusal("span:app:search").hint, "");
    EXPECT_EQ(refusal("u:app:save").hint, "");
    EXPECT_THAT(refusal("usdt:app:saved").what, HasSubstr("pushf"));
    const auto plan = compile("u:app:*");
    EXPECT_EQ(plan.programs.size(), 1u);
    EXPECT_THAT(plan.warnings,
                UnorderedElementsAre(HasSubstr("1 place left out, at an instruction"),
                                     HasSubstr("u:app:save")));
    error = refusal("ur:app:sea*");
    EXPECT_EQ(error.code, ErrorCode::missing_feature);
    EXPECT_THAT(error.what, HasSubstr("nothing remains to be probed: 1 place left out"));
    EXPECT_THAT(refusal("usdt:app:*").what, HasSubstr("nothing remains"));

    // Each line of the list is one that -e takes.
    std::vector<std::string> listed;
    static_cast<void>(list_probes(files, {.usdt = false},
                                  [&](const ListedProbe& probe) { listed.push_back(probe.line); }));
    EXPECT_THAT(listed, ElementsAre(HasSubstr(":plain")));
}

TEST_F(ProbeCompiler, APlaceThatIsNoCodeIsTheTargetsFault) {
    add_file("app", ElfBuilder().function("plain", kText));
    const auto error = refusal(fmt::format("u:app:{:#x}", ElfBuilder::kData));
    EXPECT_THAT(error.what, HasSubstr("outside of the file's code"));
    EXPECT_EQ(error.code, ErrorCode::bad_input);
}

TEST_F(ProbeCompiler, NamesAFileThatIsNoElfAsTheUserKnowsIt) {
    const std::string path = folder.path() + "/notes.txt";
    std::ofstream(path) << "no program";
    files.add_file({.open_path = path, .shown_path = "/app/notes.txt"});
    EXPECT_EQ(refusal("u:/app/notes.txt:f").what, "/app/notes.txt is not an ELF file");
}

TEST_F(ProbeCompiler, RefusesReturnProbesThatBreakTheirFunction) {
    add_file("app", ElfBuilder()
                        .function("__GI___sigsetjmp", kText)
                        .function("a_sigsetjmp", kText)  // another name of it
                        .function("__cxa_throw", kText + 16)
                        .function("parse.cold", kText + 32)
                        .function("parse.cold.3", kText + 48)
                        .function("_start", kText + 64)
                        .function("start_server", kText + 80)
                        .function("cold", kText + 96));
    for (const char* kind : {"ur", "span"}) {
        const std::string app = std::string(kind) + ":app:";
        EXPECT_THAT(refusal(app + "__GI___sigsetjmp").what, HasSubstr("more than once"));
        EXPECT_THAT(refusal(app + "a_sigsetjmp").what, HasSubstr("more than once"));
        EXPECT_THAT(refusal(app + "__cxa_throw").what, HasSubstr("unwinds the stack"));
        EXPECT_THAT(refusal(app + "parse.cold").what, HasSubstr("not called"));
        EXPECT_EQ(refusal(app + "_start").hint, "use u: to record entries");
        const auto plan = compile(app + "*");
        EXPECT_EQ(plan.points.size(), 2u);
        EXPECT_THAT(plan.warnings, Contains(HasSubstr("3 places left out, at code that is not")));
    }
    EXPECT_EQ(compile("u:app:*").points.size(), 7u);
}

TEST_F(ProbeCompiler, RefusesPlacesOutsideOfTheCode) {
    add_file("app", app().function("constant", ElfBuilder::kData));
    EXPECT_THAT(refusal("u:app:constant").what, HasSubstr("outside of the file's code"));
    EXPECT_EQ(compile("u:app:*").programs.size(), 2u);
}

TEST_F(ProbeCompiler, WarnsOfASemaphoreInBss) {
    add_file("app", ElfBuilder().note("p", "n", "", kText, ElfBuilder::kBss));
    auto plan = compile("usdt:p:n");
    EXPECT_EQ(plan.files[0].sites[0].semaphore_offset, 0u);
    EXPECT_THAT(plan.warnings.at(0), HasSubstr("semaphore"));
}

TEST_F(ProbeCompiler, BoundsOffsetsAndProbeCounts) {
    add_file("app", app().function("unsized", kText + 64, 0));
    EXPECT_THAT(refusal("u:app:work+16").what, HasSubstr("16 bytes long"));
    EXPECT_THAT(refusal("u:app:unsized+0xffffffffffffff00").what, HasSubstr("behind the end"));
    options.programs_max = 3;
    EXPECT_EQ(refusal("usdt:app:*").code, ErrorCode::limit);
}

TEST_F(ProbeCompiler, DropsArgumentsBeyondTwelveWithAWarning) {
    std::string operands;
    for (int i = 0; i < 14; ++i) operands += "4@%edi ";
    add_file("app", ElfBuilder().note("p", "n", operands, kText));
    auto plan = compile("usdt:p:n");
    EXPECT_EQ(plan.programs[0].arg_count, TR_ARGS_MAX);
    EXPECT_EQ(plan.programs[0].shape, TR_SHAPE_args12);
    EXPECT_THAT(plan.warnings.at(0), HasSubstr("14 arguments"));
    EXPECT_THAT(refusal("usdt:p:n(arg13)").what, HasSubstr("only the first 12"));
}

TEST_F(ProbeCompiler, ReadsTracepointFields) {
    auto plan = compile("t:sched:sched_switch");
    ASSERT_EQ(plan.tracepoints.size(), 1u);
    EXPECT_EQ(plan.tracepoints[0].name, "sched_switch");
    ASSERT_EQ(plan.points[0].arguments.size(), 3u);
    EXPECT_EQ(plan.points[0].arguments[0].name, "prev_comm");
    EXPECT_EQ(plan.points[0].arguments[0].type, ValueType::string);
    EXPECT_EQ(plan.points[0].arguments[1].type, ValueType::s32);
    EXPECT_EQ(plan.points[0].arguments[2].type, ValueType::s64);
    const auto& args = plan.programs[0].args;
    EXPECT_EQ(args[0].form, TR_ARG_KERNEL_ARRAY) << "the array may be full, without a NUL";
    EXPECT_EQ(args[0].ops[0].imm, 8);
    EXPECT_EQ(args[0].string_bytes_max, 16);
    EXPECT_EQ(args[1].ops[0].reg, TR_REG_RECORD);
    EXPECT_EQ(args[1].ops[1].code, TR_OP_KLOAD);
    EXPECT_EQ(args[1].ops[1].imm, 24);
    EXPECT_EQ(args[1].ops[1].bytes, 4);
}

TEST_F(ProbeCompiler, ReadsTextElsewhereInTheRecord) {
    auto plan = compile("t:sched:sched_process_exec(filename, pid:u32)");
    EXPECT_EQ(plan.programs[0].args[0].ops[0].code, TR_OP_DATA_LOC);
    EXPECT_EQ(plan.programs[0].args[0].form, TR_ARG_KERNEL_STRING);
    EXPECT_EQ(plan.points[0].arguments[1].type, ValueType::u32);
}

TEST_F(ProbeCompiler, PointersOfSystemCallsAreTheProcesssOwn) {
    auto plan = compile("t:syscalls:sys_enter_openat(name=filename:str, dfd)");
    EXPECT_EQ(plan.programs[0].args[0].form, TR_ARG_USER_STRING);
    EXPECT_EQ(plan.points[0].arguments[0].name, "name");
}

TEST_F(ProbeCompiler, RefusesUnknownTracepointsAndFields) {
    EXPECT_THAT(refusal("t:sched:sched_swich").hint, HasSubstr("sched:sched_switch"));
    auto error = refusal("t:sched:sched_switch(prev_pidd)");
    EXPECT_EQ(error.code, ErrorCode::usage);
    EXPECT_THAT(error.hint, HasSubstr("prev_pid"));
    EXPECT_THAT(refusal("t:sched:sched_switch(prev_comm:u32)").what, HasSubstr("is text"));
    options.tracepoints = nullptr;
    EXPECT_EQ(refusal("t:sched:sched_switch").code, ErrorCode::missing_feature);
}

}  // namespace
}  // namespace tracer
