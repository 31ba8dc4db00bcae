// SPDX-License-Identifier: Apache-2.0
//
// What packs brought, for people and for programs. A machine may run one runtime from dozens of
// files (containers, virtual environments): those of which the same is to be said are one line.
// Called by the spellings of the summary, by the start of a recording and by `tracer packs`.
#include "session/summary_packs.h"

#include "session/human.h"

#include <algorithm>
#include <iterator>
#include <set>
#include <string>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace tracer {
namespace {

// More would push what was lost off the screen.
constexpr size_t kLinesMax = 12;

// Files by what is said of them, in the order of the first of each.
struct Group {
    std::string title;
    std::string body;
    std::vector<std::string> paths;
};

void add_to_groups(std::vector<Group>& groups, const PackedFile& file, std::string body) {
    const auto same = std::ranges::find_if(groups, [&](const Group& group) {
        return group.title == file.title() && group.body == body;
    });
    if (same != groups.end()) {
        same->paths.push_back(file.path);
    } else {
        groups.push_back({file.title(), std::move(body), {file.path}});
    }
}

std::string paths_text(const std::vector<std::string>& paths) {
    if (paths.size() == 1) return paths.front();
    return fmt::format("{} and {} more", paths.front(), human_count(paths.size() - 1));
}

bool is_asked_for(const PackedFile& file, const PackedProbe& probe) {
    return probe.level <= file.level;
}

std::string names_with(const PackedFile& file, PackedStatus status) {
    std::vector<std::string> names;
    for (const PackedProbe& probe : file.probes) {
        if (probe.status == status) names.push_back(probe.name);
    }
    return fmt::format("{}", fmt::join(names, ", "));
}

// "; more with --level more: a, b; with --level all: c"
std::string more_text(const PackedFile& file) {
    std::string text;
    for (const PackLevel level : {PackLevel::more, PackLevel::all}) {
        std::vector<std::string> names;
        for (const PackedProbe& probe : file.probes) {
            const bool is_off = probe.status == PackedStatus::off && probe.level == level;
            if (is_off) names.push_back(probe.name);
        }
        if (names.empty()) continue;
        fmt::format_to(std::back_inserter(text), "; {}with --level {}: {}",
                       text.empty() ? "more " : "", name_of(level), fmt::join(names, ", "));
    }
    return text;
}

// What could not be had, a line a reason: those of one reason are one cure.
std::string reasons_text(const PackedFile& file, bool verbose) {
    std::vector<std::pair<std::string, std::vector<std::string>>> by_reason;
    for (const PackedProbe& probe : file.probes) {
        const bool is_told = probe.status == PackedStatus::missing ||
                             probe.status == PackedStatus::refused ||
                             probe.status == PackedStatus::silent ||
                             (verbose && probe.status == PackedStatus::armed);
        if (!is_told || probe.reason.empty()) continue;
        if (!is_asked_for(file, probe) && !verbose) continue;
        const std::string reason = fmt::format(
            "{}: {}", probe.status == PackedStatus::armed ? "note" : name_of(probe.status),
            probe.reason);
        const auto same = std::ranges::find(
            by_reason, reason, [](const auto& row) -> const auto& { return row.first; });
        if (same != by_reason.end()) {
            same->second.push_back(probe.name);
        } else {
            by_reason.push_back({reason, {probe.name}});
        }
    }
    std::string text;
    for (const auto& [reason, names] : by_reason) {
        fmt::format_to(std::back_inserter(text), "  {} {}\n", fmt::join(names, ", "), reason);
    }
    return text;
}

std::string body_of(const PackedFile& file, bool verbose) {
    const std::string armed = names_with(file, PackedStatus::armed);
    return fmt::format("{}{}\n{}", armed.empty() ? "nothing armed" : armed, more_text(file),
                       reasons_text(file, verbose));
}

// Something was armed, or should have been.
bool is_worth_a_line(const PackedFile& file) {
    return std::ranges::any_of(file.probes, [&](const PackedProbe& probe) {
        return is_asked_for(file, probe) && probe.status != PackedStatus::off;
    });
}

}  // namespace

PackNames::PackNames(const std::vector<PackedFile>& files) {
    for (const PackedFile& file : files) {
        for (const PackedProbe& probe : file.probes) {
            if (probe.probe_id_count == 0) continue;
            by_first_id_[probe.first_probe_id] = {probe.probe_id_count,
                                                  fmt::format("{}/{}", file.pack, probe.name)};
        }
    }
}

std::string PackNames::name_of(uint32_t probe_id) const {
    auto behind = by_first_id_.upper_bound(probe_id);
    if (behind == by_first_id_.begin()) return {};
    const auto& [first, range] = *std::prev(behind);
    return probe_id - first < range.count ? range.name : std::string();
}

std::string pack_lines(const std::vector<PackedFile>& files, bool verbose) {
    std::vector<Group> groups;
    for (const PackedFile& file : files) {
        if (verbose || is_worth_a_line(file)) add_to_groups(groups, file, body_of(file, verbose));
    }
    const size_t told = verbose ? groups.size() : std::min(groups.size(), kLinesMax);
    std::string text;
    for (size_t i = 0; i < told; ++i) {
        fmt::format_to(std::back_inserter(text), "{} ({}): {}", groups[i].title,
                       paths_text(groups[i].paths), groups[i].body);
    }
    if (told < groups.size()) {
        fmt::format_to(std::back_inserter(text), "{} more recognised (-v lists all)\n",
                       human_count(groups.size() - told));
    }
    return text;
}

std::vector<std::string> recognised_lines(const std::vector<PackedFile>& files) {
    std::vector<Group> groups;
    for (const PackedFile& file : files) {
        if (!is_worth_a_line(file)) continue;
        std::string armed = names_with(file, PackedStatus::armed);
        if (armed.empty()) armed = "nothing armed, the summary says why";
        add_to_groups(groups, file, std::move(armed));
    }
    std::vector<std::string> lines;
    for (const Group& group : groups) {
        if (lines.size() == kLinesMax) {
            lines.push_back(
                fmt::format("{} more recognised", human_count(groups.size() - kLinesMax)));
            break;
        }
        lines.push_back(fmt::format("{} recognised in {}: {}", group.title, paths_text(group.paths),
                                    group.body));
    }
    // Once a pack, however many files it is in.
    std::set<std::string> warned;
    for (const PackedFile& file : files) {
        if (file.warning.empty() || !warned.insert(file.pack).second) continue;
        lines.push_back(
            fmt::format("warning: what {} costs at --level all: {}", file.pack, file.warning));
    }
    return lines;
}

nlohmann::ordered_json packed_file_json(const PackedFile& file) {
    using Json = nlohmann::ordered_json;
    Json probes = Json::array();
    for (const PackedProbe& probe : file.probes) {
        probes.push_back({{"name", probe.name},
                          {"level", name_of(probe.level)},
                          {"spec", probe.spec},
                          {"sites", probe.sites},
                          {"status", name_of(probe.status)},
                          {"reason", probe.reason}});
    }
    return {{"pack", file.pack},       {"runtime", file.runtime},
            {"version", file.version}, {"is_or_newer", file.is_or_newer},
            {"file", file.path},       {"probes", std::move(probes)}};
}

}  // namespace tracer
