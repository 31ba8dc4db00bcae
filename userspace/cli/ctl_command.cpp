// SPDX-License-Identifier: Apache-2.0
//
// `tracer ctl`: one request to a recording that runs, and its answer as text or JSON. Which
// requests there are is the table in control/verbs.h; here are only the list of recordings, and
// names of files made whole, since the recording runs in another folder. Called by main.cpp.
#include "cli/commands.h"
#include "cli/help.h"
#include "cli/options.h"
#include "cli/print.h"
#include "control/connection.h"
#include "control/place.h"
#include "control/verbs.h"
#include "session/human.h"
#include "session/output_file.h"

#include <charconv>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <iterator>
#include <unistd.h>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace tracer {
namespace {

using Json = nlohmann::ordered_json;

// A busy recording answers within half a second; connecting to a sink may take five, and name
// servers their own time.
constexpr std::chrono::milliseconds kAnswerTimeout{20'000};
constexpr std::chrono::milliseconds kListTimeout{2'000};
constexpr std::chrono::milliseconds kEndTimeout{60'000};

std::string help_text() {
    std::string text(kCtlHelp);
    const auto out = std::back_inserter(text);
    fmt::format_to(out, "  {:<12} {}\n", "list", "the recordings that run");
    for (const Verb& verb : verbs()) {
        fmt::format_to(out, "  {:<12} {}\n", verb.name, verb.what);
        if (!verb.arguments.empty()) fmt::format_to(out, "  {:<14}{}\n", "", verb.arguments);
    }
    return text;
}

bool is_list(std::span<const std::string> words) {
    return words.size() == 1 && words.front() == "list";
}

Result<std::string> own_folder() {
    return control_folder(geteuid(), std::getenv("XDG_RUNTIME_DIR"));
}

// The answer, if it says that it was done; else its error.
Result<Json> ask(const std::string& folder,
                 uint32_t pid,
                 std::span<const std::string> words,
                 std::chrono::milliseconds timeout) {
    TR_ASSIGN(auto connection, ControlConnection::open(folder, pid, timeout));
    TR_ASSIGN(const std::string line, connection.ask(words));
    Json answer = Json::parse(line, nullptr, false);
    if (!answer.is_object() || !answer.contains("ok") || !answer["ok"].is_boolean()) {
        return fail(ErrorCode::bad_input, fmt::format("the answer of pid {} is malformed", pid));
    }
    if (answer["ok"] == true && words.front() == "stop" && !connection.wait_for_end(kEndTimeout)) {
        return fail(ErrorCode::io, "the recording still writes its end",
                    "it goes on without us; a second signal to it ends it at once");
    }
    return answer;
}

std::string text_of(const Json& answer, const char* key) {
    const auto found = answer.find(key);
    return found != answer.end() && found->is_string() ? found->get<std::string>() : std::string();
}

void print_answer(const Json& answer, bool as_json) {
    if (as_json) {
        put_text(stdout, answer.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n");
    } else {
        put_text(stdout, text_of(answer, "text") + "\n");
    }
}

Result<int> list_all(bool as_json) {
    TR_ASSIGN(const std::string folder, own_folder());
    TR_ASSIGN(const std::vector<uint32_t> pids, list_recordings(folder));
    const std::vector<std::string> request{"status"};
    Json rows = Json::array();
    std::string text;
    for (const uint32_t pid : pids) {
        const auto answer = ask(folder, pid, request, kListTimeout);
        // It ended between the two.
        if (!answer && answer.error().code == ErrorCode::not_found) continue;
        if (!answer || (*answer)["ok"] != true) {
            const std::string why = answer ? text_of(*answer, "error") : answer.error().what;
            rows.push_back({{"ok", false}, {"pid", pid}, {"error", why}});
            fmt::format_to(std::back_inserter(text), "{:>8}  {}\n", pid, why);
            continue;
        }
        rows.push_back(*answer);
        const auto seconds = answer->find("seconds");
        fmt::format_to(
            std::back_inserter(text), "{:>8}  {:>8.0f} s  {}  of {}\n", pid,
            seconds != answer->end() && seconds->is_number() ? seconds->get<double>() : 0,
            text_of(*answer, "output"), text_of(*answer, "target"));
    }
    if (as_json) {
        put_text(stdout, rows.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n");
    } else if (text.empty()) {
        put_text(stdout, geteuid() == 0
                             ? "no recording runs\n"
                             : "no recording of this user runs (sudo tracer ctl list: root's)\n");
    } else {
        put_text(stdout, text);
    }
    return 0;
}

Result<uint32_t> only_recording(const std::string& folder) {
    TR_ASSIGN(const std::vector<uint32_t> pids, list_recordings(folder));
    if (pids.size() == 1) return pids.front();
    if (pids.empty()) {
        return fail(ErrorCode::not_found, "no recording runs",
                    geteuid() == 0 ? "" : "those of root are seen by root: sudo tracer ctl list");
    }
    return fail(ErrorCode::usage, fmt::format("{} recordings run", pids.size()),
                "say which: tracer ctl PID COMMAND; `tracer ctl list` shows them");
}

// The recording runs in another folder than we do.
void make_whole(std::vector<std::string>& words) {
    constexpr std::string_view kUnix = "unix:";
    if (words.size() < 2 || words[0] != "sink") return;
    std::string& target = words[1];
    const bool is_unix = target.starts_with(kUnix);
    const std::string path = is_unix ? target.substr(kUnix.size()) : target;
    const bool is_no_path =
        (!is_unix && (is_socket_target(target) || target == "-" || target == "restore")) ||
        path.empty() || path.front() == '@';
    if (is_no_path) return;
    std::error_code error;
    const auto whole = std::filesystem::absolute(path, error);
    if (!error) target = (is_unix ? std::string(kUnix) : std::string()) + whole.string();
}

}  // namespace

Result<Command> parse_ctl(std::vector<std::string> words) {
    CtlCommand command;
    CLI::App app(help_text());
    set_up(app, "tracer ctl");
    app.footer(std::string{kCtlFooter});
    app.add_option("words", command.words, "the recording's process, then a command")
        ->type_name("[PID] COMMAND");
    app.add_flag("--json", command.json, "the answer as one line of JSON");
    TR_ASSIGN(auto print, parse_words(app, std::move(words)));
    if (print) return *print;
    if (!command.words.empty()) {
        const std::string& first = command.words.front();
        uint32_t pid = 0;
        const auto [end, error] = std::from_chars(first.data(), first.data() + first.size(), pid);
        if (error == std::errc() && end == first.data() + first.size()) {
            command.pid = pid;
            command.words.erase(command.words.begin());
        }
    }
    if (!command.pid && is_list(command.words)) return command;
    if (const auto verb = find_verb(command.words); !verb) {
        Error failed = verb.error();
        return tl::unexpected(std::move(failed).within("ctl"));
    }
    make_whole(command.words);
    return command;
}

Result<int> run_ctl(const CtlCommand& command) {
    if (is_list(command.words)) {
        TR_ASSIGN(const int status, list_all(command.json));
        TR_TRY(finish_standard_output());
        return status;
    }
    TR_ASSIGN(const std::string folder, own_folder());
    uint32_t pid = command.pid.value_or(0);
    if (!command.pid) {
        TR_ASSIGN(pid, only_recording(folder));
    }
    TR_ASSIGN(const Json answer, ask(folder, pid, command.words, kAnswerTimeout));
    const bool is_done = answer["ok"] == true;
    if (is_done || command.json) print_answer(answer, command.json);
    TR_TRY(finish_standard_output());
    if (is_done) return 0;
    if (!command.json) {
        put_text(stderr, fmt::format("tracer: {}\n", text_of(answer, "error")));
        const std::string hint = text_of(answer, "hint");
        if (!hint.empty()) put_text(stderr, fmt::format("hint: {}\n", hint));
    }
    const auto status = answer.find("exit_status");
    return status != answer.end() && status->is_number_integer() && *status > 0 && *status < 128
               ? status->get<int>()
               : exit_status(ErrorCode::io);
}

}  // namespace tracer
