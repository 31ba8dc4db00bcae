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
#include "sink/output_file.h"

#include <algorithm>
#include <cerrno>
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

Result<Json> parse_answer(const std::string& line) {
    Json answer = Json::parse(line, nullptr, false);
    if (!answer.is_object() || !answer.contains("ok") || !answer["ok"].is_boolean()) {
        return fail(ErrorCode::bad_input, "the recording's answer is malformed");
    }
    return answer;
}

// The answer, if it says that it was done; else its error.
Result<Json> ask(const std::string& folder,
                 uint32_t pid,
                 std::span<const std::string> words,
                 std::chrono::milliseconds timeout) {
    TR_ASSIGN(auto connection, ControlConnection::open(folder, pid, timeout));
    TR_ASSIGN(const std::string line, connection.ask(words));
    TR_ASSIGN(Json answer, parse_answer(line));
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

// Of an answer that says no.
Error error_of(const Json& answer) {
    const auto status = answer.find("exit_status");
    const bool is_usage = status != answer.end() && *status == exit_status(ErrorCode::usage);
    return {.code = is_usage ? ErrorCode::usage : ErrorCode::io,
            .what = text_of(answer, "error"),
            .hint = text_of(answer, "hint")};
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

// Where the next chunk goes: NAME-00000007.SUFFIX in the folder, NAME being the recording's.
Result<OutputFile> make_chunk_file(const std::string& folder,
                                   const std::string& recording_path,
                                   uint64_t number) {
    constexpr int kTriesMax = 1000;
    const std::filesystem::path path(recording_path);
    const std::string stem = fmt::format("{}/{}-{:08}", folder, path.stem().string(), number);
    for (int i = 1;; ++i) {
        auto file =
            make_output_file(i == 1 ? stem + path.extension().string()
                                    : fmt::format("{}-{}{}", stem, i, path.extension().string()),
                             owner_behind_sudo());
        if (file || file.error().sys_errno != EEXIST || i == kTriesMax) return file;
    }
}

Status write_all(int fd, std::span<const std::byte> bytes) {
    while (!bytes.empty()) {
        const ssize_t count = write(fd, bytes.data(), bytes.size());
        if (count < 0 && errno == EINTR) continue;
        if (count <= 0) return fail_errno(ErrorCode::io, errno, "write a chunk, which is lost");
        bytes = bytes.subspan(static_cast<size_t>(count));
    }
    return {};
}

// One chunk to its place; false: none was whole.
Result<bool> take_chunk(ControlConnection& connection,
                        const CtlCommand& command,
                        const std::string& recording_path,
                        std::span<const std::string> words) {
    TR_ASSIGN(const std::string line, connection.ask(words));
    TR_ASSIGN(Json answer, parse_answer(line));
    if (answer["ok"] != true) return tl::unexpected(error_of(answer));
    const auto number_of = [&](const char* key) {
        const auto found = answer.find(key);
        return found != answer.end() && found->is_number_unsigned() ? found->get<uint64_t>() : 0;
    };
    const uint64_t bytes = number_of("payload_bytes");
    if (bytes == 0) return false;
    const bool is_piped = command.output == "-";
    OutputFile file;
    if (!is_piped) {
        TR_ASSIGN(file, make_chunk_file(command.output, recording_path, number_of("number")));
    }
    const int fd = is_piped ? STDOUT_FILENO : file.fd.get();
    TR_TRY(connection.read_payload(
        bytes, [fd](std::span<const std::byte> part) { return write_all(fd, part); }));
    if (is_piped) return true;
    answer["path"] = file.path;
    answer["text"] = fmt::format("{}: {}", file.path, human_bytes(bytes));
    print_answer(answer, command.json);
    return true;
}

// All that are whole; with "now" the one that is being written too, and no later one.
Result<int> take_chunks(const std::string& folder, uint32_t pid, const CtlCommand& command) {
    TR_ASSIGN(auto connection, ControlConnection::open(folder, pid, kAnswerTimeout));
    TR_ASSIGN(const std::string line, connection.ask(std::vector<std::string>{"status"}));
    TR_ASSIGN(const Json status, parse_answer(line));
    const auto waiting = status.find("chunks_waiting");
    uint64_t wanted =
        waiting != status.end() && waiting->is_number_unsigned() ? waiting->get<uint64_t>() : 0;
    const bool ends_current = command.words.size() > 1;
    if (ends_current) wanted += 1;
    uint64_t taken = 0;
    std::vector<std::string> words = command.words;
    // Asked once more than there are: a recording that keeps none says so.
    for (; taken < std::max<uint64_t>(wanted, 1); ++taken) {
        TR_ASSIGN(const bool is_taken,
                  take_chunk(connection, command, text_of(status, "output"), words));
        if (!is_taken) break;
        words.resize(1);
    }
    if (taken == 0 && !command.json) {
        put_text(stderr,
                 "tracer: no chunk is whole yet; `chunks now` ends the one being written\n");
    }
    TR_TRY(finish_standard_output());
    return 0;
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
    app.add_option("-o,--output", command.output,
                   "where chunks go: a folder (default: this one), or - for standard output")
        ->type_name("FOLDER");
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
    if (command.words.front() == "chunks") return take_chunks(folder, pid, command);
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
