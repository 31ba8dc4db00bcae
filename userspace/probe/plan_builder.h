// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "probe/attach_plan.h"
#include "probe/compile_condition.h"
#include "probe/probe_argument.h"
#include "probe/probe_spec.h"
#include "probe/target_files.h"

#include <map>
#include <set>
#include <span>
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
    // The function's ret instructions, where they stand in for a return probe, and its jumps to
    // others that return in its place; both empty: they do not.
    std::vector<uint64_t> return_offsets;
    std::vector<uint64_t> tail_offsets;
    bool shares_returns = false;     // with calls of other functions: only a span's own end it
    bool is_goroutine = false;       // a span of Go's: on the goroutine's stack, not the thread's
    std::vector<tr_term> condition;  // empty: none
    std::vector<SemaphoreRaise> raises;  // of other probes of the file; their probe_id is unset

    [[nodiscard]] bool is_at_exits() const {
        return !return_offsets.empty() || !tail_offsets.empty();
    }
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
    HitLimits limits;                   // of its clauses
    std::vector<NamePiece> shown_name;  // slots count the arguments of an instant or a begin
    HitMeaning meaning = HitMeaning::event;
    std::vector<NamePiece> line;  // as shown_name; empty: none
    bool is_line_of_process = false;
    bool yields_to_ring = false;
    model::PointRole role = model::PointRole::none;
};

// One of the probes of a pair, with all its places.
struct PairPart {
    ProbeIdentity identity;
    std::vector<ProbeSite> sites;
    PairKey scope = PairKey::none;  // else the first argument of each place is the key
    bool has_second_key = false;    // and the one behind it
};

// A span that begins and ends at probes.
struct PairPlan {
    std::string category;
    std::string name;
    PairPart begin;
    std::vector<PairPart> other_begins;  // with arguments of the same names
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
// Pairs have programs of their own at each of their places, as has what is no event (counters,
// states, names).
class PlanBuilder {
public:
    struct Probe {
        ProbeIdentity identity;
        std::vector<ProbeSite> sites;
    };

    void add(ProbeIdentity identity, std::vector<ProbeSite> sites);
    void add_pair(PairPlan plan);

    // Those from the `first` on that were added, to be completed.
    [[nodiscard]] size_t candidate_count() const { return candidates_.size(); }
    [[nodiscard]] std::span<Probe> candidates_from(size_t first) {
        return std::span(candidates_).subspan(first);
    }

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
        std::string own;  // of what is no event: what tells it from others
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
    // Says in each event of how many hits it is one.
    void add_sample(const ProbeIdentity& identity, ProbeSite& site);
    void emit_pair(PairPlan& pair);
    void emit_part(const PairPart& part,
                   HitRole role,
                   model::PointIndex point,
                   const std::vector<model::Argument>& slots);
    // Ties a pair's ends to the begins at the entries of the same functions: those from the
    // program `first_end_id` on to those from `first_begin_id` on.
    void join_returns(uint32_t first_begin_id, uint32_t first_end_id);
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
    // `begin_id`: as AttachSite has it.
    void add_return_place(const ProbeIdentity& identity,
                          const ProbeSite& site,
                          uint32_t probe_id,
                          uint32_t begin_id);
    // What runs where the function is left by a jump: the program `probe_id` without its arguments.
    void add_tail_place(const ProbeIdentity& identity, const ProbeSite& site, uint32_t probe_id);
    void add_site(const ProbeIdentity& identity,
                  const ProbeSite& site,
                  uint32_t probe_id,
                  ProbeProgram program,
                  uint32_t begin_id = 0);
    void add_raises(const ProbeIdentity& identity, const ProbeSite& site, uint32_t probe_id);
    [[nodiscard]] uint32_t next_probe_id() const {
        return static_cast<uint32_t>(TR_PROBE_FIRST_USER + plan_.programs.size());
    }
    [[nodiscard]] AttachFile& file_of(const TargetFile& file);
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
