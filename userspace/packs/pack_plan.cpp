// SPDX-License-Identifier: Apache-2.0
//
// Each probe of each pack that a file fits is compiled alone, like those of files that come late:
// one that fails costs no other, and two of them, or one and the user's own, may be on one place.
// Called for the files that run when a recording begins, by the session for those that come later,
// and by `tracer packs NAME --pid N`.
#include "packs/pack_plan.h"

#include "packs/file_search.h"
#include "probe/nearest.h"
#include "probe/probe_compiler.h"
#include "probe/probe_files.h"
#include "probe/probe_spec.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include <fmt/format.h>

namespace tracer {
namespace {

constexpr std::string_view kMatchedFile = ":@:";

// The text with the file's path where it says "@", outside of quotes.
std::string in_file(std::string_view text, std::string_view path) {
    std::string result;
    bool is_quoted = false;
    for (size_t i = 0; i < text.size(); ++i) {
        if (!is_quoted && text.substr(i).starts_with(kMatchedFile)) {
            result += ':' + quote_probe_part(path) + ':';
            i += kMatchedFile.size() - 1;
            continue;
        }
        const bool is_escaped = is_quoted && text[i] == '\\' && i + 1 < text.size();
        if (is_escaped) result += text[i++];
        if (!is_escaped && text[i] == '"') is_quoted = !is_quoted;
        result += text[i];
    }
    return result;
}

bool is_of_notes(const EventSpec& event) {
    const auto is_usdt = [](const ProbeSpec& spec) { return spec.kind == ProbeKind::usdt; };
    return event.all(is_usdt);
}

size_t site_count(const AttachPlan& plan) {
    size_t sites = 0;
    for (const AttachFile& file : plan.files) sites += file.sites.size();
    return sites;
}

std::string first_line(const std::string& text) {
    return text.substr(0, text.find('\n'));
}

// A word among those of a variable that holds several, as JAVA_TOOL_OPTIONS does.
bool has_word(std::string_view value, std::string_view word) {
    constexpr std::string_view kSpaces = " \t\n";
    for (size_t at = value.find(word); at != std::string_view::npos;
         at = value.find(word, at + 1)) {
        const size_t end = at + word.size();
        const bool begins = at == 0 || kSpaces.find(value[at - 1]) != std::string_view::npos;
        const bool ends = end == value.size() || kSpaces.find(value[end]) != std::string_view::npos;
        if (begins && ends) return true;
    }
    return false;
}

bool was_given_argument(const ProcessStart& start, const std::string& argument) {
    if (std::ranges::find(start.arguments, argument) != start.arguments.end()) return true;
    return std::ranges::any_of(start.environment, [&](std::string_view variable) {
        const size_t sign = variable.find('=');
        return sign != std::string_view::npos && has_word(variable.substr(sign + 1), argument);
    });
}

bool was_given_variable(const ProcessStart& start, const std::string& variable) {
    return std::ranges::find(start.environment, variable) != start.environment.end();
}

// Any one of what the probe asks for is enough, of either kind.
bool can_fire(const PackProbe& probe, const ProcessStart& start) {
    return std::ranges::any_of(
               probe.requires_argument,
               [&](const std::string& text) { return was_given_argument(start, text); }) ||
           std::ranges::any_of(probe.requires_environment, [&](const std::string& text) {
               return was_given_variable(start, text);
           });
}

bool is_demanding(const PackProbe& probe) {
    return !probe.requires_argument.empty() || !probe.requires_environment.empty();
}

std::string demand_text(const PackProbe& probe) {
    std::vector<std::string> wanted = probe.requires_argument;
    for (const std::string& variable : probe.requires_environment) {
        wanted.push_back("the variable " + variable);
    }
    return fmt::format("fires only in processes started with {}", fmt::join(wanted, " or "));
}

// Symbols stay: those of the newest version that is known say nothing of one above it.
bool is_newest_of_symbols(const Pack& pack, const std::string& version) {
    return !pack.version_symbols.empty() && pack.version_symbols.back().version == version;
}

// One pack in one file.
class FileOfPack {
public:
    FileOfPack(const PackFit& fit,
               const PackSubject& subject,
               const PackPlannerOptions& options,
               ProbeFiles& opened)
        : pack_(*fit.pack),
          version_(fit.version),
          subject_(subject),
          options_(options),
          opened_(opened),
          targets_(TargetFiles::of_file(subject.file.file, subject.file.root)) {
        if (const auto file = opened_.open(subject.file.file)) look_into(**file);
    }

    PackedFile add_to(AttachPlan& plan, std::span<const model::Point> known);
    [[nodiscard]] std::vector<std::string> take_warnings() { return std::move(warnings_); }

private:
    // What one text came to.
    struct Attempt {
        std::string spec;
        AttachPlan plan;
        bool is_there = false;
        bool is_refused = false;  // it is in the file, and something else is wrong
        std::string reason;
    };

    // Which layout it is of, and the names of code that no symbol gives.
    void look_into(ProbeFile& file);
    [[nodiscard]] bool is_for_this(const PackProbe& probe) const {
        return probe.versions.contains(version_) &&
               (probe.layout.empty() || probe.layout == layout_);
    }
    // Of its name there is one for the version and the layout at hand, or one said so already.
    [[nodiscard]] bool is_told_by_another(const PackProbe& probe) const;
    [[nodiscard]] std::string unknown_layout() const;
    [[nodiscard]] PackedProbe row_of(const PackProbe& probe, std::optional<AttachPlan>& chosen);
    [[nodiscard]] Attempt attempt(const EventSpec& event);
    void look_up(const PackProbe& probe, PackedProbe& row, std::optional<AttachPlan>& chosen);
    void check_demand(const PackProbe& probe, PackedProbe& row);
    void give_way_to_rings(const PackProbe& probe,
                           PackedProbe& row,
                           std::optional<AttachPlan>& chosen);
    [[nodiscard]] const std::vector<ProcessStart>& starts();
    void tell_own_logs();

    const Pack& pack_;
    const std::string& version_;
    const PackSubject& subject_;
    const PackPlannerOptions& options_;
    ProbeFiles& opened_;
    TargetFiles targets_;
    std::string layout_;  // empty: none that is known
    std::optional<std::vector<ProcessStart>> starts_;
    std::optional<bool> has_rings_;  // all that run the file; asked once
    std::vector<std::string> warnings_;
};

PackedFile FileOfPack::add_to(AttachPlan& plan, std::span<const model::Point> known) {
    PackedFile file{.pack = pack_.name,
                    .runtime = pack_.runtime,
                    .version = version_,
                    .is_or_newer = is_newest_of_symbols(pack_, version_),
                    .path = subject_.file.file.shown_path,
                    .level = options_.request.level,
                    .warning = {},
                    .probes = {}};
    for (const PackProbe& probe : pack_.probes) {
        if (is_told_by_another(probe)) continue;
        std::optional<AttachPlan> chosen;
        PackedProbe row = row_of(probe, chosen);
        const auto more = std::ranges::find(file.probes, probe.unless, &PackedProbe::name);
        if (chosen && more != file.probes.end() && more->is_armed()) {
            chosen.reset();
            row.status = PackedStatus::off;
            row.reason = fmt::format("{} says it too", probe.unless);
            row.replaced_by = probe.unless;
        }
        if (chosen) {
            row.first_probe_id = plan.first_probe_id + static_cast<uint32_t>(plan.programs.size());
            row.probe_id_count = static_cast<uint32_t>(chosen->programs.size());
            // Told in the rows, which the user did not ask for one by one.
            chosen->warnings.clear();
            append_plan(plan, std::move(*chosen), known);
        }
        file.probes.push_back(std::move(row));
    }
    if (file.is_armed()) tell_own_logs();
    const bool is_dear = std::ranges::any_of(file.probes, [](const PackedProbe& probe) {
        return probe.is_armed() && probe.level == PackLevel::all;
    });
    if (is_dear) file.warning = pack_.cost[static_cast<size_t>(PackLevel::all)];
    if (file.is_armed() && pack_.versions.place_of(version_) == VersionRange::Place::above) {
        warnings_.push_back(fmt::format(
            "{} in {} is newer than the pack {} was made for ({}): what its probes mean may have "
            "changed",
            file.title(), file.path, pack_.name, pack_.versions.text()));
    }
    return file;
}

void FileOfPack::look_into(ProbeFile& file) {
    for (const PackCode& code : pack_.code) {
        const auto address = find_code(file.elf(), code.bytes);
        if (!address) continue;
        file.name_place(code.name, *address);
        for (const auto& inside : code.inside) {
            file.name_place(inside.name, *address + inside.offset);
        }
    }
    // Of a version that is not known nothing is guessed.
    if (version_.empty()) return;
    const auto layout = std::ranges::find_if(pack_.layouts, [&](const PackLayout& known) {
        return known.versions.contains(version_) &&
               (known.text.empty() || holds_text(file.elf(), known.text));
    });
    if (layout != pack_.layouts.end()) layout_ = layout->name;
}

bool FileOfPack::is_told_by_another(const PackProbe& probe) const {
    const auto is_namesake = [&](const PackProbe& other) {
        return &other != &probe && other.name == probe.name;
    };
    if (is_for_this(probe)) {
        // One for the layout says more than one for all.
        return probe.layout.empty() &&
               std::ranges::any_of(pack_.probes, [&](const PackProbe& other) {
                   return is_namesake(other) && !other.layout.empty() && is_for_this(other);
               });
    }
    const auto first = std::ranges::find(pack_.probes, probe.name, &PackProbe::name);
    const bool is_repeated = !probe.layout.empty() && &*first != &probe;
    return is_repeated || std::ranges::any_of(pack_.probes, [&](const PackProbe& other) {
               return is_namesake(other) && is_for_this(other);
           });
}

std::string FileOfPack::unknown_layout() const {
    std::vector<std::string> names;
    for (const PackLayout& layout : pack_.layouts) names.push_back(layout.name);
    return fmt::format("where {} {} keeps this in memory is not known (known: {})", pack_.runtime,
                       version_.empty() ? "of an unknown version" : version_,
                       fmt::join(names, ", "));
}

PackedProbe FileOfPack::row_of(const PackProbe& probe, std::optional<AttachPlan>& chosen) {
    PackedProbe row{.name = probe.name, .level = probe.level};
    if (pack_.versions.place_of(version_) == VersionRange::Place::below) {
        row.status = PackedStatus::refused;
        row.reason = fmt::format("{} {} is older than the pack was made for ({})", pack_.runtime,
                                 version_, pack_.versions.text());
        return row;
    }
    if (!probe.versions.contains(version_)) {
        row.status = PackedStatus::missing;
        row.reason =
            fmt::format("of {} {}, and this is {}", pack_.runtime, probe.versions.text(), version_);
        return row;
    }
    if (!probe.layout.empty() && probe.layout != layout_) {
        row.status = PackedStatus::refused;
        row.reason = unknown_layout();
        return row;
    }
    const bool is_off = probe.level > options_.request.level;
    // What is off is looked up where it costs next to nothing, so that nobody is sent for what the
    // file lacks: notes are read by now, symbols of a large file may take a while.
    const bool is_cheap = options_.looks_up_all || std::ranges::all_of(probe.events, is_of_notes);
    if (!is_off || is_cheap) look_up(probe, row, chosen);
    if (is_off && row.status != PackedStatus::missing && row.status != PackedStatus::refused) {
        chosen.reset();
        row.status = PackedStatus::off;
        row.reason = fmt::format("--level {} arms it", name_of(probe.level));
    }
    give_way_to_rings(probe, row, chosen);
    return row;
}

void FileOfPack::look_up(const PackProbe& probe,
                         PackedProbe& row,
                         std::optional<AttachPlan>& chosen) {
    row.status = PackedStatus::missing;
    for (const EventSpec& event : probe.events) {
        Attempt attempted = attempt(event);
        if (attempted.is_there) {
            row.status = PackedStatus::armed;
            row.spec = std::move(attempted.spec);
            row.sites = site_count(attempted.plan);
            row.reason = fmt::format("{}", fmt::join(attempted.plan.warnings, "; "));
            chosen = std::move(attempted.plan);
            check_demand(probe, row);
            return;
        }
        // The first that is there says more than the next that is not.
        if (row.status == PackedStatus::refused) continue;
        row.status = attempted.is_refused ? PackedStatus::refused : PackedStatus::missing;
        row.reason = std::move(attempted.reason);
        if (attempted.is_refused) row.spec = std::move(attempted.spec);
    }
    if (row.status == PackedStatus::missing && !probe.without.empty()) row.reason = probe.without;
}

FileOfPack::Attempt FileOfPack::attempt(const EventSpec& event) {
    Attempt result;
    const std::string text = in_file(event.text, subject_.file.file.shown_path);
    auto parsed = parse_event_spec(text);
    if (!parsed) {
        result.is_refused = true;
        result.spec = text;
        result.reason = first_line(parsed.error().what);
        return result;
    }
    CompileOptions options;
    options.allow_nop5 = options_.allow_nop5;
    options.debug_files = options_.debug_files;
    options.are_libraries_shared = true;
    options.process_files = subject_.process_files;
    options.missing = MissingSpec::ignore;
    options.are_calls_whole = true;
    options.opened = &opened_;
    auto plan = compile_events(std::span(&*parsed, 1), targets_, options);
    result.spec = text;
    if (!plan) {
        result.is_refused = true;
        result.reason = first_line(plan.error().what);
        return result;
    }
    if (!plan->waiting.empty()) {
        // A fault that is not just its absence is a warning too.
        result.is_refused = !plan->warnings.empty();
        result.reason = first_line(plan->waiting.front().reason);
        return result;
    }
    result.is_there = true;
    // A place that the kernel refuses after all costs no other.
    for (AttachFile& file : plan->files) {
        for (AttachSite& site : file.sites) site.may_fail = site.is_optional = true;
    }
    result.plan = std::move(*plan);
    return result;
}

const std::vector<ProcessStart>& FileOfPack::starts() {
    if (!starts_) {
        starts_.emplace();
        for (const uint32_t pid : subject_.pids) {
            starts_->push_back(read_process_start(pid, options_.proc_root));
        }
        if (subject_.to_come != nullptr) starts_->push_back(*subject_.to_come);
    }
    return *starts_;
}

void FileOfPack::check_demand(const PackProbe& probe, PackedProbe& row) {
    if (!is_demanding(probe)) return;
    // One that is still in exec has no arguments yet; of it nothing is said.
    const bool may_fire = std::ranges::any_of(starts(), [&](const ProcessStart& start) {
        return start.arguments.empty() || can_fire(probe, start);
    });
    if (may_fire) return;
    row.status = PackedStatus::silent;
    row.reason = demand_text(probe);
}

// Of one that begins to write its ring later the decoder leaves them out.
void FileOfPack::give_way_to_rings(const PackProbe& probe,
                                   PackedProbe& row,
                                   std::optional<AttachPlan>& chosen) {
    const bool may_yield = std::ranges::any_of(
        probe.events, [](const EventSpec& event) { return event.begin.clauses.yields_to_ring; });
    if (!may_yield || !chosen || !subject_.gives_way_to_rings) return;
    if (subject_.to_come != nullptr || subject_.pids.empty()) return;
    if (!has_rings_) {
        has_rings_ = std::ranges::all_of(
            subject_.pids, [](uint32_t pid) { return ring_mapping_of(pid).has_value(); });
    }
    if (!*has_rings_) return;
    chosen.reset();
    row.status = PackedStatus::off;
    row.reason = "the program writes the same to a ring, which is read";
}

void FileOfPack::tell_own_logs() {
    if (pack_.own_log.empty()) return;
    for (const uint32_t pid : subject_.pids) {
        const auto path = open_file_of(pid, pack_.own_log, options_.proc_root);
        if (!path) continue;
        warnings_.push_back(fmt::format("process {} writes a log of its own, {}{}{}", pid, *path,
                                        pack_.own_log_has.empty() ? "" : ": ", pack_.own_log_has));
    }
}

bool has_gate(const ProbeSpec& spec) {
    const ProbeClauses& clauses = spec.clauses;
    return !clauses.condition.empty() || clauses.sample_every != 0 || clauses.rate_per_second != 0;
}

bool has_gate(const EventSpec& event) {
    return !event.all([](const ProbeSpec& spec) { return !has_gate(spec); });
}

}  // namespace

bool PackedFile::is_armed() const {
    return std::ranges::any_of(probes, &PackedProbe::is_armed);
}

std::string PackedFile::title() const {
    if (version.empty()) return pack;
    return fmt::format("{} {}{}", pack, version, is_or_newer ? " or newer" : "");
}

Result<PackPlanner> PackPlanner::make(PackCatalog catalog, PackPlannerOptions options) {
    for (std::string& name : options.request.names) {
        TR_ASSIGN(const Pack* pack, catalog.find_named(name));
        name = pack->name;
    }
    return PackPlanner(std::move(catalog), std::move(options));
}

bool PackPlanner::is_asked_for(const Pack& pack) const {
    const PackRequest& request = options_.request;
    if (request.off) return false;
    return request.names.empty() ||
           std::ranges::find(request.names, pack.name) != request.names.end();
}

PackAddition PackPlanner::add(const PackSubject& subject,
                              AttachPlan& plan,
                              std::span<const model::Point> known) const {
    PackAddition addition;
    ProbeFiles opened(options_.debug_files);
    // Most of what is mapped and is no ELF file of this machine ends here.
    const auto file = opened.open(subject.file.file);
    if (!file) return addition;
    for (const PackFit& fit : find_packs(catalog_, **file, subject.is_executable)) {
        if (!is_asked_for(*fit.pack)) continue;
        FileOfPack part(fit, subject, options_, opened);
        addition.files.push_back(part.add_to(plan, known));
        for (std::string& warning : part.take_warnings()) {
            addition.warnings.push_back(std::move(warning));
        }
        for (ProcessTitle& title : titles_by(*fit.pack, subject.pids)) {
            addition.titles.push_back(std::move(title));
        }
    }
    return addition;
}

std::vector<ProcessTitle> PackPlanner::titles_by(const Pack& pack,
                                                 std::span<const uint32_t> pids) const {
    std::vector<ProcessTitle> titles;
    if (pack.process_title.empty()) return titles;
    for (const uint32_t pid : pids) {
        const ProcessStart start = read_process_start(pid, options_.proc_root);
        if (start.arguments.empty()) continue;
        auto name = title_in(pack, start.arguments.front());
        if (name) titles.push_back({pid, std::move(*name)});
    }
    return titles;
}

std::vector<ProcessTitle> PackPlanner::titles(const PackSubject& subject) const {
    std::vector<ProcessTitle> found;
    ProbeFiles opened(options_.debug_files);
    for (const Pack& pack : catalog_.packs()) {
        if (!is_asked_for(pack)) continue;
        std::vector<ProcessTitle> titles = titles_by(pack, subject.pids);
        if (titles.empty()) continue;
        const auto file = opened.open(subject.file.file);
        if (!file || !fits(pack, **file, subject.is_executable)) continue;
        std::ranges::move(titles, std::back_inserter(found));
    }
    return found;
}

bool PackPlanner::has_titles() const {
    return std::ranges::any_of(catalog_.packs(), [&](const Pack& pack) {
        return is_asked_for(pack) && !pack.process_title.empty();
    });
}

bool PackPlanner::has_gates() const {
    return std::ranges::any_of(catalog_.packs(), [&](const Pack& pack) {
        return is_asked_for(pack) && std::ranges::any_of(pack.probes, [&](const PackProbe& probe) {
                   return probe.level <= options_.request.level &&
                          std::ranges::any_of(
                              probe.events, [](const EventSpec& event) { return has_gate(event); });
               });
    });
}

std::optional<std::string> title_in(const Pack& pack, std::string_view command_line) {
    const std::string_view pattern = pack.process_title;
    const size_t star = pattern.find('*');
    if (star == std::string_view::npos) return std::nullopt;
    const std::string_view before = pattern.substr(0, star);
    const std::string_view behind = pattern.substr(star + 1);
    // Programs that write over their arguments fill the rest with spaces.
    while (command_line.ends_with(' ')) command_line.remove_suffix(1);
    if (command_line.size() < before.size() + behind.size()) return std::nullopt;
    if (!command_line.starts_with(before) || !command_line.ends_with(behind)) return std::nullopt;
    command_line.remove_prefix(before.size());
    command_line.remove_suffix(behind.size());
    size_t bytes = command_line.size();
    for (const std::string_view end : pack.process_title_ends) {
        const size_t at = command_line.find(end);
        if (at != std::string_view::npos) bytes = std::min(bytes, at + end.size());
    }
    if (bytes == 0) return std::nullopt;
    return std::string(command_line.substr(0, bytes));
}

Result<PackLevel> parse_pack_level(std::string_view text) {
    for (size_t i = 0; i < kPackLevels; ++i) {
        if (kPackLevelNames[i] == text) return static_cast<PackLevel>(i);
    }
    NearestNames nearest{std::string(text)};
    for (const std::string_view name : kPackLevelNames) nearest.offer(name);
    std::string hint = nearest.hint();
    if (hint.empty()) hint = "levels are default, more and all; each holds those before it";
    return fail(ErrorCode::usage, fmt::format("there is no level \"{}\"", text), std::move(hint));
}

Result<std::vector<std::string>> parse_pack_names(std::string_view text) {
    std::vector<std::string> names;
    size_t begin = 0;
    for (;;) {
        const size_t end = std::min(text.find(',', begin), text.size());
        if (end == begin) {
            return fail(ErrorCode::usage, fmt::format("\"{}\" names a pack by nothing", text),
                        "names with commas between: python,postgresql; `tracer packs` lists them");
        }
        names.emplace_back(text.substr(begin, end - begin));
        if (end == text.size()) return names;
        begin = end + 1;
    }
}

}  // namespace tracer
