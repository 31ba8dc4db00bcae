// SPDX-License-Identifier: Apache-2.0
//
// Places in the operands of notes made for aarch64, as its compilers write them:
//
//   place   := ["#"] number | register | "[" base ["," offset] "]"
//   offset  := ["#"] number | index ["," extend [["#"] shift]] | ":lo12:" symbol [("+"|"-") number]
//   extend  := "lsl" | "uxtw" | "sxtw" | "sxtx"
//   number  := ["-"] digits | ["-"] "0x" digits
//
// Blanks may follow each comma. Registers by Arm ARM B1.2.1: x0-x30, w0-w30, sp, wsp, xzr, wzr.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace tracer {

constexpr uint8_t kAarch64StackPointer = 31;
constexpr uint8_t kAarch64Zero = 32;

struct Aarch64Register {
    uint8_t number = 0;  // 0 to 30, or one of the two above
    uint8_t bytes = 8;
};

enum class Aarch64PlaceKind : uint8_t { immediate, reg, memory };
enum class Aarch64Extend : uint8_t { lsl, uxtw, sxtw, sxtx };

// The view is of the text that was parsed.
struct Aarch64Place {
    Aarch64PlaceKind kind = Aarch64PlaceKind::immediate;
    int64_t number = 0;   // the immediate, the displacement, or what is added to the symbol
    Aarch64Register reg;  // the register itself, or the base
    std::optional<Aarch64Register> index;
    Aarch64Extend extend = Aarch64Extend::lsl;
    uint8_t shift = 0;
    std::string_view symbol;  // its low 12 bits are the displacement
};

// Returns why the text is no such place; empty when `place` is set. `place` must be new.
[[nodiscard]] std::string parse_aarch64_place(std::string_view text, Aarch64Place& place);

}  // namespace tracer
