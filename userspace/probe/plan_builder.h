// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "probe/attach_plan.h"
#include "probe/probe_argument.h"
#include "probe/probe_spec.h"
#include "probe/target_files.h"

#include <map>
#include <set>
#include <string>
#include <vector>

namespace tracer {

// One place of one probe, resolved.
struct ProbeSite {
    TargetFile file;  // none of a tracepoint
    uint64_t file_offset = 0;
    uint64_t semaphore_offset = 0;
    std::vector<ProbeArgument> arguments;
    std::vector<ProbeArgument> return_arguments;  // spans
    // The function's ret instructions, where they stand in for a return probe; empty: they do not.
    std::vector<uint64_t> return_offsets;
    bool is_goroutine = false;       // a span of Go's: on the goroutine's stack, not the thread's
    std::vector<tr_term> condition;  // empty: none
};

// What the sites of one probe have in common.
struct ProbeIdentity {
    std::string category;
    std::string name;
    std::string spec;  // its text without wildcards, for the summary
    ProbeKind kind = ProbeKind::usdt;
    bool is_pattern = false;            // found by a wildcard
    bool has_args = false;              // with the arguments that its text names,
    std::string args;                   // spelled in one way
    std::string clauses;                // as the text has them
    tr_gate gate{};                     // of its clauses, without terms and state
    std::vector<NamePiece> shown_name;  // slots count the arguments of an instant or a begin
};

// One of the probes of a pair, with all its places.
struct PairPart {
    ProbeIdentity identity;
    std::vector<ProbeSite> sites;
    PairKey scope = PairKey::none;  // else the first argument of each place is the key
};

// A span that begins and ends at probes.
struct PairPlan {
    std::string category;
    std::string name;
    PairPart begin;
    PairPart end;
    std::vector<PairPart> until;
};

// Of the probe called `category` and `name` that `spec`, maybe with wildcards, stands for. `text`:
// what it is called alone.
[[nodiscard]] ProbeIdentity identity_of_probe(const ProbeSpec& spec,
                                              std::string category,
                                              std::string name,
                                              std::string text);

// Collects resolved probes into a plan: settles which of them has a place that several name, gives
// out probe ids and points, settles the types of probes whose sites differ, and lays out records.
//
// A place is attached once for each kind of probe, or every hit would be recorded twice. It goes to
// the most particular probe: one that names its arguments before one that takes the default ones,
// one without wildcards before one with them, the first before the second.
// Pairs have programs of their own at each of their places.
class PlanBuilder {
public:
    struct Probe {
        ProbeIdentity identity;
        std::vector<ProbeSite> sites;
    };

    void add(ProbeIdentity identity, std::vector<ProbeSite> sites);
    void add_pair(PairPlan plan);

    // What was added and warned of, for another builder.
    [[nodiscard]] std::vector<Probe> take_probes();
    [[nodiscard]] std::vector<std::string> take_warnings();

    // Each text once.
    void warn(const std::string& text);

    // Of the probes added so far.
    [[nodiscard]] size_t program_count() const { return program_count_; }
    [[nodiscard]] AttachPlan finish() &&;

private:
    using Arguments = std::vector<ProbeArgument>;

    // Two USDT probes may share a nop, so the name is part of their place; two names of a function
    // are one place.
    struct Place {
        ProbeKind kind{};
        std::string file;  // its open_path
        uint64_t file_offset = 0;
        std::string name;
        // NOLINTNEXTLINE(modernize-use-nullptr): clang-tidy 14 sees the 0 that is compared with.
        auto operator<=>(const Place&) const = default;
    };
    struct Owner {
        size_t candidate = 0;
        size_t site = 0;
        bool operator==(const Owner&) const = default;
    };

    [[nodiscard]] static Place place_of(const ProbeIdentity& identity, const ProbeSite& site);
    // Leaves a candidate the sites that are its own; tells of those that the user named and that
    // are recorded in another way.
    void keep_own_sites(size_t candidate);
    void emit(const ProbeIdentity& identity, std::vector<ProbeSite>& sites);
    void emit_pair(PairPlan& pair);
    void emit_part(const PairPart& part,
                   HitRole role,
                   model::PointIndex point,
                   const std::vector<model::Argument>& slots);
    static std::vector<model::Argument> settle_part(PairPart& part);
    // Brings the sites' lists to one length, and returns what they are together.
    static std::vector<model::Argument> settle(const std::vector<Arguments*>& lists);
    // Adds a program and its definition; returns the probe id. The first slots of a function span's
    // are what HitRole says. `slots`: what the arguments are over all sites. `is_at_ret`: it runs
    // before the return address is popped, not after.
    uint32_t add_program(const ProbeIdentity& identity,
                         HitRole role,
                         const Arguments& arguments,
                         model::PointIndex point,
                         const std::vector<model::Argument>& slots,
                         bool is_at_ret);
    [[nodiscard]] static bool has_gate(const ProbeIdentity& identity,
                                       const std::vector<tr_term>& condition);
    // Puts what decides about its hits before a program.
    void add_gate(uint32_t probe_id, tr_gate gate, const std::vector<tr_term>& condition);
    // Has a probe of that kind run at the site; the second: at the function's return.
    void add_place(const ProbeIdentity& identity, const ProbeSite& site, uint32_t probe_id);
    void add_return_place(const ProbeIdentity& identity, const ProbeSite& site, uint32_t probe_id);
    void add_site(const ProbeIdentity& identity,
                  const ProbeSite& site,
                  uint32_t probe_id,
                  ProbeProgram program);
    // Whether an argument lies on a page that may not be in memory.
    [[nodiscard]] bool may_fault(uint32_t probe_id) const;

    std::vector<Probe> candidates_;
    std::vector<PairPlan> pairs_;
    std::map<Place, Owner> owners_;
    size_t program_count_ = 0;
    AttachPlan plan_;
    std::map<std::string, size_t> file_indexes_;  // by open_path
    std::set<std::string> warned_;
};

}  // namespace tracer
