// SPDX-License-Identifier: Apache-2.0
//
// How C and C++ pass values on x86-64 (System V ABI for x86-64, 3.2.3): which registers or place of
// the stack a parameter of each type takes, in the order of the parameters.
#pragma once

#include "symbol/dwarf_function.h"
#include "symbol/dwarf_type.h"

#include <array>
#include <cstddef>
#include <cstdint>

namespace tracer {

// Of each eight bytes of a value.
enum class ArgumentClass : uint8_t {
    none,     // nothing is passed: empty types, padding
    integer,  // a general register
    vector,   // a vector register
};

struct ValueClass {
    bool is_in_memory = false;  // on the stack, or by the address of the caller's copy
    bool is_indirect = false;   // passed as its address, by C++'s rules
    bool is_x87 = false;        // long double: as an argument in memory, returned in x87 registers
    bool returns_by_address = false;  // the caller passes where the returned value goes
    bool is_unknown = false;          // declared only, or of a kind that is not modelled
    std::array<ArgumentClass, 2> eightbytes{};
    uint64_t bytes = 0;
    uint64_t alignment = 8;  // on the stack
};

[[nodiscard]] ValueClass classify_value(const DwarfType& type);

// Gives out places in order.
class ArgumentPlaces {
public:
    // The function returns such a value: one in memory takes the first register for its address.
    explicit ArgumentPlaces(const ValueClass& returned);

    // The next parameter's place. After one of unknown class all that follow are unknown.
    [[nodiscard]] ParameterPlace next(const ValueClass& value);

private:
    size_t general_used_ = 0;
    size_t vector_used_ = 0;
    uint64_t stack_bytes_ = 0;
    bool is_lost_ = false;
};

// Where a value is when its function returns.
[[nodiscard]] ParameterPlace place_of_return(const ValueClass& value);

}  // namespace tracer
