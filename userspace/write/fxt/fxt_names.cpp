// SPDX-License-Identifier: Apache-2.0
//
// Puts the writer's own names into the string table, once, before any name of the user's. Their
// order is part of the output: goldens and the five first strings rely on it.
#include "write/fxt/fxt_names.h"

#include "write/cause_names.h"

namespace tracer::fxt {

// Members are initialised in the order of their declaration, which is the order of the indices.
OwnNames::OwnNames(Stream& stream)
    : process(stream, "process"),
      incoming_weight(stream, "incoming_weight"),
      outgoing_weight(stream, "outgoing_weight"),
      weight(stream, "weight"),
      waker(stream, "waker"),
      tracer(stream, "tracer"),
      task(stream, "task"),
      ended(stream, "ended"),
      end_causes{Name(stream, name_of(model::SpanEndCause::returned)),
                 Name(stream, name_of(model::SpanEndCause::unwound)),
                 Name(stream, name_of(model::SpanEndCause::lost_events)),
                 Name(stream, name_of(model::SpanEndCause::thread_exit)),
                 Name(stream, name_of(model::SpanEndCause::recording_end)),
                 Name(stream, name_of(model::SpanEndCause::until)),
                 Name(stream, name_of(model::SpanEndCause::key_reused)),
                 Name(stream, name_of(model::SpanEndCause::process_exit)),
                 Name(stream, name_of(model::SpanEndCause::crossed)),
                 Name(stream, name_of(model::SpanEndCause::paused))},
      fork(stream, "fork"),
      exec(stream, "exec"),
      exit(stream, "exit"),
      child_pid(stream, "child_pid"),
      child_tid(stream, "child_tid"),
      path(stream, "path"),
      code(stream, "code"),
      lost_events(stream, "lost events"),
      lost(stream, "lost"),
      events(stream, "events"),
      count(stream, "count"),
      cpu(stream, "cpu"),
      cause(stream, "cause"),
      loss_causes{Name(stream, name_of(model::LossCause::ring_full)),
                  Name(stream, name_of(model::LossCause::sink_full)),
                  Name(stream, name_of(model::LossCause::malformed))},
      clock(stream, "clock"),
      monotonic_ns(stream, "monotonic_ns"),
      realtime_ns(stream, "realtime_ns") {}

}  // namespace tracer::fxt
