// SPDX-License-Identifier: Apache-2.0
//
// tracer_bench [drain|ring|hit|sites|switch|saturation|attach|packs] [--rounds N] [--only
// WORKLOAD]: prints ratios; see README.md.
#include "bench_support.h"

#include <cstdlib>
#include <functional>
#include <string_view>
#include <unistd.h>

#include <fmt/format.h>

int main(int argument_count, char** arguments) {
    std::string_view which;
    std::string_view only;
    int rounds = 0;
    for (int i = 1; i < argument_count; ++i) {
        const std::string_view argument = arguments[i];
        if (argument == "--rounds" && i + 1 < argument_count) {
            rounds = std::atoi(arguments[++i]);
        } else if (argument == "--only" && i + 1 < argument_count) {
            only = arguments[++i];
        } else {
            which = argument;
        }
    }
    if (geteuid() != 0 && which != "drain" && which != "ring") {
        fmt::print(stderr, "tracer_bench: needs root\nhint: sudo scripts/bench\n");
        return 3;
    }
    struct Bench {
        std::string_view name;
        std::function<void(int)> run;
        int rounds;
    };
    using namespace tracer::bench;
    const Bench benches[] = {{"drain", run_drain_bench, 7},
                             {"ring", run_ring_bench, 9},
                             {"hit", run_hit_bench, 7},
                             {"sites", run_site_bench, 7},
                             {"switch", run_switch_bench, 21},
                             {"saturation", run_saturation_bench, 10},
                             {"attach", run_attach_bench, 5},
                             {"packs", [only](int count) { run_packs_bench(count, only); }, 9}};
    bool found = false;
    for (const Bench& bench : benches) {
        if (!which.empty() && which != bench.name) continue;
        found = true;
        fmt::print("== {}\n", bench.name);
        bench.run(rounds > 0 ? rounds : bench.rounds);
    }
    if (!found) fmt::print(stderr, "tracer_bench: no benchmark is called '{}'\n", which);
    return found ? 0 : 2;
}
