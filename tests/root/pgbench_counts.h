// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace tracer::test {

// What PostgreSQL 15 does for `pgbench -n -t T -c C` in the simple protocol, counted by its probes.
// The standard script has seven statements a transaction, five of which are planned; execution
// nests for those that change rows; pgbench itself asks twice before it begins.
struct PgbenchCounts {
    uint64_t queries = 0;
    uint64_t transactions = 0;  // a session's start is one too
    uint64_t plans = 0;
    uint64_t executions = 0;
};

[[nodiscard]] constexpr PgbenchCounts pgbench_counts(unsigned transactions, unsigned clients) {
    const uint64_t all = uint64_t{transactions} * clients;
    return {.queries = 7 * all + 2,
            .transactions = all + clients + 3,
            .plans = 5 * all + 2,
            .executions = 11 * all + 2};
}

}  // namespace tracer::test
