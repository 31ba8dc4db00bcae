// SPDX-License-Identifier: Apache-2.0
//
// Options about packs: which are used when recording, and the words of `tracer packs` and
// `tracer pack`. Whether a pack exists is known only once they are read. Called by
// command_line.cpp.
#include "cli/help.h"
#include "cli/options.h"
#include "cli/units.h"
#include "packs/pack_file.h"
#include "probe/nearest.h"

#include <fmt/format.h>

namespace tracer {
namespace {

constexpr const char* kGroup = "Packs (runtimes and services that are recognised)";

void add_pack_file(CLI::App& app, PackTexts& texts) {
    add_repeatable(app, "--pack", texts.files,
                   "a pack of your own, instead of ours of the same name; repeatable (also read: "
                   "~/.config/tracer/packs/*.toml)")
        ->type_name("FILE")
        ->group(kGroup);
}

void add_level(CLI::App& app, PackTexts& texts, const std::string& text) {
    app.add_option("--level", texts.level, text)->type_name("LEVEL")->group(kGroup);
}

Status take_ids(const std::vector<std::string>& texts, std::vector<uint32_t>& ids) {
    for (const std::string& text : texts) {
        auto parsed = parse_ids(text);
        if (!parsed) return tl::unexpected(std::move(parsed).error().within("--pid"));
        ids.insert(ids.end(), parsed->begin(), parsed->end());
    }
    return {};
}

Result<Command> parse_pack_check(std::vector<std::string> words) {
    PackCheckCommand command;
    CLI::App app(std::string{kPackCheckHelp});
    set_up(app, "tracer pack check");
    app.add_option("files", command.files, "pack files")->type_name("FILE...")->required();
    app.add_flag("--json", command.json, "one line of JSON a problem");
    TR_ASSIGN(auto print, parse_words(app, std::move(words)));
    if (print) return *print;
    return command;
}

Result<Command> parse_pack_template(std::vector<std::string> words) {
    PackTemplateCommand command;
    CLI::App app(std::string{kPackTemplateHelp});
    set_up(app, "tracer pack template");
    app.add_option("name", command.name, "of the pack, and of its file before .toml")
        ->type_name("NAME")
        ->required();
    TR_ASSIGN(auto print, parse_words(app, std::move(words)));
    if (print) return *print;
    if (!is_pack_name(command.name)) {
        return fail(ErrorCode::usage, fmt::format("\"{}\" is no name for a pack", command.name),
                    "small letters, digits and hyphens, a letter first: redis, node-http");
    }
    return command;
}

}  // namespace

void add_pack_options(CLI::App& app, PackTexts& texts) {
    app.add_flag("--no-packs", texts.off, "none (default: every runtime that is recognised)")
        ->group(kGroup);
    add_repeatable(app, "--packs", texts.names,
                   "only these, by name; `tracer packs` lists them (default: all)")
        ->type_name("NAME[,NAME]")
        ->group(kGroup);
    add_level(app, texts,
              "how much of each: default, more or all (default: default, which costs at most some "
              "percent; `tracer packs NAME` says what the others cost)");
    add_pack_file(app, texts);
}

Result<PackOptions> take_pack_options(const PackTexts& texts) {
    PackOptions options;
    if (texts.off && (!texts.names.empty() || texts.level || !texts.files.empty())) {
        return fail(ErrorCode::usage, "--no-packs excludes --packs, --level and --pack",
                    "leave out --no-packs, or the others");
    }
    options.request.off = texts.off;
    options.files = texts.files;
    for (const std::string& text : texts.names) {
        auto names = parse_pack_names(text);
        if (!names) return tl::unexpected(std::move(names).error().within("--packs"));
        for (std::string& name : *names) options.request.names.push_back(std::move(name));
    }
    if (texts.level) {
        auto level = parse_pack_level(*texts.level);
        if (!level) return tl::unexpected(std::move(level).error().within("--level"));
        options.request.level = *level;
    }
    return options;
}

Result<Command> parse_packs(std::vector<std::string> words) {
    PacksCommand command;
    PackTexts texts;
    std::vector<std::string> ids;
    CLI::App app(std::string{kPacksHelp});
    set_up(app, "tracer packs");
    app.add_option("name", command.name, "of a pack (default: all, a line each)")
        ->type_name("[NAME]");
    add_repeatable(app, "-p,--pid", ids, "what the pack would do to these processes")
        ->type_name("ID[,ID]");
    add_level(app, texts, "with --pid: as for recording (default: default)");
    add_pack_file(app, texts);
    app.add_flag("--json", command.json, "one line of JSON");
    add_debuginfod(app, command.debuginfod);
    TR_ASSIGN(auto print, parse_words(app, std::move(words)));
    if (print) return *print;
    TR_TRY(take_ids(ids, command.ids));
    TR_ASSIGN(command.options, take_pack_options(texts));
    if (!command.ids.empty() && command.name.empty()) {
        return fail(ErrorCode::usage, "packs: --pid needs the name of a pack",
                    "tracer packs python --pid 1234; `tracer packs` lists the names");
    }
    if (texts.level && command.ids.empty()) {
        return fail(ErrorCode::usage, "packs: --level goes with --pid",
                    "tracer packs NAME shows every level and what it costs");
    }
    return command;
}

Result<Command> parse_pack_author(std::vector<std::string> words) {
    const std::string first = words.empty() ? std::string() : words.front();
    if (!words.empty()) words.erase(words.begin());
    if (first == "check") return parse_pack_check(std::move(words));
    if (first == "template") return parse_pack_template(std::move(words));
    if (first == "-h" || first == "--help") return PrintCommand{std::string{kPackAuthorHelp}};
    NearestNames nearest(first);
    nearest.offer("check");
    nearest.offer("template");
    std::string hint = nearest.hint();
    if (hint.empty()) hint = "tracer pack check FILE..., or tracer pack template NAME";
    return fail(ErrorCode::usage,
                first.empty() ? std::string("pack: what is to be done?")
                              : fmt::format("pack: unexpected \"{}\"", first),
                std::move(hint));
}

}  // namespace tracer
