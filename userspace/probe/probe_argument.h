// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "probe/probe_spec.h"
#include "symbol/tracepoint_format.h"
#include "symbol/usdt_operand.h"
#include "tracer/abi/probe.h"
#include "tracer/base/result.h"
#include "tracer/model/definition.h"

#include <string>

namespace tracer {

// One argument of one site: how the kernel reads it and what it then is.
struct ProbeArgument {
    std::string label;
    tr_arg arg{};
    model::ValueType type = model::ValueType::none;  // none: cannot be read at this site
    bool is_f32 = false;  // type is f64, the record holds a 4-byte float's bits
};

// The type that a note's operand has by itself, as `list` spells it.
[[nodiscard]] ArgType type_of_operand(const CompiledOperand& operand);

// The type of a tracepoint's field; automatic for one that cannot be read as a value.
[[nodiscard]] ArgType type_of_field(const TracepointField& field);

// `wanted` overrides the operand's own type. Usage errors point into spec.text.
[[nodiscard]] Result<ProbeArgument> argument_of_operand(const ProbeSpec& spec,
                                                        const ArgSpec& wanted,
                                                        const CompiledOperand& operand);

// Of a function's argument by the System V ABI (argN), at its first instruction.
[[nodiscard]] Result<ProbeArgument> argument_of_function(const ProbeSpec& spec,
                                                         const ArgSpec& wanted);

// Of a function's return value (ret).
[[nodiscard]] Result<ProbeArgument> argument_of_return(const ProbeSpec& spec,
                                                       const ArgSpec& wanted);

// `is_system_call`: pointers of the record are the calling process's own.
[[nodiscard]] Result<ProbeArgument> argument_of_field(const ProbeSpec& spec,
                                                      const ArgSpec& wanted,
                                                      const TracepointField& field,
                                                      bool is_system_call);

// An argument that holds nothing, for sites that lack it.
[[nodiscard]] ProbeArgument missing_argument(std::string label);

// N of "argN"; the parser made sure of its form.
[[nodiscard]] size_t argument_index(const ArgSpec& arg);

// The type that holds the values of both: sites of one probe may differ.
[[nodiscard]] model::ValueType widest(model::ValueType a, model::ValueType b);

}  // namespace tracer
