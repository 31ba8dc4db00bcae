// SPDX-License-Identifier: Apache-2.0
//
// Sites whose operand text is written out: every form of place in every size and sign, spread over
// probes of 0 to 12 arguments. Beside each text stands what it means, for the program to work out
// the value that a reader must see. Called by matrix_generator.
#include "generator.h"
#include "note_writer.h"

#include <array>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace tracer::test {

namespace {

struct Register {
    std::string_view r64;
    std::string_view r32;
    std::string_view r16;
    std::string_view r8;
    std::string_view r8_high;
};

// By the numbers of DWARF, which generated.h uses.
constexpr std::array<Register, 16> kRegisters{{{"rax", "eax", "ax", "al", "ah"},
                                               {"rdx", "edx", "dx", "dl", "dh"},
                                               {"rcx", "ecx", "cx", "cl", "ch"},
                                               {"rbx", "ebx", "bx", "bl", "bh"},
                                               {"rsi", "esi", "si", "sil", ""},
                                               {"rdi", "edi", "di", "dil", ""},
                                               {"rbp", "ebp", "bp", "bpl", ""},
                                               {"rsp", "esp", "sp", "spl", ""},
                                               {"r8", "r8d", "r8w", "r8b", ""},
                                               {"r9", "r9d", "r9w", "r9b", ""},
                                               {"r10", "r10d", "r10w", "r10b", ""},
                                               {"r11", "r11d", "r11w", "r11b", ""},
                                               {"r12", "r12d", "r12w", "r12b", ""},
                                               {"r13", "r13d", "r13w", "r13b", ""},
                                               {"r14", "r14d", "r14w", "r14b", ""},
                                               {"r15", "r15d", "r15w", "r15b", ""}}};
constexpr int kRsp = 7;
constexpr int kNone = -1;
constexpr std::array kIntegers = {8, -8, 4, -4, 2, -2, 1, -1};

std::string percent(int number) {
    return "%" + std::string(kRegisters[static_cast<size_t>(number)].r64);
}

// "8", "-0x10" and the like, with the number they are; the empty text is 0.
struct Displacement {
    std::string_view text;
    std::string_view number;
};

Place memory_at(const Displacement& displacement, int base, int index = kNone, int scale = 1) {
    Place place;
    place.text = std::string(displacement.text) + "(";
    if (base != kNone) place.text += percent(base);
    if (index != kNone) {
        place.text += "," + percent(index);
        // A scale of 1 may be left out.
        if (scale != 1 || base % 2 != 0) place.text += "," + std::to_string(scale);
    }
    place.text += ")";
    place.base = base;
    place.index = index;
    place.scale = scale;
    place.number = displacement.number;
    return place;
}

Place with_origin(std::string text, std::string origin, std::string number) {
    Place place;
    place.text = std::move(text);
    place.origin = std::move(origin);
    place.number = std::move(number);
    return place;
}

// Every place in every type.
std::vector<Argument> product(const std::vector<Place>& places, const std::vector<Type>& types) {
    std::vector<Argument> arguments;
    for (const auto& place : places) {
        for (const auto& type : types) arguments.push_back({type, place});
    }
    return arguments;
}

std::vector<Type> integers() {
    std::vector<Type> types;
    types.reserve(kIntegers.size());
    for (const int size : kIntegers) types.push_back({size, false});
    return types;
}

// The types in turn, for forms whose full product would be needlessly large.
std::vector<Argument> in_turn(const std::vector<Place>& places, const std::vector<Type>& types) {
    std::vector<Argument> arguments;
    arguments.reserve(places.size());
    for (const auto& place : places) {
        arguments.push_back({types[arguments.size() % types.size()], place});
    }
    return arguments;
}

Place register_place(std::string_view name, int number, int shift = 0) {
    Place place;
    place.text = "%" + std::string(name);
    place.kind = "KIND_REGISTER";
    place.base = number;
    place.shift = shift;
    return place;
}

void write_registers(NoteWriter& writer) {
    std::vector<Argument> arguments;
    for (int number = 0; number < 16; ++number) {
        const auto& names = kRegisters[static_cast<size_t>(number)];
        for (const int sign : {1, -1}) {
            arguments.push_back({{8 * sign, false}, register_place(names.r64, number)});
            arguments.push_back({{4 * sign, false}, register_place(names.r32, number)});
            arguments.push_back({{2 * sign, false}, register_place(names.r16, number)});
            arguments.push_back({{1 * sign, false}, register_place(names.r8, number)});
            // The type may be narrower than the name.
            arguments.push_back({{2 * sign, false}, register_place(names.r64, number)});
            if (names.r8_high.empty()) continue;
            arguments.push_back({{1 * sign, false}, register_place(names.r8_high, number, 8)});
        }
    }
    writer.spread({.name = "register"}, arguments);
    std::vector<Argument> floats;
    std::vector<Argument> doubles;
    for (int number = 0; number < 16; ++number) {
        const auto& names = kRegisters[static_cast<size_t>(number)];
        floats.push_back({{4, true}, register_place(number % 2 ? names.r32 : names.r64, number)});
        doubles.push_back({{8, true}, register_place(names.r64, number)});
    }
    writer.spread({.name = "register_f32", .contents = "CONTENTS_FLOATS"}, floats);
    writer.spread({.name = "register_f64", .contents = "CONTENTS_DOUBLES"}, doubles);
}

void write_memory(NoteWriter& writer) {
    const Group addresses{.name = "memory", .setup = "SETUP_ADDRESSES"};
    std::vector<Place> places;
    std::vector<Place> aligned;
    for (int base = 0; base < 16; ++base) {
        for (const auto& displacement : std::to_array<Displacement>(
                 {{"", "0"}, {"0", "0"}, {"-3", "-3"}, {"127", "127"}, {"-0x80", "-128"}})) {
            places.push_back(memory_at(displacement, base));
        }
        aligned.push_back(memory_at({"", "0"}, base));
        aligned.push_back(memory_at({"-16", "-16"}, base));
    }
    writer.spread(addresses, product(places, integers()));
    writer.spread({.name = "memory_f32", .setup = "SETUP_ADDRESSES", .contents = "CONTENTS_FLOATS"},
                  product(aligned, {{4, true}}));
    writer.spread(
        {.name = "memory_f64", .setup = "SETUP_ADDRESSES", .contents = "CONTENTS_DOUBLES"},
        product(aligned, {{8, true}}));
    // Displacements that need 32 bits.
    size_t far = 0;
    for (const std::string_view number : {"1000000", "-1000000", "2147483647", "-2147483648"}) {
        std::vector<Place> distant;
        distant.reserve(kRegisters.size());
        for (int base = 0; base < 16; ++base) distant.push_back(memory_at({number, number}, base));
        writer.spread({.name = "far" + std::to_string(far++),
                       .setup = "SETUP_ADDRESSES",
                       .bias = std::string(number) + "LL"},
                      in_turn(distant, integers()));
    }
}

void write_indexed(NoteWriter& writer) {
    for (int index = 0; index < 16; ++index) {
        if (index == kRsp) continue;  // cannot be one
        std::vector<Place> places;
        std::vector<Place> aligned;
        for (int base = 0; base < 16; ++base) {
            if (base == index) continue;
            for (const int scale : {1, 2, 4, 8}) {
                const bool is_even = (base + scale) % 3 == 0;
                places.push_back(
                    memory_at(is_even ? Displacement{"", "0"} : Displacement{"12", "12"}, base,
                              index, scale));
            }
            aligned.push_back(memory_at({"-8", "-8"}, base, index, 8));
        }
        const std::string name = "index_" + std::string(kRegisters[static_cast<size_t>(index)].r64);
        writer.spread({.name = name, .setup = "SETUP_ADDRESSES", .index = index},
                      in_turn(places, integers()));
        writer.spread({.name = name + "_f64",
                       .setup = "SETUP_ADDRESSES",
                       .contents = "CONTENTS_DOUBLES",
                       .index = index},
                      in_turn(aligned, {{8, true}}));
    }
}

// A symbol and a number in every order, with what is behind them: "(%rip)" or nothing.
std::vector<Place> symbol_sums(const std::string& behind) {
    std::vector<Place> places;
    for (const auto& [name, origin] :
         {std::pair<std::string, std::string>("generated_words", "ORIGIN_WORDS"),
          {"generated_local", "ORIGIN_LOCAL"}}) {
        places.push_back(with_origin(fmt::format("{}{}", name, behind), origin, "0"));
        places.push_back(with_origin(fmt::format("{}+24{}", name, behind), origin, "24"));
        places.push_back(with_origin(fmt::format("40+{}{}", name, behind), origin, "40"));
        places.push_back(with_origin(fmt::format("0x20+{}-8{}", name, behind), origin, "24"));
    }
    return places;
}

void write_symbols(NoteWriter& writer) {
    size_t part = 0;
    for (const std::string behind : {"(%rip)", ""}) {
        const std::string name = part++ == 0 ? "relative" : "symbol";
        const auto places = symbol_sums(behind);
        writer.spread({.name = name}, product(places, integers()));
        writer.spread({.name = name + "_f32", .contents = "CONTENTS_FLOATS"},
                      product(places, {{4, true}}));
        writer.spread({.name = name + "_f64", .contents = "CONTENTS_DOUBLES"},
                      product(places, {{8, true}}));
    }
    std::vector<Place> addresses;
    for (auto place : symbol_sums("")) {
        place.text = "$" + place.text;
        place.kind = "KIND_NUMBER";
        addresses.push_back(std::move(place));
    }
    writer.spread({.name = "address"}, product(addresses, {{8, false}, {-8, false}}));
}

// What compilers of fixed-address programs write for elements of static arrays.
void write_absolute(NoteWriter& writer) {
    std::vector<Place> places;
    for (int index = 0; index < 16; ++index) {
        for (const auto& sum : symbol_sums("")) {
            auto behind_base = memory_at({"", "0"}, index);
            auto scaled = memory_at({"", "0"}, kNone, index == kRsp ? 0 : index, 1 << index % 4);
            auto both = memory_at({"", "0"}, index, index == kRsp ? 0 : index, 2);
            for (auto* place : {&behind_base, &scaled, &both}) {
                place->text = sum.text + place->text;
                place->origin = sum.origin;
                place->number = sum.number;
                places.push_back(*place);
            }
        }
    }
    writer.spread({.name = "absolute", .setup = "SETUP_SMALL", .only_fixed = true},
                  in_turn(places, integers()));
}

void write_thread_local(NoteWriter& writer) {
    const auto tls = [](const std::string& text, const std::string& number) {
        return with_origin(text, "ORIGIN_TLS", number);
    };
    const std::vector<Place> named{
        tls("%fs:generated_tls@tpoff", "0"), tls("%fs:8+generated_tls@tpoff", "8"),
        tls("%fs:generated_tls@tpoff+16", "16"), with_origin("%fs:0", "ORIGIN_FS", "0")};
    writer.spread({.name = "thread"}, product(named, integers()));
    writer.spread({.name = "thread_f64", .contents = "CONTENTS_DOUBLES"},
                  product({named[0], named[1], named[2]}, {{8, true}}));
    std::vector<Place> based;
    std::vector<Place> indexed;
    std::vector<Place> loaded;
    for (int base = 0; base < 16; ++base) {
        based.push_back(memory_at({"", "0"}, base));
        based.push_back(memory_at({"-8", "-8"}, base));
        // %rax is the index.
        if (base != 0) indexed.push_back(memory_at({"16", "16"}, base, 0, 4));
        auto behind = memory_at({"", "0"}, base);
        behind.text = "8+generated_tls@tpoff" + behind.text;
        behind.origin = "ORIGIN_TPOFF";
        behind.number = "8";
        loaded.push_back(std::move(behind));
    }
    for (auto* places : {&based, &indexed}) {
        for (auto& place : *places) {
            place.text = "%fs:" + place.text;
            place.origin = "ORIGIN_FS";
        }
    }
    writer.spread({.name = "thread_base", .setup = "SETUP_FS_OFFSETS"}, in_turn(based, integers()));
    writer.spread({.name = "thread_index", .setup = "SETUP_FS_OFFSETS", .index = 0},
                  in_turn(indexed, integers()));
    writer.spread({.name = "thread_loaded", .setup = "SETUP_FS_BASE"}, in_turn(loaded, integers()));
}

void write_constants(NoteWriter& writer) {
    std::vector<Place> places;
    for (const std::string_view number :
         {"0", "1", "-1", "7", "-56", "127", "-128", "255", "32767", "-32768", "65535",
          "2147483647", "-2147483647", "4294967295", "-294967296", "81985529216486895",
          "-81985529216486895", "9223372036854775807"}) {
        places.push_back({.text = "$" + std::string(number),
                          .kind = "KIND_NUMBER",
                          .number = std::string(number) + "LL"});
    }
    places.push_back({.text = "$0x7f", .kind = "KIND_NUMBER", .number = "127"});
    places.push_back(
        {.text = "$-9223372036854775808", .kind = "KIND_NUMBER", .number = "INT64_MIN"});
    places.push_back({.text = "$18446744073709551615", .kind = "KIND_NUMBER", .number = "-1"});
    writer.spread({.name = "constant"}, product(places, integers()));
}

// One probe at several sites that read the same types in different forms.
void write_sites(NoteWriter& writer) {
    constexpr int kIndex = 2;
    for (size_t count = 0; count <= 12; ++count) {
        std::vector<std::vector<Argument>> sites;
        for (int site = 0; site < 4; ++site) {
            std::vector<Argument> arguments;
            for (size_t i = 0; i < count; ++i) {
                const Type type{kIntegers[i % kIntegers.size()], false};
                // Any but the index.
                const int turn = static_cast<int>((i + static_cast<size_t>(site)) % 16);
                const int base = turn == kIndex ? kIndex + 1 : turn;
                const auto relative = symbol_sums("(%rip)");
                const std::array<Place, 4> forms{memory_at({"8", "8"}, base),
                                                 relative[i % relative.size()],
                                                 Place{.text = "$" + std::to_string(i),
                                                       .kind = "KIND_NUMBER",
                                                       .number = std::to_string(i)},
                                                 memory_at({"", "0"}, base, kIndex, 4)};
                arguments.push_back({type, forms[(i + static_cast<size_t>(site)) % forms.size()]});
            }
            sites.push_back(std::move(arguments));
        }
        writer.sites(
            {.name = "sites_" + std::to_string(count), .setup = "SETUP_ADDRESSES", .index = kIndex},
            sites);
    }
}

}  // namespace

void write_notes(std::ostream& out) {
    out << kSourceHead;
    NoteWriter writer(out);
    write_registers(writer);
    write_memory(writer);
    write_indexed(writer);
    write_symbols(writer);
    write_absolute(writer);
    write_thread_local(writer);
    write_constants(writer);
    write_sites(writer);
    writer.finish();
}

}  // namespace tracer::test
