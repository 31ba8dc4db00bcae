// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "support/eventlog_reader.h"

#include <string>
#include <vector>

namespace tracer::test {

// A whole log as its readers would take it: the events sorted by time, ties in the order of the
// file.
struct EventlogCheck {
    // What a state machine of ghc-events refuses, the first refusal of each of the six, named as
    // the library names them: threads, threadpool, threadrun, taskpool, tasks, sparks.
    std::vector<std::string> refusals;
    // What those machines let pass and ThreadScope 0.2.14 draws wrong or not at all.
    std::vector<std::string> traps;

    [[nodiscard]] bool is_valid() const { return refusals.empty(); }
};

// The rules of tests/support/evcheck again, for machines without its library; the two are compared
// in tests/unit/eventlog_reader. What the reader calls odd is not repeated here.
[[nodiscard]] EventlogCheck check_eventlog(const EventlogFile& file);

}  // namespace tracer::test
