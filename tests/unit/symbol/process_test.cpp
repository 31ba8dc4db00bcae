// SPDX-License-Identifier: Apache-2.0
#include "symbol/library_search.h"
#include "symbol/process_maps.h"
#include "unit/symbol/elf_builder.h"

#include <algorithm>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <sys/mman.h>
#include <unistd.h>

#include <gtest/gtest.h>

namespace tracer {
namespace {

namespace fs = std::filesystem;

TEST(ProcessMaps, ReadsALine) {
    auto mapping = parse_maps_line(
        "7f00aa000000-7f00aa001000 r-xp 00002000 fe:01 1234                       /usr/lib/x y.so");
    ASSERT_TRUE(mapping);
    EXPECT_EQ(mapping->start, 0x7f00aa000000u);
    EXPECT_EQ(mapping->end, 0x7f00aa001000u);
    EXPECT_EQ(mapping->file_offset, 0x2000u);
    EXPECT_EQ(mapping->device_major, 0xfeu);
    EXPECT_EQ(mapping->inode, 1234u);
    EXPECT_TRUE(mapping->is_executable);
    EXPECT_EQ(mapping->path, "/usr/lib/x y.so");
}

TEST(ProcessMaps, UnescapesNewlinesAndTakesTheDeletedMarkOff) {
    auto mapping = parse_maps_line("1000-2000 r--p 00000000 00:01 7 /tmp/a\\012b\\c (deleted)");
    ASSERT_TRUE(mapping);
    EXPECT_EQ(mapping->path, "/tmp/a\nb\\c");
    EXPECT_TRUE(mapping->is_deleted);
    EXPECT_FALSE(mapping->is_executable);
}

TEST(ProcessMaps, ReadsLinesWithoutAName) {
    EXPECT_EQ(parse_maps_line("1000-2000 rw-p 00000000 00:00 0")->path, "");
    EXPECT_EQ(parse_maps_line("1000-2000 rw-p 00000000 00:00 0 ")->path, "");
}

TEST(ProcessMaps, RefusesCutLines) {
    const std::string_view line = "1000-2000 r-xp 00000000 fe:01 1234 /x";
    for (size_t length = 0; length < line.find("1234"); ++length) {
        EXPECT_FALSE(parse_maps_line(line.substr(0, length))) << length;
    }
    EXPECT_FALSE(parse_maps_line("2000-1000 r-xp 00000000 fe:01 1 /x"));
    EXPECT_FALSE(parse_maps_line("zzzz-2000 r-xp 00000000 fe:01 1 /x"));
    EXPECT_FALSE(parse_maps_line("1000-2000 r-xp 00000000 fe:01 1x /x"));
}

TEST(ProcessMaps, ReachesADeletedFileByItsInode) {
    if (::geteuid() != 0) GTEST_SKIP() << "map_files needs root";
    test::TemporaryFolder folder;
    auto path = test::write_file(folder.path(), "gone.so", test::ElfBuilder().build());
    const auto identity = identity_of(path);
    UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    void* mapped = ::mmap(nullptr, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd.get(), 0);
    ASSERT_NE(mapped, MAP_FAILED);
    fs::remove(path);
    auto files = read_mapped_files(::getpid());
    ::munmap(mapped, 4096);
    ASSERT_TRUE(files);
    auto found = std::find_if(files->begin(), files->end(),
                              [&](const MappedFile& file) { return file.shown_path == path; });
    ASSERT_NE(found, files->end());
    EXPECT_TRUE(found->is_deleted);
    EXPECT_EQ(found->identity, identity);
}

TEST(ProcessMaps, ListsEachFileOnceProgramFirst) {
    auto files = read_mapped_files(::getpid());
    ASSERT_TRUE(files);
    ASSERT_FALSE(files->empty());
    EXPECT_EQ(files->front().shown_path, fs::read_symlink("/proc/self/exe"));
    std::vector<FileIdentity> identities;
    for (const auto& file : *files) {
        EXPECT_EQ(identity_of(file.open_path), file.identity);
        identities.push_back(file.identity);
    }
    std::sort(identities.begin(), identities.end());
    EXPECT_EQ(std::adjacent_find(identities.begin(), identities.end()), identities.end());
}

class LibrarySearchTest : public ::testing::Test {
protected:
    std::string write_script(const std::string& name, const std::string& line) {
        auto path = folder.path() + "/" + name;
        std::ofstream(path) << line << "\n";
        fs::permissions(path, fs::perms::owner_all);
        return path;
    }
    test::TemporaryFolder folder;
    SearchEnvironment environment = SearchEnvironment::of_this_process();
};

TEST_F(LibrarySearchTest, FindsWhatThisProcessHasMapped) {
    auto exe = fs::read_symlink("/proc/self/exe").string();
    auto files = files_of_program(exe, environment);
    ASSERT_TRUE(files) << files.error().what;
    std::vector<FileIdentity> found;
    for (const auto& path : *files) found.push_back(*identity_of(path));
    const auto all_mapped = read_mapped_files(::getpid());
    ASSERT_TRUE(all_mapped.has_value());
    for (const auto& mapped : *all_mapped) {
        EXPECT_NE(std::find(found.begin(), found.end(), mapped.identity), found.end())
            << mapped.shown_path;
    }
}

TEST_F(LibrarySearchTest, FollowsScripts) {
    auto shell = write_script("one", "#! /bin/sh -e");
    auto files = files_of_program(shell, environment);
    ASSERT_TRUE(files) << files.error().what;
    EXPECT_EQ(files->front(), "/bin/sh");
    auto env = write_script("two", "#!/usr/bin/env -S sh -e");
    files = files_of_program(env, environment);
    ASSERT_TRUE(files) << files.error().what;
    EXPECT_TRUE(files->front().ends_with("/sh"));
    auto loop = write_script("loop", "#!" + folder.path() + "/loop");
    EXPECT_EQ(files_of_program(loop, environment).error().code, ErrorCode::limit);
    EXPECT_FALSE(files_of_program(write_script("text", "hello"), environment));
    EXPECT_FALSE(files_of_program(write_script("empty", "#!"), environment));
}

TEST_F(LibrarySearchTest, FindsProgramsByPath) {
    environment.path = "/nonexistent:" + folder.path();
    auto path = write_script("tool", "#!/bin/sh");
    EXPECT_EQ(*find_program("tool", environment), path);
    EXPECT_EQ(find_program("other", environment).error().code, ErrorCode::not_found);
    fs::permissions(path, fs::perms::owner_read);
    EXPECT_FALSE(find_program("tool", environment));
    const auto refused = find_program(path, environment);
    EXPECT_EQ(exit_status(refused.error().code), 4);
    EXPECT_EQ(refused.error().what, path + " is not executable");
    EXPECT_FALSE(refused.error().hint.empty());
    EXPECT_EQ(find_program(path + "x", environment).error().what, "no program " + path + "x");
}

}  // namespace
}  // namespace tracer
