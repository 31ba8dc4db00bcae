// SPDX-License-Identifier: Apache-2.0
//
// Reads the "pclntab" of a Go program (Go 1.2 Runtime Symbol Information; since then
// runtime/symtab.go and cmd/link/internal/ld/pcln.go). Four forms, told apart by their first word:
//
//   0xfffffffb  1.2    0xfffffffa  1.16    0xfffffff0  1.18    0xfffffff1  1.20
//   +0  form: u32, 0: u16, instruction quantum: u8, size of a pointer: u8; then words of that size:
//       1.2   functions; their table follows at once; all offsets count from the table's begin
//       1.16  functions, files, offsets of: names, units, files, pc values, functions' table
//       1.18  functions, files, address of the code, offsets as in 1.16
//   a row of the functions' table: where it begins, offset of what is known about it; one row more
//       says where the last one ends. Addresses and words before 1.18, offsets into the code and
//       32 bits since. What is known begins with the same number, then comes the offset of its
//       name.
//
// Untrusted input. Called by SymbolTable for files without a full symbol table.
#include "symbol/go_functions.h"

#include "tracer/base/byte_cursor.h"

#include <algorithm>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>

#include <elf.h>
#include <fmt/format.h>

namespace tracer {

namespace {

// All names together, against a table whose rows all share one long name.
constexpr uint64_t kNameBytesMax = 256ull << 20;
constexpr uint64_t kPointerBytes = 8;
constexpr uint64_t kWordsAt = 8;  // behind form, quantum and size of a pointer
constexpr uint32_t kForm12 = 0xfffffffb;
constexpr uint32_t kForm116 = 0xfffffffa;
constexpr uint32_t kForm118 = 0xfffffff0;
constexpr uint32_t kForm120 = 0xfffffff1;
constexpr uint8_t kFlagAssembly = 4;

struct Function {
    std::string name;
    uint64_t vaddr = 0;
    uint64_t bytes = 0;
    std::optional<uint8_t> sort;  // number of a special function, as the runtime calls it
    uint8_t flags = 0;

    [[nodiscard]] bool is_assembly() const { return (flags & kFlagAssembly) != 0; }
};

// Where things are in one table; offsets count from its begin.
struct Layout {
    uint64_t count = 0;
    uint64_t rows = 0;
    uint64_t field_bytes = 0;  // of each of a row's two fields
    uint64_t names = 0;
    uint64_t details = 0;               // what the rows' offsets count from
    std::optional<uint64_t> sort_at;    // in a function's details
    std::optional<uint64_t> code_word;  // offset of the word with the address of the code
    uint64_t code = 0;                  // what is added to a row's first field
};

class GoTable {
public:
    explicit GoTable(std::span<const std::byte> bytes) : bytes_(bytes) {}

    // Nullopt when no table of a known form begins here.
    [[nodiscard]] std::optional<Layout> layout() const;
    [[nodiscard]] std::optional<Function> function(const Layout& layout, uint64_t index) const;

    template <typename T>
    [[nodiscard]] std::optional<T> read(uint64_t offset) const {
        if (offset > bytes_.size()) return std::nullopt;
        return ByteCursor(bytes_.subspan(offset)).read<T>();
    }

private:
    [[nodiscard]] std::optional<uint64_t> word(uint64_t index) const {
        return read<uint64_t>(kWordsAt + index * kPointerBytes);
    }
    [[nodiscard]] std::optional<uint64_t> field(const Layout& layout, uint64_t offset) const {
        if (layout.field_bytes == kPointerBytes) return read<uint64_t>(offset);
        return read<uint32_t>(offset);
    }
    [[nodiscard]] std::optional<Layout> place_words(uint32_t form) const;

    std::span<const std::byte> bytes_;
};

std::optional<Layout> GoTable::layout() const {
    const auto form = read<uint32_t>(0);
    const auto padding = read<uint16_t>(4);
    const auto quantum = read<uint8_t>(6);
    const auto pointer = read<uint8_t>(7);
    if (!pointer || *padding != 0 || *quantum != 1 || *pointer != kPointerBytes) {
        return std::nullopt;
    }
    auto layout = place_words(*form);
    if (!layout) return std::nullopt;
    const auto size = bytes_.size();
    if (layout->rows >= size || layout->names >= size || layout->count == 0) return std::nullopt;
    // The row behind the last function's is half a one.
    const uint64_t fields = (size - layout->rows) / layout->field_bytes;
    if (fields == 0 || layout->count > (fields - 1) / 2) return std::nullopt;
    return layout;
}

std::optional<Layout> GoTable::place_words(uint32_t form) const {
    Layout layout;
    const auto count = word(0);
    if (!count) return std::nullopt;
    layout.count = *count;
    if (form == kForm12) {
        layout.field_bytes = kPointerBytes;
        layout.rows = kWordsAt + kPointerBytes;
        return layout;
    }
    if (form != kForm116 && form != kForm118 && form != kForm120) return std::nullopt;
    const bool has_code_word = form != kForm116;
    const auto names = word(has_code_word ? 3 : 2);
    const auto rows = word(has_code_word ? 7 : 6);
    if (!names || !rows) return std::nullopt;
    layout.names = *names;
    layout.rows = *rows;
    layout.details = *rows;
    layout.field_bytes = has_code_word ? sizeof(uint32_t) : kPointerBytes;
    // Eight 32-bit fields stand between a function's begin and its sort; 1.20 added a ninth, the
    // line of its begin.
    layout.sort_at = layout.field_bytes + (form == kForm120 ? 9 : 8) * sizeof(uint32_t);
    if (has_code_word) layout.code_word = kWordsAt + 2 * kPointerBytes;
    return layout;
}

std::optional<Function> GoTable::function(const Layout& layout, uint64_t index) const {
    const uint64_t row = layout.rows + 2 * index * layout.field_bytes;
    const auto begin = field(layout, row);
    const auto details = field(layout, row + layout.field_bytes);
    const auto end = field(layout, row + 2 * layout.field_bytes);
    if (!begin || !details || !end || *end <= *begin) return std::nullopt;
    if (*details >= bytes_.size() - layout.details) return std::nullopt;
    const uint64_t at = layout.details + *details;
    const auto name_offset = read<uint32_t>(at + layout.field_bytes);
    if (!name_offset) return std::nullopt;
    const auto name = string_at(bytes_, layout.names + *name_offset);
    if (!name || name->empty()) return std::nullopt;
    Function function{std::string(*name), layout.code + *begin, *end - *begin, std::nullopt, 0};
    if (layout.sort_at) {
        function.sort = read<uint8_t>(at + *layout.sort_at);
        function.flags = read<uint8_t>(at + *layout.sort_at + 1).value_or(0);
    }
    return function;
}

// What the dynamic linker writes to an address of a program that can be loaded anywhere.
std::optional<uint64_t> relocated_word(const ElfFile& file, uint64_t vaddr) {
    for (const auto& section : file.sections()) {
        if (section.type != SHT_RELA) continue;
        const auto entries = file.read_section(section);
        if (!entries) continue;
        ByteCursor cursor(*entries);
        Elf64_Rela entry{};
        while (cursor.read(entry)) {
            if (entry.r_offset != vaddr || ELF64_R_TYPE(entry.r_info) != R_X86_64_RELATIVE) {
                continue;
            }
            return static_cast<uint64_t>(entry.r_addend);
        }
    }
    return std::nullopt;
}

bool is_code(const ElfFile& file, uint64_t vaddr) {
    return std::any_of(file.segments().begin(), file.segments().end(), [&](const auto& segment) {
        return segment.is_executable && vaddr >= segment.vaddr &&
               vaddr - segment.vaddr < segment.file_bytes;
    });
}

// The address that begins of functions count from. Go 1.26 leaves the word empty; where its own
// linker made the file the code is all of .text, where another did (.init is C's), nothing tells.
std::optional<uint64_t> code_address(const ElfFile& file, uint64_t word_vaddr, uint64_t word) {
    if (word != 0 && is_code(file, word)) return word;
    if (const auto relocated = relocated_word(file, word_vaddr)) {
        if (is_code(file, *relocated)) return relocated;
    }
    const auto* text = file.section(".text");
    if (text == nullptr || file.section(".init") != nullptr) return std::nullopt;
    return text->vaddr;
}

// Assembly keeps an older calling convention (1.17), and where calls cross, the linker adds a
// function of the same name that passes them on. In .symtab NAME.abi0 is what keeps the old one:
// the function itself if it is assembly, else the added one. A few functions of assembly take Go's
// own convention and are called so all the same: nothing tells them apart, and arguments must not
// be read where they are not. runtime.deferreturn is of the added ones' sort in every version,
// though the sort's number changes.
void name_by_convention(std::vector<Function>& functions) {
    std::optional<uint8_t> added;
    for (const auto& function : functions) {
        if (function.name == "runtime.deferreturn") added = function.sort;
    }
    std::vector<Function*> by_name;
    by_name.reserve(functions.size());
    for (auto& function : functions) by_name.push_back(&function);
    std::sort(by_name.begin(), by_name.end(), [](const Function* left, const Function* right) {
        return std::tie(left->name, left->vaddr) < std::tie(right->name, right->vaddr);
    });
    std::vector<Function*> renamed;
    for (size_t i = 0; i < by_name.size(); ++i) {
        auto* first = by_name[i];
        if (first->is_assembly()) renamed.push_back(first);
        if (!added || i + 1 == by_name.size()) continue;
        auto* second = by_name[i + 1];
        if (first->name != second->name || first->is_assembly()) continue;
        // What the linker adds to a package stands behind the package's own code.
        if (!second->is_assembly() && second->sort == added) renamed.push_back(second);
    }
    for (auto* function : renamed) {
        // Names without a package are assembly's own and stay.
        if (function->name.find('.') != std::string::npos) function->name += ".abi0";
    }
}

struct Found {
    uint64_t vaddr = 0;
    std::vector<std::byte> bytes;
    uint64_t begin = 0;  // of the table in `bytes`
    Layout layout;
};

// In a section of its own, or, where ld put it together with other constants, somewhere among them.
Result<std::optional<Found>> find_table(const ElfFile& file) {
    for (const std::string_view name : {".gopclntab", ".data.rel.ro.gopclntab"}) {
        const auto* section = file.section(name);
        if (section == nullptr) continue;
        TR_ASSIGN(auto bytes, file.read_section(*section));
        const auto layout = GoTable(bytes).layout();
        if (!layout) {
            return fail(
                ErrorCode::bad_input,
                fmt::format("{}: the table of Go functions is of no known form", file.name()));
        }
        return Found{section->vaddr, std::move(bytes), 0, *layout};
    }
    const auto* constants = file.section(".data.rel.ro");
    if (constants == nullptr) return std::nullopt;
    TR_ASSIGN(auto bytes, file.read_section(*constants));
    for (uint64_t begin = 0; begin < bytes.size(); begin += kPointerBytes) {
        const auto layout = GoTable(std::span(bytes).subspan(begin)).layout();
        if (layout) return Found{constants->vaddr + begin, std::move(bytes), begin, *layout};
    }
    return std::nullopt;
}

}  // namespace

Result<std::vector<FunctionSymbol>> read_go_functions(const ElfFile& file) {
    if (!file.is_native() || !file.is_go()) return std::vector<FunctionSymbol>();
    TR_ASSIGN(auto found, find_table(file));
    if (!found) return std::vector<FunctionSymbol>();
    const GoTable table(std::span(found->bytes).subspan(found->begin));
    auto& layout = found->layout;
    if (layout.code_word) {
        const auto word = table.read<uint64_t>(*layout.code_word).value_or(0);
        const auto code = code_address(file, found->vaddr + *layout.code_word, word);
        if (!code) {
            return fail(ErrorCode::bad_input,
                        fmt::format("{}: where the code of its Go functions begins is not known",
                                    file.name()));
        }
        layout.code = *code;
    }
    std::vector<Function> functions;
    uint64_t name_bytes = 0;
    for (uint64_t i = 0; i < layout.count; ++i) {
        auto function = table.function(layout, i);
        if (!function || !is_code(file, function->vaddr)) continue;
        name_bytes += function->name.size();
        if (name_bytes > kNameBytesMax) {
            return fail(
                ErrorCode::limit,
                fmt::format("{} has more names of Go functions than supported", file.name()));
        }
        functions.push_back(std::move(*function));
    }
    name_by_convention(functions);
    std::vector<FunctionSymbol> symbols;
    symbols.reserve(functions.size());
    for (auto& function : functions) {
        const auto offset = file.file_offset_of(function.vaddr);
        if (!offset) continue;
        symbols.push_back({std::move(function.name), function.vaddr, function.bytes, *offset});
    }
    return symbols;
}

}  // namespace tracer
