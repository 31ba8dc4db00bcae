// SPDX-License-Identifier: Apache-2.0
//
// Where the debug information says a parameter is when its function begins.
#pragma once

#include "symbol/dwarf_function.h"
#include "symbol/dwarf_session.h"

#include <cstdint>

namespace tracer {

enum class EntryLocation : uint8_t {
    told,      // `place` is right at the first instruction
    later,     // where the function's own code puts it: code without optimisation
    not_told,  // optimised away, or known from a later instruction on only
};

struct ParameterLocation {
    EntryLocation state = EntryLocation::not_told;
    ParameterPlace place;
};

// Of `parameter`, for a value of `bytes` bytes, in the function whose entry `function` is and that
// begins at `entry`.
[[nodiscard]] ParameterLocation locate_at_entry(Dwarf_Die& function,
                                                Dwarf_Die& parameter,
                                                uint64_t entry,
                                                uint64_t bytes);

}  // namespace tracer
