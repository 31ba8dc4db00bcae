// SPDX-License-Identifier: Apache-2.0
//
// Attaching and detaching every USDT site of a big library: OpenJDK 17's libjvm.so has 531.
#include "bench_support.h"
#include "probe/kernel_recorder.h"
#include "probe/probe_compiler.h"
#include "probe/probe_spec.h"
#include "probe/target_files.h"

#include <chrono>
#include <unistd.h>

#include <fmt/format.h>

namespace tracer::bench {
namespace {

constexpr const char* kLibrary = "/usr/lib/jvm/java-17-openjdk-amd64/lib/server/libjvm.so";

double seconds_since(std::chrono::steady_clock::time_point start) {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

Result<AttachPlan> compile_all_sites() {
    TR_ASSIGN(const auto spec, parse_probe_spec(fmt::format("usdt:{}:*:*", kLibrary)));
    return compile_probes(std::span(&spec, 1), TargetFiles(), CompileOptions());
}

}  // namespace

void run_attach_bench(int rounds) {
    if (access(kLibrary, R_OK) != 0) {
        fmt::print("  skipped: {} is not there (openjdk-17-jre-headless)\n", kLibrary);
        return;
    }
    Samples times;
    size_t sites = 0;
    for (int round = 0; round < rounds; ++round) {
        auto start = std::chrono::steady_clock::now();
        const auto plan = compile_all_sites();
        if (!plan) {
            fmt::print("{}\n", plan.error().what);
            return;
        }
        times.add("resolve", seconds_since(start) * 1e3);
        sites = plan->programs.size();
        KernelOptions options;
        options.record_all = true;
        options.record_sched = false;
        options.ring_bytes = 4 << 20;
        start = std::chrono::steady_clock::now();
        auto recorder = KernelRecorder::open(*plan, options);
        if (!recorder) {
            fmt::print("{}\n", recorder.error().what);
            return;
        }
        times.add("load", seconds_since(start) * 1e3);
        start = std::chrono::steady_clock::now();
        const Status attached = (*recorder)->attach([] { return false; });
        if (!attached) {
            fmt::print("{}\n", attached.error().what);
            return;
        }
        const double attach = seconds_since(start);
        start = std::chrono::steady_clock::now();
        static_cast<void>((*recorder)->detach());
        const double detach = seconds_since(start);
        times.add("attach", attach * 1e3);
        times.add("detach", detach * 1e3);
        times.add("attach and detach", (attach + detach) * 1e3);
    }
    times.print(fmt::format("{} sites of libjvm.so", sites), "ms");
    print_goal("attach and detach, seconds", times.median_of("attach and detach") / 1e3, 0.5);
}

}  // namespace tracer::bench
