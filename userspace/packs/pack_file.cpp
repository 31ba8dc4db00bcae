// SPDX-License-Identifier: Apache-2.0
//
// The reader of pack files: tables and words of README.md into a Pack, with every fault at its
// place. Reading goes on behind a fault, so that an author sees all of them. Called by the catalog
// and by `tracer pack check`.
#include "packs/pack_file.h"

#include "packs/pack_layout_reader.h"
#include "packs/pack_probe_reader.h"
#include "packs/pack_problems.h"
#include "packs/table_reader.h"
#include "packs/toml_document.h"
#include "probe/target_files.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <utility>
#include <variant>

#include <fmt/format.h>

namespace tracer {

namespace {

using Need = TableReader::Need;

constexpr size_t kNameBytesMax = 32;
constexpr size_t kMatchesMax = 64;
constexpr size_t kProbesMax = 256;
// Text in front of a version; less would find it anywhere.
constexpr size_t kVersionTextBytesMin = 2;
constexpr std::string_view kVersionPlace = "{}";
constexpr std::string_view kFileSuffix = ".toml";

// Nothing, or only what the file must not be.
bool asks_nothing(const TomlValue& match) {
    return std::all_of(match.entries.begin(), match.entries.end(),
                       [](const TomlEntry& entry) { return entry.key == "without_provider"; });
}

class PackReader {
public:
    PackReader(std::string_view text, std::string_view origin)
        : problems_(text, origin), text_(text) {
        pack_.origin = std::string(origin);
    }

    PackCheck run() {
        read();
        PackCheck check;
        if (!problems_.is_refused()) check.pack = std::move(pack_);
        check.problems = problems_.take();
        return check;
    }

private:
    void read() {
        if (text_.size() > kPackFileBytesMax) {
            problems_.refuse({kPackFileBytesMax, 0},
                             fmt::format("a pack of {} bytes is longer than the {} allowed",
                                         text_.size(), kPackFileBytesMax));
            return;
        }
        const auto parsed = parse_toml(text_);
        if (const auto* fault = std::get_if<TomlFault>(&parsed)) {
            problems_.refuse(fault->place, fault->message, "this is no TOML (toml.io)");
            return;
        }
        TableReader document(std::get<TomlValue>(parsed), "a pack", problems_);
        read_head(document);
        read_version(document);
        read_cost(document);
        read_code(document);
        read_layouts(document);
        read_matches(document);
        read_probes(document);
        document.refuse_others();
    }

    void read_head(TableReader& document) {
        if (document.value("pack") == nullptr) {
            problems_.refuse(document.place(), "no [pack]: the pack's name, and what it is of");
        }
        const auto* table = document.table_value("pack");
        if (table == nullptr) return;
        TableReader head(*table, "[pack]", problems_);
        read_name(head);
        for (const TomlValue* alias : head.text_values("aliases")) {
            if (check_name(*alias)) pack_.aliases.push_back(alias->text);
        }
        pack_.runtime = head.line("runtime", Need::required);
        pack_.about = head.line("about", Need::required);
        pack_.version = head.number("version", Need::required).value_or(1);
        pack_.versions = read_versions(head, problems_);
        if (const auto* title = head.text_value("process_title");
            title != nullptr && is_line(*title, problems_)) {
            const bool is_pattern = std::count(title->text.begin(), title->text.end(), '*') == 1 &&
                                    title->text.size() > 1;
            if (!is_pattern) {
                problems_.refuse(title->place, "expected one * with text beside it",
                                 "\"postgres: *\" names each process by what follows");
            }
            pack_.process_title = title->text;
        }
        for (const TomlValue* end : head.text_values("process_title_ends")) {
            if (!is_line(*end, problems_)) continue;
            if (pack_.process_title.empty()) {
                problems_.refuse(end->place, "an end of no title",
                                 "process_title says where the name is, and this where it ends");
            }
            pack_.process_title_ends.push_back(end->text);
        }
        pack_.own_log = head.line("own_log");
        pack_.own_log_has = head.line("own_log_has");
        head.refuse_others();
    }

    bool check_name(const TomlValue& name) {
        if (is_pack_name(name.text)) return true;
        problems_.refuse(name.place, fmt::format("expected small letters, digits and hyphens, a "
                                                 "letter first, at most {}",
                                                 kNameBytesMax));
        return false;
    }

    void read_name(TableReader& head) {
        const auto* name = head.text_value("name", Need::required);
        if (name == nullptr) return;
        pack_.name = name->text;
        if (!check_name(*name)) return;
        const auto file = base_name(pack_.origin);
        if (!file.ends_with(kFileSuffix)) return;
        const auto stem = file.substr(0, file.size() - kFileSuffix.size());
        if (stem != name->text) {
            problems_.refuse(
                name->place, "not the file's name",
                fmt::format("call it \"{}\", or the file {}{}", stem, name->text, kFileSuffix));
        }
    }

    void read_version(TableReader& document) {
        const auto* table = document.table_value("version");
        if (table == nullptr) return;
        TableReader version(*table, "[version]", problems_);
        const auto* path = version.text_value("path");
        const auto* text = version.text_value("text");
        pack_.version_section = version.line("section");
        const auto* symbols = version.table_value("symbols");
        if (path == nullptr && text == nullptr && symbols == nullptr) {
            problems_.refuse(table->place, "[version] needs `path`, `text` or `symbols`");
        }
        if (symbols != nullptr) read_version_symbols(*symbols);
        if (path != nullptr && check_version_pattern(*path)) pack_.version_path = path->text;
        if (text != nullptr && check_version_pattern(*text)) {
            if (text->text.find(kVersionPlace) < kVersionTextBytesMin) {
                problems_.refuse(text->place, "needs more text in front of {}",
                                 "it is searched for in all of the file's read-only data");
            }
            pack_.version_text = text->text;
        }
        if (!pack_.version_section.empty() && text == nullptr) {
            problems_.refuse(version.value("section")->place, "`section` is for `text`");
        }
        version.refuse_others();
    }

    // "5.1" = "caml_runtime_events_user_register"
    void read_version_symbols(const TomlValue& table) {
        for (const TomlEntry& entry : table.entries) {
            if (!is_version(entry.key) || entry.value.kind != TomlValue::Kind::text) {
                problems_.refuse(entry.key_place,
                                 "expected a version in quotes, and the name of a symbol",
                                 "\"5.1\" = \"caml_runtime_events_user_register\"");
            } else if (is_line(entry.value, problems_)) {
                pack_.version_symbols.push_back({entry.key, entry.value.text});
            }
        }
        std::ranges::sort(pack_.version_symbols, [](const auto& one, const auto& other) {
            return VersionRange{other.version, {}}.place_of(one.version) ==
                   VersionRange::Place::below;
        });
    }

    bool check_version_pattern(const TomlValue& value) {
        if (!is_line(value, problems_)) return false;
        const size_t at = value.text.find(kVersionPlace);
        if (at != value.text.npos && value.text.find(kVersionPlace, at + 1) == value.text.npos) {
            return true;
        }
        problems_.refuse(value.place, "expected one {}, which stands for the version",
                         "for example \"python{}\"");
        return false;
    }

    void read_cost(TableReader& document) {
        const auto* table = document.table_value("cost");
        if (table == nullptr) return;
        TableReader cost(*table, "[cost]", problems_);
        for (size_t level = 0; level < kPackLevels; ++level) {
            pack_.cost[level] = cost.line(kPackLevelNames[level]);
        }
        cost.refuse_others();
    }

    // All [[word]], of which there must be at least one.
    std::vector<const TomlValue*> take_tables(TableReader& document,
                                              std::string_view word,
                                              size_t max,
                                              std::string_view purpose) {
        const auto* value = document.value(word);
        auto tables = document.tables(word);
        const bool is_other_kind = value != nullptr && value->kind != TomlValue::Kind::array;
        if (!is_other_kind && (value == nullptr || value->items.empty())) {
            problems_.refuse(document.place(), fmt::format("no [[{}]]: {}", word, purpose));
        }
        if (tables.size() > max) {
            problems_.refuse(tables[max]->place, fmt::format("more than {} [[{}]]", max, word));
            tables.resize(max);
        }
        return tables;
    }

    void read_code(TableReader& document) {
        for (const auto* table : document.tables("code")) {
            pack_.code.push_back(read_pack_code(*table, problems_));
        }
    }

    void read_layouts(TableReader& document) {
        for (const auto* table : document.tables("layout")) {
            auto layout = read_pack_layout(*table, problems_);
            const auto is_known = std::ranges::find(pack_.layouts, layout.name, &PackLayout::name);
            if (is_known != pack_.layouts.end()) {
                problems_.refuse(table->place, "a second layout of this name");
            }
            pack_.layouts.push_back(std::move(layout));
        }
    }

    void read_matches(TableReader& document) {
        const auto tables =
            take_tables(document, "match", kMatchesMax, "which files the pack is for");
        for (const auto* table : tables) pack_.matches.push_back(read_match(*table));
    }

    PackMatch read_match(const TomlValue& table) {
        TableReader reader(table, "[[match]]", problems_);
        PackMatch match;
        match.provider = read_pattern(reader, "provider");
        match.soname = read_pattern(reader, "soname");
        // With code it may be any program.
        match.executable = reader.value("code") != nullptr ? reader.line("executable")
                                                           : read_pattern(reader, "executable");
        match.symbol = read_pattern(reader, "symbol");
        match.without_provider = read_pattern(reader, "without_provider");
        match.section = reader.line("section");
        match.build_id = reader.line("build_id");
        match.code = reader.line("code");
        if (!match.code.empty() &&
            std::ranges::find(pack_.code, match.code, &PackCode::name) == pack_.code.end()) {
            problems_.refuse(reader.value("code")->place, "there is no [[code]] of this name");
        }
        constexpr std::string_view kHex = "0123456789abcdef";
        if (match.build_id.find_first_not_of(kHex) != std::string::npos) {
            problems_.refuse(reader.value("build_id")->place,
                             "expected hexadecimal digits, small letters", "as `file` prints it");
        }
        reader.refuse_others();
        if (asks_nothing(table)) {
            problems_.refuse(table.place, "a [[match]] that nearly every file fits",
                             "say what the file is: provider, soname, executable, section, "
                             "symbol, code or build_id");
        }
        return match;
    }

    // A name that may hold * and ?, but not these alone.
    std::string read_pattern(TableReader& reader, std::string_view word) {
        const auto* value = reader.text_value(word);
        if (value == nullptr || !is_line(*value, problems_)) return {};
        if (value->text.find_first_not_of("*?") == std::string::npos) {
            problems_.refuse(value->place, "a pattern that anything fits");
        }
        const bool is_file = word == "soname" || word == "executable";
        if (is_file && value->text.find('/') != std::string::npos) {
            problems_.refuse(value->place, "expected a file's name without its folder");
        }
        return value->text;
    }

    void read_probes(TableReader& document) {
        const auto tables = take_tables(document, "probe", kProbesMax, "what is to be recorded");
        std::array<bool, kPackLevels> has_level{};
        for (const auto* table : tables) {
            auto probes = read_probe(*table);
            if (probes.empty()) continue;
            if (std::ranges::any_of(probes, [&](const PackProbe& one) { return has_rival(one); })) {
                problems_.refuse(table->place, "a second probe of this name",
                                 "probes may share a name if no version is in both `versions`");
            }
            const auto& more = probes.front().unless;
            if (!more.empty() && !is_known_probe(more)) {
                problems_.refuse(
                    table->place,
                    fmt::format("unless \"{}\": no probe before it is called so", more));
            }
            const auto level = static_cast<size_t>(probes.front().level);
            if (!std::exchange(has_level[level], true) && pack_.cost[level].empty()) {
                problems_.warn(table->place,
                               fmt::format("[cost] has no `{}`: the first probe of that level",
                                           kPackLevelNames[level]),
                               "measure a workload with and without it, and say in a line what "
                               "it costs");
            }
            std::ranges::move(probes, std::back_inserter(pack_.probes));
        }
    }

    // One for each layout, if its texts have words of layouts.
    std::vector<PackProbe> read_probe(const TomlValue& table) {
        std::vector<PackProbe> probes;
        if (!asks_for_layout(table)) {
            probes.push_back(read_pack_probe(table, problems_));
            return probes;
        }
        if (pack_.layouts.empty()) {
            problems_.refuse(table.place,
                             "$ stands before a layout's word, and there is no [[layout]]");
        }
        for (const PackLayout& layout : pack_.layouts) {
            probes.push_back(read_pack_probe(with_layout(table, layout, problems_), problems_));
            probes.back().layout = layout.name;
        }
        return probes;
    }

    [[nodiscard]] bool is_known_probe(std::string_view name) const {
        return std::ranges::any_of(pack_.probes,
                                   [&](const PackProbe& known) { return known.name == name; });
    }

    // Another of its name for the same versions.
    [[nodiscard]] bool has_rival(const PackProbe& probe) const {
        return !probe.name.empty() &&
               std::ranges::any_of(pack_.probes, [&](const PackProbe& other) {
                   return other.name == probe.name && other.layout == probe.layout &&
                          other.versions.overlaps(probe.versions);
               });
    }

    PackProblems problems_;
    std::string_view text_;
    Pack pack_;
};

}  // namespace

PackCheck check_pack(std::string_view toml, std::string_view origin) {
    return PackReader(toml, origin).run();
}

Result<Pack> parse_pack(std::string_view toml, std::string_view origin) {
    auto check = check_pack(toml, origin);
    if (check.pack) return std::move(*check.pack);
    for (auto& problem : check.problems) {
        if (!problem.is_warning) return tl::unexpected(std::move(problem.error));
    }
    return fail(ErrorCode::internal, fmt::format("{}: a pack refused without a reason", origin));
}

bool is_pack_name(std::string_view name) {
    constexpr std::string_view kLetters = "abcdefghijklmnopqrstuvwxyz";
    constexpr std::string_view kAllowed = "abcdefghijklmnopqrstuvwxyz0123456789-";
    return !name.empty() && name.size() <= kNameBytesMax &&
           kLetters.find(name[0]) != kLetters.npos && name.find_first_not_of(kAllowed) == name.npos;
}

}  // namespace tracer
