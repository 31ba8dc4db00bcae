// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "tracer/base/result.h"
#include "tracer/base/unique_fd.h"

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <termios.h>
#include <utility>

namespace tracer {

struct TerminalSize {
    size_t columns = 80;
    size_t lines = 24;
};

// The terminal of standard output, taken over and given back: a screen of its own, no cursor, keys
// as they are pressed. It is given back by leave(), by the destructor, and while the process is
// stopped.
class Terminal {
public:
    // Before any other thread: SIGTSTP, SIGCONT and SIGWINCH are blocked in all of them from here
    // on, and come by signals_fd(). Touches nothing of the terminal yet.
    [[nodiscard]] static Result<Terminal> make();
    ~Terminal() { leave(); }
    Terminal(Terminal&& other) noexcept
        : signals_(std::move(other.signals_)),
          has_keys_(other.has_keys_),
          is_entered_(std::exchange(other.is_entered_, false)),
          before_(other.before_) {}
    Terminal& operator=(Terminal&&) = delete;
    Terminal(const Terminal&) = delete;
    Terminal& operator=(const Terminal&) = delete;

    // Takes it over; does nothing while another job has it.
    void enter();
    // As it was before; what was drawn is gone.
    void leave();
    [[nodiscard]] bool is_entered() const { return is_entered_; }

    [[nodiscard]] int signals_fd() const { return signals_.get(); }
    // Does what the signals that have come ask for: stops the process, takes the terminal again.
    // Afterwards what is on it may be gone, or of another size.
    void take_signals();

    // Where keys come from: standard input, if it is a terminal; -1: nowhere.
    [[nodiscard]] int keys_fd() const;
    // What was pressed since the last call, as the terminal sends it; nullopt: it has hung up.
    [[nodiscard]] std::optional<std::string> read_keys() const;

    [[nodiscard]] TerminalSize size() const;
    // From the upper left corner, over all that is there. Waits for a terminal that is held up.
    void draw(std::string_view text) const;

private:
    Terminal(UniqueFd signals, bool has_keys) : signals_(std::move(signals)), has_keys_(has_keys) {}

    void stop_process();

    UniqueFd signals_;
    bool has_keys_ = false;
    bool is_entered_ = false;
    std::optional<termios> before_;  // of the keys, while it is entered
};

}  // namespace tracer
