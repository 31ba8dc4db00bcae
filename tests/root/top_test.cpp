// SPDX-License-Identifier: Apache-2.0
//
// `tracer top` on real programs: sums and durations that programs read, and a terminal that is left
// as it was found.
#include "root/recording.h"
#include "support/fixtures/requirements.h"
#include "support/fixtures/target_program.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <csignal>
#include <cstdlib>
#include <optional>
#include <poll.h>
#include <pty.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tracer::test {
namespace {

using nlohmann::json;

constexpr Milliseconds kLimit{20000};
constexpr const char* kRecording = "recording to";
constexpr std::string_view kEnter = "\x1b[?1049h";
constexpr std::string_view kLeave = "\x1b[?1049l";

// `tracer top --json` of a target until its end: an object an interval.
Result<std::vector<json>> watch(ChildProcess& target,
                                const std::vector<std::string>& options,
                                std::string* errors = nullptr) {
    std::vector<std::string> command{tracer_binary(), "top",   "--json",
                                     "--no-packs",    "--pid", std::to_string(target.pid())};
    command.insert(command.end(), options.begin(), options.end());
    TR_ASSIGN(ChildProcess run, ChildProcess::start(command));
    TR_TRY(run.wait_for_errors(kRecording, kLimit));
    TR_ASSIGN(const auto results, run_target(target, kLimit, 1));
    TR_TRY(target.send_line("end"));
    TR_ASSIGN(const ExitStatus status, run.wait(kLimit));
    EXPECT_EQ(status, ExitStatus{}) << run.errors();
    if (errors != nullptr) *errors = run.errors();
    std::vector<json> frames;
    while (!run.output().empty()) {
        TR_ASSIGN(json frame, run.read_json(kLimit));
        frames.push_back(std::move(frame));
    }
    return frames;
}

const json* row_of(const json& frame, std::string_view name) {
    const json& rows = frame.at("rows");
    const auto row = std::ranges::find_if(rows, [&](const json& it) { return it["name"] == name; });
    return row != rows.end() ? &*row : nullptr;
}

TEST(TopRecorded, SumsAreTheTargetsCounts) {
    TR_REQUIRE_ROOT();
    TR_REQUIRE_FILE(tracer_binary());
    auto target = start_target("flood", {"--hits", "1000", "--rate", "1000"});
    ASSERT_TRUE(target) << target.error().what;
    std::string errors;
    const auto frames = watch(*target, {"-i", "200ms", "-e", "usdt:flood:hit(n=arg0)"}, &errors);
    ASSERT_TRUE(frames) << frames.error().what;
    ASSERT_GE(frames->size(), 4u);
    uint64_t sum = 0;
    uint64_t intervals = 0;
    for (const json& frame : *frames) {
        const json* const row = row_of(frame, "hit");
        if (row == nullptr) continue;
        sum += row->at("count").get<uint64_t>();
        intervals += row->at("count") != 0;
        EXPECT_EQ(row->at("total"), sum);
        EXPECT_EQ(frame.at("lost_total"), 0);
    }
    EXPECT_EQ(sum, 1000u);
    EXPECT_GE(intervals, 4u) << "all at once";
    // The summary comes as ever.
    EXPECT_NE(errors.find("stopped when its targets ended"), std::string::npos) << errors;
}

TEST(TopRecorded, DurationsAreThosePlanted) {
    TR_REQUIRE_ROOT();
    TR_REQUIRE_FILE(tracer_binary());
    auto target = start_target("requests", {"--requests", "100", "--quick-us", "2000",
                                            "--slow-every", "20", "--slow-ms", "50"});
    ASSERT_TRUE(target) << target.error().what;
    const std::string probe =
        fmt::format("span:{}:handle_request(n=arg0:s32)", target_path("requests"));
    const auto frames = watch(*target, {"-e", probe, "--histogram"});
    ASSERT_TRUE(frames) << frames.error().what;
    ASSERT_FALSE(frames->empty());
    const json* const row = row_of(frames->back(), "handle_request");
    ASSERT_NE(row, nullptr) << frames->back();
    EXPECT_EQ(row->at("kind"), "span");
    EXPECT_EQ(row->at("total"), 100);
    const json& all = row->at("all");
    EXPECT_EQ(all.at("count"), 100);
    // What a sleep takes longer than asked is the machine's.
    const auto is_about = [](const json& ns, double expected_ms, double jitter_ms) {
        const double ms = ns.get<double>() / 1e6;
        return ms > expected_ms * 0.98 && ms < expected_ms * 1.02 + jitter_ms;
    };
    EXPECT_TRUE(is_about(all.at("p50_ns"), 2, 2)) << all;
    EXPECT_TRUE(is_about(all.at("p90_ns"), 2, 20)) << all;
    EXPECT_TRUE(is_about(all.at("p99_ns"), 50, 20)) << all;
    EXPECT_TRUE(is_about(all.at("max_ns"), 50, 40)) << all;
    uint64_t pictured = 0;
    for (const json& bucket : all.at("log2")) pictured += bucket.at(1).get<uint64_t>();
    EXPECT_EQ(pictured, 100u);
}

TEST(TopRecorded, EndsWhenItsReaderGoesAway) {
    TR_REQUIRE_ROOT();
    TR_REQUIRE_FILE(tracer_binary());
    auto target = start_target("flood", {"--hits", "1"});
    ASSERT_TRUE(target) << target.error().what;
    auto pipe = ChildProcess::start({"bash", "-c", "set -o pipefail; \"$0\" \"$@\" | head -n 1",
                                     tracer_binary(), "top", "-i", "200ms", "--no-packs", "--pid",
                                     std::to_string(target->pid()), "-e", "usdt:flood:hit"});
    ASSERT_TRUE(pipe) << pipe.error().what;
    const auto status = pipe->wait(kLimit);
    ASSERT_TRUE(status) << status.error().what;
    EXPECT_EQ(*status, ExitStatus{}) << pipe->errors();
    // No terminal, no sequences.
    EXPECT_NE(pipe->output().find("events/s"), std::string::npos) << pipe->output();
    EXPECT_EQ(pipe->output().find('\x1b'), std::string::npos) << pipe->output();
}

// A program on a terminal of its own.
class OnTerminal {
public:
    explicit OnTerminal(const std::vector<std::string>& command) {
        winsize size{.ws_row = 24, .ws_col = 100, .ws_xpixel = 0, .ws_ypixel = 0};
        int master = -1;
        std::vector<char*> arguments;
        arguments.reserve(command.size() + 1);
        for (const std::string& word : command)
            arguments.push_back(const_cast<char*>(word.c_str()));
        arguments.push_back(nullptr);
        pid_ = forkpty(&master, nullptr, nullptr, &size);
        if (pid_ == 0) {
            setenv("TERM", "xterm", 1);
            execv(arguments[0], arguments.data());
            _exit(127);
        }
        master_ = UniqueFd(master);
        before_ = modes();
    }
    ~OnTerminal() {
        if (pid_ <= 0 || is_reaped_) return;
        kill(pid_, SIGKILL);
        waitpid(pid_, nullptr, 0);
    }
    OnTerminal(const OnTerminal&) = delete;
    OnTerminal& operator=(const OnTerminal&) = delete;

    [[nodiscard]] bool is_started() const { return pid_ > 0; }
    void press(std::string_view keys) {
        EXPECT_EQ(write(master_.get(), keys.data(), keys.size()),
                  static_cast<ssize_t>(keys.size()));
    }
    void signal(int number) { EXPECT_EQ(kill(pid_, number), 0); }
    void resize(unsigned short columns, unsigned short lines) {
        const winsize size{.ws_row = lines, .ws_col = columns, .ws_xpixel = 0, .ws_ypixel = 0};
        EXPECT_EQ(ioctl(master_.get(), TIOCSWINSZ, &size), 0);
    }
    // Until it has drawn `text` since the last call.
    [[nodiscard]] bool wait_for(std::string_view text) {
        const Deadline deadline(kLimit);
        while (true) {
            if (const size_t at = screen_.find(text, seen_); at != std::string::npos) {
                seen_ = at + text.size();
                return true;
            }
            if (!read_some(deadline)) return false;
        }
    }
    // Until it has ended or, of WUNTRACED, stopped; nullopt: neither in time.
    [[nodiscard]] std::optional<int> wait_for_change() {
        const Deadline deadline(kLimit);
        while (true) {
            int status = 0;
            const pid_t changed = waitpid(pid_, &status, WNOHANG | WUNTRACED);
            if (changed == pid_) {
                is_reaped_ = !WIFSTOPPED(status);
                while (read_some(Deadline(Milliseconds(0)))) continue;
                return status;
            }
            if (deadline.passed()) return std::nullopt;
            // Reads, so that it never waits for us; and a little while if there is nothing.
            static_cast<void>(read_some(Deadline(Milliseconds(10))));
        }
    }
    [[nodiscard]] bool is_as_before() const {
        const termios now = modes();
        return now.c_lflag == before_.c_lflag && now.c_iflag == before_.c_iflag &&
               now.c_oflag == before_.c_oflag && now.c_cc[VMIN] == before_.c_cc[VMIN] &&
               now.c_cc[VTIME] == before_.c_cc[VTIME];
    }
    [[nodiscard]] bool has_own_screen() const {
        return screen_.rfind(kEnter) != std::string::npos &&
               (screen_.rfind(kLeave) == std::string::npos ||
                screen_.rfind(kEnter) > screen_.rfind(kLeave));
    }
    [[nodiscard]] const std::string& screen() const { return screen_; }

private:
    [[nodiscard]] termios modes() const {
        termios modes{};
        EXPECT_EQ(tcgetattr(master_.get(), &modes), 0);
        return modes;
    }
    bool read_some(const Deadline& deadline) {
        pollfd ready{.fd = master_.get(), .events = POLLIN, .revents = 0};
        if (poll(&ready, 1, deadline.left_ms()) <= 0) return false;
        std::array<char, 4096> bytes{};
        const ssize_t count = read(master_.get(), bytes.data(), bytes.size());
        if (count <= 0) return false;
        screen_.append(bytes.data(), static_cast<size_t>(count));
        return true;
    }

    pid_t pid_ = -1;
    bool is_reaped_ = false;
    UniqueFd master_;
    termios before_{};
    std::string screen_;
    size_t seen_ = 0;
};

class TopOnTerminal : public testing::Test {
protected:
    void start() {
        auto target = start_target("flood", {"--hits", "1000000000", "--rate", "500"});
        ASSERT_TRUE(target) << target.error().what;
        target_.emplace(std::move(*target));
        ASSERT_TRUE(target_->send_line("go"));
        run_.emplace(std::vector<std::string>{tracer_binary(), "top", "-i", "100ms", "--no-packs",
                                              "--pid", std::to_string(target_->pid()), "-e",
                                              "usdt:flood:hit(n=arg0)"});
        ASSERT_TRUE(run_->is_started());
        ASSERT_TRUE(run_->wait_for("events/s")) << run_->screen();
        ASSERT_TRUE(run_->wait_for("event ")) << run_->screen();
        ASSERT_TRUE(run_->has_own_screen());
        ASSERT_FALSE(run_->is_as_before());
    }
    void expect_end(int status) {
        EXPECT_TRUE(WIFEXITED(status)) << status;
        EXPECT_EQ(WEXITSTATUS(status), 0);
        EXPECT_FALSE(run_->has_own_screen());
        EXPECT_TRUE(run_->is_as_before());
        // The cursor shows, and the summary stands on the screen that was there before.
        EXPECT_GT(run_->screen().rfind("\x1b[?25h"), run_->screen().rfind("\x1b[?25l"));
        EXPECT_GT(run_->screen().rfind("events in"), run_->screen().rfind(kLeave));
    }

    std::optional<ChildProcess> target_;
    std::optional<OnTerminal> run_;
};

TEST_F(TopOnTerminal, ObeysKeysAndLeavesTheTerminalAsItWas) {
    TR_REQUIRE_ROOT();
    TR_REQUIRE_FILE(tracer_binary());
    ASSERT_NO_FATAL_FAILURE(start());
    run_->press("s");
    EXPECT_TRUE(run_->wait_for("sorted by count")) << run_->screen();
    run_->press("b");
    EXPECT_TRUE(run_->wait_for("by thread")) << run_->screen();
    EXPECT_TRUE(run_->wait_for(fmt::format("flood({})", target_->pid()))) << run_->screen();
    run_->press("\x1b[B");
    EXPECT_TRUE(run_->wait_for("\x1b[7m")) << run_->screen();
    run_->press("h");
    EXPECT_TRUE(run_->wait_for("no span has ended here")) << run_->screen();
    run_->press("p");
    EXPECT_TRUE(run_->wait_for("PAUSED")) << run_->screen();
    run_->press("q");
    const auto status = run_->wait_for_change();
    ASSERT_TRUE(status);
    expect_end(*status);
    EXPECT_NE(run_->screen().find("stopped on request"), std::string::npos);
}

TEST_F(TopOnTerminal, LeavesItAsItWasWhenASignalEndsIt) {
    TR_REQUIRE_ROOT();
    TR_REQUIRE_FILE(tracer_binary());
    for (const int number : {SIGINT, SIGTERM, SIGQUIT}) {
        ASSERT_NO_FATAL_FAILURE(start());
        run_->signal(number);
        const auto status = run_->wait_for_change();
        ASSERT_TRUE(status);
        expect_end(*status);
    }
}

TEST_F(TopOnTerminal, GivesItBackWhileItIsStopped) {
    TR_REQUIRE_ROOT();
    TR_REQUIRE_FILE(tracer_binary());
    ASSERT_NO_FATAL_FAILURE(start());
    run_->press("\x1a");  // ^Z
    auto status = run_->wait_for_change();
    ASSERT_TRUE(status);
    ASSERT_TRUE(WIFSTOPPED(*status));
    EXPECT_FALSE(run_->has_own_screen());
    EXPECT_TRUE(run_->is_as_before());
    run_->signal(SIGCONT);
    EXPECT_TRUE(run_->wait_for(kEnter)) << run_->screen();
    EXPECT_TRUE(run_->wait_for("events/s")) << run_->screen();
    // Stopped from outside nothing can be given back; at the end it is.
    run_->signal(SIGSTOP);
    status = run_->wait_for_change();
    ASSERT_TRUE(status);
    ASSERT_TRUE(WIFSTOPPED(*status));
    run_->signal(SIGCONT);
    EXPECT_TRUE(run_->wait_for("events/s")) << run_->screen();
    run_->press("q");
    status = run_->wait_for_change();
    ASSERT_TRUE(status);
    expect_end(*status);
}

// Columns of what stands between two places of the screen, but for sequences.
size_t widest_line(std::string_view text) {
    size_t widest = 0;
    size_t columns = 0;
    for (size_t i = 0; i < text.size(); ++i) {
        if (text[i] == '\x1b') {
            // All of ours end with a letter.
            while (i < text.size() && std::isalpha(static_cast<unsigned char>(text[i])) == 0) ++i;
            // To the first line.
            if (i < text.size() && text[i] == 'H') columns = 0;
            continue;
        }
        if (text[i] == '\r' || text[i] == '\n') {
            columns = 0;
            continue;
        }
        // Bytes that go on with a character are none of their own.
        columns += (static_cast<unsigned char>(text[i]) & 0xC0) != 0x80;
        widest = std::max(widest, columns);
    }
    return widest;
}

TEST_F(TopOnTerminal, FitsATerminalThatBecomesSmaller) {
    TR_REQUIRE_ROOT();
    TR_REQUIRE_FILE(tracer_binary());
    ASSERT_NO_FATAL_FAILURE(start());
    EXPECT_TRUE(run_->wait_for("sorted by rate")) << run_->screen();
    run_->resize(40, 10);
    // The last line, cut there.
    EXPECT_TRUE(run_->wait_for("p pause  h \u2026")) << run_->screen();
    const size_t from = run_->screen().size();
    run_->press("s");
    EXPECT_TRUE(run_->wait_for("rate/s")) << run_->screen();
    EXPECT_TRUE(run_->wait_for("rate/s")) << run_->screen();
    EXPECT_LE(widest_line(std::string_view(run_->screen()).substr(from)), 40u) << run_->screen();
    run_->press("q");
    const auto status = run_->wait_for_change();
    ASSERT_TRUE(status);
    expect_end(*status);
}

}  // namespace
}  // namespace tracer::test
