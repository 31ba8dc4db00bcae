// SPDX-License-Identifier: Apache-2.0
//
// The tracer killed at any time: what is on the disk opens, and lacks at most its last second. The
// formats are recorded side by side, each by a tracer of its own that is killed at a moment of its
// own.
#include "root/recorded_eventlog.h"
#include "root/recording.h"
#include "support/eventlog_reader.h"
#include "support/eventlog_text.h"
#include "support/fixtures/requirements.h"
#include "support/fixtures/target_program.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

namespace tracer::test {
namespace {

constexpr uint64_t kSecond = 1'000'000'000;
constexpr int kRounds = 25;  // of four kills
constexpr std::array kSuffixes{".fxt", ".traw", ".json", ".eventlog"};

uint64_t now_ns(clockid_t clock) {
    timespec now{};
    clock_gettime(clock, &now);
    return static_cast<uint64_t>(now.tv_sec) * kSecond + static_cast<uint64_t>(now.tv_nsec);
}

// Of the hits in a file, the last one's time, and their numbers by time.
struct Found {
    uint64_t last_ns = 0;
    std::vector<uint64_t> numbers;
};

Found found_in_fxt(const std::string& path) {
    Found found;
    const auto file = load_fxt(path);
    EXPECT_TRUE(file) << path;
    if (!file) return found;
    EXPECT_EQ(file->problem_count, 0u) << path << ": " << file->problems.front();
    for (const FxtEvent* hit : events_of(*file, "hit")) {
        found.last_ns = hit->time;
        found.numbers.push_back(integer_argument(*file, *hit, "n").value_or(UINT64_MAX));
    }
    return found;
}

Found found_in_capture(const std::string& path) {
    const std::string trace = path + ".fxt";
    const auto converted = run_tracer({"convert", path, "-o", trace});
    EXPECT_TRUE(converted);
    if (!converted) return {};
    // It says that the capture was cut, and makes a trace of what there is.
    EXPECT_EQ(converted->status, ExitStatus{}) << converted->errors;
    return found_in_fxt(trace);
}

// Viewers take an array without its end.
Found found_in_json(const std::string& path) {
    Found found;
    const auto bytes = read_file(path);
    EXPECT_TRUE(bytes);
    if (!bytes) return found;
    std::string text = *bytes;
    text.resize(text.rfind('\n') + 1);
    while (!text.empty() && (text.back() == '\n' || text.back() == ',')) text.pop_back();
    const auto json = nlohmann::json::parse(text + "]", nullptr, false);
    EXPECT_TRUE(json.is_array()) << path;
    if (!json.is_array()) return found;
    for (const auto& event : json) {
        if (event.value("name", "") != "hit") continue;
        found.last_ns = static_cast<uint64_t>(event.at("ts").get<double>() * 1e3);
        found.numbers.push_back(event.at("args").at("n").get<uint64_t>());
    }
    return found;
}

// Times there are from the log's begin, at which the wall clock is told.
Found found_in_eventlog(const std::string& path, uint64_t wall_ahead_ns) {
    Found found;
    const EventlogFile file = load_valid_eventlog(path);
    uint64_t begin_ns = 0;
    for (const EventlogEvent& event : file.events) {
        if (event.is(EventlogId::wall_clock_time)) {
            begin_ns = event.number("seconds") * kSecond + event.number("nanoseconds") -
                       event.time_ns - wall_ahead_ns;
        }
        const std::string_view text = event.text("text");
        const size_t at = text.find("n=");
        if (!text.starts_with("hit") || at == std::string_view::npos) continue;
        found.last_ns = std::max(found.last_ns, begin_ns + event.time_ns);
        found.numbers.push_back(std::stoull(std::string(text.substr(at + 2))));
    }
    // Blocks of several capabilities are in any order.
    std::ranges::sort(found.numbers);
    return found;
}

Found found_in(const std::string& path, uint64_t wall_ahead_ns) {
    if (path.ends_with(".fxt")) return found_in_fxt(path);
    if (path.ends_with(".traw")) return found_in_capture(path);
    if (path.ends_with(".json")) return found_in_json(path);
    return found_in_eventlog(path, wall_ahead_ns);
}

TEST(Killed, AtAnyTimeLeavesAFileThatLacksAtMostASecond) {
    TR_REQUIRE_ROOT();
    TR_REQUIRE_FILE(tracer_binary());
    auto target = start_target("flood", {"--hits", "1000000000", "--rate", "5000"});
    ASSERT_TRUE(target) << target.error().what;
    ASSERT_TRUE(target->send_line("go"));
    std::mt19937 random(20261201);  // NOLINT(cert-msc32-c,cert-msc51-cpp): the same every time
    for (int round = 0; round < kRounds; ++round) {
        const auto folder = TempFolder::make();
        ASSERT_TRUE(folder);
        struct Run {
            std::string path;
            TracerRun tracer;
            uint64_t wait_ms = 0;
            uint64_t killed_ns = 0;
        };
        std::vector<Run> runs;
        for (const char* suffix : kSuffixes) {
            const std::string path = folder->file(std::string("killed") + suffix);
            auto tracer =
                TracerRun::start({"--pid", std::to_string(target->pid()), "--no-sched",
                                  "--no-packs", "-e", "usdt:flood:hit(n=arg0)", "-o", path});
            ASSERT_TRUE(tracer) << tracer.error().what;
            ASSERT_TRUE(tracer->wait_until_recording());
            runs.push_back({path, std::move(*tracer),
                            std::uniform_int_distribution<uint64_t>(0, 1200)(random)});
        }
        std::ranges::sort(runs, {}, &Run::wait_ms);
        uint64_t waited_ms = 0;
        for (Run& run : runs) {
            std::this_thread::sleep_for(Milliseconds(run.wait_ms - waited_ms));
            waited_ms = run.wait_ms;
            run.killed_ns = now_ns(CLOCK_BOOTTIME);
            ASSERT_TRUE(run.tracer.process().send_signal(SIGKILL));
        }
        const uint64_t wall_ahead_ns = now_ns(CLOCK_REALTIME) - now_ns(CLOCK_BOOTTIME);
        for (Run& run : runs) {
            const auto result = run.tracer.finish();
            ASSERT_TRUE(result) << result.error().what;
            EXPECT_EQ(result->status, (ExitStatus{0, SIGKILL}));
            EXPECT_GT(std::filesystem::file_size(run.path), 0u) << run.path;
            const Found found = found_in(run.path, wall_ahead_ns);
            // One that ran for less than a second may have nothing yet.
            if (run.wait_ms < 1000 && found.numbers.empty()) continue;
            ASSERT_FALSE(found.numbers.empty()) << run.path;
            EXPECT_GE(found.last_ns + kSecond, run.killed_ns)
                << run.path << " lacks its last "
                << static_cast<double>(run.killed_ns - found.last_ns) / 1e9 << " s";
            for (size_t i = 1; i < found.numbers.size(); ++i) {
                ASSERT_EQ(found.numbers[i], found.numbers[i - 1] + 1) << run.path;
            }
        }
    }
}

}  // namespace
}  // namespace tracer::test
