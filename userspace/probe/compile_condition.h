// SPDX-License-Identifier: Apache-2.0
//
// A condition's terms as the kernel runs them, and the other clauses of a probe's gate.
#pragma once

#include "probe/probe_argument.h"
#include "probe/probe_compiler.h"
#include "probe/probe_spec.h"
#include "tracer/abi/gate.h"
#include "tracer/base/result.h"

#include <functional>
#include <span>
#include <string>
#include <vector>

namespace tracer {

// Where and how a site has an operand; an error that points into the probe's text.
using OperandAtSite = std::function<Result<ProbeArgument>(const ArgSpec&)>;

class ConditionCompiler {
public:
    // Settles what is the same at every site. Borrows both for its life.
    [[nodiscard]] static Result<ConditionCompiler> make(const ProbeSpec& spec,
                                                        const CompileOptions& options);

    // The terms of one site, as its operands lie there. Usage errors point into the spec's text,
    // among them those for a comparison that is always true or always false.
    [[nodiscard]] Result<std::vector<tr_term>> at_site(const OperandAtSite& operand) const;

private:
    explicit ConditionCompiler(const ProbeSpec& spec) : spec_(&spec) {}

    [[nodiscard]] Result<tr_term> task_term(const ConditionTerm& term,
                                            const CompileOptions& options) const;
    [[nodiscard]] Result<tr_term> operand_term(const ConditionTerm& term,
                                               const OperandAtSite& operand) const;

    const ProbeSpec* spec_;
    std::vector<tr_term> terms_;  // those of operands have their jumps only
};

// Sampling and rate, as tr_gate has them.
struct HitLimits {
    uint32_t sample_every = 0;
    uint64_t interval_ns = 0;
    uint64_t burst_ns = 0;

    [[nodiscard]] tr_gate gate() const {
        tr_gate gate{};
        gate.sample_every = sample_every;
        gate.interval_ns = interval_ns;
        gate.burst_ns = burst_ns;
        return gate;
    }
};

// Everything of a gate but its terms and its state; without any clause that makes one it does
// nothing.
[[nodiscard]] HitLimits limits_of(const ProbeClauses& clauses);

// The pieces of a template of the spec's, such as its name, with the numbers of the arguments that
// they show. Points at a label that is none of `labels`.
[[nodiscard]] Result<std::vector<NamePiece>> compile_template(const ProbeSpec& spec,
                                                              std::span<const TemplatePiece> pieces,
                                                              std::span<const std::string> labels);
[[nodiscard]] Result<std::vector<NamePiece>> compile_name(const ProbeSpec& spec,
                                                          std::span<const std::string> labels);
[[nodiscard]] std::vector<std::string> labels_of(std::span<const ArgSpec> args);

}  // namespace tracer
