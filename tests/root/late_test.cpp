// SPDX-License-Identifier: Apache-2.0
//
// Files that nobody ran when the recording began. Each program numbers its hits and makes about one
// a millisecond, so the first number in the trace says what went by before the probe was armed:
// from there to the last, every one must be there.
#include "root/recording.h"
#include "support/fixtures/requirements.h"
#include "support/fixtures/target_program.h"

#include <filesystem>

#include <gtest/gtest.h>

namespace tracer::test {
namespace {

constexpr Milliseconds kLimit{60000};
constexpr uint64_t kHits = 1500;

// What a program that numbers its hits left in the trace.
struct Numbered {
    uint64_t first = 0;
    uint64_t first_time = 0;
    uint64_t pid = 0;
};

// All hits of the event from some number on, to the last of `count`.
void expect_counted_to_the_end(const FxtFile& file,
                               std::string_view name,
                               uint64_t count,
                               Numbered& out) {
    const auto hits = events_of(file, name);
    ASSERT_GT(hits.size(), 0u);
    out.first = integer_argument(file, *hits.front(), "arg0").value_or(UINT64_MAX);
    out.first_time = hits.front()->time;
    out.pid = hits.front()->pid;
    ASSERT_EQ(hits.size(), count - out.first);
    for (size_t i = 0; i < hits.size(); i++) {
        ASSERT_EQ(integer_argument(file, *hits[i], "arg0"), out.first + i);
        ASSERT_EQ(hits[i]->pid, out.pid);
    }
}

// The event that tells of the file's probes; nullptr: none, or more than one.
const FxtEvent* armed_event(const FxtFile& file, std::string_view path_end) {
    const FxtEvent* found = nullptr;
    for (const FxtEvent* event : events_of(file, "probes armed")) {
        const FxtValue* path = file.find(event->arguments, "file");
        if (path == nullptr || !std::holds_alternative<std::string_view>(*path)) continue;
        if (!std::get<std::string_view>(*path).ends_with(path_end)) continue;
        if (found != nullptr) return nullptr;
        found = event;
    }
    return found;
}

// The trace says when the file was armed, and no hit was missed after that.
void expect_armed(const Recorded& recorded,
                  std::string_view path_end,
                  const Numbered& hits,
                  uint64_t sites) {
    const FxtEvent* armed = armed_event(recorded.file, path_end);
    ASSERT_NE(armed, nullptr);
    EXPECT_EQ(integer_argument(recorded.file, *armed, "sites"), sites);
    EXPECT_EQ(armed->pid, hits.pid);
    const auto delay_us = integer_argument(recorded.file, *armed, "delay_us");
    ASSERT_TRUE(delay_us);
    // The program paces itself with one hit a millisecond after some hundred microseconds of
    // start: it cannot have made more before it was armed.
    EXPECT_LE(hits.first, *delay_us / 1000 + 1);
    EXPECT_GE(recorded.result.summary.at("armed_late").at("delay_max_us"), *delay_us);
}

TEST(Late, ALibraryLoadedLater) {
    TR_REQUIRE_ROOT();
    TR_REQUIRE_FILE(tracer_binary());
    const std::string library = target_path("liblate_library.so");
    auto target = start_target("late_loader", {library, "--hits", std::to_string(kHits)});
    ASSERT_TRUE(target) << target.error().what;
    auto recorder = Recorder::start(
        {"-e", "usdt:late:hit", "--wait", "--no-sched", "--pid", std::to_string(target->pid())});
    ASSERT_TRUE(recorder) << recorder.error().what;
    ASSERT_TRUE(run_target(*target, kLimit, 1));
    const auto recorded = recorder->stop();
    ASSERT_TRUE(recorded) << recorded.error().what;
    expect_sound(*recorded);
    expect_nothing_lost(*recorded);
    Numbered hits;
    ASSERT_NO_FATAL_FAILURE(expect_counted_to_the_end(recorded->file, "hit", kHits, hits));
    EXPECT_EQ(hits.pid, static_cast<uint64_t>(target->pid()));
    expect_armed(*recorded, "liblate_library.so", hits, 1);
}

TEST(Late, WithoutWaitAProbeThatAProcessLacksIsAnError) {
    TR_REQUIRE_ROOT();
    TR_REQUIRE_FILE(tracer_binary());
    auto target = start_target("late_loader", {target_path("liblate_library.so")});
    ASSERT_TRUE(target) << target.error().what;
    const auto refused =
        run_tracer({"-e", "usdt:late:hit", "--pid", std::to_string(target->pid())});
    ASSERT_TRUE(refused) << refused.error().what;
    EXPECT_EQ(refused->status.code, 4);
    EXPECT_NE(refused->errors.find("no USDT probe late:hit"), std::string::npos);
}

TEST(Late, AProbeThatItsFileLacksIsAnErrorEvenWhereOthersAreWaitedFor) {
    TR_REQUIRE_ROOT();
    TR_REQUIRE_FILE(tracer_binary());
    const auto refused =
        run_tracer({"-a", "-d", "1s", "-e", "u:" + target_path("flood") + ":flood_functoin"});
    ASSERT_TRUE(refused) << refused.error().what;
    EXPECT_EQ(refused->status.code, 4);
    EXPECT_NE(refused->errors.find("flood_function"), std::string::npos) << refused->errors;
}

TEST(Late, TheProgramAtTheEndOfAChainOfExecs) {
    TR_REQUIRE_ROOT();
    TR_REQUIRE_FILE(tracer_binary());
    const std::string script =
        "exec env " + target_path("flood") + " --rate 1000 --hits " + std::to_string(kHits);
    auto recorder =
        Recorder::start({"-e", "usdt:flood:hit", "--no-sched", "--", "/bin/sh", "-c", script});
    ASSERT_TRUE(recorder) << recorder.error().what;
    EXPECT_NE(recorder->process().errors().find("waiting for usdt:flood:hit"), std::string::npos);
    ASSERT_TRUE(recorder->process().send_line("go"));
    recorder->process().close_input();
    const auto recorded = recorder->finish();
    ASSERT_TRUE(recorded) << recorded.error().what;
    expect_sound(*recorded);
    expect_nothing_lost(*recorded);
    Numbered hits;
    ASSERT_NO_FATAL_FAILURE(expect_counted_to_the_end(recorded->file, "hit", kHits, hits));
    expect_armed(*recorded, "/flood", hits, 1);
    EXPECT_EQ(recorded->result.summary.at("armed_late").at("files"), 1);
}

// An update puts a new file under the name while the old one still runs.
TEST(Late, AProgramReplacedUnderItsName) {
    TR_REQUIRE_ROOT();
    TR_REQUIRE_FILE(tracer_binary());
    namespace fs = std::filesystem;
    const auto folder = TempFolder::make();
    ASSERT_TRUE(folder);
    const std::string program = folder->file("app");
    fs::copy_file(target_path("flood"), program);
    const std::vector<std::string> command{program, "--rate", "1000", "--hits",
                                           std::to_string(kHits)};
    auto before = ChildProcess::start(command);
    ASSERT_TRUE(before);
    ASSERT_TRUE(before->read_json(kLimit));  // ready
    auto recorder = Recorder::start({"-a", "--no-sched", "-e", "u:" + program + ":flood_function",
                                     "-e", "usdt:" + program + ":flood:hit"});
    ASSERT_TRUE(recorder) << recorder.error().what;
    fs::copy_file(target_path("flood"), folder->file("new"));
    fs::rename(folder->file("new"), program);
    auto after = ChildProcess::start(command);
    ASSERT_TRUE(after);
    ASSERT_TRUE(after->read_json(kLimit));
    for (ChildProcess* process : {&*before, &*after}) ASSERT_TRUE(process->send_line("go"));
    for (ChildProcess* process : {&*before, &*after}) ASSERT_TRUE(process->read_json(kLimit));
    const auto recorded = recorder->stop();
    ASSERT_TRUE(recorded) << recorded.error().what;
    expect_sound(*recorded);
    expect_nothing_lost(*recorded);
    std::map<uint64_t, uint64_t> hits;
    for (const FxtEvent* event : events_of(recorded->file, "hit")) hits[event->pid]++;
    EXPECT_EQ(hits[static_cast<uint64_t>(before->pid())], kHits);
    // It was told to begin after the test had seen its first line; armed by then or soon after.
    const FxtEvent* armed = armed_event(recorded->file, "/app");
    ASSERT_NE(armed, nullptr);
    EXPECT_EQ(integer_argument(recorded->file, *armed, "sites"), 2u);
    const uint64_t missed = kHits - hits[static_cast<uint64_t>(after->pid())];
    EXPECT_LE(missed, integer_argument(recorded->file, *armed, "delay_us").value_or(0) / 1000 + 1);
    const auto row = probe_row(recorded->result.summary, "usdt:" + program + ":flood:hit");
    ASSERT_TRUE(row.is_object());
    EXPECT_EQ(row.at("hits"), 2 * kHits - missed);
}

// The layer's own program and the same file through the overlay are one inode: each hit is there
// once, whatever name it was run by.
TEST(Late, AProgramOnAnOverlayInItsOwnMountNamespace) {
    TR_REQUIRE_ROOT();
    TR_REQUIRE_FILE(tracer_binary());
    namespace fs = std::filesystem;
    const auto folder = TempFolder::make();
    ASSERT_TRUE(folder);
    for (const char* name : {"lower", "upper", "work", "merged"}) {
        fs::create_directory(folder->file(name));
    }
    fs::copy_file(target_path("flood"), folder->file("lower/app"));
    const std::string path = folder->path();
    const std::string script = "mount -t overlay overlay -o lowerdir=" + path +
                               "/lower,upperdir=" + path + "/upper,workdir=" + path + "/work " +
                               path + "/merged && exec " + path +
                               "/merged/app --rate 1000 --hits " + std::to_string(kHits);
    auto inside = ChildProcess::start({"unshare", "-m", "/bin/sh", "-c", script});
    ASSERT_TRUE(inside);
    const auto ready = inside->read_json(kLimit);
    if (!ready) GTEST_SKIP() << "no overlayfs: " << inside->errors();
    auto recorder =
        Recorder::start({"-a", "--no-sched", "-e", "usdt:" + path + "/merged/app:flood:hit", "-e",
                         "usdt:" + path + "/lower/app:flood:hit"});
    ASSERT_TRUE(recorder) << recorder.error().what;
    auto plain = ChildProcess::start(
        {path + "/lower/app", "--rate", "1000", "--hits", std::to_string(kHits)});
    ASSERT_TRUE(plain);
    ASSERT_TRUE(plain->read_json(kLimit));
    for (ChildProcess* process : {&*inside, &*plain}) ASSERT_TRUE(process->send_line("go"));
    for (ChildProcess* process : {&*inside, &*plain}) ASSERT_TRUE(process->read_json(kLimit));
    const auto recorded = recorder->stop();
    ASSERT_TRUE(recorded) << recorded.error().what;
    expect_sound(*recorded);
    std::map<uint64_t, uint64_t> hits;
    for (const FxtEvent* event : events_of(recorded->file, "hit")) hits[event->pid]++;
    EXPECT_EQ(hits[static_cast<uint64_t>(inside->pid())], kHits);
    EXPECT_EQ(hits[static_cast<uint64_t>(plain->pid())], kHits);
}

TEST(Late, AProgramInAnotherRoot) {
    TR_REQUIRE_ROOT();
    TR_REQUIRE_FILE(tracer_binary());
    const auto folder = TempFolder::make();
    ASSERT_TRUE(folder);
    std::filesystem::copy_file(target_path("flood_static"), folder->file("only-here"));
    auto recorder = Recorder::start({"-e", "usdt:/only-here:flood:hit", "--no-sched", "--",
                                     "chroot", folder->path(), "/only-here", "--rate", "1000",
                                     "--hits", std::to_string(kHits)});
    ASSERT_TRUE(recorder) << recorder.error().what;
    ASSERT_TRUE(recorder->process().send_line("go"));
    recorder->process().close_input();
    const auto recorded = recorder->finish();
    ASSERT_TRUE(recorded) << recorded.error().what;
    expect_sound(*recorded);
    Numbered hits;
    ASSERT_NO_FATAL_FAILURE(expect_counted_to_the_end(recorded->file, "hit", kHits, hits));
    expect_armed(*recorded, "/only-here", hits, 1);
}

// The id that a thread's object says it has in its own pid namespace; 0: none.
uint64_t ns_id_of(const FxtFile& file, uint64_t id, std::string_view argument) {
    for (const FxtKernelObject& object : file.objects) {
        const FxtValue* value = file.find(object.arguments, argument);
        if (object.koid != id || value == nullptr) continue;
        if (const auto* number = std::get_if<uint32_t>(value)) return *number;
    }
    return 0;
}

TEST(Late, AProcessInItsOwnPidNamespaceByItsOwnNumber) {
    TR_REQUIRE_ROOT();
    TR_REQUIRE_FILE(tracer_binary());
    auto outer = ChildProcess::start(
        {"unshare", "--pid", "--fork", "--kill-child", target_path("flood"), "--hits", "300"});
    ASSERT_TRUE(outer);
    const auto ready = outer->read_json(kLimit);
    ASSERT_TRUE(ready) << outer->errors();
    EXPECT_EQ(ready->at("ready"), 1);  // what it calls itself
    const auto children = read_file("/proc/" + std::to_string(outer->pid()) + "/task/" +
                                    std::to_string(outer->pid()) + "/children");
    ASSERT_TRUE(children);
    const std::string inner = std::to_string(std::stoul(*children));
    auto recorder = Recorder::start({"--pid", "1@" + inner, "--no-sched", "-e", "usdt:flood:hit"});
    ASSERT_TRUE(recorder) << recorder.error().what;
    ASSERT_TRUE(run_target(*outer, kLimit, 1));
    const auto recorded = recorder->stop();
    ASSERT_TRUE(recorded) << recorded.error().what;
    expect_sound(*recorded);
    expect_nothing_lost(*recorded);
    const auto hits = events_of(recorded->file, "hit");
    ASSERT_EQ(hits.size(), 300u);
    EXPECT_EQ(std::to_string(hits[0]->pid), inner);
    EXPECT_EQ(ns_id_of(recorded->file, hits[0]->pid, "ns_pid"), 1u);
    EXPECT_EQ(ns_id_of(recorded->file, hits[0]->tid, "ns_tid"), 2u);  // of its only other thread
}

}  // namespace
}  // namespace tracer::test
