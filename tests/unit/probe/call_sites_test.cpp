// SPDX-License-Identifier: Apache-2.0
//
// calls: probes, registers and variables as operands, on code written byte by byte.
#include "probe/call_sites.h"

#include "unit/probe/compiler_fixture.h"

#include <stdexcept>

#include <gmock/gmock.h>

namespace tracer {
namespace {

using test::ElfBuilder;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr uint64_t kTarget = ElfBuilder::kText + 0x80;
constexpr uint64_t kTextOffset = ElfBuilder::kText - ElfBuilder::kBase;

// An instruction with this opcode at `from` that leads to the target.
std::vector<uint8_t> to_target(std::vector<uint8_t> opcode, uint64_t from) {
    const auto distance = static_cast<uint32_t>(kTarget - (from + opcode.size() + 4));
    for (int shift = 0; shift < 32; shift += 8) {
        opcode.push_back(static_cast<uint8_t>(distance >> shift));
    }
    return opcode;
}

ElfBuilder called_three_times() {
    ElfBuilder builder;
    builder.function("target", kTarget)
        .function("lonely", kTarget + 0x40)
        .object("pages", ElfBuilder::kData);
    builder.code(ElfBuilder::kText, to_target({0xe8}, ElfBuilder::kText));
    builder.code(ElfBuilder::kText + 0x10, to_target({0x0f, 0x84}, ElfBuilder::kText + 0x10));
    builder.code(kTarget + 0x20, to_target({0xe9}, kTarget + 0x20));
    // To the byte behind it, and with another opcode.
    builder.code(ElfBuilder::kText + 0x20, to_target({0xe8}, ElfBuilder::kText + 0x21));
    builder.code(ElfBuilder::kText + 0x30, to_target({0xea}, ElfBuilder::kText + 0x30));
    return builder;
}

CallSites all_of(const ElfBuilder& builder, uint64_t target) {
    const auto elf = ElfFile::from_bytes(FileBytes::from_memory(builder.build(), "app"));
    if (!elf) throw std::runtime_error(elf.error().what);
    const auto symbols = SymbolTable::load(*elf);
    if (!symbols) throw std::runtime_error(symbols.error().what);
    return find_call_sites(*elf, *symbols, target);
}

// Of what leads to the target.
std::vector<uint64_t> sites_of(const ElfBuilder& builder, uint64_t target) {
    return all_of(builder, target).offsets;
}

TEST(CallSites, AreCallsJumpsAndConditionalJumps) {
    EXPECT_THAT(sites_of(called_three_times(), kTarget),
                ElementsAre(kTextOffset, kTextOffset + 0x10, kTextOffset + 0xa0));
    EXPECT_THAT(sites_of(called_three_times(), kTarget + 0x40), IsEmpty());
    EXPECT_EQ(all_of(called_three_times(), kTarget).address_uses, 0U);
}

TEST(CallSites, AnAddressInTheCodeIsNoSiteButCounted) {
    constexpr uint64_t kLea = ElfBuilder::kText + 0x40;
    ElfBuilder computed = called_three_times();
    computed.code(kLea - 1, {0x48});
    computed.code(kLea, to_target({0x8d, 0x05}, kLea));
    EXPECT_EQ(all_of(computed, kTarget).address_uses, 1U);
    EXPECT_EQ(sites_of(computed, kTarget).size(), 3U);
    ElfBuilder constant = called_three_times();
    std::vector<uint8_t> mov{0xb8};
    for (int shift = 0; shift < 32; shift += 8) {
        mov.push_back(static_cast<uint8_t>(kTarget >> shift));
    }
    constant.code(kLea, mov);
    EXPECT_EQ(all_of(constant, kTarget).address_uses, 1U);
    EXPECT_EQ(all_of(constant, kTarget + 0x40).address_uses, 0U);
}

// A breakpoint there would break the program.
TEST(CallSites, AreNotInsideOfOtherInstructions) {
    constexpr uint64_t kCaller = ElfBuilder::kText + 0x10;
    // mov $imm64,%rax, with the bytes of a call in the value.
    std::vector<uint8_t> load = {0x48, 0xb8};
    const auto looks_like_call = to_target({0xe8}, kCaller + load.size());
    load.insert(load.end(), looks_like_call.begin(), looks_like_call.end());
    load.insert(load.end(), 3, 0);
    ElfBuilder builder;
    builder.function("target", kTarget);
    builder.code(kCaller, load);
    EXPECT_THAT(sites_of(builder, kTarget), ElementsAre(kTextOffset + 0x12)) << "no symbol tells";
    builder.function("caller", kCaller, 32);
    EXPECT_THAT(sites_of(builder, kTarget), IsEmpty());
}

// As linkers write a call through the global offset table that they made direct.
TEST(CallSites, BeginWithTheirPrefix) {
    constexpr uint64_t kCaller = ElfBuilder::kText + 0x10;
    ElfBuilder builder;
    builder.function("target", kTarget).function("caller", kCaller, 32);
    builder.code(kCaller, {0x55, 0x67});
    builder.code(kCaller + 2, to_target({0xe8}, kCaller + 2));
    EXPECT_THAT(sites_of(builder, kTarget), ElementsAre(kTextOffset + 0x11));
}

class CallsProbe : public ProbeCompilerTest {};

TEST_F(CallsProbe, IsOneProbeWithAllPlaces) {
    add_file("app", called_three_times());
    const auto plan = compile("calls:app:target(a=arg0:u32, b=%r13, c=*(%rsp+8):u32)");
    ASSERT_EQ(plan.files.size(), 1u);
    EXPECT_EQ(plan.points.size(), 1u);
    ASSERT_EQ(plan.files[0].sites.size(), 3u);
    EXPECT_EQ(plan.files[0].sites[1].file_offset, kTextOffset + 0x10);
    EXPECT_EQ(plan.points[0].name, "target");
}

TEST_F(CallsProbe, TellsThatThereMayBeCallsThroughRegisters) {
    constexpr uint64_t kLea = ElfBuilder::kText + 0x40;
    add_file("app", called_three_times().code(kLea, to_target({0x8d, 0x05}, kLea)));
    const auto plan = compile("calls:app:target");
    EXPECT_THAT(plan.warnings, ElementsAre(HasSubstr("holds the address of target")));
    options.are_calls_whole = true;
    EXPECT_THAT(refusal("calls:app:target").what, HasSubstr("calls through it are not seen"));
}

TEST_F(CallsProbe, IsRefusedWhereNothingCallsTheFunction) {
    add_file("app", called_three_times());
    const auto error = refusal("calls:app:lonely");
    EXPECT_EQ(error.code, ErrorCode::not_found);
    EXPECT_THAT(error.what, HasSubstr("calls or jumps to lonely directly"));
}

TEST_F(CallsProbe, HasNoArgumentsOnTheStack) {
    add_file("app", called_three_times());
    EXPECT_THAT(refusal("calls:app:target(arg6)").what, HasSubstr("on the stack"));
}

TEST_F(CallsProbe, ReadsVariablesFromEachPlace) {
    add_file("app", called_three_times());
    const auto plan = compile("calls:app:target(*(&pages):u64)");
    ASSERT_EQ(plan.programs.size(), 3u);
    const tr_arg& arg = plan.programs[1].args[0];
    ASSERT_EQ(arg.op_count, 2);
    EXPECT_EQ(arg.ops[0].code, TR_OP_REG);
    EXPECT_EQ(arg.ops[0].reg, TR_REG_RIP);
    EXPECT_EQ(arg.ops[0].imm, static_cast<int64_t>(ElfBuilder::kData - (ElfBuilder::kText + 0x10)));
    EXPECT_EQ(arg.ops[1].code, TR_OP_LOAD);
    EXPECT_EQ(refusal("u:app:target(*(&sheets):u64)").code, ErrorCode::not_found);
    EXPECT_EQ(refusal("ur:app:target(*(&pages):u64)").code, ErrorCode::usage);
}

// The same for all places, and after the return.
TEST_F(CallsProbe, ReadsVariablesOfThreads) {
    ElfBuilder builder(ET_EXEC);
    builder.function("target", kTarget).tls(0x1c, 8).thread_local_object("state", 8);
    add_file("app", builder);
    for (const char* kind : {"u", "ur"}) {
        const auto plan = compile(std::string(kind) + ":app:target(*(*(&state)+16):u32)");
        ASSERT_EQ(plan.programs.size(), 1u);
        const tr_arg& arg = plan.programs[0].args[0];
        ASSERT_EQ(arg.op_count, 3);
        EXPECT_EQ(arg.ops[0].reg, TR_REG_FS_BASE);
        EXPECT_EQ(arg.ops[0].imm, 8 - 0x20);
        EXPECT_EQ(arg.ops[2].imm, 16);
    }
}

}  // namespace
}  // namespace tracer
