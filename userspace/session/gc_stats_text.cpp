// SPDX-License-Identifier: Apache-2.0
//
// Statistics of garbage collection for people and as JSON. Called by `tracer gc-stats`.
#include "session/gc_stats.h"
#include "session/human.h"

#include <array>
#include <iterator>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace tracer {
namespace {

constexpr std::array<std::pair<const char*, double>, 6> kPercentiles{{
    {"p50", 0.50},
    {"p90", 0.90},
    {"p99", 0.99},
    {"p99.9", 0.999},
    {"p99.99", 0.9999},
    {"max", 1.0},
}};

double milliseconds(uint64_t ns) {
    return static_cast<double>(ns) / 1e6;
}

std::string name_of(const DomainGcStats& domain) {
    return domain.life == 1 ? fmt::format("{}", domain.domain)
                            : fmt::format("{} (life {})", domain.domain, domain.life);
}

nlohmann::ordered_json pauses_json(const std::vector<uint64_t>& pauses_ns) {
    nlohmann::ordered_json json{{"count", pauses_ns.size()}};
    for (const auto& [name, share] : kPercentiles) {
        json[fmt::format("{}_ns", name)] = percentile(pauses_ns, share);
    }
    return json;
}

}  // namespace

std::string gc_stats_text(const GcStats& stats) {
    std::string text;
    const auto out = std::back_inserter(text);
    if (stats.events_lost != 0) {
        fmt::format_to(out, "LOST {}{} events ({} words): the time of gaps is left out below\n",
                       stats.is_loss_exact ? "" : "about ", human_count(stats.events_lost),
                       human_count(stats.words_lost));
    }
    fmt::format_to(out, "OCaml {}, process {}\n\n", stats.ocaml, stats.pid);
    fmt::format_to(out, "{:<14}{:>12}{:>7}{:>12}{:>12}{:>8}{:>8}{:>13}{:>13}\n", "domain",
                   "observed ms", "gc %", "working ms", "waiting ms", "minor", "slices",
                   "allocated", "promoted");
    for (const DomainGcStats& domain : stats.domains) {
        fmt::format_to(out, "{:<14}{:>12.3f}{:>7.2f}{:>12.3f}{:>12.3f}{:>8}{:>8}{:>13}{:>13}\n",
                       name_of(domain), milliseconds(domain.observed_ns), domain.gc_share() * 100,
                       milliseconds(domain.working_ns()), milliseconds(domain.waiting_ns),
                       domain.minor_collections, domain.major_slices,
                       human_bytes(domain.allocated_bytes), human_bytes(domain.promoted_bytes));
    }
    fmt::format_to(out, "\n{:<14}{:>12}", "pauses, ms", "count");
    for (const auto& [name, share] : kPercentiles) fmt::format_to(out, "{:>10}", name);
    const auto add_row = [&](const std::string& title, const std::vector<uint64_t>& pauses_ns) {
        fmt::format_to(out, "\n{:<14}{:>12}", title, pauses_ns.size());
        for (const auto& [name, share] : kPercentiles) {
            fmt::format_to(out, "{:>10.3f}", milliseconds(percentile(pauses_ns, share)));
        }
    };
    for (const DomainGcStats& domain : stats.domains) add_row(name_of(domain), domain.pauses_ns);
    add_row("all", stats.pauses_ns);
    text += "\n";
    return text;
}

std::string gc_stats_json(const GcStats& stats) {
    nlohmann::ordered_json domains = nlohmann::ordered_json::array();
    for (const DomainGcStats& domain : stats.domains) {
        domains.push_back({{"domain", domain.domain},
                           {"life", domain.life},
                           {"observed_ns", domain.observed_ns},
                           {"gap_ns", domain.gap_ns},
                           {"gc_ns", domain.gc_ns},
                           {"working_ns", domain.working_ns()},
                           {"waiting_ns", domain.waiting_ns},
                           {"minor_collections", domain.minor_collections},
                           {"major_slices", domain.major_slices},
                           {"allocated_bytes", domain.allocated_bytes},
                           {"promoted_bytes", domain.promoted_bytes},
                           {"pauses", pauses_json(domain.pauses_ns)}});
    }
    const nlohmann::ordered_json json{{"ocaml", stats.ocaml},
                                      {"pid", stats.pid},
                                      {"lost",
                                       {{"events", stats.events_lost},
                                        {"words", stats.words_lost},
                                        {"exact", stats.is_loss_exact}}},
                                      {"domains", domains},
                                      {"pauses", pauses_json(stats.pauses_ns)}};
    return json.dump() + "\n";
}

}  // namespace tracer
