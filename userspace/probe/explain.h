// SPDX-License-Identifier: Apache-2.0
//
// What an attach plan would do, and what each hit would cost: the core of `tracer explain`. Reads
// the plan and the files it names; attaches nothing and needs no root.
#pragma once

#include "probe/attach_plan.h"
#include "probe/site_cost.h"
#include "symbol/debug_file.h"
#include "tracer/base/result.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tracer {

struct ExplainedArgument {
    std::string name;
    std::string_view type;  // "s32"; "none": cannot be read
    std::string read;       // "edi", "4 bytes at rsp + 8", "text at rdi"
};

struct ExplainedSite {
    std::string file;  // empty for a tracepoint
    uint64_t file_offset = 0;
    uint64_t vaddr = 0;       // link-time
    std::string symbol;       // "ns::Class::method+0x4"; empty: none covers it
    std::string instruction;  // "push %rbp"
    InstructionClass kind = InstructionClass::unreadable;
    std::string_view part;  // of a pair: "begin", "end" or "until"; else empty
    bool is_return = false;
    bool is_sleepable = false;      // its handler may fault pages in
    uint64_t semaphore_offset = 0;  // 0: none
    // Of one hit with its record, where 1 is an empty probe on a 1-byte nop (0.7 us on the machine
    // of reference). 0: not known. The return of a span whose entry is probed anyway costs its
    // own part only.
    double cost = 0;
    // A place behind it that would not be stepped, for a function's entry that is: "+0x4, push
    // %rbx", and whether arguments are still in their places there; empty: there is none.
    std::string cheaper;
    std::vector<ExplainedArgument> arguments;
};

struct ExplainedProbe {
    std::string spec;  // as -e takes it; of a pair "BEGIN ~~ END until OTHER"
    std::string category;
    std::string name;
    bool is_span = false;
    std::string meaning;              // "event", "span", "counter", "state", "name of the thread"
    std::string line;                 // "pool {pool}": beside the thread; empty: none
    std::vector<std::string> raises;  // other probes' semaphores, and by which place
    std::vector<ExplainedSite> sites;
};

struct Explanation {
    std::vector<ExplainedProbe> probes;
    std::vector<std::string> warnings;
};

[[nodiscard]] Result<Explanation> explain_plan(const AttachPlan& plan,
                                               const DebugFileSearch& debug_files);

}  // namespace tracer
