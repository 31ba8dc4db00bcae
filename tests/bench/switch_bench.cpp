// SPDX-License-Identifier: Apache-2.0
//
// What recording every switch of the machine costs the switching threads: two processes pinned to
// one CPU pass a byte to and fro, so that each passing is a switch, and their CPU time is counted.
#include "bench_support.h"
#include "pingpong.h"
#include "recorders.h"

#include <fmt/format.h>

namespace tracer::bench {
namespace {

constexpr int kPasses = 30'000;

struct Floor {
    const char* name;
    EmptyProgram::Work work;
};
constexpr Floor kFloors[] = {
    {"empty on sched_switch", EmptyProgram::Work::switch_only},
    {"empty on sched_switch and sched_waking", EmptyProgram::Work::switch_and_waking},
    {"clock and record only, on both", EmptyProgram::Work::clock_and_record},
};

}  // namespace

void run_switch_bench(int rounds) {
    Samples app;
    uint64_t lost = 0;
    for (int round = 0; round < rounds; ++round) {
        app.add("no program", ping_pong(1, kPasses).cpu_ns_per_switch);
        for (const auto& [name, work] : kFloors) {
            const auto floor = EmptyProgram::on_switch(work);
            if (floor == nullptr) {
                fmt::print("{} did not attach\n", name);
                return;
            }
            app.add(name, ping_pong(1, kPasses).cpu_ns_per_switch);
        }
        {
            const ScratchFolder folder;
            TracerRecording tracer({"-a"}, folder);
            if (!tracer.wait_ready(20)) {
                fmt::print("tracer did not start: {}\n", tracer.diagnosis());
                return;
            }
            app.add("tracer -a", ping_pong(1, kPasses).cpu_ns_per_switch);
            tracer.stop();
            lost += tracer.lost();
        }
    }
    app.print("ping-pong on one CPU, CPU per switch", "ns");
    const double ours = app.added_to("no program", "tracer -a");
    fmt::print("  added: tracer {:.0f} ns a switch (with its wake-up); lost: {}\n", ours, lost);
    for (const auto& [name, work] : kFloors) {
        const double floor = app.added_to("no program", name);
        if (work == EmptyProgram::Work::switch_only) {
            print_goal(fmt::format("added CPU, tracer / {}", name), ours / floor, 1.5);
        } else {
            fmt::print("  added CPU, tracer / {:<48} {:>8.2f}\n", name, ours / floor);
        }
    }
}

}  // namespace tracer::bench
