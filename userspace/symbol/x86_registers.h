// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tracer/abi/probe.h"

#include <cstdint>
#include <optional>
#include <string_view>

namespace tracer {

// A register's name as an assembler spells it, without the '%'.
struct RegisterName {
    tr_reg reg = TR_REG_RAX;
    uint8_t bytes = 8;
    uint8_t shift = 0;  // bits to the right: 8 for %ah, %bh, %ch, %dh
};

// General registers of x86-64 in all widths, %rip and %eip.
[[nodiscard]] std::optional<RegisterName> find_register(std::string_view name);

// Those that i386 has, under the numbers of the x86-64 registers they are the lower half of.
[[nodiscard]] std::optional<RegisterName> find_i386_register(std::string_view name);

}  // namespace tracer
