// SPDX-License-Identifier: Apache-2.0
#include "cli/commands.h"

#include <filesystem>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

// In assembly, so that it begins in the same way whatever the compiler is asked for.
asm(R"(
    .text
    .globl explained_by_the_test
    .type explained_by_the_test, @function
explained_by_the_test:
    push %rbp
    pop %rbp
    ret
    .size explained_by_the_test, . - explained_by_the_test
)");

namespace tracer {
namespace {

std::string own_probe() {
    return "u:" + std::filesystem::read_symlink("/proc/self/exe").string() +
           ":explained_by_the_test(n=arg0:u32)";
}

std::string explain(const ExplainCommand& command) {
    ::testing::internal::CaptureStdout();
    const auto status = run_explain(command);
    auto text = ::testing::internal::GetCapturedStdout();
    EXPECT_TRUE(status) << status.error().what;
    return text;
}

TEST(Explain, PrintsThePlanWithoutAttaching) {
    const auto text = explain({.probes = {own_probe()}});
    EXPECT_NE(text.find(own_probe() + "\n"), std::string::npos) << text;
    EXPECT_NE(text.find("push %rbp  (push)"), std::string::npos) << text;
    EXPECT_NE(text.find("n: u32 = low 4 bytes of rdi"), std::string::npos) << text;
    EXPECT_NE(text.find("1 probe, 1 site; nothing was attached"), std::string::npos) << text;
}

TEST(Explain, PrintsOneLineOfJson) {
    const auto text = explain({.probes = {own_probe()}, .json = true});
    EXPECT_EQ(text.find('\n'), text.size() - 1);
    const auto json = nlohmann::json::parse(text);
    const auto& site = json.at("probes").at(0).at("sites").at(0);
    EXPECT_EQ(site.at("class"), "push");
    EXPECT_EQ(site.at("symbol"), "explained_by_the_test");
    EXPECT_FALSE(site.at("return"));
    EXPECT_EQ(site.at("arguments").at(0).at("type"), "u32");
    EXPECT_TRUE(json.at("warnings").empty());
}

TEST(Explain, SaysWhatAHitIsAndOnWhichLine) {
    const auto state = explain({.probes = {own_probe() + " state \"phase {n}\""}});
    EXPECT_NE(state.find("\n  state "), std::string::npos) << state;
    EXPECT_NE(state.find("on the line phase {n}\n"), std::string::npos) << state;
    const auto counter =
        nlohmann::json::parse(explain({.probes = {own_probe() + " counter"}, .json = true}));
    EXPECT_EQ(counter.at("probes").at(0).at("meaning"), "counter");
    EXPECT_EQ(counter.at("probes").at(0).at("line"), "");
}

TEST(Explain, TakesTheBareNameOfAMappedFile) {
    const auto text = explain({.probes = {"u:unit_cli:explained_by_the_test"}});
    EXPECT_NE(text.find("explained_by_the_test"), std::string::npos) << text;
}

}  // namespace
}  // namespace tracer
