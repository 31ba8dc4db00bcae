// SPDX-License-Identifier: Apache-2.0
//
// The rules across events: each machine of ghc-events with what it refuses, and ThreadScope's
// traps.
#include "support/eventlog_builder.h"
#include "support/eventlog_check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tracer::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

// Events in open-ended blocks, each at the time given, one nanosecond after the one before by
// default.
class Log {
public:
    Log() { builder_.declare_all().end_header(); }

    Log& on(uint16_t capability) {
        builder_.block(capability, time_, 0);
        return *this;
    }
    Log& at(uint64_t time_ns) {
        time_ = time_ns;
        return *this;
    }
    Log& create(uint32_t thread) {
        return add(EventlogId::create_thread, BigEndianBytes().u32(thread));
    }
    Log& run(uint32_t thread) { return add(EventlogId::run_thread, BigEndianBytes().u32(thread)); }
    Log& stop(uint32_t thread, uint16_t status) {
        return add(EventlogId::stop_thread, BigEndianBytes().u32(thread).u16(status).u32(0));
    }
    Log& wake(uint32_t thread) {
        return add(EventlogId::thread_wakeup, BigEndianBytes().u32(thread).u16(0));
    }
    Log& migrate(uint32_t thread, uint16_t to) {
        return add(EventlogId::migrate_thread, BigEndianBytes().u32(thread).u16(to));
    }
    Log& task(uint64_t task, uint16_t capability, uint64_t tid) {
        return add(EventlogId::task_create, BigEndianBytes().u64(task).u16(capability).u64(tid));
    }
    Log& task_moves(uint64_t task, uint16_t from, uint16_t to) {
        return add(EventlogId::task_migrate, BigEndianBytes().u64(task).u16(from).u16(to));
    }
    Log& task_ends(uint64_t task) {
        return add(EventlogId::task_delete, BigEndianBytes().u64(task));
    }
    Log& spark_thread(uint32_t thread) {
        return add(EventlogId::create_spark_thread, BigEndianBytes().u32(thread));
    }
    Log& add(EventlogId id, const BigEndianBytes& payload = {}) {
        builder_.event(id, time_++, payload);
        return *this;
    }

    [[nodiscard]] EventlogCheck check() const {
        return check_eventlog(parse_eventlog(builder_.bytes()));
    }
    [[nodiscard]] std::vector<std::string> refused() const {
        std::vector<std::string> names;
        for (const auto& refusal : check().refusals)
            names.push_back(refusal.substr(0, refusal.find(':')));
        return names;
    }

private:
    EventlogBuilder builder_;
    uint64_t time_ = 1;
};

TEST(EventlogCheck, AcceptsAWholeLife) {
    EXPECT_THAT(Log()
                    .on(0)
                    .create(1)
                    .wake(1)
                    .run(1)
                    .stop(1, 6)
                    .run(1)
                    .stop(1, 7)
                    .wake(1)
                    .run(1)
                    .stop(1, 5)
                    .run(1)
                    .stop(1, 5)
                    .refused(),
                ElementsAre("threadpool"));  // an end after the end only matters to the pool
    EXPECT_THAT(Log().on(0).create(1).run(1).check().refusals, IsEmpty());
}

TEST(EventlogCheck, RunWithoutCreate) {
    EXPECT_THAT(Log().on(0).run(1).refused(), ElementsAre("threads"));
}

TEST(EventlogCheck, RunTwice) {
    EXPECT_THAT(Log().on(0).create(1).run(1).on(1).run(1).refused(),
                ElementsAre("threads", "threadrun"));
}

TEST(EventlogCheck, TwoThreadsOnOneCapability) {
    EXPECT_THAT(Log().on(0).create(1).create(2).run(1).run(2).refused(),
                ElementsAre("threads", "threadrun"));
}

TEST(EventlogCheck, WakeUpWhileRunning) {
    EXPECT_THAT(Log().on(0).create(1).run(1).wake(1).refused(), ElementsAre("threads"));
}

TEST(EventlogCheck, StopOfAThreadThatDoesNotRun) {
    EXPECT_THAT(Log().on(0).create(1).stop(1, 3).refused(), ElementsAre("threads", "threadrun"));
}

TEST(EventlogCheck, CreateOfALiveThread) {
    EXPECT_THAT(Log().on(0).create(1).create(1).refused(), ElementsAre("threads", "threadpool"));
}

TEST(EventlogCheck, IdsMayBeUsedAgainAfterTheEnd) {
    EXPECT_THAT(Log().on(0).create(1).run(1).stop(1, 5).create(1).refused(), IsEmpty());
}

TEST(EventlogCheck, MigrationOfNobody) {
    EXPECT_THAT(Log().on(0).migrate(1, 1).refused(), ElementsAre("threadpool"));
    EXPECT_THAT(Log().on(0).create(1).migrate(1, 1).on(1).run(1).refused(), IsEmpty());
}

TEST(EventlogCheck, RunElsewhereWithoutMigrationIsLetPass) {
    EXPECT_THAT(Log().on(0).create(1).on(1).run(1).refused(), IsEmpty());
}

TEST(EventlogCheck, ThreadEventsOutsideBlocks) {
    EXPECT_THAT(Log().create(1).refused(), ElementsAre("threadpool"));
    EXPECT_THAT(Log().create(1).run(1).refused(),
                ElementsAre("threads", "threadpool", "threadrun", "sparks"));
}

TEST(EventlogCheck, OrderIsByTimeAndTiesByPlace) {
    EXPECT_THAT(Log().on(0).at(10).run(1).on(1).at(5).create(1).refused(), IsEmpty());
    EXPECT_THAT(Log().on(0).at(5).create(1).at(5).run(1).refused(), IsEmpty());
    EXPECT_THAT(Log().on(0).at(5).run(1).at(5).create(1).refused(), ElementsAre("threads"));
}

TEST(EventlogCheck, Tasks) {
    EXPECT_THAT(Log().task(1, 0, 10).task_moves(1, 0, 1).task_ends(1).task(1, 0, 10).refused(),
                IsEmpty());
    EXPECT_THAT(Log().task(1, 0, 10).task(1, 0, 11).refused(), ElementsAre("taskpool", "tasks"));
    EXPECT_THAT(Log().task(1, 0, 10).task(2, 0, 10).refused(), ElementsAre("tasks"));
    EXPECT_THAT(Log().task_ends(1).refused(), ElementsAre("taskpool", "tasks"));
    EXPECT_THAT(Log().task_moves(1, 0, 1).refused(), ElementsAre("taskpool", "tasks"));
    EXPECT_THAT(Log().task(1, 0, 10).task_moves(1, 2, 1).refused(), ElementsAre("taskpool"));
}

TEST(EventlogCheck, SparkThreadsRunSparks) {
    const auto begin = [] { return Log().on(0).create(1).spark_thread(1); };
    EXPECT_THAT(begin().run(1).add(EventlogId::spark_run).stop(1, 3).run(1).stop(1, 5).refused(),
                IsEmpty());
    EXPECT_THAT(begin().run(1).stop(1, 3).refused(), ElementsAre("sparks"));
    EXPECT_THAT(begin().spark_thread(1).refused(), ElementsAre("sparks"));
}

TEST(EventlogCheck, SaysWhichEvent) {
    const auto refusals = Log().on(0).run(77).check().refusals;
    ASSERT_EQ(refusals.size(), 1U);
    EXPECT_THAT(refusals[0], StartsWith("threads: RUN_THREAD at 0x"));
    EXPECT_THAT(refusals[0], HasSubstr("time 1, capability 0"));
}

TEST(EventlogTraps, NoneInAPlainLog) {
    EXPECT_THAT(Log().on(0).create(1).run(1).on(1).add(EventlogId::gc_start).check().traps,
                IsEmpty());
}

TEST(EventlogTraps, TimeThatDoesNotBeginAtZero) {
    EXPECT_THAT(Log().on(0).at(3'600'000'000'000).create(1).check().traps,
                ElementsAre(HasSubstr("not about 0")));
}

TEST(EventlogTraps, GapsBetweenCapabilities) {
    EXPECT_THAT(Log().on(0).create(1).on(2).run(1).check().traps,
                ElementsAre(HasSubstr("capability 1 has no events")));
}

TEST(EventlogTraps, CollectionsOutsideBlocks) {
    EXPECT_THAT(Log().add(EventlogId::gc_start).check().traps, ElementsAre(HasSubstr("GC_START")));
}

TEST(EventlogTraps, InvalidTaskEvents) {
    EXPECT_THAT(Log().task_ends(1).check().traps, ElementsAre(HasSubstr("invalid task event")));
}

TEST(EventlogTraps, HeadersOfOldCompilers) {
    EventlogBuilder builder;
    builder.declare(0, 8).declare({EventlogId::user_marker}).end_header();
    const auto traps = check_eventlog(parse_eventlog(builder.bytes())).traps;
    EXPECT_THAT(traps, ElementsAre(HasSubstr("HACK_BUG_T9003"), HasSubstr("GHC 6")));
}

}  // namespace
}  // namespace tracer::test
