// SPDX-License-Identifier: Apache-2.0
//
// From files and packs to probes that can be attached, and what became of each.
#pragma once

#include "packs/pack_catalog.h"
#include "packs/pack_match.h"
#include "packs/running_files.h"
#include "probe/attach_plan.h"
#include "probe/late_files.h"
#include "symbol/debug_file.h"
#include "tracer/base/result.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tracer {

// Which packs are used, and how much of each.
struct PackRequest {
    bool off = false;
    std::vector<std::string> names;  // empty: all that there are
    PackLevel level = PackLevel::standard;
};

enum class PackedStatus : uint8_t {
    armed,
    off,      // of a higher level than the one asked for
    missing,  // not in this file, or not in this version of the runtime
    refused,  // the file has it, but it cannot be probed; or the runtime is too old for its pack
    silent,   // armed, but no process was started with what makes it fire, or it was not raised
};
inline constexpr std::array<std::string_view, 5> kPackedStatusNames{"armed", "off", "missing",
                                                                    "refused", "silent"};
[[nodiscard]] constexpr std::string_view name_of(PackedStatus status) {
    return kPackedStatusNames[static_cast<size_t>(status)];
}

// What became of one of a pack's probes in one file.
struct PackedProbe {
    std::string name;
    PackLevel level = PackLevel::standard;
    PackedStatus status = PackedStatus::off;
    std::string spec;    // of its texts the one that is used, or would be; empty: none
    size_t sites = 0;    // 0: not looked up
    std::string reason;  // why not, with the cure where it is known; of an armed one: what to mind
    std::string replaced_by;  // the probe that says it too, and is armed in its place; empty: none
    // Of its programs in the plan: they follow each other.
    uint32_t first_probe_id = 0;
    uint32_t probe_id_count = 0;

    [[nodiscard]] bool is_armed() const {
        return status == PackedStatus::armed || status == PackedStatus::silent;
    }
};

// One pack in one file.
struct PackedFile {
    std::string pack;
    std::string runtime;
    std::string version;  // of the runtime; empty: not known
    // The newest that its symbols can tell, which newer ones have too.
    bool is_or_newer = false;
    std::string path;
    PackLevel level = PackLevel::standard;  // that was asked for
    std::string warning;                    // what that costs, where it is much; empty: it is not
    std::vector<PackedProbe> probes;

    [[nodiscard]] bool is_armed() const;
    // "python 3.11", "ocaml 5.4 or newer", or without a version "python"
    [[nodiscard]] std::string title() const;
};

// A process and what it should be called, by its pack.
struct ProcessTitle {
    uint32_t pid = 0;
    std::string name;
    bool operator==(const ProcessTitle&) const = default;
};

// A file, and the processes that run it.
struct PackSubject {
    const LateFile& file;
    bool is_executable = false;  // the program of one of them
    std::vector<uint32_t> pids;
    const ProcessStart* to_come = nullptr;  // of a program that is yet to be started; or null
    // All that the processes run which probes are put into; null: not known (CompileOptions).
    const TargetFiles* process_files = nullptr;
    // These processes, and no others, run the file in the recording, and the rings that they share
    // are read: what says the same is not armed where all have one.
    bool gives_way_to_rings = false;
};

struct PackPlannerOptions {
    PackRequest request;
    bool allow_nop5 = false;
    // Probes of higher levels are looked up too, whatever it costs; for those who only ask.
    bool looks_up_all = false;
    DebugFileSearch debug_files;
    std::string proc_root = "/proc";
};

// What a file gave: nothing when it fits no pack.
struct PackAddition {
    std::vector<PackedFile> files;  // one for each pack
    std::vector<ProcessTitle> titles;
    std::vector<std::string> warnings;
};

// Immutable: after it is made any thread may use it.
class PackPlanner {
public:
    // not_found for a pack of the request that does not exist, with the nearest as hint.
    [[nodiscard]] static Result<PackPlanner> make(PackCatalog catalog, PackPlannerOptions options);

    [[nodiscard]] const PackCatalog& catalog() const { return catalog_; }

    // Puts what the file's packs have for it behind `plan`, in which points go on behind `known`
    // (append_plan). Never an error: what cannot be armed is told in its row.
    [[nodiscard]] PackAddition add(const PackSubject& subject,
                                   AttachPlan& plan,
                                   std::span<const model::Point> known = {}) const;

    // What the processes of a file that was added before should be called. Reads their command
    // lines first, and the file only where one fits.
    [[nodiscard]] std::vector<ProcessTitle> titles(const PackSubject& subject) const;

    // Whether a pack asked for names processes by their command line.
    [[nodiscard]] bool has_titles() const;

    // Whether one of the probes of the packs asked for needs a gate (if, sample, rate).
    [[nodiscard]] bool has_gates() const;

private:
    PackPlanner(PackCatalog catalog, PackPlannerOptions options)
        : catalog_(std::move(catalog)), options_(std::move(options)) {}

    [[nodiscard]] bool is_asked_for(const Pack& pack) const;
    [[nodiscard]] std::vector<ProcessTitle> titles_by(const Pack& pack,
                                                      std::span<const uint32_t> pids) const;

    PackCatalog catalog_;
    PackPlannerOptions options_;
};

// The part of a command line that * stands for in the pack's process_title, up to the first of its
// ends; nullopt: it does not fit.
[[nodiscard]] std::optional<std::string> title_in(const Pack& pack, std::string_view command_line);

// "default", "more" or "all"; a usage error with the nearest as hint.
[[nodiscard]] Result<PackLevel> parse_pack_level(std::string_view text);

// The packs of "a,b"; a usage error for an empty name.
[[nodiscard]] Result<std::vector<std::string>> parse_pack_names(std::string_view text);

}  // namespace tracer
