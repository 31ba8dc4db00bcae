// SPDX-License-Identifier: Apache-2.0
//
// Linear decoding by Zydis. Called by the compiler of function probes, to refuse places inside of
// instructions, and by `tracer explain`.
#include "symbol/instructions.h"

#include <Zydis/Zydis.h>
#include <optional>

namespace tracer {

namespace {

// nullopt: `code` begins with none.
std::optional<Instruction> decode_instruction(std::span<const std::byte> code, uint64_t vaddr) {
    ZydisDecoder decoder;
    ZydisDecodedInstruction instruction;
    if (ZYAN_FAILED(ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64)) ||
        ZYAN_FAILED(ZydisDecoderDecodeInstruction(&decoder, nullptr, code.data(), code.size(),
                                                  &instruction))) {
        return std::nullopt;
    }
    return Instruction{vaddr, instruction.length};
}

}  // namespace

BoundaryCheck check_boundary(std::span<const std::byte> code, uint64_t start, uint64_t vaddr) {
    BoundaryCheck check;
    uint64_t position = start;
    // Each turn moves on by an instruction.
    while (position <= vaddr && position - start < code.size()) {
        const auto instruction = decode_instruction(code.subspan(position - start), position);
        if (!instruction) return check;
        if (vaddr - position < instruction->bytes) {
            check.state =
                vaddr == position ? BoundaryCheck::State::boundary : BoundaryCheck::State::inside;
            check.instruction = *instruction;
            return check;
        }
        position += instruction->bytes;
    }
    return check;
}

std::string instruction_text(std::span<const std::byte> code, uint64_t vaddr) {
    ZydisDisassembledInstruction instruction;
    if (ZYAN_FAILED(ZydisDisassembleATT(ZYDIS_MACHINE_MODE_LONG_64, vaddr, code.data(), code.size(),
                                        &instruction))) {
        return {};
    }
    return instruction.text;
}

}  // namespace tracer
