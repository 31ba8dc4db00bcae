// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "session/recording.h"

#include <cstdint>
#include <cstdio>
#include <string>

namespace tracer {

// One line that is written over itself, for terminals only. One owner.
class StatusLine {
public:
    // Borrows the stream. Silent unless it is a terminal (or `always`, for tests).
    explicit StatusLine(FILE* stream, bool always = false);
    ~StatusLine() { clear(); }
    StatusLine(const StatusLine&) = delete;
    StatusLine& operator=(const StatusLine&) = delete;

    // False: nothing will be shown, so nobody needs to ask for the numbers.
    [[nodiscard]] bool is_on() const { return is_on_; }
    void show(const RecordingStatus& status);
    void show_text(const std::string& text);
    // Leaves the cursor at the start of an empty line.
    void clear();

private:
    FILE* stream_;
    bool is_on_;
    size_t columns_shown_ = 0;
    RecordingStatus last_;
};

// "00:01:05"
[[nodiscard]] std::string clock_text(double seconds);

}  // namespace tracer
