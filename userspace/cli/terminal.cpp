// SPDX-License-Identifier: Apache-2.0
//
// Taking a terminal over and giving it back, by the sequences that every terminal of today knows
// (ECMA-48, and xterm's for the second screen). Used by `tracer top`, on the main thread alone.
#include "cli/terminal.h"

#include <cerrno>
#include <csignal>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/signalfd.h>
#include <unistd.h>

namespace tracer {
namespace {

// The second screen, no cursor, no new line at the last column.
constexpr std::string_view kEnter = "\x1b[?1049h\x1b[?25l\x1b[?7l";
constexpr std::string_view kLeave = "\x1b[?7h\x1b[?25h\x1b[?1049l";
constexpr std::string_view kHome = "\x1b[H";

sigset_t job_signals() {
    sigset_t set;
    sigemptyset(&set);
    for (const int number : {SIGTSTP, SIGCONT, SIGWINCH}) sigaddset(&set, number);
    return set;
}

void write_all(std::string_view text) {
    while (!text.empty()) {
        const ssize_t count = write(STDOUT_FILENO, text.data(), text.size());
        if (count < 0 && errno == EINTR) continue;
        // It hung up: SIGHUP is on its way.
        if (count <= 0) return;
        text.remove_prefix(static_cast<size_t>(count));
    }
}

bool is_foreground() {
    return tcgetpgrp(STDOUT_FILENO) == getpgrp();
}

}  // namespace

Result<Terminal> Terminal::make() {
    const sigset_t set = job_signals();
    if (pthread_sigmask(SIG_BLOCK, &set, nullptr) != 0) {
        return fail(ErrorCode::internal, "signals of the terminal cannot be blocked");
    }
    UniqueFd signals(signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK));
    if (!signals.valid()) return fail_errno(ErrorCode::io, errno, "watch signals of the terminal");
    return Terminal(std::move(signals), isatty(STDIN_FILENO) == 1);
}

void Terminal::enter() {
    // From the background the change alone would stop the process.
    if (is_entered_ || !is_foreground()) return;
    termios keys{};
    // Entered again without having been left (stopped from outside), they may be as we made them.
    if (has_keys_ && !before_ && tcgetattr(STDIN_FILENO, &keys) == 0) before_ = keys;
    if (before_) {
        keys = *before_;
        // Keys at once and unseen; ^C and ^Z stay signals.
        keys.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO);
        keys.c_cc[VMIN] = 0;
        keys.c_cc[VTIME] = 0;
        tcsetattr(STDIN_FILENO, TCSADRAIN, &keys);
    }
    write_all(kEnter);
    is_entered_ = true;
}

void Terminal::leave() {
    if (!is_entered_) return;
    is_entered_ = false;
    // Where the shell has taken it back already, it has also put it right.
    if (!is_foreground()) return;
    write_all(kLeave);
    if (before_) tcsetattr(STDIN_FILENO, TCSADRAIN, &*before_);
    before_.reset();
}

// As the default action of SIGTSTP, which a blocked signal does not have; goes on when continued.
void Terminal::stop_process() {
    leave();
    kill(getpid(), SIGSTOP);
}

void Terminal::take_signals() {
    signalfd_siginfo info{};
    bool is_continued = false;
    while (read(signals_.get(), &info, sizeof(info)) == sizeof(info)) {
        if (info.ssi_signo == SIGTSTP) stop_process();
        if (info.ssi_signo != SIGWINCH) is_continued = true;
    }
    if (!is_continued) return;
    // Where it was stopped from outside nobody gave it back, and others have used it since.
    is_entered_ = false;
    enter();
}

int Terminal::keys_fd() const {
    return has_keys_ ? STDIN_FILENO : -1;
}

std::optional<std::string> Terminal::read_keys() const {
    pollfd ready{.fd = STDIN_FILENO, .events = POLLIN, .revents = 0};
    if (poll(&ready, 1, 0) < 0 || (ready.revents & ~POLLIN) != 0) return std::nullopt;
    std::string keys(64, '\0');
    // Nothing, where another reader of the terminal was faster.
    const ssize_t count = read(STDIN_FILENO, keys.data(), keys.size());
    keys.resize(count > 0 ? static_cast<size_t>(count) : 0);
    return keys;
}

TerminalSize Terminal::size() const {
    winsize size{};
    TerminalSize result;
    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0) return result;
    if (size.ws_col != 0) result.columns = size.ws_col;
    if (size.ws_row != 0) result.lines = size.ws_row;
    return result;
}

void Terminal::draw(std::string_view text) const {
    if (!is_entered_ || !is_foreground()) return;
    write_all(std::string(kHome).append(text));
}

}  // namespace tracer
