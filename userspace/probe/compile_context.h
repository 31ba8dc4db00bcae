// SPDX-License-Identifier: Apache-2.0
//
// What the compilers of each probe kind share; theirs alone.
#pragma once

#include "probe/compile_condition.h"
#include "probe/compile_warnings.h"
#include "probe/event_spec.h"
#include "probe/exception_files.h"
#include "probe/plan_builder.h"
#include "probe/probe_compiler.h"
#include "probe/probe_files.h"

#include <string>
#include <vector>

namespace tracer {

struct CompileContext {
    const TargetFiles& targets;
    const CompileOptions& options;
    ProbeFiles& files;
    PlanBuilder& builder;
    CompileWarnings& warnings;
    const ExceptionFiles& exceptions;

    // Whether what is not found is to be answered with names like it. Of files that nobody named
    // most lack the probe, and likeness costs more than all the rest.
    [[nodiscard]] bool suggests() const { return options.missing != MissingSpec::ignore; }
};

[[nodiscard]] Status compile_usdt(const ProbeSpec& spec, const CompileContext& context);
// u:, ur: and span: probes.
[[nodiscard]] Status compile_function(const ProbeSpec& spec, const CompileContext& context);
[[nodiscard]] Status compile_tracepoint(const ProbeSpec& spec, const CompileContext& context);

// A probe of any kind, and a span that begins and ends at probes.
[[nodiscard]] Status compile_spec(const ProbeSpec& spec, const CompileContext& context);
[[nodiscard]] Status compile_pair(const EventSpec& event, const CompileContext& context);

// Completes the builder's candidates from the `first` on, which the spec has made, with what its
// clauses say beside conditions and names: lines, meanings, semaphores raised.
[[nodiscard]] Status apply_clauses(const ProbeSpec& spec,
                                   const CompileContext& context,
                                   size_t first);

// The files a spec's PATH means; not_found with near names when there are none.
[[nodiscard]] Result<std::vector<TargetFile>> find_files(const ProbeSpec& spec,
                                                         const TargetFiles& targets);

// Whether a probe at `file_offset`, called `name`, does the program no harm. False: left out, and
// counted; an error when it was named without wildcards.
[[nodiscard]] Result<bool> check_site(const ProbeSpec& spec,
                                      const ProbeFile& file,
                                      uint64_t file_offset,
                                      const std::string& name,
                                      const CompileContext& context);

// Gives a site, called `name`, its condition. False: left out, and counted, as its operands do not
// allow it; an error when it was named without wildcards.
[[nodiscard]] Result<bool> add_condition(const ProbeSpec& spec,
                                         const ConditionCompiler& condition,
                                         const OperandAtSite& operand,
                                         const std::string& name,
                                         const CompileContext& context,
                                         ProbeSite& site);

// For a spec with wildcards of which every place was left out.
[[nodiscard]] Status refuse_nothing_left(const ProbeSpec& spec, const CompileContext& context);

}  // namespace tracer
