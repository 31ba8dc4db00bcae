// SPDX-License-Identifier: Apache-2.0
//
// Every event of the format as the tracer's writer spells it: the bytes against a golden, and what
// our reader and the ghc-events library make of them. With TRACER_UPDATE_GOLDENS set to a folder
// the actual text is written there instead; scripts/update_goldens does that.
#include "every_event.h"

#include "support/eventlog_check.h"
#include "support/eventlog_text.h"
#include "support/fixtures/eventlog_checker.h"
#include "support/fixtures/temp_folder.h"

#include <cstdlib>
#include <set>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tracer::test {
namespace {

using eventlog::Dialect;
using eventlog::Release;

constexpr Dialect kNewest{.release = Release::ghc_9_14, .has_perf = true, .has_obsolete = true};
// What the ghc-events library of Debian 12 reads in full.
constexpr Dialect kOld{.release = Release::ghc_9_2, .has_perf = true};

std::string hex(std::string_view bytes) {
    std::string out;
    for (const char byte : bytes) out += fmt::format("{:02x}", static_cast<uint8_t>(byte));
    return out;
}

// The header, a line a type; then three lines an event: fields, bytes (id, time, payload), and the
// words of ghc-events, which block markers have none of.
std::string describe(std::string_view bytes, const EventlogFile& file) {
    std::string out;
    for (const auto& type : file.reader.types()) {
        const std::string size =
            type.size == kEventlogVariableSize ? "variable" : std::to_string(type.size);
        out += fmt::format("{} {} \"{}\"\n", type.id, size, type.description);
    }
    for (const auto& event : file.events) {
        out += fmt::format("\n{}\n", fields_text(event));
        const auto own = bytes.substr(event.offset, event.bytes);
        out += fmt::format("  {} {}", hex(own.substr(0, 2)), hex(own.substr(2, 8)));
        out += own.size() > 10 ? fmt::format(" {}\n", hex(own.substr(10))) : "\n";
        const std::string line = event_line(event);
        if (!line.empty()) out += fmt::format("  {}\n", line);
    }
    return out;
}

std::vector<std::string> ids_of(const EventlogFile& file) {
    std::set<uint16_t> ids;
    for (const auto& event : file.events) ids.insert(event.id);
    std::vector<std::string> missing;
    for (const auto& type : file.reader.types()) {
        if (!ids.contains(type.id)) missing.push_back(type.description);
    }
    return missing;
}

TEST(EventlogEveryEvent, IsSpelledAsInTheGolden) {
    const std::string bytes = write_every_event({kNewest});
    const std::string actual = describe(bytes, parse_eventlog(bytes));
    if (const char* folder = std::getenv("TRACER_UPDATE_GOLDENS")) {
        ASSERT_TRUE(write_file(std::string(folder) + "/eventlog/every_event.txt", actual));
        GTEST_SKIP() << "golden written, not compared";
    }
    const auto expected = read_file(std::string(TRACER_GOLDEN_FOLDER) + "/every_event.txt");
    ASSERT_TRUE(expected) << expected.error().what;
    EXPECT_EQ(actual, *expected) << "if this is meant: scripts/update_goldens";
}

TEST(EventlogEveryEvent, HoldsEveryDeclaredIdAndIsSound) {
    for (const Dialect& dialect : {kNewest, kOld}) {
        const std::string bytes = write_every_event({dialect});
        ASSERT_NE(bytes, "");
        const auto file = parse_eventlog(bytes);
        EXPECT_TRUE(file.is_sound()) << problems_text(file);
        EXPECT_THAT(ids_of(file), testing::IsEmpty());
        const auto check = check_eventlog(file);
        EXPECT_THAT(check.refusals, testing::IsEmpty());
        EXPECT_THAT(check.traps, testing::IsEmpty());
        for (const auto& type : file.reader.types()) {
            EXPECT_NE(type.shape, nullptr) << type.description;
        }
    }
}

TEST(EventlogEveryEvent, PassesTheValidators) {
    TR_REQUIRE_EVENTLOG_CHECKER();
    EXPECT_TRUE(bytes_validate_as_eventlog(write_every_event({kNewest, false})));
    EXPECT_TRUE(bytes_validate_as_eventlog(write_every_event({kOld})));
}

TEST(EventlogEveryEvent, ReadsAsGhcEventsReadsIt) {
    TR_REQUIRE_EVENTLOG_CHECKER();
    const std::string bytes = write_every_event({kOld});
    const auto folder = TempFolder::make();
    ASSERT_TRUE(folder) << folder.error().what;
    const std::string path = folder->file("every_event.eventlog");
    ASSERT_TRUE(write_file(path, bytes));
    const auto verdict = run_eventlog_checker("raw", path);
    ASSERT_TRUE(verdict) << verdict.error().what;
    ASSERT_EQ(verdict->status, 0) << verdict->errors;
    // Later versions show the address of a ticky definition.
    std::string ours = event_lines(parse_eventlog(bytes));
    if (verdict->output.find(", itbl: ") == std::string::npos) {
        const size_t at = ours.find(", itbl: 0");
        ASSERT_NE(at, std::string::npos);
        ours.erase(at, std::string_view(", itbl: 0").size());
    }
    EXPECT_EQ(ours, verdict->output);
}

}  // namespace
}  // namespace tracer::test
