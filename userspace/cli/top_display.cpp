// SPDX-License-Identifier: Apache-2.0
//
// Frames to a terminal or a pipe. What a frame looks like is session/top/top_drawing.h; how a
// terminal is taken over is terminal.h. Called by record_command.cpp.
#include "cli/top_display.h"

#include "session/output_file.h"
#include "session/patient_sink.h"

#include <algorithm>
#include <cstdlib>
#include <span>
#include <unistd.h>
#include <utility>

namespace tracer {
namespace {

// Erase to the end of the line, of the screen; the row that is chosen (ECMA-48, 8.3.41, .39, .117).
constexpr std::string_view kEraseLine = "\x1b[K";
constexpr std::string_view kEraseRest = "\x1b[J";
constexpr std::string_view kReverse = "\x1b[7m";
constexpr std::string_view kBold = "\x1b[1m";
constexpr std::string_view kPlain = "\x1b[0m";

bool is_terminal() {
    const char* name = std::getenv("TERM");
    return isatty(STDOUT_FILENO) == 1 && name != nullptr && std::string_view(name) != "dumb";
}

template <typename Enum>
Enum next_of(Enum value, size_t count) {
    return static_cast<Enum>((static_cast<size_t>(value) + 1) % count);
}

}  // namespace

Result<std::unique_ptr<TopDisplay>> TopDisplay::make(const TopRequest& request) {
    TR_ASSIGN(auto frames, TopFrames::make());
    std::unique_ptr<TopDisplay> display(new TopDisplay(request, std::move(frames)));
    if (!request.is_json && is_terminal()) {
        TR_ASSIGN(Terminal terminal, Terminal::make());
        display->terminal_.emplace(std::move(terminal));
        display->view_.has_keys = display->terminal_->keys_fd() >= 0;
    }
    return display;
}

TopOutputOptions TopDisplay::output_options() {
    TopOutputOptions options{.interval = request_.interval, .frames = frames_.get()};
    // Keys may ask for any of them, with what came before.
    options.table.groupings.fill(terminal_.has_value());
    options.table.groupings[static_cast<size_t>(view_.grouping)] = true;
    return options;
}

Status TopDisplay::open(bool real_time) {
    if (terminal_) return {};
    TR_ASSIGN(sink_, open_shown_sink(real_time));
    return {};
}

void TopDisplay::begin(EndWatch& watch, std::string target, uint64_t ring_bytes) {
    watch_ = &watch;
    status_.target = std::move(target);
    status_.ring_bytes = ring_bytes;
    watch.add_readable(frames_->fd(), [this] { show_frames(); });
    if (!terminal_) return;
    terminal_->enter();
    watch.add_readable(terminal_->signals_fd(), [this] {
        terminal_->take_signals();
        redraw();
    });
    if (terminal_->keys_fd() >= 0) {
        watch.add_readable(terminal_->keys_fd(), [this] { take_keys(); });
    }
    redraw();
}

void TopDisplay::note_status(const RecordingStatus& status) {
    status_.seconds = status.seconds;
    status_.ring_fill = status.ring_fill;
}

void TopDisplay::show_frames() {
    for (TopFrame& frame : frames_->take()) {
        if (!terminal_) {
            write_frame(frame);
        } else if (!view_.is_paused) {
            shown_ = std::move(frame);
        }
    }
    if (terminal_ && !view_.is_paused) redraw();
}

void TopDisplay::write_frame(const TopFrame& frame) {
    std::string text;
    if (request_.is_json) {
        text = top_json(frame, status_, view_);
    } else {
        for (const std::string& line : draw_top(frame, status_, view_).lines) text += line + "\n";
        text += "\n";
    }
    // A frame that was cut goes on before the next one comes, which else is not shown at all.
    if (!write_rest()) {
        not_shown_ += 1;
    } else {
        rest_ = std::move(text);
        static_cast<void>(write_rest());
    }
    sink_->flush();
    if (!sink_->health() && watch_ != nullptr) watch_->end_by(EndCause::output_failed);
}

bool TopDisplay::write_rest() {
    rest_.erase(0, sink_->write(std::as_bytes(std::span(rest_))));
    return rest_.empty();
}

void TopDisplay::redraw() {
    if (!terminal_ || !terminal_->is_entered()) return;
    const TerminalSize size = terminal_->size();
    view_.columns = size.columns;
    view_.lines = size.lines;
    const TopFrame none{};
    const TopDrawing drawing = draw_top(shown_ ? *shown_ : none, status_, view_);
    std::string text;
    for (size_t i = 0; i < drawing.lines.size(); ++i) {
        const bool is_selected = drawing.selected_line == i;
        if (is_selected || i == 0) text += is_selected ? kReverse : kBold;
        text += drawing.lines[i];
        if (is_selected || i == 0) text += kPlain;
        text += kEraseLine;
        if (i + 1 < drawing.lines.size()) text += "\r\n";
    }
    text += kEraseRest;
    terminal_->draw(text);
}

void TopDisplay::take_keys() {
    const auto keys = terminal_->read_keys();
    if (!keys) {
        watch_->forget_readable(terminal_->keys_fd());
        return;
    }
    for (const char key : *keys) take_key(key);
    redraw();
}

// Arrow keys come as ESC [ A or ESC O A (ECMA-48 CUU; xterm's application mode).
void TopDisplay::take_key(char key) {
    const bool is_begin = key == '\x1b';
    const bool is_middle = key_begun_ == "\x1b" && (key == '[' || key == 'O');
    if (is_begin || is_middle) {
        key_begun_ = is_begin ? std::string("\x1b") : key_begun_ + key;
        return;
    }
    if (std::exchange(key_begun_, {}).size() == 2) {
        if (key == 'A') move_selection(-1);
        if (key == 'B') move_selection(1);
        return;
    }
    switch (key) {
        case 'q':
            watch_->end_by(EndCause::stopped);
            return;
        case 's':
            view_.sort = next_of(view_.sort, kTopSorts);
            return;
        case 'b':
            view_.grouping = next_of(view_.grouping, kTopGroupings);
            view_.selected.reset();
            return;
        case 'p':
            view_.is_paused = !view_.is_paused;
            return;
        case 'h':
            view_.has_histogram = !view_.has_histogram;
            return;
        case 't':
            view_.is_since_start = !view_.is_since_start;
            return;
        default:
            return;
    }
}

void TopDisplay::move_selection(int rows) {
    if (!shown_) return;
    const std::vector<const TopRow*> sorted = sorted_rows(*shown_, view_);
    if (sorted.empty()) return;
    const auto last = static_cast<long>(sorted.size()) - 1;
    long at = rows > 0 ? -1 : last + 1;
    for (long i = 0; i <= last; ++i) {
        if (view_.selected && row_key(*sorted[static_cast<size_t>(i)]) == *view_.selected) at = i;
    }
    at = std::clamp(at + rows, 0L, last);
    view_.selected = row_key(*sorted[static_cast<size_t>(at)]);
}

Status TopDisplay::finish() {
    watch_ = nullptr;
    if (terminal_) {
        terminal_->leave();
        return {};
    }
    // A slow reader is waited for here, and a signal may end that.
    EndWatch::let_signals_kill();
    sink_ = std::make_unique<PatientSink>(std::move(sink_));
    show_frames();
    static_cast<void>(write_rest());
    return sink_->close();
}

}  // namespace tracer
