// SPDX-License-Identifier: Apache-2.0
//
// What a hit costs by the instruction under the probe, for an empty program and for the tracer, in
// this very process. A 5-byte nop only where the trial of the tracer finds that it does no harm.
#include "bench_support.h"
#include "probe/fast_sites.h"
#include "recorders.h"
#include "symbol/elf_file.h"
#include "symbol/symbol_table.h"

#include <array>
#include <string_view>
#include <time.h>
#include <unistd.h>

#include <fmt/format.h>

// Functions that begin with each sort of instruction.
// clang-format off: one line of assembler a line
#define BENCH_SITE(name, instruction)          \
    __asm__(                                   \
        ".pushsection .text\n"                 \
        ".globl " #name                        \
        "\n"                                   \
        ".type " #name                         \
        ", @function\n"                        \
        ".balign 16\n" #name ":\n" instruction \
        "\n"                                   \
        "ret\n"                                \
        ".size " #name ", .-" #name            \
        "\n"                                   \
        ".popsection\n");                      \
    extern "C" void name();
// clang-format on
BENCH_SITE(bench_nop1, "nop")
BENCH_SITE(bench_nop5, ".byte 0x0f, 0x1f, 0x44, 0x00, 0x00")
BENCH_SITE(bench_push, "push %rbp\n pop %rbp")
BENCH_SITE(bench_endbr, ".byte 0xf3, 0x0f, 0x1e, 0xfa")
BENCH_SITE(bench_sub, "sub $8, %rsp\n add $8, %rsp")
BENCH_SITE(bench_ret, "ret")
#undef BENCH_SITE

namespace tracer::bench {
namespace {

// Few enough for the dearest.
constexpr int kHits = 50'000;

struct Site {
    std::string_view symbol;
    std::string_view text;
    void (*function)();
    bool is_nop5 = false;
};

constexpr std::array kSites = {
    Site{"bench_nop5", "nop, 5 bytes", bench_nop5, true},
    Site{"bench_nop1", "nop", bench_nop1},
    Site{"bench_push", "push", bench_push},
    Site{"bench_endbr", "endbr64 (single-stepped)", bench_endbr},
    Site{"bench_sub", "sub (single-stepped)", bench_sub},
    Site{"bench_ret", "ret (single-stepped)", bench_ret},
};

double ns_per_hit(const Site& site) {
    const auto now = [] {
        timespec time{};
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
        return static_cast<double>(time.tv_sec) * 1e9 + static_cast<double>(time.tv_nsec);
    };
    for (int i = 0; i < 100; ++i) site.function();
    const double start = now();
    for (int i = 0; i < kHits; ++i) site.function();
    return (now() - start) / kHits;
}

uint64_t offset_of(const SymbolTable& symbols, std::string_view name) {
    for (const auto& function : symbols.functions()) {
        if (function.name == name) return function.file_offset;
    }
    return 0;
}

double under_empty_program(const Site& site, uint64_t offset) {
    const auto empty = EmptyProgram::on_site("/proc/self/exe", offset, 0, getpid());
    return empty == nullptr ? 0 : ns_per_hit(site);
}

double under_tracer(const Site& site, const std::string& program) {
    const ScratchFolder folder;
    std::vector<std::string> arguments{"--pid", std::to_string(getpid()), "--no-sched", "-e",
                                       fmt::format("u:{}:{}", program, site.symbol)};
    if (site.is_nop5) arguments.emplace_back("--fast-sites");
    TracerRecording tracer(arguments, folder);
    if (!tracer.wait_ready(20)) {
        fmt::print("tracer did not start: {}\n", tracer.diagnosis());
        return 0;
    }
    const double ns = ns_per_hit(site);
    tracer.stop();
    return ns;
}

}  // namespace

void run_site_bench(int rounds) {
    // Before anything else: it forks.
    const FastSites fast = judge_fast_sites(try_fast_sites(true));
    std::array<char, 4096> path{};
    if (readlink("/proc/self/exe", path.data(), path.size() - 1) < 0) return;
    const auto file = ElfFile::open("/proc/self/exe");
    const auto symbols = file ? SymbolTable::load(*file) : tl::unexpected(file.error());
    if (!symbols) {
        fmt::print("{}\n", symbols.error().what);
        return;
    }
    Samples samples;
    for (int round = 0; round < rounds; ++round) {
        for (const Site& site : kSites) {
            if (site.is_nop5 && !fast.is_sound) continue;
            const std::string name(site.text);
            samples.add(name + ": no probe", ns_per_hit(site));
            samples.add(name + ": empty program",
                        under_empty_program(site, offset_of(*symbols, site.symbol)));
            samples.add(name + ": tracer", under_tracer(site, path.data()));
        }
    }
    samples.print("CPU per hit", "ns");
    if (!fast.is_sound) fmt::print("  nop, 5 bytes: left out, {}\n", fast.text);
    const double nop = samples.median_of("nop: empty program");
    for (const Site& site : kSites) {
        if (site.is_nop5 && !fast.is_sound) continue;
        const std::string name(site.text);
        const double empty = samples.median_of(name + ": empty program");
        fmt::print("  {:<28} empty / that on a nop {:>6.2f}; tracer / empty {:>5.2f}\n", name,
                   empty / nop, samples.median_of(name + ": tracer") / empty);
    }
}

}  // namespace tracer::bench
