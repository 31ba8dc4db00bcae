// SPDX-License-Identifier: Apache-2.0
//
// The pack of PostgreSQL on Debian's server 15, found without a flag: its spans against pgbench's
// formulas (pgbench_counts.h), the server's own statistics, its log and its names for processes.
#include "root/pgbench_counts.h"
#include "root/recording.h"
#include "support/fixtures/postgres_cluster.h"
#include "support/fixtures/requirements.h"

#include <future>

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace tracer::test {
namespace {

constexpr unsigned kTransactions = 50;
constexpr unsigned kClients = 4;
constexpr uint64_t kAll = uint64_t{kTransactions} * kClients;

#define TR_REQUIRE_POSTGRES()                                    \
    TR_REQUIRE_ROOT();                                           \
    TR_REQUIRE_FILE(std::string(kPostgresFolder) + "/postgres"); \
    TR_REQUIRE_FILE(tracer_binary())

std::vector<std::string> of_cluster(const PostgresCluster& cluster,
                                    const std::vector<std::string>& more = {}) {
    std::vector<std::string> arguments{"--pid", std::to_string(cluster.postmaster_pid()), "--tree"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return arguments;
}

// How many spans of that name there were, and that each of them ended as it should.
void expect_returned(const Recorded& recorded, std::string_view span, uint64_t count) {
    SCOPED_TRACE(span);
    const auto row = span_row(recorded.result.summary, span);
    ASSERT_TRUE(row.is_object()) << recorded.result.summary.value("durations", nlohmann::json());
    for (const auto& [cause, ended] : row.at("ends").items()) {
        EXPECT_EQ(ended, cause == "returned" ? count : 0) << cause;
    }
    EXPECT_EQ(row.at("orphan_ends"), 0);
    EXPECT_EQ(row.at("crossed"), 0);
}

// Of spans in a run with errors: none is left to the session's end or to the recording's.
void expect_closed(const Recorded& recorded, std::string_view span, uint64_t by_errors) {
    SCOPED_TRACE(span);
    const auto row = span_row(recorded.result.summary, span);
    ASSERT_TRUE(row.is_object()) << recorded.result.summary.value("durations", nlohmann::json());
    EXPECT_EQ(row.at("ends").at("until"), by_errors);
    for (const char* cause : {"thread_exit", "process_exit", "recording_end"}) {
        EXPECT_EQ(row.at("ends").at(cause), 0) << cause;
    }
    EXPECT_EQ(row.at("orphan_ends"), 0);
    EXPECT_EQ(row.at("crossed"), 0);
}

std::vector<const FxtEvent*> begins_of(const FxtFile& file, std::string_view name) {
    auto events = events_of(file, name, FxtEventType::duration_begin);
    const auto own_tracks = events_of(file, name, FxtEventType::async_begin);
    events.insert(events.end(), own_tracks.begin(), own_tracks.end());
    return events;
}

// Records what `work` does; the recording must be sound and whole.
template <typename Work>
Recorded record(const std::vector<std::string>& arguments, Work work) {
    auto recorder = Recorder::start(arguments);
    EXPECT_TRUE(recorder) << recorder.error().what;
    if (!recorder) return {};
    work();
    auto recorded = recorder->stop();
    EXPECT_TRUE(recorded) << recorded.error().what;
    if (!recorded) return {};
    expect_sound(*recorded);
    expect_nothing_lost(*recorded);
    return std::move(*recorded);
}

void run_pgbench(PostgresCluster& cluster, const std::vector<std::string>& more = {}) {
    const Status bench = cluster.run_pgbench(kTransactions, kClients, more);
    EXPECT_TRUE(bench) << bench.error().what;
}

// A cluster with pgbench's tables. Its statistics of statements begin anew at each call.
class PackPostgres : public testing::Test {
protected:
    void SetUp() override {
        TR_REQUIRE_POSTGRES();
        auto cluster = PostgresCluster::start(
            {"shared_preload_libraries=pg_stat_statements", "pg_stat_statements.track=top"});
        ASSERT_TRUE(cluster) << cluster.error().what;
        cluster_.emplace(std::move(*cluster));
        const Status prepared = cluster_->prepare_pgbench();
        ASSERT_TRUE(prepared) << prepared.error().what;
        ask("create extension pg_stat_statements");
    }

    void TearDown() override {
        if (!cluster_) return;
        const Status stopped = cluster_->stop();
        EXPECT_TRUE(stopped) << stopped.error().what;
    }

    std::string ask(const std::string& sql) {
        const auto rows = cluster_->run_sql(sql);
        EXPECT_TRUE(rows) << rows.error().what;
        return rows.value_or("");
    }

    // Statements that clients sent since the last reset, but for those that ask and reset.
    uint64_t counted_statements() {
        return std::stoull(
            ask("select coalesce(sum(calls), 0) from pg_stat_statements where query not like "
                "'%pg_stat_%'"));
    }

    // Committed and rolled back, of this database.
    uint64_t counted_transactions() {
        return std::stoull(
            ask("select xact_commit + xact_rollback from pg_stat_database where "
                "datname = 'postgres'"));
    }

    std::optional<PostgresCluster> cluster_;
};

TEST_F(PackPostgres, StandardLevelHasQueriesAndTransactionsAsTheServerCountsThem) {
    const PgbenchCounts expected = pgbench_counts(kTransactions, kClients);
    for (const auto& scope : {of_cluster(*cluster_), {"-a"}}) {
        SCOPED_TRACE(scope.front());
        ask("select pg_stat_statements_reset()");
        const Recorded recorded = record(scope, [&] { run_pgbench(*cluster_); });
        expect_returned(recorded, "query", expected.queries);
        expect_returned(recorded, "transaction", expected.transactions);
        EXPECT_EQ(counted_statements(), expected.queries);
        EXPECT_EQ(begins_of(recorded.file, "END;").size(), kAll) << "queries bear their text";
        EXPECT_EQ(begins_of(recorded.file, "transaction").size(), expected.transactions);
        EXPECT_TRUE(span_row(recorded.result.summary, "query__plan").is_null()) << "not asked for";
    }
}

TEST_F(PackPostgres, TransactionsAreThoseOfTheDatabasesStatistics) {
    uint64_t before = 0;
    uint64_t after = 0;
    const Recorded recorded = record(of_cluster(*cluster_), [&] {
        before = counted_transactions();
        run_pgbench(*cluster_);
        ASSERT_TRUE(cluster_->run_script("begin; select 1; rollback; select 1/0;"));
        after = counted_transactions();
    });
    const auto row = span_row(recorded.result.summary, "transaction");
    ASSERT_TRUE(row.is_object());
    // A session reports what it did when it ends: those of the second to ask, its start and its
    // question, are not counted yet.
    EXPECT_EQ(row.at("count").get<uint64_t>(), after - before + 2);
    EXPECT_EQ(row.at("ends").at("until"), 2);
    EXPECT_EQ(events_of(recorded.file, "abort").size(), 2U);
}

TEST_F(PackPostgres, StatementsOfTheExtendedProtocolBearTheirTextToo) {
    for (const char* mode : {"extended", "prepared"}) {
        SCOPED_TRACE(mode);
        ask("select pg_stat_statements_reset()");
        const Recorded recorded = record(of_cluster(*cluster_), [&] {
            run_pgbench(*cluster_, {"-M", mode});
        });
        expect_returned(recorded, "query", 2);  // pgbench's own
        expect_returned(recorded, "PortalRun", 7 * kAll);
        // Of a prepared BEGIN or END the server counts a session's first alone.
        const bool is_prepared = std::string_view(mode) == "prepared";
        EXPECT_EQ(counted_statements(), 5 * kAll + 2 * (is_prepared ? kClients : kAll) + 2);
        EXPECT_EQ(begins_of(recorded.file, "END;").size(), kAll);
        EXPECT_EQ(begins_of(recorded.file,
                            "UPDATE pgbench_accounts SET abalance = abalance + $1 WHERE aid = $2;")
                      .size(),
                  kAll);
    }
}

TEST_F(PackPostgres, MoreHasTheStepsOfAQueryNested) {
    const PgbenchCounts expected = pgbench_counts(kTransactions, kClients);
    const Recorded recorded =
        record(of_cluster(*cluster_, {"--level", "more"}), [&] { run_pgbench(*cluster_); });
    expect_returned(recorded, "query", expected.queries);
    expect_returned(recorded, "query__parse", expected.queries);
    expect_returned(recorded, "query__plan", expected.plans);
    expect_returned(recorded, "query__execute", expected.executions);
}

TEST_F(PackPostgres, StepsInTheExtendedProtocols) {
    const auto steps = [&](const char* mode) {
        return record(of_cluster(*cluster_, {"--level", "more"}), [&] {
            run_pgbench(*cluster_, {"-M", mode});
        });
    };
    const Recorded extended = steps("extended");
    expect_returned(extended, "query__parse", 7 * kAll + 2);
    expect_returned(extended, "query__plan", 5 * kAll + 2);
    const Recorded prepared = steps("prepared");
    expect_returned(prepared, "query__parse", 7 * kClients + 2);  // once a session and statement
}

// Every way in which a statement fails: alone, in a transaction, in one that has failed already,
// before it is planned, in a subtransaction, caught by a function.
constexpr const char* kFailures = R"(
select 1/0;
begin; select 1/0; select 2; select 3; rollback;
syntax error here;
begin; savepoint s; select 1/0; rollback to s; select 4; commit;
do $$ begin perform 1/0; exception when division_by_zero then null; end $$;
select * from pgbench_accounts order by bid, aid desc limit 1;
select 'last';
)";
constexpr unsigned kFailedQueries = 6;  // of those, what the client is told of

TEST_F(PackPostgres, ErrorsLeaveNothingOpen) {
    const Recorded recorded = record(of_cluster(*cluster_, {"--level", "more"}), [&] {
        const auto printed = cluster_->run_script(kFailures);
        ASSERT_TRUE(printed) << printed.error().what;
        EXPECT_TRUE(printed->ends_with("last\n")) << *printed;
    });
    expect_closed(recorded, "query", kFailedQueries);
    expect_closed(recorded, "query__parse", 1);
    expect_closed(recorded, "query__plan", 3 + 1);  // and the function's
    const auto transaction = span_row(recorded.result.summary, "transaction");
    EXPECT_EQ(transaction.at("ends").at("until"), 3);
    EXPECT_EQ(transaction.at("ends").at("thread_exit"), 0);
    // psql's -f sends each line's statements one by one; the last begins and ends like any other.
    EXPECT_EQ(begins_of(recorded.file, "select 'last';").size(), 1U);
    EXPECT_EQ(begins_of(recorded.file, "sort heap").size(), 1U);
}

// A statement that goes on when as many rows of pg_locks are so.
std::string when_locks(unsigned count, std::string_view which) {
    return fmt::format(
        "do $$ begin while (select count(*) from pg_locks where {}) < {} loop "
        "perform pg_sleep(0.01); end loop; end $$; ",
        which, count);
}

TEST_F(PackPostgres, ALockWaitSaysForWhatAndIsAsLongAsTheLockWasHeld) {
    const Recorded recorded = record(of_cluster(*cluster_), [&] {
        auto holder = std::async(std::launch::async, [&] {
            return cluster_->run_script(
                "begin; update pgbench_branches set bbalance = 0 where bid = 1; "
                "select pg_advisory_xact_lock(1); " +
                when_locks(1, "not granted") + "select pg_sleep(0.3); commit;");
        });
        EXPECT_TRUE(
            cluster_->run_script(when_locks(1, "locktype = 'advisory'") +
                                 "update pgbench_branches set bbalance = 1 where bid = 1;"));
        EXPECT_TRUE(holder.get());
    });
    expect_returned(recorded, "lock__wait", 1);
    EXPECT_EQ(begins_of(recorded.file, "wait for ShareLock on transactionid").size(), 1U);
    const auto row = span_row(recorded.result.summary, "lock__wait");
    ASSERT_TRUE(row.is_object());
    EXPECT_GE(row.at("max_ns").get<uint64_t>(), 300'000'000U);
}

TEST_F(PackPostgres, ADeadlockIsToldAndItsWaitEnds) {
    ask("create table pairs as select n as id from generate_series(1, 2) n");
    const auto crossing = [&](int first, int second) {
        return cluster_->run_script(fmt::format(
            "set deadlock_timeout = '50ms'; begin; update pairs set id = id where id = {0}; "
            "select pg_advisory_xact_lock_shared(1); {2}"
            "update pairs set id = id where id = {1}; commit;",
            first, second, when_locks(2, "locktype = 'advisory'")));
    };
    const Recorded recorded = record(of_cluster(*cluster_), [&] {
        auto other = std::async(std::launch::async, crossing, 1, 2);
        EXPECT_TRUE(crossing(2, 1));
        EXPECT_TRUE(other.get());
    });
    EXPECT_EQ(events_of(recorded.file, "deadlock").size(), 1U);
    const auto waits = span_row(recorded.result.summary, "lock__wait");
    ASSERT_TRUE(waits.is_object());
    EXPECT_EQ(waits.at("ends").at("until"), 1);
    EXPECT_EQ(waits.at("ends").at("returned"), 1);
}

TEST_F(PackPostgres, CheckpointsHaveTheLogsCounts) {
    ask("checkpoint");
    run_pgbench(*cluster_);
    const Recorded recorded = record(of_cluster(*cluster_), [&] { ask("checkpoint"); });
    expect_returned(recorded, "checkpoint", 1);
    const auto log = cluster_->log();
    ASSERT_TRUE(log) << log.error().what;
    const std::string_view mark = "checkpoint complete: wrote ";
    const size_t last = log->rfind(mark);
    ASSERT_NE(last, std::string::npos) << *log;
    const uint64_t wrote = std::stoull(log->substr(last + mark.size()));
    EXPECT_GT(wrote, 0U);
    std::vector<uint64_t> written;
    std::vector<uint64_t> buffers;
    for (const FxtEvent& event : recorded.file.events) {
        if (event.name != "checkpoint") continue;
        if (const auto count = integer_argument(recorded.file, event, "written")) {
            written.push_back(*count);
            buffers.push_back(integer_argument(recorded.file, event, "buffers").value_or(0));
        }
    }
    EXPECT_EQ(written, std::vector<uint64_t>{wrote});
    EXPECT_EQ(buffers, std::vector<uint64_t>{128 * 1024 / 8}) << "shared_buffers is 128 MB";
}

TEST_F(PackPostgres, AllHasBuffersLocksAndWal) {
    const Recorded recorded =
        record(of_cluster(*cluster_, {"--level", "all", "--buffer", "64M"}), [&] {
            EXPECT_TRUE(
                cluster_->run_script("insert into pgbench_history values (1, 1, 1, 1, now(), '');"
                                     "select count(*) from pgbench_accounts;"));
        });
    EXPECT_GT(events_of(recorded.file, "buffer hit").size(), 100U);
    EXPECT_GT(events_of(recorded.file, "WAL Heap").size(), 0U);
    EXPECT_GT(events_of(recorded.file, "take BufferMapping").size(), 0U);
    EXPECT_GT(events_of(recorded.file, "release BufferMapping").size(), 0U);
}

// What the recording calls those of the server's processes.
void expect_names(const FxtFile& file,
                  PostgresCluster& cluster,
                  const std::string& prefix,
                  const std::vector<std::string>& kinds) {
    const auto processes = cluster.background_processes();
    ASSERT_TRUE(processes) << processes.error().what;
    for (const auto& kind : kinds) {
        ASSERT_TRUE(processes->contains(kind)) << kind;
        EXPECT_EQ(file.process_name(static_cast<uint64_t>(processes->at(kind))), prefix + kind);
    }
}

// Of the processes that ran queries with this text.
std::vector<std::string> names_of_askers(const FxtFile& file, std::string_view query) {
    std::vector<std::string> names;
    for (const FxtEvent* event : begins_of(file, query)) {
        names.emplace_back(file.process_name(event->pid));
    }
    return names;
}

TEST(PackPostgresNames, TwoClustersKeepTheirsApart) {
    TR_REQUIRE_POSTGRES();
    auto one = PostgresCluster::start({"cluster_name=one"});
    ASSERT_TRUE(one) << one.error().what;
    auto two = PostgresCluster::start({"cluster_name=two"});
    ASSERT_TRUE(two) << two.error().what;
    const Recorded recorded = record({"-a"}, [&] {
        // A process of which nothing is recorded has no name either: let both do something.
        EXPECT_TRUE(one->run_script("select 'in one'; checkpoint;"));
        EXPECT_TRUE(two->run_script("select 'in two'; checkpoint;"));
    });
    expect_names(recorded.file, *one, "one: ", {"checkpointer"});
    expect_names(recorded.file, *two, "two: ", {"checkpointer"});
    EXPECT_EQ(names_of_askers(recorded.file, "select 'in one';"),
              std::vector<std::string>{"one: postgres postgres [local]"});
    EXPECT_EQ(names_of_askers(recorded.file, "select 'in two';"),
              std::vector<std::string>{"two: postgres postgres [local]"});
    EXPECT_TRUE(one->stop());
    EXPECT_TRUE(two->stop());
}

TEST(PackPostgresNames, AServerIsFollowedFromItsStart) {
    TR_REQUIRE_POSTGRES();
    using Settings = std::vector<std::string>;
    for (const auto& [settings, prefix] :
         {std::pair{Settings{}, ""}, std::pair{Settings{"cluster_name=third"}, "third: "}}) {
        SCOPED_TRACE(prefix);
        std::optional<PostgresCluster> cluster;
        const Recorded recorded = record({"-a"}, [&, &wanted = settings] {
            auto started = PostgresCluster::start(wanted);
            ASSERT_TRUE(started) << started.error().what;
            cluster.emplace(std::move(*started));
            EXPECT_TRUE(cluster->run_sql("select 'hello'"));
        });
        ASSERT_TRUE(cluster);
        expect_names(recorded.file, *cluster, prefix,
                     {"checkpointer", "background writer", "walwriter"});
        EXPECT_EQ(names_of_askers(recorded.file, "select 'hello'"),
                  std::vector<std::string>{std::string(prefix) + "postgres postgres [local]"});
        EXPECT_TRUE(cluster->stop());
    }
}

}  // namespace
}  // namespace tracer::test
