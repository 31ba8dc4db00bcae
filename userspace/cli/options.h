// SPDX-License-Identifier: Apache-2.0
//
// What the parsers of all commands share. Private to them: it brings CLI11 along.
#pragma once

#include "cli/command_line.h"
#include "tracer/base/result.h"

#include <optional>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

namespace tracer {

inline constexpr const char* kProgramName = "tracer";

void set_up(CLI::App& app, const std::string& name);

// One value each time the option is named: `-e A -e B`, never `-e A B`.
CLI::Option* add_repeatable(CLI::App& app,
                            const std::string& names,
                            std::vector<std::string>& values,
                            const std::string& text);

// -o; the empty name of a variable that is not set is an error.
CLI::Option* add_output(CLI::App& app, std::string& path, const std::string& text);

CLI::Option* add_debuginfod(CLI::App& app, bool& value);

// --ocaml, and its text's meaning; empty: any.
CLI::Option* add_ocaml_option(CLI::App& app, std::string& text);
[[nodiscard]] Result<ring::OcamlVersions> take_ocaml_version(const std::string& text);

// Runs CLI11 over the words; its exceptions end here. A text to print, if that is all there is to
// do.
[[nodiscard]] Result<std::optional<PrintCommand>> parse_words(CLI::App& app,
                                                              std::vector<std::string> words);

// Texts of the options that say which packs are used.
struct PackTexts {
    bool off = false;
    std::vector<std::string> names;  // --packs
    std::optional<std::string> level;
    std::vector<std::string> files;  // --pack
};
void add_pack_options(CLI::App& app, PackTexts& texts);
[[nodiscard]] Result<PackOptions> take_pack_options(const PackTexts& texts);

// Texts of the options that spread the output over files, or keep it in memory.
struct LiveTexts {
    std::optional<std::string> rotate;
    std::optional<std::string> rotate_keep;
    bool zstd = false;
    std::optional<std::string> chunks;
    std::optional<std::string> chunk_memory;
    std::optional<std::string> keep;
    std::optional<std::string> keep_in;
    std::vector<std::string> when;
    std::optional<std::string> before;
    std::optional<std::string> after;
    std::optional<std::string> cooldown;
    std::optional<uint64_t> snapshots;
    std::optional<std::string> start_after;
    std::optional<std::string> start_at;
    std::vector<std::string> start_when;
    std::vector<std::string> stop_when;
};
void add_live_options(CLI::App& app, LiveTexts& texts);
// Behind --max-size, which limits both.
[[nodiscard]] Status take_live_options(const LiveTexts& texts, RecordCommand& command);

// Texts of the options of what is shown in the terminal instead of recorded.
struct WatchTexts {
    bool sched = false;
    bool json = false;
    bool begins = false;
    std::optional<std::string> time;
    std::optional<std::string> colour;
    std::optional<std::string> interval;
    std::optional<std::string> by;
    std::optional<std::string> sort;
    std::optional<uint64_t> rows;
    bool histogram = false;
};
void add_tail_options(CLI::App& app, WatchTexts& texts);
[[nodiscard]] Result<TailRequest> take_tail_options(const WatchTexts& texts);
void add_top_options(CLI::App& app, WatchTexts& texts);
[[nodiscard]] Result<TopRequest> take_top_options(const WatchTexts& texts);

// `tracer packs` and `tracer pack`; the words behind it.
[[nodiscard]] Result<Command> parse_packs(std::vector<std::string> words);
[[nodiscard]] Result<Command> parse_pack_author(std::vector<std::string> words);
[[nodiscard]] Result<Command> parse_rings(std::vector<std::string> words);
[[nodiscard]] Result<Command> parse_ctl(std::vector<std::string> words);
[[nodiscard]] Result<Command> parse_gc_stats(std::vector<std::string> words);

}  // namespace tracer
