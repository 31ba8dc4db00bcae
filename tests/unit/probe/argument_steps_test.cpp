// SPDX-License-Identifier: Apache-2.0
//
// Arguments compiled to read operations, checked by running those on fake registers and memory, and
// the place that texts get in a record.
#include "probe/plan_builder.h"
#include "probe/probe_argument.h"
#include "support/fake_machine.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tracer {
namespace {

using model::ValueType;
using ::testing::HasSubstr;

class ArgumentSteps : public ::testing::Test {
protected:
    ArgumentSteps() {
        machine.registers[TR_REG_RDI] = 0x10000;
        machine.registers[TR_REG_RSI] = 5;
        machine.registers[TR_REG_RAX] = 0x10000;
        machine.registers[TR_REG_RSP] = 0x20000;
        machine.store(0x10008, 0x30000, 8);
        machine.store(0x30010, 0xfffffff6ffffffff, 8);
        machine.store(0x20008, 0x10000, 8);
    }

    ProbeArgument compile(const std::string& argument, const std::string& probe = "u:app:f") {
        spec = *parse_probe_spec(probe + "(" + argument + ")");
        auto result = argument_of_function(spec, spec.args.at(0));
        EXPECT_TRUE(result) << argument << ": " << result.error().what;
        return result ? *result : ProbeArgument{};
    }
    std::string refusal(const std::string& argument) {
        spec = *parse_probe_spec("u:app:f(" + argument + ")");
        auto result = argument_of_function(spec, spec.args.at(0));
        EXPECT_FALSE(result) << argument;
        return result ? "" : result.error().what;
    }
    std::optional<uint64_t> run(const std::string& argument) {
        return machine.run(compile(argument).arg);
    }

    test::FakeMachine machine;
    ProbeSpec spec;
};

TEST_F(ArgumentSteps, WalksThroughStructures) {
    EXPECT_EQ(run("arg0+8"), 0x10008u);
    EXPECT_EQ(run("*(arg0+8)"), 0x30000u);
    EXPECT_EQ(run("*(*(arg0+8)+16):u32"), 0xffffffffu);
    EXPECT_EQ(run("*(*(arg0+8)+16):s32"), ~uint64_t{0});
    EXPECT_EQ(run("*(*(arg0+8)+20):s8"), static_cast<uint64_t>(-10));
    EXPECT_EQ(run("*(*(arg0+8)+20):u8"), 0xf6u);
    EXPECT_EQ(run("*(*(arg0+8)+16)+1"), 0xfffffff700000000u);
    EXPECT_EQ(run("*(*(arg6+8)+20):u16"), 0xfff6u) << "from an argument on the stack";
    EXPECT_EQ(run("*(*(arg0+16)+8)"), std::nullopt) << "memory that is not there";
    EXPECT_EQ(run("*(%rdi+8)"), 0x30000u);
    EXPECT_EQ(run("%rsp"), 0x20000u);
    EXPECT_EQ(run("arg1*8:u64"), 40u);
    EXPECT_EQ(run("*(%rsi*8+65504)"), 0x30000u) << "5 * 8 + 65504 is 0x10008";
    EXPECT_EQ(machine.run(compile("*(ret+8)", "ur:app:f").arg), 0x30000u);
}

TEST_F(ArgumentSteps, TheLastLoadHasTheTypesSize) {
    const auto last = [](const ProbeArgument& argument) {
        return argument.arg.ops[argument.arg.op_count - 1].bytes;
    };
    EXPECT_EQ(last(compile("*(arg0):u8")), 1);
    EXPECT_EQ(last(compile("*(arg0):bool")), 1);
    EXPECT_EQ(last(compile("*(arg0):s16")), 2);
    EXPECT_EQ(last(compile("*(arg0):f32")), 4);
    EXPECT_EQ(last(compile("*(arg0):f64")), 8);
    EXPECT_EQ(last(compile("*(arg0):str")), 8);
    EXPECT_EQ(last(compile("*(arg0)")), 8);
    EXPECT_TRUE(compile("*(arg0):f32").is_f32);
    EXPECT_EQ(compile("*(arg0):f64").type, ValueType::f64) << "floats in memory can be read";
    EXPECT_THAT(refusal("arg0:f64"), HasSubstr("vector registers"));
}

TEST_F(ArgumentSteps, CountedTextHasAnAddressAndALength) {
    const auto argument = compile("*(arg0+8)+16:str[arg1:u32,100]");
    EXPECT_EQ(argument.arg.form, TR_ARG_USER_BYTES);
    EXPECT_EQ(argument.arg.string_bytes_max, 100);
    EXPECT_EQ(machine.run(argument.arg), 0x30010u);
    machine.registers[TR_REG_RSI] = 0xdead00000007;
    EXPECT_EQ(machine.length(argument.arg), 7u) << "the upper half is not the length's";
    EXPECT_EQ(compile("arg0:str[arg1]").arg.string_bytes_max, 4096);
    EXPECT_EQ(compile("arg0:str[16]").arg.form, TR_ARG_USER_ARRAY);
    EXPECT_EQ(compile("arg0:str[16]").arg.string_bytes_max, 16);
    EXPECT_EQ(compile("arg0:str[300+]").arg.form, TR_ARG_USER_STRING);
    EXPECT_EQ(compile("arg0:str[300+]").arg.string_bytes_max, 300);
}

TEST_F(ArgumentSteps, HexadecimalIsUnsignedOfItsOwnSize) {
    machine.registers[TR_REG_RSI] = ~uint64_t{0};
    const auto argument = compile("arg1:s32/x");
    EXPECT_EQ(argument.type, ValueType::pointer);
    EXPECT_EQ(machine.run(argument.arg), 0xffffffffu);
    EXPECT_EQ(compile("arg1/map(1=a)").names.size(), 1u);
}

TEST_F(ArgumentSteps, OnlyTextNamesACxxType) {
    const auto argument = compile("*(arg1+8):str/type");
    EXPECT_TRUE(argument.is_cxx_type);
    EXPECT_EQ(argument.type, ValueType::string);
    EXPECT_FALSE(compile("*(arg1+8):str").is_cxx_type);
    EXPECT_THAT(refusal("*(arg1+8)/type"), HasSubstr("is no text"));
}

TEST_F(ArgumentSteps, RefusesMoreThanAProbeCanDo) {
    EXPECT_THAT(refusal("*(*(*(*(arg0)))):str[*(*(arg1))]"), HasSubstr("more than the 8 steps"));
    EXPECT_EQ(compile("*(*(*(arg0))):str[*(*(arg1))]").arg.op_count, 8);
}

TEST_F(ArgumentSteps, OperandsTooNarrowForAnAddressAreRefused) {
    CompiledOperand narrow;
    narrow.text = "4@%edi";
    narrow.bytes = 4;
    narrow.arg.op_count = 1;
    narrow.arg.ops[0] = {.code = TR_OP_REG, .reg = TR_REG_RDI};
    auto wide = narrow;
    wide.bytes = 8;
    spec = *parse_probe_spec("usdt:a:b(*(arg0+8), *(arg1+8), x=arg1:str[arg0], y=arg1:str[arg7])");
    const std::array operands{narrow, wide};
    const auto refused = argument_of_operand(spec, spec.args[0], operands);
    ASSERT_FALSE(refused);
    EXPECT_THAT(refused.error().what, HasSubstr("not an address"));
    const auto walked = argument_of_operand(spec, spec.args[1], operands);
    ASSERT_TRUE(walked);
    EXPECT_EQ(machine.run(walked->arg), 0x30000u);
    const auto counted = argument_of_operand(spec, spec.args[2], operands);
    ASSERT_TRUE(counted);
    EXPECT_EQ(counted->arg.length_bytes, 4);
    const auto missing = argument_of_operand(spec, spec.args[3], operands);
    ASSERT_TRUE(missing);
    EXPECT_EQ(missing->arg.form, TR_ARG_UNREADABLE) << "this site has no such length";
}

// The layout rule of abi/probe.h, for one probe's arguments.
tr_probe laid_out(const std::string& arguments, std::vector<std::string>* warnings = nullptr) {
    const auto spec = *parse_probe_spec("u:app:f(" + arguments + ")");
    ProbeSite site;
    for (const auto& arg : spec.args) {
        site.arguments.push_back(*argument_of_function(spec, arg));
    }
    PlanBuilder builder;
    builder.add(identity_of_probe(spec, "app", "f", spec.text), {site});
    auto plan = std::move(builder).finish();
    if (warnings != nullptr) *warnings = plan.warnings;
    return plan.programs.at(0);
}

size_t room(const tr_probe& program, size_t arg) {
    return program.args[arg].string_bytes_max;
}

TEST(RecordLayout, TextsGetTheSmallestRecordThatHoldsThem) {
    EXPECT_EQ(laid_out("arg0").shape, TR_SHAPE_args2);
    EXPECT_EQ(laid_out("arg0:str").shape, TR_SHAPE_strings1);
    EXPECT_EQ(laid_out("arg0:str[16], arg1:str[16]").shape, TR_SHAPE_strings2);
    EXPECT_EQ(laid_out("arg0:str[257+]").shape, TR_SHAPE_text1k);
    EXPECT_EQ(laid_out("arg0:str[1024+], arg1:str").shape, TR_SHAPE_text2k);
    EXPECT_EQ(laid_out("arg0:str[1025+]").shape, TR_SHAPE_text4k);
    EXPECT_EQ(laid_out("arg0:str[4096+], arg1:str, arg2:str").shape, TR_SHAPE_text5k);
    EXPECT_EQ(laid_out("arg0:str[arg1], arg2:str[2000]").shape, TR_SHAPE_text8k);
}

TEST(RecordLayout, TheLargestTextLiesLast) {
    const auto program = laid_out("arg0:str[4096+], arg1:str, arg2:str[16]");
    EXPECT_EQ(program.args[2].string_offset, TR_STRINGS_OFFSET);
    EXPECT_EQ(program.args[1].string_offset, TR_STRINGS_OFFSET + 16);
    EXPECT_EQ(program.args[0].string_offset, TR_STRINGS_OFFSET + 16 + 256);
}

TEST(RecordLayout, TextsShareWhatARecordHolds) {
    std::vector<std::string> warnings;
    const auto two = laid_out("arg0:str[4096+], arg1:str[4096+]", &warnings);
    EXPECT_EQ(two.shape, TR_SHAPE_text8k);
    EXPECT_EQ(room(two, 0) + room(two, 1), 8064u);
    ASSERT_EQ(warnings.size(), 1u);
    EXPECT_THAT(warnings[0], HasSubstr("share 8064 bytes"));
    const auto four =
        laid_out("arg0:str, arg1:str[4096], arg2:str[4096], arg3:str[4096]", &warnings);
    EXPECT_EQ(room(four, 0), 256u) << "the small ones keep theirs";
    EXPECT_EQ(room(four, 1), room(four, 2));
    for (const auto* program : {&two, &four}) {
        for (size_t i = 0; i < program->arg_count; ++i) {
            EXPECT_LE(program->args[i].string_offset, TR_RECORD_BYTES_MAX - TR_STRING_ROOM_MAX);
            EXPECT_LE(program->args[i].string_offset + room(*program, i), TR_RECORD_BYTES_MAX);
        }
    }
}

}  // namespace
}  // namespace tracer
