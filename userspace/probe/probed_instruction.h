// SPDX-License-Identifier: Apache-2.0
//
// What the kernel makes of the instruction that a probe replaces: it runs it somewhere else or
// plays it by itself, and with some of them the program then goes wrong.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string_view>

namespace tracer {

// As many bytes as an instruction may have.
inline constexpr size_t kInstructionBytesMax = 15;

// `code`: the bytes from the instruction on, at most kInstructionBytesMax of them needed. What it
// is, as the end of "an instruction that is ...", when a probe on it would harm the program;
// empty: it would not.
[[nodiscard]] std::string_view harm_of_probe(std::span<const std::byte> code);

// Whether the kernel refuses it, or did so once: no harm, but its link fails.
[[nodiscard]] bool is_refused_by_kernel(std::span<const std::byte> code);

// How many bytes further a probe does no harm, for an instruction that harm_of_probe() names;
// nullopt when that is not the very next instruction, or is not known.
[[nodiscard]] std::optional<size_t> bytes_to_harmless(std::span<const std::byte> code);

}  // namespace tracer
