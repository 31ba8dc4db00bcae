// SPDX-License-Identifier: Apache-2.0
//
// Spans of pairs: each probe is resolved as if it stood alone, into a builder of its own, and what
// comes of it is joined under one point. A place is attached for each pair anew, whatever else
// names it: the hit means something else there. Called by compile_events.
#include "probe/caret.h"
#include "probe/compile_context.h"
#include "probe/event_spec.h"

#include <algorithm>

#include <fmt/format.h>

namespace tracer {

namespace {

// The part that two names have in common before their last words: "query" of query__start and
// query__done. Else the begin's name.
std::string common_name(const std::string& begin, const std::string& end) {
    const auto differ = std::ranges::mismatch(begin, end);
    const auto same = static_cast<size_t>(differ.in1 - begin.begin());
    const size_t cut = std::string_view(begin).substr(0, same).find_last_of('_');
    if (cut == std::string::npos) return begin;
    const size_t last = begin.find_last_not_of('_', cut);
    return last == std::string::npos ? begin : begin.substr(0, last + 1);
}

class PairCompiler {
public:
    PairCompiler(const EventSpec& event, const CompileContext& context)
        : event_(event), context_(context) {}

    Status run() {
        TR_ASSIGN(auto begin, resolve(event_.begin));
        TR_ASSIGN(auto end, resolve(*event_.end));
        const std::string category = begin.identity.category;
        const std::string name = common_name(begin.identity.name, end.identity.name);
        if (begin.identity.kind == end.identity.kind &&
            begin.identity.category == end.identity.category &&
            begin.identity.name == end.identity.name) {
            return fail(ErrorCode::usage,
                        fmt::format("{}: the span begins and ends at the same probe", event_.text));
        }
        TR_TRY(check_key_types(begin, end));
        PairPlan plan{.category = category,
                      .name = name,
                      .begin = std::move(begin),
                      .end = std::move(end),
                      .until = {}};
        for (ProbeSpec until : event_.until) {
            // Its arguments are not shown: none are read unless the key is asked for.
            until.has_args = true;
            TR_ASSIGN(auto part, resolve(until));
            TR_TRY(check_key_types(plan.begin, part));
            plan.until.push_back(std::move(part));
        }
        context_.builder.add_pair(std::move(plan));
        return {};
    }

private:
    // All places of one of the pair's probes: a wildcard in its path may find several files.
    Result<PairPart> resolve(const ProbeSpec& spec) const {
        PlanBuilder alone;
        const CompileContext context{context_.targets, context_.options, context_.files, alone,
                                     context_.warnings};
        TR_TRY(compile_spec(spec, context));
        PairPart part;
        part.scope = key_argument(spec).scope;
        for (auto& [identity, sites] : alone.take_probes()) {
            part.identity = std::move(identity);
            for (auto& site : sites) part.sites.push_back(std::move(site));
        }
        for (const auto& warning : alone.take_warnings()) context_.builder.warn(warning);
        const size_t key = key_argument(spec).index;
        for (auto& site : part.sites) {
            if (part.scope == PairKey::none) continue;
            // The key's slot is the first.
            const auto first = site.arguments.begin();
            std::rotate(first, first + static_cast<long>(key), first + static_cast<long>(key) + 1);
        }
        for (auto& piece : part.identity.shown_name) {
            if (part.scope == PairKey::none || piece.slot == NamePiece::kText) continue;
            if (piece.slot == key) {
                piece.slot = 0;
            } else if (piece.slot < key) {
                ++piece.slot;
            }
        }
        return part;
    }

    // Of a site that has none, nothing can be said.
    static bool is_text_key(const PairPart& part) {
        return std::ranges::any_of(part.sites, [](const ProbeSite& site) {
            return site.arguments.front().type == model::ValueType::string;
        });
    }

    Status check_key_types(const PairPart& begin, const PairPart& other) const {
        if (begin.scope == PairKey::none || other.scope == PairKey::none) return {};
        if (is_text_key(begin) == is_text_key(other)) return {};
        return fail(ErrorCode::usage,
                    fmt::format("{}: a key that is text on one side and a number on the other",
                                event_.text),
                    "give both the same type, as in key=arg0:str");
    }

    const EventSpec& event_;
    const CompileContext& context_;
};

}  // namespace

Status compile_pair(const EventSpec& event, const CompileContext& context) {
    return PairCompiler(event, context).run();
}

}  // namespace tracer
