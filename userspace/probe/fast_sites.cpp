// SPDX-License-Identifier: Apache-2.0
//
// The trial. A child of ours waits until its two 5-byte nops are probed, hits one until the kernel
// has made of it what it will, lets a leaf function keep data in the red zone across the other, and
// forks a child that does the same. What they see comes back in shared memory. The nops lie in this
// program's own file; the links are for the child's process alone and gone when this returns.
//
// Called by `tracer doctor` and for --fast-sites.
#include "probe/fast_sites.h"

#include "probe/uprobe_link.h"

#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <link.h>
#include <linux/bpf.h>
#include <memory>
#include <optional>
#include <poll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <fmt/format.h>

// The sites, with labels on the nops themselves. The second keeps its argument in the red zone.
// clang-format off: one line of assembler a line
__asm__(
    ".pushsection .text\n"
    ".hidden tr_fast_site\n"
    ".type tr_fast_site, @function\n"
    "tr_fast_site:\n"
    ".byte 0x0f, 0x1f, 0x44, 0x00, 0x00\n"
    "ret\n"
    ".size tr_fast_site, .-tr_fast_site\n"
    ".hidden tr_fast_red_zone\n"
    ".type tr_fast_red_zone, @function\n"
    "tr_fast_red_zone:\n"
    "mov %rdi, -8(%rsp)\n"
    "xor %eax, %eax\n"
    ".hidden tr_fast_red_zone_site\n"
    "tr_fast_red_zone_site:\n"
    ".byte 0x0f, 0x1f, 0x44, 0x00, 0x00\n"
    "mov -8(%rsp), %rax\n"
    "ret\n"
    ".size tr_fast_red_zone, .-tr_fast_red_zone\n"
    ".popsection\n");
// clang-format on

extern "C" {
void tr_fast_site();
uint64_t tr_fast_red_zone(uint64_t value);
void tr_fast_red_zone_site();
}

namespace tracer {
namespace {

constexpr unsigned kSubjectSeconds = 2;
constexpr int kWaitMs = 3000;
// The kernel optimises at the second or third hit.
constexpr uint32_t kHits = 16;

struct Shared {
    std::atomic<bool> is_call;
    std::atomic<bool> has_forked;
    std::atomic<int> child_status;
    std::atomic<uint32_t> red_zone_calls;
    std::atomic<uint32_t> red_zone_wrong;
};

struct Unmapper {
    void operator()(Shared* shared) const { munmap(shared, sizeof(Shared)); }
};
using SharedPointer = std::unique_ptr<Shared, Unmapper>;

SharedPointer map_shared() {
    void* const memory =
        mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    return SharedPointer(memory == MAP_FAILED ? nullptr : new (memory) Shared{});
}

void hit_both(Shared& shared) {
    for (uint32_t i = 0; i < kHits; ++i) {
        tr_fast_site();
        const uint64_t value = 0x0123456789abcdefULL + i;
        shared.red_zone_calls.fetch_add(1);
        if (tr_fast_red_zone(value) != value) shared.red_zone_wrong.fetch_add(1);
    }
}

// Instead of a core dump and a line in the kernel's log.
void end_by_signal(int signal) {
    _exit(signal);
}

// The subject: calls nothing that is not safe after a fork.
[[noreturn]] void run_subject(int start_pipe, Shared& shared) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    alarm(kSubjectSeconds);
    char byte = 0;
    if (read(start_pipe, &byte, 1) != 1) _exit(0);
    hit_both(shared);
    constexpr unsigned char kCall = 0xe8;
    unsigned char opcode = 0;
    std::memcpy(&opcode, reinterpret_cast<const void*>(&tr_fast_site), 1);
    shared.is_call = opcode == kCall;
    shared.has_forked = true;
    const pid_t child = fork();
    if (child == 0) {
        for (const int signal : {SIGSEGV, SIGBUS, SIGILL, SIGTRAP}) {
            std::signal(signal, end_by_signal);
        }
        alarm(kSubjectSeconds);
        hit_both(shared);
        _exit(0);
    }
    int status = 0;
    if (child > 0 && waitpid(child, &status, 0) == child) shared.child_status = status;
    _exit(0);
}

// Of an address in this program, in its file.
std::optional<uint64_t> file_offset_of(const void* place) {
    struct Search {
        uint64_t address = 0;
        std::optional<uint64_t> offset;
    } search{reinterpret_cast<uintptr_t>(place), std::nullopt};
    dl_iterate_phdr(
        [](dl_phdr_info* info, size_t, void* context) {
            auto& wanted = *static_cast<Search*>(context);
            for (size_t i = 0; i < info->dlpi_phnum; ++i) {
                const auto& segment = info->dlpi_phdr[i];
                const uint64_t begin = info->dlpi_addr + segment.p_vaddr;
                if (segment.p_type != PT_LOAD || wanted.address < begin ||
                    wanted.address - begin >= segment.p_filesz) {
                    continue;
                }
                wanted.offset = wanted.address - begin + segment.p_offset;
            }
            return 1;  // the program itself is the first
        },
        &search);
    return search.offset;
}

// A program that does nothing, on both nops of one process.
Result<std::unique_ptr<UprobeLink>> attach_sites(pid_t pid) {
    const bpf_insn nothing[] = {
        {.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0},
        {.code = BPF_JMP | BPF_EXIT},
    };
    bpf_prog_load_opts options{};
    options.sz = sizeof(options);
    options.expected_attach_type = static_cast<bpf_attach_type>(kUprobeMultiAttachType);
    const UniqueFd program(bpf_prog_load(BPF_PROG_TYPE_KPROBE, "tr_fast_sites", "GPL", nothing,
                                         std::size(nothing), &options));
    if (!program.valid()) {
        return fail_errno(ErrorCode::missing_feature, errno, "load a program for uprobe_multi");
    }
    UprobeRequest request;
    request.path = "/proc/self/exe";
    request.pid = static_cast<uint32_t>(pid);
    for (void (*const site)() : {&tr_fast_site, &tr_fast_red_zone_site}) {
        const auto offset = file_offset_of(reinterpret_cast<const void*>(site));
        if (!offset) return fail(ErrorCode::internal, "find a site of our own");
        request.places.push_back({*offset, 0, 0});
    }
    return attach_uprobe_multi(program.get(), request);
}

// How it ended; SIGKILL when it had to be ended.
int wait_for(pid_t pid) {
    const UniqueFd handle(static_cast<int>(syscall(SYS_pidfd_open, pid, 0)));
    pollfd ended{.fd = handle.get(), .events = POLLIN, .revents = 0};
    if (!handle.valid() || poll(&ended, 1, kWaitMs) != 1) kill(pid, SIGKILL);
    int status = 0;
    waitpid(pid, &status, 0);
    return status;
}

std::string signal_name(int signal) {
    const char* const name = sigabbrev_np(signal);
    return name == nullptr ? fmt::format("signal {}", signal) : fmt::format("SIG{}", name);
}

}  // namespace

FastSiteTrial try_fast_sites(bool with_probes) {
    FastSiteTrial trial;
    const SharedPointer shared = map_shared();
    std::array<int, 2> ends{};
    if (shared == nullptr || pipe2(ends.data(), O_CLOEXEC) != 0) {
        trial.failure = fmt::format("no memory or descriptors: {}", strerrordesc_np(errno));
        return trial;
    }
    const UniqueFd start(ends[0]);
    UniqueFd starter(ends[1]);
    const pid_t subject = fork();
    if (subject < 0) {
        trial.failure = fmt::format("fork: {}", strerrordesc_np(errno));
        return trial;
    }
    if (subject == 0) {
        starter.reset();
        run_subject(start.get(), *shared);
    }
    std::unique_ptr<UprobeLink> link;
    if (with_probes) {
        auto attached = attach_sites(subject);
        if (attached) link = std::move(*attached);
        if (!attached) trial.failure = attached.error().what;
    }
    const char go = 'g';
    // Without the byte the subject reads the end of the pipe and goes away.
    if (trial.failure.empty() && write(starter.get(), &go, 1) != 1) {
        trial.failure = "the trial's process is gone";
    }
    starter.reset();
    const int status = wait_for(subject);
    link.reset();
    if (!trial.failure.empty()) return trial;
    trial.is_call = shared->is_call;
    trial.parent_signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    const int child = shared->child_status;
    trial.child_signal = WIFSIGNALED(child) ? WTERMSIG(child) : WEXITSTATUS(child);
    trial.red_zone_calls = shared->red_zone_calls;
    trial.red_zone_wrong = shared->red_zone_wrong;
    return trial;
}

FastSites judge_fast_sites(const FastSiteTrial& trial) {
    if (!trial.failure.empty()) return {false, "not known: " + trial.failure};
    std::string harms;
    const auto add = [&](const std::string& harm) { harms += (harms.empty() ? "" : ", ") + harm; };
    if (trial.parent_signal != 0) {
        add("a process died of " + signal_name(trial.parent_signal));
    }
    if (trial.child_signal != 0) {
        add("a forked child died of " + signal_name(trial.child_signal));
    }
    if (trial.red_zone_wrong != 0) {
        add(fmt::format("the red zone was overwritten in {} of {} calls", trial.red_zone_wrong,
                        trial.red_zone_calls));
    }
    if (!harms.empty()) {
        return {false,
                fmt::format("unsafe on this kernel: with a probe on a 5-byte nop {}", harms)};
    }
    return {true, trial.is_call ? "safe on this kernel: forked children and red zones are whole"
                                : "safe on this kernel, which makes no calls of 5-byte nops"};
}

}  // namespace tracer
