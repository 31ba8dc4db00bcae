// SPDX-License-Identifier: Apache-2.0
//
// From resolved probes to a plan: places that several name, ids, points, record shapes. Relies on
// its callers for at most TR_ARGS_MAX arguments (one less for spans). Called by the compilers of
// each probe kind.
#include "probe/plan_builder.h"

#include "probe/compile_condition.h"
#include "probe/wildcard.h"

#include <algorithm>
#include <array>
#include <span>
#include <utility>

#include <fmt/format.h>

namespace tracer {

namespace {

struct RecordShape {
    tr_record_shape shape;
    size_t args_max;
    size_t room_max;     // of one string
    size_t others_room;  // of all strings but the largest
};

// In order of size; the first that fits is taken.
constexpr std::array kShapes = {
#define TR_SHAPE_ROW(number, name, bytes, room)                                        \
    RecordShape{TR_SHAPE_##name,                                                       \
                (room) != 0 ? size_t{TR_ARGS_MAX}                                      \
                            : ((bytes) - sizeof(tr_record_header)) / sizeof(uint64_t), \
                room, (room) != 0 ? (bytes)-TR_STRINGS_OFFSET - (room) : 0},
    TR_RECORD_SHAPES(TR_SHAPE_ROW)
#undef TR_SHAPE_ROW
};

bool is_string(const tr_arg& arg) {
    return arg.form != TR_ARG_UNSIGNED && arg.form != TR_ARG_SIGNED &&
           arg.form != TR_ARG_UNREADABLE;
}

// One load through the stack pointer reads the frame that runs: its page is in memory. Any other
// address (a global, a structure behind a pointer) may lie on a page that nothing has touched yet.
bool loads_beyond_the_stack(const tr_arg& arg) {
    const auto* end = arg.ops + arg.op_count;
    const auto loads =
        std::count_if(arg.ops, end, [](const tr_op& op) { return op.code == TR_OP_LOAD; });
    if (loads == 0) return false;
    const bool is_frame = arg.op_count == 2 && arg.ops[0].code == TR_OP_REG &&
                          arg.ops[0].reg == TR_REG_RSP && loads == 1;
    return !is_frame;
}

std::vector<tr_arg*> strings_of(tr_probe& program) {
    std::vector<tr_arg*> strings;
    for (auto* arg = program.args; arg != program.args + program.arg_count; ++arg) {
        if (is_string(*arg)) strings.push_back(arg);
    }
    // A shape's largest string lies last (abi/probe.h).
    std::ranges::stable_sort(strings, {}, &tr_arg::string_bytes_max);
    return strings;
}

size_t room_of(std::span<tr_arg* const> strings) {
    size_t room = 0;
    for (const auto* arg : strings) room += arg->string_bytes_max;
    return room;
}

// Cuts the strings' room to what fits into `room`: evenly, and what the small ones leave goes to
// the large ones. In order of size.
void share_room(std::span<tr_arg* const> strings, size_t room) {
    for (size_t i = 0; i < strings.size(); ++i) {
        const size_t even = room / (strings.size() - i);
        auto& own = strings[i]->string_bytes_max;
        // What is left of an array would look whole: as ended text its cut is marked.
        if (own > even && strings[i]->form == TR_ARG_USER_ARRAY) {
            strings[i]->form = TR_ARG_USER_STRING;
        }
        own = static_cast<uint16_t>(std::min<size_t>(own, even));
        room -= own;
    }
}

// Chooses the record's shape and gives each string its place in it. True: strings have less room
// than was asked for.
bool lay_out(tr_probe& program) {
    const auto strings = strings_of(program);
    const std::span<tr_arg* const> others(strings.data(), strings.empty() ? 0 : strings.size() - 1);
    const size_t largest = strings.empty() ? 0 : strings.back()->string_bytes_max;
    const bool must_share = room_of(others) > kShapes.back().others_room;
    if (must_share) share_room(others, kShapes.back().others_room);
    const size_t others_room = room_of(others);
    const auto* shape = std::find_if(kShapes.begin(), kShapes.end(), [&](const RecordShape& row) {
        return row.args_max >= program.arg_count && row.room_max >= largest &&
               row.others_room >= others_room;
    });
    TR_CHECK(shape != kShapes.end());
    program.shape = static_cast<uint16_t>(shape->shape);
    uint16_t offset = TR_STRINGS_OFFSET;
    for (auto* arg : strings) {
        arg->string_offset = offset;
        offset = static_cast<uint16_t>(offset + arg->string_bytes_max);
    }
    return must_share;
}

// Of how many hits each recorded one is one: in every event, so that counts can be made whole.
constexpr std::string_view kSampleLabel = "one_of";

ProbeArgument sample_argument(uint32_t sample_every) {
    ProbeArgument argument;
    argument.label = kSampleLabel;
    argument.type = model::ValueType::u32;
    argument.arg.form = TR_ARG_UNSIGNED;
    argument.arg.bytes = 4;
    argument.arg.op_count = 1;
    argument.arg.ops[0] = {.code = TR_OP_CONST, .imm = sample_every};
    return argument;
}

tr_arg register_value(tr_reg reg, int64_t more) {
    tr_arg arg{};
    arg.form = TR_ARG_UNSIGNED;
    arg.bytes = 8;
    arg.op_count = 1;
    arg.ops[0] = {.code = TR_OP_REG, .reg = static_cast<uint8_t>(reg), .imm = more};
    return arg;
}

// What stands before the arguments of a role (HitRole). Go's g is in r14 (its register ABI), and
// begins with stack.lo and stack.hi (runtime/runtime2.go).
void add_hidden_slots(tr_probe& program, HitRole role, bool is_at_ret) {
    if (hidden_slots(role) == 0) return;
    const bool is_goroutine = role == HitRole::fiber_span_begin || role == HitRole::fiber_span_end;
    constexpr int64_t kReturnAddressBytes = 8;
    program.args[program.arg_count++] =
        register_value(TR_REG_RSP, is_at_ret ? kReturnAddressBytes : 0);
    if (!is_goroutine) return;
    constexpr int64_t kStackHiOffset = 8;
    program.args[program.arg_count++] = register_value(TR_REG_R14, 0);
    tr_arg stack_end = register_value(TR_REG_R14, 0);
    stack_end.ops[stack_end.op_count++] = {.code = TR_OP_LOAD, .bytes = 8, .imm = kStackHiOffset};
    program.args[program.arg_count++] = stack_end;
}

// A site's slot takes the point's type where its bits already mean the same.
model::ValueType slot_type(model::ValueType site, model::ValueType point) {
    using model::ValueType;
    if (site == ValueType::none) return ValueType::none;
    const bool keeps_own = site == ValueType::f64 || site == ValueType::string ||
                           point == ValueType::f64 || point == ValueType::string;
    return keeps_own ? site : point;
}

// The more particular, the higher; see the class.
int rank_of(const ProbeIdentity& identity) {
    return (identity.has_args ? 2 : 0) + (identity.is_pattern ? 0 : 1);
}

// But for that which is the same as long as the thread lives.
bool reads_registers(const tr_arg& arg) {
    return std::any_of(arg.ops, arg.ops + arg.op_count, [](const tr_op& op) {
        const bool has_register = op.code == TR_OP_REG || op.code == TR_OP_INDEX;
        return has_register && op.reg != TR_REG_FS_BASE;
    });
}

// Not the end of something that was begun.
bool is_hit_of_its_own(HitRole role) {
    switch (role) {
        case HitRole::instant:
        case HitRole::span_begin:
        case HitRole::fiber_span_begin:
        case HitRole::pair_begin:
        case HitRole::state:
        case HitRole::thread_name:
        case HitRole::process_name:
            return true;
        case HitRole::span_end:
        case HitRole::fiber_span_end:
        case HitRole::pair_end:
        case HitRole::pair_until:
            return false;
    }
    return false;
}

// Of a probe that is no span.
HitRole role_of(HitMeaning meaning) {
    switch (meaning) {
        case HitMeaning::event:
        case HitMeaning::counter:
            return HitRole::instant;
        case HitMeaning::state:
            return HitRole::state;
        case HitMeaning::thread_name:
            return HitRole::thread_name;
        case HitMeaning::process_name:
            return HitRole::process_name;
    }
    return HitRole::instant;
}

model::PointKind point_kind_of(const ProbeIdentity& identity) {
    if (identity.meaning == HitMeaning::counter) return model::PointKind::counter;
    const bool is_span = identity.kind == ProbeKind::span || identity.meaning == HitMeaning::state;
    return is_span ? model::PointKind::span : model::PointKind::instant;
}

// What a hit that gives a name says, if its probe does not: the first text.
std::vector<NamePiece> first_text(const std::vector<model::Argument>& arguments) {
    const auto text =
        std::ranges::find(arguments, model::ValueType::string, &model::Argument::type);
    if (text == arguments.end()) return {};
    return {{{}, static_cast<uint8_t>(text - arguments.begin())}};
}

// The same with operands that cannot be read: where one decides, the hit is not recorded.
std::vector<tr_term> unanswered(std::vector<tr_term> condition) {
    for (tr_term& term : condition) {
        if (term.source != TR_TERM_INTEGER && term.source != TR_TERM_TEXT) continue;
        term.arg.op_count = 2;
        term.arg.ops[0] = {.code = TR_OP_CONST};
        // Address 0 is nobody's.
        term.arg.ops[1] = {.code = TR_OP_LOAD, .bytes = 8};
    }
    return condition;
}

size_t programs_of(ProbeKind kind) {
    return kind == ProbeKind::span ? 2 : 1;
}

}  // namespace

ProbeIdentity identity_of_probe(const ProbeSpec& spec,
                                std::string category,
                                std::string name,
                                std::string text) {
    ProbeIdentity identity{std::move(category), std::move(name), std::move(text), spec.kind};
    // Wildcards of a path only choose files: in each, the probe is the one that was named.
    identity.is_pattern = has_wildcard(spec.name) || has_wildcard(spec.provider);
    identity.has_args = spec.has_args;
    for (const auto& arg : spec.args) {
        identity.args += fmt::format("{}={},", arg.label, argument_text(arg));
    }
    identity.clauses = spec.clauses.text;
    identity.limits = limits_of(spec.clauses);
    identity.meaning = spec.clauses.meaning;
    identity.role = spec.clauses.role;
    identity.is_line_of_process = spec.clauses.is_line_of_process;
    identity.yields_to_ring = spec.clauses.yields_to_ring;
    return identity;
}

void PlanBuilder::warn(const std::string& text) {
    if (warned_.insert(text).second) plan_.warnings.push_back(text);
}

void PlanBuilder::add(ProbeIdentity identity, std::vector<ProbeSite> sites) {
    const size_t index = candidates_.size();
    for (size_t i = 0; i < sites.size(); ++i) {
        const Owner own{index, i};
        auto [found, is_new] = owners_.try_emplace(place_of(identity, sites[i]), own);
        if (is_new) {
            program_count_ += programs_of(identity.kind) + (sites[i].tail_offsets.empty() ? 0 : 1);
        } else if (found->second.candidate != index &&
                   rank_of(identity) > rank_of(candidates_[found->second.candidate].identity)) {
            found->second = own;
        }
    }
    candidates_.push_back({std::move(identity), std::move(sites)});
}

AttachPlan PlanBuilder::finish() && {
    for (size_t i = 0; i < candidates_.size(); ++i) keep_own_sites(i);
    for (auto& candidate : candidates_) {
        if (!candidate.sites.empty()) emit(candidate.identity, candidate.sites);
    }
    for (auto& pair : pairs_) emit_pair(pair);
    return std::move(plan_);
}

PlanBuilder::Place PlanBuilder::place_of(const ProbeIdentity& identity, const ProbeSite& site) {
    const bool has_name =
        identity.kind == ProbeKind::usdt || identity.kind == ProbeKind::tracepoint;
    return {identity.kind, site.file.open_path, site.file_offset,
            has_name ? identity.category + ":" + identity.name : std::string(),
            identity.meaning == HitMeaning::event ? std::string()
                                                  : identity.args + " " + identity.clauses};
}

void PlanBuilder::keep_own_sites(size_t candidate) {
    auto& [identity, sites] = candidates_[candidate];
    std::vector<ProbeSite> own;
    for (size_t i = 0; i < sites.size(); ++i) {
        const Owner owner = owners_.at(place_of(identity, sites[i]));
        if (owner == Owner{candidate, i}) {
            own.push_back(std::move(sites[i]));
            continue;
        }
        const auto& winner = candidates_[owner.candidate].identity;
        const bool has_lost = winner.name != identity.name ||
                              (identity.has_args && winner.args != identity.args) ||
                              winner.clauses != identity.clauses;
        if (identity.is_pattern || !has_lost) continue;
        warn(fmt::format("{} is the same place as {}: recorded once, as the latter says",
                         identity.spec, winner.spec));
    }
    sites = std::move(own);
}

std::vector<model::Argument> PlanBuilder::settle(const std::vector<Arguments*>& lists) {
    size_t count = 0;
    for (const auto* list : lists) count = std::max(count, list->size());
    std::vector<model::Argument> settled(count);
    for (auto& argument : settled) argument.type = model::ValueType::none;
    for (const auto* list : lists) {
        for (size_t i = 0; i < list->size(); ++i) {
            settled[i].name = (*list)[i].label;
            if (settled[i].names.empty()) settled[i].names = (*list)[i].names;
            settled[i].type = widest(settled[i].type, (*list)[i].type);
        }
    }
    for (auto* list : lists) {
        while (list->size() < count) {
            list->push_back(missing_argument(settled[list->size()].name));
        }
    }
    return settled;
}

bool PlanBuilder::has_gate(const ProbeIdentity& identity, const std::vector<tr_term>& condition) {
    return !condition.empty() || identity.limits.sample_every != 0 ||
           identity.limits.interval_ns != 0;
}

uint32_t PlanBuilder::add_program(const ProbeIdentity& identity,
                                  HitRole role,
                                  const Arguments& arguments,
                                  model::PointIndex point,
                                  const std::vector<model::Argument>& slots,
                                  bool is_at_ret) {
    const auto probe_id = next_probe_id();
    tr_probe program{};
    add_hidden_slots(program, role, is_at_ret);
    ProbeDefinition definition;
    definition.probe_id = probe_id;
    definition.role = role;
    definition.point = point;
    definition.spec = identity.spec;
    if (is_hit_of_its_own(role)) {
        definition.sample_every = identity.limits.sample_every;
        definition.name = identity.shown_name;
        definition.line = identity.line;
        definition.is_line_of_process = identity.is_line_of_process;
    }
    definition.yields_to_ring = identity.yields_to_ring;
    if (is_naming_role(role) && definition.name.empty()) definition.name = first_text(slots);
    for (size_t i = 0; i < arguments.size(); ++i) {
        TR_CHECK(program.arg_count < TR_ARGS_MAX);
        program.args[program.arg_count++] = arguments[i].arg;
        definition.slots.push_back(slot_type(arguments[i].type, slots[i].type));
        if (arguments[i].is_f32) {
            definition.f32_slots = static_cast<uint16_t>(definition.f32_slots | (1u << i));
        }
        if (arguments[i].is_cxx_type) {
            definition.cxx_type_slots =
                static_cast<uint16_t>(definition.cxx_type_slots | (1u << i));
        }
    }
    if (lay_out(program)) {
        warn(fmt::format("{}: its texts together are larger than a record; they share {} bytes",
                         identity.spec, TR_RECORD_BYTES_MAX - TR_STRINGS_OFFSET));
    }
    plan_.programs.push_back(program);
    plan_.probes.push_back(std::move(definition));
    return probe_id;
}

bool PlanBuilder::may_fault(uint32_t probe_id) const {
    const auto reads = [](const tr_arg& arg) {
        return is_string(arg) || loads_beyond_the_stack(arg);
    };
    const auto& program = plan_.programs[probe_id - TR_PROBE_FIRST_USER];
    if (std::any_of(program.args, program.args + program.arg_count, reads)) return true;
    if ((program.flags & TR_PROBE_GATED) == 0) return false;
    const auto& gate = plan_.gates[program.flags >> TR_PROBE_GATE_SHIFT];
    return std::any_of(gate.terms, gate.terms + gate.term_count,
                       [&](const tr_term& term) { return reads(term.arg); });
}

void PlanBuilder::add_gate(uint32_t probe_id, tr_gate gate, const std::vector<tr_term>& condition) {
    TR_CHECK(condition.size() <= TR_TERMS_MAX);
    gate.term_count = static_cast<uint16_t>(condition.size());
    std::copy(condition.begin(), condition.end(), gate.terms);
    const auto index = static_cast<uint32_t>(plan_.gates.size());
    plan_.programs[probe_id - TR_PROBE_FIRST_USER].flags =
        TR_PROBE_GATED | index << TR_PROBE_GATE_SHIFT;
    plan_.gates.push_back(gate);
}

void PlanBuilder::add_site(const ProbeIdentity& identity,
                           const ProbeSite& site,
                           uint32_t probe_id,
                           ProbeProgram program,
                           uint32_t begin_id) {
    if (may_fault(probe_id)) {
        if (program == ProbeProgram::hit) program = ProbeProgram::hit_sleepable;
        if (program == ProbeProgram::return_hit) program = ProbeProgram::return_sleepable;
    }
    file_of(site.file).sites.push_back({site.file_offset, site.semaphore_offset, probe_id, program,
                                        identity.is_pattern, begin_id});
}

AttachFile& PlanBuilder::file_of(const TargetFile& file) {
    const auto [found, is_added] = file_indexes_.try_emplace(file.open_path, plan_.files.size());
    if (is_added) plan_.files.push_back({file.open_path, file.shown_path, {}, {}, {}});
    return plan_.files[found->second];
}

// A place has one semaphore: the kernel refuses a second.
void PlanBuilder::add_raises(const ProbeIdentity& identity,
                             const ProbeSite& site,
                             uint32_t probe_id) {
    for (SemaphoreRaise raise : site.raises) {
        raise.probe_id = probe_id;
        if (!file_of(site.file).add_raise(raise)) {
            warn(fmt::format("{}: no place left in {} to raise the semaphore at {:#x} by",
                             identity.spec, site.file.shown_path, raise.semaphore_offset));
        }
    }
}

void PlanBuilder::add_place(const ProbeIdentity& identity,
                            const ProbeSite& site,
                            uint32_t probe_id) {
    if (identity.kind == ProbeKind::tracepoint) {
        plan_.tracepoints.push_back({identity.category, identity.name, probe_id});
    } else if (identity.kind == ProbeKind::uretprobe) {
        add_return_place(identity, site, probe_id, 0);
    } else {
        add_site(identity, site, probe_id, ProbeProgram::hit);
    }
}

void PlanBuilder::add_return_place(const ProbeIdentity& identity,
                                   const ProbeSite& site,
                                   uint32_t probe_id,
                                   uint32_t begin_id) {
    if (!site.is_at_exits()) {
        add_site(identity, site, probe_id, ProbeProgram::return_hit, begin_id);
        return;
    }
    ProbeSite at = site;
    for (const uint64_t offset : site.return_offsets) {
        at.file_offset = offset;
        add_site(identity, at, probe_id, ProbeProgram::hit);
    }
    if (!site.tail_offsets.empty()) add_tail_place(identity, site, probe_id);
}

// What the function returns is not known yet; its stack pointer and the goroutine are the same, and
// so are variables of the thread.
void PlanBuilder::add_tail_place(const ProbeIdentity& identity,
                                 const ProbeSite& site,
                                 uint32_t probe_id) {
    const size_t index = probe_id - TR_PROBE_FIRST_USER;
    const auto id = next_probe_id();
    tr_probe program = plan_.programs[index];
    ProbeDefinition definition = plan_.probes[index];
    definition.probe_id = id;
    for (size_t i = hidden_slots(definition.role); i < program.arg_count; ++i) {
        if (reads_registers(program.args[i])) program.args[i] = missing_argument({}).arg;
    }
    lay_out(program);
    plan_.programs.push_back(program);
    if ((program.flags & TR_PROBE_GATED) != 0) {
        tr_gate gate = plan_.gates[program.flags >> TR_PROBE_GATE_SHIFT];
        const std::vector<tr_term> condition(gate.terms, gate.terms + gate.term_count);
        add_gate(id, gate, unanswered(condition));
    }
    plan_.probes.push_back(std::move(definition));
    ProbeSite at = site;
    for (const uint64_t offset : site.tail_offsets) {
        at.file_offset = offset;
        add_site(identity, at, id, ProbeProgram::hit);
    }
}

void PlanBuilder::add_sample(const ProbeIdentity& identity, ProbeSite& site) {
    const size_t room = TR_ARGS_MAX - (identity.kind == ProbeKind::span ? 1 : 0);
    if (site.arguments.size() < room) {
        site.arguments.push_back(sample_argument(identity.limits.sample_every));
        return;
    }
    warn(
        fmt::format("{}: no room for its {}: with one argument less each event says of how many "
                    "hits it is one",
                    identity.spec, kSampleLabel));
}

void PlanBuilder::emit(const ProbeIdentity& identity, std::vector<ProbeSite>& sites) {
    const bool is_span = identity.kind == ProbeKind::span;
    model::Point point;
    point.index = model::PointIndex{static_cast<uint32_t>(plan_.points.size())};
    point.kind = point_kind_of(identity);
    point.category = identity.category;
    point.name = identity.name;
    point.role = identity.role;
    std::vector<Arguments*> lists;
    std::vector<Arguments*> return_lists;
    tr_gate gate = identity.limits.gate();
    // Of returns that are shared with calls of other functions the gate knows the span's own.
    const bool is_gated = std::ranges::any_of(sites, [&](const ProbeSite& site) {
        return has_gate(identity, site.condition) || site.shares_returns;
    });
    // The sites of a probe are counted together.
    if (is_gated) gate.state = plan_.gate_state_count++;
    for (auto& site : sites) {
        // One more series of a counter it must not be; states and names have no number.
        if (gate.sample_every != 0 && identity.meaning == HitMeaning::event) {
            add_sample(identity, site);
        }
        lists.push_back(&site.arguments);
        return_lists.push_back(&site.return_arguments);
    }
    point.arguments = settle(lists);
    point.end_arguments = settle(return_lists);
    for (const auto& site : sites) {
        const bool is_at_ret = site.is_at_exits();
        const auto begin = site.is_goroutine ? HitRole::fiber_span_begin : HitRole::span_begin;
        const auto role = is_span ? begin : role_of(identity.meaning);
        const auto id = add_program(identity, role, site.arguments, point.index, point.arguments,
                                    identity.kind == ProbeKind::uretprobe && is_at_ret);
        if (is_gated) {
            gate.flags = is_span ? TR_GATE_SPAN_BEGIN : 0;
            add_gate(id, gate, site.condition);
        }
        add_place(identity, site, id);
        add_raises(identity, site, id);
        if (!is_span) continue;
        const auto end =
            add_program(identity, site.is_goroutine ? HitRole::fiber_span_end : HitRole::span_end,
                        site.return_arguments, point.index, point.end_arguments, is_at_ret);
        if (is_gated) {
            tr_gate end_gate{};
            end_gate.state = gate.state;
            end_gate.flags = TR_GATE_SPAN_END;
            if (is_at_ret) end_gate.flags |= TR_GATE_AT_RET;
            add_gate(end, end_gate, {});
        }
        add_return_place(identity, site, end, id);
    }
    plan_.points.push_back(std::move(point));
}

}  // namespace tracer
