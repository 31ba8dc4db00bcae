// SPDX-License-Identifier: Apache-2.0
//
// Go's own calling convention. A string is two words (address, length), a slice three; a float
// takes none of these registers. The result's first word is in rax, as C's is. Called by
// compile_function for Go's functions.
#include "probe/go_abi.h"

#include <algorithm>
#include <array>
#include <optional>
#include <vector>

namespace tracer {

namespace {

// Of the word that the System V ABI passes in a register.
std::optional<uint8_t> register_of(uint8_t system_v) {
    struct Pair {
        uint8_t system_v;
        uint8_t go;
    };
    constexpr std::array<Pair, 6> kWords = {{{TR_REG_RDI, TR_REG_RAX},
                                             {TR_REG_RSI, TR_REG_RBX},
                                             {TR_REG_RDX, TR_REG_RCX},
                                             {TR_REG_RCX, TR_REG_RDI},
                                             {TR_REG_R8, TR_REG_RSI},
                                             {TR_REG_R9, TR_REG_R8}}};
    const auto pair =
        std::ranges::find_if(kWords, [&](const Pair& word) { return word.system_v == system_v; });
    return pair == kWords.end() ? std::nullopt : std::optional(pair->go);
}

// Of one that it passes on the stack, above the return address, and Go still in a register.
std::optional<uint8_t> register_of_loaded(const tr_op& place, const tr_op& load) {
    constexpr std::array<uint8_t, 3> kWords = {TR_REG_R9, TR_REG_R10, TR_REG_R11};
    const bool is_stack = place.code == TR_OP_REG && place.reg == TR_REG_RSP && place.imm == 0 &&
                          load.code == TR_OP_LOAD && load.bytes == 8;
    if (!is_stack || load.imm < 8 || load.imm % 8 != 0) return std::nullopt;
    const auto index = static_cast<size_t>(load.imm / 8 - 1);
    return index < kWords.size() ? std::optional(kWords[index]) : std::nullopt;
}

}  // namespace

bool place_as_go_does(ProbeArgument& argument) {
    const std::vector<tr_op> ops(argument.arg.ops, argument.arg.ops + argument.arg.op_count);
    size_t count = 0;
    // A counted text has two places: its own and its length's.
    for (size_t i = 0; i < ops.size(); ++i) {
        tr_op op = ops[i];
        if (op.code == TR_OP_REG || op.code == TR_OP_INDEX) {
            auto reg = register_of(op.reg);
            if (!reg && i + 1 < ops.size()) {
                reg = register_of_loaded(op, ops[i + 1]);
                ++i;
            }
            if (!reg) {
                argument = missing_argument(std::move(argument.label));
                return false;
            }
            op.reg = *reg;
        }
        argument.arg.ops[count++] = op;
    }
    argument.arg.op_count = static_cast<uint8_t>(count);
    return true;
}

}  // namespace tracer
