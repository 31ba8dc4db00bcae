// SPDX-License-Identifier: Apache-2.0
//
// The command line, and the only user of CLI11. Everything after "--" is the program to start and
// is split off first, so that its options are never taken for ours. A first word `list`, `explain`,
// `packs`, `pack`, `doctor`, `convert`, `rings`, `gc-stats`, `ctl`, `tail` or `top` chooses that
// command; anything else records. Called by main.cpp.
#include "cli/command_line.h"

#include "cli/help.h"
#include "cli/options.h"
#include "cli/units.h"

#include <algorithm>
#include <sys/stat.h>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

namespace tracer {
namespace {

// Texts that are given a meaning after parsing, so that our own errors can explain them.
struct RecordTexts {
    std::vector<std::string> ids;
    std::optional<std::string> duration;
    std::optional<std::string> max_size;
    std::optional<std::string> buffer;
    LiveTexts live;
    PackTexts packs;
    WatchTexts watch;
    bool no_rt = false;
    bool no_sched = false;
    bool no_rings = false;
    bool no_ctl = false;
};

void add_loudness(CLI::App& app, Verbosity& verbosity) {
    app.add_flag("-q,--quiet", verbosity.quiet, "no status line and no summary; warnings only");
    app.add_flag("-v,--verbose", verbosity.verbose, "rings and all zero rows in the summary too");
}

void add_verbosity(CLI::App& app, Verbosity& verbosity) {
    add_loudness(app, verbosity);
    app.add_flag(
        "--json", verbosity.json,
        "the summary as one line of JSON on standard output (on standard error with -o -)");
}

void add_what_options(CLI::App& app, RecordCommand& command, RecordTexts& texts) {
    add_repeatable(app, "-p,--pid", texts.ids,
                   "processes or threads to record, by id; repeatable, or a list with commas; "
                   "7@1234: the one that calls itself 7 in the pid namespace of process 1234")
        ->type_name("ID[,ID]")
        ->group("What to record");
    add_repeatable(app, "--comm", command.selection.comms,
                   "processes called so, now and later (exec, rename); * and ? match")
        ->type_name("NAME")
        ->group("What to record");
    add_repeatable(app, "--cgroup", command.selection.cgroups,
                   "processes in this cgroup (v2) or below it, now and later")
        ->type_name("PATH|ID")
        ->group("What to record");
    add_repeatable(app, "--container", command.selection.containers,
                   "processes of this container, now and later: a name, or the first 4 or more "
                   "digits of its id (Docker, Podman, containerd, CRI-O, systemd-nspawn, LXC)")
        ->type_name("NAME|ID")
        ->group("What to record");
    app.add_flag("-a,--all", command.all,
                 "every process on every CPU (not the tracer itself); with --comm, --cgroup or "
                 "--container, every one that fits")
        ->group("What to record");
    app.add_flag("--tree", command.tree,
                 "children too, also those born later (default with -- COMMAND: always)")
        ->group("What to record");
    add_repeatable(app, "-e,--event", command.probes,
                   "a probe, repeatable (default: none); `tracer list` prints them")
        ->type_name("PROBE")
        ->group("What to record");
    app.add_flag(
           "--wait", command.wait,
           "wait for probes that no file has yet (default with -a, --tree and -- COMMAND; with "
           "--pid alone such a probe is an error)")
        ->group("What to record");
    add_pack_options(app, texts.packs);
    add_debuginfod(app, command.debuginfod)->group("What to record");
    app.add_flag("--no-rings", texts.no_rings,
                 "not the events that OCaml 5 programs and those with our library write to rings "
                 "of their own (default: read where there are any; `tracer rings` lists them)")
        ->group("What to record");
}

void add_no_sched(CLI::App& app, RecordTexts& texts) {
    app.add_flag("--no-sched", texts.no_sched,
                 "no switches and wakeups (default: recorded); births and deaths always are")
        ->group("What to record");
}

void add_where_options(CLI::App& app, RecordCommand& command) {
    add_output(app, command.output_path,
               "file to write, replaced if it exists; - is standard output "
               "(default: tracer-NAME-ID-DATE-TIME.fxt, never an existing one)")
        ->type_name("FILE")
        ->group("Output");
    app.add_option("--format", command.format_name,
                   "fxt, eventlog, json, txt, ndjson or traw (default: by the suffix of FILE, fxt "
                   "for -)")
        ->type_name("NAME")
        ->group("Output");
}

void add_end_options(CLI::App& app, RecordTexts& texts) {
    app.add_option("-d,--duration", texts.duration,
                   "stop after this time: 500ms, 5s, 2m, 1h; seconds without a unit (default: at "
                   "^C or when all targets have ended)")
        ->type_name("TIME")
        ->group("Output");
    app.add_option(
           "--max-size", texts.max_size,
           "stop before more than this is written: bytes, or 64K, 10M, 1G (default: no limit); "
           "what was recorded by then but finds no room is counted")
        ->type_name("SIZE")
        ->group("Output");
}

void add_steering_options(CLI::App& app, RecordCommand& command, RecordTexts& texts) {
    app.add_option("--ready-fd", command.ready_fd,
                   "write a newline to this descriptor once everything is armed, and close it; "
                   "$NOTIFY_SOCKET of a service manager is told too (sd_notify)")
        ->type_name("N")
        ->group("Output");
    app.add_flag("--no-ctl", texts.no_ctl,
                 "no socket for `tracer ctl` (default: one that this user and root may use)")
        ->group("Output");
}

void add_cost_options(CLI::App& app, RecordCommand& command, RecordTexts& texts) {
    app.add_option("--buffer", texts.buffer,
                   "memory for all kernel rings together, or for each with /cpu: 64M, 8M/cpu; "
                   "rounded down to powers of two, at least a page (default: 4M/cpu; when all "
                   "switches are recorded a second of them at the rate measured at start, 4M to "
                   "64M/cpu; never above 1/16 of free memory)")
        ->type_name("SIZE[/cpu]")
        ->group("Cost");
    app.add_option("--drain-share", command.drain_percent,
                   "most that draining may take of one CPU over 100 ms, in percent (default: 50); "
                   "beyond it events are lost and counted")
        ->check(CLI::Range(1, 100).description(""))
        ->type_name("PERCENT")
        ->group("Cost");
    app.add_flag("--no-rt", texts.no_rt,
                 "drain at ordinary priority (default: SCHED_RR 1); a saturated machine then "
                 "loses events")
        ->group("Cost");
    app.add_flag("--fast-sites", command.fast_sites,
                 "put probes on 5-byte nops too, a quarter cheaper; refused where a test at the "
                 "start finds that the kernel then kills forked children or spoils red zones (as "
                 "6.18 does; see: tracer doctor)")
        ->group("Cost");
    app.add_flag("--force-perf-links", command.force_perf_links,
                 "one perf event for each site, as on kernels before 6.6")
        ->group("");
}

Error with_option(Error error, const char* option) {
    return std::move(error).within(option);
}

// Of --pid, for a command that has both kinds of ids.
template <typename SomeCommand>
Status take_ids(const std::vector<std::string>& texts, SomeCommand& command) {
    for (const std::string& text : texts) {
        if (text.find('@') != std::string::npos) {
            auto id = parse_namespaced_id(text);
            if (!id) return tl::unexpected(with_option(std::move(id).error(), "--pid"));
            command.namespaced_ids.push_back(*id);
            continue;
        }
        auto ids = parse_ids(text);
        if (!ids) return tl::unexpected(with_option(std::move(ids).error(), "--pid"));
        command.ids.insert(command.ids.end(), ids->begin(), ids->end());
    }
    return {};
}

Status take_texts(const RecordTexts& texts, RecordCommand& command) {
    TR_TRY(take_ids(texts.ids, command));
    if (texts.duration) {
        auto duration = parse_duration(*texts.duration);
        if (!duration) return tl::unexpected(with_option(std::move(duration).error(), "-d"));
        command.duration = *duration;
    }
    if (texts.max_size) {
        auto size = parse_size(*texts.max_size);
        if (!size) return tl::unexpected(with_option(std::move(size).error(), "--max-size"));
        command.bytes_max = *size;
    }
    if (texts.buffer) {
        auto buffer = parse_buffer(*texts.buffer);
        if (!buffer) return tl::unexpected(with_option(std::move(buffer).error(), "--buffer"));
        command.buffer = *buffer;
    }
    TR_ASSIGN(command.packs, take_pack_options(texts.packs));
    command.ctl = !texts.no_ctl;
    TR_TRY(take_live_options(texts.live, command));
    command.real_time = !texts.no_rt;
    command.sched = !texts.no_sched;
    command.rings = !texts.no_rings;
    command.tree = command.tree || !command.command.empty();
    return {};
}

Status check_record(const RecordCommand& command) {
    const bool has_ids = !command.ids.empty() || !command.namespaced_ids.empty();
    const bool has_selection = !command.selection.is_empty();
    if (!has_ids && !has_selection && !command.all && command.command.empty()) {
        return fail(ErrorCode::usage, "nothing to record",
                    "tracer --pid N, tracer -a, or tracer -- COMMAND; tracer --help shows more");
    }
    if (has_ids && command.all) {
        return fail(ErrorCode::usage, "--pid and -a exclude each other: -a records every process",
                    "leave one of them out");
    }
    if (has_ids && !command.command.empty()) {
        return fail(ErrorCode::usage, "--pid and -- COMMAND exclude each other",
                    "start the command first and give both ids to --pid");
    }
    if (command.verbosity.quiet && command.verbosity.verbose) {
        return fail(ErrorCode::usage, "-q and -v exclude each other");
    }
    return {};
}

// What was parsed, checked against itself.
Result<Command> finish_record(RecordCommand command,
                              const RecordTexts& texts,
                              std::vector<std::string> program) {
    command.command = std::move(program);
    TR_TRY(take_texts(texts, command));
    TR_TRY(check_record(command));
    // Of every process those that fit, which is what a selection is of anyway.
    if (!command.selection.is_empty()) command.all = false;
    return command;
}

Result<Command> parse_record(std::vector<std::string> words, std::vector<std::string> program) {
    RecordCommand command;
    RecordTexts texts;
    CLI::App app(std::string{kRecordHelp});
    set_up(app, kProgramName);
    app.footer(std::string{kRecordFooter});
    app.set_version_flag("--version", fmt::format("tracer {}", TRACER_VERSION),
                         "print the version and exit");
    add_what_options(app, command, texts);
    add_no_sched(app, texts);
    add_where_options(app, command);
    add_end_options(app, texts);
    add_live_options(app, texts.live);
    add_steering_options(app, command, texts);
    add_cost_options(app, command, texts);
    add_verbosity(app, command.verbosity);
    TR_ASSIGN(auto print, parse_words(app, std::move(words)));
    if (print) return *print;
    return finish_record(std::move(command), texts, std::move(program));
}

// A recording that goes to the terminal instead of a file: `tail`, or else `top`.
Result<Command> parse_shown(bool is_tail,
                            std::vector<std::string> words,
                            std::vector<std::string> program) {
    RecordCommand command;
    RecordTexts texts;
    CLI::App app(std::string{is_tail ? kTailHelp : kTopHelp});
    set_up(app, is_tail ? "tracer tail" : "tracer top");
    app.footer(std::string{is_tail ? kTailFooter : kTopFooter});
    add_what_options(app, command, texts);
    if (is_tail) {
        add_tail_options(app, texts.watch);
    } else {
        add_top_options(app, texts.watch);
    }
    add_end_options(app, texts);
    add_steering_options(app, command, texts);
    add_cost_options(app, command, texts);
    add_loudness(app, command.verbosity);
    TR_ASSIGN(auto print, parse_words(app, std::move(words)));
    if (print) return *print;
    if (is_tail) {
        TR_ASSIGN(command.tail, take_tail_options(texts.watch));
    } else {
        TR_ASSIGN(command.top, take_top_options(texts.watch));
    }
    command.output_path = "-";
    command.format_name = texts.watch.json ? "ndjson" : "txt";
    texts.no_sched = !texts.watch.sched;
    return finish_record(std::move(command), texts, std::move(program));
}

bool is_file(const std::string& text) {
    struct stat info {};
    return text.find('/') != std::string::npos || stat(text.c_str(), &info) == 0;
}

Result<Command> parse_list(std::vector<std::string> words) {
    ListCommand command;
    std::vector<std::string> ids;
    std::vector<std::string> rest;
    CLI::App app(std::string{kListHelp});
    set_up(app, "tracer list");
    add_repeatable(app, "-p,--pid", ids,
                   "only files that these processes have mapped; 7@1234: the one that calls itself "
                   "7 in the pid namespace of process 1234")
        ->type_name("ID[,ID]");
    std::string first;
    std::string second;
    // CLI11 fills positionals from the left: a PATTERN alone arrives as the first.
    app.add_option("FILE", first, "a file to look into (default: all of every running program)")
        ->type_name("");
    app.add_option("PATTERN", second,
                   "with * and ?, what a whole line, a provider:name or a name must fit; also "
                   "without FILE")
        ->type_name("");
    app.add_flag("--json", command.json, "one line of JSON a probe");
    add_debuginfod(app, command.debuginfod);
    TR_ASSIGN(auto print, parse_words(app, std::move(words)));
    if (print) return *print;
    TR_TRY(take_ids(ids, command));
    for (const std::string& word : {first, second}) {
        if (!word.empty()) rest.push_back(word);
    }
    if (!rest.empty() && ids.empty() && (rest.size() == 2 || is_file(rest.front()))) {
        command.file = rest.front();
        rest.erase(rest.begin());
    }
    if (rest.size() > 1) {
        return fail(ErrorCode::usage, fmt::format("list: one pattern too many: {}", rest.back()),
                    "tracer list --pid ID [PATTERN], or tracer list FILE [PATTERN]");
    }
    if (!rest.empty()) command.pattern = rest.front();
    return command;
}

Result<Command> parse_explain(std::vector<std::string> words, std::vector<std::string> program) {
    ExplainCommand command;
    std::vector<std::string> ids;
    CLI::App app(std::string{kExplainHelp});
    set_up(app, "tracer explain");
    add_repeatable(app, "-e,--event", command.probes, "a probe, repeatable")->type_name("PROBE");
    add_repeatable(app, "-p,--pid", ids, "look in what these processes have mapped (also 7@1234)")
        ->type_name("ID[,ID]");
    app.add_flag("--json", command.json, "one line of JSON");
    add_debuginfod(app, command.debuginfod);
    TR_ASSIGN(auto print, parse_words(app, std::move(words)));
    if (print) return *print;
    TR_TRY(take_ids(ids, command));
    command.command = std::move(program);
    if (command.probes.empty()) {
        return fail(ErrorCode::usage, "explain: no probe to explain",
                    "tracer explain -e 'u:/usr/bin/app:main'");
    }
    if (!ids.empty() && !command.command.empty()) {
        return fail(ErrorCode::usage, "--pid and -- COMMAND exclude each other");
    }
    return command;
}

Result<Command> parse_doctor(std::vector<std::string> words) {
    DoctorCommand command;
    CLI::App app(std::string{kDoctorHelp});
    set_up(app, "tracer doctor");
    app.add_flag("--json", command.json, "one line of JSON a check");
    TR_ASSIGN(auto print, parse_words(app, std::move(words)));
    if (print) return *print;
    return command;
}

Result<Command> parse_convert(std::vector<std::string> words) {
    ConvertCommand command;
    CLI::App app(std::string{kConvertHelp});
    set_up(app, "tracer convert");
    std::string ocaml;
    app.add_option("input", command.input_path,
                   "what to read: a raw capture, or the rings of a process (PID.events)")
        ->type_name("IN")
        ->required();
    add_ocaml_option(app, ocaml);
    add_output(app, command.output_path,
               "file to write, replaced if it exists; - is standard output")
        ->type_name("FILE")
        ->required();
    app.add_option("--format", command.format_name,
                   "fxt, eventlog, json, txt or ndjson (default: by the suffix of FILE, fxt for -)")
        ->type_name("NAME");
    add_verbosity(app, command.verbosity);
    TR_ASSIGN(auto print, parse_words(app, std::move(words)));
    if (print) return *print;
    TR_ASSIGN(command.ocaml, take_ocaml_version(ocaml));
    return command;
}

}  // namespace

Result<Command> parse_command_line(std::span<const std::string> arguments) {
    const auto split = std::ranges::find(arguments, "--");
    std::vector<std::string> words(arguments.begin(), split);
    const bool has_split = split != arguments.end();
    std::vector<std::string> program(has_split ? split + 1 : split, arguments.end());
    const std::string first = words.empty() ? std::string() : words.front();
    if (first == "list" || first == "doctor" || first == "convert" || first == "packs" ||
        first == "pack" || first == "gc-stats" || first == "rings" || first == "ctl") {
        words.erase(words.begin());
        if (has_split) {
            return fail(ErrorCode::usage, fmt::format("{} starts no command", first),
                        "leave out \"--\"");
        }
        if (first == "list") return parse_list(std::move(words));
        if (first == "rings") return parse_rings(std::move(words));
        if (first == "ctl") return parse_ctl(std::move(words));
        if (first == "gc-stats") return parse_gc_stats(std::move(words));
        if (first == "doctor") return parse_doctor(std::move(words));
        if (first == "packs") return parse_packs(std::move(words));
        if (first == "pack") return parse_pack_author(std::move(words));
        return parse_convert(std::move(words));
    }
    if (first == "explain") {
        words.erase(words.begin());
        return parse_explain(std::move(words), std::move(program));
    }
    if (has_split && program.empty()) {
        return fail(ErrorCode::usage, "-- needs a command after it", "tracer -- COMMAND [ARGS]");
    }
    if (first == "tail" || first == "top") {
        words.erase(words.begin());
        return parse_shown(first == "tail", std::move(words), std::move(program));
    }
    return parse_record(std::move(words), std::move(program));
}

}  // namespace tracer
