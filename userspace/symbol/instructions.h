// SPDX-License-Identifier: Apache-2.0
//
// x86-64 instructions, decoded by Zydis: where they begin, and how they are written.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace tracer {

struct Instruction {
    uint64_t vaddr = 0;
    uint64_t bytes = 0;
};

// Where an address stands among the instructions of the code it lies in.
struct BoundaryCheck {
    enum class State : uint8_t {
        boundary,  // an instruction's first byte
        inside,    // of `instruction`
        unknown,   // something before it is no instruction: data between code, or broken code
    };
    State state = State::unknown;
    Instruction instruction;  // the one that begins at, or holds, the address
};

// Decodes `code`, whose first byte is an instruction's at `start`, up to `vaddr`. The code must
// reach some 15 bytes beyond it.
[[nodiscard]] BoundaryCheck check_boundary(std::span<const std::byte> code,
                                           uint64_t start,
                                           uint64_t vaddr);

// As the GNU assembler writes it: "push %rbp"; empty when it is none.
[[nodiscard]] std::string instruction_text(std::span<const std::byte> code, uint64_t vaddr);

}  // namespace tracer
