// SPDX-License-Identifier: Apache-2.0
#include "decoder_fixture.h"

namespace tracer {
namespace {

using test::At;
using test::TaskFields;
using testing::ElementsAre;
using testing::IsEmpty;

class DecoderTask : public DecoderTest {
protected:
    void task(uint16_t kind, uint64_t time, uint32_t tgid, uint32_t tid, const TaskFields& fields) {
        feed(test::make_task({.time_ns = time, .tgid = tgid, .tid = tid}, kind, fields));
    }
    void info(uint32_t tgid, uint32_t tid, std::string_view comm, uint64_t start_ns) {
        task(TR_KIND_task_info, 1, tgid, tid, {.comm = comm, .start_ns = start_ns});
    }
    void hit(uint64_t time, uint32_t tgid, uint32_t tid) {
        feed(test::make_hit({.time_ns = time, .tgid = tgid, .tid = tid}, kEvent, {1, 2}));
    }
    [[nodiscard]] std::string names(uint32_t tid) const {
        const model::Thread* thread = writer_.find_thread(tid);
        return thread == nullptr ? "undefined" : thread->process_name + "/" + thread->thread_name;
    }
};

TEST_F(DecoderTask, IsDefinedWhenItIsFirstNamed) {
    info(7, 7, "server", 100);
    info(7, 8, "worker", 200);
    EXPECT_THAT(writer_.threads(), IsEmpty());
    hit(10, 7, 8);
    ASSERT_EQ(writer_.threads().size(), 1U);
    EXPECT_EQ(names(8), "server/worker");
    EXPECT_EQ(writer_.find_thread(8)->start_ns, 200U);
}

TEST_F(DecoderTask, ANameLearntLaterIsDefinedAgain) {
    hit(10, 7, 8);
    EXPECT_EQ(names(8), "/");
    info(7, 7, "server", 100);
    info(7, 8, "worker", 200);
    EXPECT_EQ(names(8), "server/worker");
    task(TR_KIND_task_rename, 20, 7, 8, {.comm = "busy"});
    EXPECT_EQ(names(8), "server/busy");
    EXPECT_EQ(writer_.threads().size(), 1U);
}

TEST_F(DecoderTask, AChildTakesItsParentsNameAndProcess) {
    info(7, 7, "server", 100);
    task(TR_KIND_task_new, 10, 7, 8,
         {.comm = "server", .parent_tgid = 7, .parent_tid = 7, .start_ns = 10});
    task(TR_KIND_task_new, 20, 9, 9,
         {.comm = "", .parent_tgid = 7, .parent_tid = 8, .start_ns = 20});
    EXPECT_THAT(writer_.lines(), ElementsAre("10 fork 7 child 8", "20 fork 8 child 9"));
    EXPECT_EQ(names(8), "server/server");
    EXPECT_EQ(names(9), "server/server");
    EXPECT_EQ(writer_.find_thread(9)->pid, 9U);
    EXPECT_EQ(writer_.find_thread(9)->parent_pid, 7U);
}

TEST_F(DecoderTask, ANumberUsedAgainIsAnotherThread) {
    task(TR_KIND_task_new, 10, 7, 7, {.comm = "one", .parent_tgid = 1, .start_ns = 10});
    hit(11, 7, 7);
    task(TR_KIND_task_exit, 12, 7, 7, {.comm = "one", .start_ns = 10, .exit_code = 9});
    task(TR_KIND_task_new, 20, 7, 7, {.comm = "two", .parent_tgid = 1, .start_ns = 20});
    hit(21, 7, 7);
    EXPECT_THAT(writer_.lines(), ElementsAre("11 instant event 7 [1, 2]", "12 exit 7 code 137",
                                             "21 instant event 7#1 [1, 2]"));
    ASSERT_EQ(writer_.threads().size(), 2U);
    EXPECT_EQ(names(7), "two/two");
    EXPECT_EQ(writer_.find_thread(7)->process_life, 1U);
    EXPECT_EQ(writer_.threads().begin()->second.thread_name, "one");
}

TEST_F(DecoderTask, AThreadOfAReusedNumberLeavesTheProcessAlone) {
    task(TR_KIND_task_new, 10, 7, 8, {.comm = "a", .parent_tgid = 7, .start_ns = 10});
    hit(11, 7, 8);
    task(TR_KIND_task_exit, 12, 7, 8, {.comm = "a", .start_ns = 10});
    task(TR_KIND_task_new, 20, 7, 8, {.comm = "b", .parent_tgid = 7, .start_ns = 20});
    hit(21, 7, 8);
    EXPECT_EQ(writer_.find_thread(8)->thread_life, 1U);
    EXPECT_EQ(writer_.find_thread(8)->process_life, 0U);
}

TEST_F(DecoderTask, AnotherProcessUnderTheSameTidIsAnotherThread) {
    hit(10, 7, 8);
    begin(11, kBeginF, 0x1000, 8);
    hit(20, 8, 8);
    EXPECT_THAT(writer_.lines(),
                ElementsAre("10 instant event 8 [1, 2]", "11 begin f 8 [1]",
                            "20 end f 8 thread_exit []", "20 instant event 8#1 [1, 2]"));
}

TEST_F(DecoderTask, ASnapshotDoesNotBringBackAnEarlierLife) {
    task(TR_KIND_task_new, 20, 7, 7, {.comm = "new", .start_ns = 20});
    info(7, 7, "old", 10);
    hit(30, 7, 7);
    EXPECT_EQ(names(7), "new/new");
    EXPECT_EQ(writer_.find_thread(7)->thread_life, 0U);
}

TEST_F(DecoderTask, TheSnapshotAndTheBirthOfOneThreadAgree) {
    task(TR_KIND_task_new, 20, 7, 7, {.comm = "a", .start_ns = 20});
    info(7, 7, "a", 20);
    task(TR_KIND_task_new, 20, 7, 7, {.comm = "a", .start_ns = 20});
    hit(30, 7, 7);
    EXPECT_EQ(writer_.find_thread(7)->thread_life, 0U);
}

TEST_F(DecoderTask, ExecOfAThreadedProcessLeavesOneThread) {
    info(7, 7, "shell", 100);
    info(7, 8, "helper", 200);
    begin(10, kBeginF, 0x1000, 7);
    begin(11, kBeginF, 0x2000, 8);
    feed(test::make_exec({.time_ns = 20, .tgid = 7, .tid = 7}, "program", "/usr/bin/program"));
    EXPECT_THAT(writer_.lines(),
                ElementsAre("10 begin f 7 [1]", "11 begin f 8 [1]", "20 end f 7 unwound []",
                            "20 end f 8 thread_exit []", "20 exec 7 /usr/bin/program"));
    EXPECT_EQ(names(7), "program/program");
    EXPECT_EQ(writer_.find_thread(7)->process_life, 0U);
    task(TR_KIND_task_new, 30, 7, 8, {.comm = "fresh", .parent_tgid = 7, .start_ns = 30});
    hit(31, 7, 8);
    EXPECT_EQ(writer_.find_thread(8)->thread_life, 1U);
    EXPECT_EQ(names(8), "program/fresh");
}

TEST_F(DecoderTask, RenamingTheLeaderKeepsTheProcessName) {
    info(7, 7, "node", 100);
    hit(5, 7, 7);
    task(TR_KIND_task_rename, 10, 7, 7, {.comm = "MainThread"});
    EXPECT_EQ(names(7), "node/MainThread");
}

TEST_F(DecoderTask, TheRecordersProcessSaysSo) {
    auto definitions = standard_definitions();
    definitions.own_pid = 99;
    start(std::move(definitions));
    info(99, 99, "tracer", 100);
    feed(test::make_switch({.time_ns = 10}, 99, 99, 0));
    EXPECT_EQ(names(99), "tracer (recording)/tracer");
}

TEST_F(DecoderTask, ALongCommWithoutAnEndIsCutAtItsField) {
    auto record = test::make_task({.time_ns = 1, .tgid = 7, .tid = 7}, TR_KIND_task_info, {});
    for (size_t i = 0; i < TR_COMM_BYTES; ++i) {
        record[offsetof(tr_task, comm) + i] = std::byte{'x'};
    }
    feed(record);
    hit(2, 7, 7);
    EXPECT_EQ(writer_.find_thread(7)->thread_name, std::string(TR_COMM_BYTES, 'x'));
}

TEST_F(DecoderTask, TheIdleTaskIsNoThread) {
    for (const uint16_t kind :
         {TR_KIND_task_new, TR_KIND_task_exit, TR_KIND_task_rename, TR_KIND_task_info}) {
        task(kind, 1, 0, 0, {.comm = "swapper/0"});
    }
    feed(test::make_exec({.time_ns = 1}, "x", "/x"));
    hit(2, 0, 0);
    EXPECT_THAT(writer_.lines(), IsEmpty());
    EXPECT_THAT(writer_.threads(), IsEmpty());
}

class DecoderWanted : public DecoderTask {
protected:
    void start_with(std::vector<uint32_t> pids, std::vector<uint32_t> tids, bool follow) {
        auto definitions = standard_definitions();
        definitions.record_all = false;
        definitions.pids = std::move(pids);
        definitions.tids = std::move(tids);
        definitions.follow_children = follow;
        start(std::move(definitions));
    }
    [[nodiscard]] bool is_recorded(uint32_t tgid, uint32_t tid) {
        static_cast<void>(writer_.take_lines());
        feed(test::make_switch({.time_ns = 1000}, tgid, tid, 0));
        feed(test::make_switch({.time_ns = 1001, .tgid = tgid, .tid = tid}, 0, 0, 1));
        return !writer_.take_lines().empty();
    }
};

TEST_F(DecoderWanted, AreTheThreadsOfTheProcessesNamed) {
    start_with({7}, {}, false);
    EXPECT_TRUE(is_recorded(7, 7));
    EXPECT_TRUE(is_recorded(7, 8));
    EXPECT_FALSE(is_recorded(9, 9));
}

TEST_F(DecoderWanted, IsAThreadNamedAlone) {
    start_with({}, {8}, false);
    EXPECT_TRUE(is_recorded(7, 8));
    EXPECT_FALSE(is_recorded(7, 7));
}

TEST_F(DecoderWanted, AreChildrenWhenFollowed) {
    for (const bool follow : {true, false}) {
        start_with({7}, {}, follow);
        task(TR_KIND_task_new, 10, 20, 20, {.parent_tgid = 7, .parent_tid = 7, .start_ns = 10});
        EXPECT_EQ(is_recorded(20, 20), follow) << "of a parent not mentioned before";
        task(TR_KIND_task_new, 11, 7, 8, {.parent_tgid = 7, .parent_tid = 7, .start_ns = 11});
        task(TR_KIND_task_new, 12, 21, 21, {.parent_tgid = 7, .parent_tid = 8, .start_ns = 12});
        task(TR_KIND_task_new, 13, 22, 22, {.parent_tgid = 21, .parent_tid = 21, .start_ns = 13});
        EXPECT_EQ(is_recorded(21, 21), follow);
        EXPECT_EQ(is_recorded(22, 22), follow);
        EXPECT_EQ(is_recorded(22, 23), follow);
    }
}

TEST_F(DecoderWanted, IsNotALaterProcessWithTheNumber) {
    start_with({7}, {}, true);
    info(7, 7, "target", 5);
    task(TR_KIND_task_exit, 10, 7, 7, {.start_ns = 5});
    task(TR_KIND_task_new, 20, 7, 7, {.parent_tgid = 1, .parent_tid = 1, .start_ns = 20});
    EXPECT_FALSE(is_recorded(7, 7));
}

TEST_F(DecoderWanted, OnlyTheirLivesAreWritten) {
    start_with({7}, {}, false);
    info(7, 7, "target", 5);
    info(9, 9, "other", 5);
    task(TR_KIND_task_new, 10, 20, 20, {.parent_tgid = 7, .parent_tid = 7, .start_ns = 10});
    task(TR_KIND_task_new, 11, 21, 21, {.parent_tgid = 9, .parent_tid = 9, .start_ns = 11});
    feed(test::make_exec({.time_ns = 12, .tgid = 20, .tid = 20}, "x", "/x"));
    task(TR_KIND_task_exit, 13, 9, 9, {.start_ns = 5});
    task(TR_KIND_task_exit, 14, 7, 7, {.start_ns = 5, .exit_code = 2 << 8});
    EXPECT_THAT(writer_.lines(), ElementsAre("10 fork 7 child 20", "14 exit 7 code 2"));
}

}  // namespace
}  // namespace tracer
