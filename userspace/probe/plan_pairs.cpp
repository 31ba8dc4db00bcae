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

}  // namespace

void PlanBuilder::add_pair(PairPlan plan) {
    program_count_ += plan.begin.sites.size() + plan.end.sites.size();
    for (const auto& part : plan.until) program_count_ += part.sites.size();
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
    point.arguments = settle_part(pair.begin);
    emit_part(pair.begin, HitRole::pair_begin, point.index, point.arguments);
    auto end_slots = settle_part(pair.end);
    emit_part(pair.end, HitRole::pair_end, point.index, end_slots);
    for (auto& part : pair.until) {
        const auto slots = settle_part(part);
        emit_part(part, HitRole::pair_until, point.index, slots);
    }
    // The begin shows the key.
    if (pair.end.scope != PairKey::none) end_slots.erase(end_slots.begin());
    rename_doubles(end_slots, point.arguments);
    point.end_arguments = std::move(end_slots);
    plan_.points.push_back(std::move(point));
}

void PlanBuilder::emit_part(const PairPart& part,
                            HitRole role,
                            model::PointIndex point,
                            const std::vector<model::Argument>& slots) {
    tr_gate gate = part.identity.gate;
    const bool is_gated = std::ranges::any_of(
        part.sites, [&](const ProbeSite& site) { return has_gate(part.identity, site.condition); });
    if (is_gated) gate.state = plan_.gate_state_count++;
    for (const auto& site : part.sites) {
        const bool is_at_ret = !site.return_offsets.empty();
        const auto id = add_program(part.identity, role, site.arguments, point, slots, is_at_ret);
        plan_.probes.back().key = part.scope;
        if (is_gated) add_gate(id, gate, site.condition);
        add_place(part.identity, site, id);
    }
}

}  // namespace tracer
