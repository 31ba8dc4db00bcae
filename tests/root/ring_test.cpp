// SPDX-License-Identifier: Apache-2.0
//
// Programs that write events to rings of their own, recorded beside the kernel's view.
#include "root/ocaml_program.h"
#include "root/recording.h"
#include "support/fixtures/requirements.h"
#include "support/fixtures/target_program.h"

#include <cstdint>
#include <set>

#include <gtest/gtest.h>

namespace tracer::test {
namespace {

// Collects, says how often it did, and waits to be told to go on. What it writes fits its ring: one
// that is found late misses nothing.
constexpr const char* kOcamlProgram = R"(
let work () =
  let keep = ref [] in
  for i = 1 to 20_000 do
    keep := List.init 50 (fun k -> k + i);
    ignore (Sys.opaque_identity !keep)
  done

let () =
  work ();
  print_endline "ready";
  ignore (input_line stdin);
  let before = (Gc.quick_stat ()).Gc.minor_collections in
  for _ = 1 to 20 do work () done;
  Gc.full_major ();
  let after = (Gc.quick_stat ()).Gc.minor_collections in
  Printf.printf "%d %d\n%!" before after;
  ignore (input_line stdin)
)";

class OcamlRing : public OcamlProgram {
protected:
    void SetUp() override { compile(kOcamlProgram); }
};

uint64_t minors_of(const Recorded& recorded) {
    return count_by_name(recorded.file, "gc", FxtEventType::duration_begin)["minor"];
}

TEST_P(OcamlRing, OfARunningProgramSaysWhatItsRuntimeCounts) {
    const auto run = record_running(Ring::on);
    ASSERT_TRUE(run) << run.error().what;
    EXPECT_EQ(minors_of(run->recorded), run->collections.after - run->collections.before);
    const auto& rings = run->recorded.result.summary.at("shared_rings");
    ASSERT_EQ(rings.size(), 1u);
    EXPECT_EQ(rings[0].at("pid"), run->pid);
    EXPECT_EQ(rings[0].at("runtime"),
              GetParam() == std::string("trixie") ? "OCaml 5.3" : "OCaml 5.4 to 5.5");
    // The pack says nothing besides: its probes are functions of the program.
    EXPECT_TRUE(count_by_name(run->recorded.file, "app", FxtEventType::duration_begin).empty());
    // Switches of the same process, on the same clock.
    EXPECT_FALSE(run->recorded.file.switches.empty());
}

TEST_P(OcamlRing, FromTheFirstInstructionIsWholeAlsoThroughACapture) {
    auto recorder = Recorder::start_capture({"--", "/bin/sh", "-c", program(Ring::on)});
    ASSERT_TRUE(recorder) << recorder.error().what;
    ASSERT_EQ(recorder->process().read_line(kOcamlLimit).value_or(""), "ready");
    const auto collections = collect(recorder->process());
    ASSERT_TRUE(collections) << collections.error().what;
    ASSERT_TRUE(recorder->process().send_line("end"));
    const auto recorded = recorder->finish();
    ASSERT_TRUE(recorded) << recorded.error().what;
    expect_sound(*recorded);
    expect_nothing_lost(*recorded);
    EXPECT_EQ(minors_of(*recorded), collections->after);
    EXPECT_EQ(recorded->result.summary.at("spans").at("orphan_ends"), 0u);
}

uint64_t work_of(const Recorded& recorded, FxtEventType type) {
    return count_by_name(recorded.file, "user", type)["work"];
}

// Threads that are born and end meanwhile, each with a ring.
TEST(RingRecorded, OurLibrarysEventsAreAllThere) {
    TR_REQUIRE_ROOT();
    TR_REQUIRE_FILE(tracer_binary());
    auto target = ChildProcess::start({target_path("ring_writer"), "--pause", "1000"});
    ASSERT_TRUE(target) << target.error().what;
    ASSERT_TRUE(target->read_json(kOcamlLimit));
    auto recorder = Recorder::start({"--pid", std::to_string(target->pid())});
    ASSERT_TRUE(recorder) << recorder.error().what;
    ASSERT_TRUE(target->send_line("go"));
    const auto counts = target->read_json(kOcamlLimit);
    ASSERT_TRUE(counts) << counts.error().what;
    const auto recorded = recorder->stop();
    // Of itself, or its file stays.
    EXPECT_TRUE(target->send_line("end") && target->wait(kOcamlLimit));
    ASSERT_TRUE(recorded) << recorded.error().what;
    expect_sound(*recorded);
    expect_nothing_lost(*recorded);
    EXPECT_EQ(work_of(*recorded, FxtEventType::duration_begin), counts->at("spans"));
    EXPECT_EQ(work_of(*recorded, FxtEventType::duration_end), counts->at("spans"));
    EXPECT_EQ(count_by_name(recorded->file, "user", FxtEventType::counter)["step"],
              counts->at("spans"));
    EXPECT_EQ(recorded->result.summary.at("spans").at("orphan_ends"), 0u);
    // On the tracks of the threads that wrote them, which the kernel tells of too.
    std::set<uint64_t> writers;
    for (const FxtEvent& event : recorded->file.events) {
        if (event.type == FxtEventType::duration_begin && event.name == "work") {
            writers.insert(event.tid);
        }
    }
    EXPECT_EQ(writers.size(), 3u);
    std::set<uint64_t> switched;
    for (const auto& change : recorded->file.switches) switched.insert(change.in_tid);
    for (const uint64_t writer : writers) EXPECT_TRUE(switched.contains(writer)) << writer;
}

// It writes, and is gone with its file before anybody could look at what it has mapped.
TEST(RingRecorded, AProgramThatEndsAtOnceIsReadToo) {
    TR_REQUIRE_ROOT();
    TR_REQUIRE_FILE(tracer_binary());
    const std::string program =
        "echo go | " + target_path("ring_writer") + " --spans 10 >/dev/null";
    // One that the shell starts, and one more from a shell of its own.
    auto recorder = Recorder::start(
        {"--no-packs", "--", "/bin/sh", "-c", program + "; /bin/sh -c '" + program + "'; true"});
    ASSERT_TRUE(recorder) << recorder.error().what;
    const auto recorded = recorder->finish();
    ASSERT_TRUE(recorded) << recorded.error().what;
    expect_sound(*recorded);
    EXPECT_EQ(recorded->result.summary.at("shared_rings").size(), 2u);
    EXPECT_EQ(work_of(*recorded, FxtEventType::duration_begin), 60u);
    EXPECT_EQ(work_of(*recorded, FxtEventType::duration_end), 60u);
    EXPECT_EQ(recorded->result.summary.at("spans").at("orphan_ends"), 0u);
}

// Rings of 64 words, overwritten long before they can be read: what is missing is a number.
TEST(RingRecorded, WhatIsOverwrittenIsCountedExactly) {
    TR_REQUIRE_ROOT();
    TR_REQUIRE_FILE(tracer_binary());
    auto target =
        ChildProcess::start({target_path("ring_writer"), "--log2", "6", "--spans", "100000"});
    ASSERT_TRUE(target) << target.error().what;
    ASSERT_TRUE(target->read_json(kOcamlLimit));
    auto recorder = Recorder::start({"--pid", std::to_string(target->pid())});
    ASSERT_TRUE(recorder) << recorder.error().what;
    ASSERT_TRUE(target->send_line("go"));
    const auto counts = target->read_json(kOcamlLimit);
    ASSERT_TRUE(counts) << counts.error().what;
    const auto recorded = recorder->stop();
    // Of itself, or its file stays.
    EXPECT_TRUE(target->send_line("end") && target->wait(kOcamlLimit));
    ASSERT_TRUE(recorded) << recorded.error().what;
    expect_sound(*recorded);
    const auto& rings = recorded->result.summary.at("shared_rings");
    ASSERT_EQ(rings.size(), 1u);
    EXPECT_TRUE(rings[0].at("lost").at("exact"));
    EXPECT_GT(rings[0].at("lost").at("events"), 0u);
    // Those before the recording are not of it: the main thread's "ring_start".
    EXPECT_EQ(
        rings[0].at("events").get<uint64_t>() + rings[0].at("lost").at("events").get<uint64_t>(),
        counts->at("written").get<uint64_t>() - 1);
    EXPECT_EQ(recorded->result.summary.at("loss").at("overwritten"),
              rings[0].at("lost").at("events"));
}

INSTANTIATE_TEST_SUITE_P(Releases, OcamlRing, testing::Values("trixie", "sid"));

}  // namespace
}  // namespace tracer::test
