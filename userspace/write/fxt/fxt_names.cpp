// SPDX-License-Identifier: Apache-2.0
//
// Puts the writer's own names into the string table, once, before any name of the user's. Their
// order is part of the output: goldens and the five first strings rely on it.
#include "write/fxt/fxt_names.h"

namespace tracer::fxt {

// Members are initialised in the order of their declaration, which is the order of the indices.
OwnNames::OwnNames(StringTable& strings)
    : process(strings.intern("process")),
      incoming_weight(strings.intern("incoming_weight")),
      outgoing_weight(strings.intern("outgoing_weight")),
      weight(strings.intern("weight")),
      waker(strings.intern("waker")),
      tracer(strings.intern("tracer")),
      task(strings.intern("task")),
      ended(strings.intern("ended")),
      end_causes{strings.intern("returned"), strings.intern("unwound"),
                 strings.intern("lost events"), strings.intern("thread exit"),
                 strings.intern("recording end")},
      fork(strings.intern("fork")),
      exec(strings.intern("exec")),
      exit(strings.intern("exit")),
      child_pid(strings.intern("child_pid")),
      child_tid(strings.intern("child_tid")),
      path(strings.intern("path")),
      code(strings.intern("code")),
      lost_events(strings.intern("lost events")),
      lost(strings.intern("lost")),
      events(strings.intern("events")),
      count(strings.intern("count")),
      cpu(strings.intern("cpu")),
      cause(strings.intern("cause")),
      loss_causes{strings.intern("ring full"), strings.intern("sink full"),
                  strings.intern("malformed")},
      clock(strings.intern("clock")),
      monotonic_ns(strings.intern("monotonic_ns")),
      realtime_ns(strings.intern("realtime_ns")) {}

}  // namespace tracer::fxt
