// SPDX-License-Identifier: Apache-2.0
//
// From an address to the function's entry in the debug information and its parameters. Optimised
// code says by itself where each parameter is at the first instruction; other code says only where
// its own prologue will put them, and then the calling convention tells. Called by the compiler of
// function probes.
#include "symbol/dwarf_function.h"

#include "symbol/calling_convention.h"
#include "symbol/dwarf_location.h"
#include "symbol/dwarf_session.h"

#include <algorithm>
#include <dwarf.h>
#include <optional>

#include <fmt/format.h>

namespace tracer {

namespace {

constexpr size_t kParametersMax = 256;

bool is_scope(int tag) {
    return tag == DW_TAG_namespace || tag == DW_TAG_structure_type || tag == DW_TAG_class_type ||
           tag == DW_TAG_union_type || tag == DW_TAG_enumeration_type || tag == DW_TAG_module ||
           tag == DW_TAG_subprogram || tag == DW_TAG_lexical_block;
}

// Of a function that is split (gcc puts what is rarely run, exceptions above all, into a part of
// its own) there are only ranges, of which the first begins with the entry (DWARF 5, 2.18). libdw
// knows no entry then.
std::optional<Dwarf_Addr> entry_of(Dwarf_Die& function) {
    Dwarf_Addr entry = 0;
    if (dwarf_entrypc(&function, &entry) == 0) return entry;
    Dwarf_Addr base = 0;
    Dwarf_Addr end = 0;
    if (dwarf_ranges(&function, 0, &base, &entry, &end) <= 0) return std::nullopt;
    return entry;
}

// Notes every function below `parent` by its first address: functions may be nested in each other.
void index_functions(DwarfSession& session, const Dwarf_Die& parent, int depth) {
    if (depth > kDieDepthMax) return;
    for (Children child(session, parent); child.valid(); child.next()) {
        const int tag = dwarf_tag(&child.die());
        if (!is_scope(tag)) continue;
        if (tag == DW_TAG_subprogram) {
            const auto entry = entry_of(child.die());
            if (entry) session.functions.try_emplace(*entry, child.die());
        }
        index_functions(session, child.die(), depth + 1);
    }
}

void index_unit(DwarfSession& session, Dwarf_Die& unit) {
    if (!session.indexed_units.insert(dwarf_dieoffset(&unit)).second) return;
    index_functions(session, unit, 0);
}

// The unit that has code at the address: by the table of addresses, or (clang makes none unless
// asked) by what the units say of themselves.
bool index_unit_of(DwarfSession& session, uint64_t address) {
    Dwarf_Die unit;
    if (dwarf_addrdie(session.dwarf, address, &unit) != nullptr) {
        index_unit(session, unit);
        return true;
    }
    Dwarf_CU* previous = nullptr;
    Dwarf_CU* current = nullptr;
    uint8_t unit_type = 0;
    bool has_found = false;
    while (session.steps_left > 0 && dwarf_get_units(session.dwarf, previous, &current, nullptr,
                                                     &unit_type, &unit, nullptr) == 0) {
        --session.steps_left;
        previous = current;
        if (dwarf_haspc(&unit, address) <= 0) continue;
        index_unit(session, unit);
        has_found = true;
    }
    return has_found;
}

// Does the unit with code at the address only name another file that describes it (DWARF 5, 3.1.2)?
bool is_in_split_unit(DwarfSession& session, uint64_t address) {
    Dwarf_Die unit;
    if (dwarf_addrdie(session.dwarf, address, &unit) == nullptr) return false;
    return dwarf_hasattr(&unit, DW_AT_dwo_name) != 0 ||
           dwarf_hasattr(&unit, DW_AT_GNU_dwo_name) != 0;
}

enum class Convention : uint8_t {
    c,             // System V ABI for every type
    scalars_only,  // as C up to the first parameter that is no scalar
    unknown,
};

Convention convention_of(int language) {
    switch (language) {
        case DW_LANG_C:
        case DW_LANG_C89:
        case DW_LANG_C99:
        case DW_LANG_C11:
        case DW_LANG_C_plus_plus:
        case DW_LANG_C_plus_plus_03:
        case DW_LANG_C_plus_plus_11:
        case DW_LANG_C_plus_plus_14:
        case 0x2b:  // C++17 and C++20, and C17: newer than this libdw
        case 0x2c:
        case 0x2d:
        case DW_LANG_ObjC:
        case DW_LANG_ObjC_plus_plus:
        case DW_LANG_Mips_Assembler:
            return Convention::c;
        case DW_LANG_Go:  // registers of its own
            return Convention::unknown;
        default:
            return Convention::scalars_only;
    }
}

bool is_scalar(const DwarfType& type) {
    switch (type.form) {
        case DwarfForm::integer:
        case DwarfForm::boolean:
        case DwarfForm::floating:
        case DwarfForm::enumeration:
        case DwarfForm::pointer:
            return type.bytes <= 8;
        case DwarfForm::none:
        case DwarfForm::structure:
        case DwarfForm::array:
        case DwarfForm::other:
            return false;
    }
    return false;
}

class FunctionReader {
public:
    FunctionReader(const std::shared_ptr<DwarfSession>& session, Dwarf_Die& die, uint64_t entry)
        : session_(session),
          die_(die),
          entry_(entry),
          convention_(convention_of(language_of(die))) {}

    FunctionArguments run() {
        FunctionArguments out;
        out.name = die_name(die_);
        out.return_type = type_of_die(session_, die_);
        const auto returned = classify_value(out.return_type);
        set_return_place(out, returned);
        ArgumentPlaces places(returned);
        can_count_ = convention_ == Convention::c ||
                     (convention_ == Convention::scalars_only &&
                      (is_void(out.return_type) || is_scalar(out.return_type)));
        for (Children child(*session_, die_); child.valid(); child.next()) {
            const int tag = dwarf_tag(&child.die());
            if (tag == DW_TAG_unspecified_parameters) out.is_variadic = true;
            if (tag != DW_TAG_formal_parameter) continue;
            if (out.parameters.size() == kParametersMax) break;
            out.parameters.push_back(read_parameter(child.die(), places));
        }
        return out;
    }

private:
    static bool is_void(const DwarfType& type) {
        return type.form == DwarfForm::none && type.die == nullptr;
    }

    void set_return_place(FunctionArguments& out, const ValueClass& returned) const {
        if (is_void(out.return_type)) {
            out.return_place.reason = "the function returns nothing";
        } else if (convention_ == Convention::c || is_scalar(out.return_type)) {
            out.return_place = place_of_return(returned);
        } else {
            out.return_place.reason = "how its language returns such a value is not known";
        }
    }

    FunctionParameter read_parameter(Dwarf_Die& die, ArgumentPlaces& places) {
        FunctionParameter parameter;
        parameter.name = die_name(die);
        parameter.type = type_of_die(session_, die);
        parameter.is_artificial = has_flag(die, DW_AT_artificial);
        auto location = locate_at_entry(die_, die, entry_, parameter.type.bytes);
        const bool is_passed =
            location.state != EntryLocation::not_told && location.place.kind != PlaceKind::constant;
        // What is not passed takes no place from those behind it.
        if (!is_passed) {
            parameter.place = std::move(location.place);
            return parameter;
        }
        if (convention_ == Convention::scalars_only && !is_scalar(parameter.type)) {
            can_count_ = false;
        }
        auto place = places.next(classify_value(parameter.type));
        if (location.state == EntryLocation::told) {
            parameter.place = std::move(location.place);
        } else if (can_count_) {
            parameter.place = std::move(place);
        } else {
            parameter.place.reason = "how its language passes it is not known";
        }
        return parameter;
    }

    const std::shared_ptr<DwarfSession>& session_;
    Dwarf_Die& die_;
    uint64_t entry_;
    Convention convention_;
    bool can_count_ = true;  // places by the calling convention are right so far
};

}  // namespace

const FunctionParameter* FunctionArguments::find(std::string_view parameter) const {
    const auto found =
        std::find_if(parameters.begin(), parameters.end(),
                     [&](const FunctionParameter& each) { return each.name == parameter; });
    return found == parameters.end() ? nullptr : &*found;
}

Result<FunctionArguments> DwarfInfo::function_at(uint64_t address) const {
    auto& session = *session_;
    auto found = session.functions.find(address);
    if (found == session.functions.end() && index_unit_of(session, address)) {
        found = session.functions.find(address);
    }
    if (session.steps_left == 0) {
        return fail(ErrorCode::limit,
                    fmt::format("debug information of {} is larger than supported, or runs in "
                                "circles",
                                session.name));
    }
    if (found == session.functions.end() && is_in_split_unit(session, address)) {
        return fail(ErrorCode::missing_feature,
                    fmt::format("the debug information of the function at {:#x} of {} is in a .dwo "
                                "file, which is not read",
                                address, session.name),
                    "build without -gsplit-dwarf, or use arg0, arg1, ... and *(arg0+8)");
    }
    if (found == session.functions.end()) {
        return fail(ErrorCode::not_found,
                    fmt::format("debug information of {} knows no function that begins at {:#x}",
                                session.name, address),
                    "its source was built without -g");
    }
    auto die = found->second;
    return FunctionReader(session_, die, address).run();
}

}  // namespace tracer
