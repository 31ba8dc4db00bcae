// SPDX-License-Identifier: Apache-2.0
//
// Runs a program and stops it at the first instruction of some of its functions, as a probe would.
#pragma once

#include "symbol/dwarf_function.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <sys/types.h>
#include <sys/user.h>
#include <vector>

namespace tracer::test {

// A program that is stopped at a function's entry; good while the handler runs.
class EntryStop {
public:
    EntryStop(pid_t pid, const user_regs_struct& registers) : pid_(pid), registers_(registers) {}

    // The bytes of a value at its place, as many as it has; nullopt when the place is none that can
    // be read.
    [[nodiscard]] std::optional<std::vector<std::byte>> read(const ParameterPlace& place,
                                                             uint64_t bytes) const;
    [[nodiscard]] std::optional<std::vector<std::byte>> memory(uint64_t address,
                                                               uint64_t bytes) const;

private:
    [[nodiscard]] uint64_t value_of(tr_reg reg) const;

    pid_t pid_;
    user_regs_struct registers_;
};

// Calls `handler` at the first hit of each address, of a program that is not position-independent.
// The number of addresses that were hit, or a negative number where the program cannot be traced.
[[nodiscard]] int stop_at_entries(
    const std::string& program,
    const std::vector<uint64_t>& addresses,
    const std::function<void(uint64_t address, const EntryStop& stop)>& handler);

}  // namespace tracer::test
