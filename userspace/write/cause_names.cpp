// SPDX-License-Identifier: Apache-2.0
//
// The words for the model's causes. Relies on nothing; used by the writers of all formats.
#include "write/cause_names.h"

namespace tracer::model {

std::string_view name_of(SpanEndCause cause) {
    switch (cause) {
        case SpanEndCause::returned:
            return "returned";
        case SpanEndCause::unwound:
            return "unwound";
        case SpanEndCause::lost_events:
            return "lost events";
        case SpanEndCause::thread_exit:
            return "thread exit";
        case SpanEndCause::recording_end:
            return "recording end";
        case SpanEndCause::until:
            return "until";
        case SpanEndCause::key_reused:
            return "key reused";
        case SpanEndCause::process_exit:
            return "process exit";
        case SpanEndCause::crossed:
            return "crossed";
        case SpanEndCause::paused:
            return "paused";
    }
    return "?";
}

std::string_view name_of(LossCause cause) {
    switch (cause) {
        case LossCause::ring_full:
            return "ring full";
        case LossCause::sink_full:
            return "sink full";
        case LossCause::malformed:
            return "malformed";
    }
    return "?";
}

}  // namespace tracer::model
