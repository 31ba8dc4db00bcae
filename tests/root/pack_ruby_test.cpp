// SPDX-License-Identifier: Apache-2.0
//
// The pack of Ruby against what Ruby counts: GC.count, the requires and the calls of a script. On
// Debian's ruby3.1.
#include "root/pack_script.h"
#include "support/fixtures/requirements.h"
#include "support/fixtures/target_program.h"

#include <gtest/gtest.h>

namespace tracer::test {
namespace {

using Counts = std::map<std::string, uint64_t>;

constexpr Milliseconds kLimit{60000};
constexpr const char* kRuby = "/usr/bin/ruby3.1";

// The script, and a file for it to load.
class PackRuby : public testing::Test {
protected:
    void SetUp() override {
        auto folder = TempFolder::make();
        ASSERT_TRUE(folder);
        folder_.emplace(std::move(*folder));
        loaded_ = folder_->file("loaded.rb");
        ASSERT_TRUE(write_file(loaded_, "$loaded = true\n"));
    }

    [[nodiscard]] std::vector<std::string> command() const {
        return {kRuby, "--disable-gems", target_path("pack_ruby.rb"), loaded_};
    }
    [[nodiscard]] const std::string& loaded() const { return loaded_; }

private:
    std::optional<TempFolder> folder_;
    std::string loaded_;
};

uint64_t count_named(const FxtFile& file,
                     const nlohmann::json& pid,
                     std::string_view name,
                     FxtEventType type = FxtEventType::duration_begin) {
    Counts counts = counts_behind(file, pid, name, type);
    return counts[""];
}

void expect_collections(const FxtFile& file, const nlohmann::json& counts, uint64_t before) {
    const nlohmann::json& pid = counts.at("pid");
    const uint64_t marks = count_named(file, pid, "gc mark");
    EXPECT_EQ(marks, counts.at("collections").get<uint64_t>() - before);
    EXPECT_GE(marks, 2u);  // those that the script asks for
    EXPECT_EQ(count_named(file, pid, "gc mark", FxtEventType::duration_end), marks);
    EXPECT_EQ(count_named(file, pid, "gc sweep", FxtEventType::duration_end),
              count_named(file, pid, "gc sweep"));
}

TEST_F(PackRuby, CountsOfARunningInterpreterAreItsOwn) {
    TR_REQUIRE_ROOT();
    TR_REQUIRE_FILE(kRuby);
    const auto script = record_running_script(command());
    ASSERT_TRUE(script) << script.error().what;
    expect_sound(script->recorded);
    expect_nothing_lost(script->recorded);
    const FxtFile& file = script->recorded.file;
    const nlohmann::json& pid = script->counts.at("pid");
    expect_collections(file, script->counts,
                       script->counts.at("collections_before").get<uint64_t>());
    EXPECT_EQ(counts_behind(file, pid, "require "), counts_of(script->counts.at("required")));
    EXPECT_EQ(counts_behind(file, pid, "load "), (Counts{{loaded(), 2}}));
    EXPECT_EQ(counts_behind(file, pid, "raise ", FxtEventType::instant),
              (Counts{{"Failure", 5}, {"LoadError", 1}}));
    EXPECT_EQ(counts_behind(file, pid, "parse ")[loaded()], 2u);
}

TEST_F(PackRuby, CollectionsFromTheFirstInstructionAreThoseItCounts) {
    TR_REQUIRE_ROOT();
    TR_REQUIRE_FILE(kRuby);
    const auto script = record_started_script(command());
    ASSERT_TRUE(script) << script.error().what;
    expect_sound(script->recorded);
    expect_nothing_lost(script->recorded);
    expect_collections(script->recorded.file, script->counts, 0);
}

TEST_F(PackRuby, InterpretersAtOnceKeepTheirCountsApart) {
    TR_REQUIRE_ROOT();
    TR_REQUIRE_FILE(kRuby);
    auto first = start_command(command());
    ASSERT_TRUE(first) << first.error().what;
    auto second = start_command(command());
    ASSERT_TRUE(second) << second.error().what;
    auto recorder = Recorder::start(
        {"--pid", std::to_string(first->pid()), "--pid", std::to_string(second->pid())});
    ASSERT_TRUE(recorder) << recorder.error().what;
    ASSERT_TRUE(first->send_line("go"));
    ASSERT_TRUE(second->send_line("go"));
    const auto counts_1 = first->read_json(kLimit);
    const auto counts_2 = second->read_json(kLimit);
    ASSERT_TRUE(counts_1 && counts_2);
    const auto recorded = recorder->stop();
    ASSERT_TRUE(recorded) << recorded.error().what;
    expect_sound(*recorded);
    expect_nothing_lost(*recorded);
    for (const nlohmann::json& counts : {*counts_1, *counts_2}) {
        expect_collections(recorded->file, counts, counts.at("collections_before").get<uint64_t>());
    }
}

// Ruby reports no end to a require that an exception leaves.
TEST_F(PackRuby, RequireThatAnExceptionLeavesEndsWithTheOneAroundIt) {
    TR_REQUIRE_ROOT();
    TR_REQUIRE_FILE(kRuby);
    const auto folder = TempFolder::make();
    ASSERT_TRUE(folder);
    const std::string inner = folder->file("inner.rb");
    const std::string outer = folder->file("outer.rb");
    ASSERT_TRUE(write_file(inner, "raise 'as told'\n"));
    ASSERT_TRUE(write_file(
        outer, "begin; require '" + inner + "'; rescue RuntimeError; end\nrequire 'English'\n"));
    const auto script = folder->file("script.rb");
    ASSERT_TRUE(write_file(script,
                           "$stdout.sync = true\n"
                           "puts \"{\\\"ready\\\":#{Process.pid}}\"\n"
                           "$stdin.gets\n"
                           "require '" +
                               outer +
                               "'\n"
                               "puts \"{\\\"pid\\\":#{Process.pid}}\"\n"
                               "$stdin.gets\n"));
    const auto recorded = record_running_script({kRuby, "--disable-gems", script});
    ASSERT_TRUE(recorded) << recorded.error().what;
    expect_sound(recorded->recorded);
    constexpr std::string_view kRequire = "require ";
    std::vector<std::string> order;
    for (const FxtEvent& event : recorded->recorded.file.events) {
        if (!event.name.starts_with(kRequire)) continue;
        const std::string name(event.name.substr(kRequire.size()));
        if (event.type == FxtEventType::duration_begin) order.push_back("+" + name);
        if (event.type == FxtEventType::duration_end) order.push_back("-" + name);
    }
    EXPECT_EQ(order, (std::vector<std::string>{"+" + outer, "+" + inner, "+English", "-English",
                                               "-" + inner, "-" + outer}));
}

TEST_F(PackRuby, MethodsAndObjectsAtTheLevelOfAll) {
    TR_REQUIRE_ROOT();
    TR_REQUIRE_FILE(kRuby);
    const auto script = record_running_script(command(), {"--level", "all"});
    ASSERT_TRUE(script) << script.error().what;
    expect_sound(script->recorded);
    expect_nothing_lost(script->recorded);
    const FxtFile& file = script->recorded.file;
    const nlohmann::json& pid = script->counts.at("pid");
    const uint64_t calls = script->counts.at("calls").get<uint64_t>();
    EXPECT_EQ(calls, 200u);
    for (const auto type : {FxtEventType::duration_begin, FxtEventType::duration_end}) {
        EXPECT_EQ(count_named(file, pid, "Array#push", type), 100u);
        // Only those that came while the TracePoint was enabled.
        EXPECT_EQ(count_named(file, pid, "Worker#step", type), calls);
    }
    EXPECT_EQ(count_named(file, pid, "new Thing", FxtEventType::instant), 50u);
    expect_collections(file, script->counts,
                       script->counts.at("collections_before").get<uint64_t>());
}

}  // namespace
}  // namespace tracer::test
