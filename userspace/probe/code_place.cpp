// SPDX-License-Identifier: Apache-2.0
//
// Checks places against the instructions of the function that they lie in, decoded from its start.
// Called by the compiler of function probes and by `tracer explain`.
#include "probe/code_place.h"

#include "probe/probed_instruction.h"
#include "symbol/frame_table.h"
#include "symbol/instructions.h"

#include <algorithm>
#include <charconv>

#include <fmt/format.h>

namespace tracer {

namespace {

// Longer functions exist, in generated code; decoding that much takes some milliseconds.
constexpr uint64_t kCodeBytesMax = 4 << 20;

std::string unchecked(std::string_view what, std::string_view why) {
    return fmt::format(
        "{}: cannot check that an instruction begins there ({}): elsewhere the probe breaks the "
        "program",
        what, why);
}

}  // namespace

std::optional<uint64_t> address_in_name(std::string_view name) {
    if (!name.starts_with("0x") || name.size() < 3) return std::nullopt;
    uint64_t address = 0;
    const auto* end = name.data() + name.size();
    const auto [rest, error] = std::from_chars(name.data() + 2, end, address, 16);
    if (error != std::errc{} || rest != end) return std::nullopt;
    return address;
}

std::optional<CodeFunction> function_holding(const ElfFile& file,
                                             const SymbolTable& symbols,
                                             uint64_t vaddr) {
    const auto& functions = symbols.functions();
    auto next = std::upper_bound(
        functions.begin(), functions.end(), vaddr,
        [](uint64_t address, const FunctionSymbol& symbol) { return address < symbol.vaddr; });
    if (next != functions.begin()) {
        const auto& symbol = *std::prev(next);
        // Some symbols of assembly have no size: right for their first instruction only.
        const uint64_t bytes = std::max<uint64_t>(symbol.bytes, 1);
        if (vaddr - symbol.vaddr < bytes) return CodeFunction{symbol.vaddr, bytes, &symbol};
    }
    const auto range = frame_range_at(file, vaddr);
    if (!range) return std::nullopt;
    const bool is_named = next != functions.begin() && std::prev(next)->vaddr == range->vaddr;
    return CodeFunction{range->vaddr, range->bytes, is_named ? &*std::prev(next) : nullptr};
}

BoundaryCheck check_boundary_at(const ElfFile& file,
                                const std::optional<CodeFunction>& function,
                                uint64_t vaddr) {
    BoundaryCheck check;
    if (!function) return check;
    if (vaddr == function->vaddr) {
        check.state = BoundaryCheck::State::boundary;
        return check;
    }
    const uint64_t distance = vaddr - function->vaddr;
    const auto offset = file.file_offset_of(function->vaddr);
    if (!offset || distance > kCodeBytesMax) return check;
    const uint64_t bytes = std::min(distance + kInstructionBytesMax, file.size() - *offset);
    const auto code = file.read(*offset, bytes);
    return code ? check_boundary(*code, function->vaddr, vaddr) : check;
}

Result<std::string> check_code_place(const ElfFile& file,
                                     const std::optional<CodeFunction>& function,
                                     uint64_t vaddr,
                                     std::string_view what) {
    if (!function) return unchecked(what, "no symbol and no unwind table covers it");
    const auto check = check_boundary_at(file, function, vaddr);
    switch (check.state) {
        case BoundaryCheck::State::boundary:
            return std::string();
        case BoundaryCheck::State::unknown:
            return unchecked(what, vaddr - function->vaddr > kCodeBytesMax
                                       ? "its function is too long"
                                       : "its function holds bytes that are no instruction");
        case BoundaryCheck::State::inside:
            break;
    }
    const auto& instruction = check.instruction;
    const auto offset = file.file_offset_of(instruction.vaddr);
    std::vector<std::byte> code;
    if (offset) {
        TR_ASSIGN(code, file.read(*offset, instruction.bytes));
    }
    const uint64_t before = instruction.vaddr - function->vaddr;
    const uint64_t behind = before + instruction.bytes;
    const auto name = [&](uint64_t from_start) {
        return function->symbol == nullptr
                   ? fmt::format("{:#x}", function->vaddr + from_start)
                   : fmt::format("{}+{:#x}", function->symbol->name, from_start);
    };
    return fail(
        ErrorCode::usage,
        fmt::format("{} is inside of the instruction \"{}\" at {}", what,
                    instruction_text(code, instruction.vaddr), name(before)),
        fmt::format("the nearest instructions begin at {} and {}", name(before), name(behind)));
}

}  // namespace tracer
