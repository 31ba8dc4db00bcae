// SPDX-License-Identifier: Apache-2.0
//
// Random logs through our reader and through the ghc-events library: the same events, capabilities
// and words, and the same verdict of each state machine. Seeds are fixed; a failure names its own.
#include "support/eventlog_builder.h"
#include "support/eventlog_check.h"
#include "support/eventlog_random.h"
#include "support/eventlog_text.h"
#include "support/fixtures/eventlog_checker.h"
#include "support/fixtures/temp_folder.h"

#include <random>
#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tracer::test {
namespace {

std::vector<std::string> lines_of(const std::string& text) {
    std::vector<std::string> lines;
    std::istringstream stream(text);
    for (std::string line; std::getline(stream, line);) lines.push_back(line);
    return lines;
}

Result<EventlogVerdict> judge(std::string_view mode, std::string_view bytes) {
    TR_ASSIGN(const TempFolder folder, TempFolder::make());
    const std::string path = folder.file("x.eventlog");
    TR_TRY(write_file(path, bytes));
    return run_eventlog_checker(mode, path);
}

// Our line as 0.17 has it, which does not show the address in a ticky definition.
std::string without_address(std::string line) {
    const size_t at = line.find(", itbl: 0");
    if (at != std::string::npos) line.resize(at);
    return line;
}

// The machines that the judge's output calls invalid, in its order.
std::vector<std::string> refusals_of(const std::string& output) {
    std::vector<std::string> names;
    for (const auto& line : lines_of(output)) {
        const size_t colon = line.find(": INVALID");
        if (colon != std::string::npos) names.push_back(line.substr(0, colon));
    }
    return names;
}

std::vector<std::string> refusals_of(const EventlogCheck& check) {
    std::vector<std::string> names;
    for (const auto& refusal : check.refusals)
        names.push_back(refusal.substr(0, refusal.find(':')));
    return names;
}

// Every kind of event many times, in blocks of all forms.
std::string make_log_of_all_kinds(const RandomNumbers& random) {
    EventlogBuilder builder;
    // The census in the form of GHC 9.8: 0.17 reads the later one at the wrong place.
    constexpr uint16_t kCensusBytes = 13;
    const auto census = static_cast<uint16_t>(EventlogId::nonmoving_heap_census);
    builder.declare_all().declare(census, kCensusBytes).end_header();
    const std::vector<EventlogId> ids = ghc_eventlog_ids();
    for (int i = 0; i < 5000; ++i) {
        const EventlogId id = ids.at(random() % ids.size());
        const uint64_t time = random() % 2 == 0 ? i : random();
        if (id == EventlogId::block_marker) {
            // Not of exactly a marker's size: there the library gives one event the capability.
            const auto size = static_cast<uint32_t>(random() % 2 == 0 ? 0 : 25 + random() % 1000);
            builder.block(static_cast<uint16_t>(random() % 3 == 0 ? 0xFFFF : random() % 4), time,
                          size);
        } else {
            const EventlogShape* shape = id == EventlogId::nonmoving_heap_census
                                             ? find_eventlog_shape(census, kCensusBytes)
                                             : newest_eventlog_shape(static_cast<uint16_t>(id));
            builder.event(id, time, random_eventlog_payload(*shape, random));
        }
    }
    return builder.end().bytes();
}

TEST(EventlogAgreement, EventsOfAllKindsReadTheSame) {
    TR_REQUIRE_EVENTLOG_CHECKER();
    for (const uint64_t seed : {1U, 2U, 3U, 4U}) {
        std::mt19937_64 engine(seed);
        const std::string bytes = make_log_of_all_kinds([&] { return engine(); });
        const auto file = parse_eventlog(bytes);
        ASSERT_EQ(file.reader.fault(), EventlogFault::none) << problems_text(file);
        const auto verdict = judge("raw", bytes);
        ASSERT_TRUE(verdict) << verdict.error().what;
        ASSERT_EQ(verdict->status, 0) << verdict->errors;
        const auto theirs = lines_of(verdict->output);
        const auto ours = lines_of(event_lines(file));
        for (size_t i = 0; i < std::min(ours.size(), theirs.size()); ++i) {
            ASSERT_EQ(without_address(ours[i]), without_address(theirs[i]))
                << "seed " << seed << ", line " << i + 1;
        }
        EXPECT_EQ(ours.size(), theirs.size()) << "seed " << seed;
    }
}

// A few threads and tasks on two capabilities, each event mostly one that may come.
std::string make_log_of_threads(const RandomNumbers& random) {
    EventlogBuilder builder;
    builder.declare_all().end_header();
    const auto thread = [&] { return BigEndianBytes().u32(1 + random() % 2); };
    for (uint64_t time = 1; time < 12; ++time) {
        if (time == 1 || random() % 3 == 0) {
            builder.block(static_cast<uint16_t>(random() % 12 == 0 ? 0xFFFF : random() % 2), time,
                          0);
        }
        switch (random() % 10) {
            case 0:
            case 1:
                builder.event(EventlogId::create_thread, time, thread());
                break;
            case 2:
            case 3:
                builder.event(EventlogId::run_thread, time, thread());
                break;
            case 4:
            case 5:
                builder.event(EventlogId::stop_thread, time, thread().u16(random() % 8).u32(0));
                break;
            case 6:
                builder.event(EventlogId::thread_wakeup, time, thread().u16(0));
                break;
            case 7:
                builder.event(EventlogId::migrate_thread, time, thread().u16(random() % 2));
                break;
            case 8:
                builder.event(
                    random() % 2 == 0 ? EventlogId::create_spark_thread : EventlogId::run_thread,
                    time, thread());
                if (random() % 2 == 0) builder.event(EventlogId::spark_run, time);
                break;
            default: {
                const BigEndianBytes task = BigEndianBytes().u64(1 + random() % 2);
                const uint64_t kind = random() % 3;
                const uint64_t capability = random() % 2;
                if (kind == 0) {
                    builder.event(EventlogId::task_create, time,
                                  BigEndianBytes(task).u16(capability).u64(random() % 2));
                } else if (kind == 1) {
                    builder.event(EventlogId::task_migrate, time,
                                  BigEndianBytes(task).u16(capability).u16(random() % 2));
                } else {
                    builder.event(EventlogId::task_delete, time, task);
                }
            }
        }
    }
    return builder.bytes();
}

TEST(EventlogAgreement, MachinesGiveTheSameVerdicts) {
    TR_REQUIRE_EVENTLOG_CHECKER();
    for (uint64_t seed = 1; seed <= 80; ++seed) {
        std::mt19937_64 engine(seed);
        const std::string bytes = make_log_of_threads([&] { return engine(); });
        const auto file = parse_eventlog(bytes);
        const auto verdict = judge("validate", bytes);
        ASSERT_TRUE(verdict) << verdict.error().what;
        ASSERT_EQ(refusals_of(check_eventlog(file)), refusals_of(verdict->output))
            << "seed " << seed << "\n"
            << event_lines(file) << verdict->output << verdict->errors;
    }
}

}  // namespace
}  // namespace tracer::test
