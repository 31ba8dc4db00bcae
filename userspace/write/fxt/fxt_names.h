// SPDX-License-Identifier: Apache-2.0
//
// The names that the writer itself uses.
#pragma once

#include "write/fxt/fxt_tables.h"

#include <array>

namespace tracer::fxt {

struct OwnNames {
    // Interns them; `strings` is new, so that they get the indices from 1 on.
    explicit OwnNames(StringTable& strings);

    // The first strings of every file, in this order: readers look for these names in object and
    // scheduling records, and a file cut short should still have them.
    Name process, incoming_weight, outgoing_weight, weight, waker;

    Name tracer, task;  // categories
    Name ended;
    std::array<Name, 5> end_causes;  // by SpanEndCause
    Name fork, exec, exit, child_pid, child_tid, path, code;
    Name lost_events, lost, events, count, cpu, cause;
    std::array<Name, 3> loss_causes;  // by LossCause
    Name clock, monotonic_ns, realtime_ns;
};

}  // namespace tracer::fxt
