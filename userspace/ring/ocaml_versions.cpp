// SPDX-License-Identifier: Apache-2.0
//
// The numbers of OCaml's phases and counters, as runtime/caml/runtime_events.h of each version has
// them. 5.0 and 5.1 are the same; 5.2 appended compaction; 5.3 inserted statmemprof's phases, which
// moved all above 8; 5.4 appended two, and 5.5 has those of 5.4. Used by cursors and by what shows
// their events.
#include "tracer/ring/ocaml_versions.h"

#include <array>
#include <charconv>

namespace tracer::ring {
namespace {

constexpr uint8_t kNone = 0xff;

struct Phase {
    std::string_view name;
    uint8_t of_5_1;
    uint8_t of_5_2;
    uint8_t of_5_3;
    uint8_t of_5_4;
};

// clang-format off
constexpr std::array<Phase, 50> kPhases{{
    {"explicit_gc_set", 0, 0, 0, 0},
    {"explicit_gc_stat", 1, 1, 1, 1},
    {"explicit_gc_minor", 2, 2, 2, 2},
    {"explicit_gc_major", 3, 3, 3, 3},
    {"explicit_gc_full_major", 4, 4, 4, 4},
    {"explicit_gc_compact", 5, 5, 5, 5},
    {"major", 6, 6, 6, 6},
    {"major_sweep", 7, 7, 7, 7},
    {"major_mark_roots", 8, 8, 8, 8},
    {"major_memprof_roots", kNone, kNone, 9, 9},
    {"major_mark", 9, 9, 10, 10},
    {"minor", 10, 10, 11, 11},
    {"minor_local_roots", 11, 11, 12, 12},
    {"minor_memprof_roots", kNone, kNone, 13, 13},
    {"minor_memprof_clean", kNone, kNone, 14, 14},
    {"minor_finalized", 12, 12, 15, 15},
    {"explicit_gc_major_slice", 13, 13, 16, 16},
    {"finalise_update_first", 14, 14, 17, 17},
    {"finalise_update_last", 15, 15, 18, 18},
    {"interrupt_remote", 16, 16, 19, 19},
    {"major_ephe_mark", 17, 17, 20, 20},
    {"major_ephe_sweep", 18, 18, 21, 21},
    {"major_finish_marking", 19, 19, 22, 22},
    {"major_gc_cycle_domains", 20, 20, 23, 23},
    {"major_gc_phase_change", 21, 21, 24, 24},
    {"major_gc_stw", 22, 22, 25, 25},
    {"major_mark_opportunistic", 23, 23, 26, 26},
    {"major_slice", 24, 24, 27, 27},
    {"major_finish_cycle", 25, 25, 28, 28},
    {"minor_clear", 26, 26, 29, 29},
    {"minor_finalizers_oldify", 27, 27, 30, 30},
    {"minor_global_roots", 28, 28, 31, 31},
    {"minor_leave_barrier", 29, 29, 32, 32},
    {"stw_api_barrier", 30, 30, 33, 33},
    {"stw_handler", 31, 31, 34, 34},
    {"stw_leader", 32, 32, 35, 35},
    {"major_finish_sweeping", 33, 33, 36, 36},
    {"major_memprof_clean", kNone, kNone, 37, 37},
    {"minor_finalizers_admin", 34, 34, 38, 38},
    {"minor_remembered_set", 35, 35, 39, 39},
    {"minor_remembered_set_promote", 36, 36, 40, 40},
    {"minor_local_roots_promote", 37, 37, 41, 41},
    {"domain_condition_wait", 38, 38, 42, 42},
    {"domain_resize_heap_reservation", 39, 39, 43, 43},
    {"compaction", kNone, 40, 44, 44},
    {"compaction_evacuate", kNone, 41, 45, 45},
    {"compaction_forward", kNone, 42, 46, 46},
    {"compaction_release", kNone, 43, 47, 47},
    {"empty_minor", kNone, kNone, kNone, 48},
    {"minor_ephe_clean", kNone, kNone, kNone, 49},
}};
// clang-format on

constexpr std::array<std::string_view, 28> kCounters{
    "force_minor_alloc_small",
    "force_minor_make_vect",
    "force_minor_set_minor_heap_size",
    "force_minor_memprof",
    "minor_promoted",
    "minor_allocated",
    "request_major_alloc_shr",
    "request_major_adjust_gc_speed",
    "request_minor_realloc_ref_table",
    "request_minor_realloc_ephe_ref_table",
    "request_minor_realloc_custom_table",
    "major_heap_pool_words",
    "major_heap_pool_live_words",
    "major_heap_large_words",
    "major_heap_pool_frag_words",
    "major_heap_pool_live_blocks",
    "major_heap_large_blocks",
    "major_heap_words",
    "major_allocated_words",
    "major_allocated_work",
    "major_dependent_work",
    "major_extra_work",
    "major_work_counter",
    "major_alloc_counter",
    "major_slice_target",
    "major_slice_budget",
    "minor_allocated_words",
    "minor_promoted_words",
};

constexpr std::array<std::string_view, 8> kLifecycles{
    "ring_start",  "ring_stop",  "ring_pause",   "ring_resume",
    "fork_parent", "fork_child", "domain_spawn", "domain_terminate"};

constexpr uint8_t id_in(const Phase& phase, uint8_t version) {
    switch (version) {
        case 0:
        case 1:
            return phase.of_5_1;
        case 2:
            return phase.of_5_2;
        case 3:
            return phase.of_5_3;
        default:
            return phase.of_5_4;
    }
}

std::string_view phase_name_in(uint8_t version, uint32_t id) {
    for (const Phase& phase : kPhases) {
        if (id_in(phase, version) == id && id != kNone) return phase.name;
    }
    return {};
}

}  // namespace

std::string_view phase_name(OcamlVersions versions, uint32_t id) {
    std::string_view name;
    for (uint8_t version = versions.oldest; version <= versions.newest; ++version) {
        const std::string_view other = phase_name_in(version, id);
        if (name.empty()) name = other;
        if (!other.empty() && other != name) return {};
    }
    return name;
}

std::string_view counter_name(uint32_t id) {
    return id < kCounters.size() ? kCounters[id] : std::string_view();
}

std::string_view lifecycle_name(uint32_t id) {
    return id < kLifecycles.size() ? kLifecycles[id] : std::string_view();
}

std::optional<OcamlVersions> parse_ocaml_version(std::string_view text) {
    if (!text.starts_with("5.")) return std::nullopt;
    text.remove_prefix(2);
    uint8_t minor = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), minor);
    const bool is_whole = end == text.data() + text.size() || *end == '.' || *end == '+';
    if (error != std::errc() || !is_whole || minor > OcamlVersions::kNewest) return std::nullopt;
    return OcamlVersions{minor, minor};
}

OcamlVersions versions_of_symbols(const std::function<bool(std::string_view)>& has_symbol) {
    // The first symbol of each version from 5.1 on, by their sources.
    constexpr std::array<std::string_view, 4> kSince{
        "caml_runtime_events_user_register", "caml_ml_runtime_events_are_active",
        "caml_ml_runtime_events_path", "caml_ml_gc_ramp_up"};
    // The instrumented runtimes of 4.12 to 4.14 have caml_ev_begin too.
    if (!has_symbol("caml_ev_begin") || has_symbol("caml_eventlog_init")) return {};
    uint8_t oldest = 0;
    while (oldest < kSince.size() && has_symbol(kSince[oldest])) ++oldest;
    return {oldest, oldest < kSince.size() ? oldest : OcamlVersions::kNewest};
}

std::string to_text(OcamlVersions versions) {
    if (versions.is_none() || versions == OcamlVersions()) return "unknown";
    std::string oldest = "5." + std::to_string(versions.oldest);
    if (versions.oldest == versions.newest) return oldest;
    return oldest + " to 5." + std::to_string(versions.newest);
}

}  // namespace tracer::ring
