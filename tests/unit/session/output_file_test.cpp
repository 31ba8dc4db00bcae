// SPDX-License-Identifier: Apache-2.0
#include "session/output_file.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sys/stat.h>
#include <unistd.h>

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace tracer {
namespace {

TEST(OutputFile, FormatFollowsTheSuffix) {
    EXPECT_EQ(choose_output("a.fxt", "")->format_name(), "fxt");
    EXPECT_EQ(choose_output("a.traw", "")->format_name(), "traw");
    EXPECT_EQ(choose_output("-", "")->format_name(), "fxt");
    EXPECT_EQ(choose_output("", "")->format_name(), "fxt");
}

TEST(OutputFile, NamedFormatComesBeforeTheSuffix) {
    EXPECT_EQ(choose_output("a.fxt", "traw")->format_name(), "traw");
    EXPECT_EQ(choose_output("a.bin", "fxt")->format_name(), "fxt");
}

TEST(OutputFile, RefusesUnknownSuffixesAndFormats) {
    for (const auto& result :
         {choose_output("a.pdf", ""), choose_output("noext", ""), choose_output("a.fxt", "pdf")}) {
        ASSERT_FALSE(result);
        EXPECT_EQ(result.error().code, ErrorCode::usage);
        EXPECT_NE(result.error().hint.find(".fxt"), std::string::npos);
    }
}

class OutputFolderTest : public testing::Test {
protected:
    void SetUp() override {
        before_ = std::filesystem::current_path();
        folder_ = testing::TempDir() + fmt::format("tracer-output-{}", getpid());
        std::filesystem::create_directories(folder_);
        std::filesystem::current_path(folder_);
    }
    void TearDown() override {
        std::filesystem::current_path(before_);
        std::filesystem::remove_all(folder_);
    }
    std::filesystem::path before_;
    std::string folder_;
};

TEST_F(OutputFolderTest, DefaultNameHoldsNameIdAndTime) {
    const std::string path = default_output_path("postgres", 1234, ".fxt", 1767262500);
    EXPECT_EQ(path.find("tracer-postgres-1234-2026"), 0u);
    EXPECT_EQ(path.size(), std::string("tracer-postgres-1234-20260101-101500.fxt").size());
}

TEST_F(OutputFolderTest, DefaultNameNeverMeetsAnExistingFile) {
    const std::string first = default_output_path("a", 1, ".fxt", 0);
    std::ofstream(first) << "x";
    const std::string second = default_output_path("a", 1, ".fxt", 0);
    std::ofstream(second) << "x";
    EXPECT_NE(first, second);
    EXPECT_FALSE(std::filesystem::exists(default_output_path("a", 1, ".fxt", 0)));
}

TEST_F(OutputFolderTest, DefaultNameStaysInTheFolderWhateverTheTaskIsCalled) {
    const std::string path = default_output_path("../k w/0:1", 0, ".fxt", 0);
    EXPECT_EQ(path.find('/'), std::string::npos);
    EXPECT_EQ(path.find(' '), std::string::npos);
    EXPECT_EQ(path.find("tracer-..-k-w-0-1-19"), 0u);
}

TEST_F(OutputFolderTest, FileIsOfItsUserAlone) {
    auto sink = open_output_sink("x.fxt", false);
    ASSERT_TRUE(sink);
    ASSERT_TRUE((*sink)->close());
    const auto mode = std::filesystem::status("x.fxt").permissions();
    EXPECT_EQ(mode, std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
}

TEST_F(OutputFolderTest, UnwritableFolderIsAnOutputError) {
    const auto sink = open_output_sink("no/such/folder/x.fxt", false);
    ASSERT_FALSE(sink);
    EXPECT_EQ(exit_status(sink.error().code), 5);
}

TEST_F(OutputFolderTest, RemovesFilesOnly) {
    ASSERT_TRUE((*open_output_sink("x.fxt", false))->close());
    ASSERT_EQ(mkfifo("pipe", 0600), 0);
    remove_output("x.fxt");
    remove_output("pipe");
    remove_output("-");
    EXPECT_FALSE(std::filesystem::exists("x.fxt"));
    EXPECT_TRUE(std::filesystem::exists("pipe"));
}

TEST(OutputFile, OwnerIsTheUserBehindSudoOnlyForRoot) {
    setenv("SUDO_UID", "1234", 1);
    setenv("SUDO_GID", "5678", 1);
    const auto owner = owner_behind_sudo();
    setenv("SUDO_UID", "12x", 1);
    const auto malformed = owner_behind_sudo();
    unsetenv("SUDO_UID");
    unsetenv("SUDO_GID");
    EXPECT_EQ(owner.has_value(), geteuid() == 0);
    if (owner) {
        EXPECT_EQ(owner->uid, 1234u);
        EXPECT_EQ(owner->gid, 5678u);
    }
    EXPECT_FALSE(malformed);
}

}  // namespace
}  // namespace tracer
