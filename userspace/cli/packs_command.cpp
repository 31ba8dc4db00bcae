// SPDX-License-Identifier: Apache-2.0
//
// `tracer packs`: the packs that there are, what is in one, and what one would do to processes,
// without attaching anything. Needs no root for processes of one's own.
#include "cli/commands.h"
#include "cli/pack_preparation.h"
#include "cli/print.h"
#include "probe/kernel_recorder.h"
#include "session/human.h"
#include "session/summary_packs.h"
#include "session/targets.h"
#include "symbol/process_maps.h"

#include <algorithm>
#include <cstdio>
#include <iterator>
#include <unistd.h>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace tracer {
namespace {

using Json = nlohmann::ordered_json;

void print(const std::string& text) {
    put_text(stdout, text);
}

void print_json(const Json& json) {
    print(json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n");
}

std::string versions_text(const VersionRange& versions) {
    return versions.is_open() ? "any version" : versions.text();
}

Json json_of(const PackMatch& match) {
    Json json = Json::object();
    const auto add = [&](const char* key, const std::string& value) {
        if (!value.empty()) json[key] = value;
    };
    add("provider", match.provider);
    add("soname", match.soname);
    add("executable", match.executable);
    add("symbol", match.symbol);
    add("without_provider", match.without_provider);
    add("section", match.section);
    add("code", match.code);
    add("build_id", match.build_id);
    return json;
}

// "USDT probes of provider python", "soname libjvm.so*, symbol JVM_GC"
std::string text_of(const PackMatch& match) {
    std::vector<std::string> parts;
    const Json rules = json_of(match);
    for (const auto& [key, value] : rules.items()) {
        parts.push_back(fmt::format("{} {}", key, value.get<std::string>()));
    }
    return fmt::format("{}", fmt::join(parts, ", "));
}

Json json_of(const PackProbe& probe) {
    Json texts = Json::array();
    for (const EventSpec& event : probe.events) texts.push_back(event.text);
    return {{"name", probe.name},
            {"about", probe.about},
            {"level", name_of(probe.level)},
            {"stability", name_of(probe.stability)},
            {"texts", std::move(texts)},
            {"versions", probe.versions.text()},
            {"layout", probe.layout},
            {"requires_argument", probe.requires_argument},
            {"requires_environment", probe.requires_environment},
            {"without", probe.without}};
}

Json head_json(const Pack& pack) {
    return {{"name", pack.name},   {"runtime", pack.runtime}, {"versions", pack.versions.text()},
            {"about", pack.about}, {"version", pack.version}, {"origin", pack.origin}};
}

void print_list(const PackCatalog& catalog, bool json) {
    if (json) {
        Json packs = Json::array();
        for (const Pack& pack : catalog.packs()) packs.push_back(head_json(pack));
        print_json(packs);
        return;
    }
    constexpr std::string_view kRow = "{:<{}}  {:<{}}  {:<{}}  {}\n";
    size_t name = std::string_view("pack").size();
    size_t runtime = std::string_view("runtime").size();
    size_t versions = std::string_view("versions").size();
    for (const Pack& pack : catalog.packs()) {
        name = std::max(name, pack.name.size());
        runtime = std::max(runtime, pack.runtime.size());
        versions = std::max(versions, versions_text(pack.versions).size());
    }
    print(fmt::format(kRow, "pack", name, "runtime", runtime, "versions", versions, "records"));
    for (const Pack& pack : catalog.packs()) {
        print(fmt::format(kRow, pack.name, name, pack.runtime, runtime,
                          versions_text(pack.versions), versions, pack.about));
    }
}

std::string demands_text(const PackProbe& probe) {
    std::vector<std::string> wanted = probe.requires_argument;
    wanted.insert(wanted.end(), probe.requires_environment.begin(),
                  probe.requires_environment.end());
    return fmt::format("{}", fmt::join(wanted, " or "));
}

void print_probe(const PackProbe& probe, size_t name_width) {
    const std::string indent(name_width + 4, ' ');
    std::string about = probe.about;
    if (!probe.versions.is_open()) {
        about += fmt::format("{}{}", about.empty() ? "" : "; ", probe.versions.text());
    }
    if (!probe.layout.empty()) {
        about += fmt::format("{}{}", about.empty() ? "" : "; ", probe.layout);
    }
    print(fmt::format("  {:<{}}  {:<8}  {}\n", probe.name, name_width, name_of(probe.stability),
                      about));
    for (size_t i = 0; i < probe.events.size(); ++i) {
        print(fmt::format("{}{}{}\n", indent, i == 0 ? "" : "or  ", probe.events[i].text));
    }
    if (const std::string wanted = demands_text(probe); !wanted.empty()) {
        print(fmt::format("{}needs {}\n", indent, wanted));
    }
}

void print_pack(const Pack& pack) {
    print(fmt::format("{}: {}, {} (pack version {}, {})\n{}\n", pack.name, pack.runtime,
                      versions_text(pack.versions), pack.version, pack.origin, pack.about));
    if (!pack.aliases.empty()) {
        print(fmt::format("also asked for as {}\n", fmt::join(pack.aliases, ", ")));
    }
    for (const PackMatch& match : pack.matches) {
        print(fmt::format("recognised by {}\n", text_of(match)));
    }
    size_t name_width = 0;
    for (const PackProbe& probe : pack.probes) {
        name_width = std::max(name_width, probe.name.size());
    }
    for (size_t level = 0; level < kPackLevels; ++level) {
        const auto is_of_level = [&](const PackProbe& probe) {
            return probe.level == static_cast<PackLevel>(level);
        };
        if (std::ranges::none_of(pack.probes, is_of_level)) continue;
        print(fmt::format("\nlevel {}; cost: {}\n", kPackLevelNames[level],
                          pack.cost[level].empty() ? "not measured" : pack.cost[level]));
        for (const PackProbe& probe : pack.probes) {
            if (is_of_level(probe)) print_probe(probe, name_width);
        }
    }
}

void print_pack_json(const Pack& pack) {
    Json json = head_json(pack);
    Json cost = Json::object();
    for (size_t i = 0; i < kPackLevels; ++i) {
        cost[std::string(kPackLevelNames[i])] = pack.cost[i];
    }
    Json matches = Json::array();
    for (const PackMatch& match : pack.matches) matches.push_back(json_of(match));
    Json probes = Json::array();
    for (const PackProbe& probe : pack.probes) probes.push_back(json_of(probe));
    json["aliases"] = pack.aliases;
    json["process_title"] = pack.process_title;
    json["process_title_ends"] = pack.process_title_ends;
    json["cost"] = std::move(cost);
    json["matches"] = std::move(matches);
    json["probes"] = std::move(probes);
    print_json(json);
}

void print_outcome(const PackedFile& file) {
    print(fmt::format("{} ({})\n", file.title(), file.path));
    size_t name_width = 0;
    for (const PackedProbe& probe : file.probes) {
        name_width = std::max(name_width, probe.name.size());
    }
    for (const PackedProbe& probe : file.probes) {
        std::string text{name_of(probe.status)};
        if (probe.status == PackedStatus::armed) text = "would be armed";
        if (probe.status == PackedStatus::silent) text = "would be armed, but silent";
        if (probe.sites > 0) {
            fmt::format_to(std::back_inserter(text), ", {} site{}", probe.sites,
                           probe.sites == 1 ? "" : "s");
        }
        if (!probe.reason.empty()) text += ": " + probe.reason;
        print(fmt::format("  {:<{}}  {:<7}  {}\n", probe.name, name_width, name_of(probe.level),
                          text));
        if (!probe.spec.empty()) {
            print(fmt::format("  {:<{}}           {}\n", "", name_width, probe.spec));
        }
    }
}

// Of several processes one that may not be looked into is an error too: it would be missing from
// the answer.
Status check_readable(const std::vector<uint32_t>& pids) {
    for (const uint32_t pid : pids) {
        auto maps = read_process_maps(static_cast<pid_t>(pid));
        if (maps) continue;
        Error error = std::move(maps).error();
        if (error.code == ErrorCode::permission && error.hint.empty()) {
            error.hint = "sudo tracer packs ... : it belongs to another user";
        }
        return tl::unexpected(std::move(error));
    }
    return {};
}

Status print_outcomes(const PacksCommand& command, const Pack& pack, PackCatalog catalog) {
    TR_ASSIGN(const auto targets, resolve_targets({.ids = command.ids,
                                                   .namespaced_ids = {},
                                                   .own_pid = static_cast<uint32_t>(getpid())}));
    TR_TRY(check_readable(targets.processes()));
    PackPlannerOptions options;
    options.request = command.options.request;
    options.request.names = {pack.name};
    options.looks_up_all = true;
    options.debug_files.use_debuginfod = command.debuginfod;
    std::vector<std::string> rules;
    for (const PackMatch& match : pack.matches) rules.push_back(text_of(match));
    TR_ASSIGN(const auto planner, PackPlanner::make(std::move(catalog), std::move(options)));
    AttachPlan plan;
    PackStartRequest request;
    request.pids = targets.processes();
    request.are_all = request.pids.size() <= kOwnLinksMax;
    request.are_rings_read = true;
    const PackStart start = plan_packs(planner, request, plan);
    if (start.found.files.empty()) {
        return fail(ErrorCode::not_found,
                    fmt::format("none of the {} files that run there fits the pack {}",
                                human_count(start.files_looked_at), command.name),
                    fmt::format("it is recognised by {}", fmt::join(rules, "; or ")));
    }
    if (command.json) {
        Json files = Json::array();
        for (const PackedFile& file : start.found.files) files.push_back(packed_file_json(file));
        print_json(files);
        return {};
    }
    for (const PackedFile& file : start.found.files) print_outcome(file);
    for (const ProcessTitle& title : start.found.titles) {
        print(fmt::format("process {} would be named \"{}\"\n", title.pid, title.name));
    }
    for (const std::string& warning : start.found.warnings) {
        put_text(stderr, fmt::format("tracer: warning: {}\n", warning));
    }
    return {};
}

}  // namespace

Result<int> run_packs(const PacksCommand& command) {
    TR_ASSIGN(auto catalog, load_packs(command.options));
    for (const std::string& line : catalog_lines(catalog, true)) {
        put_text(stderr, fmt::format("tracer: {}\n", line));
    }
    if (command.name.empty()) {
        print_list(catalog, command.json);
    } else {
        TR_ASSIGN(const Pack* pack, catalog.find_named(command.name));
        if (!command.ids.empty()) {
            TR_TRY(print_outcomes(command, *pack, std::move(catalog)));
        } else if (command.json) {
            print_pack_json(*pack);
        } else {
            print_pack(*pack);
        }
    }
    TR_TRY(finish_standard_output());
    return 0;
}

}  // namespace tracer
