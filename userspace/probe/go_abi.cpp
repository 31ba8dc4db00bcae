// SPDX-License-Identifier: Apache-2.0
//
// Go's own calling convention. A string is two words (address, length), a slice three; a float
// takes none of these registers. The result's first word is in rax, as C's is. Called by
// compile_function for Go's functions.
#include "probe/go_abi.h"

#include <algorithm>
#include <array>
#include <span>

namespace tracer {

bool place_as_go_does(ProbeArgument& argument) {
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
    // A counted text has two places: its own and its length's.
    for (tr_op& op : std::span(argument.arg.ops, argument.arg.op_count)) {
        if (op.code != TR_OP_REG && op.code != TR_OP_INDEX) continue;
        const auto pair =
            std::ranges::find_if(kWords, [&](const Pair& word) { return word.system_v == op.reg; });
        if (pair == kWords.end()) {
            argument = missing_argument(std::move(argument.label));
            return false;
        }
        op.reg = pair->go;
    }
    return true;
}

}  // namespace tracer
