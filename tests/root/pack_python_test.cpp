// SPDX-License-Identifier: Apache-2.0
//
// The pack of CPython against what the interpreter counts: gc.get_stats(), its import hooks,
// -X importtime, and an audit hook. On Debian's python3.11, on its library in another program, and
// on builds without probes, which are made of these.
#include "root/pack_script.h"
#include "support/fixtures/python_recipe.h"
#include "support/fixtures/requirements.h"
#include "support/fixtures/target_program.h"

#include <set>

#include <gtest/gtest.h>

namespace tracer::test {
namespace {

using Counts = std::map<std::string, uint64_t>;

constexpr Milliseconds kLimit{60000};
constexpr std::string_view kCollection = "gc generation ";
constexpr std::string_view kImport = "import ";

std::string script_path() {
    return target_path("pack_python.py");
}

std::vector<std::string> script_command(const std::vector<std::string>& options = {}) {
    std::vector<std::string> command{kPython, "-S", "-E"};
    command.insert(command.end(), options.begin(), options.end());
    command.push_back(script_path());
    return command;
}

// By generation; `since`: what there was before, or null.
Counts collections(const nlohmann::json& counts, const nlohmann::json& since) {
    Counts result;
    for (size_t i = 0; i < 3; ++i) {
        const uint64_t before = since.is_array() ? since.at(i).get<uint64_t>() : 0;
        const uint64_t count = counts.at("collections").at(i).get<uint64_t>() - before;
        if (count != 0) result[std::to_string(i)] = count;
    }
    return result;
}

void expect_collections(const RecordedScript& script, bool is_from_start) {
    const nlohmann::json since =
        is_from_start ? nlohmann::json() : script.counts.at("collections_before");
    const nlohmann::json& pid = script.counts.at("pid");
    const FxtFile& file = script.recorded.file;
    EXPECT_EQ(counts_behind(file, pid, kCollection), collections(script.counts, since));
    EXPECT_EQ(counts_behind(file, pid, kCollection, FxtEventType::duration_end),
              counts_behind(file, pid, kCollection));
}

// `has_statements`: of a level that records import statements too, which say so in their names.
void expect_imports(const RecordedScript& script, bool has_statements) {
    const FxtFile& file = script.recorded.file;
    const nlohmann::json& pid = script.counts.at("pid");
    constexpr std::string_view kStatement = "statement ";
    auto imports = counts_behind(file, pid, kImport);
    const size_t statements = std::erase_if(
        imports, [&](const auto& each) { return each.first.starts_with(kStatement); });
    EXPECT_EQ(statements != 0, has_statements);
    EXPECT_EQ(imports, counts_of(script.counts.at("imports")));
    std::set<std::string> failed;
    for (const FxtEvent& event : file.events) {
        if (event.type != FxtEventType::duration_end || event.pid != pid) continue;
        const FxtValue* result = file.find(event.arguments, "result");
        if (result != nullptr && to_text(*result) == "\"failed\"") failed.emplace(event.name);
    }
    std::set<std::string> expected{"import no_such_module"};
    if (has_statements) expected.insert("import statement no_such_module");
    EXPECT_EQ(failed, expected);
}

// "import time:       120 |        120 |     zipimport" of -X importtime, which is printed where
// the probe's end is.
Counts imports_printed(std::string_view errors) {
    Counts counts;
    constexpr std::string_view kMark = "import time:";
    while (!errors.empty()) {
        const std::string_view line = errors.substr(0, errors.find('\n'));
        errors.remove_prefix(std::min(line.size() + 1, errors.size()));
        if (!line.starts_with(kMark) || line.find("imported package") != line.npos) continue;
        const size_t bar = line.rfind('|');
        const size_t name = line.find_first_not_of(' ', bar + 1);
        if (bar != line.npos && name != line.npos) counts[std::string(line.substr(name))]++;
    }
    return counts;
}

TEST(PackPython, CountsOfARunningInterpreterAreItsOwn) {
    TR_REQUIRE_ROOT();
    TR_REQUIRE_FILE(kPython);
    const auto script = record_running_script(script_command());
    ASSERT_TRUE(script) << script.error().what;
    expect_sound(script->recorded);
    expect_nothing_lost(script->recorded);
    expect_collections(*script, false);
    expect_imports(*script, false);
}

TEST(PackPython, CountsFromTheFirstInstructionAreItsOwn) {
    TR_REQUIRE_ROOT();
    TR_REQUIRE_FILE(kPython);
    const auto script = record_started_script(script_command({"-X", "importtime"}));
    ASSERT_TRUE(script) << script.error().what;
    expect_sound(script->recorded);
    expect_nothing_lost(script->recorded);
    expect_collections(*script, true);
    const Counts printed = imports_printed(script->recorded.result.errors);
    EXPECT_GT(printed.size(), 60u);
    EXPECT_EQ(counts_behind(script->recorded.file, script->counts.at("pid"), kImport), printed);
}

TEST(PackPython, InterpretersAtOnceKeepTheirCountsApart) {
    TR_REQUIRE_ROOT();
    TR_REQUIRE_FILE(kPython);
    TR_REQUIRE_FILE(target_path("embedded_python"));
    auto first = start_command(script_command());
    ASSERT_TRUE(first) << first.error().what;
    auto second = start_command(script_command());
    ASSERT_TRUE(second) << second.error().what;
    auto embedded = start_command({target_path("embedded_python"), script_path()});
    ASSERT_TRUE(embedded) << embedded.error().what;
    std::vector<ChildProcess*> scripts{&*first, &*second, &*embedded};
    std::string pids;
    for (const ChildProcess* script : scripts) pids += std::to_string(script->pid()) + ",";
    pids.pop_back();
    auto recorder = Recorder::start({"--pid", pids});
    ASSERT_TRUE(recorder) << recorder.error().what;
    std::vector<nlohmann::json> counts;
    for (ChildProcess* script : scripts) ASSERT_TRUE(script->send_line("go"));
    for (ChildProcess* script : scripts) {
        auto line = script->read_json(kLimit);
        ASSERT_TRUE(line) << line.error().what;
        counts.push_back(std::move(*line));
    }
    const auto recorded = recorder->stop();
    ASSERT_TRUE(recorded) << recorded.error().what;
    expect_sound(*recorded);
    expect_nothing_lost(*recorded);
    for (const nlohmann::json& each : counts) {
        const nlohmann::json& pid = each.at("pid");
        EXPECT_EQ(counts_behind(recorded->file, pid, kCollection),
                  collections(each, each.at("collections_before")));
        EXPECT_EQ(counts_behind(recorded->file, pid, kImport), counts_of(each.at("imports")));
    }
}

TEST(PackPython, FoundInAProgramThatIsNoPython) {
    TR_REQUIRE_ROOT();
    TR_REQUIRE_FILE(target_path("embedded_python"));
    const auto script = record_running_script({target_path("embedded_python"), script_path()});
    ASSERT_TRUE(script) << script.error().what;
    expect_sound(script->recorded);
    expect_nothing_lost(script->recorded);
    expect_collections(*script, false);
    expect_imports(*script, false);
}

TEST(PackPython, CollectionsOfABuildWithoutProbesAreFoundByTheirFunction) {
    TR_REQUIRE_ROOT();
    TR_REQUIRE_FILE(target_path("static_python"));
    const auto script =
        record_running_script({target_path("static_python"), script_path()}, {"--level", "more"});
    ASSERT_TRUE(script) << script.error().what;
    expect_sound(script->recorded);
    expect_nothing_lost(script->recorded);
    expect_collections(*script, false);
    const nlohmann::json& summary = script->recorded.result.summary;
    EXPECT_EQ(packed_probe(summary, "python", "imports").value("status", ""), "missing");
    // The program's name does not tell its version, so that both ways to read a name are tried;
    // only one of them may take it.
    Counts statements =
        counts_behind(script->recorded.file, script->counts.at("pid"), "import statement ");
    EXPECT_EQ(statements["colorsys"], 2u);
    EXPECT_EQ(statements["email.mime.text"], 1u);
    EXPECT_EQ(statements["no_such_module"], 1u);
}

TEST(PackPython, BuildWithNeitherProbesNorSymbolsSaysWhatWouldHelp) {
    TR_REQUIRE_ROOT();
    TR_REQUIRE_FILE(kPython);
    const auto folder = TempFolder::make();
    ASSERT_TRUE(folder);
    const std::string copy = folder->file("python3.11");
    const auto copied =
        run_program({"objcopy", "--remove-section=.note.stapsdt", "--remove-section=.gnu_debuglink",
                     "--remove-section=.note.gnu.build-id", kPython, copy},
                    kLimit);
    ASSERT_TRUE(copied) << copied.error().what;
    const auto script = record_running_script({copy, "-S", "-E", script_path()});
    ASSERT_TRUE(script) << script.error().what;
    expect_sound(script->recorded);
    const nlohmann::json row = packed_probe(script->recorded.result.summary, "python", "gc");
    EXPECT_EQ(row.value("status", ""), "missing");
    EXPECT_NE(row.value("reason", "").find("--with-dtrace"), std::string::npos) << row.dump();
}

TEST(PackPython, FunctionsNestAsTheyWereCalled) {
    TR_REQUIRE_ROOT();
    TR_REQUIRE_FILE(kPython);
    const auto script = record_running_script(script_command(), {"--level", "all"});
    ASSERT_TRUE(script) << script.error().what;
    expect_sound(script->recorded);
    expect_nothing_lost(script->recorded);
    const FxtFile& file = script->recorded.file;
    const nlohmann::json& pid = script->counts.at("pid");
    for (const auto type : {FxtEventType::duration_begin, FxtEventType::duration_end}) {
        Counts calls = counts_behind(file, pid, "", type);
        EXPECT_EQ(calls["leaf"], 1000u);
        EXPECT_EQ(calls["middle"], 1u);
        EXPECT_EQ(calls["recurse"], 40u);   // the innermost raises through all of them
        EXPECT_EQ(calls["generate"], 51u);  // once a value, and once for the end
    }
    // The level takes nothing away.
    expect_collections(*script, false);
    expect_imports(*script, true);
}

TEST(PackPython, AuditEventsAreThoseThatAHookIsToldOf) {
    TR_REQUIRE_ROOT();
    TR_REQUIRE_FILE(kPython);
    const auto script =
        record_running_script(script_command(), {"--packs", "python", "--level", "all"});
    ASSERT_TRUE(script) << script.error().what;
    expect_sound(script->recorded);
    expect_nothing_lost(script->recorded);
    EXPECT_EQ(counts_behind(script->recorded.file, script->counts.at("pid"), "audit ",
                            FxtEventType::instant),
              counts_of(script->counts.at("audit")));
}

}  // namespace
}  // namespace tracer::test
