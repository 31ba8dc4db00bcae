// SPDX-License-Identifier: Apache-2.0
//
// What `explain` says of plans, on ELF files made by the test and on a fake kernel's tracepoints.
#include "probe/explain.h"

#include "probe/explain_argument.h"
#include "probe/probe_compiler.h"
#include "unit/probe/fake_tracepoints.h"
#include "unit/symbol/elf_builder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tracer {
namespace {

using test::ElfBuilder;
using ::testing::HasSubstr;

constexpr uint64_t kText = ElfBuilder::kText;

class Explain : public ::testing::Test {
protected:
    Explain() {
        const auto program =
            ElfBuilder()
                .code(kText, {0x90, 0xc3})
                .code(kText + 0x10, {0x55, 0x48, 0x89, 0xe5, 0xc3})
                // mov %rsp,%rax; push %rbx; ret
                .code(kText + 0x20, {0x48, 0x89, 0xe0, 0x53, 0xc3})
                // ret, and a push that nothing reaches
                .code(kText + 0x30, {0xc3, 0x53})
                .code(kText + 0x40, {0x0f, 0x1f, 0x44, 0, 0, 0xc3})
                .code(kText + 0x50, {0xe8, 0, 0, 0, 0, 0xc3})
                .function("nop", kText)
                .function("_ZN2ns4pushEi", kText + 0x10)
                .function("stepped", kText + 0x20)
                .function("short_one", kText + 0x30, 1)
                .function("patchable", kText + 0x40)
                .function("caller", kText + 0x50)
                .note("app", "start", "4@%edi 8@16(%rsp) -1@$-3", kText, ElfBuilder::kData + 16);
        path = test::write_file(folder.path(), "app", program.build());
        files.add_file({path, path});
    }

    Explanation explain(const std::string& text) {
        const auto spec = parse_probe_spec(text);
        EXPECT_TRUE(spec) << spec.error().what;
        const auto plan =
            compile_probes({&*spec, 1}, files, {.tracepoints = &tracepoints, .allow_nop5 = true});
        EXPECT_TRUE(plan) << text << ": " << plan.error().what;
        if (!plan) return {};
        auto explanation = explain_plan(*plan, {});
        EXPECT_TRUE(explanation) << explanation.error().what;
        return explanation ? std::move(*explanation) : Explanation{};
    }

    ExplainedSite site(const std::string& text) {
        const auto explanation = explain(text);
        if (explanation.probes.empty() || explanation.probes[0].sites.empty()) return {};
        return explanation.probes[0].sites[0];
    }

    test::TemporaryFolder folder;
    TargetFiles files;
    test::FakeTracepoints tracepoints;
    std::string path;
};

TEST_F(Explain, TellsThePlaceAndItsInstruction) {
    const auto push = site("u:app:\"ns::push\"");
    EXPECT_EQ(push.file, path);
    EXPECT_EQ(push.file_offset, 0x210u);
    EXPECT_EQ(push.vaddr, kText + 0x10);
    EXPECT_EQ(push.symbol, "ns::push");
    EXPECT_EQ(push.instruction, "push %rbp");
    EXPECT_EQ(push.kind, InstructionClass::push);
    EXPECT_FALSE(push.is_return);
    EXPECT_FALSE(push.is_sleepable);
    EXPECT_EQ(site("u:app:stepped+3").symbol, "stepped+0x3");
}

TEST_F(Explain, CostsFollowWhatTheKernelDoesWithTheInstruction) {
    EXPECT_EQ(site("u:app:nop").kind, InstructionClass::nop1);
    EXPECT_EQ(site("u:app:patchable").kind, InstructionClass::nop5);
    EXPECT_EQ(site("u:app:caller").kind, InstructionClass::branch);
    EXPECT_EQ(site("u:app:short_one").kind, InstructionClass::stepped);
    const double nop = site("u:app:nop").cost;
    EXPECT_LT(site("u:app:patchable").cost, nop);
    EXPECT_LT(nop, site("u:app:\"ns::push\"").cost);
    EXPECT_GT(site("u:app:stepped").cost, 10 * nop);
    EXPECT_GT(site("u:app:nop(arg6)").cost, nop);
    EXPECT_GT(site("u:app:nop(arg0:str)").cost, nop);
}

TEST_F(Explain, AReturnPaysForTheEntryThatItNeeds) {
    const auto span = explain("span:app:nop(arg0, ret)");
    ASSERT_EQ(span.probes.size(), 1u);
    EXPECT_TRUE(span.probes[0].is_span);
    ASSERT_EQ(span.probes[0].sites.size(), 2u);
    const auto& begin = span.probes[0].sites[0];
    const auto& end = span.probes[0].sites[1];
    EXPECT_TRUE(end.is_return);
    EXPECT_LT(end.cost, begin.cost);
    EXPECT_GT(site("ur:app:nop()").cost, begin.cost);
    ASSERT_EQ(begin.arguments.size(), 1u);
    EXPECT_EQ(begin.arguments[0].read, "rdi");
    ASSERT_EQ(end.arguments.size(), 1u);
    EXPECT_EQ(end.arguments[0].name, "ret");
    EXPECT_EQ(end.arguments[0].read, "rax");
}

TEST_F(Explain, OffersACheaperPlaceThatEveryCallReaches) {
    EXPECT_EQ(site("u:app:stepped").cheaper, "+0x3, push %rbx");
    EXPECT_EQ(site("u:app:short_one").cheaper, "");
    EXPECT_EQ(site("u:app:nop").cheaper, "");
    EXPECT_EQ(site("ur:app:stepped").cheaper, "");
}

TEST_F(Explain, TellsHowArgumentsAreRead) {
    const auto usdt = site("usdt:app:start");
    EXPECT_EQ(usdt.semaphore_offset, ElfBuilder::kDataOffset + 16);
    ASSERT_EQ(usdt.arguments.size(), 3u);
    EXPECT_EQ(usdt.arguments[0].type, "u32");
    EXPECT_EQ(usdt.arguments[0].read, "low 4 bytes of rdi");
    EXPECT_EQ(usdt.arguments[1].read, "8 bytes at rsp + 0x10");
    EXPECT_EQ(usdt.arguments[2].read, "constant -3");
    const auto text = site("u:app:nop(name=arg1:str)");
    EXPECT_TRUE(text.is_sleepable);
    EXPECT_EQ(text.arguments.at(0).name, "name");
    EXPECT_EQ(text.arguments.at(0).type, "str");
    EXPECT_EQ(text.arguments.at(0).read, "text at rsi");
}

TEST_F(Explain, TellsHowTextsOfEveryFormAreRead) {
    EXPECT_EQ(site("u:app:nop(a=arg1:str[16])").arguments.at(0).read,
              "text at rsi, 16 bytes or to a NUL");
    EXPECT_EQ(site("u:app:nop(a=arg1:str[arg2:u32])").arguments.at(0).read,
              "text at rsi, as many bytes as low 4 bytes of rdx says, at most 4096");
    EXPECT_EQ(site("u:app:nop(a=*(arg0+8):str[1024+])").arguments.at(0).read,
              "text at 8 bytes at rdi + 0x8, at most 1023 bytes");
    EXPECT_EQ(site("u:app:nop(a=*(arg1+8):str/type)").arguments.at(0).read,
              "text at 8 bytes at rsi + 0x8, the name of a C++ type");
    EXPECT_EQ(site("u:app:nop(a=arg0+16)").arguments.at(0).read, "rdi + 0x10");
}

// What is shown of a record stands behind what pairs it, whichever way that is done.
TEST_F(Explain, TellsOfThePairsArgumentsAndTheirKeys) {
    const auto event = parse_event_spec(
        "u:app:nop(n=arg1, key=arg0) ~~ u:app:caller(status=arg3, key=arg2) until "
        "u:app:stepped(key=arg4)");
    ASSERT_TRUE(event) << event.error().what;
    const auto plan = compile_events({&*event, 1}, files, {.allow_nop5 = true});
    ASSERT_TRUE(plan) << plan.error().what;
    const auto explanation = explain_plan(*plan, {});
    ASSERT_TRUE(explanation) << explanation.error().what;
    const auto& sites = explanation->probes.at(0).sites;
    EXPECT_EQ(explanation->probes[0].spec, event->text) << "from its begin on";
    EXPECT_EQ(sites.at(0).part, "begin");
    EXPECT_EQ(sites.at(1).part, "end");
    EXPECT_EQ(sites.at(2).part, "until");
    const auto reads = [&](size_t index) {
        std::vector<std::string> texts;
        for (const auto& argument : sites.at(index).arguments) {
            texts.push_back(argument.name + "=" + argument.read);
        }
        return texts;
    };
    EXPECT_THAT(reads(0), testing::ElementsAre("key=rdi", "n=rsi"));
    EXPECT_THAT(reads(1), testing::ElementsAre("key=rdx", "status=rcx"));
    EXPECT_THAT(reads(2), testing::ElementsAre("key=r8"));
}

TEST_F(Explain, TellsOfPlacesThatNoSymbolCovers) {
    const auto raw = explain("u:app:0x400280");
    EXPECT_EQ(raw.probes.at(0).sites.at(0).symbol, "");
    ASSERT_EQ(raw.warnings.size(), 1u);
    EXPECT_THAT(raw.warnings[0], HasSubstr("cannot check"));
}

TEST(ExplainArgument, EveryReadOperationHasItsWords) {
    const auto text = [](const std::vector<tr_op>& ops, uint8_t form = TR_ARG_UNSIGNED) {
        tr_arg arg{};
        arg.form = form;
        arg.bytes = 8;
        for (const auto& op : ops) arg.ops[arg.op_count++] = op;
        return read_text(arg);
    };
    EXPECT_EQ(text({{.code = TR_OP_REG, .reg = TR_REG_RAX, .shift = 8}}), "rax >> 8");
    EXPECT_EQ(text({{.code = TR_OP_REG, .reg = TR_REG_RBX, .imm = -16}}), "rbx - 0x10");
    EXPECT_EQ(text({{.code = TR_OP_REG, .reg = TR_REG_RBX, .imm = INT64_MIN}}),
              "rbx - 0x8000000000000000");
    EXPECT_EQ(text({{.code = TR_OP_REG, .reg = TR_REG_RBX},
                    {.code = TR_OP_INDEX, .reg = TR_REG_RCX, .shift = 2},
                    {.code = TR_OP_LOAD, .bytes = 4, .imm = 8}}),
              "4 bytes at rbx + rcx * 4 + 0x8");
    EXPECT_EQ(text({{.code = TR_OP_DATA_LOC, .imm = 8}}, TR_ARG_KERNEL_STRING),
              "kernel text at where the record's word at 0x8 leads");
    EXPECT_EQ(text({}, TR_ARG_UNREADABLE), "cannot be read here");
    EXPECT_EQ(text({{.code = TR_OP_REG, .reg = 200}}), "an unknown register");
    EXPECT_EQ(text({{.code = 200}}), "operation 200 on 0");
}

}  // namespace
}  // namespace tracer
