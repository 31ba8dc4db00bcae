// SPDX-License-Identifier: Apache-2.0
//
// What a probe costs by the instruction under it, and where in a function one costs less. Measured
// (tests/bench, Linux 6.18 in virtual machines): 0.7 us on a nop, 0.85 us on a push, 12 us on what
// the kernel has to single-step; on a host where each trap leaves the machine 6, 6 and 20 us.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace tracer {

// What the kernel does with the instruction that a probe replaces (arch/x86/kernel/uprobes.c).
enum class InstructionClass : uint8_t {
    nop1,     // nothing to run
    nop5,     // turned into a call by Linux 6.18 where that is allowed
    push,     // played: the kernel does by itself what it would do
    branch,   // jump or call: played
    stepped,  // run elsewhere under a single step, two traps instead of one
    unreadable,
};

// "nop1"; "single-stepped".
[[nodiscard]] std::string_view instruction_class_name(InstructionClass kind);

// `code`: the bytes from the instruction on.
[[nodiscard]] InstructionClass classify_instruction(std::span<const std::byte> code);

// Without a second trap, and by the instruction itself.
[[nodiscard]] constexpr bool is_played(InstructionClass kind) {
    return kind == InstructionClass::nop1 || kind == InstructionClass::push ||
           kind == InstructionClass::branch;
}

// nopl 0(%rax,%rax,1), the form that the kernel optimises (arch/x86/kernel/uprobes.c, 6.18).
[[nodiscard]] bool is_nop5(std::span<const std::byte> code);

struct CheaperSite {
    uint64_t offset = 0;             // from the function's first instruction
    bool has_arguments = false;      // no register that arguments come in was written before it
    bool has_stack_pointer = false;  // nor rsp
};

// The nearest played instruction that every call passes once, before the first jump or call;
// nullopt: there is none. `code`: all of the function's.
[[nodiscard]] std::optional<CheaperSite> find_cheaper_site(std::span<const std::byte> code);

}  // namespace tracer
