// SPDX-License-Identifier: Apache-2.0
//
// The clauses that are the same for all kinds of probes, applied to what their compilers have
// resolved: what a hit means and whether its arguments allow it, the line it is shown on, and other
// probes' semaphores. Called for every spec, by compile_spec().
#include "probe/caret.h"
#include "probe/cold_place.h"
#include "probe/compile_context.h"
#include "probe/nearest.h"
#include "probe/probe_clauses.h"

#include <algorithm>

#include <fmt/format.h>

namespace tracer {

namespace {

class ClauseCompiler {
public:
    ClauseCompiler(const ProbeSpec& spec, const CompileContext& context)
        : spec_(spec), context_(context) {}

    Status run(std::span<PlanBuilder::Probe> candidates) const {
        for (auto& [identity, sites] : candidates) {
            if (sites.empty()) continue;
            if (!has_what_it_needs(sites)) {
                if (!identity.is_pattern) return refuse_arguments();
                context_.warnings.leave_out("their arguments do not fit what they are to be",
                                            identity.spec);
                sites.clear();
                continue;
            }
            std::vector<std::string> labels;
            for (const auto& argument : sites.front().arguments) labels.push_back(argument.label);
            TR_ASSIGN(identity.line, compile_template(spec_, spec_.clauses.line, labels));
            if (spec_.clauses.raise_provider.empty()) continue;
            for (ProbeSite& site : sites) {
                TR_ASSIGN(site.raises, raises_in(site.file));
            }
        }
        return {};
    }

private:
    static bool has_argument(const std::vector<ProbeSite>& sites,
                             bool (*is_wanted)(model::ValueType)) {
        return std::ranges::any_of(sites, [&](const ProbeSite& site) {
            return std::ranges::any_of(site.arguments, [&](const ProbeArgument& argument) {
                return is_wanted(argument.type);
            });
        });
    }

    [[nodiscard]] bool has_what_it_needs(const std::vector<ProbeSite>& sites) const {
        switch (spec_.clauses.meaning) {
            case HitMeaning::event:
            case HitMeaning::state:
                return true;
            case HitMeaning::counter:
                return has_argument(sites, [](model::ValueType type) {
                    return type != model::ValueType::none && type != model::ValueType::string;
                });
            case HitMeaning::thread_name:
            case HitMeaning::process_name:
                return !spec_.clauses.name.empty() ||
                       has_argument(sites, [](model::ValueType type) {
                           return type == model::ValueType::string;
                       });
        }
        return true;
    }

    [[nodiscard]] Status refuse_arguments() const {
        if (spec_.clauses.meaning == HitMeaning::counter) {
            return fail_clause(spec_, spec_.clauses.meaning_place,
                               "none of the arguments is a number that can be read here",
                               "name its series: (free=arg0, used=arg1)");
        }
        return fail_clause(spec_, spec_.clauses.meaning_place,
                           "none of the arguments is the text of a name",
                           "(name=arg0:str) reads one at an address; as \"worker {n}\" makes one");
    }

    [[nodiscard]] Result<std::vector<SemaphoreRaise>> raises_in(const TargetFile& target) const {
        TR_ASSIGN(auto* file, context_.files.open(target));
        TR_ASSIGN(const auto* notes, file->notes());
        std::vector<SemaphoreRaise> raises;
        bool is_known = false;
        for (const UsdtNote& note : notes->notes) {
            if (note.provider != spec_.clauses.raise_provider ||
                note.name != spec_.clauses.raise_name) {
                continue;
            }
            is_known = true;
            const bool is_double =
                std::ranges::find(raises, note.semaphore_offset,
                                  &SemaphoreRaise::semaphore_offset) != raises.end();
            if (note.semaphore_offset == 0 || note.is_semaphore_in_bss || is_double) continue;
            const auto place = find_cold_place(file->elf(), note.semaphore_offset);
            if (!place)
                return refuse(ErrorCode::missing_feature, target, "no place to raise it by");
            raises.push_back({*place, note.semaphore_offset, 0});
        }
        if (!is_known) return refuse_unknown(target, *notes);
        if (raises.empty()) {
            return refuse(ErrorCode::missing_feature, target, "it has no semaphore in the file");
        }
        return raises;
    }

    [[nodiscard]] tl::unexpected<Error> refuse(ErrorCode code,
                                               const TargetFile& target,
                                               std::string_view reason,
                                               std::string hint = {}) const {
        const auto& clauses = spec_.clauses;
        Error error = fail_clause(spec_, clauses.raise_place,
                                  fmt::format("{}:{} in {}: {}", clauses.raise_provider,
                                              clauses.raise_name, target.shown_path, reason),
                                  std::move(hint))
                          .value();
        error.code = code;
        return tl::unexpected(std::move(error));
    }

    [[nodiscard]] tl::unexpected<Error> refuse_unknown(const TargetFile& target,
                                                       const UsdtNotes& notes) const {
        NearestNames nearest(spec_.clauses.raise_provider + ":" + spec_.clauses.raise_name);
        for (const UsdtNote& note : notes.notes) nearest.offer(note.provider + ":" + note.name);
        return refuse(ErrorCode::not_found, target, "there is no such probe", nearest.hint());
    }

    const ProbeSpec& spec_;
    const CompileContext& context_;
};

}  // namespace

Status apply_clauses(const ProbeSpec& spec, const CompileContext& context, size_t first) {
    return ClauseCompiler(spec, context).run(context.builder.candidates_from(first));
}

}  // namespace tracer
