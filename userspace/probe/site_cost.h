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

namespace tracer {

enum class SiteCost : uint8_t {
    played,          // nop, push, jump, call: the kernel does by itself what it would do
    nop5,            // turned into a call by Linux 6.18 where that is allowed
    single_stepped,  // run elsewhere, with a second trap
};

// `code`: the bytes from the instruction on.
[[nodiscard]] SiteCost cost_of_site(std::span<const std::byte> code);

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
