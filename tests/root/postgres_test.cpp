// SPDX-License-Identifier: Apache-2.0
//
// PostgreSQL 15 under pgbench, each probe by itself: counts against pgbench_counts.h.
#include "root/pgbench_counts.h"
#include "root/recording.h"
#include "support/fixtures/postgres_cluster.h"
#include "support/fixtures/requirements.h"

#include <gtest/gtest.h>

namespace tracer::test {
namespace {

constexpr unsigned kTransactions = 50;
constexpr unsigned kClients = 4;

std::vector<std::string> probe_options() {
    std::vector<std::string> options;
    for (const char* probe : {"query__start(arg0:str)", "query__done(arg0:str)", "transaction__*",
                              "query__plan__*", "query__execute__*", "checkpoint__done"}) {
        options.insert(options.end(), {"-e", std::string("usdt:") + kPostgresFolder +
                                                 "/postgres:postgresql:" + probe});
    }
    return options;
}

void expect_formulas(const FxtFile& file, unsigned transactions, unsigned clients) {
    const PgbenchCounts expected = pgbench_counts(transactions, clients);
    std::map<std::string, uint64_t> counts = count_by_name(file, "postgresql");
    EXPECT_EQ(counts["query__start"], expected.queries);
    EXPECT_EQ(counts["query__done"], expected.queries);
    EXPECT_EQ(counts["transaction__start"], expected.transactions);
    EXPECT_EQ(counts["transaction__commit"], expected.transactions);
    EXPECT_EQ(counts["transaction__abort"], 0u);
    EXPECT_EQ(counts["query__plan__start"], expected.plans);
    EXPECT_EQ(counts["query__plan__done"], expected.plans);
    EXPECT_EQ(counts["query__execute__start"], expected.executions);
    EXPECT_EQ(counts["query__execute__done"], expected.executions);
    uint64_t ends = 0;
    for (const FxtEvent* event : events_of(file, "query__start")) {
        const FxtValue* text = file.find(event->arguments, "arg0");
        ASSERT_NE(text, nullptr);
        if (same_value(*text, "END;", false)) ends++;
    }
    EXPECT_EQ(ends, uint64_t{transactions} * clients);
}

void record_pgbench(const std::vector<std::string>& scope, PostgresCluster& cluster) {
    std::vector<std::string> arguments = probe_options();
    arguments.insert(arguments.end(), scope.begin(), scope.end());
    auto recorder = Recorder::start(arguments);
    ASSERT_TRUE(recorder) << recorder.error().what;
    const Status bench = cluster.run_pgbench(kTransactions, kClients);
    ASSERT_TRUE(bench) << bench.error().what;
    const auto recorded = recorder->stop();
    ASSERT_TRUE(recorded) << recorded.error().what;
    expect_sound(*recorded);
    expect_nothing_lost(*recorded);
    expect_formulas(recorded->file, kTransactions, kClients);
}

TEST(PostgresRecorded, PgbenchCountsFromThePostmasterAndSystemWide) {
    TR_REQUIRE_ROOT();
    TR_REQUIRE_FILE(std::string(kPostgresFolder) + "/postgres");
    TR_REQUIRE_FILE(tracer_binary());
    auto cluster = PostgresCluster::start();
    ASSERT_TRUE(cluster) << cluster.error().what;
    const Status prepared = cluster->prepare_pgbench();
    ASSERT_TRUE(prepared) << prepared.error().what;
    {
        SCOPED_TRACE("--pid POSTMASTER --tree");
        record_pgbench({"--pid", std::to_string(cluster->postmaster_pid()), "--tree"}, *cluster);
    }
    {
        SCOPED_TRACE("-a");
        record_pgbench({"-a"}, *cluster);
    }
    const Status stopped = cluster->stop();
    EXPECT_TRUE(stopped) << stopped.error().what;
}

}  // namespace
}  // namespace tracer::test
