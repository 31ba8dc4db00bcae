// SPDX-License-Identifier: Apache-2.0
//
// What one -e text asks for: a probe, or a span whose begin and end are probes.
//
//   event := probe                                          probe: see probe_spec.h
//          | probe "~~" probe ["until" probe {"," probe}]
//
// The span ends at the second probe, or at any behind `until`. Without more, begins and ends are
// matched by thread. An argument called `key` on both sides matches them by its value within a
// process, one called `shared_key` among all processes: they may be on different threads, and in
// any order. A probe behind `until` has the key as well, or ends all spans that its thread began.
//
//   usdt:postgresql:query__start(q=arg0:str) ~~ usdt:postgresql:query__done
//       until usdt:postgresql:transaction__abort
//   usdt:app:req__begin(key=arg0, url=arg1:str) ~~ usdt:app:req__end(key=arg0, status=arg1:s32)
#pragma once

#include "decode/probe_definition.h"
#include "probe/probe_spec.h"
#include "tracer/base/result.h"

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tracer {

struct EventSpec {
    std::string text;  // as the user wrote it
    ProbeSpec begin;   // or the only probe
    std::optional<ProbeSpec> end;
    std::vector<ProbeSpec> until;

    [[nodiscard]] bool is_pair() const { return end.has_value(); }
};

// Parses one -e text. A usage error's `what` holds the text, or that of the probe that is wrong,
// with a caret line under the token.
[[nodiscard]] Result<EventSpec> parse_event_spec(std::string_view text);

// Which of a probe's arguments is the key of its pair.
struct KeyArgument {
    PairKey scope = PairKey::none;
    size_t index = 0;  // among the arguments, if there is one
};
[[nodiscard]] KeyArgument key_argument(const ProbeSpec& spec);

}  // namespace tracer
