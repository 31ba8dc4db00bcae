// SPDX-License-Identifier: Apache-2.0
#include "session/summary.h"

#include "session/summary_text.h"
#include "tracer/write/formats.h"
#include "unit/session/fake_output.h"

#include <fstream>
#include <set>
#include <string>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace tracer {
namespace {

struct Inputs {
    KernelCounters kernel;
    MergerCounters merger;
    std::vector<RingLedger> rings;
    test::FakeOutput output;
    std::vector<ProbeDefinition> probes;
    std::vector<PackedFile> packs;
    bool abandoned = false;

    Summary make() {
        return make_summary({.kernel = kernel,
                             .merger = merger,
                             .rings = rings,
                             .output = output,
                             .probes = probes,
                             .packs = packs,
                             .ring_bytes = 65536,
                             .abandoned = abandoned});
    }

    void receive(uint32_t probe_id, int count) {
        tr_record_header header{};
        header.size = sizeof(header);
        header.kind = TR_KIND_hit;
        header.probe_id = probe_id;
        for (int i = 0; i < count; ++i) {
            output.handler().on_record(std::as_bytes(std::span(&header, 1)));
        }
    }
};

ProbeDefinition probe(uint32_t id, const std::string& spec) {
    ProbeDefinition definition;
    definition.probe_id = id;
    definition.spec = spec;
    return definition;
}

TEST(Summary, AddsTheSitesOfOneSpec) {
    Inputs inputs;
    inputs.probes = {probe(16, "u:/bin/a:f"), probe(17, "u:/bin/a:f"), probe(18, "u:/bin/a:g")};
    inputs.kernel.probes = {{16, {.hits = 3}}, {17, {.hits = 4}}, {18, {.hits = 5}}};
    inputs.kernel.missed_by_kernel = 1;
    inputs.receive(16, 3);
    inputs.receive(17, 4);
    inputs.receive(18, 5);
    const Summary summary = inputs.make();
    ASSERT_EQ(summary.probes.size(), 2u);
    EXPECT_EQ(summary.probes[0].hits, 7u);
    EXPECT_EQ(summary.probes[0].written, 7u);
    EXPECT_EQ(summary.loss.missed, 1u);
    EXPECT_TRUE(summary.disagreements.empty());
}

TEST(Summary, GivesNoRateWhereTheWholeIsNotKnown) {
    Summary summary;
    summary.loss.malformed = 1;
    const std::string text = summary_text(summary, {});
    EXPECT_EQ(text.find("LOST 1 events\n"), 0u) << text;
}

TEST(Summary, SaysWhenHitsAreNotWrittenPlusLost) {
    Inputs inputs;
    inputs.probes = {probe(16, "u:/bin/a:f")};
    inputs.kernel.probes = {{16, {.hits = 10, .ring_full = 2}}};
    inputs.receive(16, 7);
    const Summary summary = inputs.make();
    ASSERT_EQ(summary.disagreements.size(), 1u);
    EXPECT_NE(summary_text(summary, {}).find("counters disagree"), std::string::npos);
    EXPECT_FALSE(nlohmann::json::parse(summary_json(summary))["agree"].get<bool>());
}

TEST(Summary, SaysWhenMoreIsWrittenThanHit) {
    Inputs inputs;
    inputs.probes = {probe(16, "u:/bin/a:f")};
    inputs.kernel.probes = {{16, {.hits = 1}}};
    inputs.receive(16, 2);
    EXPECT_EQ(inputs.make().disagreements.size(), 1u);
}

TEST(Summary, AMalformedRecordExplainsADifference) {
    Inputs inputs;
    inputs.probes = {probe(16, "u:/bin/a:f")};
    inputs.kernel.probes = {{16, {.hits = 10}}};
    inputs.merger.malformed = 1;
    inputs.receive(16, 9);
    const Summary summary = inputs.make();
    EXPECT_TRUE(summary.disagreements.empty());
    EXPECT_EQ(summary.loss.malformed, 1u);
}

TEST(Summary, ComparesEachRingWithItsSequence) {
    Inputs inputs;
    inputs.kernel.rings = {{100, 10}, {50, 0}};
    inputs.rings = {{.records = 90, .lost_in_gaps = 9}, {.records = 49}};
    const Summary summary = inputs.make();
    EXPECT_EQ(summary.disagreements.size(), 2u);
    EXPECT_EQ(summary.loss.ring_full, 10u);
}

TEST(Summary, CountsWhatASecondInterruptLeft) {
    Inputs inputs;
    inputs.kernel.rings = {{100, 10}};
    inputs.rings = {{.records = 60, .lost_in_gaps = 10}};
    inputs.abandoned = true;
    const Summary summary = inputs.make();
    EXPECT_EQ(summary.loss.abandoned, 30u);
    EXPECT_TRUE(summary.disagreements.empty());
    EXPECT_DOUBLE_EQ(summary.loss_rate(), 0.4);
}

TEST(Summary, CallsNothingWrittenThatAFailedOutputDidNotTake) {
    Summary summary;
    summary.attempts = 1000;
    summary.events = 999;
    summary.bytes = 3000;
    count_unwritten(summary, 3000);
    EXPECT_EQ(summary.loss.unwritten, 0u);
    count_unwritten(summary, 1000);
    EXPECT_EQ(summary.loss.unwritten, 666u);
    EXPECT_EQ(summary.events, 333u);
    EXPECT_EQ(summary.bytes, 1000u);
    EXPECT_THAT(summary_text(summary, {}),
                testing::HasSubstr("not yet written when the output failed, about 666"));
}

TEST(Summary, PutsTheLossRateIntoTheFirstLine) {
    Inputs inputs;
    inputs.kernel.rings = {{1000, 500}};
    inputs.rings = {{.records = 500, .lost_in_gaps = 500}};
    inputs.merger.gaps = 1;  // 65536 + 2 * 501 * 64 bytes
    Summary summary = inputs.make();
    const std::string text = summary_text(summary, {});
    EXPECT_EQ(text.find("LOST 50 % of all events: 500 of 1,000"), 0u);
    EXPECT_NE(text.find("--buffer 128K/cpu would have been enough"), std::string::npos);
}

TEST(Summary, SaysThatSumsAgreeWhenTheyDo) {
    Inputs inputs;
    inputs.kernel.rings = {{5, 0}};
    inputs.rings = {{.records = 5}};
    const std::string text = summary_text(inputs.make(), {});
    EXPECT_EQ(text.find("LOST"), std::string::npos);
    EXPECT_NE(text.find("checked: hits = written + lost"), std::string::npos);
}

TEST(Summary, JsonHasItsDocumentedKeysAndSurvivesBytesThatAreNotText) {
    Inputs inputs;
    inputs.probes = {probe(16, "u:/bin/\xff\"x:f")};
    inputs.kernel.probes = {{16, {.hits = 2, .ring_full = 1}}};
    inputs.kernel.rings = {{2, 1}};
    inputs.rings = {{.records = 1, .lost_in_gaps = 1}};
    inputs.receive(16, 1);
    Summary summary = inputs.make();
    summary.path = "out.fxt";
    summary.format = "fxt";
    summary.ended_by = "duration";
    const std::string text = summary_json(summary);
    EXPECT_EQ(text.find('\n'), text.size() - 1);
    const auto json = nlohmann::json::parse(text);
    EXPECT_EQ(json["output"]["path"], "out.fxt");
    EXPECT_EQ(json["output"]["format"], "fxt");
    EXPECT_EQ(json["probes"][0]["hits"], 2);
    EXPECT_EQ(json["probes"][0]["written"], 1);
    EXPECT_EQ(json["probes"][0]["lost"]["ring_full"], 1);
    EXPECT_EQ(json["rings"][0]["lost"], 1);
    EXPECT_EQ(json["loss"]["ring_full"], 1);
    EXPECT_EQ(json["ended_by"], "duration");
    EXPECT_TRUE(json["agree"].get<bool>());
    for (const char* key : {"seconds", "events", "spans", "warnings"}) {
        EXPECT_TRUE(json.contains(key)) << key;
    }
}

void add_keys(const nlohmann::json& json, std::set<std::string>& keys) {
    if (json.is_array()) {
        for (const auto& item : json) add_keys(item, keys);
    }
    if (!json.is_object()) return;
    for (const auto& [key, value] : json.items()) {
        keys.insert(key);
        // Why spans ended: the document names some, and "as above".
        if (key != "ends") add_keys(value, keys);
    }
}

TEST(Summary, EachKeyOfTheJsonIsDocumented) {
    Summary summary;
    summary.probes = {{.spec = "u:a:f", .pack = "a/f", .hits = 1, .sample_every = 2}};
    summary.rings = {{.name = "cpu0"}};
    summary.durations.emplace_back();
    PackedFile file;
    file.probes.emplace_back();
    summary.packs = {file};
    std::set<std::string> keys;
    add_keys(nlohmann::json::parse(summary_json(summary)), keys);
    std::ifstream readme(TRACER_SESSION_README);
    const std::string text{std::istreambuf_iterator<char>(readme), {}};
    ASSERT_FALSE(text.empty()) << TRACER_SESSION_README;
    for (const std::string& key : keys) {
        EXPECT_THAT(text, testing::HasSubstr("\"" + key + "\":"));
    }
}

TEST(Summary, HidesIdsThatNobodyDefinedUnlessTheyRan) {
    Inputs inputs;
    inputs.kernel.probes = {{0, {}}, {1, {.hits = 1}}, {12, {}}};
    inputs.receive(1, 1);
    Summary summary = inputs.make();
    ASSERT_EQ(summary.probes.size(), 1u);
    EXPECT_EQ(summary.probes[0].spec, "sched:switch (built in)");
    inputs.kernel.probes = {{12, {.hits = 1}}};
    summary = inputs.make();
    ASSERT_EQ(summary.probes.size(), 1u);
    EXPECT_EQ(summary.probes[0].spec, "unknown (id 12)");
}

TEST(Summary, ShowsTheBusiestOfManyProbesAndTheSumOfTheRest) {
    Inputs inputs;
    inputs.kernel.probes = {{1, {.hits = 7}}};
    inputs.receive(1, 7);
    for (uint32_t id = 16; id < 16 + 23; ++id) {
        inputs.probes.push_back(probe(id, fmt::format("u:a:f{}", id)));
        inputs.kernel.probes.push_back({id, {.hits = id < 18 ? 0 : id}});
        inputs.receive(id, id < 18 ? 0 : static_cast<int>(id));
    }
    const Summary summary = inputs.make();
    const std::string text = summary_text(summary, {});
    EXPECT_LT(text.find("sched:switch"), text.find("u:a:f38\n"));
    EXPECT_LT(text.find("u:a:f38\n"), text.find("u:a:f19\n"));
    EXPECT_EQ(text.find("u:a:f18\n"), std::string::npos);
    EXPECT_NE(text.find("            18             18            0  "
                        "3 more probes, 2 of them never hit (-v lists all)\n"),
              std::string::npos)
        << text;
    EXPECT_NE(summary_text(summary, {.verbose = true}).find("u:a:f16\n"), std::string::npos);
    const auto json = nlohmann::json::parse(summary_json(summary));
    EXPECT_EQ(json["probes"].size(), 22u);
    EXPECT_EQ(json["probes_never_hit"], 2);
}

TEST(Summary, ShowsTwentyProbesInTheOrderTheyWereNamed) {
    Inputs inputs;
    for (uint32_t id = 16; id < 16 + 20; ++id) {
        inputs.probes.push_back(probe(id, fmt::format("u:a:f{}", id)));
        inputs.kernel.probes.push_back({id, {}});
    }
    const std::string text = summary_text(inputs.make(), {});
    EXPECT_LT(text.find("u:a:f16\n"), text.find("u:a:f35\n"));
    EXPECT_EQ(text.find("more probes"), std::string::npos);
}

TEST(Summary, ShortensTheTextOfAPacksProbe) {
    Summary summary;
    summary.probes = {{.spec = "usdt:db:wait(      mode=arg0/map(" + std::string(300, 'x') + "))",
                       .pack = "db/wait",
                       .hits = 1,
                       .written = 1}};
    const std::string text = summary_text(summary, {});
    EXPECT_THAT(text, testing::HasSubstr("usdt:db:wait( mode=arg0/map(xxx"));
    EXPECT_THAT(text, testing::HasSubstr("xxx...  # db/wait\n"));
    EXPECT_THAT(summary_text(summary, {.verbose = true}),
                testing::HasSubstr(summary.probes[0].spec));
    summary.probes[0].pack.clear();
    EXPECT_THAT(summary_text(summary, {}), testing::HasSubstr(summary.probes[0].spec));
}

TEST(Summary, ShowsAFileNameInOneLine) {
    Summary summary;
    summary.path = "a\nb.fxt";
    summary.format = "fxt";
    EXPECT_THAT(summary_text(summary, {}), testing::HasSubstr("wrote a\\x0ab.fxt"));
}

TEST(Summary, PromisesNoFileThatCouldNotBeWritten) {
    Inputs inputs;
    Summary summary = inputs.make();
    summary.path = "/dev/full";
    summary.format = "fxt";
    EXPECT_NE(summary_text(summary, {}).find("wrote /dev/full"), std::string::npos);
    EXPECT_EQ(summary_text(summary, {.is_written = false}).find("wrote"), std::string::npos);
}

TEST(Summary, SaysWhatToDoWithAFileOfEachFormat) {
    Summary summary;
    summary.path = "x";
    for (const Format& format : formats()) {
        summary.format = format.name;
        EXPECT_THAT(summary_text(summary, {}),
                    testing::EndsWith("wrote x; " + std::string(format.opening) + "\n"));
    }
    summary.format = "traw";
    EXPECT_THAT(summary_text(summary, {}),
                testing::EndsWith("wrote x; `tracer convert x -o FILE.fxt` makes a trace of it\n"));
}

TEST(Summary, EmptyTraceHasAWarning) {
    Inputs inputs;
    EXPECT_EQ(inputs.make().warnings.size(), 1u);
}

TEST(Summary, CountsWhatClausesKeptOutByCause) {
    Inputs inputs;
    inputs.probes = {probe(16, "u:a:f sample 1/10")};
    inputs.probes[0].sample_every = 10;
    inputs.kernel.probes = {{16,
                             {.hits = 100,
                              .condition = 40,
                              .unknown = 3,
                              .sampled_out = 45,
                              .throttled = 6,
                              .unopened = 1}}};
    inputs.receive(16, 5);
    Summary summary = inputs.make();
    EXPECT_TRUE(summary.disagreements.empty());
    EXPECT_EQ(summary.probes[0].kept_out(), 95u);
    EXPECT_EQ(summary.loss.total(), 0u) << "what was asked for is no loss";
    const std::string text = summary_text(summary, {});
    EXPECT_NE(text.find("not recorded: 40 condition false, 3 condition unknown (unreadable), 45 "
                        "sampled out, 6 over the rate, 1 ends of spans not recorded"),
              std::string::npos)
        << text;
    EXPECT_NE(text.find("each event is 1 of 10: 5 stand for 56"), std::string::npos) << text;
    EXPECT_NE(text.find("hits = written + lost + not recorded"), std::string::npos);
    const auto json = nlohmann::json::parse(summary_json(summary));
    EXPECT_EQ(json["probes"][0]["kept_out"]["condition"], 40);
    EXPECT_EQ(json["probes"][0]["kept_out"]["throttled"], 6);
    EXPECT_EQ(json["probes"][0]["sampled"]["one_of"], 10);
    EXPECT_EQ(json["probes"][0]["sampled"]["stand_for"], 56);
    inputs.kernel.probes[0].counters.throttled = 5;
    EXPECT_EQ(inputs.make().disagreements.size(), 1u);
}

SpanTally requests() {
    SpanTally tally{.name = "req", .spec = "u:/bin/a:f ~~ u:/bin/a:g"};
    for (uint64_t i = 1; i <= 1000; ++i) tally.durations.add(i * 1000);
    tally.ends[static_cast<size_t>(model::SpanEndCause::returned)] = 1000;
    tally.ends[static_cast<size_t>(model::SpanEndCause::key_reused)] = 3;
    tally.orphan_ends = 2;
    tally.begun_before = 4;
    return tally;
}

TEST(Summary, TellsHowLongSpansTook) {
    Summary summary;
    summary.durations = {requests(), {.name = "never"}};
    const std::string text = summary_text(summary, {});
    EXPECT_THAT(text, testing::HasSubstr("req\n"));
    EXPECT_THAT(text, testing::HasSubstr("1 ms  req")) << "the longest";
    EXPECT_THAT(text, testing::Not(testing::HasSubstr("never")));
    EXPECT_THAT(text, testing::Not(testing::HasSubstr("|#")));
    const std::string all = summary_text(summary, {.verbose = true});
    EXPECT_THAT(all, testing::HasSubstr("524 us |####################"));
    EXPECT_THAT(all, testing::HasSubstr("key reused 3, ends without a begin 2, begun before the "
                                        "recording, the probes or a fork 4"));
    // `as` without values says what all are called.
    summary.durations[0].title = "request";
    EXPECT_THAT(summary_text(summary, {}), testing::HasSubstr("1 ms  request\n"));
}

TEST(Summary, HasDurationsInItsJson) {
    Summary summary;
    summary.durations = {requests()};
    const auto json = nlohmann::json::parse(summary_json(summary));
    const auto& row = json.at("durations").at(0);
    EXPECT_EQ(row.at("span"), "req");
    EXPECT_EQ(row.at("spec"), "u:/bin/a:f ~~ u:/bin/a:g");
    EXPECT_EQ(row.at("count"), 1000);
    EXPECT_NEAR(row.at("p50_ns").get<double>(), 500e3, 10e3);
    EXPECT_NEAR(row.at("p99_ns").get<double>(), 990e3, 20e3);
    EXPECT_EQ(row.at("max_ns"), 1000000);
    EXPECT_EQ(row.at("ends").at("key_reused"), 3);
    EXPECT_EQ(row.at("orphan_ends"), 2);
    EXPECT_EQ(row.at("begun_before"), 4);
    uint64_t sum = 0;
    for (const auto& pair : row.at("log2")) sum += pair.at(1).get<uint64_t>();
    EXPECT_EQ(sum, 1000U);
}

}  // namespace
}  // namespace tracer
