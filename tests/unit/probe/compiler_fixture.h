// SPDX-License-Identifier: Apache-2.0
//
// The compiler on ELF files made by the test and on a fake kernel's tracepoints.
#pragma once

#include "probe/probe_compiler.h"
#include "unit/probe/fake_tracepoints.h"
#include "unit/symbol/elf_builder.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace tracer {

class ProbeCompilerTest : public ::testing::Test {
protected:
    std::string add_file(const std::string& name, const test::ElfBuilder& builder) {
        auto path = test::write_file(folder.path(), name, builder.build());
        files.add_file({path, path});
        return path;
    }

    Result<AttachPlan> try_compile(const std::vector<std::string>& texts) {
        std::vector<ProbeSpec> specs;
        for (const auto& text : texts) {
            TR_ASSIGN(auto spec, parse_probe_spec(text));
            specs.push_back(std::move(spec));
        }
        return compile_probes(specs, files, options);
    }

    AttachPlan compile(const std::string& text) {
        auto plan = try_compile({text});
        EXPECT_TRUE(plan) << text << ": " << plan.error().what;
        return plan ? std::move(*plan) : AttachPlan{};
    }

    Error refusal(const std::string& text) {
        auto plan = try_compile({text});
        EXPECT_FALSE(plan) << text;
        return plan ? Error{} : plan.error();
    }

    test::TemporaryFolder folder;
    TargetFiles files;
    test::FakeTracepoints tracepoints;
    CompileOptions options{.tracepoints = &tracepoints};
};

}  // namespace tracer
