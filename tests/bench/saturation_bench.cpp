// SPDX-License-Identifier: Apache-2.0
//
// Every CPU kept busy by a pinned ping-pong pair while the whole system is recorded from another
// session: the situation in which an ordinary reader thread starves and loses most records.
#include "bench_support.h"
#include "pingpong.h"
#include "recorders.h"

#include <algorithm>
#include <numeric>
#include <thread>
#include <unistd.h>

#include <fmt/format.h>

namespace tracer::bench {
namespace {

constexpr int kPasses = 300'000;

}  // namespace

void run_saturation_bench(int runs) {
    std::vector<int> cpus(std::min(2U, std::thread::hardware_concurrency()));
    std::iota(cpus.begin(), cpus.end(), 0);
    Samples app;
    Samples loader;
    int runs_with_loss = 0;
    uint64_t lost = 0;
    uint64_t events = 0;
    double rate = 0;
    for (int run = 0; run < runs; ++run) {
        app.add("no recorder", ping_pong_on(cpus, kPasses).cpu_ns_per_switch);
        const ScratchFolder folder;
        TracerRecording tracer({"-a"}, folder);
        if (!tracer.wait_ready(20)) {
            fmt::print("tracer did not start: {}\n", tracer.diagnosis());
            return;
        }
        const double before = tracer.cpu_ns();
        const PingPongResult loaded = ping_pong_on(cpus, kPasses);
        const double used = tracer.cpu_ns() - before;
        app.add("tracer -a", loaded.cpu_ns_per_switch);
        rate = std::max(rate, loaded.switches_per_second);
        tracer.stop();
        loader.add("tracer -a", used / static_cast<double>(std::max<uint64_t>(1, tracer.events())));
        lost += tracer.lost();
        events += tracer.events();
        if (tracer.lost() > 0) {
            runs_with_loss += 1;
            fmt::print("  run {}: lost{}\n{}", run, tracer.losses(), tracer.diagnosis());
        }
    }
    app.print("two saturated CPUs, the load's CPU per switch", "ns");
    loader.print("recorder, CPU per event", "ns");
    fmt::print("  {:.0f} switches/s; {} events, {} lost, in {} of {} runs\n", rate, events, lost,
               runs_with_loss, runs);
    print_goal("runs with loss", runs_with_loss, 0);
    print_goal("the load's CPU, with tracer / without",
               app.median_of("tracer -a") / app.median_of("no recorder"), 1.1);
}

}  // namespace tracer::bench
