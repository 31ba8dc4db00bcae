// SPDX-License-Identifier: Apache-2.0
#include "cli/doctor_checks.h"

#include <set>
#include <sstream>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace tracer {
namespace {

FeatureCheck check(bool ok, bool needed) {
    return {.name = "thing", .ok = ok, .needed = needed, .detail = "d", .cure = "sudo mend"};
}

TEST(Doctor, OnlyANeededThingMakesTracingImpossible) {
    EXPECT_TRUE(can_trace({check(true, true), check(false, false)}));
    EXPECT_FALSE(can_trace({check(true, true), check(false, true)}));
}

TEST(Doctor, PrintsACureOnlyForWhatIsMissing) {
    EXPECT_EQ(checks_text({check(true, true)}).find("sudo mend"), std::string::npos);
    const std::string text = checks_text({check(false, true)});
    EXPECT_NE(text.find("MISSING"), std::string::npos);
    EXPECT_NE(text.find("cure: sudo mend"), std::string::npos);
    EXPECT_NE(text.find("NOT possible"), std::string::npos);
}

TEST(Doctor, JsonIsOneObjectALine) {
    std::istringstream lines(checks_json({check(false, true), check(true, false)}));
    std::string line;
    int count = 0;
    while (std::getline(lines, line)) {
        EXPECT_TRUE(nlohmann::json::parse(line).contains("cure"));
        count += 1;
    }
    EXPECT_EQ(count, 2);
}

TEST(Doctor, ChecksOfThisMachineSayWhatMendsThem) {
    std::set<std::string> names;
    for (const FeatureCheck& item : check_machine({.is_root = true})) {
        EXPECT_TRUE(names.insert(item.name).second) << item.name << " is listed twice";
        EXPECT_NE(item.ok, !item.cure.empty()) << item.name;
    }
}

TEST(Doctor, WithoutRightsSaysSoOnceAndLeavesOutWhatOnlyRootCanAsk) {
    const auto checks = check_machine({});
    ASSERT_FALSE(checks.empty());
    EXPECT_FALSE(can_trace(checks));
    EXPECT_EQ(checks.front().cure, "sudo tracer doctor");
    for (size_t i = 1; i < checks.size(); ++i) EXPECT_NE(checks[i].cure, "sudo tracer doctor");
}

TEST(Privilege, NeedsRootOrBothCapabilities) {
    EXPECT_TRUE(check_privilege({.is_root = true}));
    EXPECT_TRUE(check_privilege({.can_bpf = true, .can_perfmon = true}));
    EXPECT_FALSE(check_privilege({.can_bpf = true}));
    const auto refused = check_privilege({});
    ASSERT_FALSE(refused);
    EXPECT_EQ(exit_status(refused.error().code), 3);
    EXPECT_EQ(refused.error().hint, "sudo tracer ...");
}

TEST(Privilege, RefusesAContainersOwnProcessIds) {
    EXPECT_TRUE(check_pid_namespace("pid:[4026531836]"));
    EXPECT_TRUE(check_pid_namespace(""));
    const auto refused = check_pid_namespace("pid:[4026532198]");
    ASSERT_FALSE(refused);
    EXPECT_EQ(exit_status(refused.error().code), 3);
    EXPECT_NE(refused.error().hint.find("outside"), std::string::npos);
}

}  // namespace
}  // namespace tracer
