// SPDX-License-Identifier: Apache-2.0
//
// Conditions compiled for the sites of ELF files made here, and run in a model of the kernel's
// machine against conditions that know their own answer.
#include "probe/probe_compiler.h"
#include "support/condition_model.h"
#include "unit/probe/fake_tracepoints.h"
#include "unit/symbol/elf_builder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tracer {
namespace {

using test::ElfBuilder;
using test::RandomCondition;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;

constexpr uint64_t kText = ElfBuilder::kText;

class ConditionCompilerTest : public ::testing::Test {
protected:
    void SetUp() override {
        const auto app = ElfBuilder()
                             .function("work", kText, 16)
                             .note("app", "start", "4@%edi 8@%rsi", kText + 4)
                             .note("app", "twice", "4@%edi", kText + 6)
                             .note("app", "twice", "-8@%rdi", kText + 7)
                             .note("app", "odd", "8@nowhere(%rip) 4@%eax", kText + 8);
        path_ = test::write_file(folder_.path(), "app", app.build());
        files_.add_file({path_, path_});
    }

    Result<AttachPlan> try_compile(const std::string& text) {
        TR_ASSIGN(auto spec, parse_probe_spec(text));
        return compile_probes({&spec, 1}, files_, options_);
    }
    AttachPlan compile(const std::string& text) {
        auto plan = try_compile(text);
        EXPECT_TRUE(plan) << text << ": " << plan.error().what;
        return plan ? std::move(*plan) : AttachPlan{};
    }
    std::string refusal(const std::string& text) {
        auto plan = try_compile(text);
        EXPECT_FALSE(plan) << text;
        return plan ? "" : plan.error().what + "\n" + plan.error().hint;
    }

    test::TemporaryFolder folder_;
    std::string path_;
    TargetFiles files_;
    test::FakeTracepoints tracepoints_;
    CompileOptions options_{.tracepoints = &tracepoints_};
};

TEST_F(ConditionCompilerTest, ProbesWithoutClausesHaveNoGate) {
    const auto plan = compile("u:app:work(arg0)");
    EXPECT_EQ(plan.programs.at(0).flags, 0u);
    EXPECT_THAT(plan.gates, SizeIs(0));
}

TEST_F(ConditionCompilerTest, AGateHasItsTermsSamplingAndRate) {
    const auto plan = compile("u:app:work if arg1:u16 >= 7 sample 1/10 rate 100/s");
    EXPECT_EQ(plan.programs.at(0).flags, TR_PROBE_GATED);
    ASSERT_THAT(plan.gates, SizeIs(1));
    const tr_gate& gate = plan.gates[0];
    EXPECT_EQ(gate.term_count, 1);
    EXPECT_EQ(gate.terms[0].compare, TR_COMPARE_LESS_UNSIGNED);
    EXPECT_EQ(gate.terms[0].on_true, TR_TERM_REJECT) << ">= is not <";
    EXPECT_EQ(gate.terms[0].on_false, TR_TERM_ACCEPT);
    EXPECT_EQ(gate.terms[0].arg.bytes, 2);
    EXPECT_EQ(gate.sample_every, 10u);
    EXPECT_EQ(gate.interval_ns, 10000000u);
    EXPECT_EQ(gate.burst_ns, 90000000u);
    EXPECT_EQ(plan.gate_state_count, 1u);
    // Every event says what it stands for.
    EXPECT_EQ(plan.probes.at(0).sample_every, 10u);
    ASSERT_THAT(plan.points.at(0).arguments, SizeIs(1));
    EXPECT_EQ(plan.points[0].arguments[0].name, "one_of");
    EXPECT_EQ(plan.programs[0].args[0].ops[0].imm, 10);
}

TEST_F(ConditionCompilerTest, ComparesWithTheSignOfEachSite) {
    const auto plan = compile("usdt:app:twice if arg0 < 5");
    ASSERT_THAT(plan.gates, SizeIs(2));
    EXPECT_EQ(plan.gates[0].terms[0].compare, TR_COMPARE_LESS_UNSIGNED);
    EXPECT_EQ(plan.gates[0].terms[0].arg.bytes, 4);
    EXPECT_EQ(plan.gates[1].terms[0].compare, TR_COMPARE_LESS);
    EXPECT_EQ(plan.gates[0].state, plan.gates[1].state) << "one probe, one bucket";
}

TEST_F(ConditionCompilerTest, SaysWhenAComparisonCannotDecideAnything) {
    EXPECT_THAT(refusal("u:app:work if arg1:u8 > 300"), HasSubstr("always false"));
    EXPECT_THAT(refusal("u:app:work if arg1:u8 > 300"), HasSubstr("arg1:u8 holds 0 to 255"));
    EXPECT_THAT(refusal("u:app:work if arg1:u8 > 300"), HasSubstr("^^^^^^^^^^^^^"));
    EXPECT_THAT(refusal("u:app:work if arg1:u8 > 255"), HasSubstr("always false"));
    EXPECT_THAT(refusal("u:app:work if arg1:u8 <= 255"), HasSubstr("always true"));
    EXPECT_THAT(refusal("u:app:work if arg1:u8 >= 0"), HasSubstr("always true"));
    EXPECT_THAT(refusal("u:app:work if arg1:u8 < 0"), HasSubstr("always false"));
    EXPECT_THAT(refusal("u:app:work if arg1:u8 == -1"), HasSubstr("always false"));
    EXPECT_THAT(refusal("u:app:work if arg1:u8 != 256"), HasSubstr("always true"));
    EXPECT_THAT(refusal("u:app:work if arg1:u8 & 0x100"), HasSubstr("always false"));
    EXPECT_THAT(refusal("u:app:work if arg1:s8 > 127"), HasSubstr("always false"));
    EXPECT_THAT(refusal("u:app:work if arg1:s8 >= -128"), HasSubstr("always true"));
    EXPECT_THAT(refusal("u:app:work if arg1:s8 < -129"), HasSubstr("holds -128 to 127"));
    EXPECT_THAT(refusal("u:app:work if arg1 == 9223372036854775808"), HasSubstr("always false"));
    EXPECT_THAT(refusal("u:app:work if pid == 5000000000"), HasSubstr("always false"));
    compile("u:app:work if arg1:u8 > 254 && arg1:u8 < 1 && arg1:s8 <= -128 && arg1:s8 >= 127");
    compile("u:app:work if arg1 >= -9223372036854775807 && arg1:u64 == 18446744073709551615");
    compile("u:app:work if arg1:s8 & 0x80");
    // Sites differ: the constant fits one of them only.
    EXPECT_THAT(refusal("usdt:app:twice if arg0 > 4294967296"), HasSubstr("always false"));
}

TEST_F(ConditionCompilerTest, ChecksTypes) {
    EXPECT_THAT(refusal("u:app:work(q=arg0:str) if q == 5"), HasSubstr("arg0 is text here"));
    EXPECT_THAT(refusal("u:app:work if arg0:u32 == \"x\""), HasSubstr("arg0 is no text here"));
    EXPECT_THAT(refusal("usdt:app:start if arg0 ~ \"x\""), HasSubstr("4-byte integer"));
    compile("u:app:work if comm == \"fifteen bytes..\"");
    EXPECT_THAT(refusal("u:app:work if comm == \"sixteen bytes...\""), HasSubstr("15 bytes"));
}

TEST_F(ConditionCompilerTest, AnUnreadableOperandIsAnErrorOfANamedProbeOnly) {
    EXPECT_THAT(refusal("usdt:app:odd if arg0 == 1"), HasSubstr("cannot be read"));
    EXPECT_THAT(refusal("usdt:app:twice if arg1 == 1"), HasSubstr("it has 1 argument"));
    const auto plan = compile("usdt:app:* if arg1:u32 == 1");
    EXPECT_THAT(plan.points, SizeIs(2)) << "start and odd have an arg1";
    EXPECT_THAT(plan.warnings, Contains(HasSubstr("its condition: it has 1 argument")));
    EXPECT_THAT(refusal("usdt:app:t* if arg1 == 1"), HasSubstr("nothing remains to be probed"));
}

TEST_F(ConditionCompilerTest, OperandsInMemoryMakeAHandlerSleep) {
    EXPECT_EQ(compile("u:app:work if arg0 == 1").files[0].sites[0].program, ProbeProgram::hit);
    EXPECT_EQ(compile("u:app:work if arg0 == \"x\"").files[0].sites[0].program,
              ProbeProgram::hit_sleepable);
}

TEST_F(ConditionCompilerTest, FieldsOfTracepointsAreOperands) {
    const auto plan = compile("t:sched:sched_switch if prev_comm ~ \"pg*\" && prev_pid > 5");
    ASSERT_THAT(plan.gates, SizeIs(1));
    EXPECT_EQ(plan.gates[0].terms[0].arg.form, TR_ARG_KERNEL_ARRAY);
    EXPECT_EQ(plan.gates[0].terms[0].arg.string_bytes_max, 16);
    EXPECT_EQ(plan.gates[0].terms[1].arg.form, TR_ARG_SIGNED);
    EXPECT_THAT(refusal("t:sched:sched_switch if nothing == 1"), HasSubstr("its fields:"));
    EXPECT_THAT(compile("t:sched:* if prev_pid == 1").points, SizeIs(1));
}

TEST_F(ConditionCompilerTest, CgroupsAndContainersAreLookedUpByTheCaller) {
    options_.find_cgroup = [](std::string_view name) -> Result<uint64_t> {
        if (name == "a/b") return 77;
        return fail(ErrorCode::not_found, "no such cgroup");
    };
    EXPECT_EQ(compile("u:app:work if cgroup == \"a/b\"").gates.at(0).terms[0].constant, 77u);
    EXPECT_THAT(refusal("u:app:work if cgroup == \"c\""), HasSubstr("no such cgroup"));
    EXPECT_THAT(refusal("u:app:work if container == \"web\""), HasSubstr("cannot be looked up"));
    options_.find_container = [](std::string_view) -> Result<uint64_t> { return 78; };
    EXPECT_EQ(compile("u:app:work if container != \"web\"").gates.at(0).terms[0].on_true,
              TR_TERM_REJECT);
    EXPECT_EQ(find_cgroup("1234"), 1234u);
    EXPECT_FALSE(find_cgroup("no/such/group"));
}

TEST_F(ConditionCompilerTest, EndsOfSpansPassWithTheirBegins) {
    const auto plan = compile("span:app:work(arg0, ret) if arg0 > 5 sample 1/2");
    ASSERT_THAT(plan.gates, SizeIs(2));
    EXPECT_EQ(plan.gates[0].flags, TR_GATE_SPAN_BEGIN);
    EXPECT_EQ(plan.gates[1].flags, TR_GATE_SPAN_END);
    EXPECT_EQ(plan.gates[1].term_count, 0);
    EXPECT_EQ(plan.gates[0].state, plan.gates[1].state);
    EXPECT_THAT(plan.points.at(0).end_arguments, SizeIs(1));
}

TEST_F(ConditionCompilerTest, NamesShowArguments) {
    const auto plan = compile("u:app:work(q=arg0:str, n=arg1) as \"query {n}: {q}\"");
    EXPECT_THAT(plan.probes.at(0).name,
                ElementsAre(NamePiece{"query ", NamePiece::kText}, NamePiece{"", 1},
                            NamePiece{": ", NamePiece::kText}, NamePiece{"", 0}));
    EXPECT_EQ(plan.points.at(0).name, "work") << "the summary's name stays";
    EXPECT_THAT(compile("usdt:app:start as \"{arg1}\"").probes.at(0).name,
                ElementsAre(NamePiece{"", 1}));
    const auto unknown = refusal("u:app:work(query=arg0) as \"{qery}\"");
    EXPECT_THAT(unknown, HasSubstr("no argument called 'qery'"));
    EXPECT_THAT(unknown, HasSubstr("did you mean query"));
    EXPECT_THAT(refusal("u:app:work as \"{q}\""), HasSubstr("name arguments first"));
    EXPECT_THAT(refusal("span:app:work(ret) as \"{ret}\""), HasSubstr("no argument called 'ret'"));
}

TEST_F(ConditionCompilerTest, APlaceNamedTwiceKeepsOneConditionAndSaysSo) {
    std::vector<ProbeSpec> specs;
    for (const auto* text : {"u:app:work if arg0 == 1", "u:app:work if arg0 == 2"}) {
        specs.push_back(*parse_probe_spec(text));
    }
    const auto plan = compile_probes(specs, files_, options_);
    ASSERT_TRUE(plan) << plan.error().what;
    EXPECT_THAT(plan->gates, SizeIs(1));
    EXPECT_THAT(plan->warnings, Contains(HasSubstr("is the same place as")));
}

TEST_F(ConditionCompilerTest, RandomConditionsRunAsTheySay) {
    std::mt19937 random(1);
    size_t judged = 0;
    for (int i = 0; i < 300; ++i) {
        const auto condition = RandomCondition::make(random);
        SCOPED_TRACE(condition.text());
        const auto plan = compile("u:app:work if " + condition.text());
        ASSERT_THAT(plan.gates, SizeIs(1));
        const std::span terms(plan.gates[0].terms, plan.gates[0].term_count);
        for (int j = 0; j < 50; ++j) {
            const auto input = RandomCondition::random_input(random);
            ASSERT_EQ(test::run_terms(terms, input), condition.judge(input))
                << input.arg0 << ' ' << input.arg1 << ' ' << input.text.value_or("unreadable");
            ++judged;
        }
    }
    EXPECT_EQ(judged, 15000u);
}

}  // namespace
}  // namespace tracer
