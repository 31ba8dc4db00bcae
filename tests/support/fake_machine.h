// SPDX-License-Identifier: Apache-2.0
//
// Read operations (abi/probe.h) run on registers and memory of the test's own, as the kernel side
// runs them.
#pragma once

#include "tracer/abi/probe.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>

namespace tracer::test {

class FakeMachine {
public:
    std::array<uint64_t, TR_REG_COUNT> registers{};
    std::map<uint64_t, uint8_t> memory;

    void store(uint64_t address, uint64_t value, size_t bytes) {
        for (size_t i = 0; i < bytes; ++i) {
            memory[address + i] = static_cast<uint8_t>(value >> (8 * i));
        }
    }

    // An integer, or the address of a text; nullopt: memory that is not there.
    [[nodiscard]] std::optional<uint64_t> run(const tr_arg& arg) const {
        const auto result = run_ops(arg);
        if (!result) return std::nullopt;
        return extend(result->value, arg.bytes, arg.form == TR_ARG_SIGNED);
    }

    // Of a text that is counted (TR_OP_LENGTH).
    [[nodiscard]] std::optional<uint64_t> length(const tr_arg& arg) const {
        const auto result = run_ops(arg);
        if (!result || !result->length) return std::nullopt;
        return extend(*result->length, arg.length_bytes, false);
    }

    // nullopt where an address holds nothing.
    [[nodiscard]] std::optional<uint64_t> load(uint64_t address, size_t bytes) const {
        uint64_t value = 0;
        for (size_t i = 0; i < bytes; ++i) {
            const auto byte = load_byte(address + i);
            if (!byte) return std::nullopt;
            value |= static_cast<uint64_t>(*byte) << (8 * i);
        }
        return value;
    }

    // The low bytes of a value, extended to 64 bits.
    [[nodiscard]] static uint64_t extend(uint64_t value, unsigned bytes, bool is_signed) {
        const unsigned unused_bits = (64 - 8 * bytes) & 63;
        value <<= unused_bits;
        if (is_signed) return static_cast<uint64_t>(static_cast<int64_t>(value) >> unused_bits);
        return value >> unused_bits;
    }

private:
    struct Outcome {
        uint64_t value = 0;
        std::optional<uint64_t> length;
    };

    [[nodiscard]] std::optional<Outcome> run_ops(const tr_arg& arg) const {
        std::optional<uint64_t> address;
        uint64_t acc = 0;
        for (size_t i = 0; i < arg.op_count; ++i) {
            const auto& op = arg.ops[i];
            const auto imm = static_cast<uint64_t>(op.imm);
            switch (op.code) {
                case TR_OP_CONST:
                    acc = imm;
                    break;
                case TR_OP_REG:
                    acc = (registers.at(op.reg) >> op.shift) + imm;
                    break;
                case TR_OP_INDEX:
                    acc += registers.at(op.reg) << op.shift;
                    break;
                case TR_OP_LOAD: {
                    const auto loaded = load(acc + imm, op.bytes);
                    if (!loaded) return std::nullopt;
                    acc = *loaded;
                    break;
                }
                case TR_OP_ADD:
                    acc += imm;
                    break;
                case TR_OP_BITS:
                    acc <<= 64 - op.bytes - op.shift;
                    acc = op.imm != 0
                              ? static_cast<uint64_t>(static_cast<int64_t>(acc) >> (64 - op.bytes))
                              : acc >> (64 - op.bytes);
                    break;
                case TR_OP_LENGTH:
                    address = acc;
                    acc = 0;
                    break;
                default:
                    return std::nullopt;
            }
        }
        if (address) return Outcome{*address, acc};
        return Outcome{acc, std::nullopt};
    }

    [[nodiscard]] std::optional<uint8_t> load_byte(uint64_t address) const {
        const auto found = memory.find(address);
        if (found == memory.end()) return std::nullopt;
        return found->second;
    }
};

}  // namespace tracer::test
