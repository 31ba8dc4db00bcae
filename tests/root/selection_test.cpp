// SPDX-License-Identifier: Apache-2.0
//
// Processes recorded by name, cgroup and container: each with one that fits and one that does not,
// which run the very same file.
#include "root/recording.h"
#include "support/fixtures/requirements.h"
#include "support/fixtures/target_program.h"

#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>

namespace tracer::test {
namespace {

namespace fs = std::filesystem;

constexpr Milliseconds kLimit{60000};
constexpr uint64_t kHits = 400;

std::vector<std::string> paced(const std::string& program) {
    return {program, "--rate", "1000", "--hits", std::to_string(kHits)};
}

Result<ChildProcess> start_paced(const std::string& program) {
    TR_ASSIGN(ChildProcess process, ChildProcess::start(paced(program)));
    TR_ASSIGN(const auto ready, process.read_json(kLimit));
    static_cast<void>(ready);
    return process;
}

// Tells all to begin and waits for their results.
void run_all(std::initializer_list<ChildProcess*> processes) {
    for (ChildProcess* process : processes) ASSERT_TRUE(process->send_line("go"));
    for (ChildProcess* process : processes) ASSERT_TRUE(process->read_json(kLimit));
}

uint64_t hits_of(const FxtFile& file, const ChildProcess& process) {
    uint64_t count = 0;
    for (const FxtEvent* event : events_of(file, "hit")) {
        if (event->pid == static_cast<uint64_t>(process.pid())) ++count;
    }
    return count;
}

// Where cgroup v2 is; empty: nowhere.
std::string cgroup_root() {
    for (const char* root : {"/sys/fs/cgroup", "/sys/fs/cgroup/unified"}) {
        if (fs::exists(std::string(root) + "/cgroup.procs") &&
            fs::exists(std::string(root) + "/cgroup.controllers")) {
            return root;
        }
    }
    return {};
}

// A cgroup of the test's own, removed at its end when no process is left in it.
class TestCgroup {
public:
    explicit TestCgroup(const std::string& path) : path_(path) { fs::create_directory(path_); }
    ~TestCgroup() {
        std::error_code error;
        fs::remove(path_, error);
    }
    TestCgroup(const TestCgroup&) = delete;
    TestCgroup& operator=(const TestCgroup&) = delete;

    [[nodiscard]] const std::string& path() const { return path_; }
    void take(const ChildProcess& process) const {
        std::ofstream file(path_ + "/cgroup.procs");
        file << process.pid() << std::flush;
        ASSERT_TRUE(file.good());
    }

private:
    std::string path_;
};

class Selected : public testing::Test {
protected:
    void SetUp() override {
        TR_REQUIRE_ROOT();
        TR_REQUIRE_FILE(tracer_binary());
    }
};

TEST_F(Selected, ByNameNowAndLaterAndNoOther) {
    const auto folder = TempFolder::make();
    ASSERT_TRUE(folder);
    const std::string wanted = folder->file("wanted-app");
    const std::string other = folder->file("other-app");
    fs::copy_file(target_path("flood"), wanted);
    fs::create_hard_link(wanted, other);
    auto before = start_paced(wanted);
    auto outside = start_paced(other);
    ASSERT_TRUE(before && outside);
    auto recorder = Recorder::start({"--comm", "wanted-*", "-e", "usdt:flood:hit"});
    ASSERT_TRUE(recorder) << recorder.error().what;
    auto later = start_paced(wanted);
    ASSERT_TRUE(later);
    ASSERT_NO_FATAL_FAILURE(run_all({&*before, &*outside, &*later}));
    const auto recorded = recorder->stop();
    ASSERT_TRUE(recorded) << recorded.error().what;
    expect_sound(*recorded);
    expect_nothing_lost(*recorded);
    EXPECT_EQ(hits_of(recorded->file, *before), kHits);
    EXPECT_EQ(hits_of(recorded->file, *later), kHits);
    EXPECT_EQ(hits_of(recorded->file, *outside), 0u);
    const auto strange = static_cast<uint64_t>(outside->pid());
    for (const FxtSwitch& record : recorded->file.switches) {
        EXPECT_NE(record.in_tid, strange);
        EXPECT_NE(record.out_tid, strange);
    }
    EXPECT_EQ(recorded->result.summary.at("probes").size(), 4u);  // hit, switch, wakeup, tasks
}

TEST_F(Selected, ByCgroupWithItsDescendantsWhenAProcessMovesIn) {
    if (cgroup_root().empty()) GTEST_SKIP() << "no cgroup v2";
    const TestCgroup cgroup(cgroup_root() + "/tracer-test-" + std::to_string(getpid()));
    auto inside = start_paced(target_path("flood"));
    auto outside = start_paced(target_path("flood"));
    ASSERT_TRUE(inside && outside);
    auto recorder = Recorder::start({"--cgroup", cgroup.path(), "--no-sched", "-e",
                                     "usdt:" + target_path("flood") + ":flood:hit"});
    ASSERT_TRUE(recorder) << recorder.error().what;
    const TestCgroup below(cgroup.path() + "/sub");
    ASSERT_NO_FATAL_FAILURE(below.take(*inside));
    ASSERT_NO_FATAL_FAILURE(run_all({&*inside, &*outside}));
    const auto recorded = recorder->stop();
    for (ChildProcess* process : {&*inside, &*outside}) {
        process->close_input();
        ASSERT_TRUE(process->wait(kLimit));
    }
    ASSERT_TRUE(recorded) << recorded.error().what;
    expect_sound(*recorded);
    expect_nothing_lost(*recorded);
    EXPECT_EQ(hits_of(recorded->file, *inside), kHits);
    EXPECT_EQ(hits_of(recorded->file, *outside), 0u);
}

// Its file was looked at when another process brought it; by then it runs under its title.
TEST_F(Selected, AProcessThatMovesInHasItsTitleFromItsPack) {
    if (cgroup_root().empty()) GTEST_SKIP() << "no cgroup v2";
    const auto folder = TempFolder::make();
    ASSERT_TRUE(folder);
    const std::string pack = folder->file("flood.toml");
    ASSERT_TRUE(write_file(pack, R"([pack]
name = "flood"
runtime = "the flood"
version = 1
about = "its hits"
process_title = "flood: *"
[[match]]
provider = "flood"
[[probe]]
name = "hit"
about = "one hit"
stability = "stable"
probe = 'usdt:flood:hit(counter=arg0:s32)'
)"));
    const TestCgroup cgroup(cgroup_root() + "/tracer-titles-" + std::to_string(getpid()));
    const auto start_titled = [](int number) {
        return ChildProcess::start({"/bin/bash", "-c",
                                    "exec -a 'flood: worker " + std::to_string(number) + "' " +
                                        target_path("flood") + " --rate 1000 --hits " +
                                        std::to_string(kHits)});
    };
    auto first = start_titled(1);
    auto second = start_titled(2);
    ASSERT_TRUE(first && second);
    ASSERT_TRUE(first->read_json(kLimit) && second->read_json(kLimit));
    ASSERT_NO_FATAL_FAILURE(cgroup.take(*first));
    auto recorder = Recorder::start(
        {"--no-sched", "--cgroup", cgroup.path(), "--pack", pack, "--packs", "flood"});
    ASSERT_TRUE(recorder) << recorder.error().what;
    ASSERT_NO_FATAL_FAILURE(cgroup.take(*second));
    ASSERT_NO_FATAL_FAILURE(run_all({&*first, &*second}));
    const auto recorded = recorder->stop();
    for (ChildProcess* process : {&*first, &*second}) {
        process->close_input();
        ASSERT_TRUE(process->wait(kLimit));
    }
    ASSERT_TRUE(recorded) << recorded.error().what;
    expect_sound(*recorded);
    for (const auto& [process, title] :
         {std::pair{&*first, "worker 1"}, std::pair{&*second, "worker 2"}}) {
        const auto is_titled = [&, pid = process->pid(), name = title](const FxtKernelObject& it) {
            return it.koid == static_cast<uint64_t>(pid) && it.name == name;
        };
        EXPECT_TRUE(std::ranges::any_of(recorded->file.objects, is_titled)) << title;
        EXPECT_GT(hits_of(recorded->file, *process), 0u);
    }
}

TEST_F(Selected, AContainerThatStartsLater) {
    if (cgroup_root().empty()) GTEST_SKIP() << "no cgroup v2";
    auto inside = start_paced(target_path("flood"));
    auto outside = start_paced(target_path("flood"));
    ASSERT_TRUE(inside && outside);
    auto recorder =
        Recorder::start({"--container", "feedc0de", "--no-sched", "-e", "usdt:flood:hit"});
    ASSERT_TRUE(recorder) << recorder.error().what;
    const std::string id = "feedc0de" + std::string(56, '0');
    const TestCgroup container(cgroup_root() + "/docker-" + id + ".scope");
    const TestCgroup other(cgroup_root() + "/docker-" + std::string(64, '1') + ".scope");
    ASSERT_NO_FATAL_FAILURE(container.take(*inside));
    ASSERT_NO_FATAL_FAILURE(other.take(*outside));
    ASSERT_NO_FATAL_FAILURE(run_all({&*inside, &*outside}));
    const auto recorded = recorder->stop();
    for (ChildProcess* process : {&*inside, &*outside}) {
        process->close_input();
        ASSERT_TRUE(process->wait(kLimit));
    }
    ASSERT_TRUE(recorded) << recorded.error().what;
    expect_sound(*recorded);
    expect_nothing_lost(*recorded);
    EXPECT_EQ(hits_of(recorded->file, *outside), 0u);
    // Its probes were armed when it came in, while it may have been hitting them.
    const auto hits = events_of(recorded->file, "hit");
    ASSERT_GT(hits.size(), 0u);
    const auto first = integer_argument(recorded->file, *hits.front(), "arg0").value_or(kHits);
    EXPECT_EQ(hits.size(), kHits - first);
}

}  // namespace
}  // namespace tracer::test
