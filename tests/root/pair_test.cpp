// SPDX-License-Identifier: Apache-2.0
//
// Spans from one probe to another in real programs. The program of the first test numbers its
// spans, so that begin and end hits can be matched without their keys: what the tracer made of the
// keys is held against the kernel's own times of the hits with the same number.
#include "capture/capture_file.h"
#include "root/recording.h"
#include "support/fixtures/postgres_cluster.h"
#include "support/fixtures/requirements.h"
#include "support/fixtures/target_program.h"

#include <cstring>
#include <future>
#include <map>

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace tracer::test {
namespace {

constexpr Milliseconds kProgramLimit{120000};

std::vector<std::string> span_options(pid_t pid) {
    const std::string requests =
        "usdt:spans:req__begin(key=arg0, number=arg1) ~~ usdt:spans:req__end(key=arg0, ended=arg1) "
        "until usdt:spans:req__cancel(key=arg0)";
    return {"--no-sched",
            "--buffer",
            "16M",
            "--pid",
            std::to_string(pid),
            "-e",
            requests,
            "-e",
            "usdt:spans:outer__begin ~~ usdt:spans:outer__end",
            "-e",
            "usdt:spans:inner__begin ~~ usdt:spans:inner__end"};
}

// What the program says it did, against what the tracer says became of it.
void expect_every_fault(const nlohmann::json& did, const nlohmann::json& summary) {
    const auto req = span_row(summary, "req");
    ASSERT_TRUE(req.is_object()) << summary.dump();
    const uint64_t missing_begins = did.at("missing_begins");
    EXPECT_EQ(missing_begins, 250U);
    EXPECT_EQ(req.at("ends").at("returned"), did.at("ends").get<uint64_t>() - missing_begins);
    EXPECT_EQ(req.at("ends").at("until"), did.at("cancelled"));
    EXPECT_EQ(req.at("ends").at("key_reused"), did.at("keys_reused"));
    EXPECT_EQ(req.at("ends").at("process_exit"), did.at("missing_ends"));
    EXPECT_EQ(req.at("orphan_ends"), missing_begins);
    for (const char* cause : {"unwound", "cut_by_loss", "thread_exit", "recording_end"}) {
        EXPECT_EQ(req.at("ends").at(cause), 0) << cause;
    }
    EXPECT_EQ(req.at("crossed"), 0);
    EXPECT_EQ(req.at("key_missing"), 0);
    EXPECT_EQ(req.at("beyond_limit"), 0);
    const auto inner = span_row(summary, "inner");
    EXPECT_EQ(inner.at("count"), did.at("crossings")) << "their true lengths are known";
    EXPECT_EQ(inner.at("crossed"), 1) << "then they have tracks of their own";
    const auto outer = span_row(summary, "outer");
    EXPECT_EQ(outer.at("count"), did.at("crossings"));
    EXPECT_EQ(outer.at("crossed"), 0);
}

// Times of the hits of req__begin and req__end by the program's number.
class HitTimes : public CaptureVisitor {
public:
    Status on_definitions(RecordingDefinitions definitions) override {
        for (const auto& probe : definitions.probes) {
            if (definitions.points.at(static_cast<size_t>(probe.point)).name != "req") continue;
            roles_[probe.probe_id] = probe.role;
        }
        return {};
    }
    Status on_counters(const CaptureCounters&) override { return {}; }
    void on_progress(uint64_t, uint64_t) override {}
    void on_record(std::span<const std::byte> record) override {
        struct {
            tr_record_header header;
            uint64_t key;
            uint64_t number;
        } hit{};
        if (record.size() < sizeof(hit)) return;
        std::memcpy(&hit, record.data(), sizeof(hit));
        const auto role = roles_.find(hit.header.probe_id);
        if (hit.header.kind != TR_KIND_hit || role == roles_.end()) return;
        if (role->second == HitRole::pair_begin) begins[hit.number] = hit.header.time_ns;
        if (role->second == HitRole::pair_end) ends[hit.number] = hit.header.time_ns;
    }

    std::map<uint64_t, uint64_t> begins;
    std::map<uint64_t, uint64_t> ends;

private:
    std::map<uint32_t, HitRole> roles_;
};

// Every span in the file begins and ends when its number was hit; how many do.
uint64_t expect_true_times(const FxtFile& file, const HitTimes& hits) {
    struct Begin {
        uint64_t number = 0;
        uint64_t time_ns = 0;
    };
    std::map<uint64_t, Begin> open;  // by id
    uint64_t matched = 0;
    uint64_t wrong = 0;
    for (const FxtEvent& event : file.events) {
        if (event.name != "req") continue;
        if (event.type == FxtEventType::async_begin) {
            const auto number = integer_argument(file, event, "number");
            const bool is_new =
                number && open.try_emplace(event.last_word, Begin{*number, event.time}).second;
            if (!is_new || hits.begins.at(*number) != event.time) ++wrong;
        } else if (event.type == FxtEventType::async_end) {
            const auto found = open.find(event.last_word);
            if (found == open.end()) {
                ++wrong;
                continue;
            }
            const auto number = integer_argument(file, event, "ended");
            if (number) {
                ++matched;
                const bool is_own =
                    *number == found->second.number && hits.ends.at(*number) == event.time;
                if (!is_own) ++wrong;
            }
            open.erase(found);
        }
    }
    EXPECT_EQ(wrong, 0U);
    EXPECT_TRUE(open.empty());
    return matched;
}

TEST(PairRecorded, AHundredThousandKeyedSpansOverSixteenThreadsWithPlantedFaults) {
    TR_REQUIRE_ROOT();
    TR_REQUIRE_FILE(tracer_binary());
    auto target = start_target("span_keys");
    ASSERT_TRUE(target) << target.error().what;
    auto recorder = Recorder::start_capture(span_options(target->pid()));
    ASSERT_TRUE(recorder) << recorder.error().what;
    const auto did = run_target(*target, kProgramLimit, 1);
    ASSERT_TRUE(did) << did.error().what;
    target->close_input();
    const auto recorded = recorder->finish();
    ASSERT_TRUE(recorded) << recorded.error().what;
    expect_sound(*recorded);
    expect_nothing_lost(*recorded);
    EXPECT_EQ(recorded->file.open_async_count, 0U);

    HitTimes hits;
    const auto read = read_capture(recorder->path(), hits);
    ASSERT_TRUE(read) << read.error().what;
    EXPECT_EQ(hits.begins.size(), did->front().at("begins"));
    EXPECT_EQ(hits.ends.size(), did->front().at("ends"));
    const auto missing_begins = did->front().at("missing_begins").get<uint64_t>();
    EXPECT_EQ(expect_true_times(recorded->file, hits), hits.ends.size() - missing_begins);
    TempFolder folder = TempFolder::make().value();
    const auto converted =
        run_tracer({"convert", recorder->path(), "-o", folder.file("again.fxt"), "--json"});
    ASSERT_TRUE(converted) << converted.error().what;
    expect_every_fault(did->front(), converted->summary);
}

TEST(PairRecorded, TellsTheSameLive) {
    TR_REQUIRE_ROOT();
    TR_REQUIRE_FILE(tracer_binary());
    auto target = start_target("span_keys");
    ASSERT_TRUE(target) << target.error().what;
    auto recorder = Recorder::start(span_options(target->pid()));
    ASSERT_TRUE(recorder) << recorder.error().what;
    const auto did = run_target(*target, kProgramLimit, 1);
    ASSERT_TRUE(did) << did.error().what;
    target->close_input();
    const auto recorded = recorder->finish();
    ASSERT_TRUE(recorded) << recorded.error().what;
    expect_sound(*recorded);
    expect_nothing_lost(*recorded);
    expect_every_fault(did->front(), recorded->result.summary);
}

// A statement that fails has no query__done (usdt-targets: PostgreSQL leaves by longjmp).
TEST(PairRecorded, QueriesOfPostgresWithStatementsThatFail) {
    TR_REQUIRE_ROOT();
    TR_REQUIRE_FILE(std::string(kPostgresFolder) + "/postgres");
    TR_REQUIRE_FILE(tracer_binary());
    constexpr unsigned kTransactions = 50;
    constexpr unsigned kClients = 4;
    constexpr unsigned kFailures = 20;
    auto cluster = PostgresCluster::start();
    ASSERT_TRUE(cluster) << cluster.error().what;
    const Status prepared = cluster->prepare_pgbench();
    ASSERT_TRUE(prepared) << prepared.error().what;
    const std::string probe = fmt::format("usdt:{}/postgres:postgresql:", kPostgresFolder);
    const auto span = [&](std::string_view begin, std::string_view end) {
        return fmt::format("{0}{1} ~~ {0}{2} until {0}transaction__abort", probe, begin, end);
    };
    auto recorder =
        Recorder::start({"--pid", std::to_string(cluster->postmaster_pid()), "--tree", "--no-sched",
                         "-e", span("query__start(q=arg0:str)", "query__done()"), "-e",
                         span("query__plan__start", "query__plan__done")});
    ASSERT_TRUE(recorder) << recorder.error().what;
    auto failures = std::async(std::launch::async, [&] {
        unsigned count = 0;
        // Planning folds the constants: the division fails within query__plan.
        for (unsigned i = 0; i < kFailures; ++i) count += cluster->run_sql("select 1/0") ? 0 : 1;
        return count;
    });
    const Status bench = cluster->run_pgbench(kTransactions, kClients);
    EXPECT_EQ(failures.get(), kFailures);
    ASSERT_TRUE(bench) << bench.error().what;
    const auto recorded = recorder->stop();
    ASSERT_TRUE(recorded) << recorded.error().what;
    expect_sound(*recorded);
    expect_nothing_lost(*recorded);
    const auto query = span_row(recorded->result.summary, "query");
    ASSERT_TRUE(query.is_object());
    constexpr unsigned kAll = kTransactions * kClients;
    EXPECT_EQ(query.at("ends").at("returned"), 7 * kAll + 2);
    EXPECT_EQ(query.at("ends").at("until"), kFailures);
    const auto plan = span_row(recorded->result.summary, "query__plan");
    ASSERT_TRUE(plan.is_object());
    EXPECT_EQ(plan.at("ends").at("returned"), 5 * kAll + 2);
    EXPECT_EQ(plan.at("ends").at("until"), kFailures);
    for (const auto& row : {query, plan}) {
        EXPECT_EQ(row.at("orphan_ends"), 0);
        EXPECT_EQ(row.at("crossed"), 0);
        EXPECT_EQ(row.at("ends").at("recording_end"), 0);
    }
    EXPECT_EQ(events_of(recorded->file, "query", FxtEventType::duration_begin).size(),
              7 * kAll + 2 + kFailures);
    const Status stopped = cluster->stop();
    EXPECT_TRUE(stopped) << stopped.error().what;
}

// Two spans of one function begin at one place and end at another: one lies inside of the other.
TEST(PairRecorded, TheSpanOfAFunctionAndAPairAroundItNest) {
    TR_REQUIRE_ROOT();
    TR_REQUIRE_FILE(tracer_binary());
    auto target = start_target("call_tree", {"--fib", "8", "--deep", "10", "--jumps", "0"});
    ASSERT_TRUE(target) << target.error().what;
    const std::string path = target_path("call_tree");
    const std::string pair = fmt::format("u:{0}:outer ~~ ur:{0}:outer", path);
    const std::string span = fmt::format("span:{}:outer", path);
    auto recorder = Recorder::start(
        {"--pid", std::to_string(target->pid()), "-e", pair, "-e", span, "-e", pair});
    ASSERT_TRUE(recorder) << recorder.error().what;
    const auto lines = run_target(*target, kProgramLimit, 1);
    ASSERT_TRUE(lines) << lines.error().what;
    const auto recorded = recorder->stop();
    ASSERT_TRUE(recorded) << recorded.error().what;
    expect_sound(*recorded);
    expect_nothing_lost(*recorded);
    const auto calls = lines->at(0).at("calls").at("outer").get<size_t>();
    ASSERT_GT(calls, 0u);
    // The pair that was named twice is recorded once.
    EXPECT_EQ(events_of(recorded->file, "outer", FxtEventType::duration_begin).size(), 2 * calls);
    EXPECT_EQ(events_of(recorded->file, "outer", FxtEventType::duration_end).size(), 2 * calls);
    for (const auto& row : recorded->result.summary.at("durations")) {
        EXPECT_EQ(row.at("crossed"), 0) << row;
        EXPECT_EQ(row.at("ends").at("returned"), calls) << row;
    }
}

// All is armed at once and disarmed at once: whatever is attached or let go of first, at most the
// span that a thread is in at either moment lacks its other half, and that is no fault.
TEST(PairRecorded, ABusyProgramHasNoEndsWithoutABegin) {
    TR_REQUIRE_ROOT();
    TR_REQUIRE_FILE(tracer_binary());
    constexpr uint64_t kThreads = 4;
    auto target = start_target("flood", {"--function", "--threads", std::to_string(kThreads),
                                         "--rate", "5000", "--hits", "10000000"});
    ASSERT_TRUE(target) << target.error().what;
    ASSERT_TRUE(target->send_line("go"));
    const std::string function = fmt::format("u:{}:flood_function", target_path("flood"));
    // At the first instruction and at the last but one.
    auto recorder = Recorder::start({"--pid", std::to_string(target->pid()), "--no-sched", "-d",
                                     "300ms", "-e", function + " ~~ " + function + "+4"});
    ASSERT_TRUE(recorder) << recorder.error().what;
    const auto recorded = recorder->finish();
    ASSERT_TRUE(recorded) << recorded.error().what;
    expect_sound(*recorded);
    expect_nothing_lost(*recorded);
    const auto row = span_row(recorded->result.summary, "flood");
    ASSERT_TRUE(row.is_object()) << recorded->result.summary.dump();
    EXPECT_GT(row.at("count"), 0u);
    EXPECT_EQ(row.at("orphan_ends"), 0) << row;
    EXPECT_LE(row.at("begun_before"), kThreads) << row;
    EXPECT_LE(row.at("ends").at("recording_end"), kThreads) << row;
}

}  // namespace
}  // namespace tracer::test
