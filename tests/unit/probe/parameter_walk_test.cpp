// SPDX-License-Identifier: Apache-2.0
//
// Arguments by name and type on a program with debug information: the operations that they become
// are run on fake registers and memory.
#include "probe/probe_compiler.h"
#include "probe/probe_list.h"
#include "support/fake_machine.h"
#include "support/targets/dwarf/dwarf_arguments.h"
#include "unit/symbol/elf_builder.h"

#include <cstddef>
#include <filesystem>
#include <map>
#include <tuple>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tracer {
namespace {

using model::ValueType;
using ::testing::Contains;
using ::testing::HasSubstr;

constexpr uint64_t kRequest = 0x10000;
constexpr uint64_t kNext = 0x20000;

class ParameterWalk : public ::testing::TestWithParam<const char*> {
protected:
    void SetUp() override {
        path = std::string(TRACER_TEST_PROGRAMS "/") + GetParam();
        if (!std::filesystem::exists(path)) GTEST_SKIP() << "not built: " << path;
    }

    Result<AttachPlan> try_compile(const std::string& probe) {
        TR_ASSIGN(const auto spec, parse_probe_spec(probe));
        return compile_probes({&spec, 1}, TargetFiles{}, CompileOptions{});
    }
    AttachPlan compile(const std::string& function, const std::string& arguments) {
        auto plan = try_compile("u:" + path + ":" + function + "(" + arguments + ")");
        EXPECT_TRUE(plan) << arguments << ": " << plan.error().what;
        return plan ? std::move(*plan) : AttachPlan{};
    }
    Error refusal(const std::string& function, const std::string& arguments) {
        auto plan = try_compile("u:" + path + ":" + function + "(" + arguments + ")");
        EXPECT_FALSE(plan) << arguments;
        return plan ? Error{} : plan.error();
    }
    // The value of the one argument.
    std::optional<uint64_t> run(const std::string& function, const std::string& argument) {
        const auto plan = compile(function, argument);
        return plan.programs.empty() ? std::nullopt : machine.run(plan.programs[0].args[0]);
    }
    // Of the one argument of a function's probe.
    model::Argument argument(const std::string& function, const std::string& text) {
        const auto plan = compile(function, text);
        return plan.points.empty() ? model::Argument{} : plan.points[0].arguments.at(0);
    }

    std::string path;
    test::FakeMachine machine;
};

INSTANTIATE_TEST_SUITE_P(Programs,
                         ParameterWalk,
                         ::testing::Values("dwarf_c_gcc_o0", "dwarf_c_gcc_o2", "dwarf_c_clang_o2"),
                         [](const auto& param) { return std::string(param.param); });

TEST_P(ParameterWalk, ReadsParametersWhereTheyArePassed) {
    machine.registers[TR_REG_RDI] = 0xff;
    machine.registers[TR_REG_RDX] = 0xfffffffd;
    machine.registers[TR_REG_R9] = 5;
    machine.registers[TR_REG_RSP] = 0x7000;
    machine.store(0x7008, 70, 4);
    machine.store(0x7010, static_cast<uint64_t>(-80), 8);
    EXPECT_EQ(run("c_integers", "arg:a"), static_cast<uint64_t>(-1));
    EXPECT_EQ(run("c_integers", "arg:c"), static_cast<uint64_t>(-3));
    EXPECT_EQ(run("c_integers", "arg:c:u32"), 0xfffffffdu);
    EXPECT_EQ(run("c_integers", "arg:c/x"), 0xfffffffdu);
    EXPECT_EQ(argument("c_integers", "arg:e").type, ValueType::boolean);
    EXPECT_EQ(run("c_many", "arg:g"), 70u) << "on the stack";
    EXPECT_EQ(run("c_many", "arg:h"), static_cast<uint64_t>(-80));
    EXPECT_EQ(argument("c_many", "arg:g").type, ValueType::s32);
    EXPECT_EQ(argument("c_many", "arg:h").type, ValueType::s64);
}

TEST_P(ParameterWalk, EnumerationsGiveTheirNames) {
    const auto color = argument("c_integers", "arg:f");
    EXPECT_EQ(color.type, ValueType::s32);
    ASSERT_NE(color.name_of(5), nullptr);
    EXPECT_EQ(*color.name_of(5), "kGreen");
    ASSERT_NE(color.name_of(~uint64_t{0}), nullptr);
    EXPECT_EQ(*color.name_of(~uint64_t{0}), "kRed");
    EXPECT_EQ(argument("c_integers", "arg5").names, color.names) << "by number too";
    EXPECT_TRUE(argument("c_integers", "arg:f/x").names.empty());
}

TEST_P(ParameterWalk, BitFieldsAreTakenOutOfTheirBytes) {
    machine.registers[TR_REG_RDI] = kRequest;
    // flags, level and, above them, bits of nobody's.
    machine.store(kRequest + 4, 0xfffffc00 | (uint32_t{0x7f & -9} << 3) | 5, 4);
    EXPECT_EQ(run("c_request", "arg:req->flags"), 5u);
    EXPECT_EQ(run("c_request", "arg:req->level"), static_cast<uint64_t>(-9));
    EXPECT_EQ(argument("c_request", "arg:req->flags").type, ValueType::u32);
    EXPECT_EQ(argument("c_request", "arg:req->level").type, ValueType::s32);
    EXPECT_EQ(run("c_request", "arg:req->flags/x"), 5u);
    for (const char* text : {"arg:req->flags:u8", "*(arg:req->flags)", "arg:req->level+8"}) {
        EXPECT_THAT(refusal("c_request", text).what, HasSubstr("is a bit field")) << text;
    }
    const auto plan = try_compile("u:" + path + ":c_request if arg:req->level == -9");
    ASSERT_TRUE(plan) << plan.error().what;
    EXPECT_EQ(machine.run(plan->gates.at(0).terms[0].arg), static_cast<uint64_t>(-9));
}

TEST_P(ParameterWalk, WalksToMembers) {
    machine.registers[TR_REG_RDI] = kRequest;
    machine.store(kRequest + offsetof(request, id), 77, 4);
    machine.store(kRequest + offsetof(request, path), 0x5555, 8);
    machine.store(kRequest + offsetof(request, number), 88, 8);
    machine.store(kRequest + offsetof(request, next), kNext, 8);
    machine.store(kNext + offsetof(request, peer) + 0, 9, 2);
    EXPECT_EQ(run("c_request", "arg:req"), kRequest);
    EXPECT_EQ(run("c_request", "arg:req->id"), 77u);
    EXPECT_EQ(run("c_request", "arg:req->number"), 88u) << "in a union without a name";
    EXPECT_EQ(run("c_request", "arg:req->both.first"), 88u);
    EXPECT_EQ(run("c_request", "arg:req->next->peer.port"), 9u);
    EXPECT_EQ(run("c_request", "*(arg:req->next+40):u8"), std::nullopt);
    EXPECT_EQ(run("c_request", "arg:req->next->id"), std::nullopt);
    EXPECT_EQ(argument("c_request", "arg:req->id").type, ValueType::u32);
    EXPECT_EQ(argument("c_request", "arg:req->id").name, "req->id");
    EXPECT_EQ(argument("c_request", "arg:req->next").type, ValueType::pointer);
}

TEST_P(ParameterWalk, CharactersAreText) {
    machine.registers[TR_REG_RDI] = kRequest;
    const auto path_plan = compile("c_request", "arg:req->path");
    EXPECT_EQ(path_plan.programs[0].args[0].form, TR_ARG_USER_STRING);
    const auto name = compile("c_request", "arg:req->peer.name").programs[0].args[0];
    EXPECT_EQ(name.form, TR_ARG_USER_ARRAY);
    EXPECT_EQ(name.string_bytes_max, 6);
    EXPECT_EQ(machine.run(name), kRequest + offsetof(request, peer) + 2);
    EXPECT_EQ(compile("c_request", "arg1").programs[0].args[0].form, TR_ARG_USER_STRING)
        << "the type of argN is that of the parameter there";
    EXPECT_EQ(argument("c_request", "arg:text:ptr").type, ValueType::pointer);
    const auto counted = compile("c_request", "arg:text:str[arg:req->id]").programs[0].args[0];
    machine.store(kRequest, 7, 4);
    EXPECT_EQ(counted.form, TR_ARG_USER_BYTES);
    EXPECT_EQ(machine.length(counted), 7u);
}

TEST_P(ParameterWalk, StructuresByValueLieInRegistersOrOnTheStack) {
    machine.registers[TR_REG_RDI] = 0x00000004fffffffd;
    machine.registers[TR_REG_RSI] = 5;
    machine.registers[TR_REG_RDX] = static_cast<uint64_t>(-6);
    machine.registers[TR_REG_RSP] = 0x7000;
    machine.store(0x7008 + 24, 14, 8);
    EXPECT_EQ(run("c_structures", "arg:s.a"), static_cast<uint64_t>(-3));
    EXPECT_EQ(run("c_structures", "arg:s.b"), 4u) << "the upper half of a register";
    EXPECT_EQ(run("c_structures", "arg:p.second"), static_cast<uint64_t>(-6));
    EXPECT_EQ(run("c_memory", "*(arg:l.values+24)"), 14u);
    EXPECT_THAT(refusal("c_structures", "arg:m.real").what, HasSubstr("vector register"));
}

TEST_P(ParameterWalk, ReturnValuesHaveTheirTypes) {
    const auto of_return = [&](const std::string& function) {
        auto plan = try_compile("ur:" + path + ":" + function);
        EXPECT_TRUE(plan) << plan.error().what;
        return plan ? plan->points.at(0).arguments : std::vector<model::Argument>{};
    };
    ASSERT_EQ(of_return("c_variadic").size(), 1u);
    EXPECT_EQ(of_return("c_variadic")[0].type, ValueType::s32);
    EXPECT_TRUE(of_return("c_integers").empty()) << "void";
    ASSERT_EQ(of_return("c_returns_large").size(), 1u);
    EXPECT_EQ(of_return("c_returns_large")[0].type, ValueType::pointer);
}

TEST_P(ParameterWalk, NamesOfValuesAreCompared) {
    const auto constant = [&](const std::string& clauses) -> std::optional<uint64_t> {
        const auto plan = try_compile("u:" + path + ":c_integers() if " + clauses);
        EXPECT_TRUE(plan) << plan.error().what;
        return plan ? std::optional(plan->gates.at(0).terms[0].constant) : std::nullopt;
    };
    EXPECT_EQ(constant("arg:f == \"kGreen\""), 5u);
    EXPECT_EQ(constant("arg:f != \"kRed\""), ~uint64_t{0});
    EXPECT_EQ(constant("arg5 == \"kGreen\""), 5u);
    const auto unknown = try_compile("u:" + path + ":c_integers() if arg:f == \"kGren\"");
    ASSERT_FALSE(unknown);
    EXPECT_THAT(unknown.error().what, HasSubstr("no value is called 'kGren'"));
    EXPECT_THAT(unknown.error().hint, HasSubstr("kGreen"));
}

TEST_P(ParameterWalk, TemplatesTakeAMemberAsTheSourceSpellsIt) {
    for (const char* label : {"req->peer.port", "arg:req->peer.port", "req->peer->port"}) {
        const auto plan =
            try_compile("u:" + path + ":c_request(arg:req->peer.port) as \"{" + label + "}\"");
        ASSERT_TRUE(plan) << label << ": " << plan.error().what;
        EXPECT_EQ(plan->probes.at(0).name.at(0).slot, 0) << label;
    }
}

TEST_P(ParameterWalk, RefusalsSayWhatThereIs) {
    const auto unknown = refusal("c_request", "arg:rek");
    EXPECT_THAT(unknown.what, HasSubstr("no parameter 'rek'"));
    EXPECT_THAT(unknown.hint, HasSubstr("req text out"));
    EXPECT_THAT(refusal("c_request", "arg:req->idd").what, HasSubstr("^^^"));
    EXPECT_THAT(refusal("c_request", "arg:req.id").hint, HasSubstr("->"));
    EXPECT_THAT(refusal("c_request", "arg:req->peer->port").hint, HasSubstr("write ."));
    EXPECT_THAT(refusal("c_request", "arg:req->peer").what, HasSubstr("name a member"));
    EXPECT_THAT(refusal("c_request", "arg:req->peer").hint, HasSubstr("port name"));
    EXPECT_THAT(refusal("c_floats", "arg:x").what, HasSubstr("vector register"));
    EXPECT_THAT(refusal("c_memory", "arg:l.values").what, HasSubstr("array"));
    EXPECT_THAT(refusal("c_memory", "arg:l.values").hint, HasSubstr("*(arg:l.values+8):s64"));
    EXPECT_THAT(refusal("c_request", "arg:text[arg:out]").hint, HasSubstr("behind its type"));
}

TEST_P(ParameterWalk, AWildcardsParameterIsMissingWhereThereIsNone) {
    const auto plan = compile("c_re*", "arg:req->id");
    size_t readable = 0;
    for (const auto& program : plan.programs) {
        if (program.args[0].form != TR_ARG_UNREADABLE) ++readable;
    }
    EXPECT_GT(plan.programs.size(), 1u);
    EXPECT_EQ(readable, 1u);
    EXPECT_THAT(plan.warnings, Contains(HasSubstr("no such parameter")));
}

TEST_P(ParameterWalk, TheListNamesWhatArgumentsMayBeCalled) {
    TargetFiles files;
    files.add_file({path, path});
    const auto listed = [&](const std::string& pattern) {
        std::map<std::string, std::string> parameters;
        ListOptions options;
        options.pattern = pattern;
        static_cast<void>(list_probes(files, options, [&](const ListedProbe& probe) {
            const auto spec = parse_probe_spec(annotated_line(probe));
            EXPECT_TRUE(spec) << annotated_line(probe);
            if (spec) parameters[spec->name] = probe.parameters;
        }));
        return parameters;
    };
    const auto found = listed("c_*");
    EXPECT_EQ(found.at("c_request"),
              "(arg:req: const struct request *, arg:text: const char *, arg:out: int *)");
    EXPECT_EQ(found.at("c_variadic"), "(arg:format: const char *, ...) -> int");
    EXPECT_EQ(found.at("c_returns_real"), "() -> double");
    EXPECT_EQ(listed("").at("c_request"), "") << "reading the types of everything takes long";
}

using CxxParameterWalk = ParameterWalk;

constexpr const char* kTexts = "\"shop::texts\"";

INSTANTIATE_TEST_SUITE_P(Programs,
                         CxxParameterWalk,
                         ::testing::Values("dwarf_cxx_gcc_o0",
                                           "dwarf_cxx_gcc_o2",
                                           "dwarf_cxx_clang_o2"),
                         [](const auto& param) { return std::string(param.param); });

TEST_P(CxxParameterWalk, ReferencesAreWhatTheyLeadTo) {
    constexpr uint64_t kCustomer = 0x30000;
    machine.registers[TR_REG_RDI] = kCustomer;
    machine.registers[TR_REG_R8] = 0x40000;
    machine.store(kCustomer, 209, 4);
    machine.store(kCustomer + 4, 200, 1);
    machine.store(kCustomer + 40, 0x50000, 8);
    machine.store(0x40000, static_cast<uint64_t>(-210), 4);
    machine.store(0x50000, 208, 8);
    EXPECT_EQ(run(kTexts, "arg:customer.id"), 209u);
    EXPECT_EQ(run(kTexts, "arg:customer->id"), 209u);
    EXPECT_EQ(run(kTexts, "arg:customer.limit"), 208u);
    EXPECT_EQ(run(kTexts, "arg:number"), static_cast<uint64_t>(-210));
    EXPECT_EQ(run(kTexts, "arg:number:ptr"), 0x40000u);
    EXPECT_EQ(argument(kTexts, "arg:number").type, ValueType::s32);
    EXPECT_NE(argument(kTexts, "arg:customer.state").name_of(200), nullptr);
    EXPECT_EQ(argument(kTexts, "arg:customer").type, ValueType::pointer);
    EXPECT_THAT(refusal(kTexts, "arg:other.id").hint, HasSubstr("write ->"));
}

TEST_P(CxxParameterWalk, StringObjectsAreTheirText) {
    constexpr uint64_t kCustomer = 0x30000;
    const auto text = [&](const std::string& argument) {
        const auto plan = compile(kTexts, argument);
        return plan.programs.empty() ? tr_arg{} : plan.programs[0].args[0];
    };
    machine.registers[TR_REG_RDI] = kCustomer;
    machine.registers[TR_REG_RSI] = 4;
    machine.registers[TR_REG_RDX] = 0x6000;
    machine.registers[TR_REG_RCX] = 0x7000;
    machine.store(kCustomer + 8, 0x8000, 8);
    machine.store(kCustomer + 16, 300, 8);
    machine.store(0x7000, 0x9000, 8);
    machine.store(0x7008, 6, 8);
    for (const auto& [argument, address, length] :
         {std::tuple{"arg:customer.name", 0x8000u, 300u}, std::tuple{"arg:view", 0x6000u, 4u},
          std::tuple{"arg:text", 0x9000u, 6u}, std::tuple{"arg:text:str[80+]", 0x9000u, 6u}}) {
        const auto read = text(argument);
        EXPECT_EQ(read.form, TR_ARG_USER_BYTES) << argument;
        EXPECT_EQ(machine.run(read), address) << argument;
        EXPECT_EQ(machine.length(read), length) << argument;
    }
    EXPECT_EQ(text("arg:text").string_bytes_max, TR_STRING_BYTES);
    EXPECT_EQ(text("arg:text:str[80+]").string_bytes_max, 80);
    EXPECT_EQ(argument(kTexts, "arg:text").name, "text");
    const auto quoted = try_compile("u:" + path + ":\"shop::texts\"() if arg:text ~ \"a*\"");
    ASSERT_TRUE(quoted) << quoted.error().what;
    const auto& term = quoted->gates.at(0).terms[0];
    EXPECT_EQ(term.source, TR_TERM_TEXT);
    EXPECT_EQ(machine.run(term.arg), 0x9000u);
    const auto view = try_compile("u:" + path + ":\"shop::texts\"() if arg:view ~ \"a*\"");
    ASSERT_TRUE(view) << view.error().what;
    const auto& counted = view->gates.at(0).terms[0].arg;
    EXPECT_EQ(counted.form, TR_ARG_USER_BYTES);
    EXPECT_EQ(machine.run(counted), 0x6000u);
    EXPECT_EQ(machine.length(counted), 4u);
}

TEST(ParameterNames, WithoutDebugInformationTheCureIsNamed) {
    test::TemporaryFolder folder;
    const auto path =
        test::write_file(folder.path(), "app",
                         test::ElfBuilder().function("work", test::ElfBuilder::kText, 16).build());
    const auto spec = *parse_probe_spec("u:" + path + ":work(arg:size)");
    const auto plan = compile_probes({&spec, 1}, TargetFiles{}, CompileOptions{});
    ASSERT_FALSE(plan);
    EXPECT_THAT(plan.error().what, HasSubstr("arguments by name"));
    EXPECT_THAT(plan.error().hint, HasSubstr("-g"));
    const auto by_number = *parse_probe_spec("u:" + path + ":work(arg0)");
    const auto plain = compile_probes({&by_number, 1}, TargetFiles{}, CompileOptions{});
    ASSERT_TRUE(plain) << plain.error().what;
    EXPECT_EQ(plain->points.at(0).arguments.at(0).type, ValueType::s64);
}

}  // namespace
}  // namespace tracer
