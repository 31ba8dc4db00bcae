// SPDX-License-Identifier: Apache-2.0
//
// What the parsers of all commands share, over CLI11: its exceptions end here. Called by
// command_line.cpp and packs_options.cpp.
#include "cli/options.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

namespace tracer {
namespace {

// The first word that no option takes.
tl::unexpected<Error> unexpected_word(const CLI::App& app) {
    const std::vector<std::string> words = app.remaining();
    const std::string word = words.empty() ? std::string() : words.front();
    std::string hint = fmt::format("`{} --help` lists the options", app.get_name());
    if (!word.starts_with('-') && app.get_name() == kProgramName) {
        hint = fmt::format(
            "a program to start stands behind --: tracer -- {}; commands are list, explain, packs, "
            "pack, doctor, convert, ctl",
            word);
    }
    return fail(ErrorCode::usage, fmt::format("unexpected \"{}\"", word), hint);
}

}  // namespace

void set_up(CLI::App& app, const std::string& name) {
    app.name(name);
    app.get_formatter()->column_width(29);
    app.set_help_flag("-h,--help", "print this help and exit");
}

CLI::Option* add_repeatable(CLI::App& app,
                            const std::string& names,
                            std::vector<std::string>& values,
                            const std::string& text) {
    return app.add_option(names, values, text)->allow_extra_args(false);
}

CLI::Option* add_output(CLI::App& app, std::string& path, const std::string& text) {
    const auto refuse_empty = [](const std::string& value) {
        return value.empty() ? std::string("the name of the file is empty") : std::string();
    };
    return app.add_option("-o,--output", path, text)->check(refuse_empty);
}

CLI::Option* add_debuginfod(CLI::App& app, bool& value) {
    return app.add_flag(
        "--debuginfod", value,
        "names of stripped files also from the servers of DEBUGINFOD_URLS (default: "
        "only from debug files that are installed)");
}

Result<std::optional<PrintCommand>> parse_words(CLI::App& app, std::vector<std::string> words) {
    // CLI11 takes them last first.
    std::ranges::reverse(words);
    try {
        app.parse(std::move(words));
    } catch (const CLI::CallForHelp&) {
        return PrintCommand{app.help()};
    } catch (const CLI::CallForVersion& version) {
        return PrintCommand{fmt::format("{}\n", version.what())};
    } catch (const CLI::ExtrasError&) {
        return unexpected_word(app);
    } catch (const CLI::ParseError& error) {
        return fail(ErrorCode::usage, error.what(),
                    fmt::format("`{} --help` lists the options", app.get_name()));
    }
    return std::nullopt;
}

}  // namespace tracer
