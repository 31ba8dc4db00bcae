// SPDX-License-Identifier: Apache-2.0
//
// Programs stripped by objcopy as distributions do it, and debug files that do not belong to them.
#include "symbol/debug_file.h"

#include "symbol/debuginfod.h"
#include "symbol/dwarf_function.h"
#include "symbol/symbol_table.h"
#include "unit/symbol/elf_builder.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tracer {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr auto kSource = TRACER_TEST_PROGRAMS "/dwarf_c_gcc_o2";

void run(const std::string& command) {
    ASSERT_EQ(std::system(command.c_str()), 0) << command;
}

class DebugFiles : public ::testing::Test {
protected:
    void SetUp() override {
        root = folder.path();
        program = root + "/bin/app";
        debug = root + "/app.debug";
        fs::create_directories(root + "/bin");
        search.folder = root + "/debug";
        run(std::string("objcopy --only-keep-debug ") + kSource + " " + debug);
        run(std::string("objcopy --strip-all --add-gnu-debuglink=") + debug + " " + kSource + " " +
            program);
    }

    // Without it, only the CRC tells.
    void remove_build_ids() {
        for (const auto& file : {debug, program}) {
            run("objcopy --remove-section .note.gnu.build-id " + file);
        }
        run("objcopy --remove-section .gnu_debuglink " + program);
        run("objcopy --add-gnu-debuglink=" + debug + " " + program);
    }

    void put(const std::string& path) {
        fs::create_directories(fs::path(path).parent_path());
        fs::copy_file(debug, path, fs::copy_options::overwrite_existing);
    }

    std::string path_by_build_id() {
        const auto id = ElfFile::open(program)->build_id();
        return search.folder + "/.build-id/" + id.substr(0, 2) + "/" + id.substr(2) + ".debug";
    }

    DebugFile find() { return find_debug_file(*ElfFile::open(program), search); }

    // Whether functions are known, each at its place in the program.
    bool has_names() {
        const auto elf = ElfFile::open(program);
        const auto whole = SymbolTable::load(*ElfFile::open(kSource));
        const auto table = SymbolTable::load(*elf, search);
        if (!table || table->functions().empty()) return false;
        for (const auto& function : table->functions()) {
            if (whole->address_of(function.name) != function.vaddr) return false;
            if (elf->file_offset_of(function.vaddr) != function.file_offset) return false;
        }
        return table->address_of("c_many").has_value();
    }

    test::TemporaryFolder folder;
    std::string root;
    std::string program;
    std::string debug;
    DebugFileSearch search;
};

TEST_F(DebugFiles, NothingIsFoundWhereNothingIs) {
    const auto found = find();
    EXPECT_FALSE(found.file);
    EXPECT_THAT(found.refused, IsEmpty());
    EXPECT_FALSE(has_names());
}

TEST_F(DebugFiles, FoundByBuildId) {
    put(path_by_build_id());
    EXPECT_EQ(find().file->name(), path_by_build_id());
    EXPECT_TRUE(has_names());
}

TEST_F(DebugFiles, FoundByLinkInEachOfItsFolders) {
    remove_build_ids();
    for (const auto& place : {root + "/bin/app.debug", root + "/bin/.debug/app.debug",
                              search.folder + root + "/bin/app.debug"}) {
        put(place);
        const auto found = find();
        ASSERT_TRUE(found.file) << place;
        EXPECT_EQ(found.file->name(), place);
        EXPECT_TRUE(has_names()) << place;
        fs::remove(place);
    }
}

TEST_F(DebugFiles, DebugInformationComesFromTheSeparateFile) {
    put(path_by_build_id());
    const auto elf = ElfFile::open(program);
    const auto address = SymbolTable::load(*elf, search)->address_of("c_many");
    ASSERT_TRUE(address);
    const auto info = DwarfInfo::open(*elf, search);
    ASSERT_TRUE(info) << info.error().what;
    const auto arguments = info->function_at(*address);
    ASSERT_TRUE(arguments) << arguments.error().what;
    EXPECT_EQ(arguments->parameters.size(), 8u);
}

TEST_F(DebugFiles, OneWithAnotherCrcIsRefused) {
    remove_build_ids();
    put(root + "/bin/app.debug");
    std::ofstream(root + "/bin/app.debug", std::ios::app) << 'x';
    const auto found = find();
    EXPECT_FALSE(found.file);
    EXPECT_THAT(found.refused, ElementsAre(HasSubstr("its CRC is not")));
    EXPECT_FALSE(has_names());
    const auto table = SymbolTable::load(*ElfFile::open(program), search);
    EXPECT_EQ(table->remarks(), found.refused);
}

TEST_F(DebugFiles, OneWithAnotherBuildIdIsRefused) {
    fs::create_directories(fs::path(path_by_build_id()).parent_path());
    fs::copy_file(TRACER_TEST_PROGRAMS "/dwarf_c_gcc_o0", path_by_build_id());
    const auto found = find();
    EXPECT_FALSE(found.file);
    EXPECT_THAT(found.refused, ElementsAre(HasSubstr("its build-id is another's")));
    const auto info = DwarfInfo::open(*ElfFile::open(program), search);
    ASSERT_FALSE(info);
    EXPECT_THAT(info.error().what, HasSubstr("build-id is another's"));
}

TEST_F(DebugFiles, OneOfAPrelinkedProgramIsRefused) {
    run("objcopy --change-section-address .text+0x10000 " + debug + " 2>/dev/null");
    put(path_by_build_id());
    const auto found = find();
    EXPECT_FALSE(found.file);
    EXPECT_THAT(found.refused, ElementsAre(HasSubstr("prelinked?")));
}

TEST_F(DebugFiles, ALinkLeadsToNoOtherFolder) {
    remove_build_ids();
    put(root + "/app.debug.elsewhere");
    for (const std::string name : {"../app.debug", "/app.debug", "..", ""}) {
        std::string content = name;
        content.resize((name.size() + 4) / 4 * 4);
        content += std::string("\1\2\3\4", 4);
        std::ofstream(root + "/link") << content;
        run("objcopy --remove-section .gnu_debuglink " + program);
        run("objcopy --add-section .gnu_debuglink=" + root + "/link " + program);
        const auto found = find();
        EXPECT_FALSE(found.file) << name;
        EXPECT_THAT(found.refused, IsEmpty()) << name;
    }
}

TEST_F(DebugFiles, ALinkThatIsCutIsNone) {
    for (const std::string& content :
         {std::string("app.debug"), std::string("app.debug\0\0\0\1\2", 14)}) {
        std::ofstream(root + "/link") << content;
        run("objcopy --remove-section .gnu_debuglink " + program);
        run("objcopy --add-section .gnu_debuglink=" + root + "/link " + program);
        put(root + "/bin/app.debug");
        EXPECT_FALSE(find().file);
    }
}

TEST_F(DebugFiles, NamesMayBeInTheProgramUnderXz) {
    if (std::system("xz --version >/dev/null 2>&1") != 0) GTEST_SKIP() << "xz is not installed";
    const std::string pack = root + "/mini";
    run("objcopy --strip-debug " + std::string(kSource) + " " + pack + " && xz -k " + pack);
    run("objcopy --add-section .gnu_debugdata=" + pack + ".xz " + program);
    EXPECT_TRUE(has_names());
    // Cut short, it is none.
    run("head -c 300 " + pack + ".xz >" + pack + ".cut");
    run("objcopy --update-section .gnu_debugdata=" + pack + ".cut " + program);
    EXPECT_FALSE(has_names());
}

TEST_F(DebugFiles, CrcIsThatOfGnu) {
    const std::string text = "123456789";
    std::vector<std::byte> bytes;
    for (const char c : text) bytes.push_back(static_cast<std::byte>(c));
    const auto crc = debug_link_crc(FileBytes::from_memory(std::move(bytes), "text"));
    EXPECT_EQ(*crc, 0xcbf43926u);
}

class Debuginfod : public DebugFiles {
protected:
    // A client that prints what it is told, and notes that it was asked.
    void install_client(const std::string& script) {
        fs::create_directories(root + "/path");
        const auto client = root + "/path/debuginfod-find";
        std::ofstream(client) << "#!/bin/sh\necho \"$1 $2\" >>" << root << "/asked\n" << script;
        fs::permissions(client, fs::perms::owner_all);
        old_path = std::getenv("PATH");
        ::setenv("PATH", (root + "/path:" + old_path).c_str(), 1);
    }
    void TearDown() override {
        if (!old_path.empty()) ::setenv("PATH", old_path.c_str(), 1);
    }
    std::string old_path;
};

TEST_F(Debuginfod, IsAskedOnlyWhenTheUserSaysSo) {
    install_client("echo " + debug + "\n");
    EXPECT_FALSE(has_names());
    EXPECT_FALSE(fs::exists(root + "/asked"));
    search.use_debuginfod = true;
    EXPECT_TRUE(has_names());
    std::string asked;
    std::getline(std::ifstream(root + "/asked") >> std::ws, asked);
    EXPECT_EQ(asked, "debuginfo " + ElfFile::open(program)->build_id());
}

TEST_F(Debuginfod, SaysThatNoServerHasTheFile) {
    install_client("exit 1\n");
    search.use_debuginfod = true;
    const auto found = find();
    EXPECT_FALSE(found.file);
    EXPECT_THAT(found.refused, ElementsAre(HasSubstr("debuginfod has no debug file")));
}

TEST_F(Debuginfod, SaysThatItIsNotInstalled) {
    old_path = std::getenv("PATH");
    ::setenv("PATH", root.c_str(), 1);
    const auto path = fetch_from_debuginfod("0123456789abcdef");
    ASSERT_FALSE(path);
    EXPECT_EQ(path.error().code, ErrorCode::missing_feature);
    EXPECT_THAT(path.error().hint, HasSubstr("debuginfod"));
}

}  // namespace
}  // namespace tracer
