// SPDX-License-Identifier: Apache-2.0
//
// The probes that packages of Debian 12 ship (data/shipped_probes.txt): each operand of each
// compiles to read operations that give the value its text means. The meaning is worked out here a
// second time, for the four forms that occur and no others.
#include "support/fake_machine.h"
#include "symbol/elf_file.h"
#include "symbol/symbol_table.h"
#include "symbol/usdt_notes.h"
#include "symbol/usdt_operand.h"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

#include <gtest/gtest.h>

namespace tracer {
namespace {

using test::FakeMachine;

struct ShippedProbe {
    std::string name;  // provider:name
    size_t sites = 0;
    bool has_semaphore = false;
    std::vector<std::string> operands;  // each different text of its sites
};

struct ShippedFile {
    std::string path;
    std::string package;
    bool is_fixed_address = false;
    std::vector<ShippedProbe> probes;

    [[nodiscard]] size_t site_count() const {
        size_t count = 0;
        for (const auto& probe : probes) count += probe.sites;
        return count;
    }
};

std::vector<std::string> words_of(const std::string& text) {
    std::istringstream stream(text);
    return {std::istream_iterator<std::string>(stream), {}};
}

// Throws on a line of another form: the data is ours.
std::vector<ShippedFile> read_shipped() {
    std::ifstream data(TRACER_TEST_DATA "/shipped_probes.txt");
    std::vector<ShippedFile> files;
    std::string line;
    while (std::getline(data, line)) {
        if (line.starts_with('#')) continue;
        const auto words = words_of(line);
        if (words.at(0) == "file") {
            files.push_back({words.at(1), words.at(2), words.at(3) == "fixed", {}});
            continue;
        }
        ShippedProbe probe{words.at(0), std::stoul(words.at(1)), words.at(2) == "s", {""}};
        for (size_t i = 3; i < words.size(); ++i) {
            if (words[i] == "|") {
                probe.operands.emplace_back();
            } else {
                auto& text = probe.operands.back();
                text += text.empty() ? words[i] : " " + words[i];
            }
        }
        files.at(files.size() - 1).probes.push_back(std::move(probe));
    }
    return files;
}

// Counted by another reader of the same files (2026-11).
struct Expected {
    std::string package;
    size_t probes;
    size_t sites;
    size_t arguments_max;
    bool has_semaphores;
};

const std::vector<Expected> kExpected{
    {"python3.11-minimal", 8, 8, 3, true},
    {"postgresql-15", 57, 71, 8, true},
    {"openjdk-17-jre-headless", 517, 531, 9, false},
    {"php8.2-cli", 11, 14, 5, true},
    {"libruby3.1", 22, 40, 4, true},
    {"libstdc++6", 3, 3, 2, false},
    {"libvirt0", 40, 41, 8, true},
    {"libvirt-daemon", 3, 9, 3, true},
    {"sssd-common", 40, 43, 4, true},
    {"libmirserver58", 32, 32, 5, false},
};

TEST(ShippedProbes, AreThoseThatWereCounted) {
    const auto files = read_shipped();
    ASSERT_EQ(files.size(), kExpected.size());
    size_t probes = 0;
    for (size_t i = 0; i < files.size(); ++i) {
        const auto& file = files[i];
        EXPECT_EQ(file.package, kExpected[i].package);
        EXPECT_EQ(file.probes.size(), kExpected[i].probes) << file.package;
        EXPECT_EQ(file.site_count(), kExpected[i].sites) << file.package;
        probes += file.probes.size();
        size_t arguments_max = 0;
        for (const auto& probe : file.probes) {
            EXPECT_EQ(probe.has_semaphore, kExpected[i].has_semaphores) << probe.name;
            EXPECT_LE(probe.operands.size(), probe.sites) << probe.name;
            for (const auto& text : probe.operands) {
                arguments_max = std::max(arguments_max, words_of(text).size());
            }
        }
        EXPECT_EQ(arguments_max, kExpected[i].arguments_max) << file.package;
    }
    EXPECT_EQ(probes, 733u);
}

// A program stopped at a site: every register differs, and memory holds what an operand means and
// nothing else of that value.
constexpr uint64_t kLocation = 0x1234560;
constexpr uint64_t kCounter = 0x9a0010;  // where every symbol is, link-time
constexpr uint64_t kMovedBy = 0x7f1122330000;

FakeMachine make_machine(bool is_fixed_address) {
    FakeMachine machine;
    for (size_t i = 0; i < machine.registers.size(); ++i) {
        machine.registers[i] = 0x8899aabbccddeeff - 0x0102030405060708 * i;
    }
    machine.registers[TR_REG_RIP] = kLocation + (is_fixed_address ? 0 : kMovedBy);
    return machine;
}

struct NamedRegister {
    tr_reg reg = TR_REG_RAX;
    std::array<std::string_view, 4> names;  // of 8, 4, 2 and 1 bytes
};

constexpr std::array<NamedRegister, 16> kRegisters{{
    {TR_REG_RAX, {"rax", "eax", "ax", "al"}},
    {TR_REG_RBX, {"rbx", "ebx", "bx", "bl"}},
    {TR_REG_RCX, {"rcx", "ecx", "cx", "cl"}},
    {TR_REG_RDX, {"rdx", "edx", "dx", "dl"}},
    {TR_REG_RSI, {"rsi", "esi", "si", "sil"}},
    {TR_REG_RDI, {"rdi", "edi", "di", "dil"}},
    {TR_REG_RBP, {"rbp", "ebp", "bp", "bpl"}},
    {TR_REG_RSP, {"rsp", "esp", "sp", "spl"}},
    {TR_REG_R8, {"r8", "r8d", "r8w", "r8b"}},
    {TR_REG_R9, {"r9", "r9d", "r9w", "r9b"}},
    {TR_REG_R10, {"r10", "r10d", "r10w", "r10b"}},
    {TR_REG_R11, {"r11", "r11d", "r11w", "r11b"}},
    {TR_REG_R12, {"r12", "r12d", "r12w", "r12b"}},
    {TR_REG_R13, {"r13", "r13d", "r13w", "r13b"}},
    {TR_REG_R14, {"r14", "r14d", "r14w", "r14b"}},
    {TR_REG_R15, {"r15", "r15d", "r15w", "r15b"}},
}};

std::optional<uint64_t> register_of(const FakeMachine& machine, std::string_view name) {
    for (const auto& known : kRegisters) {
        const auto* found = std::find(known.names.begin(), known.names.end(), name);
        if (found != known.names.end()) return machine.registers[known.reg];
    }
    return std::nullopt;
}

int64_t number_of(std::string_view text) {
    int64_t number = 0;
    std::from_chars(text.data(), text.data() + text.size(), number);
    return number;
}

// Puts a value at the address that no other has, and returns it.
uint64_t put_value(FakeMachine& machine, uint64_t address) {
    const uint64_t value = address * 0x9e3779b97f4a7c15;
    machine.store(address, value, sizeof(value));
    return value;
}

uint64_t extend(uint64_t value, unsigned bytes, bool is_signed) {
    const uint64_t low = bytes == 8 ? value : value & ((uint64_t{1} << (8 * bytes)) - 1);
    const bool is_negative = is_signed && (low >> (8 * bytes - 1)) != 0;
    return is_negative && bytes != 8 ? low | ~uint64_t{0} << (8 * bytes) : low;
}

enum class Form { reg, immediate, memory, relative };

struct Meaning {
    Form form = Form::reg;
    int size = 0;  // negative: signed
    std::optional<uint64_t> value;
};

// "N@%reg", "N@$number", "N@number(%reg)", "N@number+symbol(%rip)".
Meaning meaning_of(std::string_view text, FakeMachine& machine, bool is_fixed_address) {
    Meaning meaning;
    const auto at = text.find('@');
    meaning.size = static_cast<int>(number_of(text.substr(0, at)));
    const auto bytes = static_cast<unsigned>(std::abs(meaning.size));
    const auto place = text.substr(at + 1);
    std::optional<uint64_t> raw;
    const auto open = place.find("(%");
    if (place.starts_with('%')) {
        raw = register_of(machine, place.substr(1));
    } else if (place.starts_with('$')) {
        meaning.form = Form::immediate;
        raw = static_cast<uint64_t>(number_of(place.substr(1)));
    } else if (place.ends_with("(%rip)")) {
        meaning.form = Form::relative;
        const auto sum = place.substr(0, open);
        const auto plus = sum.find('+');
        const auto offset = plus == std::string_view::npos ? 0 : number_of(sum.substr(0, plus));
        const uint64_t address = kCounter + static_cast<uint64_t>(offset);
        raw = put_value(machine, address + (is_fixed_address ? 0 : kMovedBy));
    } else if (open != std::string_view::npos && place.ends_with(')')) {
        meaning.form = Form::memory;
        const auto base = register_of(machine, place.substr(open + 2, place.size() - open - 3));
        const auto offset = open == 0 ? 0 : number_of(place.substr(0, open));
        if (base) raw = put_value(machine, *base + static_cast<uint64_t>(offset));
    }
    if (raw) meaning.value = extend(*raw, bytes, meaning.size < 0);
    return meaning;
}

TEST(ShippedProbes, EveryOperandCompilesToTheValueItMeans) {
    std::map<Form, size_t> forms;
    std::set<std::string> relative_probes;
    size_t probes = 0;
    for (const auto& file : read_shipped()) {
        auto machine = make_machine(file.is_fixed_address);
        OperandContext context;
        context.is_fixed_address = file.is_fixed_address;
        context.location_vaddr = kLocation;
        context.address_of = [](std::string_view) { return std::optional<uint64_t>(kCounter); };
        for (const auto& probe : file.probes) {
            ++probes;
            for (const auto& text : probe.operands) {
                size_t total = 0;
                const auto operands = compile_usdt_operands(text, context, &total);
                ASSERT_EQ(operands.size(), words_of(text).size()) << probe.name;
                EXPECT_EQ(operands.size(), total) << probe.name;
                for (const auto& operand : operands) {
                    SCOPED_TRACE(probe.name + " " + operand.text);
                    const auto meaning = meaning_of(operand.text, machine, file.is_fixed_address);
                    ASSERT_TRUE(operand.is_readable()) << operand.reason;
                    ASSERT_TRUE(meaning.value);
                    EXPECT_EQ(machine.run(operand.arg), meaning.value);
                    EXPECT_EQ(operand.bytes, std::abs(meaning.size));
                    EXPECT_EQ(operand.is_signed, meaning.size < 0);
                    EXPECT_FALSE(operand.is_float);
                    ++forms[meaning.form];
                    if (meaning.form == Form::relative) relative_probes.insert(probe.name);
                }
            }
        }
    }
    EXPECT_EQ(probes, 733u);
    EXPECT_EQ(relative_probes, (std::set<std::string>{"postgresql:buffer__sync__done",
                                                      "postgresql:checkpoint__done"}));
    EXPECT_EQ(forms[Form::relative], 6u);
    EXPECT_GT(forms[Form::reg], 1000u);
    EXPECT_GT(forms[Form::memory], 100u);
    EXPECT_GT(forms[Form::immediate], 20u);
}

// The same files as installed here, whose notes an update may have made differ.
TEST(ShippedProbes, InstalledFilesHaveNoUnreadableOperand) {
    size_t installed = 0;
    for (const auto& shipped : read_shipped()) {
        if (!std::filesystem::exists(shipped.path)) continue;
        SCOPED_TRACE(shipped.path);
        ++installed;
        const auto file = ElfFile::open(shipped.path);
        ASSERT_TRUE(file) << file.error().what;
        const auto notes = read_usdt_notes(*file);
        const auto symbols = SymbolTable::load(*file);
        ASSERT_TRUE(notes && symbols);
        EXPECT_EQ(notes->malformed, 0u);
        EXPECT_EQ(file->is_fixed_address(), shipped.is_fixed_address);
        std::set<std::string> found;
        for (const auto& note : notes->notes) {
            found.insert(note.provider + ":" + note.name);
            OperandContext context;
            context.is_fixed_address = file->is_fixed_address();
            context.location_vaddr = note.location_vaddr;
            context.address_of = [&](std::string_view name) { return symbols->address_of(name); };
            for (const auto& operand : compile_usdt_operands(note.arguments, context)) {
                EXPECT_TRUE(operand.is_readable()) << operand.text << ": " << operand.reason;
            }
        }
        for (const auto& probe : shipped.probes) EXPECT_TRUE(found.contains(probe.name));
        EXPECT_EQ(notes->notes.size(), shipped.site_count());
    }
    if (installed == 0) GTEST_SKIP() << "none of the packages is installed";
}

}  // namespace
}  // namespace tracer
