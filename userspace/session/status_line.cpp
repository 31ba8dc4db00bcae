// SPDX-License-Identifier: Apache-2.0
//
// The status line of a recording and of a conversion: a carriage return, the text, and spaces over
// what was longer before. No escape sequences, so that it is right on any terminal.
#include "session/status_line.h"

#include "session/human.h"

#include <algorithm>
#include <unistd.h>

#include <fmt/format.h>

namespace tracer {

StatusLine::StatusLine(FILE* stream, bool always)
    : stream_(stream), is_on_(always || isatty(fileno(stream)) == 1) {}

void StatusLine::show(const RecordingStatus& status) {
    const double seconds = status.seconds - last_.seconds;
    const auto records = static_cast<double>(status.records - last_.records);
    const double rate = seconds > 0 ? records / seconds : 0;
    last_ = status;
    std::string text =
        fmt::format("{}  {} events/s  {}", clock_text(status.seconds),
                    human_count(static_cast<uint64_t>(rate)), human_bytes(status.bytes));
    if (!status.waiting_for.empty()) {
        text += fmt::format("  waiting for {}", status.waiting_for);
    } else if (status.is_paused) {
        text += "  paused";
    }
    if (status.lost > 0) text += fmt::format("  LOST {}", human_count(status.lost));
    show_text(text);
}

void StatusLine::show_text(const std::string& text) {
    if (!is_on_) return;
    std::fputc('\r', stream_);
    put_text(stream_, fmt::format("{:<{}}", text, columns_shown_));
    std::fflush(stream_);
    columns_shown_ = text.size();
}

void StatusLine::clear() {
    if (!is_on_ || columns_shown_ == 0) return;
    std::fputc('\r', stream_);
    put_text(stream_, std::string(columns_shown_, ' '));
    std::fputc('\r', stream_);
    std::fflush(stream_);
    columns_shown_ = 0;
}

std::string clock_text(double seconds) {
    const auto whole = static_cast<uint64_t>(std::max(0.0, seconds));
    return fmt::format("{:02}:{:02}:{:02}", whole / 3600, whole / 60 % 60, whole % 60);
}

}  // namespace tracer
