// SPDX-License-Identifier: Apache-2.0
//
// Lists what the probe compiler would find, in the compiler's own grammar. Called by
// `tracer list`, and by tests that feed every line back to the compiler.
#include "probe/probe_list.h"

#include "probe/function_names.h"
#include "probe/probe_argument.h"
#include "probe/probe_files.h"
#include "probe/site_harm.h"
#include "probe/wildcard.h"

#include <algorithm>
#include <map>
#include <set>

#include <fmt/format.h>

namespace tracer {

namespace {

struct ListedArgument {
    ArgType type = ArgType::automatic;
    bool is_mixed = false;  // sites differ in more than width: no type is right for all
};

struct UsdtEntry {
    ListedProbe probe;
    std::vector<ListedArgument> arguments;
    size_t refused_sites = 0;
    std::string harm;  // why the last of those is refused
};

bool is_wanted(std::string_view pattern, std::string_view holder, std::string_view name) {
    if (pattern.empty() || wildcard_matches(pattern, name)) return true;
    return wildcard_matches(pattern, fmt::format("{}:{}", holder, name));
}

size_t width_of(ArgType type) {
    switch (type) {
        case ArgType::s8:
        case ArgType::u8:
            return 1;
        case ArgType::s16:
        case ArgType::u16:
            return 2;
        case ArgType::s32:
        case ArgType::u32:
            return 4;
        default:
            return 8;
    }
}

bool is_float(ArgType type) {
    return type == ArgType::f32 || type == ArgType::f64;
}

bool is_signed(ArgType type) {
    return type == ArgType::s8 || type == ArgType::s16 || type == ArgType::s32 ||
           type == ArgType::s64;
}

void add_type(ListedArgument& argument, ArgType type) {
    if (argument.type == ArgType::automatic || argument.type == type) {
        argument.type = type;
        return;
    }
    if (is_float(argument.type) || is_float(type)) {
        argument.is_mixed = true;
        return;
    }
    // A wider signed type holds every value of both.
    if (is_signed(argument.type) != is_signed(type)) {
        argument.type = ArgType::s64;
    } else if (width_of(type) > width_of(argument.type)) {
        argument.type = type;
    }
}

std::string arguments_text(const std::vector<ListedArgument>& arguments) {
    std::string text = "(";
    for (size_t i = 0; i < arguments.size(); ++i) {
        if (i != 0) text += ", ";
        text += fmt::format("arg{}", i);
        if (!arguments[i].is_mixed) text += fmt::format(":{}", arg_type_name(arguments[i].type));
    }
    return text + ")";
}

// Parameters by the names that arguments are written with, and their types as the source has them.
std::string parameters_text(const FunctionArguments& function) {
    std::string text = "(";
    for (const auto& parameter : function.parameters) {
        if (parameter.name.empty()) continue;
        if (text.size() > 1) text += ", ";
        text += fmt::format("arg:{}: {}", parameter.name, parameter.type.name);
    }
    if (function.is_variadic) text += text.size() > 1 ? ", ..." : "...";
    text += ")";
    const bool is_void = function.return_type.form == DwarfForm::none;
    return is_void ? text : fmt::format("{} -> {}", text, function.return_type.name);
}

class FileLister {
public:
    FileLister(ProbeFile& file,
               std::span<const pid_t> runners,
               const ListOptions& options,
               const ListedProbeHandler& handler,
               ListOutcome& outcome)
        : file_(file), runners_(runners), options_(options), handler_(handler), outcome_(outcome) {}

    Status list_usdt() {
        TR_ASSIGN(const auto* notes, file_.notes());
        std::map<std::pair<std::string, std::string>, UsdtEntry> entries;
        for (const auto& note : notes->notes) {
            if (!is_wanted(options_.pattern, note.provider, note.name)) continue;
            auto [found, is_added] = entries.try_emplace({note.provider, note.name});
            auto& entry = found->second;
            if (is_added) entry.probe.site_count = 0;
            ++entry.probe.site_count;
            entry.probe.has_semaphore |= note.semaphore_vaddr != 0;
            if (note.is_semaphore_in_bss) {
                entry.probe.remark = "its semaphore is not in the file: may never fire";
            }
            if (const auto harm = find_harm({}, file_, note.location_offset, false)) {
                ++entry.refused_sites;
                entry.harm = harm->what;
            }
            size_t total = 0;
            const auto operands = file_.operands(note, total);
            if (entry.arguments.size() < operands.size()) entry.arguments.resize(operands.size());
            for (size_t i = 0; i < operands.size(); ++i) {
                add_type(entry.arguments[i], type_of_operand(operands[i]));
            }
        }
        for (auto& [name, entry] : entries) {
            entry.probe.line =
                fmt::format("usdt:{}:{}:{}{}", quote_probe_part(file_.file().shown_path),
                            quote_probe_part(name.first), quote_probe_part(name.second),
                            arguments_text(entry.arguments));
            if (!file_.elf().is_native()) {
                ++outcome_.foreign_probes;
                entry.probe.remark =
                    fmt::format("not of this machine but of {}: cannot be attached",
                                file_.elf().machine_name());
            } else if (entry.refused_sites > 0) {
                // Listed all the same: --fast-sites may take it, and others would look for it.
                entry.probe.remark = fmt::format("{} of {} sites refused, {}", entry.refused_sites,
                                                 entry.probe.site_count, entry.harm);
            }
            hand_over(entry.probe);
        }
        return {};
    }

    Status list_functions() {
        // Functions of other machines' files have nothing to show but a place for a probe.
        if (!file_.elf().is_native()) return {};
        TR_ASSIGN(const auto* symbols, file_.symbols());
        const auto& path = file_.file().shown_path;
        const auto file_name = base_name(path);
        const auto context = demangle_context(file_.elf());
        std::map<std::string_view, size_t> counts;
        // All places of a name get the probe, or -e refuses it: so one refused place hides the
        // name.
        std::set<std::string_view> listed;
        for (const auto& function : symbols->functions()) {
            ++counts[function.name];
            if (find_harm({}, file_, function.file_offset, false)) listed.insert(function.name);
        }
        for (const auto& symbol : symbols->functions()) {
            const auto function = name_function(symbol, context);
            const bool is_listed = is_wanted(options_.pattern, file_name, symbol.name) ||
                                   (function.is_mangled() &&
                                    (is_wanted(options_.pattern, file_name, function.name.bare) ||
                                     wildcard_matches(options_.pattern, function.name.full)));
            if (!is_listed || !listed.insert(symbol.name).second) continue;
            ListedProbe probe;
            probe.site_count = counts[symbol.name];
            // The symbol rather than its name in the source: it is the one function.
            probe.line =
                fmt::format("u:{}:{}", quote_probe_part(path), quote_probe_part(symbol.name, "+"));
            if (function.is_mangled()) probe.demangled = function.name.full;
            probe.parameters = known_parameters(symbol);
            hand_over(probe);
        }
        return {};
    }

private:
    // Reading the types of everything would take longer than the list: only with a pattern.
    std::string known_parameters(const FunctionSymbol& symbol) {
        if (options_.pattern.empty() || file_.elf().is_go()) return {};
        const auto info = file_.debug_info();
        if (!info) return {};
        const auto known = (*info)->function_at(symbol.vaddr);
        return known ? parameters_text(*known) : std::string();
    }

    void hand_over(ListedProbe& probe) {
        ++outcome_.probes;
        probe.runners = runners_;
        handler_(probe);
    }

    ProbeFile& file_;
    std::span<const pid_t> runners_;
    const ListOptions& options_;
    const ListedProbeHandler& handler_;
    ListOutcome& outcome_;
};

}  // namespace

std::string annotated_line(const ListedProbe& probe, std::string_view runners) {
    std::vector<std::string> notes;
    if (!probe.demangled.empty()) notes.push_back(probe.demangled);
    if (!probe.parameters.empty()) notes.push_back(probe.parameters);
    if (probe.site_count != 1) notes.push_back(fmt::format("{} sites", probe.site_count));
    if (probe.has_semaphore) notes.emplace_back("semaphore");
    if (!probe.remark.empty()) notes.push_back(probe.remark);
    if (!runners.empty()) notes.emplace_back(runners);
    if (notes.empty()) return probe.line;
    return fmt::format("{}  # {}", probe.line, fmt::join(notes, ", "));
}

ListOutcome list_probes(const TargetFiles& files,
                        const ListOptions& options,
                        const ListedProbeHandler& handler) {
    ListOutcome outcome;
    for (size_t i = 0; i < files.files().size(); ++i) {
        const TargetFile& target = files.files()[i];
        ++outcome.files_searched;
        // One file's tables at a time: a system has thousands.
        ProbeFiles opened(options.debug_files);
        auto file = opened.open(target, ElfScope::any);
        if (!file || (*file)->elf().is_debug_only()) {
            ++outcome.files_unreadable;
            continue;
        }
        FileLister lister(**file, files.runners(i), options, handler, outcome);
        const bool usdt_ok = !options.usdt || lister.list_usdt().has_value();
        const bool functions_ok = !options.functions || lister.list_functions().has_value();
        if (!usdt_ok || !functions_ok) ++outcome.files_unreadable;
    }
    return outcome;
}

Status list_tracepoints(const TracepointCatalog& catalog,
                        std::string_view pattern,
                        const ListedProbeHandler& handler) {
    TR_ASSIGN(const auto categories, catalog.categories());
    for (const auto& category : categories) {
        TR_ASSIGN(const auto names, catalog.names(category));
        for (const auto& name : names) {
            if (!is_wanted(pattern, category, name)) continue;
            auto format = catalog.format(category, name);
            // Some entries of a category describe records of ftrace's own and have no format.
            if (!format) continue;
            std::string arguments;
            size_t count = 0;
            for (const auto& field : format->fields) {
                const auto type = type_of_field(field);
                if (field.is_common || type == ArgType::automatic || count == TR_ARGS_MAX) continue;
                ++count;
                arguments += fmt::format("{}{}:{}", arguments.empty() ? "" : ", ", field.name,
                                         arg_type_name(type));
            }
            ListedProbe probe;
            probe.line = fmt::format("t:{}:{}({})", category, name, arguments);
            handler(probe);
        }
    }
    return {};
}

}  // namespace tracer
