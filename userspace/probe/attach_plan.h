// SPDX-License-Identifier: Apache-2.0
//
// Probes compiled, nothing attached yet: what the compiler hands to the attacher, and what
// `tracer explain` or a test can look at without root.
#pragma once

#include "decode/probe_definition.h"
#include "probe/held_file.h"
#include "tracer/abi/gate.h"
#include "tracer/abi/probe.h"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace tracer {

// Which handler in bpf/ runs at a site.
enum class ProbeProgram : uint8_t {
    hit,               // registers, constants and the frame that runs
    hit_sleepable,     // may fault in the pages that arguments lie on
    return_hit,        // at the function's return
    return_sleepable,  // the same, sleepable
    tracepoint,
};

[[nodiscard]] constexpr bool is_return_program(ProbeProgram program) {
    return program == ProbeProgram::return_hit || program == ProbeProgram::return_sleepable;
}

[[nodiscard]] constexpr bool is_sleepable_program(ProbeProgram program) {
    return program == ProbeProgram::hit_sleepable || program == ProbeProgram::return_sleepable;
}

// One place in one file (uprobes, USDT).
struct AttachSite {
    uint64_t file_offset = 0;
    uint64_t semaphore_offset = 0;  // file offset of the USDT semaphore; 0: none
    uint32_t probe_id = 0;          // the cookie: index into the plan's programs
    ProbeProgram program = ProbeProgram::hit;
    bool may_fail = false;  // a wildcard found it: left out where the kernel refuses it
    // Of a return: the probe at the same function's entry without whose hit it means nothing; 0:
    // it stands alone.
    uint32_t begin_id = 0;
    bool is_optional = false;  // of a pack: left out whatever its attaching fails by
};

// Another probe's semaphore, raised as long as the plan is attached: by a place in the same file
// where no code runs, so that there is never a hit.
struct SemaphoreRaise {
    uint64_t file_offset = 0;  // of that place
    uint64_t semaphore_offset = 0;
    uint32_t probe_id = 0;  // of the probe that asks for it
};

// All sites in one file. `open_path` leads to the very inode that runs (/proc/PID/map_files/...,
// /proc/PID/root/...); `shown_path` is what people call it.
struct AttachFile {
    std::string open_path;
    std::string shown_path;
    std::vector<AttachSite> sites;
    std::vector<SemaphoreRaise> raises;    // each semaphore once
    std::shared_ptr<const HeldFile> held;  // null: open_path must do

    [[nodiscard]] std::string attach_path() const { return held ? held->path() : open_path; }

    // Nobody asked for any of its places by name.
    [[nodiscard]] bool is_optional() const {
        return std::ranges::all_of(sites, &AttachSite::is_optional);
    }

    // False: its place raises another semaphore already, and a place has one.
    [[nodiscard]] bool add_raise(const SemaphoreRaise& raise) {
        const auto is_raised = [&](const SemaphoreRaise& known) {
            return known.semaphore_offset == raise.semaphore_offset;
        };
        if (std::ranges::any_of(raises, is_raised)) return true;
        const auto is_at_place = [&](const SemaphoreRaise& known) {
            return known.file_offset == raise.file_offset;
        };
        if (std::ranges::any_of(raises, is_at_place)) return false;
        raises.push_back(raise);
        return true;
    }
};

struct AttachTracepoint {
    std::string category;
    std::string name;
    uint32_t probe_id = 0;
};

// What was left out when a plan was attached: a place of a probe, or the semaphore that it raises
// beside its own, and then all of its places are attached.
struct RefusedPlace {
    uint32_t probe_id = 0;
    std::string reason;  // empty: the kernel can put no probe on its instruction
    bool is_raise = false;
};

// A probe that no file has yet, and may have later.
struct WaitingProbe {
    std::string spec;
    std::string reason;
};

struct AttachPlan {
    std::vector<AttachFile> files;
    std::vector<AttachTracepoint> tracepoints;
    // programs[i] belongs to probe id first_probe_id + i.
    std::vector<tr_probe> programs;
    uint32_t first_probe_id = TR_PROBE_FIRST_USER;  // larger in a plan that is added to another
    std::vector<tr_gate> gates;                     // by the number in tr_probe.flags
    uint32_t gate_state_count = 0;                  // tr_gate.state is below it
    std::vector<model::Point> points;
    std::vector<ProbeDefinition> probes;
    std::vector<WaitingProbe> waiting;
    std::vector<std::string> warnings;  // shown before the recording; in the JSON summary too
};

}  // namespace tracer
