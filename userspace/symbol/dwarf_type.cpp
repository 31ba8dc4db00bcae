// SPDX-License-Identifier: Apache-2.0
//
// Types of debug information (DWARF 5, chapter 5), read by libdw. Everything it hands out is the
// file's word: chains of types may be circular and are followed a bounded number of steps. Called
// by the reader of functions, and by the compiler of probe arguments for walks through structures.
#include "symbol/dwarf_type.h"

#include "symbol/dwarf_session.h"

#include <algorithm>
#include <dwarf.h>

#include <fmt/format.h>

namespace tracer {

namespace {

constexpr size_t kNameBytesMax = 256;
constexpr size_t kEnumeratorsMax = 1024;
constexpr size_t kMembersMax = 4096;
constexpr uint64_t kPointerBytes = 8;

bool is_qualifier(int tag) {
    return tag == DW_TAG_const_type || tag == DW_TAG_volatile_type || tag == DW_TAG_restrict_type ||
           tag == DW_TAG_atomic_type || tag == DW_TAG_immutable_type;
}

bool is_structure(int tag) {
    return tag == DW_TAG_structure_type || tag == DW_TAG_class_type || tag == DW_TAG_union_type;
}

bool is_pointer(int tag) {
    return tag == DW_TAG_pointer_type || tag == DW_TAG_reference_type ||
           tag == DW_TAG_rvalue_reference_type;
}

bool follow(Dwarf_Die& die, unsigned attribute, Dwarf_Die& target) {
    Dwarf_Attribute value;
    return dwarf_attr_integrate(&die, attribute, &value) != nullptr &&
           dwarf_formref_die(&value, &target) != nullptr;
}

// Without typedefs and qualifiers; false for void and for circles.
bool peel(Dwarf_Die& die) {
    for (int i = 0; i < kDieDepthMax; ++i) {
        const int tag = dwarf_tag(&die);
        Dwarf_Die next;
        if (tag == DW_TAG_typedef || is_qualifier(tag) || tag == DW_TAG_subrange_type) {
            if (!follow(die, DW_AT_type, next)) return false;
        } else if (is_structure(tag) && has_flag(die, DW_AT_declaration) &&
                   follow(die, DW_AT_signature, next)) {
            // DWARF 4 and 5 may keep the type itself in a unit of its own.
        } else {
            return true;
        }
        die = next;
    }
    return false;
}

std::string name_of(Dwarf_Die& die, int depth);

std::string target_name(Dwarf_Die& die, int depth) {
    Dwarf_Die target;
    if (!follow(die, DW_AT_type, target)) return "void";
    return name_of(target, depth + 1);
}

std::string pointer_name(Dwarf_Die& die, std::string_view mark, int depth) {
    auto text = target_name(die, depth);
    if (!text.ends_with('*') && !text.ends_with('&')) text += ' ';
    return text.append(mark);
}

std::string tagged_name(Dwarf_Die& die, std::string_view word) {
    const auto name = die_name(die);
    if (name.empty()) return fmt::format("{} without a name", word);
    const int language = language_of(die);
    const bool is_c = language == DW_LANG_C || language == DW_LANG_C89 || language == DW_LANG_C99 ||
                      language == DW_LANG_C11;
    return is_c ? fmt::format("{} {}", word, name) : std::string(name);
}

std::string name_of(Dwarf_Die& die, int depth) {
    if (depth > kDieDepthMax) return "...";
    switch (dwarf_tag(&die)) {
        case DW_TAG_pointer_type:
            return pointer_name(die, "*", depth);
        case DW_TAG_reference_type:
            return pointer_name(die, "&", depth);
        case DW_TAG_rvalue_reference_type:
            return pointer_name(die, "&&", depth);
        case DW_TAG_const_type: {
            auto text = target_name(die, depth);
            return text.ends_with('*') ? text + "const" : "const " + text;
        }
        case DW_TAG_volatile_type:
            return "volatile " + target_name(die, depth);
        case DW_TAG_restrict_type:
        case DW_TAG_atomic_type:
        case DW_TAG_immutable_type:
            return target_name(die, depth);
        case DW_TAG_array_type:
            return target_name(die, depth) + "[]";
        case DW_TAG_subroutine_type:
            return "function";
        case DW_TAG_structure_type:
        case DW_TAG_class_type:
            return tagged_name(die, "struct");
        case DW_TAG_union_type:
            return tagged_name(die, "union");
        case DW_TAG_enumeration_type:
            return tagged_name(die, "enum");
        default:
            return std::string(die_name(die));
    }
}

void set_base(Dwarf_Die& die, DwarfType& type) {
    type.bytes = unsigned_attribute(die, DW_AT_byte_size).value_or(0);
    switch (unsigned_attribute(die, DW_AT_encoding).value_or(0)) {
        case DW_ATE_boolean:
            type.form = DwarfForm::boolean;
            break;
        case DW_ATE_float:
            type.form = DwarfForm::floating;
            break;
        case DW_ATE_signed:
        case DW_ATE_signed_char:
            type.form = DwarfForm::integer;
            type.is_signed = true;
            break;
        case DW_ATE_unsigned:
        case DW_ATE_unsigned_char:
        case DW_ATE_UTF:
        case DW_ATE_UCS:
        case DW_ATE_ASCII:
            type.form = DwarfForm::integer;
            break;
        case DW_ATE_address:
            type.form = DwarfForm::pointer;
            break;
        default:
            type.form = DwarfForm::other;
            break;
    }
}

bool points_to_text(Dwarf_Die& pointer) {
    Dwarf_Die target;
    if (!follow(pointer, DW_AT_type, target) || !peel(target)) return false;
    if (dwarf_tag(&target) != DW_TAG_base_type) return false;
    const auto encoding = unsigned_attribute(target, DW_AT_encoding).value_or(0);
    const bool is_char = encoding == DW_ATE_signed_char || encoding == DW_ATE_unsigned_char ||
                         encoding == DW_ATE_UTF;
    return is_char && unsigned_attribute(target, DW_AT_byte_size) == 1;
}

bool is_enumeration_signed(DwarfSession& session, Dwarf_Die& die) {
    Dwarf_Die underlying;
    if (follow(die, DW_AT_type, underlying) && peel(underlying)) {
        DwarfType type;
        set_base(underlying, type);
        return type.is_signed;
    }
    for (Children child(session, die); child.valid(); child.next()) {
        const auto value = signed_attribute(child.die(), DW_AT_const_value);
        if (value.value_or(0) < 0) return true;
    }
    return false;
}

uint64_t array_bytes(const DwarfType& array) {
    const auto count = element_count(array);
    const auto element = pointed_type(array);
    uint64_t bytes = 0;
    if (!count || !element || __builtin_mul_overflow(*count, element->bytes, &bytes)) return 0;
    return bytes;
}

// `die` is peeled.
void set_form(const std::shared_ptr<DwarfSession>& session, Dwarf_Die& die, DwarfType& type) {
    const int tag = dwarf_tag(&die);
    type.bytes = unsigned_attribute(die, DW_AT_byte_size).value_or(0);
    if (is_pointer(tag)) {
        type.form = DwarfForm::pointer;
        type.bytes = kPointerBytes;
        type.points_to_text = tag == DW_TAG_pointer_type && points_to_text(die);
        type.is_reference = tag != DW_TAG_pointer_type;
    } else if (is_structure(tag)) {
        type.form = has_flag(die, DW_AT_declaration) ? DwarfForm::none : DwarfForm::structure;
    } else if (tag == DW_TAG_base_type) {
        set_base(die, type);
    } else if (tag == DW_TAG_enumeration_type) {
        type.form = DwarfForm::enumeration;
        type.is_signed = is_enumeration_signed(*session, die);
    } else if (tag == DW_TAG_array_type) {
        type.form = has_flag(die, DW_AT_GNU_vector) ? DwarfForm::other : DwarfForm::array;
        if (type.bytes == 0) type.bytes = array_bytes(type);
    } else if (tag == DW_TAG_unspecified_type) {
        // decltype(nullptr); others stand for what has no value.
        const bool is_null = die_name(die).find("nullptr") != std::string_view::npos;
        type.form = is_null ? DwarfForm::pointer : DwarfForm::none;
        type.bytes = is_null ? kPointerBytes : 0;
    } else if (tag == DW_TAG_ptr_to_member_type) {
        Dwarf_Die target;
        const bool is_function = follow(die, DW_AT_type, target) && peel(target) &&
                                 dwarf_tag(&target) == DW_TAG_subroutine_type;
        type.form = DwarfForm::other;
        type.bytes = is_function ? 2 * kPointerBytes : kPointerBytes;
    } else {
        type.form = DwarfForm::other;
    }
}

DwarfType make_type(const std::shared_ptr<DwarfSession>& session, Dwarf_Die die) {
    DwarfType type;
    type.name = name_of(die, 0).substr(0, kNameBytesMax);
    if (!peel(die)) return type;
    type.die = std::make_shared<const DwarfDie>(DwarfDie{session, die});
    set_form(session, die, type);
    return type;
}

// The entry of a structure, or of the one that a pointer leads to.
Result<DwarfDie> structure_of(const DwarfType& type) {
    if (type.form == DwarfForm::structure && type.die != nullptr) return *type.die;
    if (type.form != DwarfForm::pointer) {
        return fail(ErrorCode::bad_input, fmt::format("{} is no structure", type.name));
    }
    TR_ASSIGN(const auto target, pointed_type(type));
    if (target.form == DwarfForm::structure) return *target.die;
    if (target.form == DwarfForm::none && target.die != nullptr) {
        return fail(ErrorCode::not_found,
                    fmt::format("{} is only declared in this file's debug information: its members "
                                "are not known",
                                target.name));
    }
    return fail(ErrorCode::bad_input, fmt::format("{} leads to no structure", type.name));
}

// Where a member or base class begins in its structure; nullopt when the program computes it
// (virtual bases) or there is none (static members).
std::optional<uint64_t> member_offset(Dwarf_Die& member, bool is_union) {
    Dwarf_Attribute attribute;
    if (dwarf_attr(&member, DW_AT_data_member_location, &attribute) == nullptr) {
        const bool is_static =
            has_flag(member, DW_AT_external) || has_flag(member, DW_AT_declaration);
        const bool is_bit_field = dwarf_hasattr(&member, DW_AT_data_bit_offset) != 0;
        return (is_union || is_bit_field) && !is_static ? std::optional<uint64_t>(0) : std::nullopt;
    }
    Dwarf_Word offset = 0;
    if (dwarf_formudata(&attribute, &offset) == 0) return offset;
    // DWARF 2 spells it as an expression: the structure's address, plus a constant.
    Dwarf_Op* ops = nullptr;
    size_t count = 0;
    if (dwarf_getlocation(&attribute, &ops, &count) != 0 || count != 1) return std::nullopt;
    if (ops[0].atom != DW_OP_plus_uconst) return std::nullopt;
    return ops[0].number;
}

// False: the bits do not lie in one value of the member's type.
bool set_bits(Dwarf_Die& die, DwarfMember& member) {
    const auto bits = unsigned_attribute(die, DW_AT_bit_size);
    if (!bits) return true;
    const uint64_t storage_bits = member.type.bytes * 8;
    if (storage_bits == 0 || *bits > storage_bits || *bits == 0) return false;
    uint64_t from = 0;
    if (const auto data_offset = unsigned_attribute(die, DW_AT_data_bit_offset)) {
        // DWARF 4: from the structure's start.
        member.offset += *data_offset / storage_bits * member.type.bytes;
        from = *data_offset % storage_bits;
    } else if (const auto big_end = unsigned_attribute(die, DW_AT_bit_offset)) {
        // DWARF 2: from the most significant bit of the storage.
        if (*big_end + *bits > storage_bits) return false;
        from = storage_bits - *big_end - *bits;
    }
    if (from + *bits > storage_bits) return false;
    member.bits = static_cast<uint32_t>(*bits);
    member.bit_offset = static_cast<uint32_t>(from);
    return true;
}

class MemberWalk {
public:
    explicit MemberWalk(const std::shared_ptr<DwarfSession>& session) : session_(session) {}

    void run(Dwarf_Die& structure, uint64_t offset, int depth) {
        if (depth > kDieDepthMax) return;
        const bool is_union = dwarf_tag(&structure) == DW_TAG_union_type;
        for (Children child(*session_, structure); child.valid(); child.next()) {
            auto& die = child.die();
            const int tag = dwarf_tag(&die);
            if (tag != DW_TAG_member && tag != DW_TAG_inheritance) continue;
            if (members_.size() >= kMembersMax) return;
            add(die, offset, is_union, depth);
        }
    }

    [[nodiscard]] std::vector<DwarfMember>& members() { return members_; }
    // Names of those without an offset.
    [[nodiscard]] const std::vector<std::string>& unplaced() const { return unplaced_; }

private:
    void add(Dwarf_Die& die, uint64_t offset, bool is_union, int depth) {
        DwarfMember member;
        member.name = dwarf_tag(&die) == DW_TAG_member ? die_name(die) : std::string_view();
        const auto inside = member_offset(die, is_union);
        if (!inside || __builtin_add_overflow(offset, *inside, &member.offset)) {
            if (!member.name.empty()) unplaced_.push_back(std::move(member.name));
            return;
        }
        member.type = type_of_die(session_, die);
        const bool is_open = member.name.empty() && member.type.form == DwarfForm::structure;
        if (is_open) {
            auto nested = member.type.die->die;
            run(nested, member.offset, depth + 1);
        } else if (!set_bits(die, member)) {
            unplaced_.push_back(std::move(member.name));
        } else {
            members_.push_back(std::move(member));
        }
    }

    const std::shared_ptr<DwarfSession>& session_;
    std::vector<DwarfMember> members_;
    std::vector<std::string> unplaced_;
};

}  // namespace

DwarfType type_of_die(const std::shared_ptr<DwarfSession>& session, Dwarf_Die& die) {
    Dwarf_Die target;
    if (!follow(die, DW_AT_type, target)) {
        DwarfType nothing;
        nothing.name = "void";
        return nothing;
    }
    return make_type(session, target);
}

std::string own_name(const DwarfType& type) {
    if (type.die == nullptr) return {};
    auto die = type.die->die;
    return std::string(die_name(die).substr(0, kNameBytesMax));
}

Result<DwarfType> pointed_type(const DwarfType& type) {
    const bool leads_on = type.form == DwarfForm::pointer || type.form == DwarfForm::array;
    if (!leads_on || type.die == nullptr) {
        return fail(ErrorCode::bad_input, fmt::format("{} is no pointer", type.name));
    }
    auto die = type.die->die;
    return type_of_die(type.die->session, die);
}

Result<std::vector<DwarfMember>> members_of(const DwarfType& type) {
    TR_ASSIGN(auto structure, structure_of(type));
    MemberWalk walk(structure.session);
    walk.run(structure.die, 0, 0);
    return std::move(walk.members());
}

Result<DwarfMember> find_member(const DwarfType& type, std::string_view name) {
    TR_ASSIGN(auto structure, structure_of(type));
    MemberWalk walk(structure.session);
    walk.run(structure.die, 0, 0);
    auto& members = walk.members();
    // What a class declares hides what its bases have, which stand before it.
    const auto found = std::find_if(members.rbegin(), members.rend(),
                                    [&](const DwarfMember& member) { return member.name == name; });
    if (found != members.rend()) return std::move(*found);
    if (std::find(walk.unplaced().begin(), walk.unplaced().end(), name) != walk.unplaced().end()) {
        return fail(ErrorCode::missing_feature,
                    fmt::format("{} of {} has no fixed place: it is static, of a virtual base, or "
                                "its bits are spread over two words",
                                name, type.name));
    }
    constexpr size_t kNamesMax = 12;
    std::vector<std::string_view> names;
    for (const auto& member : members) {
        if (!member.name.empty() && names.size() < kNamesMax) names.push_back(member.name);
    }
    return fail(ErrorCode::not_found, fmt::format("{} has no member '{}'", type.name, name),
                names.empty() ? "" : fmt::format("it has {}", fmt::join(names, ", ")));
}

std::vector<DwarfEnumerator> enumerators_of(const DwarfType& type) {
    std::vector<DwarfEnumerator> out;
    if (type.form != DwarfForm::enumeration || type.die == nullptr) return out;
    for (Children child(*type.die->session, type.die->die); child.valid(); child.next()) {
        if (dwarf_tag(&child.die()) != DW_TAG_enumerator || out.size() >= kEnumeratorsMax) continue;
        std::optional<int64_t> value = signed_attribute(child.die(), DW_AT_const_value);
        if (!type.is_signed) value = unsigned_attribute(child.die(), DW_AT_const_value);
        if (value) out.push_back({std::string(die_name(child.die())), *value});
    }
    return out;
}

std::optional<uint64_t> element_count(const DwarfType& array) {
    if (array.form != DwarfForm::array || array.die == nullptr) return std::nullopt;
    std::optional<uint64_t> total;
    for (Children child(*array.die->session, array.die->die); child.valid(); child.next()) {
        if (dwarf_tag(&child.die()) != DW_TAG_subrange_type) continue;
        auto count = unsigned_attribute(child.die(), DW_AT_count);
        if (!count) {
            const auto last = unsigned_attribute(child.die(), DW_AT_upper_bound);
            if (!last) return std::nullopt;
            count = *last + 1;  // an empty array's last is -1
        }
        uint64_t product = 0;
        if (__builtin_mul_overflow(total.value_or(1), *count, &product)) return std::nullopt;
        total = product;
    }
    return total;
}

}  // namespace tracer
