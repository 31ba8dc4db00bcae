// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cli/command_line.h"
#include "cli/terminal.h"
#include "session/end_watch.h"
#include "session/recording.h"
#include "session/top/top_drawing.h"
#include "session/top/top_output.h"
#include "tracer/base/result.h"
#include "tracer/write/byte_sink.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

namespace tracer {

// Shows the frames of `tracer top`: on a terminal in one place, with keys; else one behind the
// other, as text or JSON. All of it runs on the main thread.
class TopDisplay {
public:
    // Before any other thread (Terminal). Whether it is a terminal is decided here.
    [[nodiscard]] static Result<std::unique_ptr<TopDisplay>> make(const TopRequest& request);

    // What the drain thread is to count for it.
    [[nodiscard]] TopOutputOptions output_options();
    // With threads: the sink, if it is no terminal.
    [[nodiscard]] Status open(bool real_time);
    // All is armed: shows what comes, and takes keys, while `watch` waits. Borrowed until the end.
    void begin(EndWatch& watch, std::string target, uint64_t ring_bytes);
    void note_status(const RecordingStatus& status);
    // Shows what is left and gives the terminal back. What went wrong with the output.
    [[nodiscard]] Status finish();
    // Intervals that a slow reader had no room for; after finish().
    [[nodiscard]] uint64_t not_shown() const { return not_shown_ + frames_->dropped(); }

private:
    TopDisplay(const TopRequest& request, std::unique_ptr<TopFrames> frames)
        : request_(request), view_(request.view), frames_(std::move(frames)) {}

    void show_frames();
    void write_frame(const TopFrame& frame);
    // False: the sink had no room for all of it.
    bool write_rest();
    void redraw();
    void take_keys();
    void take_key(char key);
    void move_selection(int rows);

    const TopRequest request_;
    TopView view_;
    TopStatus status_;
    std::unique_ptr<TopFrames> frames_;
    std::optional<Terminal> terminal_;  // none: it is written to sink_
    std::unique_ptr<ByteSink> sink_;
    EndWatch* watch_ = nullptr;
    std::optional<TopFrame> shown_;  // on the terminal
    std::string key_begun_;          // of a key that comes as several bytes
    std::string rest_;               // of a frame that the sink had no room for
    uint64_t not_shown_ = 0;
};

}  // namespace tracer
