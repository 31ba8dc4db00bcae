// SPDX-License-Identifier: Apache-2.0
//
// The pack of HotSpot against what the virtual machine counts in its beans: collections of each
// collector, classes, waits for monitors. On the OpenJDK 17 of Debian 12, on 21 and 25 of a newer
// release, and, where it is, on Temurin 25.
#include "root/oracle.h"
#include "root/pack_script.h"
#include "support/fixtures/requirements.h"
#include "support/fixtures/target_program.h"

#include <filesystem>
#include <set>

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace tracer::test {
namespace {

using Counts = std::map<std::string, uint64_t>;

constexpr Milliseconds kLimit{60000};

struct Jdk {
    const char* name;
    const char* home;
    const char* release = nullptr;  // of Debian, in whose root it is; null: this machine's
    // What its serial collector calls its operations.
    const char* collect = "GenCollectForAllocation";
    const char* collect_full = "GenCollectFull";
};

constexpr Jdk kJdk17{"Jdk17", "/usr/lib/jvm/java-17-openjdk-amd64"};
constexpr Jdk kTemurin25{"Temurin25", "/usr/lib/jvm/temurin-25-jdk-amd64"};
constexpr Jdk kJdk21{"Jdk21", "/usr/lib/jvm/java-21-openjdk-amd64", "trixie"};
constexpr Jdk kJdk25{"Jdk25", "/usr/lib/jvm/java-25-openjdk-amd64", "trixie",
                     "SerialCollectForAllocation", "SerialGCCollect"};

std::string class_folder() {
    return std::filesystem::path(target_path("PackJvm.class")).parent_path();
}

std::vector<std::string> jvm_command(const Jdk& jdk, std::vector<std::string> options) {
    options.insert(options.begin(), std::string(jdk.home) + "/bin/java");
    options.insert(options.end(), {"-Xmx64m", "-Xshare:auto", "-cp",
                                   jdk.release != nullptr ? "/mnt" : class_folder(), "PackJvm"});
    if (jdk.release == nullptr) return options;
    return in_release(jdk.release, class_folder(), options);
}

// Its place in the files of this machine.
std::string home_of(const Jdk& jdk) {
    if (jdk.release == nullptr) return jdk.home;
    const auto folder = release_folder(jdk.release);
    EXPECT_TRUE(folder) << folder.error().what;
    return folder.value_or("") + jdk.home;
}

#define TR_REQUIRE_JAVA(jdk)                                                   \
    TR_REQUIRE_ROOT();                                                         \
    if ((jdk).release != nullptr) TR_REQUIRE_RELEASE((jdk).release);           \
    if ((jdk).release == nullptr) TR_REQUIRE_FILE(home_of(jdk) + "/bin/java"); \
    TR_REQUIRE_FILE(target_path("PackJvm.class"))

// By the names of the beans; without `since` from the start.
Counts collections(const nlohmann::json& counts, bool is_from_start) {
    Counts result;
    const nlohmann::json& before = counts.at("before").at("collections");
    for (const auto& [bean, count] : counts.at("collections").items()) {
        result[bean] =
            count.get<uint64_t>() - (is_from_start ? 0 : before.at(bean).get<uint64_t>());
    }
    return result;
}

// Begins or ends of "GC pause" and "GC full" until the program had read its beans.
Counts pauses_until_counted(const RecordedScript& script, FxtEventType type) {
    const FxtFile& file = script.recorded.file;
    const nlohmann::json& pid = script.counts.at("pid");
    Counts pauses;
    for (const FxtEvent& event : file.events) {
        if (event.pid != pid) continue;
        if (event.name == "load PackJvm$Counted") return pauses;
        if (event.type == type && event.name.starts_with("GC ")) {
            pauses[std::string(event.name.substr(3))]++;
        }
    }
    ADD_FAILURE() << "the program did not say that it had counted";
    return {};
}

struct Collector {
    Jdk jdk;
    const char* name;
    // The beans that count all its pauses, and the one of full collections, if it has one.
    std::vector<std::string> pauses;
    std::string full;
    // A full collection is among the pauses too: of 17 and 21, not of 25.
    bool counts_full_twice = false;
};

void expect_collections(const RecordedScript& script,
                        const Collector& collector,
                        bool is_from_start) {
    Counts beans = collections(script.counts, is_from_start);
    uint64_t pauses = 0;
    for (const std::string& bean : collector.pauses) pauses += beans[bean];
    const uint64_t full = collector.full.empty() ? 0 : beans[collector.full];
    if (collector.counts_full_twice) pauses -= full;
    for (const auto type : {FxtEventType::duration_begin, FxtEventType::duration_end}) {
        Counts seen = pauses_until_counted(script, type);
        EXPECT_EQ(seen["pause"], pauses) << script.counts.dump();
        EXPECT_EQ(seen["full"], full) << script.counts.dump();
    }
    EXPECT_GT(pauses + full, 3u);
}

class PackJvmCollector : public testing::TestWithParam<Collector> {};

TEST_P(PackJvmCollector, CollectionsAreThoseOfTheBeans) {
    const Collector& collector = GetParam();
    TR_REQUIRE_JAVA(collector.jdk);
    const auto script = record_running_script(
        jvm_command(collector.jdk, {std::string("-XX:+Use") + collector.name + "GC"}));
    ASSERT_TRUE(script) << script.error().what;
    expect_sound(script->recorded);
    expect_nothing_lost(script->recorded);
    expect_collections(*script, collector, false);
}

const Collector kSerial{kJdk17, "Serial", {"Copy"}, "MarkSweepCompact"};

INSTANTIATE_TEST_SUITE_P(
    Java,
    PackJvmCollector,
    testing::Values(kSerial,
                    Collector{kJdk17, "Parallel", {"PS Scavenge"}, "PS MarkSweep", true},
                    Collector{kJdk17, "G1", {"G1 Young Generation"}, "G1 Old Generation"},
                    Collector{kJdk17, "Z", {"ZGC Pauses"}, ""},
                    Collector{kJdk17, "Shenandoah", {"Shenandoah Pauses"}, ""},
                    Collector{kJdk21, "Serial", {"Copy"}, "MarkSweepCompact"},
                    Collector{kJdk21, "Parallel", {"PS Scavenge"}, "PS MarkSweep", true},
                    Collector{kJdk21, "G1", {"G1 Young Generation"}, "G1 Old Generation"},
                    Collector{kJdk21, "Z", {"ZGC Pauses"}, ""},
                    Collector{kJdk21, "Shenandoah", {"Shenandoah Pauses"}, ""},
                    Collector{kJdk25, "Serial", {"Copy"}, "MarkSweepCompact"},
                    Collector{kJdk25, "Parallel", {"PS Scavenge"}, "PS MarkSweep"},
                    Collector{kJdk25, "G1", {"G1 Young Generation"}, "G1 Old Generation"},
                    Collector{kJdk25, "Z", {"ZGC Minor Pauses", "ZGC Major Pauses"}, ""},
                    Collector{kJdk25, "Shenandoah", {"Shenandoah Pauses"}, ""},
                    Collector{kTemurin25, "Serial", {"Copy"}, "MarkSweepCompact"},
                    Collector{kTemurin25, "G1", {"G1 Young Generation"}, "G1 Old Generation"},
                    Collector{kTemurin25, "Z", {"ZGC Minor Pauses", "ZGC Major Pauses"}, ""}),
    [](const auto& each) { return std::string(each.param.jdk.name) + each.param.name; });

// What happens around collections: operations, safepoints and pools, each as often as it must.
void expect_surroundings(const RecordedScript& script, const Jdk& jdk, uint64_t collections) {
    const FxtFile& file = script.recorded.file;
    const nlohmann::json& pid = script.counts.at("pid");
    Counts spans = counts_behind(file, pid, "");
    EXPECT_GE(spans[jdk.collect], 1u);
    EXPECT_EQ(spans[jdk.collect_full], 3u);
    EXPECT_GE(spans["safepoint"], collections);
    // Eight pools, before and after each collection.
    uint64_t values = 0;
    for (const FxtEvent& event : file.events) {
        if (event.type != FxtEventType::counter || !event.name.starts_with("pool ")) continue;
        values++;
        const auto used = integer_argument(file, event, "used");
        const auto committed = integer_argument(file, event, "committed");
        ASSERT_TRUE(used && committed) << event.name;
        EXPECT_LE(*used, *committed) << event.name;
    }
    EXPECT_EQ(values, 2 * 8 * collections);
}

class PackJvm : public testing::TestWithParam<Jdk> {};

INSTANTIATE_TEST_SUITE_P(Java,
                         PackJvm,
                         testing::Values(kJdk17, kJdk21, kJdk25),
                         [](const auto& each) { return std::string(each.param.name); });

// The virtual machine is a library that is loaded when the program runs: its pack is armed a few
// milliseconds later. What is named by path is there before, and so counts every class.
TEST_P(PackJvm, FromTheStartNothingIsMissing) {
    const Jdk& jdk = GetParam();
    TR_REQUIRE_JAVA(jdk);
    const std::string library = home_of(jdk) + "/lib/server/libjvm.so";
    const auto script = record_started_script(
        jvm_command(jdk, {"-XX:+UseSerialGC"}),
        {"-e", "usdt:" + library + ":hotspot:class__loaded(c=arg0:str[arg1,256]) as \"first {c}\"",
         "-e",
         "usdt:" + library + ":hotspot:vm__init__begin as \"first start\" ~~ usdt:" + library +
             ":hotspot:vm__init__end",
         "-e",
         "usdt:" + library + ":hotspot_jni:GetStatic*__entry() ~~ usdt:" + library +
             ":hotspot_jni:GetStatic*__return()"});
    ASSERT_TRUE(script) << script.error().what;
    expect_sound(script->recorded);
    expect_nothing_lost(script->recorded);
    expect_collections(*script, kSerial, true);
    Counts beans = collections(script->counts, true);
    expect_surroundings(*script, jdk, beans["Copy"] + beans["MarkSweepCompact"]);

    const FxtFile& file = script->recorded.file;
    const nlohmann::json& pid = script->counts.at("pid");
    Counts classes = counts_behind(file, pid, "first ", FxtEventType::instant);
    for (const auto& [name, count] : counts_behind(file, pid, "load ", FxtEventType::instant)) {
        EXPECT_LE(count, classes[name]) << name;
    }
    // These come when the bean was read, with halt().
    for (const char* later : {"PackJvm$Counted", "java/lang/Shutdown", "java/lang/Shutdown$Lock"}) {
        EXPECT_EQ(classes.erase(later), 1u) << later;
    }
    uint64_t loaded = 0;
    for (const auto& [name, count] : classes) loaded += count;
    EXPECT_EQ(loaded, script->counts.at("loaded").get<uint64_t>());
    Counts instants = counts_behind(file, pid, "", FxtEventType::instant);
    EXPECT_EQ(instants["load PackJvm$Thing"], 1u);
    EXPECT_EQ(counts_behind(file, pid, "first start", FxtEventType::duration_end)[""], 1u);
    EXPECT_EQ(instants["VM started"], 1u);
    // The launcher looks for main() by it; each entry has the return of its own name.
    Counts calls = counts_behind(file, pid, "GetStatic");
    EXPECT_GE(calls["MethodID"], 1u);
    EXPECT_EQ(counts_behind(file, pid, "GetStatic", FxtEventType::duration_end), calls);
    EXPECT_GT(counts_behind(file, pid, "C1 ").size(), 20u);
    EXPECT_EQ(counts_behind(file, pid, "sleep")[""], 40u);
}

TEST_P(PackJvm, ThreadsAreCalledAsJavaCallsThem) {
    const Jdk& jdk = GetParam();
    TR_REQUIRE_JAVA(jdk);
    const auto script =
        record_running_script(jvm_command(jdk, {"-XX:+UseSerialGC"}), {"--level", "more"});
    ASSERT_TRUE(script) << script.error().what;
    expect_sound(script->recorded);
    expect_nothing_lost(script->recorded);
    const FxtFile& file = script->recorded.file;
    // The kernel keeps 15 bytes of them.
    std::set<std::string> names;
    for (const FxtEvent* event : events_of(file, "sleep", FxtEventType::duration_begin)) {
        names.emplace(file.thread_name(event->tid));
    }
    EXPECT_EQ(names,
              (std::set<std::string>{"worker with a long name 1", "worker with a long name 2"}));

    const nlohmann::json& pid = script->counts.at("pid");
    Counts spans = counts_behind(file, pid, "");
    EXPECT_EQ(spans["park"], 2u);
    EXPECT_EQ(spans["init PackJvm$Broken"], 1u);
    Counts instants = counts_behind(file, pid, "", FxtEventType::instant);
    EXPECT_EQ(instants["init of PackJvm$Broken failed"], 1u);
    EXPECT_EQ(instants["start of worker with a long name 1"], 1u);
    EXPECT_EQ(instants["end of worker with a long name 1"], 1u);
    // All that was loaded since, but for what says that it was counted.
    uint64_t loaded = 0;
    for (const auto& [name, count] : instants) {
        if (name.starts_with("load ") && name != "load PackJvm$Counted") loaded += count;
    }
    EXPECT_EQ(loaded, script->counts.at("loaded").get<uint64_t>() -
                          script->counts.at("before").at("loaded").get<uint64_t>());
    // More levels take nothing away.
    expect_collections(*script, kSerial, false);
    const nlohmann::json row =
        packed_probe(script->recorded.result.summary, "jvm", "contended-monitors");
    EXPECT_EQ(row.value("status", ""), "silent") << row.dump();
    EXPECT_NE(row.value("reason", "").find("DTraceMonitorProbes"), std::string::npos) << row.dump();
}

TEST_P(PackJvm, WaitsForMonitorsAreThoseThatThreadsCount) {
    const Jdk& jdk = GetParam();
    TR_REQUIRE_JAVA(jdk);
    const auto script =
        record_running_script(jvm_command(jdk, {"-XX:+UseSerialGC", "-XX:+DTraceMonitorProbes"}));
    ASSERT_TRUE(script) << script.error().what;
    expect_sound(script->recorded);
    expect_nothing_lost(script->recorded);
    const FxtFile& file = script->recorded.file;
    for (const auto type : {FxtEventType::duration_begin, FxtEventType::duration_end}) {
        uint64_t waits = 0;
        std::string seen;
        for (const FxtEvent& event : file.events) {
            if (event.type != type || !event.name.starts_with("wait for ")) continue;
            const std::string thread(file.thread_name(event.tid));
            seen += fmt::format("{}: {}\n", thread, event.name);
            // Of other threads the program does not ask.
            if (thread.starts_with("worker ")) waits++;
        }
        EXPECT_EQ(waits, script->counts.at("blocked").get<uint64_t>()) << seen;
    }
    EXPECT_GT(script->counts.at("blocked").get<uint64_t>(), 0u);
    const nlohmann::json row =
        packed_probe(script->recorded.result.summary, "jvm", "contended-monitors");
    EXPECT_EQ(row.value("status", ""), "armed") << row.dump();
}

TEST_P(PackJvm, FlagsOfTheVmAddMethodsAndAllocations) {
    const Jdk& jdk = GetParam();
    TR_REQUIRE_JAVA(jdk);
    auto command =
        jvm_command(jdk, {"-XX:+UseSerialGC", "-XX:+DTraceMethodProbes", "-XX:+DTraceAllocProbes"});
    command.emplace_back("10");  // arrays are objects too: fewer of them
    const auto script =
        record_running_script(command, {"--packs", "jvm", "--level", "all", "--buffer", "64M/cpu"});
    ASSERT_TRUE(script) << script.error().what;
    expect_sound(script->recorded);
    expect_nothing_lost(script->recorded);
    const FxtFile& file = script->recorded.file;
    const nlohmann::json& pid = script->counts.at("pid");
    for (const auto type : {FxtEventType::duration_begin, FxtEventType::duration_end}) {
        Counts spans = counts_behind(file, pid, "", type);
        EXPECT_EQ(spans["PackJvm.leaf"], 1000u);
        EXPECT_EQ(spans["PackJvm.call"], 1u);
    }
    Counts instants = counts_behind(file, pid, "", FxtEventType::instant);
    EXPECT_EQ(instants["new PackJvm$Thing"], 50u);
    EXPECT_EQ(packed_probe(script->recorded.result.summary, "jvm", "methods").value("status", ""),
              "armed");
}

// The compiler of Java is a program of Java too.
TEST(PackJvmOthers, AreNotRecorded) {
    TR_REQUIRE_JAVA(kJdk17);
    TR_REQUIRE_FILE(std::string(kJdk17.home) + "/bin/javac");
    const auto folder = TempFolder::make();
    ASSERT_TRUE(folder);
    ASSERT_TRUE(write_file(folder->file("Empty.java"), "class Empty {}\n"));
    auto first = start_command(jvm_command(kJdk17, {"-XX:+UseSerialGC"}));
    ASSERT_TRUE(first) << first.error().what;
    auto second = start_command(jvm_command(kJdk17, {"-XX:+UseSerialGC"}));
    ASSERT_TRUE(second) << second.error().what;
    auto recorder = Recorder::start(
        {"--pid", std::to_string(first->pid()) + "," + std::to_string(second->pid())});
    ASSERT_TRUE(recorder) << recorder.error().what;
    auto first_counts = run_target(*first, kLimit, 1);
    ASSERT_TRUE(first_counts) << first_counts.error().what;
    const auto compiled = run_program({std::string(kJdk17.home) + "/bin/javac", "-d",
                                       folder->path().string(), folder->file("Empty.java")},
                                      kLimit);
    ASSERT_TRUE(compiled) << compiled.error().what;
    auto second_counts = run_target(*second, kLimit, 1);
    ASSERT_TRUE(second_counts) << second_counts.error().what;
    auto recorded = recorder->stop();
    ASSERT_TRUE(recorded) << recorded.error().what;
    expect_sound(*recorded);
    expect_nothing_lost(*recorded);
    std::set<uint64_t> pids;
    for (const FxtEvent& event : recorded->file.events) {
        if (event.category == "hotspot") pids.insert(event.pid);
    }
    EXPECT_EQ(pids, (std::set<uint64_t>{static_cast<uint64_t>(first->pid()),
                                        static_cast<uint64_t>(second->pid())}));
    RecordedScript script{std::move(*recorded), std::move(first_counts->at(0))};
    expect_collections(script, kSerial, false);
    script.counts = std::move(second_counts->at(0));
    expect_collections(script, kSerial, false);
}

}  // namespace
}  // namespace tracer::test
