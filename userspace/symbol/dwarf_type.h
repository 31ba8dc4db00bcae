// SPDX-License-Identifier: Apache-2.0
//
// Types as a program's debug information (DWARF) tells them: what is needed to read a value or to
// walk from a structure to one of its members.
#pragma once

#include "tracer/base/result.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tracer {

enum class DwarfForm : uint8_t {
    none,     // void, or a type that is only declared
    integer,  // char and wchar_t among them
    boolean,
    floating,     // 4, 8, 10 (in 16) or 16 bytes; complex numbers are `other`
    enumeration,  // an integer that has names: see enumerators_of
    pointer,      // references too
    structure,    // struct, class, union
    array,
    other,  // complex numbers, vectors, pointers to members, bit-precise integers
};

// Where a type is described: keeps the debug information open as long as it lives.
struct DwarfDie;

// Value type. Not thread-safe: types of one file share what libdw has read of it.
struct DwarfType {
    DwarfForm form = DwarfForm::none;
    uint64_t bytes = 0;
    bool is_signed = false;       // integers and enumerations
    bool points_to_text = false;  // char *, const unsigned char *, char8_t *
    bool is_reference = false;    // a pointer that C++ writes as what it leads to
    std::string name;             // "const char *", "struct request *", "int"; cut at 256 bytes
    std::shared_ptr<const DwarfDie> die;  // null for void
};

struct DwarfMember {
    std::string name;
    uint64_t offset = 0;  // in bytes from the structure's start, those of enclosing ones included
    DwarfType type;
    // A bit field: `bits` of them from bit `bit_offset` (0 is the lowest) of the `type.bytes` bytes
    // at `offset`. 0 bits: an ordinary member.
    uint32_t bits = 0;
    uint32_t bit_offset = 0;
};

struct DwarfEnumerator {
    std::string name;
    int64_t value = 0;
};

// What a pointer or reference leads to; for an array its elements. bad_input for other forms.
[[nodiscard]] Result<DwarfType> pointed_type(const DwarfType& type);

// A member by name, in base classes and in members without a name too. `type` is a structure or a
// pointer to one. not_found lists the names there are; a static member or one of a virtual base
// has no offset and is refused with the reason.
[[nodiscard]] Result<DwarfMember> find_member(const DwarfType& type, std::string_view name);

// All members in order, those of base classes and of members without a name in their places.
[[nodiscard]] Result<std::vector<DwarfMember>> members_of(const DwarfType& type);

// In order; empty for types that are no enumeration. At most 1024.
[[nodiscard]] std::vector<DwarfEnumerator> enumerators_of(const DwarfType& type);

// As it was declared: behind typedefs and qualifiers, without namespaces; empty: it has none.
[[nodiscard]] std::string own_name(const DwarfType& type);

// How many elements an array has; nullopt when its bound is not a constant.
[[nodiscard]] std::optional<uint64_t> element_count(const DwarfType& array);

}  // namespace tracer
