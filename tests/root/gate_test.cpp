// SPDX-License-Identifier: Apache-2.0
//
// Conditions, sampling and rate limits in a real kernel: this process calls functions of its own
// that are probed with a clause each, and what was recorded is compared with what should have been.
#include "decode/decoder.h"
#include "probe/kernel_recorder.h"
#include "probe/probe_compiler.h"
#include "probe/uprobe_link.h"
#include "support/condition_model.h"
#include "support/recording_writer.h"
#include "tracer/base/unique_fd.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

#include <fmt/format.h>
#include <gtest/gtest.h>

// Each is a place of its own: a place has one probe. The last argument is the hit's number.
extern "C" {
#define TR_SITE(number)                                                                       \
    __attribute__((noinline, used)) void gate_site_##number(uint64_t a, uint64_t b,           \
                                                            const char* text, uint64_t hit) { \
        asm volatile("" ::"r"(a), "r"(b), "r"(text), "r"(hit), "i"(0x##number) : "memory");   \
    }
// clang-format off
#define TR_SITES(X)                                                 \
    X(00) X(01) X(02) X(03) X(04) X(05) X(06) X(07) X(08) X(09) X(0a) \
    X(0b) X(0c) X(0d) X(0e) X(0f) X(10) X(11) X(12) X(13) X(14) X(15) \
    X(16) X(17) X(18) X(19) X(1a) X(1b) X(1c) X(1d) X(1e) X(1f)
// clang-format on
TR_SITES(TR_SITE)
#undef TR_SITE
}

namespace tracer {
namespace {

using test::ConditionInput;
using test::Judgement;
using test::RandomCondition;

using Site = void (*)(uint64_t, uint64_t, const char*, uint64_t);
#define TR_SITE_ROW(number) &gate_site_##number,
constexpr std::array<Site, 32> kSites{TR_SITES(TR_SITE_ROW)};
#undef TR_SITE_ROW

std::string own_program() {
    std::array<char, 4096> path{};
    const ssize_t bytes = readlink("/proc/self/exe", path.data(), path.size() - 1);
    return {path.data(), static_cast<size_t>(std::max<ssize_t>(bytes, 0))};
}

std::string site_text(size_t site, std::string_view clauses, std::string_view kind = "u") {
    return fmt::format("{}:{}:gate_site_{:02x}(hit=arg3:u64) {}", kind, own_program(), site,
                       clauses);
}

// Of a function in a process that runs this program at the same addresses.
std::optional<uint8_t> first_byte(pid_t pid, Site site) {
    const UniqueFd memory(open(fmt::format("/proc/{}/mem", pid).c_str(), O_RDONLY | O_CLOEXEC));
    uint8_t byte = 0;
    const auto address = static_cast<off_t>(reinterpret_cast<uintptr_t>(site));
    if (pread(memory.get(), &byte, 1, address) != 1) return std::nullopt;
    return byte;
}

// A recording of this process with a probe each of these texts, until finish().
class GateTest : public ::testing::Test {
protected:
    void SetUp() override {
        if (geteuid() != 0) GTEST_SKIP() << "needs root";
    }

    void start(const std::vector<std::string>& texts) {
        std::vector<EventSpec> events;
        for (const auto& text : texts) {
            auto event = parse_event_spec(text);
            ASSERT_TRUE(event) << event.error().what;
            events.push_back(std::move(*event));
        }
        auto plan = compile_events(events, {}, {});
        ASSERT_TRUE(plan) << plan.error().what;
        KernelOptions options;
        options.pids = pids_;
        options.only_pids = only_pids_;
        options.force_perf_links = force_perf_links_;
        options.ring_bytes = 4 << 20;
        options.record_sched = false;
        plan_ = *plan;
        auto recorder = KernelRecorder::open(*plan, options);
        ASSERT_TRUE(recorder) << recorder.error().what;
        recorder_ = std::move(*recorder);
        const Status attached = recorder_->attach([] { return false; });
        ASSERT_TRUE(attached) << attached.error().what;
        hits_.assign(texts.size(), {});
    }

    // Ends the recording: hits_ and counters_ are complete.
    void finish() {
        ASSERT_TRUE(recorder_->detach());
        for (size_t ring = 0; ring < recorder_->ring_count(); ++ring) {
            std::vector<RecordView> views;
            recorder_->peek(ring, SIZE_MAX, views);
            for (const RecordView& view : views) keep(view.bytes());
            recorder_->release(ring, views.size());
        }
        counters_ = recorder_->counters();
    }

    [[nodiscard]] const std::vector<uint64_t>& hits(size_t probe) const { return hits_[probe]; }
    [[nodiscard]] const tr_probe_counters& counters(size_t probe) const {
        return counters_.probes[TR_PROBE_FIRST_USER + probe].counters;
    }
    // Every hit is recorded or counted by its cause.
    void expect_sum(size_t probe, uint64_t hits) const {
        const auto& counts = counters(probe);
        EXPECT_EQ(counts.hits, hits);
        EXPECT_EQ(counts.hits, hits_[probe].size() + counts.ring_full + counts.condition +
                                   counts.unknown + counts.sampled_out + counts.throttled +
                                   counts.unopened);
    }

    // The lines of what was recorded, as a writer sees it.
    [[nodiscard]] std::vector<std::string> decoded() const {
        RecordingDefinitions definitions;
        definitions.points = plan_.points;
        definitions.probes = plan_.probes;
        definitions.record_all = true;
        test::RecordingWriter writer;
        const auto decoder = Decoder::make(std::move(definitions), writer);
        // This thread may have moved between CPUs, each of which has a ring.
        auto records = records_;
        std::ranges::sort(records, {}, [](const std::vector<std::byte>& record) {
            tr_record_header header{};
            std::memcpy(&header, record.data(), sizeof(header));
            return header.time_ns;
        });
        for (const auto& record : records) decoder->on_record(record);
        EXPECT_TRUE(writer.faults().empty());
        return writer.lines();
    }

private:
    void keep(std::span<const std::byte> bytes) {
        tr_record_header header{};
        uint64_t hit = 0;
        if (bytes.size() < sizeof(header) + sizeof(hit)) return;
        std::memcpy(&header, bytes.data(), sizeof(header));
        std::memcpy(&hit, bytes.data() + sizeof(header), sizeof(hit));
        const size_t probe = header.probe_id - TR_PROBE_FIRST_USER;
        if (header.kind != TR_KIND_hit) return;
        records_.emplace_back(bytes.begin(), bytes.end());
        if (probe < hits_.size()) hits_[probe].push_back(hit);
    }

protected:
    // To be set before start().
    std::vector<uint32_t> pids_{static_cast<uint32_t>(getpid())};
    std::vector<uint32_t> only_pids_;
    bool force_perf_links_ = false;

private:
    std::unique_ptr<KernelRecorder> recorder_;
    AttachPlan plan_;
    std::vector<std::vector<std::byte>> records_;
    std::vector<std::vector<uint64_t>> hits_;  // the numbers of those recorded, by probe
    KernelCounters counters_;
};

struct Row {
    std::string condition;
    ConditionInput input;
    Judgement expected;
};

ConditionInput numbers(uint64_t arg0, uint64_t arg1 = 0) {
    return {arg0, arg1, "x"};
}
ConditionInput text(std::string value) {
    return {0, 0, std::move(value)};
}

constexpr uint64_t kMinus1 = UINT64_MAX;

// The operators at their borders, for signed and unsigned operands, and texts.
std::vector<Row> table() {
    constexpr auto kTrue = Judgement::is_true;
    constexpr auto kFalse = Judgement::is_false;
    constexpr auto kUnknown = Judgement::is_unknown;
    const std::string long_text = "abc" + std::string(70, 'x');
    return {
        {"arg0 == 5", numbers(5), kTrue},
        {"arg0 == 5", numbers(6), kFalse},
        {"arg0:s64 != -1", numbers(kMinus1), kFalse},
        {"arg0:s64 < 0", numbers(kMinus1), kTrue},
        {"arg0:u64 < 5", numbers(kMinus1), kFalse},
        {"arg0:u64 > 0x7fffffffffffffff", numbers(kMinus1), kTrue},
        {"arg0:s8 < 0", numbers(0x80), kTrue},
        {"arg0:u8 > 127", numbers(0x1280), kTrue},
        {"arg0:u8 == 0x80", numbers(0xff80), kTrue},
        {"arg0:s32 <= -2147483647", numbers(0x80000001), kTrue},
        {"arg0:s32 >= 1", numbers(0x80000001), kFalse},
        {"arg0 & 0x10", numbers(0x30), kTrue},
        {"arg0 & 0x10", numbers(0x2f), kFalse},
        {"arg0 == 'A'", numbers(65), kTrue},
        {"arg0 == 010", numbers(8), kTrue},
        {"arg0 == 1 && arg1 == 2", numbers(1, 2), kTrue},
        {"arg0 == 1 && arg1 == 2", numbers(1, 3), kFalse},
        {"arg0 == 1 || arg1 == 2", numbers(0, 2), kTrue},
        {"!(arg0 == 1 || arg1 == 2)", numbers(0, 3), kTrue},
        {"arg2 == \"select\"", text("select"), kTrue},
        {"arg2 == \"select\"", text("selects"), kFalse},
        {"arg2 != \"select\"", text("selec"), kTrue},
        {"arg2 == \"\"", text(""), kTrue},
        {"arg2 ~ \"sel*t\"", text("select"), kTrue},
        {"arg2 ~ \"s?l*\"", text("sxl"), kTrue},
        {"arg2 ~ \"s?l*\"", text("sl"), kFalse},
        {"arg2 ~ \"abc*\"", text(long_text), kTrue},
        {"arg2 ~ \"abd*\"", text(long_text), kFalse},
        {"arg2 ~ \"*y\"", text(long_text), kUnknown},
        {"arg2 ~ \"a\"", {0, 0, std::nullopt}, kUnknown},
        {"arg0 == 0 || arg2 == \"a\"", {0, 0, std::nullopt}, kTrue},
        {"!(arg2 == \"a\")", {0, 0, std::nullopt}, kUnknown},
    };
}

void call(Site site, const ConditionInput& input, uint64_t hit) {
    // Nobody has anything at a null pointer.
    site(input.arg0, input.arg1, input.text ? input.text->c_str() : nullptr, hit);
}

TEST_F(GateTest, JudgesEachOperatorAsTheTableSays) {
    const auto rows = table();
    ASSERT_LE(rows.size(), kSites.size());
    std::vector<std::string> texts;
    for (size_t i = 0; i < rows.size(); ++i) {
        texts.push_back(site_text(i, "if " + rows[i].condition));
    }
    ASSERT_NO_FATAL_FAILURE(start(texts));
    for (size_t i = 0; i < rows.size(); ++i) call(kSites[i], rows[i].input, i);
    finish();
    for (size_t i = 0; i < rows.size(); ++i) {
        SCOPED_TRACE(rows[i].condition);
        expect_sum(i, 1);
        EXPECT_EQ(hits(i).size(), rows[i].expected == Judgement::is_true ? 1U : 0U);
        EXPECT_EQ(counters(i).condition, rows[i].expected == Judgement::is_false ? 1U : 0U);
        EXPECT_EQ(counters(i).unknown, rows[i].expected == Judgement::is_unknown ? 1U : 0U);
    }
}

TEST_F(GateTest, AgreesWithEveryRandomCondition) {
    constexpr size_t kInputs = 100;
    std::mt19937 random(20261129);
    std::vector<RandomCondition> conditions;
    std::vector<std::string> texts;
    for (size_t i = 0; i < kSites.size(); ++i) {
        conditions.push_back(RandomCondition::make(random));
        texts.push_back(site_text(i, "if " + conditions.back().text()));
    }
    start(texts);
    std::vector<std::set<uint64_t>> expected(kSites.size());
    std::vector<uint64_t> unknown(kSites.size());
    for (uint64_t hit = 0; hit < kInputs; ++hit) {
        const auto input = RandomCondition::random_input(random);
        for (size_t i = 0; i < kSites.size(); ++i) {
            const auto judgement = conditions[i].judge(input);
            if (judgement == Judgement::is_true) expected[i].insert(hit);
            if (judgement == Judgement::is_unknown) ++unknown[i];
            call(kSites[i], input, hit);
        }
    }
    finish();
    for (size_t i = 0; i < kSites.size(); ++i) {
        SCOPED_TRACE(conditions[i].text());
        expect_sum(i, kInputs);
        EXPECT_EQ(std::set<uint64_t>(hits(i).begin(), hits(i).end()), expected[i]);
        EXPECT_EQ(counters(i).unknown, unknown[i]);
    }
}

TEST_F(GateTest, ReadsTextsThatAreNotInMemory) {
    char name[] = "/tmp/tracer-gate-XXXXXX";
    const UniqueFd file(mkstemp(name));
    ASSERT_TRUE(file.valid());
    unlink(name);
    ASSERT_EQ(ftruncate(file.get(), 8192), 0);
    const std::string_view value = "across the border";
    ASSERT_EQ(pwrite(file.get(), value.data(), value.size(), 4090),
              static_cast<ssize_t>(value.size()));
    void* pages = mmap(nullptr, 8192, PROT_READ, MAP_PRIVATE, file.get(), 0);
    ASSERT_NE(pages, MAP_FAILED);
    start({site_text(0, "if arg2 ~ \"across*border\"")});
    kSites[0](0, 0, static_cast<const char*>(pages) + 4090, 7);
    finish();
    EXPECT_EQ(hits(0), std::vector<uint64_t>{7});
    munmap(pages, 8192);
}

// Nothing behind the text is looked at: here no page follows it.
TEST_F(GateTest, ComparesTextsWhoseLengthIsCounted) {
    void* page = mmap(nullptr, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    ASSERT_NE(page, MAP_FAILED);
    ASSERT_EQ(mprotect(static_cast<char*>(page) + 4096, 4096, PROT_NONE), 0);
    const std::string value = "GET /" + std::string(70, 'x');
    char* const text = static_cast<char*>(page) + 4096 - value.size();
    std::copy(value.begin(), value.end(), text);
    start({site_text(0, "if arg2:str[arg0] == \"GET\""),
           site_text(1, "if arg2:str[arg0] ~ \"*xx\""),
           site_text(2, "if arg2:str[arg0:u8] != \"\"")});
    for (const uint64_t length : {uint64_t{0}, uint64_t{2}, uint64_t{3}, uint64_t{4}, uint64_t{60},
                                  uint64_t{value.size()}}) {
        for (size_t i = 0; i < 3; ++i) kSites[i](length, 0, text, length);
    }
    finish();
    EXPECT_EQ(hits(0), std::vector<uint64_t>{3});
    EXPECT_EQ(hits(1), std::vector<uint64_t>{60}) << "what is longer than 63 bytes is unknown";
    EXPECT_EQ(counters(1).unknown, 1u);
    EXPECT_EQ(hits(2), (std::vector<uint64_t>{2, 3, 4, 60, value.size()}));
    munmap(page, 8192);
}

TEST_F(GateTest, ComparesTheTask) {
    prctl(PR_SET_NAME, "gate-tester");
    const auto pid = getpid();
    const std::vector<std::string> conditions{
        "if comm == \"gate-tester\"",     "if comm ~ \"gate*\"",
        "if comm != \"gate-tester\"",     "if comm ~ \"*-testee\"",
        fmt::format("if pid == {}", pid), fmt::format("if pid != {}", pid),
        fmt::format("if tid == {}", pid), fmt::format("if tid > {}", pid),
    };
    std::vector<std::string> texts;
    for (size_t i = 0; i < conditions.size(); ++i) texts.push_back(site_text(i, conditions[i]));
    start(texts);
    for (size_t i = 0; i < conditions.size(); ++i) kSites[i](0, 0, "", i);
    finish();
    const std::array<size_t, 8> expected{1, 1, 0, 0, 1, 0, 1, 0};
    for (size_t i = 0; i < conditions.size(); ++i) {
        EXPECT_EQ(hits(i).size(), expected[i]) << conditions[i];
    }
}

// A cgroup of this test's own, with this process two levels below it, until destroyed.
class OwnCgroup {
public:
    explicit OwnCgroup(std::string mount) : mount_(std::move(mount)) {
        outer_ = fmt::format("{}/tracer-gate-{}", mount_, getpid());
        is_made_ = mkdir(outer_.c_str(), 0755) == 0 && mkdir(inner().c_str(), 0755) == 0 &&
                   move_to(inner());
    }
    ~OwnCgroup() {
        move_to(mount_);
        rmdir(inner().c_str());
        rmdir(outer_.c_str());
    }
    OwnCgroup(const OwnCgroup&) = delete;
    OwnCgroup& operator=(const OwnCgroup&) = delete;
    [[nodiscard]] bool is_made() const { return is_made_; }
    [[nodiscard]] const std::string& outer() const { return outer_; }
    [[nodiscard]] std::string inner() const { return outer_ + "/inner"; }

private:
    static bool move_to(const std::string& group) {
        FILE* file = fopen((group + "/cgroup.procs").c_str(), "we");
        if (file == nullptr) return false;
        fmt::print(file, "{}\n", getpid());
        return fclose(file) == 0;
    }
    std::string mount_;
    std::string outer_;
    bool is_made_ = false;
};

TEST_F(GateTest, ComparesTheCgroupAndThoseAboveIt) {
    std::string mount = "/sys/fs/cgroup/unified";
    if (access((mount + "/cgroup.procs").c_str(), W_OK) != 0) mount = "/sys/fs/cgroup";
    const OwnCgroup group(mount);
    if (!group.is_made()) GTEST_SKIP() << "no cgroup v2 that can be written";
    const auto id = find_cgroup(group.inner());
    ASSERT_TRUE(id) << id.error().what;
    start({site_text(0, fmt::format("if cgroup == \"{}\"", group.outer())),
           site_text(1, fmt::format("if cgroup == {}", *id)),
           site_text(2, fmt::format("if cgroup == {}", *id + 1000000)),
           site_text(3, fmt::format("if cgroup != \"{}\"", group.inner()))});
    for (size_t i = 0; i < 4; ++i) kSites[i](0, 0, "", i);
    finish();
    const std::array<size_t, 4> expected{1, 1, 0, 0};
    for (size_t i = 0; i < 4; ++i) EXPECT_EQ(hits(i).size(), expected[i]) << i;
}

TEST_F(GateTest, TakesTheFirstOfEveryNOnEachCpu) {
    constexpr uint64_t kHits = 1001;
    start({site_text(0, "sample 1/10"), site_text(1, "if arg0 < 500 sample 1/100")});
    cpu_set_t before;
    CPU_ZERO(&before);
    ASSERT_EQ(sched_getaffinity(0, sizeof(before), &before), 0);
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(sched_getcpu(), &one);
    ASSERT_EQ(sched_setaffinity(0, sizeof(one), &one), 0);
    for (uint64_t hit = 0; hit < kHits; ++hit) {
        kSites[0](hit, 0, "", hit);
        kSites[1](hit, 0, "", hit);
    }
    sched_setaffinity(0, sizeof(before), &before);
    finish();
    ASSERT_EQ(hits(0).size(), 101U);
    for (size_t i = 0; i < hits(0).size(); ++i) EXPECT_EQ(hits(0)[i], 10 * i);
    expect_sum(0, kHits);
    EXPECT_EQ(counters(0).sampled_out, 900U);
    // Only hits for which the condition is true are counted off.
    EXPECT_EQ(hits(1), (std::vector<uint64_t>{0, 100, 200, 300, 400}));
    expect_sum(1, kHits);
    EXPECT_EQ(counters(1).condition, 501U);
    EXPECT_EQ(counters(1).sampled_out, 495U);
}

TEST_F(GateTest, KeepsARateOverAllThreadsAndCountsTheRest) {
    constexpr uint64_t kRate = 2000;
    constexpr size_t kThreads = 4;
    start({site_text(0, fmt::format("rate {}/s", kRate))});
    const auto begin = std::chrono::steady_clock::now();
    std::array<uint64_t, kThreads> calls{};
    std::vector<std::thread> threads;
    for (size_t i = 0; i < kThreads; ++i) {
        threads.emplace_back([&calls, i, begin] {
            while (std::chrono::steady_clock::now() - begin < std::chrono::milliseconds(1500)) {
                kSites[0](0, 0, "", calls[i]++);
            }
        });
    }
    for (auto& thread : threads) thread.join();
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
    finish();
    uint64_t all = 0;
    for (const uint64_t count : calls) all += count;
    expect_sum(0, all);
    EXPECT_EQ(counters(0).throttled, all - hits(0).size());
    const double allowed = static_cast<double>(kRate) * (seconds.count() + 0.1);
    EXPECT_LE(static_cast<double>(hits(0).size()), allowed + 1);
    EXPECT_GE(static_cast<double>(hits(0).size()), 0.8 * allowed) << all << " calls";
}

TEST_F(GateTest, LetsABurstOfATenthOfASecondThrough) {
    start({site_text(0, "rate 100/s")});
    const auto begin = std::chrono::steady_clock::now();
    for (uint64_t hit = 0; hit < 50; ++hit) kSites[0](0, 0, "", hit);
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
    finish();
    EXPECT_GE(hits(0).size(), 10U);
    EXPECT_LE(static_cast<double>(hits(0).size()), 10 + 100 * seconds.count() + 1);
    expect_sum(0, 50);
}

TEST_F(GateTest, RecordsEndsOfRecordedBeginsOnly) {
    constexpr uint64_t kHits = 100;
    force_perf_links_ = true;
    start({site_text(0, "if arg0 & 1", "span"), site_text(1, "sample 1/4", "span")});
    for (uint64_t hit = 0; hit < kHits; ++hit) {
        kSites[0](hit, 0, "", hit);
        kSites[1](hit, 0, "", hit);
    }
    finish();
    const auto& begins = counters(0);
    const auto& ends = counters(1);
    EXPECT_EQ(begins.hits, kHits);
    EXPECT_EQ(begins.condition, kHits / 2);
    EXPECT_EQ(ends.hits, kHits);
    EXPECT_EQ(ends.unopened, kHits / 2);
    EXPECT_EQ(counters(3).unopened, counters(2).sampled_out);
}

TEST_F(GateTest, TakesNoTrapForReturnsOfEntriesKeptOut) {
    if (!has_uprobe_session()) GTEST_SKIP() << "no uprobe sessions in this kernel (6.13)";
    constexpr uint64_t kHits = 100;
    start({site_text(0, "if arg0 & 1", "span"), site_text(1, "sample 1/4", "span"),
           site_text(2, "if arg2:str == \"kept\"", "span")});
    for (uint64_t hit = 0; hit < kHits; ++hit) {
        kSites[0](hit, 0, "", hit);
        kSites[1](hit, 0, "", hit);
        kSites[2](hit, 0, hit < 10 ? "kept" : "not", hit);
    }
    finish();
    for (size_t probe = 0; probe < 6; probe += 2) {
        const auto& begins = counters(probe);
        EXPECT_EQ(begins.hits, kHits);
        EXPECT_EQ(counters(probe + 1).hits, kHits - begins.condition - begins.sampled_out);
        EXPECT_EQ(counters(probe + 1).unopened, 0U);
    }
    EXPECT_EQ(counters(0).condition, kHits / 2);
    EXPECT_EQ(counters(5).hits, 10U);
    EXPECT_EQ(hits(0).size(), kHits / 2);
    EXPECT_EQ(hits(1).size(), kHits / 2) << "each entry's own return is recorded";
}

TEST_F(GateTest, TakesNoTrapForReturnsInProcessesThatAreNotRecorded) {
    if (!has_uprobe_session()) GTEST_SKIP() << "no uprobe sessions in this kernel (6.13)";
    // Two, or the kernel would put no probe into others.
    pids_ = {1, 2};
    start({site_text(0, "", "span")});
    for (uint64_t hit = 0; hit < 20; ++hit) kSites[0](hit, 0, "", hit);
    finish();
    EXPECT_EQ(counters(0).filtered, 20U);
    EXPECT_EQ(counters(1).filtered + counters(1).hits, 0U);
}

pid_t start_idle_process() {
    const pid_t pid = fork();
    if (pid != 0) return pid;
    // Ends with this process, whatever becomes of the test.
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    for (;;) pause();
}

void end_process(pid_t pid) {
    kill(pid, SIGKILL);
    int status = 0;
    EXPECT_EQ(waitpid(pid, &status, 0), pid);
}

// Where few processes are recorded, another that maps the same file has no breakpoint at all.
TEST_F(GateTest, LeavesTheTextOfOtherProcessesAlone) {
    if (!has_uprobe_multi()) GTEST_SKIP() << "no uprobe_multi in this kernel (6.6)";
    const pid_t second = start_idle_process();
    const pid_t other = start_idle_process();
    ASSERT_GT(second, 0);
    ASSERT_GT(other, 0);
    const auto before = first_byte(other, kSites[0]);
    constexpr uint8_t kBreakpoint = 0xcc;
    ASSERT_TRUE(before);
    EXPECT_NE(before, kBreakpoint);
    for (const bool are_two : {false, true}) {
        only_pids_ = {static_cast<uint32_t>(getpid())};
        if (are_two) only_pids_.push_back(static_cast<uint32_t>(second));
        pids_ = only_pids_;
        start({site_text(0, "if arg0 & 1")});
        EXPECT_EQ(first_byte(getpid(), kSites[0]), kBreakpoint);
        EXPECT_EQ(first_byte(second, kSites[0]) == kBreakpoint, are_two);
        EXPECT_EQ(first_byte(other, kSites[0]), before);
        kSites[0](1, 0, "", 5);
        finish();
        EXPECT_EQ(hits(0), std::vector<uint64_t>{5});
        EXPECT_EQ(first_byte(getpid(), kSites[0]), before) << "nothing is left behind";
        EXPECT_EQ(first_byte(second, kSites[0]), before);
    }
    end_process(second);
    end_process(other);
}

// An end of a call whose begin was kept out would close what the thread has open.
TEST_F(GateTest, KeepsAPairOfOneFunctionToItsOwnCalls) {
    if (!has_uprobe_session()) GTEST_SKIP() << "no uprobe sessions in this kernel (6.13)";
    start({fmt::format("u:{0}:gate_site_00(arg0) if arg0 & 1 ~~ ur:{0}:gate_site_00",
                       own_program())});
    for (uint64_t hit = 0; hit < 10; ++hit) kSites[0](hit, 0, "", hit);
    finish();
    EXPECT_EQ(counters(0).condition, 5U);
    EXPECT_EQ(counters(1).hits, 5U);
}

TEST_F(GateTest, NamesHitsByTheirArguments) {
    start(
        {fmt::format("span:{}:gate_site_00(q=arg2:str, n=arg0) if n < 2 as \"query {{q}} #{{n}}\"",
                     own_program()),
         fmt::format("u:{}:gate_site_01(arg0) as \"{{{{{{arg0}}}}}}\"", own_program())});
    for (uint64_t hit = 0; hit < 3; ++hit) {
        kSites[0](hit, 0, "SELECT", hit);
        kSites[1](hit, 0, "", hit);
    }
    finish();
    std::string names;
    for (const auto& line : decoded()) {
        const auto begin = line.find("=\"");
        if (begin != std::string::npos) {
            names += line.substr(begin + 2, line.find('"', begin + 2) - begin - 2) + '\n';
        }
    }
    EXPECT_EQ(names, "query SELECT #0\n{0}\nquery SELECT #1\n{1}\n{2}\n");
}

}  // namespace
}  // namespace tracer
