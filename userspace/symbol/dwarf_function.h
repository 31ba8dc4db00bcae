// SPDX-License-Identifier: Apache-2.0
//
// The parameters of a function, by name: their types, and where each lies at the function's first
// instruction. For probes whose text names arguments as the source does (arg:name).
#pragma once

#include "symbol/debug_file.h"
#include "symbol/dwarf_type.h"
#include "symbol/elf_file.h"
#include "tracer/abi/probe.h"
#include "tracer/base/result.h"

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tracer {

enum class PlaceKind : uint8_t {
    none,       // `reason` says why
    registers,  // eightbyte i of the value is in registers[i]
    stack,      // the value is in memory at rsp + stack_offset
    constant,   // the compiler knew the value and passes nothing
};

// Where a parameter lies at the function's first instruction, before it has run.
struct ParameterPlace {
    PlaceKind kind = PlaceKind::none;
    // Of a value of at most 8 bytes the second is unset. A half that is in a vector register, which
    // a probe cannot read, is unset too (System V ABI for x86-64, 3.2.3).
    std::array<std::optional<tr_reg>, 2> registers;
    int64_t stack_offset = 0;  // from rsp as it is at the entry: 8 is the first behind the return
                               // address
    // The place holds the value's address, not the value: C++ types with a copy constructor or
    // destructor of their own, and large ones of other languages.
    bool is_indirect = false;
    int64_t constant = 0;
    std::string reason;
};

struct FunctionParameter {
    std::string name;  // empty: the source gives none
    DwarfType type;
    ParameterPlace place;
    bool is_artificial = false;  // `this`, and what else the compiler added
};

struct FunctionArguments {
    std::string name;  // as the source calls it, without namespace
    std::vector<FunctionParameter> parameters;
    bool is_variadic = false;  // further ones follow, of which nothing is known
    DwarfType return_type;     // form none: void
    // Where the value is when the function returns; PlaceKind::none with a reason for void and for
    // vector registers, registers with is_indirect (rax) for values in memory.
    ParameterPlace return_place;

    // nullptr: there is none of that name.
    [[nodiscard]] const FunctionParameter* find(std::string_view parameter) const;
};

// The debug information of one file, from itself or from its separate debug file: open once, ask
// often. Not thread-safe.
class DwarfInfo {
public:
    // not_found, with the cure as hint, when neither the file nor a debug file has any.
    [[nodiscard]] static Result<DwarfInfo> open(const ElfFile& file,
                                                const DebugFileSearch& search = {});

    DwarfInfo(DwarfInfo&&) noexcept;
    DwarfInfo& operator=(DwarfInfo&&) noexcept;
    DwarfInfo(const DwarfInfo&) = delete;
    DwarfInfo& operator=(const DwarfInfo&) = delete;
    ~DwarfInfo();

    // Of the function whose first instruction is at link-time `address` (FunctionSymbol::vaddr).
    [[nodiscard]] Result<FunctionArguments> function_at(uint64_t address) const;

    struct Session;  // libdw's state; shared with the types that were handed out

private:
    explicit DwarfInfo(std::shared_ptr<Session> session);
    std::shared_ptr<Session> session_;
};

}  // namespace tracer
