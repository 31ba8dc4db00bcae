// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "probe/probe_spec.h"
#include "symbol/dwarf_function.h"
#include "symbol/tracepoint_format.h"
#include "symbol/usdt_operand.h"
#include "tracer/abi/probe.h"
#include "tracer/base/result.h"
#include "tracer/model/definition.h"

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tracer {

// One argument of one site: how the kernel reads it and what it then is.
struct ProbeArgument {
    std::string label;
    tr_arg arg{};
    model::ValueType type = model::ValueType::none;  // none: cannot be read at this site
    bool is_f32 = false;       // type is f64, the record holds a 4-byte float's bits
    bool is_cxx_type = false;  // text that names a C++ type, to be shown demangled
    std::vector<model::ValueName> names = {};
};

// The type that a note's operand has by itself, as `list` spells it.
[[nodiscard]] ArgType type_of_operand(const CompiledOperand& operand);

// Null: the tracepoint has no field of that name.
[[nodiscard]] const TracepointField* find_field(const TracepointFormat& format,
                                                std::string_view name);

// The type of a tracepoint's field; automatic for one that cannot be read as a value.
[[nodiscard]] ArgType type_of_field(const TracepointField& field);

// The argument `wanted` of a site whose note has these operands. `wanted` overrides their own
// types. One that the site lacks, or that cannot be read there, is missing. Usage errors point into
// spec.text.
[[nodiscard]] Result<ProbeArgument> argument_of_operand(const ProbeSpec& spec,
                                                        const ArgSpec& wanted,
                                                        std::span<const CompiledOperand> operands);

// Where a variable of the file lies.
struct VariablePlace {
    bool is_of_thread = false;  // each thread has one
    int64_t distance = 0;       // from the probed instruction; of a thread's from %fs
};
// nullopt: there is none.
using VariablePlaces = std::function<std::optional<VariablePlace>(std::string_view name)>;

// Of a function's argument by the System V ABI (argN) or by name, at its first instruction, or of
// its return value (ret), when it has returned; of a register or a variable. `known`: what debug
// information tells of the function, which gives types where the user gave none; null: nothing.
[[nodiscard]] Result<ProbeArgument> argument_of_function(const ProbeSpec& spec,
                                                         const ArgSpec& wanted,
                                                         const FunctionArguments* known = nullptr,
                                                         const VariablePlaces& variables = {});

// `is_system_call`: pointers of the record are the calling process's own.
[[nodiscard]] Result<ProbeArgument> argument_of_field(const ProbeSpec& spec,
                                                      const ArgSpec& wanted,
                                                      const TracepointFormat& format,
                                                      bool is_system_call);

// How many bytes a load for this type reads.
[[nodiscard]] uint8_t loaded_bytes(ArgType type);

// An argument that holds nothing, for sites that lack it.
[[nodiscard]] ProbeArgument missing_argument(std::string label);

// What the place of `arg` has to be, for messages: its type, or an address.
[[nodiscard]] std::string_view wanted_form(const ArgSpec& arg);

// N of "argN"; the parser made sure of its form.
[[nodiscard]] size_t argument_index(const ArgSpec& arg);

// The type that holds the values of both: sites of one probe may differ.
[[nodiscard]] model::ValueType widest(model::ValueType a, model::ValueType b);

}  // namespace tracer
