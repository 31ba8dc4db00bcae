// SPDX-License-Identifier: Apache-2.0
//
// What one -e text asks for: a probe, or a span whose begin and end are probes.
//
//   event := probe                                          probe: see probe_spec.h
//          | probe {"or" probe} "~~" probe ["until" probe {"," probe}]
//
// The span ends at the second probe, or at any behind `until`. Without more, begins and ends are
// matched by thread. An argument called `key` on both sides matches them by its value within a
// process, one called `shared_key` among all processes: they may be on different threads, and in
// any order. An integer called `key2` or `shared_key2` beside it must be the same too. One called
// `frame_key` tells the frames of a thread apart: an end closes the innermost open span with its
// value, and what was begun inside of that has been left (by longjmp, an exception) without an end.
// A probe behind `until` has the key as well, or ends all spans that its thread began.
//
// A span with several begins begins at any of them. They have arguments of the same names, in one
// order, and what the span is called and where it is shown is said behind the first.
//
// Wildcards in the begin's NAME make a span of each probe that they find; the end has as many,
// which stand for what the begin's stood for, in their order. A probe behind `until` has as many,
// or none.
//
//   usdt:hotspot_jni:*__entry() ~~ usdt:hotspot_jni:*__return()
//   usdt:postgresql:query__start(q=arg0:str) ~~ usdt:postgresql:query__done
//       until usdt:postgresql:transaction__abort
//   usdt:app:req__begin(key=arg0, url=arg1:str) ~~ usdt:app:req__end(key=arg0, status=arg1:s32)
//   u:app:work(n=arg0) or ur:app:wait(n=ret) ~~ u:app:stop until u:app:wait
//   usdt:app:call(frame_key=arg0, f=arg1:str) as "{f}" track "script" ~~
//   usdt:app:ret(frame_key=arg0)
#pragma once

#include "decode/probe_definition.h"
#include "probe/probe_spec.h"
#include "tracer/base/result.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tracer {

struct EventSpec {
    std::string text;  // as the user wrote it
    ProbeSpec begin;   // or the only probe
    std::vector<ProbeSpec> other_begins;
    std::optional<ProbeSpec> end;
    std::vector<ProbeSpec> until;

    [[nodiscard]] bool is_pair() const { return end.has_value(); }

    // Whether `holds` is true of each of its probes.
    template <typename Question>
    [[nodiscard]] bool all(Question holds) const {
        return holds(begin) && (!end || holds(*end)) &&
               std::all_of(other_begins.begin(), other_begins.end(), holds) &&
               std::all_of(until.begin(), until.end(), holds);
    }
};

// Parses one -e text. A usage error's `what` holds the text, or that of the probe that is wrong,
// with a caret line under the token.
[[nodiscard]] Result<EventSpec> parse_event_spec(
    std::string_view text, ProbeTextOrigin origin = ProbeTextOrigin::command_line);

// Which of a probe's arguments is the key of its pair.
struct KeyArgument {
    PairKey scope = PairKey::none;
    size_t index = 0;  // among the arguments, if there is one
    std::optional<size_t> second;
};
[[nodiscard]] KeyArgument key_argument(const ProbeSpec& spec);

}  // namespace tracer
