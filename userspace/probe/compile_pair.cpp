// SPDX-License-Identifier: Apache-2.0
//
// Spans of pairs: each probe is resolved as if it stood alone, into a builder of its own, and what
// comes of it is joined under one point; with wildcards in its names there is a pair, and a point,
// for each name of the begin. A place is attached for each pair anew, whatever else
// names it: the hit means something else there. Called by compile_events.
#include "probe/caret.h"
#include "probe/compile_context.h"
#include "probe/event_spec.h"
#include "probe/wildcard.h"

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
        TR_ASSIGN(auto begins, resolve(event_.begin));
        TR_ASSIGN(const Parts ends, resolve(*event_.end));
        std::vector<Parts> others;
        for (const ProbeSpec& other : event_.other_begins) {
            TR_ASSIGN(auto parts, resolve(other));
            others.push_back(std::move(parts));
        }
        std::vector<Parts> untils;
        for (ProbeSpec until : event_.until) {
            // Its arguments are not shown: none are read unless the key is asked for.
            until.has_args = true;
            TR_ASSIGN(auto parts, resolve(until));
            untils.push_back(std::move(parts));
        }
        size_t pairs = 0;
        for (PairPart& begin : begins) {
            const PairPart* end = counterpart(begin, *event_.end, ends);
            if (end == nullptr) {
                context_.warnings.leave_out("whose end is not there", begin.identity.spec);
                continue;
            }
            TR_TRY(add(std::move(begin), others, *end, untils));
            ++pairs;
        }
        if (pairs > 0) return {};
        return fail(ErrorCode::not_found,
                    fmt::format("{}: no end is called as one of the begins", event_.text),
                    "the wildcards of the end stand for what those of the begin stood for");
    }

private:
    using Parts = std::vector<PairPart>;

    // The probe of `parts`, which `spec` found, that is called as the begin; null: none.
    const PairPart* counterpart(const PairPart& begin,
                                const ProbeSpec& spec,
                                const Parts& parts) const {
        if (!has_wildcard(spec.name)) return &parts.front();
        const auto captures = wildcard_captures(event_.begin.name, begin.identity.name);
        if (!captures) return nullptr;
        const auto same =
            std::ranges::find(parts, fill_wildcards(spec.name, *captures),
                              [](const PairPart& part) { return part.identity.name; });
        return same == parts.end() ? nullptr : &*same;
    }

    Status add(PairPart begin,
               const std::vector<Parts>& others,
               const PairPart& end,
               const std::vector<Parts>& untils) const {
        if (begin.identity.kind == end.identity.kind &&
            begin.identity.category == end.identity.category &&
            begin.identity.name == end.identity.name) {
            return fail(ErrorCode::usage,
                        fmt::format("{}: the span begins and ends at the same probe", event_.text));
        }
        TR_TRY(check_key_types(begin, end));
        PairPlan plan{.category = begin.identity.category,
                      .name = common_name(begin.identity.name, end.identity.name),
                      .begin = {},
                      .other_begins = {},
                      .end = end,
                      .until = {}};
        for (size_t i = 0; i < untils.size(); ++i) {
            const PairPart* until = counterpart(begin, event_.until[i], untils[i]);
            if (until == nullptr) continue;
            TR_TRY(check_key_types(begin, *until));
            plan.until.push_back(*until);
        }
        // Without wildcards each is one probe.
        for (const Parts& other : others) {
            PairPart part = other.front();
            TR_TRY(check_key_types(begin, part));
            part.identity.shown_name = begin.identity.shown_name;
            part.identity.line = begin.identity.line;
            part.identity.is_line_of_process = begin.identity.is_line_of_process;
            plan.other_begins.push_back(std::move(part));
        }
        plan.begin = std::move(begin);
        context_.builder.add_pair(std::move(plan));
        return {};
    }

    // The probes that one of the event's texts stands for, one without a wildcard in its name; each
    // with all its places: a wildcard in its path may find several files. Never none.
    Result<Parts> resolve(const ProbeSpec& spec) const {
        PlanBuilder alone;
        const CompileContext context{context_.targets,  context_.options,   context_.files, alone,
                                     context_.warnings, context_.exceptions};
        TR_TRY(compile_spec(spec, context));
        Parts parts;
        for (auto& [identity, sites] : alone.take_probes()) {
            auto part = std::ranges::find_if(parts, [&, &name = identity.name](const auto& known) {
                return !has_wildcard(spec.name) || known.identity.name == name;
            });
            if (part == parts.end()) part = parts.emplace(part);
            part->identity = std::move(identity);
            for (auto& site : sites) part->sites.push_back(std::move(site));
        }
        if (parts.empty()) parts.emplace_back();
        for (const auto& warning : alone.take_warnings()) context_.builder.warn(warning);
        for (PairPart& part : parts) put_key_first(spec, part);
        return parts;
    }

    static void put_key_first(const ProbeSpec& spec, PairPart& part) {
        const KeyArgument key = key_argument(spec);
        part.scope = key.scope;
        if (key.scope == PairKey::none) return;
        move_argument(part, key.index, 0);
        if (!key.second) return;
        part.has_second_key = true;
        // The first may have pushed it on.
        move_argument(part, *key.second + (*key.second < key.index ? 1 : 0), 1);
    }

    // `to` is not behind `from`.
    static void move_argument(PairPart& part, size_t from, size_t to) {
        for (auto& site : part.sites) {
            const auto first = site.arguments.begin() + static_cast<long>(to);
            const auto moved = site.arguments.begin() + static_cast<long>(from);
            std::rotate(first, moved, moved + 1);
        }
        follow_argument(part.identity.shown_name, from, to);
        follow_argument(part.identity.line, from, to);
    }

    static void follow_argument(std::vector<NamePiece>& pieces, size_t from, size_t to) {
        for (auto& piece : pieces) {
            if (piece.slot == NamePiece::kText) continue;
            if (piece.slot == from) {
                piece.slot = static_cast<uint8_t>(to);
            } else if (piece.slot >= to && piece.slot < from) {
                ++piece.slot;
            }
        }
    }

    // Of a site that has none, nothing can be said.
    static bool is_text_key(const PairPart& part) {
        return std::ranges::any_of(part.sites, [](const ProbeSite& site) {
            return site.arguments.front().type == model::ValueType::string;
        });
    }

    Status check_key_types(const PairPart& begin, const PairPart& other) const {
        if (begin.scope == PairKey::none || other.scope == PairKey::none) return {};
        if (begin.scope == PairKey::frame && (is_text_key(begin) || is_text_key(other))) {
            return fail(ErrorCode::usage, fmt::format("{}: a frame_key that is text", event_.text),
                        "frame_key=arg0:ptr takes the address instead");
        }
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
