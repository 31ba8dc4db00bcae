// SPDX-License-Identifier: Apache-2.0
//
// Programs that the tracer starts itself: stopped before their first instruction until all is
// attached.
#include "root/recording.h"
#include "support/fixtures/requirements.h"
#include "support/fixtures/target_program.h"

#include <gtest/gtest.h>

namespace tracer::test {
namespace {

TEST(CommandRecorded, TheFirstHitIsInTheTrace) {
    TR_REQUIRE_ROOT();
    TR_REQUIRE_FILE(tracer_binary());
    auto recorder = Recorder::start({"-e", "usdt:" + target_path("flood") + ":flood:hit", "--",
                                     target_path("flood"), "--hits", "100"});
    ASSERT_TRUE(recorder) << recorder.error().what;
    ASSERT_TRUE(recorder->process().send_line("go"));
    recorder->process().close_input();
    const auto recorded = recorder->finish();
    ASSERT_TRUE(recorded) << recorded.error().what;
    expect_sound(*recorded);
    expect_nothing_lost(*recorded);
    const auto hits = events_of(recorded->file, "hit");
    ASSERT_EQ(hits.size(), 100u);
    for (size_t i = 0; i < hits.size(); i++) {
        EXPECT_EQ(integer_argument(recorded->file, *hits[i], "arg0"), i);
    }
}

TEST(CommandRecorded, ItsEndIsTheRecordingsAndItsStatusIsTold) {
    TR_REQUIRE_ROOT();
    TR_REQUIRE_FILE(tracer_binary());
    auto recorder = Recorder::start({"--", "/bin/sh", "-c", "read line; exit 7"});
    ASSERT_TRUE(recorder) << recorder.error().what;
    recorder->process().close_input();
    const auto recorded = recorder->finish();
    ASSERT_TRUE(recorded) << recorded.error().what;
    expect_sound(*recorded);
    EXPECT_EQ(recorded->result.summary.at("ended_by"), "targets-ended");
    EXPECT_EQ(recorded->result.summary.at("command_end"), "/bin/sh exited with status 7");
    const auto ends = events_of(recorded->file, "exit");
    ASSERT_EQ(ends.size(), 1u);
    EXPECT_EQ(integer_argument(recorded->file, *ends[0], "code"), 7u);
}

}  // namespace
}  // namespace tracer::test
