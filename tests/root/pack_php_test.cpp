// SPDX-License-Identifier: Apache-2.0
//
// The pack of PHP against scripts that count: on the command line, in its web server, in fpm, in
// Apache and in a program with PHP as a library. Debian's PHP 8.2.
#include "root/pack_php_server.h"
#include "root/pack_script.h"
#include "support/fixtures/requirements.h"
#include "support/fixtures/target_program.h"

#include <filesystem>
#include <set>

#include <gtest/gtest.h>

namespace tracer::test {
namespace {

using Counts = std::map<std::string, uint64_t>;

constexpr Milliseconds kLimit{60000};
constexpr const char* kLibPhp = "/usr/lib/libphp8.2.so";
constexpr uint64_t kFailures = 5;  // that a run of the script throws and catches

std::string script_path() {
    return target_path("pack_php.php");
}

// With the environment in which PHP tells of files and functions.
std::vector<std::string> full_command() {
    return {"/usr/bin/env", "USE_ZEND_DTRACE=1", kPhp, "-n", script_path()};
}

void expect_functions(const RecordedScript& script) {
    const FxtFile& file = script.recorded.file;
    const nlohmann::json& pid = script.counts.at("pid");
    for (const auto type : {FxtEventType::duration_begin, FxtEventType::duration_end}) {
        Counts spans = counts_behind(file, pid, "", type);
        EXPECT_EQ(spans["Worker::step"], script.counts.at("calls").get<uint64_t>());
        EXPECT_EQ(spans["Worker::fail"], kFailures);
        EXPECT_EQ(spans["work"], 1u);
    }
    Counts instants = counts_behind(file, pid, "", FxtEventType::instant);
    EXPECT_EQ(instants["throw Failure"], kFailures);
    EXPECT_EQ(instants["catch Failure"], kFailures);
}

TEST(PackPhp, FunctionsOfARunningScript) {
    TR_REQUIRE_ROOT();
    TR_REQUIRE_FILE(kPhp);
    const auto script = record_running_script(full_command(), {"--level", "all"});
    ASSERT_TRUE(script) << script.error().what;
    expect_sound(script->recorded);
    expect_nothing_lost(script->recorded);
    expect_functions(*script);
    EXPECT_EQ(packed_probe(script->recorded.result.summary, "php", "functions").value("status", ""),
              "armed");
}

// The environment is the tracer's own, so that PHP is the program that it starts.
TEST(PackPhp, FunctionsAndTheRequestFromTheFirstInstruction) {
    TR_REQUIRE_ROOT();
    TR_REQUIRE_FILE(kPhp);
    ChildOptions options;
    options.environment["USE_ZEND_DTRACE"] = "1";
    auto recorder = Recorder::start({"--level", "all", "--", kPhp, "-n", script_path()}, options);
    ASSERT_TRUE(recorder) << recorder.error().what;
    ASSERT_TRUE(recorder->process().read_json(kLimit)) << "ready";
    ASSERT_TRUE(recorder->process().send_line("go"));
    auto counts = recorder->process().read_json(kLimit);
    ASSERT_TRUE(counts) << counts.error().what;
    ASSERT_TRUE(recorder->process().send_line("end"));
    auto recorded = recorder->finish();
    ASSERT_TRUE(recorded) << recorded.error().what;
    const RecordedScript script{std::move(*recorded), std::move(*counts)};
    expect_sound(script.recorded);
    expect_nothing_lost(script.recorded);
    expect_functions(script);
    const FxtFile& file = script.recorded.file;
    const nlohmann::json& pid = script.counts.at("pid");
    for (const auto type : {FxtEventType::duration_begin, FxtEventType::duration_end}) {
        EXPECT_EQ(counts_behind(file, pid, "request - -", type)[""], 1u);
        EXPECT_EQ(counts_behind(file, pid, "compile ", type)[script_path()], 1u);
    }
}

TEST(PackPhp, WithoutTheEnvironmentFunctionsAreSilentAndSaySo) {
    TR_REQUIRE_ROOT();
    TR_REQUIRE_FILE(kPhp);
    const auto script = record_running_script({kPhp, "-n", script_path()}, {"--level", "all"});
    ASSERT_TRUE(script) << script.error().what;
    expect_sound(script->recorded);
    const FxtFile& file = script->recorded.file;
    const nlohmann::json& pid = script->counts.at("pid");
    EXPECT_EQ(counts_behind(file, pid, "Worker::step")[""], 0u);
    EXPECT_EQ(counts_behind(file, pid, "throw Failure", FxtEventType::instant)[""], kFailures);
    const nlohmann::json row = packed_probe(script->recorded.result.summary, "php", "functions");
    EXPECT_EQ(row.value("status", ""), "silent") << row.dump();
    EXPECT_NE(row.value("reason", "").find("USE_ZEND_DTRACE=1"), std::string::npos) << row.dump();
}

constexpr int kPages = 5;

// Asks a server for so many pages of one script: what was asked, each once.
template <typename Server>
Counts ask_pages(Server& server, const std::string& script) {
    Counts asked;
    for (int i = 0; i < kPages; ++i) {
        const std::string path = script + "?page=" + std::to_string(i);
        asked["GET " + path] = 1;
        const auto answer = server.get(path);
        if (answer) {
            EXPECT_NE(answer->find("\"calls\":1000"), std::string::npos) << *answer;
        } else {
            ADD_FAILURE() << answer.error().what;
        }
    }
    return asked;
}

TEST(PackPhp, RequestsOfTheWebServer) {
    TR_REQUIRE_ROOT();
    TR_REQUIRE_FILE(kPhp);
    const auto server =
        PhpWebServer::start(std::filesystem::path(script_path()).parent_path().string());
    ASSERT_TRUE(server) << server.error().what;
    auto recorder = Recorder::start({"--pid", std::to_string(server->pid())});
    ASSERT_TRUE(recorder) << recorder.error().what;
    const Counts asked = ask_pages(*server, "/pack_php.php");
    const auto recorded = recorder->stop();
    ASSERT_TRUE(recorded) << recorded.error().what;
    expect_sound(*recorded);
    expect_nothing_lost(*recorded);
    const nlohmann::json pid = server->pid();
    EXPECT_EQ(counts_behind(recorded->file, pid, "request "), asked);
    EXPECT_EQ(counts_behind(recorded->file, pid, "request ", FxtEventType::duration_end), asked);
    Counts instants = counts_behind(recorded->file, pid, "", FxtEventType::instant);
    EXPECT_EQ(instants["throw Failure"], kPages * kFailures);
    EXPECT_EQ(instants["catch Failure"], kPages * kFailures);
}

TEST(PackPhp, RequestsOfFpmInItsWorkers) {
    TR_REQUIRE_ROOT();
    TR_REQUIRE_FILE(kPhpFpm);
    const auto server = PhpFpm::start();
    ASSERT_TRUE(server) << server.error().what;
    auto recorder = Recorder::start({"--pid", std::to_string(server->master_pid()), "--tree"});
    ASSERT_TRUE(recorder) << recorder.error().what;
    Counts asked;
    std::set<uint64_t> workers;
    for (int i = 0; i < 10; ++i) {
        const std::string uri = "/page/" + std::to_string(i);
        asked["request GET " + uri] = 1;
        const auto answer = server->get(script_path(), uri);
        ASSERT_TRUE(answer) << answer.error().what;
        const size_t body = answer->find('{');
        ASSERT_NE(body, std::string::npos) << *answer;
        const auto counts = nlohmann::json::parse(answer->substr(body), nullptr, false);
        ASSERT_TRUE(counts.is_object()) << *answer;
        workers.insert(counts.value("pid", uint64_t{0}));
    }
    const auto recorded = recorder->stop();
    ASSERT_TRUE(recorded) << recorded.error().what;
    expect_sound(*recorded);
    expect_nothing_lost(*recorded);
    for (const auto type : {FxtEventType::duration_begin, FxtEventType::duration_end}) {
        Counts seen;
        for (const uint64_t worker : workers) {
            for (const auto& [name, count] : counts_behind(recorded->file, worker, "", type)) {
                seen[name] += count;
            }
        }
        EXPECT_EQ(seen, asked);
    }
    EXPECT_EQ(events_of(recorded->file, "throw Failure").size(), 10 * kFailures);
    EXPECT_FALSE(workers.contains(static_cast<uint64_t>(server->master_pid())));
}

TEST(PackPhp, RequestsOfApachesModule) {
    TR_REQUIRE_ROOT();
    TR_REQUIRE_FILE(kApache);
    TR_REQUIRE_FILE(kApachePhp);
    const auto server = ApachePhp::start(script_path());
    ASSERT_TRUE(server) << server.error().what;
    auto recorder = Recorder::start({"--pid", std::to_string(server->master_pid()), "--tree"});
    ASSERT_TRUE(recorder) << recorder.error().what;
    ask_pages(*server, "/page.php");
    const auto recorded = recorder->stop();
    ASSERT_TRUE(recorded) << recorded.error().what;
    expect_sound(*recorded);
    expect_nothing_lost(*recorded);
    // The module gives the address without what the page is asked for.
    EXPECT_EQ(span_count(recorded->file, "request GET /page.php"), size_t{kPages});
    EXPECT_EQ(events_of(recorded->file, "throw Failure").size(), kPages * kFailures);
    EXPECT_EQ(events_of(recorded->file, "catch Failure").size(), kPages * kFailures);
}

TEST(PackPhp, FoundInAProgramThatIsNoPhp) {
    TR_REQUIRE_ROOT();
    TR_REQUIRE_FILE(kLibPhp);
    const auto script = record_running_script({target_path("pack_php_embed"), kLibPhp});
    ASSERT_TRUE(script) << script.error().what;
    expect_sound(script->recorded);
    expect_nothing_lost(script->recorded);
    ASSERT_EQ(script->counts.at("result"), 0);
    const FxtFile& file = script->recorded.file;
    const nlohmann::json& pid = script->counts.at("pid");
    EXPECT_EQ(counts_behind(file, pid, "request ").size(), 1u);
    EXPECT_EQ(counts_behind(file, pid, "request ", FxtEventType::duration_end).size(), 1u);
    Counts instants = counts_behind(file, pid, "", FxtEventType::instant);
    EXPECT_EQ(instants["throw LogicException"], 3u);
    EXPECT_EQ(instants["catch LogicException"], 3u);
}

}  // namespace
}  // namespace tracer::test
