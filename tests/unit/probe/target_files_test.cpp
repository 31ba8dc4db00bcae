// SPDX-License-Identifier: Apache-2.0
#include "probe/target_files.h"

#include "unit/symbol/elf_builder.h"

#include <filesystem>
#include <unistd.h>

#include <gtest/gtest.h>

namespace tracer {
namespace {

using test::ElfBuilder;

class TargetFilesTest : public ::testing::Test {
protected:
    std::string write(const std::string& name) {
        return test::write_file(folder.path(), name, ElfBuilder().build());
    }
    test::TemporaryFolder folder;
};

TEST_F(TargetFilesTest, HoldsEachInodeOnce) {
    auto path = write("libx.so.1.2");
    const auto link = folder.path() + "/libx.so.1";
    std::filesystem::create_symlink(path, link);
    const auto hard_link = folder.path() + "/other";
    std::filesystem::create_hard_link(path, hard_link);
    TargetFiles files;
    files.add_file({path, path}, 7);
    files.add_file({link, link}, 8);
    files.add_file({path, path}, 8);
    files.add_file({hard_link, hard_link});
    files.add_file({folder.path() + "/missing", "missing"});
    EXPECT_EQ(files.files().size(), 1u);
    EXPECT_EQ(files.runners(0), (std::vector<pid_t>{7, 8}));
    // A path through the link leads to the file that is known already.
    ASSERT_EQ(files.find(link).size(), 1u);
    EXPECT_EQ(files.find(link)[0].open_path, path);
    EXPECT_EQ(files.find(link)[0].shown_path, link);
}

TEST_F(TargetFilesTest, FindsByBaseNameAndVersion) {
    TargetFiles files;
    for (auto name : {"libx.so.1.2", "libxyz.so.3", "app"}) {
        auto path = write(name);
        files.add_file({path, path});
    }
    EXPECT_EQ(files.find("app").size(), 1u);
    EXPECT_EQ(files.find("libx.so.1.2").size(), 1u);
    EXPECT_EQ(files.find("libx.so").size(), 1u);
    EXPECT_EQ(files.find("libx.so.1").size(), 1u);
    EXPECT_EQ(files.find("lib*").size(), 2u);
    EXPECT_EQ(files.find("ap").size(), 0u);
    EXPECT_EQ(files.find("/no/such/path").size(), 0u);
}

TEST_F(TargetFilesTest, FindsByALinkBesideTheFileAndByTheFileBesideTheLink) {
    const auto path = write("python3.11");
    const auto link = folder.path() + "/python3";
    std::filesystem::create_symlink("python3.11", link);
    TargetFiles running;
    running.add_file({path, path});
    EXPECT_EQ(running.find("python3").size(), 1u);
    EXPECT_TRUE(running.find("python").empty());
    TargetFiles started;
    started.add_file({link, link});
    EXPECT_EQ(started.find("python3.11").size(), 1u);
}

TEST_F(TargetFilesTest, ReadsOwnProcess) {
    const pid_t pid = ::getpid();
    auto files = TargetFiles::of_processes({&pid, 1});
    ASSERT_TRUE(files) << files.error().what;
    ASSERT_FALSE(files->files().empty());
    EXPECT_EQ(files->files()[0].shown_path, std::filesystem::read_symlink("/proc/self/exe"));
    EXPECT_EQ(files->find("libc.so").size(), 1u);
    EXPECT_NE(files->describe().find(std::to_string(pid)), std::string::npos);
}

TEST_F(TargetFilesTest, NamesAProcessThatDoesNotExist) {
    const pid_t pid = 0x7ffffff0;
    auto files = TargetFiles::of_processes({&pid, 1});
    ASSERT_FALSE(files);
    EXPECT_EQ(files.error().code, ErrorCode::not_found);
}

// Between finding the children of a server and looking at them, some end.
TEST_F(TargetFilesTest, LeavesOutProcessesThatHaveEnded) {
    const std::vector<pid_t> pids{0x7ffffff0, ::getpid(), 0x7ffffff1};
    auto files = TargetFiles::of_processes(pids);
    ASSERT_TRUE(files) << files.error().what;
    EXPECT_EQ(files->find("libc.so").size(), 1u);
    EXPECT_FALSE(TargetFiles::of_processes(std::vector<pid_t>{0x7ffffff0, 0x7ffffff1}));
}

TEST_F(TargetFilesTest, FindsTheFilesOfAProgramToBeStarted) {
    auto environment = SearchEnvironment::of_this_process();
    auto files = TargetFiles::of_program("/proc/self/exe", environment);
    ASSERT_TRUE(files) << files.error().what;
    EXPECT_EQ(files->find("libc.so").size(), 1u);
    EXPECT_EQ(files->find("libstdc++.so").size(), 1u);
    EXPECT_EQ(TargetFiles::of_program("no-such-program-here", environment).error().code,
              ErrorCode::not_found);
}

TEST_F(TargetFilesTest, SystemHoldsOwnProcess) {
    auto files = TargetFiles::of_system();
    ASSERT_TRUE(files);
    EXPECT_EQ(files->find(std::filesystem::read_symlink("/proc/self/exe").string()).size(), 1u);
}

}  // namespace
}  // namespace tracer
