// SPDX-License-Identifier: Apache-2.0
//
// Where the compiler puts probes so that they do no harm and cost little, and what it refuses.
#include "probe/probe_list.h"
#include "probe/return_harm.h"
#include "unit/probe/compiler_fixture.h"

#include <map>

#include <gmock/gmock.h>

namespace tracer {
namespace {

using test::ElfBuilder;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

constexpr uint64_t kText = ElfBuilder::kText;

class SafeSites : public ProbeCompilerTest {};

// cmp 0x10(%r14),%rsp; jbe to a call and a jump back; body; ret.
const std::vector<uint8_t> kGoFunction = {0x49, 0x3b, 0x66, 0x10, 0x76, 0x02, 0x90, 0xc3,
                                          0xe8, 0x00, 0x00, 0x00, 0x00, 0xeb, 0xf1, 0xcc};

ElfBuilder go_program() {
    return ElfBuilder()
        .section(".gopclntab", SHT_PROGBITS, "x")
        .code(kText, kGoFunction)
        .code(kText + 16, kGoFunction)
        .function("runtime.main", kText)
        .function("main.work", kText + 16)
        .function("main.nothing", kText + 32)
        .function("runtime.asm.abi0", kText + 48)
        .function("_cgo_call", kText + 64);
}

TEST_F(SafeSites, PlacesGoReturnsOnRetInstructions) {
    add_file("go", go_program());
    const auto plan = compile("span:go:main.work(arg0,arg1,ret)");
    ASSERT_EQ(plan.probes.size(), 2u);
    EXPECT_EQ(plan.probes[0].role, HitRole::fiber_span_begin);
    EXPECT_EQ(plan.probes[1].role, HitRole::fiber_span_end);
    const auto& sites = plan.files.at(0).sites;
    ASSERT_EQ(sites.size(), 2u);
    // Behind the check of the stack, and at the ret.
    EXPECT_EQ(sites[0].file_offset, 0x216u);
    EXPECT_EQ(sites[1].file_offset, 0x217u);
    for (const auto& site : sites) EXPECT_EQ(site.program, ProbeProgram::hit_sleepable);
    // rsp, g, the end of the stack; then rax and rbx, Go's own.
    const auto& begin = plan.programs[0];
    ASSERT_EQ(begin.arg_count, 5);
    EXPECT_EQ(begin.args[1].ops[0].reg, TR_REG_R14);
    EXPECT_EQ(begin.args[2].op_count, 2);
    EXPECT_EQ(begin.args[3].ops[0].reg, TR_REG_RAX);
    EXPECT_EQ(begin.args[4].ops[0].reg, TR_REG_RBX);
    // The return address is still on the stack.
    EXPECT_EQ(plan.programs[1].args[0].ops[0].imm, 8);
    EXPECT_EQ(plan.programs[1].args[3].ops[0].reg, TR_REG_RAX);

    const auto alone = compile("ur:go:main.work");
    ASSERT_EQ(alone.files.at(0).sites.size(), 1u);
    EXPECT_EQ(alone.files[0].sites[0].file_offset, 0x217u);
    EXPECT_EQ(alone.files[0].sites[0].program, ProbeProgram::hit);
    EXPECT_EQ(compile("u:go:main.work").files.at(0).sites.at(0).file_offset, 0x216u);
    EXPECT_EQ(compile("u:go:main.work+0x7").files.at(0).sites.at(0).file_offset, 0x217u);
}

TEST_F(SafeSites, RefusesGoReturnsItCannotPlace) {
    add_file("go", go_program());
    EXPECT_THAT(refusal("ur:go:main.nothing").what, HasSubstr("has no ret instruction"));
    EXPECT_THAT(refusal("ur:go:runtime.asm.abi0").what, HasSubstr("assembly or C code"));
    EXPECT_THAT(refusal("span:go:_cgo_call").what, HasSubstr("assembly or C code"));
    EXPECT_EQ(refusal("span:go:_cgo_call").hint, "use u: to record entries");
    EXPECT_EQ(compile("ur:go:*").programs.size(), 2u);
    std::string ten = "span:go:main.work(ret";
    for (int i = 0; i < 9; ++i) ten += ",arg" + std::to_string(i);
    EXPECT_THAT(refusal(ten + ")").what, HasSubstr("more than 9 arguments"));
    // Conditions read where Go has its words: the second in rbx.
    const auto asked = compile("u:go:main.work if arg1:s32 == 5");
    EXPECT_EQ(asked.gates.at(0).terms[0].arg.ops[0].reg, TR_REG_RBX);
    const auto text = compile("u:go:main.work(arg7:str[arg8])").programs.at(0).args[0];
    ASSERT_EQ(text.op_count, 3);
    EXPECT_EQ(text.ops[0].reg, TR_REG_R10);
    EXPECT_EQ(text.ops[1].code, TR_OP_LENGTH);
    EXPECT_EQ(text.ops[2].reg, TR_REG_R11);
    EXPECT_THAT(refusal("u:go:main.work if arg9 == 5").what, HasSubstr("cannot be read"));
    EXPECT_THAT(compile("u:go:main.work(arg9)").warnings, ElementsAre(HasSubstr("first nine")));
}

TEST_F(SafeSites, RefusesReturnsOfOcamlCode) {
    add_file("ml", ElfBuilder()
                       .object("caml_frametable", ElfBuilder::kData)
                       .function("camlMain__f_12", kText)
                       .function("caml_alloc", kText + 16));
    EXPECT_THAT(refusal("ur:ml:camlMain__f_12").what, HasSubstr("OCaml"));
    EXPECT_EQ(compile("ur:ml:caml*").programs.size(), 1u);
}

TEST_F(SafeSites, RefusesReturnsOfHaskellLibraries) {
    add_file("libHS", ElfBuilder()
                          .function("base_GHCziBase_map_info", kText)
                          .function("resizing_info", kText + 16));
    EXPECT_THAT(refusal("ur:libHS:base_GHCziBase_map_info").what, HasSubstr("Haskell"));
    EXPECT_EQ(compile("ur:libHS:resizing_info").programs.size(), 1u);
}

TEST_F(SafeSites, PlacesReturnsThatExceptionsMayPassOnRetInstructions) {
    add_file("cc", ElfBuilder()
                       .section(".gcc_except_table", SHT_PROGBITS, "x")
                       .section(".dynstr", SHT_STRTAB, std::string("\0__cxa_throw\0", 13))
                       .code(kText, {0xe8, 0, 0, 0, 0, 0xc3})       // call; ret
                       .code(kText + 16, {0xe9, 0x40, 0, 0, 0})     // jmp to another function
                       .code(kText + 32, {0x89, 0xf8, 0xc3})        // calls nothing
                       .code(kText + 48, {0xff, 0xe0, 0xc3})        // jmp *%rax; ret
                       .code(kText + 64, {0x06})                    // no instruction
                       .code(kText + 80, {0x74, 0x01, 0xb8, 0xc3})  // je into the mov
                       .function("calls", kText, 6)
                       .function("leaves", kText + 16, 5)
                       .function("leaf", kText + 32, 3)
                       .function("table", kText + 48, 3)
                       .function("data", kText + 64, 1)
                       .function("between", kText + 80, 8));
    const auto calls = compile("span:cc:calls");
    EXPECT_THAT(calls.warnings, ElementsAre(HasSubstr("single-steps")));
    ASSERT_EQ(calls.files.at(0).sites.size(), 2u);
    EXPECT_EQ(calls.files[0].sites[1].file_offset, 0x205u);
    EXPECT_EQ(calls.files[0].sites[1].program, ProbeProgram::hit);
    EXPECT_EQ(compile("ur:cc:leaf").files.at(0).sites.at(0).program, ProbeProgram::return_hit);
    // Nothing can pass it.
    EXPECT_THAT(compile("ur:cc:leaf").warnings, ElementsAre(HasSubstr("single-steps")));
    EXPECT_THAT(refusal("ur:cc:leaves").what, HasSubstr("left by a jump into another at +0x0"));
    EXPECT_THAT(refusal("ur:cc:table").what, HasSubstr("through a table or pointer"));
    EXPECT_THAT(refusal("ur:cc:data").what, HasSubstr("no instruction"));
    EXPECT_THAT(refusal("ur:cc:between").what, HasSubstr("between two instructions"));
    EXPECT_THAT(refusal("ur:cc:data").what, HasSubstr("std::terminate"));
}

// xor %esi,%esi; jmp to `inner`, as a compiler makes it of "return inner(x, 0)". The other jumps
// through a pointer.
ElfBuilder wrapper_program() {
    return ElfBuilder()
        .section(".dynstr", SHT_STRTAB, std::string("\0__cxa_throw\0", 13))
        .code(kText, {0x31, 0xf6, 0xe9, 0x09, 0, 0, 0})
        .code(kText + 16, {0xe8, 0, 0, 0, 0, 0xc3})
        .code(kText + 32, {0x48, 0x8b, 0x07, 0xff, 0x60, 0x18})
        .function("outer", kText, 7)
        .function("inner", kText + 16, 6)
        .function("forward", kText + 32, 6);
}

TEST_F(SafeSites, ASpanEndsWhenWhatItsFunctionJumpsToReturns) {
    add_file("cc", wrapper_program());
    const auto plan = compile("span:cc:outer(arg0,ret)");
    const auto& sites = plan.files.at(0).sites;
    ASSERT_EQ(sites.size(), 2u);
    EXPECT_EQ(sites[0].file_offset, 0x200u);
    EXPECT_EQ(sites[1].file_offset, 0x215u);
    // Others call `inner` too: only a return in a frame that was entered as `outer` counts.
    ASSERT_EQ(plan.gates.size(), 2u);
    EXPECT_EQ(plan.gates[0].flags, TR_GATE_SPAN_BEGIN);
    EXPECT_EQ(plan.gates[1].flags, TR_GATE_SPAN_END | TR_GATE_AT_RET);
    EXPECT_EQ(plan.programs.at(1).args[1].ops[0].reg, TR_REG_RAX);
}

TEST_F(SafeSites, WhatIsLeftByAJumpThatCannotBeFollowedEndsThereWithoutAValue) {
    add_file("cc", wrapper_program());
    const auto span = compile("span:cc:forward(arg0,ret)");
    ASSERT_EQ(span.files.at(0).sites.size(), 2u);
    const auto& at_jump = span.files[0].sites[1];
    EXPECT_EQ(at_jump.file_offset, 0x223u);
    const auto& program = span.programs.at(at_jump.probe_id - TR_PROBE_FIRST_USER);
    // The return address is on the stack, what is in rax is not returned.
    EXPECT_EQ(program.args[0].ops[0].imm, 8);
    EXPECT_EQ(program.args[1].form, TR_ARG_UNREADABLE);
    EXPECT_TRUE(span.gates.empty());
    // Without a begin nothing tells whose return it is, and a wildcard may find `inner` as well.
    EXPECT_EQ(compile("ur:cc:outer").files.at(0).sites.at(0).file_offset, 0x202u);
    EXPECT_EQ(compile("span:cc:out*").files.at(0).sites.at(1).file_offset, 0x202u);
    const auto asked = compile("ur:cc:forward(ret:s32) if ret > 5");
    const auto& gate = asked.gates.at(asked.programs.back().flags >> TR_PROBE_GATE_SHIFT);
    ASSERT_EQ(gate.term_count, 1);
    EXPECT_EQ(gate.terms[0].arg.ops[0].code, TR_OP_CONST) << "unknown, whatever rax holds";
}

// One entry of the unwind tables over the functions of `c_library`.
ElfBuilder c_library() {
    return ElfBuilder()
        .section(".eh_frame_hdr", SHT_PROGBITS,
                 std::string("\1\x1b\3\x3b\0\0\0\0\1\0\0\0\0\0\0\0\x80\0\0\0", 20), kText)
        .code(kText, {0xe8, 0, 0, 0, 0, 0xc3})                   // call; ret
        .code(kText + 16, {0xe8, 0, 0, 0, 0, 0xff, 0xe0, 0xc3})  // call; jmp *%rax; ret
        .code(kText + 0x80, {0, 0, 0, 0, 0, 0, 0, 0, 0x78, 0xff, 0xff, 0xff, 0x40, 0, 0, 0})
        .function("sort", kText, 6)
        .function("odd", kText + 16, 8);
}

TEST_F(SafeSites, PlacesReturnsOfCWhereAnExceptionOfOthersMayPass) {
    add_file("libsort", c_library());
    EXPECT_EQ(compile("ur:libsort:sort").files.at(0).sites.at(0).program, ProbeProgram::return_hit);
    EXPECT_THAT(compile("ur:libsort:*").warnings, Not(Contains(HasSubstr("std::terminate"))));
    // Other processes that run the library may be C++.
    options.are_libraries_shared = true;
    EXPECT_EQ(compile("ur:libsort:sort").files.at(0).sites.at(0).file_offset, 0x205u);
    options.are_libraries_shared = false;
    add_file("libthrow",
             ElfBuilder().section(".gcc_except_table", SHT_PROGBITS, "x").function("f", kText));
    const auto plan = compile("ur:libsort:sort");
    EXPECT_EQ(plan.files.at(0).sites.at(0).file_offset, 0x205u);
    EXPECT_EQ(plan.files.at(0).sites.at(0).program, ProbeProgram::hit);
    EXPECT_THAT(plan.warnings, Not(Contains(HasSubstr("std::terminate"))));
    const auto odd = compile("ur:libsort:odd");
    EXPECT_EQ(odd.files.at(0).sites.at(0).program, ProbeProgram::return_hit);
    EXPECT_THAT(odd.warnings,
                Contains(AllOf(HasSubstr("std::terminate"), HasSubstr("ur:libsort:odd (has a jump "
                                                                      "through a table"))));
}

TEST_F(SafeSites, AsksAllThatTheProbedProcessesRunWhereItIsKnown) {
    add_file("libsort", c_library());
    options.are_libraries_shared = true;
    TargetFiles process = files;
    options.process_files = &process;
    EXPECT_EQ(compile("ur:libsort:sort").files.at(0).sites.at(0).program, ProbeProgram::return_hit);
    add_file("libthrow",
             ElfBuilder().section(".gcc_except_table", SHT_PROGBITS, "x").function("f", kText));
    process = files;
    EXPECT_EQ(compile("ur:libsort:sort").files.at(0).sites.at(0).program, ProbeProgram::hit);
}

TEST(ReturnHarm, NothingPassesThroughWhatItsCallersBelieveToReturn) {
    for (const char* name : {"malloc", "__libc_malloc", "__GI___pthread_mutex_lock"}) {
        EXPECT_TRUE(is_never_unwound(name)) << name;
    }
    for (const char* name : {"qsort", "malloc_hook", "pthread_once", "read", ""}) {
        EXPECT_FALSE(is_never_unwound(name)) << name;
    }
}

TEST_F(SafeSites, PlacesReturnsInFilesThatSwitchStacksOnRetInstructions) {
    add_file("co", ElfBuilder()
                       .section(".dynstr", SHT_STRTAB, std::string("\0swapcontext\0", 13))
                       .code(kText, {0xe8, 0, 0, 0, 0, 0xc3})    // call; ret
                       .code(kText + 16, {0xe9, 0x40, 0, 0, 0})  // jmp to another function
                       .function("yields", kText, 6)
                       .function("leaves", kText + 16, 5));
    EXPECT_EQ(compile("ur:co:yields").files.at(0).sites.at(0).file_offset, 0x205u);
    EXPECT_THAT(refusal("ur:co:leaves").what, HasSubstr("switches between stacks"));
    // The library that has it does not call it.
    add_file("libc", ElfBuilder()
                         .section(".dynstr", SHT_STRTAB, std::string("\0swapcontext\0", 13))
                         .code(kText, {0xe8, 0, 0, 0, 0, 0xc3})
                         .function("calls", kText, 6)
                         .function("swapcontext", kText + 16, 6));
    EXPECT_EQ(compile("ur:libc:calls").files.at(0).sites.at(0).program, ProbeProgram::return_hit);
}

TEST_F(SafeSites, ReadsTheColdPartOfAFunctionToo) {
    add_file("cc", ElfBuilder()
                       .section(".dynstr", SHT_STRTAB, std::string("\0__cxa_throw\0", 13))
                       .code(kText, {0xe8, 0, 0, 0, 0, 0x74, 0x09, 0xc3})  // call; je cold; ret
                       .code(kText + 16, {0x90, 0xc3})
                       .function("f", kText, 8)
                       .function("f.cold", kText + 16, 2));
    const auto plan = compile("ur:cc:f");
    ASSERT_EQ(plan.files.at(0).sites.size(), 2u);
    EXPECT_EQ(plan.files[0].sites[0].file_offset, 0x207u);
    EXPECT_EQ(plan.files[0].sites[1].file_offset, 0x211u);
}

TEST_F(SafeSites, StepsToTheFiveByteNopOfAPairOnlyWhereItIsKnownToDoNoHarm) {
    add_file("app", ElfBuilder()
                        .object("counter", ElfBuilder::kData)
                        .note("app", "start", "4@%edi", kText + 4)
                        .code(kText + 8, {0x90, 0x0f, 0x1f, 0x44, 0x00, 0x00})
                        .note("app", "pair", "8@counter(%rip)", kText + 8));
    auto plan = compile("usdt:app:pair");
    EXPECT_EQ(plan.files.at(0).sites.at(0).file_offset, 0x208u);
    const auto relative = plan.programs.at(0).args[0].ops[0];
    ASSERT_EQ(relative.reg, TR_REG_RIP);
    options.allow_nop5 = true;
    plan = compile("usdt:app:pair");
    EXPECT_EQ(plan.files.at(0).sites.at(0).file_offset, 0x209u);
    EXPECT_EQ(plan.programs.at(0).args[0].ops[0].imm, relative.imm - 1);
    // A 1-byte nop alone stays where it is.
    EXPECT_EQ(compile("usdt:app:start").files.at(0).sites.at(0).file_offset, 0x204u);
}

TEST_F(SafeSites, TheListSaysWhichUsdtProbesAreRefused) {
    const std::vector<uint8_t> nop5 = {0x0f, 0x1f, 0x44, 0x00, 0x00};
    add_file("app", ElfBuilder()
                        .note("app", "good", "", kText)
                        .code(kText + 8, nop5)
                        .note("app", "lone", "", kText + 8)
                        .note("app", "some", "", kText + 4)
                        .note("app", "some", "", kText + 8));
    std::map<std::string, std::string> remarks;
    static_cast<void>(list_probes(files, {.functions = false}, [&](const ListedProbe& probe) {
        remarks[probe.line.substr(probe.line.rfind(':') + 1)] = probe.remark;
    }));
    EXPECT_EQ(remarks["good()"], "");
    EXPECT_THAT(remarks["lone()"], StartsWith("1 of 1 sites refused, at a 5-byte nop"));
    EXPECT_THAT(remarks["some()"], StartsWith("1 of 2 sites refused, at a 5-byte nop"));
    EXPECT_THAT(refusal("usdt:app:lone").what, HasSubstr("at a 5-byte nop"));
}

TEST_F(SafeSites, TellsOfSingleSteppedPlacesInOneLineWithACheaperOne) {
    add_file("app", ElfBuilder()
                        .code(kText, {0xf3, 0x0f, 0x1e, 0xfa, 0x55})  // endbr64; push
                        .code(kText + 16, {0x31, 0xff, 0x55})         // xor %edi,%edi; push
                        .code(kText + 32, {0xc3})
                        .function("marked", kText)
                        .function("clears", kText + 16)
                        .function("empty", kText + 32, 1)
                        .function("plain", kText + 48));
    EXPECT_THAT(compile("u:app:marked").warnings,
                ElementsAre(AllOf(HasSubstr("1 probe is on instructions that the kernel"),
                                  HasSubstr("cheaper: u:app:marked+0x4"))));
    EXPECT_TRUE(compile("u:app:marked+0x4").warnings.empty());
    EXPECT_TRUE(compile("u:app:plain").warnings.empty());
    EXPECT_THAT(compile("u:app:clears(arg0)").warnings,
                ElementsAre(HasSubstr("u:app:clears+0x2 (where arguments are no longer")));
    EXPECT_THAT(compile("u:app:clears").warnings, ElementsAre(Not(HasSubstr("arguments"))));
    EXPECT_THAT(compile("u:app:empty").warnings, ElementsAre(Not(HasSubstr("cheaper"))));
    EXPECT_THAT(compile("span:app:marked").warnings, ElementsAre(Not(HasSubstr("cheaper"))));
    EXPECT_THAT(compile("u:app:*").warnings, ElementsAre(HasSubstr("3 probes are on")));
}

}  // namespace
}  // namespace tracer
