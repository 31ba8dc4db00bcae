// SPDX-License-Identifier: Apache-2.0
//
// Tells an attach plan in words and numbers. The costs are ratios of measured hits (one machine,
// Linux 6.18, under KVM: a 1-byte nop 733 ns): good for comparing places with each other. Called by
// `tracer explain`.
#include "probe/explain.h"

#include "probe/code_place.h"
#include "probe/explain_argument.h"
#include "probe/function_names.h"
#include "probe/probed_instruction.h"
#include "symbol/instructions.h"
#include "symbol/symbol_table.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include <fmt/format.h>

namespace tracer {

namespace {

// Parts of a hit's cost, as ratios to an empty program on a 1-byte nop.
constexpr double kNop5Cost = 0.75;
constexpr double kEmulatedCost = 1.15;
constexpr double kSteppedCost = 16;
constexpr double kReturnCost = 0.75;  // beyond the entry's, which a return probe needs too
constexpr double kRecordCost = 0.2;
constexpr double kLoadCost = 0.1;  // of user memory
constexpr double kTracepointCost = 0.3;

double entry_cost(InstructionClass kind) {
    switch (kind) {
        case InstructionClass::nop1:
            return 1;
        case InstructionClass::nop5:
            return kNop5Cost;
        case InstructionClass::push:
        case InstructionClass::branch:
            return kEmulatedCost;
        case InstructionClass::stepped:
            return kSteppedCost;
        case InstructionClass::unreadable:
            return 0;
    }
    return 0;
}

double record_cost(const tr_probe& program) {
    double cost = kRecordCost;
    for (const auto& arg : std::span(program.args, program.arg_count)) {
        const bool is_text = arg.form == TR_ARG_USER_STRING || arg.form == TR_ARG_USER_ARRAY ||
                             arg.form == TR_ARG_USER_BYTES;
        const auto loads = std::count_if(arg.ops, arg.ops + arg.op_count,
                                         [](const tr_op& op) { return op.code == TR_OP_LOAD; });
        cost += kLoadCost * static_cast<double>(loads + (is_text ? 1 : 0));
    }
    return cost;
}

std::string_view meaning_of(HitRole role, model::PointKind kind) {
    switch (role) {
        case HitRole::instant:
            return kind == model::PointKind::counter ? "counter" : "event";
        case HitRole::state:
            return "state";
        case HitRole::thread_name:
            return "name of the thread";
        case HitRole::process_name:
            return "name of the process";
        case HitRole::span_begin:
        case HitRole::span_end:
        case HitRole::fiber_span_begin:
        case HitRole::fiber_span_end:
        case HitRole::pair_begin:
        case HitRole::pair_end:
        case HitRole::pair_until:
            return "span";
    }
    return "event";
}

std::string_view part_of(HitRole role) {
    switch (role) {
        case HitRole::pair_begin:
            return "begin";
        case HitRole::pair_end:
            return "end";
        case HitRole::pair_until:
            return "until";
        default:
            return {};
    }
}

// The texts of one probe, or of those that a pair is made of.
struct SpecTexts {
    std::string begin;
    std::string end;
    std::vector<std::string> until;

    void add(const ProbeDefinition& definition) {
        const std::string& text = definition.spec;
        if (definition.role == HitRole::pair_end) {
            end = text;
        } else if (definition.role != HitRole::pair_until) {
            begin = text;
        } else if (std::ranges::find(until, text) == until.end()) {
            until.push_back(text);
        }
    }
    [[nodiscard]] std::string joined() const {
        std::string text = begin;
        if (!end.empty()) text += " ~~ " + end;
        if (!until.empty()) text += fmt::format(" until {}", fmt::join(until, ", "));
        return text;
    }
};

// A template as the grammar has it, for those who read it.
std::string template_text(const std::vector<NamePiece>& pieces,
                          const std::vector<model::Argument>& arguments) {
    std::string text;
    for (const NamePiece& piece : pieces) {
        if (piece.slot == NamePiece::kText) {
            text += piece.text;
        } else {
            text += fmt::format("{{{}}}", arguments.at(piece.slot).name);
        }
    }
    return text;
}

// One file of a plan: its symbols are read when the first site is explained.
class FileExplainer {
public:
    FileExplainer(const AttachFile& file, ElfFile elf, SymbolTable symbols)
        : file_(file),
          elf_(std::move(elf)),
          symbols_(std::move(symbols)),
          context_(demangle_context(elf_)) {}

    void explain(const AttachSite& site, ExplainedSite& out) const {
        out.file = file_.shown_path;
        out.file_offset = site.file_offset;
        out.semaphore_offset = site.semaphore_offset;
        out.is_return = is_return_program(site.program);
        out.is_sleepable = is_sleepable_program(site.program);
        const auto vaddr = vaddr_of(site.file_offset);
        if (!vaddr) return;
        out.vaddr = *vaddr;
        const auto function = function_holding(elf_, symbols_, *vaddr);
        out.symbol = place_name(function, *vaddr);
        const auto code = read_code(site.file_offset, kInstructionBytesMax);
        out.instruction = instruction_text(code, *vaddr);
        out.kind = classify_instruction(code);
        const bool is_entry = function && function->vaddr == *vaddr;
        if (out.kind == InstructionClass::stepped && is_entry && !out.is_return) {
            out.cheaper = cheaper_place(*function, site.file_offset);
        }
    }

private:
    [[nodiscard]] std::optional<uint64_t> vaddr_of(uint64_t file_offset) const {
        for (const auto& segment : elf_.segments()) {
            if (!segment.is_executable || file_offset < segment.file_offset ||
                file_offset - segment.file_offset >= segment.file_bytes) {
                continue;
            }
            return segment.vaddr + (file_offset - segment.file_offset);
        }
        return std::nullopt;
    }

    [[nodiscard]] std::vector<std::byte> read_code(uint64_t file_offset, uint64_t bytes) const {
        constexpr uint64_t kBytesMax = 4 << 20;
        const uint64_t behind = elf_.size() - std::min(file_offset, elf_.size());
        auto code = elf_.read(file_offset, std::min({bytes, behind, kBytesMax}));
        return code ? std::move(*code) : std::vector<std::byte>{};
    }

    [[nodiscard]] std::string place_name(const std::optional<CodeFunction>& function,
                                         uint64_t vaddr) const {
        if (!function) return {};
        auto name = function->symbol == nullptr
                        ? fmt::format("{:#x}", function->vaddr)
                        : name_function(*function->symbol, context_).name.bare;
        if (vaddr == function->vaddr) return name;
        return fmt::format("{}+{:#x}", name, vaddr - function->vaddr);
    }

    [[nodiscard]] std::string cheaper_place(const CodeFunction& function,
                                            uint64_t file_offset) const {
        const auto code = read_code(file_offset, function.bytes);
        const auto cheaper = find_cheaper_site(code);
        if (!cheaper) return {};
        const auto rest = std::span(code).subspan(cheaper->offset);
        const bool has_all = cheaper->has_arguments && cheaper->has_stack_pointer;
        return fmt::format("+{:#x}, {}{}", cheaper->offset,
                           instruction_text(rest, function.vaddr + cheaper->offset),
                           has_all ? "" : ", where arguments are no longer in their places");
    }

    const AttachFile& file_;
    ElfFile elf_;
    SymbolTable symbols_;
    DemangleContext context_;
};

Result<FileExplainer> open_file(const AttachFile& file, const DebugFileSearch& debug_files) {
    TR_ASSIGN(auto elf, ElfFile::open(file.open_path));
    TR_ASSIGN(auto symbols, SymbolTable::load(elf, debug_files));
    return FileExplainer(file, std::move(elf), std::move(symbols));
}

class PlanExplainer {
public:
    explicit PlanExplainer(const AttachPlan& plan) : plan_(plan) {
        explanation_.warnings = plan.warnings;
        for (const auto& point : plan.points) {
            ExplainedProbe probe;
            probe.category = point.category;
            probe.name = point.name;
            probe.is_span = point.kind == model::PointKind::span;
            explanation_.probes.push_back(std::move(probe));
        }
        texts_.resize(plan.points.size());
    }

    Status add_file(const AttachFile& file, const DebugFileSearch& debug_files) {
        TR_ASSIGN(const auto explainer, open_file(file, debug_files));
        std::set<uint64_t> entries;  // places whose entry is probed anyway
        for (const auto& site : file.sites) {
            if (!is_return_program(site.program)) entries.insert(site.file_offset);
        }
        for (const auto& raise : file.raises) {
            const auto& definition = plan_.probes.at(raise.probe_id - TR_PROBE_FIRST_USER);
            explanation_.probes.at(static_cast<size_t>(definition.point))
                .raises.push_back(fmt::format("{} at {:#x}, by a place at {:#x} where no code runs",
                                              file.shown_path, raise.semaphore_offset,
                                              raise.file_offset));
        }
        for (const auto& site : file.sites) {
            ExplainedSite out;
            explainer.explain(site, out);
            const auto& program = plan_.programs.at(site.probe_id - TR_PROBE_FIRST_USER);
            const bool is_paid = out.is_return && entries.count(site.file_offset) != 0;
            out.cost = (is_paid ? 0 : entry_cost(out.kind)) + (out.is_return ? kReturnCost : 0);
            if (out.cost != 0) out.cost += record_cost(program);
            add_site(site.probe_id, program, std::move(out));
        }
        return {};
    }

    void add_tracepoint(const AttachTracepoint& tracepoint) {
        const auto& program = plan_.programs.at(tracepoint.probe_id - TR_PROBE_FIRST_USER);
        ExplainedSite out;
        out.cost = kTracepointCost + record_cost(program);
        add_site(tracepoint.probe_id, program, std::move(out));
    }

    Explanation take() && {
        for (size_t i = 0; i < texts_.size(); ++i) {
            ExplainedProbe& probe = explanation_.probes[i];
            probe.spec = texts_[i].joined();
            // Where they stand in the file says nothing about which comes first.
            std::ranges::stable_sort(probe.sites, {}, [](const ExplainedSite& site) {
                return site.part == "end" ? 1 : site.part == "until" ? 2 : 0;
            });
        }
        return std::move(explanation_);
    }

private:
    void add_site(uint32_t probe_id, const tr_probe& program, ExplainedSite site) {
        const auto& definition = plan_.probes.at(probe_id - TR_PROBE_FIRST_USER);
        const auto index = static_cast<size_t>(definition.point);
        site.arguments = explain_arguments(definition, plan_.points.at(index), program);
        auto& probe = explanation_.probes.at(index);
        texts_.at(index).add(definition);
        site.part = part_of(definition.role);
        const auto& point = plan_.points.at(index);
        probe.meaning = meaning_of(definition.role, point.kind);
        if (!definition.line.empty()) {
            probe.line = template_text(definition.line, point.arguments);
        }
        probe.sites.push_back(std::move(site));
    }

    const AttachPlan& plan_;
    Explanation explanation_;
    std::vector<SpecTexts> texts_;  // by point, as the explanation's probes
};

}  // namespace

Result<Explanation> explain_plan(const AttachPlan& plan, const DebugFileSearch& debug_files) {
    PlanExplainer explainer(plan);
    for (const auto& file : plan.files) TR_TRY(explainer.add_file(file, debug_files));
    for (const auto& tracepoint : plan.tracepoints) explainer.add_tracepoint(tracepoint);
    return std::move(explainer).take();
}

}  // namespace tracer
