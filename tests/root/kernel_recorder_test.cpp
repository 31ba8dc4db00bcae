// SPDX-License-Identifier: Apache-2.0
//
// The kernel side alone: this process is the target, its own site is probed, and the raw records
// are compared with what it did.
#include "probe/kernel_recorder.h"

#include "probe/probe_compiler.h"
#include "probe/uprobe_link.h"

#include <array>
#include <atomic>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

#include <gtest/gtest.h>

extern "C" {
// A site of one 1-byte nop with its two arguments in rdi and rsi, behind a semaphore.
extern const char kKernelRecorderSite[];
__attribute__((section(".probes"))) volatile uint16_t kernel_recorder_semaphore = 0;
__attribute__((noinline)) void hit_site(uint64_t first, uint64_t second) {
    asm volatile(
        ".globl kKernelRecorderSite\n"
        "kKernelRecorderSite: nop\n"
        :
        : "D"(first), "S"(second)
        : "memory");
}
// Another, which is never hit.
extern const char kKernelRecorderCold[];
__attribute__((noinline, used)) void cold_site() {
    asm volatile(
        ".globl kKernelRecorderCold\n"
        "kKernelRecorderCold: nop\n" ::
            : "memory");
}
}

namespace tracer {
namespace {

// File offset of an address of this program, through /proc/self/maps.
uint64_t file_offset_of(const volatile void* pointer) {
    const auto address = reinterpret_cast<uintptr_t>(pointer);
    std::ifstream maps("/proc/self/maps");
    std::string line;
    while (std::getline(maps, line)) {
        unsigned long start = 0;
        unsigned long end = 0;
        unsigned long offset = 0;
        if (std::sscanf(line.c_str(), "%lx-%lx %*s %lx", &start, &end, &offset) != 3) continue;
        if (address >= start && address < end) return address - start + offset;
    }
    return 0;
}

tr_arg register_arg(tr_reg reg, uint8_t bytes, tr_arg_form form) {
    tr_arg arg{};
    arg.op_count = 1;
    arg.form = form;
    arg.bytes = bytes;
    arg.ops[0] = {TR_OP_REG, static_cast<uint8_t>(reg), 0, 0, 0, 0};
    return arg;
}

constexpr uint32_t kProbe = TR_PROBE_FIRST_USER;

AttachPlan plan_of(const tr_probe& probe, ProbeProgram program) {
    AttachPlan plan;
    plan.programs.push_back(probe);
    AttachFile file;
    file.open_path = "/proc/self/exe";
    file.shown_path = "this test";
    file.sites.push_back({file_offset_of(kKernelRecorderSite),
                          file_offset_of(&kernel_recorder_semaphore), kProbe, program});
    plan.files.push_back(file);
    return plan;
}

AttachPlan two_integers() {
    tr_probe probe{};
    probe.arg_count = 2;
    probe.shape = TR_SHAPE_args2;
    probe.args[0] = register_arg(TR_REG_RDI, 4, TR_ARG_SIGNED);
    probe.args[1] = register_arg(TR_REG_RSI, 8, TR_ARG_UNSIGNED);
    return plan_of(probe, ProbeProgram::hit);
}

AttachPlan one_string() {
    tr_probe probe{};
    probe.arg_count = 1;
    probe.shape = TR_SHAPE_strings1;
    probe.args[0] = register_arg(TR_REG_RDI, 8, TR_ARG_USER_STRING);
    probe.args[0].string_offset = TR_STRINGS_OFFSET;
    probe.args[0].string_bytes_max = TR_STRING_BYTES;
    return plan_of(probe, ProbeProgram::hit_sleepable);
}

KernelOptions this_process() {
    KernelOptions options;
    options.pids = {static_cast<uint32_t>(getpid())};
    options.ring_bytes = 1 << 20;
    options.record_sched = false;
    return options;
}

struct Hit {
    tr_record_header header{};
    std::vector<std::byte> bytes;
    [[nodiscard]] uint64_t arg(size_t i) const {
        uint64_t value = 0;
        std::memcpy(&value, bytes.data() + sizeof(header) + i * 8, sizeof(value));
        return value;
    }
    [[nodiscard]] std::string text(size_t i) const {
        tr_string_slot slot{};
        const uint64_t value = arg(i);
        std::memcpy(&slot, &value, sizeof(slot));
        return {reinterpret_cast<const char*>(bytes.data()) + slot.offset, slot.bytes};
    }
    [[nodiscard]] bool is_cut(size_t i) const { return (arg(i) >> 32 & TR_STRING_CUT) != 0; }
};

std::vector<Hit> drain_hits(KernelRecorder& recorder, uint16_t kind = TR_KIND_hit) {
    std::vector<Hit> hits;
    for (size_t ring = 0; ring < recorder.ring_count(); ++ring) {
        std::vector<RecordView> views;
        recorder.peek(ring, SIZE_MAX, views);
        for (const RecordView& view : views) {
            Hit hit;
            const auto bytes = view.bytes();
            if (bytes.size() < sizeof(hit.header)) continue;
            hit.bytes.assign(bytes.begin(), bytes.end());
            std::memcpy(&hit.header, bytes.data(), sizeof(hit.header));
            if (hit.header.kind == kind) hits.push_back(std::move(hit));
        }
        recorder.release(ring, views.size());
    }
    return hits;
}

class KernelRecorderTest : public ::testing::TestWithParam<bool> {
protected:
    void SetUp() override {
        if (geteuid() != 0) GTEST_SKIP() << "needs root";
        if (!GetParam() && !has_uprobe_multi()) GTEST_SKIP() << "no uprobe_multi in this kernel";
    }
    std::unique_ptr<KernelRecorder> start(const AttachPlan& plan, KernelOptions options) {
        options.force_perf_links = GetParam();
        auto recorder = KernelRecorder::open(plan, options);
        if (!recorder) {
            ADD_FAILURE() << recorder.error().what;
            return nullptr;
        }
        const Status attached = (*recorder)->attach([] { return false; });
        if (!attached) {
            ADD_FAILURE() << attached.error().what;
            return nullptr;
        }
        return std::move(*recorder);
    }
};

INSTANTIATE_TEST_SUITE_P(Links,
                         KernelRecorderTest,
                         ::testing::Values(false, true),
                         [](const auto& param) { return param.param ? "PerfEach" : "Multi"; });

TEST_P(KernelRecorderTest, RecordsIntegersExactly) {
    auto recorder = start(two_integers(), this_process());
    ASSERT_NE(recorder, nullptr);
    hit_site(static_cast<uint64_t>(-5), 0xfedcba9876543210);
    hit_site(0x1'7fffffff, 7);
    ASSERT_TRUE(recorder->detach().has_value());
    hit_site(1, 1);
    const auto hits = drain_hits(*recorder);
    ASSERT_EQ(hits.size(), 2U);
    EXPECT_EQ(static_cast<int64_t>(hits[0].arg(0)), -5);
    EXPECT_EQ(hits[0].arg(1), 0xfedcba9876543210);
    EXPECT_EQ(hits[1].arg(0), 0x7fffffffU) << "only the low four bytes belong to the argument";
    EXPECT_EQ(hits[0].header.tgid, static_cast<uint32_t>(getpid()));
    EXPECT_EQ(hits[0].header.probe_id, kProbe);
    EXPECT_LT(hits[0].header.time_ns, hits[1].header.time_ns);
    EXPECT_EQ(recorder->counters().probes[kProbe].counters.hits, 2U);
}

// What the verifier looked at of every program that this process has loaded; 0: the kernel does not
// tell (5.16).
uint64_t verified_instructions() {
    constexpr std::string_view kField = "verified_insns:";
    uint64_t sum = 0;
    for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fdinfo")) {
        std::ifstream info(entry.path());
        for (std::string line; std::getline(info, line);) {
            if (line.starts_with(kField)) sum += std::stoull(line.substr(kField.size()));
        }
    }
    return sum;
}

// Every recording of more than one process begins with it: a million takes half a second.
TEST_P(KernelRecorderTest, LoadsWhatLaterFilesMayNeedWithoutMuchVerifying) {
    constexpr uint64_t kVerifiedMax = 300'000;
    KernelOptions options = this_process();
    options.force_perf_links = GetParam();
    options.late_programs_max = 4096;
    options.late_gates_max = 256;
    const auto recorder = KernelRecorder::open(AttachPlan{}, options);
    ASSERT_TRUE(recorder) << recorder.error().what;
    const uint64_t verified = verified_instructions();
    if (verified == 0) GTEST_SKIP() << "this kernel does not tell what it verified";
    EXPECT_LT(verified, kVerifiedMax);
}

// A copy of this program that has a probe in the plan, gone when the test is over.
struct ProbedCopy {
    ProbedCopy() {
        std::array<char, 40> name{"/tmp/tracer-held-XXXXXX"};
        const UniqueFd file(mkstemp(name.data()));
        path = name.data();
        std::error_code error;
        std::filesystem::copy_file("/proc/self/exe", path,
                                   std::filesystem::copy_options::overwrite_existing, error);
        const auto spec = parse_probe_spec("u:" + path + ":hit_site");
        if (!spec) return;
        auto compiled = compile_probes(std::span(&*spec, 1), TargetFiles(), {});
        if (compiled) plan = std::move(*compiled);
    }
    ProbedCopy(const ProbedCopy&) = delete;
    ProbedCopy& operator=(const ProbedCopy&) = delete;
    ~ProbedCopy() { unlink(path.c_str()); }

    // What cp over it does: the same inode, written a second later.
    void overwrite() const {
        const UniqueFd file(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
        struct stat status {};
        ASSERT_EQ(fstat(file.get(), &status), 0);
        const char byte = 0x7f;
        ASSERT_EQ(pwrite(file.get(), &byte, 1, 0), 1);
        const std::array<timespec, 2> times = {
            status.st_atim, timespec{status.st_mtim.tv_sec + 1, status.st_mtim.tv_nsec}};
        ASSERT_EQ(futimens(file.get(), times.data()), 0);
    }

    std::string path;
    AttachPlan plan;
};

TEST_P(KernelRecorderTest, AttachesToTheFileThatWasReadWhateverBecameOfItsName) {
    const ProbedCopy copy;
    ASSERT_EQ(copy.plan.files.size(), 1U);
    ASSERT_EQ(unlink(copy.path.c_str()), 0);
    const auto recorder = start(copy.plan, this_process());
    ASSERT_NE(recorder, nullptr);
    ASSERT_TRUE(recorder->detach().has_value());
    EXPECT_TRUE(recorder->warnings().empty());
}

TEST_P(KernelRecorderTest, RefusesAFileThatWasWrittenSinceItWasRead) {
    const ProbedCopy copy;
    ASSERT_EQ(copy.plan.files.size(), 1U);
    copy.overwrite();
    auto recorder = KernelRecorder::open(copy.plan, this_process());
    ASSERT_TRUE(recorder) << recorder.error().what;
    const auto attached = (*recorder)->attach([] { return false; });
    ASSERT_FALSE(attached);
    EXPECT_NE(attached.error().what.find("was written to since"), std::string::npos);
}

// Nobody asked for what packs have: a file of theirs costs no recording, and the rows say why.
TEST_P(KernelRecorderTest, LeavesOutWhatPacksHaveInAFileThatIsGoneOrWrittenTo) {
    for (const bool is_gone : {true, false}) {
        ProbedCopy copy;
        ASSERT_EQ(copy.plan.files.size(), 1U);
        AttachFile& file = copy.plan.files.front();
        for (AttachSite& site : file.sites) site.may_fail = site.is_optional = true;
        if (is_gone) {
            file.held.reset();
            ASSERT_EQ(unlink(copy.path.c_str()), 0);
        } else {
            copy.overwrite();
        }
        const auto recorder = start(copy.plan, this_process());
        ASSERT_NE(recorder, nullptr);
        ASSERT_EQ(recorder->refused().size(), file.sites.size());
        EXPECT_EQ(recorder->refused()[0].probe_id, file.sites[0].probe_id);
        EXPECT_NE(recorder->refused()[0].reason.find(is_gone ? "the file is gone"
                                                             : "was written to since"),
                  std::string::npos)
            << recorder->refused()[0].reason;
        ASSERT_EQ(recorder->warnings().size(), 1U);
        EXPECT_NE(recorder->warnings()[0].find("left out"), std::string::npos);
        EXPECT_TRUE(recorder->detach().has_value());
    }
}

TEST_P(KernelRecorderTest, TellsOfAFileThatIsWrittenWhileItIsProbed) {
    const ProbedCopy copy;
    ASSERT_EQ(copy.plan.files.size(), 1U);
    const auto recorder = start(copy.plan, this_process());
    ASSERT_NE(recorder, nullptr);
    copy.overwrite();
    ASSERT_TRUE(recorder->detach().has_value());
    ASSERT_EQ(recorder->warnings().size(), 1U);
    EXPECT_NE(recorder->warnings()[0].find("written over while it was probed"), std::string::npos);
}

TEST_P(KernelRecorderTest, RaisesTheSemaphoreAndPutsItBack) {
    EXPECT_EQ(kernel_recorder_semaphore, 0);
    auto recorder = start(two_integers(), this_process());
    ASSERT_NE(recorder, nullptr);
    EXPECT_EQ(kernel_recorder_semaphore, 1);
    recorder.reset();
    EXPECT_EQ(kernel_recorder_semaphore, 0) << "a recorder that just goes away leaves nothing";
}

// A place has one semaphore: while another tool holds the place without, ours cannot be raised by
// it. The probe that asked for it is there all the same.
TEST_P(KernelRecorderTest, ASemaphoreThatCannotBeRaisedIsToldAsSuch) {
    AttachPlan other = two_integers();
    other.files.front().sites.front().file_offset = file_offset_of(kKernelRecorderCold);
    other.files.front().sites.front().semaphore_offset = 0;
    const auto holder = start(other, this_process());
    ASSERT_NE(holder, nullptr);

    AttachPlan plan = two_integers();
    ProbeDefinition definition;
    definition.probe_id = kProbe;
    definition.spec = "the probe";
    plan.probes.push_back(definition);
    AttachFile& file = plan.files.front();
    file.sites.front().may_fail = file.sites.front().is_optional = true;
    file.sites.front().semaphore_offset = 0;
    ASSERT_TRUE(file.add_raise({.file_offset = file_offset_of(kKernelRecorderCold),
                                .semaphore_offset = file_offset_of(&kernel_recorder_semaphore),
                                .probe_id = kProbe}));
    const auto recorder = start(plan, this_process());
    ASSERT_NE(recorder, nullptr);
    EXPECT_EQ(kernel_recorder_semaphore, 0);
    ASSERT_EQ(recorder->refused().size(), 1U);
    EXPECT_TRUE(recorder->refused()[0].is_raise);
    EXPECT_EQ(recorder->refused()[0].probe_id, kProbe);
    EXPECT_NE(recorder->refused()[0].reason.find("raise a semaphore"), std::string::npos);
    ASSERT_FALSE(recorder->warnings().empty());
    EXPECT_TRUE(recorder->warnings().back().starts_with("the probe: raise a semaphore"))
        << recorder->warnings().back();
    hit_site(1, 2);
    EXPECT_EQ(drain_hits(*recorder).size(), 1U);

    // What the user asked for fails instead.
    file.sites.front().may_fail = file.sites.front().is_optional = false;
    KernelOptions options = this_process();
    options.force_perf_links = GetParam();
    const auto strict = KernelRecorder::open(plan, options);
    ASSERT_TRUE(strict) << strict.error().what;
    const Status attached = (*strict)->attach([] { return false; });
    ASSERT_FALSE(attached);
    EXPECT_NE(attached.error().what.find("raise a semaphore"), std::string::npos);
}

TEST_P(KernelRecorderTest, ReadsStringsAndMarksTheCut) {
    auto recorder = start(one_string(), this_process());
    ASSERT_NE(recorder, nullptr);
    const std::string fits(TR_STRING_BYTES - 1, 'f');
    const std::string cut(TR_STRING_BYTES, 'c');
    for (const char* text : {"", "hello", fits.c_str(), cut.c_str()}) {
        hit_site(reinterpret_cast<uintptr_t>(text), 0);
    }
    hit_site(0, 0);
    ASSERT_TRUE(recorder->detach().has_value());
    const auto hits = drain_hits(*recorder);
    ASSERT_EQ(hits.size(), 5U);
    EXPECT_EQ(hits[0].text(0), "");
    EXPECT_EQ(hits[0].header.flags, 0) << "an empty string is not a missing one";
    EXPECT_EQ(hits[1].text(0), "hello");
    EXPECT_FALSE(hits[1].is_cut(0));
    EXPECT_EQ(hits[2].text(0), fits);
    EXPECT_FALSE(hits[2].is_cut(0));
    EXPECT_EQ(hits[3].text(0), cut.substr(0, TR_STRING_BYTES - 1));
    EXPECT_TRUE(hits[3].is_cut(0));
    EXPECT_EQ(hits[4].header.flags, 1) << "a null pointer's text is missing";
}

TEST_P(KernelRecorderTest, FaultsInPagesThatAreNotInMemory) {
    char name[] = "/tmp/tracer-recorder-XXXXXX";
    const UniqueFd file(mkstemp(name));
    ASSERT_TRUE(file.valid());
    unlink(name);
    // Two pages never touched through the mapping; the text lies across their border.
    const std::string text = "across the border";
    ASSERT_EQ(ftruncate(file.get(), 8192), 0);
    ASSERT_EQ(pwrite(file.get(), text.data(), text.size(), 4090),
              static_cast<ssize_t>(text.size()));
    void* pages = mmap(nullptr, 8192, PROT_READ, MAP_PRIVATE, file.get(), 0);
    ASSERT_NE(pages, MAP_FAILED);
    auto recorder = start(one_string(), this_process());
    ASSERT_NE(recorder, nullptr);
    hit_site(reinterpret_cast<uintptr_t>(pages) + 4090, 0);
    ASSERT_TRUE(recorder->detach().has_value());
    const auto hits = drain_hits(*recorder);
    ASSERT_EQ(hits.size(), 1U);
    EXPECT_EQ(hits[0].header.flags, 0);
    EXPECT_EQ(hits[0].text(0), text);
    const auto counters = recorder->counters().probes[kProbe].counters;
    EXPECT_EQ(counters.hits, 1U);
    EXPECT_EQ(counters.retried, 1U);
    munmap(pages, 8192);
}

TEST_P(KernelRecorderTest, FaultsInIntegersThatAreNotInMemory) {
    char name[] = "/tmp/tracer-recorder-XXXXXX";
    const UniqueFd file(mkstemp(name));
    ASSERT_TRUE(file.valid());
    unlink(name);
    const int32_t value = -77;
    ASSERT_EQ(pwrite(file.get(), &value, sizeof(value), 4096), ssize_t{sizeof(value)});
    void* pages = mmap(nullptr, 8192, PROT_READ, MAP_PRIVATE, file.get(), 0);
    ASSERT_NE(pages, MAP_FAILED);
    tr_probe probe{};
    probe.arg_count = 1;
    probe.shape = TR_SHAPE_args2;
    probe.args[0] = register_arg(TR_REG_RDI, 4, TR_ARG_SIGNED);
    probe.args[0].op_count = 2;
    probe.args[0].ops[1] = {TR_OP_LOAD, 0, 4, 0, 0, 4096};
    auto recorder = start(plan_of(probe, ProbeProgram::hit_sleepable), this_process());
    ASSERT_NE(recorder, nullptr);
    hit_site(reinterpret_cast<uintptr_t>(pages), 0);
    ASSERT_TRUE(recorder->detach().has_value());
    const auto hits = drain_hits(*recorder);
    ASSERT_EQ(hits.size(), 1U);
    EXPECT_EQ(hits[0].header.flags, 0) << "the argument is not missing";
    EXPECT_EQ(static_cast<int64_t>(hits[0].arg(0)), value);
    munmap(pages, 8192);
}

TEST_P(KernelRecorderTest, CountsEveryHitAsRecordedOrLost) {
    KernelOptions options = this_process();
    options.ring_bytes = 4096;
    auto recorder = start(two_integers(), options);
    ASSERT_NE(recorder, nullptr);
    constexpr uint64_t kHits = 1000;
    for (uint64_t i = 0; i < kHits; ++i) hit_site(i, i);
    ASSERT_TRUE(recorder->detach().has_value());
    const auto hits = drain_hits(*recorder);
    const KernelCounters counters = recorder->counters();
    EXPECT_EQ(counters.probes[kProbe].counters.hits, kHits);
    EXPECT_GT(counters.probes[kProbe].counters.ring_full, 0U) << "the ring holds 73 records";
    EXPECT_EQ(hits.size() + counters.probes[kProbe].counters.ring_full, kHits);
    uint64_t attempts = 0;
    uint64_t lost = 0;
    for (size_t cpu = 0; cpu + 1 < counters.rings.size(); ++cpu) {
        attempts += counters.rings[cpu].attempts;
        lost += counters.rings[cpu].lost;
    }
    EXPECT_EQ(attempts, kHits);
    EXPECT_EQ(lost, counters.probes[kProbe].counters.ring_full);
}

TEST_P(KernelRecorderTest, FollowsChildrenOnlyWhenAsked) {
    for (const bool follow : {false, true}) {
        KernelOptions options = this_process();
        options.follow_children = follow;
        auto recorder = start(two_integers(), options);
        ASSERT_NE(recorder, nullptr);
        const pid_t child = fork();
        if (child == 0) {
            hit_site(1, 2);
            _exit(0);
        }
        int status = 0;
        ASSERT_EQ(waitpid(child, &status, 0), child);
        ASSERT_TRUE(recorder->detach().has_value());
        const auto hits = drain_hits(*recorder);
        EXPECT_EQ(hits.size(), follow ? 1U : 0U);
        if (follow && !hits.empty()) {
            EXPECT_EQ(hits[0].header.tgid, static_cast<uint32_t>(child));
        }
    }
}

TEST_P(KernelRecorderTest, TellsWhoThereIsAndWhoIsBorn) {
    auto recorder = start({}, this_process());
    ASSERT_NE(recorder, nullptr);
    std::thread([] { pthread_setname_np(pthread_self(), "renamed"); }).join();
    ASSERT_TRUE(recorder->detach().has_value());
    bool saw_self = false;
    for (const Hit& record : drain_hits(*recorder, TR_KIND_task_info)) {
        saw_self |= record.header.tid == static_cast<uint32_t>(getpid());
    }
    EXPECT_TRUE(saw_self);
}

TEST_P(KernelRecorderTest, WakesTheDrainWhenARingFills) {
    KernelOptions options = this_process();
    options.ring_bytes = 1 << 16;
    auto recorder = start(two_integers(), options);
    ASSERT_NE(recorder, nullptr);
    drain_hits(*recorder);
    while (recorder->wait(std::chrono::milliseconds(0))) drain_hits(*recorder);
    std::atomic<bool> stop{false};
    std::thread flood([&] {
        while (!stop) hit_site(1, 1);
    });
    EXPECT_TRUE(recorder->wait(std::chrono::seconds(20)));
    stop = true;
    flood.join();
    recorder->wake();
    EXPECT_TRUE(recorder->wait(std::chrono::seconds(20)));
}

}  // namespace
}  // namespace tracer
