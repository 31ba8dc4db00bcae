// SPDX-License-Identifier: Apache-2.0
//
// Names in the string table, and those that the writer itself uses.
#pragma once

#include "tracer/model/event.h"
#include "tracer/write/fxt/refs.h"
#include "tracer/write/fxt/stream.h"

#include <array>
#include <string>
#include <string_view>

namespace tracer::fxt {

// A name as records spell it: an index, or the text itself where the table is full.
class Name {
public:
    Name() = default;
    // `text` is UTF-8 of at most kStringBytesMax bytes.
    Name(Stream& stream, std::string_view text) {
        const auto interned = stream.intern(text);
        if (interned) {
            index_ = *interned;
        } else {
            text_ = text;
        }
    }
    // NOLINTNEXTLINE(google-explicit-constructor): it is what a name is for.
    operator StringRef() const { return text_.empty() ? index_ : StringRef(text_); }

private:
    StringRef index_;
    std::string text_;
};

struct OwnNames {
    // Interns them; `stream` is new, so that they get the indices from 1 on.
    explicit OwnNames(Stream& stream);

    // The first strings of every file, in this order: readers look for these names in object and
    // scheduling records, and a file cut short should still have them.
    Name process, incoming_weight, outgoing_weight, weight, waker;

    Name tracer, task;  // categories
    Name ended;
    std::array<Name, model::kSpanEndCauses> end_causes;  // by SpanEndCause
    Name fork, exec, exit, child_pid, child_tid, path, code;
    Name lost_events, lost, events, count, cpu, cause;
    std::array<Name, 3> loss_causes;  // by LossCause
    Name clock, monotonic_ns, realtime_ns;
};

}  // namespace tracer::fxt
