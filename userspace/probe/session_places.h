// SPDX-License-Identifier: Apache-2.0
//
// Which entries and returns become sessions: one kernel link for both, in which the entry decides
// whether the return is caught at all (BPF_TRACE_UPROBE_SESSION, Linux 6.13). What a condition, a
// sampling or the choice of processes keeps out at the entry then costs no second trap.
#pragma once

#include "probe/attach_plan.h"

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace tracer {

// What one program does at one place.
struct LinkPlace {
    AttachSite site;                           // of a session: the entry
    std::optional<AttachSite> at_return = {};  // of a session

    [[nodiscard]] bool is_session() const { return at_return.has_value(); }
    [[nodiscard]] bool is_sleepable() const;
    // As the kernel side takes it apart: a return's probe id is the upper half.
    [[nodiscard]] uint64_t cookie() const;
};

// Of one file, in the order of `sites`. A place with several returns has no session: there they
// would run in the order of their begins, and spans end in the opposite one.
[[nodiscard]] std::vector<LinkPlace> join_sessions(std::span<const AttachSite> sites);
// Each site alone, for kernels without sessions.
[[nodiscard]] std::vector<LinkPlace> keep_apart(std::span<const AttachSite> sites);

}  // namespace tracer
