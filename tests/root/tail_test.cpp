// SPDX-License-Identifier: Apache-2.0
//
// `tracer tail` on real programs: every hit once and soon, readers that go away, readers that are
// slow.
#include "root/recording.h"
#include "support/fixtures/requirements.h"
#include "support/fixtures/target_program.h"
#include "tracer/abi/event.h"

#include <algorithm>
#include <charconv>
#include <ctime>
#include <numeric>
#include <optional>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tracer::test {
namespace {

constexpr Milliseconds kLimit{60000};
constexpr int kHits = 300;
constexpr const char* kHitsASecond = "200";
constexpr const char* kProbe = "usdt:flood:hit(n=arg0)";
constexpr const char* kRecording = "recording to";
constexpr uint64_t kSecondNs = 1'000'000'000;
// Ours: a turn of draining and what a busy machine adds.
constexpr uint64_t kMedianDelayNsMax = 200'000'000;

uint64_t now_ns() {
    timespec time{};
    clock_gettime(CLOCK_BOOTTIME, &time);
    return static_cast<uint64_t>(time.tv_sec) * kSecondNs + static_cast<uint64_t>(time.tv_nsec);
}

std::vector<uint64_t> numbers_up_to(uint64_t count) {
    std::vector<uint64_t> numbers(count);
    std::iota(numbers.begin(), numbers.end(), 0);
    return numbers;
}

// The number of a hit in a line of text.
std::optional<uint64_t> hit_number(std::string_view line) {
    constexpr std::string_view kBefore = " hit n=";
    const size_t at = line.find(kBefore);
    if (at == std::string_view::npos) return std::nullopt;
    const std::string_view digits = line.substr(at + kBefore.size());
    uint64_t number = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
    if (error != std::errc() || end != digits.data() + digits.size()) return std::nullopt;
    return number;
}

Result<ChildProcess> start_flood(const std::string& hits, const std::string& hits_a_second) {
    return start_target("flood", {"--hits", hits, "--rate", hits_a_second});
}

std::vector<std::string> tail_of(const ChildProcess& target) {
    return {"tail", "--pid", std::to_string(target.pid()), "--no-packs", "-e", kProbe};
}

// Until all is attached.
Result<ChildProcess> start_tail(const ChildProcess& target,
                                const std::vector<std::string>& options = {}) {
    std::vector<std::string> command = tail_of(target);
    command.insert(command.begin(), tracer_binary());
    command.insert(command.end(), options.begin(), options.end());
    TR_ASSIGN(ChildProcess run, ChildProcess::start(command));
    TR_TRY(run.wait_for_errors(kRecording, kLimit));
    return run;
}

TEST(TailRecorded, ShowsEachHitOnceAndSoonAsObjects) {
    TR_REQUIRE_ROOT();
    TR_REQUIRE_FILE(tracer_binary());
    auto target = start_flood(std::to_string(kHits), kHitsASecond);
    ASSERT_TRUE(target) << target.error().what;
    auto run = start_tail(*target, {"--json"});
    ASSERT_TRUE(run) << run.error().what;
    ASSERT_TRUE(target->send_line("go"));
    std::vector<uint64_t> numbers;
    std::vector<uint64_t> delays_ns;
    while (numbers.size() < kHits) {
        const auto object = run->read_json(kLimit);
        ASSERT_TRUE(object) << object.error().what;
        const uint64_t read_ns = now_ns();
        if (object->value("name", "") != "hit") continue;  // "probes armed", of what it maps
        EXPECT_EQ(object->at("kind"), "event");
        EXPECT_EQ(object->at("pid"), target->pid());
        EXPECT_EQ(object->at("category"), "flood");
        numbers.push_back(object->at("args").at("n").get<uint64_t>());
        delays_ns.push_back(read_ns - object->at("ns").get<uint64_t>());
    }
    EXPECT_EQ(numbers, numbers_up_to(kHits));
    std::ranges::sort(delays_ns);
    EXPECT_LT(delays_ns.back(), kSecondNs);
    EXPECT_LT(delays_ns[delays_ns.size() / 2], kMedianDelayNsMax);
    RecordProperty("delay_max_us", std::to_string(delays_ns.back() / 1000));
    ASSERT_TRUE(run->send_signal(SIGINT));
    const auto status = run->wait(kLimit);
    ASSERT_TRUE(status) << status.error().what;
    EXPECT_EQ(*status, ExitStatus{}) << run->errors();
    EXPECT_NE(run->errors().find("stopped by a signal"), std::string::npos) << run->errors();
}

TEST(TailRecorded, ShowsEachHitOnceAsText) {
    TR_REQUIRE_ROOT();
    TR_REQUIRE_FILE(tracer_binary());
    auto target = start_flood(std::to_string(kHits), kHitsASecond);
    ASSERT_TRUE(target) << target.error().what;
    auto run = start_tail(*target);
    ASSERT_TRUE(run) << run.error().what;
    ASSERT_TRUE(target->send_line("go"));
    std::vector<uint64_t> numbers;
    const std::string who = fmt::format("flood({})", target->pid());
    while (numbers.size() < kHits) {
        const auto line = run->read_line(kLimit);
        ASSERT_TRUE(line) << line.error().what;
        EXPECT_EQ(line->find('\x1b'), std::string::npos);  // no colours but on a terminal
        const auto number = hit_number(*line);
        if (!number) continue;
        EXPECT_NE(line->find(who), std::string::npos) << *line;
        EXPECT_THAT(*line, testing::MatchesRegex("[0-9]+:[0-9]+:[0-9]+[.][0-9]+ .*"));
        numbers.push_back(*number);
    }
    EXPECT_EQ(numbers, numbers_up_to(kHits));
    ASSERT_TRUE(target->send_line("end"));
    // The target's end is the recording's.
    const auto status = run->wait(kLimit);
    ASSERT_TRUE(status) << status.error().what;
    EXPECT_EQ(*status, ExitStatus{}) << run->errors();
}

// The shell's pipe: `tracer tail ... | reader`; the tracer's status is the pipeline's.
Result<ChildProcess> start_pipe(const ChildProcess& target, const std::string& reader) {
    std::vector<std::string> command{"bash", "-c", "set -o pipefail; \"$0\" \"$@\" | " + reader,
                                     tracer_binary()};
    for (std::string& word : tail_of(target)) command.push_back(std::move(word));
    return ChildProcess::start(command);
}

TEST(TailRecorded, EndsQuietlyWhenItsReaderGoesAway) {
    TR_REQUIRE_ROOT();
    TR_REQUIRE_FILE(tracer_binary());
    auto target = start_flood("1000000000", kHitsASecond);
    ASSERT_TRUE(target) << target.error().what;
    auto pipe = start_pipe(*target, "head -n 5");
    ASSERT_TRUE(pipe) << pipe.error().what;
    ASSERT_TRUE(pipe->wait_for_errors(kRecording, kLimit)) << pipe->errors();
    ASSERT_TRUE(target->send_line("go"));
    const auto status = pipe->wait(kLimit);
    ASSERT_TRUE(status) << status.error().what;
    EXPECT_EQ(*status, ExitStatus{}) << pipe->errors();
    EXPECT_EQ(std::ranges::count(pipe->output(), '\n'), 5) << pipe->output();
    EXPECT_NE(pipe->errors().find("the reader went away"), std::string::npos) << pipe->errors();
    EXPECT_EQ(pipe->errors().find("LOST"), std::string::npos) << pipe->errors();
}

// Not only with the next event, which may never come.
TEST(TailRecorded, EndsWhenItsReaderGoesAwayThoughNothingHappens) {
    TR_REQUIRE_ROOT();
    TR_REQUIRE_FILE(tracer_binary());
    auto target = start_flood("1", kHitsASecond);
    ASSERT_TRUE(target) << target.error().what;
    auto pipe = start_pipe(*target, "sleep 0.1");
    ASSERT_TRUE(pipe) << pipe.error().what;
    const auto status = pipe->wait(kLimit);
    ASSERT_TRUE(status) << status.error().what;
    EXPECT_EQ(*status, ExitStatus{}) << pipe->errors();
    EXPECT_NE(pipe->errors().find("the reader went away"), std::string::npos) << pipe->errors();
}

struct Flooded {
    uint64_t hits = 0;   // by the target's own count
    double wall_ns = 0;  // that they took it
    uint64_t shown = 0;
    uint64_t lost = 0;  // as the lines tell
    bool is_sorted = true;
    std::string errors;
};

// The shell's reader goes on with what it reads to a file.
Result<Flooded> show_flood(const std::string& reader) {
    TR_ASSIGN(const TempFolder folder, TempFolder::make());
    TR_ASSIGN(auto target, start_target("flood", {"--hits", "1000000"}));
    const std::string path = folder.file("shown.txt");
    TR_ASSIGN(auto pipe, start_pipe(target, "{ " + reader + " > '" + path + "'; }"));
    TR_TRY(pipe.wait_for_errors(kRecording, kLimit));
    TR_TRY(target.send_line("go"));
    TR_ASSIGN(const nlohmann::json row, target.read_json(kLimit));
    Flooded flooded;
    flooded.hits = row.at("hits").get<uint64_t>();
    flooded.wall_ns = row.at("wall_ns").get<double>();
    TR_TRY(target.send_line("end"));
    TR_TRY(target.wait(kLimit));
    TR_ASSIGN(const ExitStatus status, pipe.wait(kLimit));
    flooded.errors = pipe.errors();
    EXPECT_EQ(status, ExitStatus{}) << flooded.errors;
    TR_ASSIGN(const std::string text, read_file(path));
    std::optional<uint64_t> before;
    for (size_t at = 0; at < text.size();) {
        const size_t end = text.find('\n', at);
        const std::string_view line = std::string_view(text).substr(at, end - at);
        at = end + 1;
        if (const auto number = hit_number(line)) {
            flooded.shown += 1;
            flooded.is_sorted = flooded.is_sorted && (!before || *before < *number);
            before = number;
        }
        constexpr std::string_view kLost = " lost ";
        if (const size_t place = line.find(kLost);
            place != std::string_view::npos && line.find(" events here: ") != std::string::npos) {
            std::string digits;
            for (const char c : line.substr(place + kLost.size())) {
                if (c == ' ') break;
                if (c != ',') digits += c;
            }
            flooded.lost += std::stoull(digits);
        }
    }
    return flooded;
}

TEST(TailRecorded, ASlowReaderCostsLinesAndNotTheTarget) {
    TR_REQUIRE_ROOT();
    TR_REQUIRE_FILE(tracer_binary());
    const auto fast = show_flood("cat");
    ASSERT_TRUE(fast) << fast.error().what;
    // Reads nothing until long after the last hit.
    const auto slow = show_flood("sleep 10; cat");
    ASSERT_TRUE(slow) << slow.error().what;
    for (const Flooded& one : {*fast, *slow}) {
        EXPECT_EQ(one.hits, 1'000'000u);
        EXPECT_TRUE(one.is_sorted);
    }
    EXPECT_GT(slow->shown, 10'000u);
    EXPECT_LT(slow->shown, 900'000u) << "nothing was slow";
    EXPECT_NE(slow->errors.find("LOST"), std::string::npos) << slow->errors;
    // Life and death of the target are events too.
    EXPECT_NEAR(static_cast<double>(slow->shown + slow->lost), 1'000'000.0, 20.0);
    EXPECT_LT(slow->wall_ns, 2 * fast->wall_ns);
}

TEST(TailRecorded, ACaptureIsShownByConverting) {
    TR_REQUIRE_ROOT();
    TR_REQUIRE_FILE(tracer_binary());
    const auto folder = TempFolder::make();
    ASSERT_TRUE(folder);
    auto target = start_flood("50", "0");
    ASSERT_TRUE(target) << target.error().what;
    const std::string path = folder->file("x.traw");
    auto run = TracerRun::start(
        {"--pid", std::to_string(target->pid()), "--no-packs", "-e", kProbe, "-o", path});
    ASSERT_TRUE(run) << run.error().what;
    ASSERT_TRUE(run->wait_until_recording());
    ASSERT_TRUE(run_target(*target, kLimit, 1));
    ASSERT_TRUE(run->stop());
    const auto shown = run_tracer({"convert", path, "-o", "-", "--format", "txt"});
    ASSERT_TRUE(shown) << shown.error().what;
    std::vector<uint64_t> numbers;
    for (size_t at = 0; at < shown->output.size();) {
        const size_t end = shown->output.find('\n', at);
        if (const auto number = hit_number(shown->output.substr(at, end - at))) {
            numbers.push_back(*number);
        }
        at = end + 1;
    }
    EXPECT_EQ(numbers, numbers_up_to(50));
}

}  // namespace
}  // namespace tracer::test
