// SPDX-License-Identifier: Apache-2.0
//
// The flight recorder over records that tests make: what is written when, and what is not.
#include "session/flight_output.h"

#include "support/fixtures/temp_folder.h"
#include "support/fxt_reader.h"
#include "support/record_builder.h"
#include "tracer/write/formats.h"
#include "unit/session/wait_until.h"

#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>

#include <gtest/gtest.h>

namespace tracer {
namespace {

constexpr uint64_t kSecond = 1'000'000'000;
constexpr uint32_t kProbe = TR_PROBE_FIRST_USER;

RecordingDefinitions definitions() {
    RecordingDefinitions result;
    result.points = {{.index = model::PointIndex{0},
                      .category = "app",
                      .name = "tick",
                      .arguments = {{"n", model::ValueType::u64}}},
                     snapshot_point(model::PointIndex{1})};
    ProbeDefinition probe;
    probe.probe_id = kProbe;
    probe.point = model::PointIndex{0};
    probe.slots = {model::ValueType::u64};
    result.probes = {probe};
    result.record_all = true;
    return result;
}

class Flight : public testing::Test {
protected:
    void start(const std::string& when, FlightOptions options = {}) {
        auto folder = test::TempFolder::make();
        ASSERT_TRUE(folder);
        folder_.emplace(std::move(*folder));
        if (!when.empty()) options.triggers.push_back(*parse_trigger(when));
        options.files.path = folder_->file("t.fxt");
        options.files.format = find_format_by_name("fxt");
        output_ = *make_flight_output(definitions(), options);
    }

    void tick(uint64_t time_ns, uint64_t number) {
        output_->handler().on_record(
            test::make_hit({.time_ns = time_ns, .tgid = 7, .tid = 7}, kProbe, {number}));
    }

    // Those that wait together are few.
    void wait_for_files(size_t count) {
        EXPECT_TRUE(
            test::wait_until([&] { return output_->facts().files.snapshots.size() == count; }));
    }

    std::vector<SnapshotFile> finish(uint64_t now_ns) {
        EXPECT_TRUE(output_->finish(now_ns, {}));
        EXPECT_TRUE(output_->close());
        return output_->facts().files.snapshots;
    }

    static std::vector<uint64_t> ticks_in(const SnapshotFile& snapshot) {
        EXPECT_EQ(snapshot.error, "");
        const auto file = test::load_fxt(snapshot.path);
        EXPECT_TRUE(file);
        if (!file) return {};
        EXPECT_EQ(file->problem_count, 0u) << file->problems.front();
        std::vector<uint64_t> numbers;
        for (const auto& event : file->events) {
            if (event.name != "tick") continue;
            const auto* value = file->find(event.arguments, "n");
            EXPECT_NE(value, nullptr);
            if (value != nullptr) numbers.push_back(std::get<uint64_t>(*value));
        }
        return numbers;
    }

    std::optional<test::TempFolder> folder_;
    std::unique_ptr<FlightOutput> output_;
};

using Numbers = std::vector<uint64_t>;

TEST_F(Flight, WritesWhatCameBeforeAndAfterATrigger) {
    FlightOptions options;
    options.before_ns = 3 * kSecond;
    options.after_ns = 2 * kSecond;
    start("event(tick) > 1/s", options);
    for (uint64_t i = 1; i <= 10; ++i) tick(i * kSecond, i);
    tick(10 * kSecond + 1, 11);  // the second within a second
    for (uint64_t i = 11; i <= 20; ++i) tick(i * kSecond, i + 1);
    const auto files = finish(21 * kSecond);
    ASSERT_EQ(files.size(), 1u);
    EXPECT_EQ(files[0].reason, "event(tick) > 1/s");
    EXPECT_EQ(files[0].trigger_ns, 10 * kSecond + 1);
    EXPECT_EQ(ticks_in(files[0]), (Numbers{8, 9, 10, 11, 12, 13, 14}));
}

TEST_F(Flight, ListensToNoTriggerWhileItCoolsDown) {
    FlightOptions options;
    options.cooldown_ns = 5 * kSecond;
    start("event(tick)", options);
    for (uint64_t i = 1; i <= 11; ++i) {
        tick(i * kSecond, i);
        wait_for_files(1 + (i - 1) / 5);
    }
    const auto files = finish(12 * kSecond);
    ASSERT_EQ(files.size(), 3u);
    EXPECT_EQ(files[0].trigger_ns, 1 * kSecond);
    EXPECT_EQ(files[1].trigger_ns, 6 * kSecond);
    EXPECT_EQ(files[2].trigger_ns, 11 * kSecond);
    EXPECT_EQ(output_->facts().files.skipped.cooldown, 8u);
    // Names sort by number, and none replaces another.
    EXPECT_LT(files[0].path, files[1].path);
}

TEST_F(Flight, WritesARequestWhateverCoolsDown) {
    FlightOptions options;
    options.cooldown_ns = 100 * kSecond;
    start("event(tick)", options);
    tick(1 * kSecond, 1);
    tick(2 * kSecond, 2);
    output_->request("asked");
    const auto files = finish(3 * kSecond);
    ASSERT_EQ(files.size(), 2u);
    EXPECT_EQ(files[1].reason, "asked");
    EXPECT_EQ(ticks_in(files[1]), (Numbers{1, 2}));
}

TEST_F(Flight, WritesNoMoreFilesThanAsked) {
    FlightOptions options;
    options.files.files_max = 2;
    start("event(tick)", options);
    for (uint64_t i = 1; i <= 5; ++i) {
        tick(i * kSecond, i);
        wait_for_files(std::min<size_t>(i, 2));
    }
    EXPECT_EQ(finish(6 * kSecond).size(), 2u);
    EXPECT_EQ(output_->facts().files.skipped.limit, 3u);
}

TEST_F(Flight, WritesTheEndIfAskedEvenOfNothing) {
    FlightOptions options;
    options.at_end = true;
    start("", options);
    const auto files = finish(6 * kSecond);
    ASSERT_EQ(files.size(), 1u);
    EXPECT_EQ(ticks_in(files[0]), Numbers());
    EXPECT_EQ(std::filesystem::status(files[0].path).permissions(),
              std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
}

TEST_F(Flight, CompressesAFileOnceItIsWhole) {
    FlightOptions options;
    options.at_end = true;
    options.files.compression = ChunkCompression::zstd;
    start("", options);
    Numbers all;
    for (uint64_t i = 1; i <= 2000; ++i) {
        tick(i * kSecond, i);
        all.push_back(i);
    }
    auto files = finish(2001 * kSecond);
    ASSERT_EQ(files.size(), 1u);
    ASSERT_TRUE(files[0].path.ends_with(".fxt.zst")) << files[0].path;
    EXPECT_EQ(files[0].bytes, std::filesystem::file_size(files[0].path));
    EXPECT_EQ(output_->facts().files.left_plain.count, 0u);
    const std::string plain = files[0].path.substr(0, files[0].path.size() - 4);
    EXPECT_FALSE(std::filesystem::exists(plain));
    ASSERT_EQ(std::system(("zstd -q -d '" + files[0].path + "'").c_str()), 0);
    files[0].path = plain;
    EXPECT_EQ(ticks_in(files[0]), all);
}

TEST_F(Flight, WritesFromADiskWhatWouldNotFitIntoMemory) {
    const auto kept = test::TempFolder::make();
    ASSERT_TRUE(kept);
    FlightOptions options;
    options.at_end = true;
    options.history = {.bytes_max = 64 << 20};
    options.history_folder = kept->path();
    start("", options);
    constexpr uint64_t kTicks = 300'000;
    for (uint64_t i = 1; i <= kTicks; ++i) tick(i * kSecond / 1000, i);
    const auto files = finish(kTicks * kSecond);
    ASSERT_EQ(files.size(), 1u);
    const Numbers numbers = ticks_in(files[0]);
    ASSERT_EQ(numbers.size(), kTicks);
    EXPECT_EQ(numbers.back(), kTicks);
    EXPECT_EQ(output_->facts().files.history_disk.segments_given_up, 0u);
    EXPECT_TRUE(std::filesystem::is_empty(kept->path())) << "nothing with a name";
}

TEST_F(Flight, AFileThatFailsIsToldAtTheEnd) {
    start("event(tick)");
    std::filesystem::remove_all(folder_->path());
    tick(1 * kSecond, 1);
    EXPECT_TRUE(output_->finish(2 * kSecond, {}));
    EXPECT_TRUE(output_->health());
    const Status closed = output_->close();
    ASSERT_FALSE(closed);
    EXPECT_NE(closed.error().what.find("t-0001-"), std::string::npos) << closed.error().what;
    ASSERT_EQ(output_->facts().files.snapshots.size(), 1u);
    EXPECT_NE(output_->facts().files.snapshots[0].error, "");
}

}  // namespace
}  // namespace tracer
