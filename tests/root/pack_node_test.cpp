// SPDX-License-Identifier: Apache-2.0
//
// The pack of Node.js: collections against those that perf_hooks tells the program of, by kind.
#include "root/pack_script.h"
#include "support/fixtures/requirements.h"

#include <gtest/gtest.h>

namespace tracer::test {
namespace {

constexpr const char* kNode = "/usr/bin/node";

// As perf_hooks.constants has them.
constexpr const char* kMinor = "1";
constexpr const char* kMajor = "4";

// Counts from the line it waits for. Entries reach the observer some turns of the event loop after
// their collection.
constexpr std::string_view kScript = R"js(
const { PerformanceObserver } = require('perf_hooks');
const kinds = { 1: 0, 4: 0 };
new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) kinds[entry.detail.kind]++;
}).observe({ entryTypes: ['gc'] });
const next = (then) => process.stdin.once('data', then);
const settle = (then) => setTimeout(() => setTimeout(then, 100), 100);
settle(() => {
    next(() => {
        kinds[1] = kinds[4] = 0;
        let kept = [];
        for (let i = 0; i < 600000; i++) {
            kept.push({ number: i, list: [i] });
            if (kept.length > 50000) kept = [];
        }
        for (let i = 0; i < 3; i++) gc();
        settle(() => {
            next(() => process.exit(0));
            console.log(JSON.stringify(kinds));
        });
    });
    console.log(JSON.stringify({ ready: process.pid }));
});
)js";

class PackNode : public testing::Test {
protected:
    void SetUp() override {
        auto folder = TempFolder::make();
        ASSERT_TRUE(folder) << folder.error().what;
        folder_.emplace(std::move(*folder));
        ASSERT_TRUE(write_file(folder_->file("collect.js"), kScript));
    }
    [[nodiscard]] std::vector<std::string> command() const {
        return {kNode, "--expose-gc", folder_->file("collect.js")};
    }

private:
    std::optional<TempFolder> folder_;
};

// What is done is inside of its collection, on the same thread.
void expect_nested(const FxtFile& file) {
    std::map<uint64_t, int> depth;
    for (const FxtEvent& event : file.events) {
        const bool is_begin = event.type == FxtEventType::duration_begin;
        if (event.name == "GC") {
            if (is_begin) ++depth[event.tid];
            if (event.type == FxtEventType::duration_end) --depth[event.tid];
        } else if ((event.name == "scavenge" || event.name == "mark-compact") && is_begin) {
            EXPECT_GT(depth[event.tid], 0);
        }
    }
}

TEST_F(PackNode, CollectionsOfALiveProcessAreThosePerfHooksTells) {
    TR_REQUIRE_ROOT();
    TR_REQUIRE_FILE(kNode);
    TR_REQUIRE_FILE(tracer_binary());
    const auto outcome = record_script(PackStart::while_running, command(), {"--packs", "node"});
    ASSERT_TRUE(outcome) << outcome.error().what;
    expect_sound(outcome->recorded);
    expect_nothing_lost(outcome->recorded);
    const auto& file = outcome->recorded.file;
    EXPECT_EQ(span_count(file, "scavenge"), outcome->counts.at(kMinor).get<size_t>());
    EXPECT_EQ(span_count(file, "mark-compact"), outcome->counts.at(kMajor).get<size_t>());
    EXPECT_GE(outcome->counts.at(kMajor).get<size_t>(), 3u);
    EXPECT_EQ(span_count(file, "GC"),
              span_count(file, "scavenge") + span_count(file, "mark-compact"));
    expect_nested(file);
    EXPECT_EQ(span_count(file, "callback"), 0u);
}

TEST_F(PackNode, CallbacksAndCompilationFromTheFirstInstruction) {
    TR_REQUIRE_ROOT();
    TR_REQUIRE_FILE(kNode);
    TR_REQUIRE_FILE(tracer_binary());
    const auto outcome = record_script(PackStart::from_the_first_instruction, command(),
                                       {"--packs", "node", "--level", "more"});
    ASSERT_TRUE(outcome) << outcome.error().what;
    expect_sound(outcome->recorded);
    expect_nothing_lost(outcome->recorded);
    const auto& file = outcome->recorded.file;
    // Those before the program counts too.
    EXPECT_GE(span_count(file, "scavenge"), outcome->counts.at(kMinor).get<size_t>());
    EXPECT_GE(span_count(file, "mark-compact"), outcome->counts.at(kMajor).get<size_t>());
    expect_nested(file);
    EXPECT_GT(span_count(file, "callback"), 1u);
    EXPECT_GT(span_count(file, "compile"), 10u);
}

}  // namespace
}  // namespace tracer::test
