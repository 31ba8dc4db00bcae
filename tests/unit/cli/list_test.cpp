// SPDX-License-Identifier: Apache-2.0
#include "cli/commands.h"
#include "probe/probe_spec.h"

#include <filesystem>
#include <sstream>

#include <gtest/gtest.h>

extern "C" __attribute__((used, noinline)) void listed_by_the_test() {
    asm volatile("");
}

namespace tracer {
namespace {

struct Listed {
    Result<int> status;
    std::string text;
};

Listed list(const ListCommand& command) {
    ::testing::internal::CaptureStdout();
    auto status = run_list(command);
    return {std::move(status), ::testing::internal::GetCapturedStdout()};
}

TEST(List, PrintsAnAbsolutePathForARelativeFile) {
    const auto self = std::filesystem::read_symlink("/proc/self/exe");
    const auto before = std::filesystem::current_path();
    std::filesystem::current_path(self.parent_path());
    const auto listed = list({.file = self.filename().string(), .pattern = "listed_by_the_test"});
    std::filesystem::current_path(before);
    ASSERT_TRUE(listed.status.has_value()) << listed.status.error().what;
    EXPECT_EQ(listed.text, "u:" + self.string() + ":listed_by_the_test\n");
}

TEST(List, TakesTheBareNameOfAMappedFile) {
    const auto listed = list({.file = "libc.so.6", .pattern = "malloc"});
    ASSERT_TRUE(listed.status.has_value()) << listed.status.error().what;
    std::istringstream lines(listed.text);
    std::string line;
    ASSERT_TRUE(std::getline(lines, line));
    const auto spec = parse_probe_spec(line);
    ASSERT_TRUE(spec.has_value()) << line;
    EXPECT_TRUE(spec->path.starts_with('/')) << line;
    EXPECT_EQ(spec->name, "malloc");
}

TEST(List, SaysWhatToGiveWhenNothingHasTheName) {
    const auto listed = list({.file = "no-such-library.so.9"});
    ASSERT_FALSE(listed.status.has_value());
    EXPECT_EQ(listed.status.error().code, ErrorCode::not_found);
    EXPECT_FALSE(listed.status.error().hint.empty());
}

TEST(List, SaysWhatThePatternMayHaveMeant) {
    const std::string self = std::filesystem::read_symlink("/proc/self/exe").string();
    const auto listed = list({.file = self, .pattern = "listed_by_the_tset"});
    ASSERT_FALSE(listed.status.has_value());
    EXPECT_NE(listed.status.error().what.find("searched " + self), std::string::npos);
    EXPECT_EQ(listed.status.error().hint, "did you mean listed_by_the_test?");
}

TEST(List, AFileThatWasNamedIsNotPassedOver) {
    const auto listed = list({.file = "/etc/passwd"});
    ASSERT_FALSE(listed.status.has_value());
    EXPECT_EQ(exit_status(listed.status.error().code), 4);
    EXPECT_NE(listed.status.error().what.find("not an ELF file"), std::string::npos);
}

}  // namespace
}  // namespace tracer
