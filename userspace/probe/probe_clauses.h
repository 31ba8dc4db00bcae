// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "probe/probe_spec.h"
#include "probe/probe_text.h"
#include "tracer/base/result.h"

#include <string>
#include <string_view>

namespace tracer {

inline constexpr std::string_view kClauseHint =
    "what may follow: if CONDITION, sample 1/N, rate N/s, as \"NAME\", counter, state \"LINE\", "
    "track \"LINE\", names thread|process, raise PROVIDER:NAME";

// Reads clauses as long as there are any into spec.clauses. The spec's kind and arguments are set.
[[nodiscard]] Status parse_clauses(ProbeText& text, ProbeSpec& spec);

// A usage error that points at a clause of the spec.
[[nodiscard]] tl::unexpected<Error> fail_clause(const ProbeSpec& spec,
                                                const ClausePlace& place,
                                                std::string_view message,
                                                std::string hint = {});

}  // namespace tracer
