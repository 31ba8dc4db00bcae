// SPDX-License-Identifier: Apache-2.0
//
// Real logs of GHC, and one written by hand, against what the ghc-events library reads from them:
// see tests/golden/eventlog/samples. The expected texts are the library's and are never made by us.
#include "support/eventlog_check.h"
#include "support/eventlog_text.h"

#include <algorithm>
#include <fstream>
#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tracer::test {
namespace {

struct Sample {
    const char* name;
    size_t event_count;  // without block markers
    bool is_cut;
};

class EventlogSamples : public testing::TestWithParam<Sample> {
protected:
    static std::string path(std::string_view suffix) {
        return std::string(TRACER_EVENTLOG_SAMPLES) + "/" + GetParam().name + std::string(suffix);
    }
};

std::vector<std::string> lines_of(std::istream& stream) {
    std::vector<std::string> lines;
    for (std::string line; std::getline(stream, line);) lines.push_back(line);
    return lines;
}

TEST_P(EventlogSamples, ReadAsGhcEventsReadsThem) {
    const auto file = load_eventlog(path(".eventlog"));
    ASSERT_TRUE(file) << file.error().what;
    std::ifstream stream(path(".expected.txt"));
    const auto expected = lines_of(stream);
    ASSERT_EQ(expected.size(), GetParam().event_count);
    std::istringstream ours(event_lines(*file));
    const auto actual = lines_of(ours);
    for (size_t i = 0; i < std::min(actual.size(), expected.size()); ++i) {
        ASSERT_EQ(actual[i], expected[i]) << "line " << i + 1;
    }
    EXPECT_EQ(actual.size(), expected.size());
}

TEST_P(EventlogSamples, AreSound) {
    const auto file = load_eventlog(path(".eventlog"));
    ASSERT_TRUE(file) << file.error().what;
    EXPECT_EQ(file->reader.fault(), EventlogFault::none);
    EventlogOddities expected;
    // Cut inside its last block, which then is not whole.
    if (GetParam().is_cut) expected.unfinished_blocks = 1;
    EXPECT_TRUE(file->reader.oddities() == expected) << problems_text(*file);
    EXPECT_EQ(file->reader.truncated_bytes() > 0, GetParam().is_cut);
    EXPECT_EQ(file->reader.end_marker_count(), GetParam().is_cut ? 0 : 1);
}

TEST_P(EventlogSamples, PassOurValidators) {
    const auto file = load_eventlog(path(".eventlog"));
    ASSERT_TRUE(file) << file.error().what;
    EXPECT_THAT(check_eventlog(*file).refusals, testing::IsEmpty());
}

TEST_P(EventlogSamples, ReadTheSameInAnyPieces) {
    const auto file = load_eventlog(path(".eventlog"));
    ASSERT_TRUE(file) << file.error().what;
    // A window that grows by seven bytes whenever the reader asks for more.
    const std::span<const std::byte> all = file->bytes;
    EventlogReader reader;
    EventlogEvent event;
    size_t begin = 0;
    size_t end = 0;
    std::string lines;
    for (;;) {
        auto window = all.subspan(begin, end - begin);
        const auto step = reader.next(window, event);
        begin = end - window.size();
        if (step == EventlogReader::Step::event) {
            const std::string line = event_line(event);
            if (!line.empty()) lines += line + "\n";
            continue;
        }
        if (step == EventlogReader::Step::stopped || end == all.size()) break;
        end = std::min(end + 7, all.size());
    }
    reader.finish(all.subspan(begin));
    EXPECT_EQ(lines, event_lines(*file));
    EXPECT_EQ(reader.offset() + reader.truncated_bytes(), all.size());
    EXPECT_TRUE(reader.oddities() == file->reader.oddities());
}

INSTANTIATE_TEST_SUITE_P(All,
                         EventlogSamples,
                         testing::Values(Sample{"hello", 31, false},
                                         Sample{"w90", 514, false},
                                         Sample{"w90-heap", 446, false},
                                         Sample{"w910", 506, false},
                                         Sample{"w910-heap", 500, false},
                                         Sample{"w910-nonmoving", 406, false},
                                         Sample{"w910-cut", 313, true}),
                         [](const auto& test) {
                             std::string name = test.param.name;
                             std::replace(name.begin(), name.end(), '-', '_');
                             return name;
                         });

}  // namespace
}  // namespace tracer::test
