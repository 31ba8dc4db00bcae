// SPDX-License-Identifier: Apache-2.0
//
// What tracer/usdt.h leaves in a program, read back from programs compiled in every way that
// changes it. USDT_VARIANTS comes from CMake: "name:name:...", C++ ones begin with "usdt_cxx".
#include "note_reader.h"
#include "support/fixtures/child_process.h"
#include "support/fixtures/target_program.h"
#include "support/fixtures/temp_folder.h"

#include <algorithm>
#include <array>
#include <map>
#include <regex>
#include <set>
#include <sstream>

#include <gtest/gtest.h>

namespace tracer::test {
namespace {

constexpr Milliseconds kLimit{20000};

struct Expected {
    std::string sizes;  // what stands before each @
    bool semaphore = false;
    size_t sites = 1;
};

// By probe. The sizes of several sites are separated by " | ", in any order.
std::map<std::string, Expected> expected_in_c() {
    return {
        {"integers", {"-1 -1 1 -2 2 -4 4 -8 8 -8 8 1"}},
        {"fixed_widths", {"-1 1 -2 2 -4 4 -8 8 8 -8 -4"}},
        {"pointers", {"8 8 8 8 8 8 8 8 8 8"}},
        {"floats", {"4f 8f"}},
        {"enumerations", {"4 -4"}},
        {"constants", {"-4 -4 4 -8 8 -4 -4 -1"}},
        {"expressions", {"-4 -4 -2 1 -4 -4 -2 -2 8"}},
        {"twelve", {"-8 -4 -8 -4 -8 -4 -8 -4 -8 -4 -8 -4"}},
        {"none", {""}},
        {"with__two__underscores", {"-4"}},
        {"counted", {"-4", true}},
        {"counted_many", {" | -4 -4", true, 2}},
        {"dtrace_0", {""}},
        {"dtrace_2", {"-4 8"}},
        {"stap_0", {""}},
        {"stap_v", {"-4 8"}},
        {"stap_12", {"-4 8 -4 8 -4 8 -4 8 -4 8 -4 8"}},
    };
}

// C++ has a type of its own for characters, truth and comparisons where C has int.
std::map<std::string, Expected> expected_in_cxx() {
    auto all = expected_in_c();
    all["constants"] = {"-4 -4 4 -8 8 -1 1 -1"};
    all["expressions"] = {"-4 1 -2 1 -4 -4 -2 -2 8"};
    all["cxx_types"] = {"1 -8 -4 8 8 8 2 4"};
    all["in_namespace"] = {"1", true};
    all["in_two_files"] = {"-4"};
    all["in_template"] = {"-2 | 8", false, 2};
    return all;
}

std::string sizes_of(const std::string& arguments) {
    static const std::regex form("([-0-9f]+)@([^ ]+)( |$)");
    std::string sizes;
    size_t matched = 0;
    for (std::sregex_iterator it(arguments.begin(), arguments.end(), form), end; it != end; ++it) {
        sizes += (sizes.empty() ? "" : " ") + (*it)[1].str();
        matched += static_cast<size_t>(it->length());
        EXPECT_EQ((*it)[2].str().find("xmm"), std::string::npos) << arguments;
    }
    EXPECT_EQ(matched, arguments.size()) << "not size@operand: " << arguments;
    return sizes;
}

std::vector<UsdtNote> notes_of(const std::string& path) {
    const auto text = read_file(path);
    if (!text) {
        ADD_FAILURE() << text.error().what;
        return {};
    }
    auto notes = read_usdt_notes(std::as_bytes(std::span(*text)));
    if (!notes) {
        ADD_FAILURE() << notes.error().what;
        return {};
    }
    std::erase_if(*notes, [](const UsdtNote& note) { return note.provider != "sites"; });
    return *notes;
}

std::vector<std::string> variants() {
    std::vector<std::string> names;
    std::stringstream all(USDT_VARIANTS);
    for (std::string name; std::getline(all, name, ':');) {
        names.push_back(name);
    }
    return names;
}

class Usdt : public testing::TestWithParam<std::string> {};

TEST_P(Usdt, NotesNameEveryProbeWithTheSizesOfItsArguments) {
    const bool cxx = GetParam().starts_with("usdt_cxx");
    std::map<std::string, std::vector<std::string>> found;
    for (const UsdtNote& note : notes_of(target_path(GetParam()))) {
        found[note.name].push_back(sizes_of(note.arguments));
    }
    // A compiler may make several ways out of a scope, each with its end.
    for (const char* name : {"span__begin", "span__end"}) {
        EXPECT_GE(found[name].size(), 3u) << name;
        for (const std::string& sizes : found[name]) EXPECT_EQ(sizes, "8 8") << name;
        found.erase(name);
    }
    for (const auto& [name, expected] : cxx ? expected_in_cxx() : expected_in_c()) {
        std::vector<std::string> sizes = found[name];
        std::sort(sizes.begin(), sizes.end());
        std::string joined;
        for (const std::string& site : sizes) {
            joined += (&site == &sizes.front() ? "" : " | ") + site;
        }
        EXPECT_EQ(joined, expected.sizes) << name;
        EXPECT_EQ(sizes.size(), expected.sites) << name;
        found.erase(name);
    }
    EXPECT_TRUE(found.empty()) << found.begin()->first;
}

TEST_P(Usdt, EverySiteIsAOneByteNopInCode) {
    for (const UsdtNote& note : notes_of(target_path(GetParam()))) {
        EXPECT_EQ(note.instruction, 0x90) << note.name;
        EXPECT_TRUE(note.site_section.starts_with(".text")) << note.name << note.site_section;
        EXPECT_EQ(note.base_section, ".stapsdt.base") << note.name;
    }
}

TEST_P(Usdt, SemaphoresHaveBytesInTheFile) {
    const bool cxx = GetParam().starts_with("usdt_cxx");
    const auto expected = cxx ? expected_in_cxx() : expected_in_c();
    std::map<std::string, uint64_t> addresses;
    for (const UsdtNote& note : notes_of(target_path(GetParam()))) {
        if (note.name.starts_with("span__") || !expected.at(note.name).semaphore) {
            EXPECT_EQ(note.semaphore, 0u) << note.name;
            continue;
        }
        EXPECT_EQ(note.semaphore_section, ".probes") << note.name;
        EXPECT_TRUE(note.semaphore_in_file) << note.name;
        // All sites of a probe share one, which no other probe has.
        EXPECT_EQ(addresses.emplace(note.name, note.semaphore).first->second, note.semaphore);
    }
    EXPECT_NE(addresses["counted"], addresses["counted_many"]);
}

TEST_P(Usdt, ProgramRunsWithNobodyAttached) {
    const auto output = run_program({target_path(GetParam())}, kLimit);
    EXPECT_TRUE(output) << output.error().what;
}

TEST_P(Usdt, NotesSurviveStrip) {
    const auto folder = TempFolder::make();
    ASSERT_TRUE(folder);
    const std::string stripped = folder->file("stripped");
    ASSERT_TRUE(run_program({"strip", "-o", stripped, target_path(GetParam())}, kLimit));
    EXPECT_EQ(notes_of(stripped).size(), notes_of(target_path(GetParam())).size());
}

INSTANTIATE_TEST_SUITE_P(Compiled, Usdt, testing::ValuesIn(variants()), [](const auto& variant) {
    return variant.param;
});

// The same source with the header of systemtap and with ours: names, sizes and semaphores.
TEST(UsdtCompatible, NotesAreThoseOfSysSdt) {
    const std::string theirs = USDT_SYS_SDT_VARIANTS;
    if (theirs.empty()) GTEST_SKIP() << "no <sys/sdt.h> (package systemtap-sdt-dev)";
    std::stringstream languages(theirs);
    for (std::string language; std::getline(languages, language, ':');) {
        std::array<std::multiset<std::string>, 2> texts;
        for (size_t i = 0; i < texts.size(); ++i) {
            std::string program = i == 0 ? "usdt_sys_" : "usdt_ours_";
            program.append(language);
            for (const auto& note : notes_of(target_path(program))) {
                std::string text = note.name;
                text.append("(").append(sizes_of(note.arguments));
                texts[i].insert(text.append(note.semaphore == 0 ? ")" : ") counted"));
                EXPECT_EQ(note.instruction, 0x90) << note.name;
            }
        }
        EXPECT_EQ(texts[0].size(), 14u) << language;
        EXPECT_EQ(texts[0], texts[1]) << language;
    }
}

TEST(UsdtNoteReader, RefusesFilesCutAnywhere) {
    const auto text = read_file(target_path(variants().front()));
    ASSERT_TRUE(text);
    const auto whole = std::as_bytes(std::span(*text));
    ASSERT_TRUE(read_usdt_notes(whole));
    for (size_t bytes = 0; bytes < whole.size(); bytes += 97) {
        EXPECT_FALSE(read_usdt_notes(whole.first(bytes))) << bytes;
    }
}

}  // namespace
}  // namespace tracer::test
