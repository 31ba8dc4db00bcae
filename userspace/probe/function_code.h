// SPDX-License-Identifier: Apache-2.0
//
// A function's machine code, read from its first byte to its last: where it returns, whether it
// calls others, and what makes that reading uncertain.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tracer {

// One run of code. GCC and clang move unlikely code of a function behind others (NAME.cold), so a
// function may have two.
struct CodePart {
    uint64_t address = 0;  // any space that is common to all parts: file offsets, link addresses
    std::span<const std::byte> bytes;
};

// A jump out of a function, to another that returns to its caller in its place.
struct TailJump {
    uint64_t from = 0;
    std::optional<uint64_t> to;  // nullopt: through a pointer
};

struct FunctionCode {
    std::vector<uint64_t> returns;  // addresses of its ret instructions, part by part
    std::vector<TailJump> tail_jumps;
    bool has_call = false;  // of other code, which may throw an exception through it
    // Why `returns` and `tail_jumps` cannot be taken for all ways out of it, as what follows "the
    // function "; empty: they are all.
    std::string_view obstacle;
    std::string obstacle_place;  // "at +0x12"; empty: nowhere in particular
};

// Decodes the parts one instruction after another. That is right where code holds nothing but
// instructions, which is checked: all bytes decode, and every jump leads to an instruction's first
// byte. A jump table of offsets, as GCC and clang make them for a switch in code that can be moved,
// is known by its three instructions. `has_tables_elsewhere`: an indexed jump through memory is one
// to a place in the function (Go, whose linker puts jump tables into read-only data).
//
// A jump out of the parts is a tail jump if `is_entry` says that a function, or a stub of one,
// begins where it leads. One through a pointer is taken for such only if all code of the function
// is reached without it: else it is the jump to what is not.
[[nodiscard]] FunctionCode read_function_code(std::span<const CodePart> parts,
                                              bool has_tables_elsewhere,
                                              const std::function<bool(uint64_t)>& is_entry = {});

// Of a function that Go compiled with its register ABI: the offset behind its check of the stack's
// size, where it arrives once a call (when the stack has to grow, it is started a second time from
// its first instruction). nullopt: it has no such check.
[[nodiscard]] std::optional<uint64_t> offset_behind_stack_check(std::span<const std::byte> code);

}  // namespace tracer
