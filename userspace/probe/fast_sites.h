// SPDX-License-Identifier: Apache-2.0
//
// Whether probes on 5-byte nops do no harm on the kernel that runs. Linux 6.18 turns such a nop
// into a call: a third cheaper than the trap of a 1-byte nop, but the call's return address lies in
// the red zone of the function, and a child that was forked after the first hit has not mapped
// what is called.
#pragma once

#include <cstdint>
#include <string>

namespace tracer {

// What a process of ours with probed 5-byte nops saw of itself.
struct FastSiteTrial {
    std::string failure;    // why it says nothing; empty: it ran
    bool is_call = false;   // the kernel made a call of the nop
    int parent_signal = 0;  // that ended it; 0: none
    int child_signal = 0;   // that ended its child, forked after the first hit
    uint32_t red_zone_calls = 0;
    uint32_t red_zone_wrong = 0;  // of these, those that read something else than they had written
};

struct FastSites {
    bool is_sound = false;
    std::string text;  // "safe on this kernel: ...", "unsafe on this kernel: ...", "not known: ..."
};

// Runs the trial: a forked child of this process, at most 3 s. Needs the rights to attach probes,
// and no other thread in this process. `with_probes`: false for a run in which nothing can happen.
[[nodiscard]] FastSiteTrial try_fast_sites(bool with_probes);

[[nodiscard]] FastSites judge_fast_sites(const FastSiteTrial& trial);

}  // namespace tracer
