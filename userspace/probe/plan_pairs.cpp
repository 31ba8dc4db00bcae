// SPDX-License-Identifier: Apache-2.0
//
// The builder's part for pairs: one point, and a program for each place of its begin, its end and
// what else ends it. Relies on compile_pair for the key being the first argument of each place.
#include "probe/plan_builder.h"

#include <algorithm>

#include <fmt/format.h>

namespace tracer {

namespace {

// Readers show the arguments of begin and end as one list.
void rename_doubles(std::vector<model::Argument>& end_arguments,
                    const std::vector<model::Argument>& arguments) {
    const auto has = [](const std::vector<model::Argument>& list, const std::string& name) {
        return std::ranges::find(list, name, &model::Argument::name) != list.end();
    };
    for (auto& argument : end_arguments) {
        if (!has(arguments, argument.name)) continue;
        // Each turn makes it longer than one of finitely many.
        std::string name = "end_" + argument.name;
        while (has(arguments, name) || has(end_arguments, name)) name.insert(0, "end_");
        argument.name = name;
    }
}

// Whether an end is one of a begin of the same call: with a key it may be any other's.
bool ends_its_own_call(const PairPart& end) {
    return end.scope == PairKey::none || end.scope == PairKey::frame;
}

bool has_condition(const PairPart& part) {
    return std::ranges::any_of(part.sites,
                               [](const ProbeSite& site) { return !site.condition.empty(); });
}

// Whether ends come whose begins were kept out. With a condition of its own an end may be kept out
// with its begin, which nobody knows: of those one without a begin is a fault.
bool may_lack_begins(const PairPlan& pair) {
    const auto is_sampled = [](const PairPart& part) {
        return part.identity.limits.sample_every != 0 || part.identity.limits.interval_ns != 0;
    };
    const auto keeps_out = [&](const PairPart& part) {
        return is_sampled(part) || (has_condition(part) && !has_condition(pair.end));
    };
    return keeps_out(pair.begin) || std::ranges::any_of(pair.other_begins, keeps_out);
}

// Of its shown values, which the key is none of.
std::vector<NamePiece> line_of_end(const PairPart& end) {
    std::vector<NamePiece> line = end.identity.line;
    if (end.scope == PairKey::none) return line;
    for (NamePiece& piece : line) {
        if (piece.slot != NamePiece::kText) --piece.slot;
    }
    return line;
}

size_t count_programs(const PairPart& part) {
    const auto with_tails = [](const ProbeSite& site) { return !site.tail_offsets.empty(); };
    return part.sites.size() + static_cast<size_t>(std::ranges::count_if(part.sites, with_tails));
}

}  // namespace

void PlanBuilder::add_pair(PairPlan plan) {
    program_count_ += count_programs(plan.begin) + count_programs(plan.end);
    for (const auto& part : plan.other_begins) program_count_ += count_programs(part);
    for (const auto& part : plan.until) program_count_ += count_programs(part);
    pairs_.push_back(std::move(plan));
}

std::vector<PlanBuilder::Probe> PlanBuilder::take_probes() {
    return std::exchange(candidates_, {});
}

std::vector<std::string> PlanBuilder::take_warnings() {
    return std::exchange(plan_.warnings, {});
}

std::vector<model::Argument> PlanBuilder::settle_part(PairPart& part) {
    std::vector<Arguments*> lists;
    for (auto& site : part.sites) lists.push_back(&site.arguments);
    return settle(lists);
}

void PlanBuilder::emit_pair(PairPlan& pair) {
    model::Point point;
    point.index = model::PointIndex{static_cast<uint32_t>(plan_.points.size())};
    point.kind = model::PointKind::span;
    point.category = pair.category;
    point.name = pair.name;
    point.role = pair.begin.identity.role;
    std::vector<Arguments*> lists;
    for (auto& site : pair.begin.sites) lists.push_back(&site.arguments);
    for (auto& other : pair.other_begins) {
        for (auto& site : other.sites) lists.push_back(&site.arguments);
    }
    point.arguments = settle(lists);
    const auto first_begin = next_probe_id();
    emit_part(pair.begin, HitRole::pair_begin, point.index, point.arguments);
    for (const auto& other : pair.other_begins) {
        emit_part(other, HitRole::pair_begin, point.index, point.arguments);
    }
    auto end_slots = settle_part(pair.end);
    const auto first_end = next_probe_id();
    emit_part(pair.end, HitRole::pair_end, point.index, end_slots);
    for (size_t i = first_end - TR_PROBE_FIRST_USER; i < plan_.probes.size(); ++i) {
        plan_.probes[i].may_lack_begin = may_lack_begins(pair);
    }
    if (ends_its_own_call(pair.end)) join_returns(first_begin, first_end);
    for (auto& part : pair.until) {
        const auto slots = settle_part(part);
        emit_part(part, HitRole::pair_until, point.index, slots);
    }
    // The begin shows the key.
    const long key_slots = pair.end.scope == PairKey::none ? 0 : pair.end.has_second_key ? 2 : 1;
    end_slots.erase(end_slots.begin(), end_slots.begin() + key_slots);
    rename_doubles(end_slots, point.arguments);
    point.end_arguments = std::move(end_slots);
    plan_.points.push_back(std::move(point));
}

void PlanBuilder::join_returns(uint32_t first_begin_id, uint32_t first_end_id) {
    for (AttachFile& file : plan_.files) {
        std::map<uint64_t, uint32_t> begins;  // by place
        for (const AttachSite& site : file.sites) {
            const bool is_begin = site.probe_id >= first_begin_id && site.probe_id < first_end_id;
            if (is_begin) begins.emplace(site.file_offset, site.probe_id);
        }
        for (AttachSite& site : file.sites) {
            if (site.probe_id < first_end_id || !is_return_program(site.program)) continue;
            const auto begin = begins.find(site.file_offset);
            if (begin != begins.end()) site.begin_id = begin->second;
        }
    }
}

void PlanBuilder::emit_part(const PairPart& part,
                            HitRole role,
                            model::PointIndex point,
                            const std::vector<model::Argument>& slots) {
    tr_gate gate = part.identity.limits.gate();
    const bool is_gated = std::ranges::any_of(
        part.sites, [&](const ProbeSite& site) { return has_gate(part.identity, site.condition); });
    if (is_gated) gate.state = plan_.gate_state_count++;
    for (const auto& site : part.sites) {
        const bool is_at_ret = site.is_at_exits();
        const auto id = add_program(part.identity, role, site.arguments, point, slots, is_at_ret);
        ProbeDefinition& definition = plan_.probes.back();
        definition.key = part.scope;
        definition.has_second_key = part.has_second_key;
        if (role == HitRole::pair_end && part.identity.is_line_of_process) {
            definition.line = line_of_end(part);
            definition.is_line_of_process = true;
        }
        if (is_gated) add_gate(id, gate, site.condition);
        add_place(part.identity, site, id);
        add_raises(part.identity, site, id);
    }
}

}  // namespace tracer
