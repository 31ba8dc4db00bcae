// SPDX-License-Identifier: Apache-2.0
#include "cli/commands.h"
#include "probe/probe_spec.h"
#include "session/targets.h"
#include "unit/symbol/elf_builder.h"
#include "unit/symbol/foreign_elf.h"

#include <algorithm>
#include <filesystem>
#include <sstream>
#include <unistd.h>

#include <elf.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

extern "C" __attribute__((used, noinline)) void listed_by_the_test() {
    asm volatile("");
}

namespace tracer {
namespace {

struct Listed {
    Result<int> status;
    std::string text;
    std::string remarks;  // standard error
};

Listed list(const ListCommand& command) {
    ::testing::internal::CaptureStdout();
    ::testing::internal::CaptureStderr();
    auto status = run_list(command);
    auto text = ::testing::internal::GetCapturedStdout();
    return {std::move(status), std::move(text), ::testing::internal::GetCapturedStderr()};
}

// The one line, without the types that stand behind it where the build has debug info.
std::string without_types(const std::string& text) {
    const std::string line = text.substr(0, text.find('\n'));
    EXPECT_EQ(text, line + '\n');
    return line.substr(0, std::min(line.rfind(", (arg:"), line.rfind("  # ()")));
}

TEST(List, PrintsAnAbsolutePathForARelativeFile) {
    const auto self = std::filesystem::read_symlink("/proc/self/exe");
    const auto before = std::filesystem::current_path();
    std::filesystem::current_path(self.parent_path());
    const auto listed = list({.file = self.filename().string(), .pattern = "listed_by_the_test"});
    std::filesystem::current_path(before);
    ASSERT_TRUE(listed.status.has_value()) << listed.status.error().what;
    EXPECT_EQ(without_types(listed.text), "u:" + self.string() + ":listed_by_the_test");
}

TEST(List, FindsFunctionsByTheNameInTheSource) {
    const auto self = std::filesystem::read_symlink("/proc/self/exe").string();
    const auto listed = list({.file = self, .pattern = "tracer::run_list"});
    ASSERT_TRUE(listed.status.has_value()) << listed.status.error().what;
    EXPECT_EQ(without_types(listed.text), "u:" + self +
                                              ":_ZN6tracer8run_listERKNS_11ListCommandE  # "
                                              "tracer::run_list(tracer::ListCommand const&)");
    const auto spec = parse_probe_spec(listed.text.substr(0, listed.text.size() - 1));
    ASSERT_TRUE(spec) << spec.error().what;
    EXPECT_EQ(spec->name, "_ZN6tracer8run_listERKNS_11ListCommandE");
}

TEST(List, TellsWhichProcessesRunTheFile) {
    const ListCommand command{
        .ids = {static_cast<uint32_t>(getpid())}, .pattern = "listed_by_the_test", .json = true};
    const auto listed = list(command);
    ASSERT_TRUE(listed.status.has_value()) << listed.status.error().what;
    const auto row = nlohmann::json::parse(listed.text);
    ASSERT_EQ(row.at("processes").size(), 1u);
    EXPECT_EQ(row.at("processes")[0].at("pid"), getpid());
    EXPECT_EQ(row.at("processes")[0].at("own_pid"),
              id_in_own_namespace(static_cast<uint32_t>(getpid())));
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

TEST(List, ShowsProbesOfOtherMachinesAndSaysSo) {
    test::TemporaryFolder folder;
    const auto program = test::ForeignElf(EM_AARCH64, false)
                             .note("start", "-4@[sp, 8] 8@x0", test::ForeignElf::kCode)
                             .build();
    const auto path = test::write_file(folder.path(), "app", program);
    const auto listed = list({.file = path});
    ASSERT_TRUE(listed.status.has_value()) << listed.status.error().what;
    EXPECT_EQ(listed.text, "usdt:" + path +
                               ":app:start(arg0:s32, arg1:u64)  # not of this machine but of "
                               "aarch64: cannot be attached\n");
    EXPECT_NE(listed.remarks.find("files of other machines"), std::string::npos);
    const auto row = nlohmann::json::parse(list({.file = path, .json = true}).text);
    EXPECT_EQ(row.at("remark"), "not of this machine but of aarch64: cannot be attached");
}

TEST(List, SaysThatAForeignFileHasNoProbes) {
    test::TemporaryFolder folder;
    const auto path =
        test::write_file(folder.path(), "app", test::ForeignElf(EM_386, true).build());
    const auto listed = list({.file = path});
    ASSERT_FALSE(listed.status.has_value());
    EXPECT_NE(listed.status.error().what.find("another machine (i386)"), std::string::npos);
}

}  // namespace
}  // namespace tracer
