// SPDX-License-Identifier: Apache-2.0
//
// Compares recorded hits with the log of the program that had them. Used by the tests of the USDT
// matrices, hand-written and generated.
#include "root/expected_hits.h"

#include "root/recording.h"

#include <map>

#include <gtest/gtest.h>

namespace tracer::test {

namespace {

// Strings longer than this are recorded cut (TR_STRING_BYTES, the NUL included).
constexpr size_t kStringBytesMax = 255;

void expect_same_hit(const FxtFile& file, const FxtEvent& event, const nlohmann::json& expected) {
    for (size_t i = 0; i < expected.size(); i++) {
        const std::string name = "arg" + std::to_string(i);
        const FxtValue* value = file.find(event.arguments, name);
        ASSERT_NE(value, nullptr) << event.name << " has no " << name;
        const bool is_cut = file.find(event.arguments, name + "_bytes") != nullptr;
        EXPECT_TRUE(same_value(*value, expected.at(i), is_cut))
            << event.name << " " << name << ": recorded " << to_text(*value) << ", passed "
            << expected.at(i);
        const bool too_long = expected.at(i).is_string() &&
                              expected.at(i).get<std::string>().size() > kStringBytesMax;
        EXPECT_EQ(is_cut, too_long) << event.name << " " << name;
    }
}

}  // namespace

void expect_hits(const FxtFile& file,
                 const std::string& provider,
                 const std::vector<nlohmann::json>& passed) {
    std::map<std::string, std::vector<const FxtEvent*>> recorded;
    for (const FxtEvent& event : file.events) {
        if (event.category == provider && event.type == FxtEventType::instant) {
            recorded[std::string(event.name)].push_back(&event);
        }
    }
    for (const nlohmann::json& probe : passed) {
        const std::string name = probe.at("probe");
        const auto& events = recorded[name];
        EXPECT_EQ(events.size(), probe.at("hits").get<uint64_t>()) << name;
        for (size_t i = 0; i < events.size() && i < probe.at("args").size(); i++) {
            expect_same_hit(file, *events[i], probe.at("args").at(i));
        }
        recorded.erase(name);
    }
    EXPECT_TRUE(recorded.empty()) << "recorded and never hit: " << recorded.begin()->first;
}

}  // namespace tracer::test
