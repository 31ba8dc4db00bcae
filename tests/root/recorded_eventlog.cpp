// SPDX-License-Identifier: Apache-2.0
//
// Eventlogs that a recording or a program left, and what they hold in numbers.
#include "root/recorded_eventlog.h"

#include "support/eventlog_check.h"
#include "support/eventlog_text.h"
#include "support/fixtures/eventlog_checker.h"

#include <algorithm>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tracer::test {

EventlogFile load_valid_eventlog(const std::string& path) {
    auto file = load_eventlog(path);
    EXPECT_TRUE(file) << file.error().what;
    if (!file) return {};
    EXPECT_EQ(problems_text(*file), "");
    EXPECT_THAT(check_eventlog(*file).refusals, testing::IsEmpty());
    if (!missing_eventlog_checker()) {
        EXPECT_TRUE(validates_as_eventlog(path));
    }
    return std::move(*file);
}

uint64_t count_of(const EventlogFile& file, EventlogId id) {
    return static_cast<uint64_t>(std::ranges::count_if(
        file.events, [&](const EventlogEvent& event) { return event.is(id); }));
}

Counts count_by(const EventlogFile& file, EventlogId id, std::string_view field) {
    Counts counts;
    for (const EventlogEvent& event : file.events) {
        if (event.is(id)) ++counts[event.number(field)];
    }
    return counts;
}

uint64_t sum_of(const EventlogFile& file, EventlogId id, std::string_view field) {
    uint64_t sum = 0;
    for (const EventlogEvent& event : file.events) {
        if (event.is(id)) sum += event.number(field);
    }
    return sum;
}

std::vector<std::string> texts_of(const EventlogFile& file, EventlogId id) {
    std::vector<std::string> texts;
    for (const EventlogEvent& event : file.events) {
        if (event.is(id)) texts.emplace_back(event.text("text"));
    }
    std::sort(texts.begin(), texts.end());
    return texts;
}

}  // namespace tracer::test
