// SPDX-License-Identifier: Apache-2.0
//
// usdt: probes. Every note of the files searched is compared with the pattern; the sites of one
// probe, in whatever files, make one point, each with a program of its own because each has its own
// operands. Called by compile_probes.
#include "probe/caret.h"
#include "probe/compile_context.h"
#include "probe/nearest.h"
#include "probe/site_cost.h"
#include "probe/wildcard.h"

#include <algorithm>
#include <map>

#include <fmt/format.h>

namespace tracer {

namespace {

constexpr std::string_view kScopeBegin = "span__begin";
constexpr std::string_view kScopeEnd = "span__end";

// One site whose arguments are not chosen yet.
struct FoundSite {
    ProbeFile* file = nullptr;
    const UsdtNote* note = nullptr;
    std::vector<CompiledOperand> operands;
    size_t operand_count = 0;  // the note's, of which at most TR_ARGS_MAX are compiled
};

using FoundProbes = std::map<std::pair<std::string, std::string>, std::vector<FoundSite>>;

class UsdtCompiler {
public:
    UsdtCompiler(const ProbeSpec& spec, const CompileContext& context)
        : spec_(spec), context_(context) {}

    Status run() {
        TR_TRY(search());
        if (found_.empty() && left_out_ > 0) return refuse_nothing_left(spec_, context_);
        if (found_.empty()) return not_found();
        for (auto& [name, sites] : found_) {
            TR_TRY(add_probe(name.first, name.second, sites));
        }
        if (!has_sites_) return refuse_nothing_left(spec_, context_);
        return {};
    }

private:
    // A wildcard's probes differ: those without an argument, or with one of another type, mark it
    // missing.
    [[nodiscard]] bool is_pattern() const {
        return has_wildcard(spec_.name) || has_wildcard(spec_.provider);
    }

    Status search() {
        if (spec_.path.empty()) {
            // Whatever is mapped may be anything: only files with notes count.
            for (const auto& target : context_.targets.files()) {
                auto file = context_.files.open(target);
                if (file && has_usdt_notes((*file)->elf())) TR_TRY(search_file(**file));
            }
            return {};
        }
        TR_ASSIGN(const auto targets, find_files(spec_, context_.targets));
        for (const auto& target : targets) {
            TR_ASSIGN(auto* file, context_.files.open(target));
            TR_TRY(search_file(*file));
        }
        return {};
    }

    Status search_file(ProbeFile& file) {
        if (file.elf().is_debug_only() || !searched_.insert(&file).second) return {};
        auto notes = file.notes();
        if (!notes) {
            if (!spec_.path.empty()) return tl::unexpected(std::move(notes).error());
            context_.builder.warn(notes.error().what);
            return {};
        }
        if ((*notes)->malformed != 0) {
            context_.builder.warn(fmt::format("{}: {} malformed USDT notes left out",
                                              file.file().shown_path, (*notes)->malformed));
        }
        notes_seen_ += (*notes)->notes.size();
        for (const auto& note : (*notes)->notes) {
            if (!wildcard_matches(spec_.provider, note.provider) ||
                !wildcard_matches(spec_.name, note.name)) {
                continue;
            }
            TR_ASSIGN(const bool is_usable,
                      check_site(spec_, file, note.location_offset,
                                 probe_text(spec_, note.provider, note.name), context_));
            if (!is_usable) {
                ++left_out_;
                continue;
            }
            FoundSite site{&file, &note, {}, 0};
            site.operands = file.operands(note, site.operand_count);
            found_[{note.provider, note.name}].push_back(std::move(site));
        }
        return {};
    }

    // Likeness is only measured now: it costs more than the search itself.
    std::string nearest_hint() const {
        // Where the name is a wildcard, only the provider can be a slip.
        const bool by_provider = has_wildcard(spec_.name);
        NearestNames nearest(by_provider ? spec_.provider : spec_.provider + ":" + spec_.name);
        for (auto* file : searched_) {
            auto notes = file->notes();
            if (!notes) continue;
            for (const auto& note : (*notes)->notes) {
                if (by_provider && note.provider == spec_.provider) continue;
                nearest.offer(by_provider ? note.provider : note.provider + ":" + note.name);
            }
        }
        return nearest.hint();
    }

    Status not_found() const {
        std::string where;
        if (spec_.path.empty()) {
            where = fmt::format("searched {}", context_.targets.describe());
        } else {
            where = fmt::format("searched {}", spec_.path);
        }
        std::string hint;
        if (context_.suggests()) hint = nearest_hint();
        if (context_.suggests() && hint.empty() && notes_seen_ == 0) {
            hint =
                "no file searched has USDT probes; a program that a script or wrapper starts is "
                "named by its file: usdt:PATH:provider:name";
        }
        return fail(
            ErrorCode::not_found,
            fmt::format("no USDT probe {}:{} ({}: {} site{} of other probes)", spec_.provider,
                        spec_.name, where, notes_seen_, notes_seen_ == 1 ? "" : "s"),
            std::move(hint));
    }

    Status add_probe(const std::string& provider,
                     const std::string& name,
                     const std::vector<FoundSite>& found) {
        TR_ASSIGN(const auto wanted, wanted_arguments(name, found));
        const auto text = probe_text(spec_, provider, name);
        auto identity = identity_of_probe(spec_, provider, name, text);
        TR_ASSIGN(identity.shown_name, compile_name(spec_, labels_of(wanted)));
        if (identity.shown_name.empty() && is_scope(name, found)) {
            identity.shown_name = scope_name(wanted);
        }
        TR_ASSIGN(const auto condition, ConditionCompiler::make(spec_, context_.options));
        std::vector<ProbeSite> sites;
        for (const auto& site : found) {
            TR_ASSIGN(auto resolved, resolve(site, wanted));
            const auto operand = [&](const ArgSpec& arg) { return condition_operand(site, arg); };
            TR_ASSIGN(const bool is_kept,
                      add_condition(spec_, condition, operand, text, context_, resolved));
            if (is_kept) sites.push_back(std::move(resolved));
        }
        if (sites.empty()) return {};
        has_sites_ = true;
        context_.builder.add(std::move(identity), std::move(sites));
        return {};
    }

    // The arguments asked for, or all that the probe's widest site has.
    Result<std::vector<ArgSpec>> wanted_arguments(const std::string& name,
                                                  const std::vector<FoundSite>& found) const {
        size_t count = 0;
        for (const auto& site : found) count = std::max(count, site.operand_count);
        std::vector<ArgSpec> wanted;
        if (!spec_.has_args && is_scope(name, found)) return scope_arguments(name);
        if (!spec_.has_args) {
            if (count > TR_ARGS_MAX) {
                context_.builder.warn(fmt::format(
                    "{} has {} arguments; only the first {} are taken", name, count, TR_ARGS_MAX));
            }
            for (size_t i = 0; i < std::min<size_t>(count, TR_ARGS_MAX); ++i) {
                const auto label = fmt::format("arg{}", i);
                wanted.push_back({label, label, ArgType::automatic, 0});
            }
            return wanted;
        }
        for (const auto& arg : spec_.args) {
            TR_TRY(check_index(arg, name, count));
            for (const auto& length : arg.length) TR_TRY(check_index(length, name, count));
        }
        return spec_.args;
    }

    // One of the two probes that TRACER_SPAN("name") makes (tracer/usdt.h): with the address of
    // the name, and that of the scope.
    [[nodiscard]] bool is_scope(std::string_view name, const std::vector<FoundSite>& found) const {
        const auto is_address = [](const CompiledOperand& operand) {
            return operand.is_readable() && operand.bytes == 8 && !operand.is_float;
        };
        return (name == kScopeBegin || name == kScopeEnd) && !is_pattern() &&
               std::ranges::all_of(found, [&](const FoundSite& site) {
                   return site.operand_count == 2 && std::ranges::all_of(site.operands, is_address);
               });
    }

    // Unless they are asked for: the end's say nothing new.
    static std::vector<ArgSpec> scope_arguments(std::string_view name) {
        if (name == kScopeEnd) return {};
        return {{"name", "arg0", ArgType::string, 0}};
    }

    // What is between the quotes of TRACER_SPAN("name"), where it is read.
    static std::vector<NamePiece> scope_name(const std::vector<ArgSpec>& wanted) {
        for (size_t i = 0; i < wanted.size(); ++i) {
            const ArgSpec& arg = wanted[i];
            const bool is_name = arg.operand == "arg0" && arg.type == ArgType::string &&
                                 arg.walk.empty() && arg.addend == 0;
            if (is_name) return {{.text = {}, .slot = static_cast<uint8_t>(i)}};
        }
        return {};
    }

    Status check_index(const ArgSpec& arg, const std::string& name, size_t count) const {
        const size_t index = argument_index(arg);
        if ((index < count || is_pattern()) && index < TR_ARGS_MAX) return {};
        return fail_at(
            spec_.text, arg.text_offset, arg.operand.size(),
            index < count ? fmt::format("only the first {} arguments can be read", TR_ARGS_MAX)
                          : fmt::format("{} has {} argument{}", name, count, count == 1 ? "" : "s"),
            count == 0 ? "" : fmt::format("they are numbered from arg0"));
    }

    Result<ProbeArgument> condition_operand(const FoundSite& found, const ArgSpec& arg) const {
        const size_t index = argument_index(arg);
        if (index < found.operands.size() && found.operands[index].is_readable()) {
            return argument_of_operand(spec_, arg, found.operands);
        }
        const auto reason =
            index < found.operands.size()
                ? fmt::format("{} ({}) cannot be read: {}", arg.operand, found.operands[index].text,
                              found.operands[index].reason)
                : fmt::format("it has {} argument{}", found.operand_count,
                              found.operand_count == 1 ? "" : "s");
        return fail_at(spec_.text, arg.text_offset, arg.operand.size(), reason);
    }

    Result<ProbeSite> resolve(const FoundSite& found, const std::vector<ArgSpec>& wanted) const {
        const auto& note = *found.note;
        ProbeSite site;
        site.file = found.file->file();
        site.file_offset = note.location_offset;
        site.semaphore_offset = note.semaphore_offset;
        const uint64_t step = step_to_fast_site(*found.file, note.location_offset);
        site.file_offset += step;
        if (note.is_semaphore_in_bss) {
            context_.builder.warn(fmt::format(
                "{}:{} in {}: its semaphore has no place in the file, so the kernel cannot raise "
                "it and the probe may never fire",
                note.provider, note.name, site.file.shown_path));
        }
        for (const auto& arg : wanted) {
            warn_of_unreadable(found, arg);
            for (const auto& length : arg.length) warn_of_unreadable(found, length);
            auto argument = argument_of_operand(spec_, arg, found.operands);
            if (!argument && !is_pattern()) return tl::unexpected(std::move(argument).error());
            if (!argument) {
                const size_t index = argument_index(arg);
                context_.builder.warn(fmt::format(
                    "{}:{} in {}: arg{} ({}) is no {}; left out", note.provider, note.name,
                    site.file.shown_path, index, found.operands.at(index).text, wanted_form(arg)));
            }
            if (argument) keep_relative_places(*argument, step);
            site.arguments.push_back(argument ? std::move(*argument) : missing_argument(arg.label));
        }
        return site;
    }

    void warn_of_unreadable(const FoundSite& found, const ArgSpec& arg) const {
        const size_t index = argument_index(arg);
        if (index >= found.operands.size() || found.operands[index].is_readable()) return;
        const auto& operand = found.operands[index];
        context_.builder.warn(fmt::format(
            "{}:{} in {}: arg{} ({}) cannot be read: {}", found.note->provider, found.note->name,
            found.file->file().shown_path, index, operand.text, operand.reason));
    }

    // Newer macros leave a 1-byte nop, at the note's own address, and a 5-byte nop behind it. The
    // latter is the cheaper, where the kernel is known to do no harm there.
    [[nodiscard]] uint64_t step_to_fast_site(const ProbeFile& file, uint64_t offset) const {
        constexpr size_t kPairBytes = 6;
        if (!context_.options.allow_nop5) return 0;
        const auto code = file.elf().read(offset, kPairBytes);
        const bool is_pair =
            code && code->front() == std::byte{0x90} && is_nop5(std::span(*code).subspan(1));
        return is_pair ? 1 : 0;
    }

    // Operands relative to the instruction pointer mean the note's address.
    static void keep_relative_places(ProbeArgument& argument, uint64_t step) {
        for (size_t i = 0; i < argument.arg.op_count; ++i) {
            tr_op& op = argument.arg.ops[i];
            if (op.code == TR_OP_REG && op.reg == TR_REG_RIP) op.imm -= static_cast<int64_t>(step);
        }
    }

    const ProbeSpec& spec_;
    const CompileContext& context_;
    FoundProbes found_;
    std::set<ProbeFile*> searched_;
    size_t notes_seen_ = 0;
    size_t left_out_ = 0;
    bool has_sites_ = false;
};

}  // namespace

Status compile_usdt(const ProbeSpec& spec, const CompileContext& context) {
    return UsdtCompiler(spec, context).run();
}

}  // namespace tracer
