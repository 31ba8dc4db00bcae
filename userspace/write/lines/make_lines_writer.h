// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tracer/write/trace_writer.h"

#include <cstdint>
#include <memory>

namespace tracer::lines {

// What stands in front of a line of text.
enum class LineTime : uint8_t {
    wall,   // local time of day, 10:31:07.123456
    since,  // seconds since the recording began
    delta,  // seconds since the line before
};

struct LineOptions {
    bool is_json = false;  // one object a line (lines/README.md), else text for people
    bool begins = false;   // a line where a span begins, beside the one where it ends
    bool colour = false;   // of text only
    LineTime time = LineTime::wall;
};

// All of them borrow the sink. Every event is a line of its own, and one that comes before it in
// the model comes before it here: a reader may begin and stop at any line.
[[nodiscard]] std::unique_ptr<TraceWriter> make_lines_writer(ByteSink& sink,
                                                             const LineOptions& options);
// With the options of a file.
[[nodiscard]] std::unique_ptr<TraceWriter> make_text_writer(ByteSink& sink);
[[nodiscard]] std::unique_ptr<TraceWriter> make_ndjson_writer(ByteSink& sink);

}  // namespace tracer::lines
