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

bool is_return(ProbeProgram program) {
    return program == ProbeProgram::return_hit || program == ProbeProgram::return_sleepable;
}

bool is_sleepable(ProbeProgram program) {
    return program == ProbeProgram::hit_sleepable || program == ProbeProgram::return_sleepable;
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
        out.is_return = is_return(site.program);
        out.is_sleepable = is_sleepable(site.program);
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
    }

    Status add_file(const AttachFile& file, const DebugFileSearch& debug_files) {
        TR_ASSIGN(const auto explainer, open_file(file, debug_files));
        std::set<uint64_t> entries;  // places whose entry is probed anyway
        for (const auto& site : file.sites) {
            if (!is_return(site.program)) entries.insert(site.file_offset);
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

    Explanation take() && { return std::move(explanation_); }

private:
    void add_site(uint32_t probe_id, const tr_probe& program, ExplainedSite site) {
        const auto& definition = plan_.probes.at(probe_id - TR_PROBE_FIRST_USER);
        const auto index = static_cast<size_t>(definition.point);
        site.arguments = explain_arguments(definition, plan_.points.at(index), program);
        auto& probe = explanation_.probes.at(index);
        probe.spec = definition.spec;
        probe.sites.push_back(std::move(site));
    }

    const AttachPlan& plan_;
    Explanation explanation_;
};

}  // namespace

Result<Explanation> explain_plan(const AttachPlan& plan, const DebugFileSearch& debug_files) {
    PlanExplainer explainer(plan);
    for (const auto& file : plan.files) TR_TRY(explainer.add_file(file, debug_files));
    for (const auto& tracepoint : plan.tracepoints) explainer.add_tracepoint(tracepoint);
    return std::move(explainer).take();
}

}  // namespace tracer
