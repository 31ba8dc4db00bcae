// SPDX-License-Identifier: Apache-2.0
//
// Files that come during a recording, told by a fake watch: what is compiled, attached, queued for
// the output, counted and said.
#include "session/discovery.h"

#include "capture/merger.h"
#include "session/clock.h"
#include "session/drain_thread.h"
#include "tracer/base/byte_cursor.h"
#include "unit/session/fake_output.h"
#include "unit/session/fake_recorder.h"
#include "unit/session/wait_until.h"
#include "unit/symbol/elf_builder.h"

#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <optional>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tracer {
namespace {

using test::ElfBuilder;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class FakeWatch : public MappingWatch {
public:
    void tell(NewMapping mapping) {
        const std::scoped_lock lock(mutex_);
        mappings_.push_back(std::move(mapping));
        wake();
    }
    void lose(uint64_t count) {
        const std::scoped_lock lock(mutex_);
        lost_ += count;
        wake();
    }

    [[nodiscard]] int fd() const override { return event_.get(); }
    [[nodiscard]] uint64_t read(std::vector<NewMapping>& out) override {
        const std::scoped_lock lock(mutex_);
        uint64_t count = 0;
        EXPECT_TRUE(::read(event_.get(), &count, sizeof(count)) > 0 || mappings_.empty());
        out.insert(out.end(), mappings_.begin(), mappings_.end());
        mappings_.clear();
        return std::exchange(lost_, 0);
    }

private:
    void wake() {
        const uint64_t one = 1;
        EXPECT_EQ(write(event_.get(), &one, sizeof(one)), 8);
    }

    UniqueFd event_{eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)};
    std::mutex mutex_;
    std::vector<NewMapping> mappings_;
    uint64_t lost_ = 0;
};

class DiscoveryTest : public testing::Test {
protected:
    DiscoveryTest() {
        recorder_.recorded_pids = {own_pid()};
        options_.programs_max = 100;
        want({"usdt:app:start"});
    }

    static uint32_t own_pid() { return static_cast<uint32_t>(getpid()); }

    void want(const std::vector<std::string>& texts) {
        options_.events.clear();
        for (const auto& text : texts) options_.events.push_back(*parse_event_spec(text));
    }

    NewMapping mapping(const std::string& name, const std::string& probe = "start") {
        const auto path = test::write_file(
            folder_.path(), name,
            ElfBuilder().note("app", probe, "4@%edi", ElfBuilder::kText + 4).build());
        struct stat status {};
        EXPECT_EQ(::stat(path.c_str(), &status), 0);
        NewMapping mapping;
        mapping.time_ns = boottime_ns();
        mapping.pid = mapping.tid = own_pid();
        mapping.inode = status.st_ino;
        mapping.device_major = major(status.st_dev);
        mapping.device_minor = minor(status.st_dev);
        mapping.path = path;
        return mapping;
    }

    // Starts a discovery and waits until `count` files were armed.
    std::unique_ptr<Discovery> start() {
        auto discovery = std::make_unique<Discovery>(recorder_, &watch_, queue_, options_);
        EXPECT_TRUE(discovery->start());
        return discovery;
    }

    void wait_for_attaches(size_t count) {
        EXPECT_TRUE(test::wait_until([&] { return recorder_.calls().size() >= count; }));
    }

    test::TemporaryFolder folder_;
    test::FakeRecorder recorder_{1};
    FakeWatch watch_;
    LateQueue queue_;
    DiscoveryOptions options_;
};

TEST_F(DiscoveryTest, ArmsAFileOnceAndSaysSo) {
    const auto discovery = start();
    const NewMapping app = mapping("app");
    watch_.tell(app);
    watch_.tell(app);
    watch_.tell(mapping("other", "stop"));
    watch_.tell(mapping("app.new"));
    wait_for_attaches(2);
    discovery->stop();
    EXPECT_THAT(recorder_.calls(), ElementsAre("attach_late 16", "attach_late 17"));
    EXPECT_EQ(discovery->counts().files, 2u);
    EXPECT_EQ(discovery->counts().sites, 2u);
    EXPECT_GT(discovery->counts().delay_max_ns, 0u);
    EXPECT_EQ(discovery->records(), 2u);
    const auto queued = queue_.take();
    EXPECT_EQ(queued.points.size(), 1u);
    EXPECT_EQ(queued.probes.size(), 2u);
    ASSERT_EQ(queued.records.size(), 2u);
    tr_record_header header{};
    ASSERT_TRUE(ByteCursor(queued.records[0].bytes).read(header));
    EXPECT_EQ(header.probe_id, uint32_t{TR_PROBE_armed});
    EXPECT_EQ(header.size, queued.records[0].bytes.size());
    EXPECT_EQ(header.tgid, own_pid());
}

TEST_F(DiscoveryTest, TheOutputKnowsAProbeBeforeItIsAttached) {
    size_t known = 0;
    recorder_.on_attach_late = [&](const AttachPlan& plan) {
        const auto queued = queue_.take();
        known = queued.probes.size();
        EXPECT_EQ(queued.probes.at(0).probe_id, plan.probes.at(0).probe_id);
    };
    const auto discovery = start();
    watch_.tell(mapping("app"));
    wait_for_attaches(1);
    discovery->stop();
    EXPECT_EQ(known, 1u);
}

TEST_F(DiscoveryTest, TheDelayOfAProcessThatIsSelectedBeginsWithItsSelection) {
    constexpr uint64_t kAgoNs = 3'000'000'000;
    const NewMapping app = mapping("app");
    const UniqueFd file(open(app.path.c_str(), O_RDONLY | O_CLOEXEC));
    void* mapped = mmap(nullptr, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, file.get(), 0);
    ASSERT_NE(mapped, MAP_FAILED);
    recorder_.news.selected.push_back({own_pid(), boottime_ns() - kAgoNs});
    const auto discovery = start();
    wait_for_attaches(1);
    discovery->stop();
    munmap(mapped, 4096);
    EXPECT_THAT(recorder_.calls(), ElementsAre("attach_late 16"));
    EXPECT_GE(discovery->counts().delay_max_ns, kAgoNs);
}

TEST_F(DiscoveryTest, OthersFilesAreNotLookedAt) {
    recorder_.recorded_pids.clear();
    const auto discovery = start();
    watch_.tell(mapping("app"));
    discovery->stop();
    EXPECT_TRUE(recorder_.calls().empty());
}

TEST_F(DiscoveryTest, AFileKnownAtTheStartIsNotArmedAgain) {
    const NewMapping app = mapping("app");
    options_.seen.add(*stamp_of(app.path));
    const auto discovery = start();
    watch_.tell(app);
    watch_.tell(mapping("app.new"));
    wait_for_attaches(1);
    discovery->stop();
    EXPECT_EQ(discovery->counts().files, 1u);
}

// What names the path was resolved there before; what does not has seen nothing of that file.
TEST_F(DiscoveryTest, AFileThatOneProbeNamedIsLookedAtForTheOthers) {
    const NewMapping app = mapping("app");
    want({"usdt:" + app.path + ":app:start", "usdt:app:start"});
    options_.named.add(*stamp_of(app.path));
    const auto discovery = start();
    watch_.tell(app);
    wait_for_attaches(1);
    discovery->stop();
    EXPECT_EQ(discovery->counts().sites, 1u);
    const auto queued = queue_.take();
    ASSERT_EQ(queued.probes.size(), 1u);
    EXPECT_EQ(queued.probes[0].spec, "usdt:app:start");
}

TEST_F(DiscoveryTest, SaysWhenTheRoomIsUsedUp) {
    options_.programs_max = 1;
    const auto discovery = start();
    watch_.tell(mapping("app"));
    wait_for_attaches(1);
    watch_.tell(mapping("app.new"));
    watch_.tell(mapping("app.newest"));
    discovery->stop();
    EXPECT_EQ(recorder_.calls().size(), 1u);
    EXPECT_LE(discovery->counts().files_left_out, 2u);
}

TEST_F(DiscoveryTest, AFileThatCannotBeArmedIsCountedAndTold) {
    recorder_.attach_late_result = fail(ErrorCode::not_found, "the kernel refuses");
    const auto discovery = start();
    watch_.tell(mapping("app"));
    wait_for_attaches(1);
    discovery->stop();
    EXPECT_EQ(discovery->counts().files, 0u);
    EXPECT_EQ(discovery->counts().files_left_out, 1u);
    EXPECT_EQ(discovery->records(), 0u);
    EXPECT_THAT(discovery->warnings(), Contains("the kernel refuses"));
}

TEST_F(DiscoveryTest, AfterALossEveryRecordedProcessIsLookedAt) {
    // This program runs code of the C library, whatever else it runs.
    want({"u:libc.so.6:malloc"});
    const auto discovery = start();
    watch_.lose(3);
    wait_for_attaches(1);
    discovery->stop();
    EXPECT_EQ(discovery->counts().mappings_lost, 3u);
    EXPECT_EQ(discovery->counts().files, 1u);
}

TEST_F(DiscoveryTest, ProbesThatNeverCameAreNamed) {
    want({"usdt:app:start", "usdt:app:never"});
    for (const EventSpec& event : options_.events) {
        options_.plan.waiting.push_back({event.text, "nowhere"});
    }
    const auto discovery = start();
    watch_.tell(mapping("app"));
    wait_for_attaches(1);
    discovery->stop();
    EXPECT_THAT(discovery->warnings(),
                ElementsAre("usdt:app:never never appeared: no file with it was run"));
}

TEST_F(DiscoveryTest, AVanishedFileIsTriedAgainWithTheNextProcess) {
    const NewMapping app = mapping("app");
    ASSERT_EQ(rename(app.path.c_str(), (app.path + ".away").c_str()), 0);
    const auto discovery = start();
    watch_.tell(app);
    ASSERT_EQ(rename((app.path + ".away").c_str(), app.path.c_str()), 0);
    watch_.tell(app);
    wait_for_attaches(1);
    discovery->stop();
    EXPECT_EQ(discovery->counts().files, 1u);
}

class PackedDiscovery : public DiscoveryTest {
protected:
    PackedDiscovery() {
        use_pack("", "provider = \"app\"", {});
        options_.events.clear();
    }

    // Lines of the pack's head, and its rule.
    void use_pack(const std::string& head, const std::string& match, PackPlannerOptions options) {
        const std::string pack = folder_.path() + "/app.toml";
        std::ofstream(pack) << fmt::format(R"([pack]
name = "app"
runtime = "The app"
version = 1
about = "what it does"
{}
[[match]]
{}
[[probe]]
name = "start"
about = "one start"
stability = "stable"
probe = 'usdt:app:start(n=arg0:s32)'
)",
                                           head, match);
        auto catalog = PackCatalog::load({.files = {pack}, .folder = {}});
        ASSERT_TRUE(catalog) << catalog.error().what;
        options.request.names = {"app"};
        planner_.emplace(*PackPlanner::make(std::move(*catalog), std::move(options)));
        options_.packs = &*planner_;
    }

    std::optional<PackPlanner> planner_;
};

TEST_F(PackedDiscovery, ArmsWhatPacksHaveInAFileThatComesOnce) {
    const auto discovery = start();
    const NewMapping app = mapping("app");
    watch_.tell(app);
    watch_.tell(app);
    watch_.tell(mapping("app.new"));
    wait_for_attaches(2);
    discovery->stop();
    EXPECT_THAT(recorder_.calls(), ElementsAre("attach_late 16", "attach_late 17"));
    ASSERT_EQ(discovery->packed().size(), 2u);
    EXPECT_EQ(discovery->packed()[0].path, app.path);
    const PackedProbe& row = discovery->packed()[1].probes.at(0);
    EXPECT_EQ(row.status, PackedStatus::armed);
    EXPECT_EQ(row.first_probe_id, 17u);
    EXPECT_THAT(discovery->warnings(), testing::IsEmpty());
}

TEST_F(PackedDiscovery, WhatWasLookedAtBeforeIsNotAgain) {
    const NewMapping app = mapping("app");
    options_.packed.add(*stamp_of(app.path));
    const auto discovery = start();
    watch_.tell(app);
    watch_.tell(mapping("app.new"));
    wait_for_attaches(1);
    discovery->stop();
    EXPECT_EQ(discovery->packed().size(), 1u);
}

// What the user waits for and what a pack has come together; the one is no match of the other.
TEST_F(PackedDiscovery, EventsAndPacksAreOneAddition) {
    want({"usdt:app:start", "usdt:app:never"});
    for (const EventSpec& event : options_.events) {
        options_.plan.waiting.push_back({event.text, "nowhere"});
    }
    size_t programs = 0;
    recorder_.on_attach_late = [&](const AttachPlan& plan) { programs = plan.programs.size(); };
    const auto discovery = start();
    watch_.tell(mapping("app"));
    wait_for_attaches(1);
    discovery->stop();
    EXPECT_EQ(programs, 2u);
    EXPECT_EQ(discovery->counts().files, 1u);
    EXPECT_THAT(discovery->warnings(),
                ElementsAre("usdt:app:never never appeared: no file with it was run"));
}

TEST_F(PackedDiscovery, WhatCannotBeAttachedIsARow) {
    recorder_.attach_late_result = fail(ErrorCode::not_found, "the kernel refuses");
    const auto discovery = start();
    watch_.tell(mapping("app"));
    wait_for_attaches(1);
    discovery->stop();
    ASSERT_EQ(discovery->packed().size(), 1u);
    EXPECT_EQ(discovery->packed()[0].probes.at(0).status, PackedStatus::refused);
}

// The kernel has the last word on a place, and the row says what it was.
TEST_F(PackedDiscovery, APlaceThatTheKernelRefusesIsNotArmed) {
    recorder_.on_attach_late = [&](const AttachPlan& plan) {
        if (plan.first_probe_id == 17) recorder_.refused_places.push_back({17, {}});
    };
    const auto discovery = start();
    watch_.tell(mapping("app"));
    watch_.tell(mapping("app.new"));
    wait_for_attaches(2);
    discovery->stop();
    ASSERT_EQ(discovery->packed().size(), 2u);
    EXPECT_EQ(discovery->packed()[0].probes.at(0).status, PackedStatus::armed);
    EXPECT_EQ(discovery->packed()[1].probes.at(0).status, PackedStatus::refused);
    EXPECT_EQ(discovery->packed()[1].probes.at(0).sites, 0u);
    EXPECT_THAT(discovery->packed()[1].probes.at(0).reason, HasSubstr("the kernel"));
}

// It may have run its files for long, and joins by a new name or in another cgroup; they are known
// by then from others that run them.
TEST_F(PackedDiscovery, AProcessThatJoinsIsNamedByItsCommandLine) {
    const std::string proc = folder_.path() + "/proc";
    const std::string own = proc + "/" + std::to_string(own_pid());
    ASSERT_TRUE(std::filesystem::create_directories(own));
    std::ofstream(own + "/cmdline") << "app: worker 7   ";
    PackPlannerOptions options;
    options.proc_root = proc;
    use_pack("process_title = \"app: *\"", "soname = \"libc.so.6\"", std::move(options));
    recorder_.news.selected.push_back({own_pid(), 1});
    for (const LateFile& file : open_mapped_files(own_pid())) options_.packed.add(file.stamp);
    const auto discovery = start();
    std::vector<OwnRecord> records;
    EXPECT_TRUE(test::wait_until([&] {
        for (OwnRecord& record : queue_.take().records) records.push_back(std::move(record));
        return !records.empty();
    }));
    discovery->stop();
    EXPECT_EQ(discovery->titles(), 1u);
    ASSERT_EQ(records.size(), 1u);
    const std::span<const std::byte> bytes = records[0].bytes;
    tr_record_header header{};
    ASSERT_TRUE(ByteCursor(bytes).read(header));
    EXPECT_EQ(header.probe_id, TR_PROBE_titled);
    EXPECT_EQ(header.tgid, own_pid());
    tr_string_slot name{};
    ASSERT_TRUE(ByteCursor(bytes.subspan(sizeof(header))).read(name));
    std::string text;
    for (const std::byte it : bytes.subspan(name.offset, name.bytes)) text += static_cast<char>(it);
    EXPECT_EQ(text, "worker 7");
}

// The drain thread writes our records by their time, behind what is older in the rings.
TEST(LateQueueDrain, OwnRecordsGoOutInTimeOrder) {
    test::FakeRecorder recorder(1);
    test::FakeOutput output;
    Merger merger(recorder);
    LateQueue late;
    RingReader rings;
    DrainOptions options;
    options.real_time = false;
    options.wait = std::chrono::milliseconds(1);
    DrainThread drain(recorder, merger, output, late, rings, options);
    drain.start(-1);
    for (int i = 0; i < 50; ++i) {
        recorder.hit(0);
        ProbeDefinition probe;
        probe.probe_id = static_cast<uint32_t>(100 + i);
        late.add({}, {probe});
        tr_record_header header{};
        header.size = sizeof(header);
        header.kind = TR_KIND_hit;
        header.probe_id = TR_PROBE_armed;
        header.time_ns = boottime_ns();
        const auto bytes = std::as_bytes(std::span(&header, 1));
        late.add({header.time_ns, {bytes.begin(), bytes.end()}});
        recorder.hit(0);
    }
    EXPECT_TRUE(test::wait_until([&] { return output.records >= 100; }));
    drain.stop();
    EXPECT_TRUE(drain.drain_to_empty([] { return false; }));
    EXPECT_EQ(output.records, 150u);
    EXPECT_EQ(output.received(TR_PROBE_armed), 50u);
    EXPECT_EQ(output.added_probes.size(), 50u);
    EXPECT_TRUE(std::ranges::is_sorted(output.times));
    EXPECT_EQ(drain.late_error(), "");
}

}  // namespace
}  // namespace tracer
