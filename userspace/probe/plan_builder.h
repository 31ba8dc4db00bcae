// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "probe/attach_plan.h"
#include "probe/probe_argument.h"
#include "probe/target_files.h"

#include <map>
#include <set>
#include <string>
#include <vector>

namespace tracer {

// One place of one probe, resolved.
struct ProbeSite {
    TargetFile file;
    uint64_t file_offset = 0;
    uint64_t semaphore_offset = 0;
    std::vector<ProbeArgument> arguments;
    std::vector<ProbeArgument> return_arguments;  // spans
};

// What the sites of one probe have in common.
struct ProbeIdentity {
    std::string category;
    std::string name;
    std::string spec;  // its text without wildcards, for the summary
    // Not empty: the same key twice is one probe (a wildcard and a name may meet).
    std::string key;
};

// Collects resolved probes into a plan: gives out probe ids and points, settles the types of
// probes whose sites differ, and lays out records.
class PlanBuilder {
public:
    // True at the sites of which a function's return is caught.
    enum class At : uint8_t { entry, function_return };

    void add_instant(const ProbeIdentity& identity, At at, std::vector<ProbeSite> sites);
    void add_span(const ProbeIdentity& identity, std::vector<ProbeSite> sites);
    void add_tracepoint(const ProbeIdentity& identity, std::vector<ProbeArgument> arguments);

    // Each text once.
    void warn(const std::string& text);

    [[nodiscard]] size_t program_count() const { return plan_.programs.size(); }
    [[nodiscard]] AttachPlan finish() && { return std::move(plan_); }

private:
    using Arguments = std::vector<ProbeArgument>;

    [[nodiscard]] bool is_new(const ProbeIdentity& identity);
    model::Point& add_point(const ProbeIdentity& identity, model::PointKind kind);
    // Brings the sites' lists to one length, and returns what they are together.
    static std::vector<model::Argument> settle(const std::vector<Arguments*>& lists);
    // Adds a program and its definition; returns the probe id. `stack_slot`: slot 0 is rsp.
    uint32_t add_program(const ProbeIdentity& identity,
                         HitRole role,
                         const Arguments& arguments,
                         const model::Point& point);
    void add_site(const ProbeSite& site, uint32_t probe_id, ProbeProgram program);
    // Whether an argument lies on a page that may not be in memory.
    [[nodiscard]] bool may_fault(uint32_t probe_id) const;

    AttachPlan plan_;
    std::map<std::string, size_t> file_indexes_;  // by open_path
    std::set<std::string> keys_;
    std::set<std::string> warned_;
};

}  // namespace tracer
