// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "support/eventlog_reader.h"

#include <string>

namespace tracer::test {

// What the ghc-events library says of an event (its showEventInfo, version 0.20), so that our
// reading can be compared with its. 0.17 reads the non-moving collector's census of GHC 9.10
// wrongly, and loses its place at the ticky definitions of GHC 9.4 and later. Where the library
// would stop, a text that is not UTF-8, the bytes that are not are shown as \xHH. May hold line
// ends: messages are shown as they are.
[[nodiscard]] std::string event_text(const EventlogEvent& event);

// "2000 cap=0 running thread 7", "0 cap=- ...": event_text with time and capability before it, as
// `evcheck raw` prints. Block markers are empty: the library does not show them.
[[nodiscard]] std::string event_line(const EventlogEvent& event);

// All lines, each with a newline.
[[nodiscard]] std::string event_lines(const EventlogFile& file);

// Every field by its name, on one line whatever it holds: `STOP_THREAD thread=7 status=3 info=0`.
[[nodiscard]] std::string fields_text(const EventlogEvent& event);

// What is wrong with the file: one line each, with newlines; empty: nothing.
[[nodiscard]] std::string problems_text(const EventlogFile& file);

}  // namespace tracer::test
