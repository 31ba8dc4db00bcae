// SPDX-License-Identifier: Apache-2.0
//
// Files crafted byte by byte and a pack of the test's own: what is chosen for each file, what each
// row says, and how the plan goes on.
#include "packs/pack_plan.h"

#include "packs/pack_start.h"
#include "unit/symbol/elf_builder.h"

#include <fstream>
#include <sys/stat.h>
#include <unistd.h>

#include <elf.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tracer {
namespace {

using test::ElfBuilder;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr std::string_view kHead = R"([pack]
name = "app"
runtime = "The app"
version = 1
about = "what the app does"
)";
constexpr std::string_view kMatch = R"(
[[match]]
provider = "app"
)";

std::string probe(const std::string& name, const std::string& text, const std::string& more = {}) {
    return fmt::format(
        "\n[[probe]]\nname = \"{}\"\nabout = \"a probe\"\nstability = \"stable\"\n"
        "probe = {}\n{}\n",
        name, text, more);
}

class PackPlan : public testing::Test {
protected:
    PackPlan() {
        // One that gives nothing but the pack of the test a chance.
        options_.request.names = {"app"};
    }

    std::string file(const std::string& name, const std::string& text) {
        std::string path = folder_.path() + "/" + name;
        std::ofstream(path) << text;
        return path;
    }

    std::string elf(const std::string& name, const ElfBuilder& builder) {
        return test::write_file(folder_.path(), name, builder.build());
    }

    // A file with the note app:start, and functions that the tests name.
    static ElfBuilder app() {
        return ElfBuilder()
            .note("app", "start", "4@%edi", ElfBuilder::kText + 4)
            .note("app", "stop", "4@%edi", ElfBuilder::kText + 8)
            .function("collect", ElfBuilder::kText + 0x40);
    }

    PackPlanner planner(const std::string& pack) {
        auto catalog = PackCatalog::load({.files = {file("app.toml", pack)}, .folder = {}});
        EXPECT_TRUE(catalog) << catalog.error().what << catalog.error().hint;
        auto made = PackPlanner::make(std::move(*catalog), options_);
        EXPECT_TRUE(made);
        return std::move(*made);
    }

    // The rows of the only pack that the file fits.
    std::vector<PackedProbe> rows(const std::string& pack, const std::string& path) {
        const auto opened = open_file_by_path(path);
        EXPECT_TRUE(opened);
        const PackSubject subject{.file = *opened, .is_executable = true, .pids = pids_};
        added_ = planner(pack).add(subject, plan_, known_);
        return added_.files.empty() ? std::vector<PackedProbe>() : added_.files.front().probes;
    }

    test::TemporaryFolder folder_;
    PackPlannerOptions options_;
    std::vector<uint32_t> pids_;
    std::vector<model::Point> known_;
    AttachPlan plan_;
    PackAddition added_;
};

TEST_F(PackPlan, ArmsWhatTheFileHas) {
    const auto found = rows(std::string(kHead) + std::string(kMatch) +
                                probe("start", "'usdt:app:start(n=arg0:s32)'") +
                                probe("collect", "'u:@:collect'", "level = \"default\""),
                            elf("app", app()));
    ASSERT_EQ(found.size(), 2u);
    for (const PackedProbe& row : found) {
        EXPECT_EQ(row.status, PackedStatus::armed) << row.reason;
        EXPECT_EQ(row.sites, 1u);
        EXPECT_EQ(row.probe_id_count, 1u);
    }
    EXPECT_EQ(found[0].first_probe_id, uint32_t{TR_PROBE_FIRST_USER});
    EXPECT_EQ(found[1].first_probe_id, uint32_t{TR_PROBE_FIRST_USER} + 1);
    EXPECT_EQ(found[1].spec, "u:" + folder_.path() + "/app:collect");
    ASSERT_EQ(plan_.probes.size(), 2u);
    EXPECT_EQ(plan_.probes[1].probe_id, uint32_t{TR_PROBE_FIRST_USER} + 1);
    EXPECT_EQ(plan_.points.size(), 2u);
    for (const AttachFile& part : plan_.files) {
        for (const AttachSite& site : part.sites) {
            EXPECT_TRUE(site.may_fail);
            EXPECT_TRUE(site.is_optional);
        }
    }
    EXPECT_THAT(plan_.waiting, IsEmpty());
}

constexpr std::string_view kLayouts = R"(
[version]
text = "app version {}"
[[layout]]
name = "2 small"
versions = "2"
text = "built small"
words = { size = "16", more = "" }
[[layout]]
name = "2"
versions = "2"
words = { size = "24", more = ", b=arg1:u32" }
)";

TEST_F(PackPlan, PutsTheWordsOfTheLayoutIntoTexts) {
    const auto pack = std::string(kHead) + std::string(kLayouts) + std::string(kMatch) +
                      probe("collect", "'u:@:collect(a=*(arg0+$size):u32$more)'");
    const auto with = [&](const std::string& name, const std::string& constants) {
        auto builder = app();
        builder.section(".rodata", SHT_PROGBITS, constants);
        return rows(pack, elf(name, builder));
    };
    auto found = with("plain", "app version 2.1");
    ASSERT_EQ(found.size(), 1u);
    EXPECT_THAT(found[0].spec, HasSubstr("(a=*(arg0+24):u32, b=arg1:u32)"));
    found = with("small", "app version 2.1, built small");
    ASSERT_EQ(found.size(), 1u);
    EXPECT_THAT(found[0].spec, HasSubstr("(a=*(arg0+16):u32)"));
    found = with("newer", "app version 3.0");
    ASSERT_EQ(found.size(), 1u);
    EXPECT_EQ(found[0].status, PackedStatus::refused);
    EXPECT_EQ(found[0].reason,
              "where The app 3.0 keeps this in memory is not known (known: 2 small, 2)");
    found = with("nameless", "built small");
    ASSERT_EQ(found.size(), 1u);
    EXPECT_EQ(found[0].status, PackedStatus::refused) << "a version is never guessed";
}

TEST_F(PackPlan, FallsBackOnTheProbeThatNeedsNoLayout) {
    const auto pack = std::string(kHead) + std::string(kLayouts) + std::string(kMatch) +
                      probe("collect", "'u:@:collect(a=*(arg0+$size):u32)'") +
                      probe("collect", "'u:@:collect(c=arg0:u32)'");
    const auto with = [&](const std::string& name, const std::string& constants) {
        auto builder = app();
        builder.section(".rodata", SHT_PROGBITS, constants);
        return rows(pack, elf(name, builder));
    };
    auto found = with("known", "app version 2.1");
    ASSERT_EQ(found.size(), 1u);
    EXPECT_THAT(found[0].spec, HasSubstr("arg0+24"));
    found = with("unknown", "app version 3.0");
    ASSERT_EQ(found.size(), 1u);
    EXPECT_THAT(found[0].spec, HasSubstr("c=arg0"));
}

TEST_F(PackPlan, LeavesOutWhatAnotherSaysToo) {
    const auto pack = std::string(kHead) + std::string(kMatch) +
                      probe("each", "'u:@:collect'", "level = \"more\"") +
                      probe("whole", "'usdt:app:start'", "unless = \"each\"");
    const auto path = elf("app", app());
    auto found = rows(pack, path);
    ASSERT_EQ(found.size(), 2u);
    EXPECT_TRUE(found[1].is_armed()) << "the other one is off";
    options_.request.level = PackLevel::more;
    found = rows(pack, path);
    ASSERT_EQ(found.size(), 2u);
    EXPECT_TRUE(found[0].is_armed());
    EXPECT_EQ(found[1].status, PackedStatus::off);
    EXPECT_EQ(found[1].reason, "each says it too");
    EXPECT_EQ(found[1].replaced_by, "each");
}

TEST_F(PackPlan, NamesPlacesInKnownCode) {
    const auto pack = std::string(kHead) + R"(
[[code]]
name = "enter"
bytes = "48 83 ec 30 48 89 e0 48 81 ec 00 40 00 00 48 89"
inside = "leave+0x4"
)" + std::string(kMatch) +
                      probe("enter", "'u:@:enter'") + probe("leave", "'u:@:leave'");
    auto builder = app();
    builder.code(ElfBuilder::kText + 0x60, {0x48, 0x83, 0xec, 0x30, 0x48, 0x89, 0xe0, 0x48, 0x81,
                                            0xec, 0x00, 0x40, 0x00, 0x00, 0x48, 0x89});
    const auto found = rows(pack, elf("app", builder));
    ASSERT_EQ(found.size(), 2u);
    EXPECT_TRUE(found[0].is_armed()) << found[0].reason;
    EXPECT_TRUE(found[1].is_armed()) << found[1].reason;
    ASSERT_FALSE(plan_.files.empty());
    std::vector<uint64_t> offsets;
    for (const AttachFile& part : plan_.files) {
        for (const AttachSite& site : part.sites) offsets.push_back(site.file_offset);
    }
    EXPECT_THAT(offsets, testing::UnorderedElementsAre(0x260u, 0x264u));
}

// What is in quotes is no path, whatever is escaped there.
TEST_F(PackPlan, PutsThePathOnlyOutsideOfQuotes) {
    const std::string path = elf("app", app());
    const auto found = rows(std::string(kHead) + std::string(kMatch) +
                                probe("collect", R"('u:@:collect as "a \" :@: \" b"')"),
                            path);
    ASSERT_EQ(found.size(), 1u);
    EXPECT_EQ(found[0].spec, "u:" + path + R"(:collect as "a \" :@: \" b")");
}

TEST_F(PackPlan, TakesTheFirstTextThatTheFileHas) {
    const auto found = rows(
        std::string(kHead) + std::string(kMatch) +
            probe("begin", "['usdt:app:begin', 'u:@:begin', 'usdt:app:start', 'usdt:app:stop']"),
        elf("app", app()));
    ASSERT_EQ(found.size(), 1u);
    EXPECT_EQ(found[0].spec, "usdt:app:start");
    EXPECT_EQ(found[0].status, PackedStatus::armed);
}

TEST_F(PackPlan, SaysWhatToDoWhereTheFileLacksAProbe) {
    const auto found = rows(std::string(kHead) + std::string(kMatch) +
                                probe("gone", "'usdt:app:gone'", "without = \"use app 2\"") +
                                probe("bare", "'usdt:app:bare'"),
                            elf("app", app()));
    ASSERT_EQ(found.size(), 2u);
    EXPECT_EQ(found[0].status, PackedStatus::missing);
    EXPECT_EQ(found[0].reason, "use app 2");
    EXPECT_EQ(found[0].probe_id_count, 0u);
    EXPECT_EQ(found[1].status, PackedStatus::missing);
    EXPECT_THAT(found[1].reason, HasSubstr("app:bare"));
    EXPECT_FALSE(added_.files.front().is_armed());
    EXPECT_THAT(plan_.programs, IsEmpty());
    EXPECT_THAT(plan_.warnings, IsEmpty());
}

// The file has it, and it cannot be had: another cure than that for what is not there.
TEST_F(PackPlan, APlaceThatHarmsIsRefused) {
    const std::vector<uint8_t> nop5{0x0f, 0x1f, 0x44, 0x00, 0x00};
    const auto found = rows(std::string(kHead) + std::string(kMatch) +
                                probe("start", "'usdt:app:start'", "without = \"use app 2\""),
                            elf("app", app().code(ElfBuilder::kText + 4, nop5)));
    ASSERT_EQ(found.size(), 1u);
    EXPECT_EQ(found[0].status, PackedStatus::refused);
    EXPECT_THAT(found[0].reason, HasSubstr("5-byte nop"));
    EXPECT_THAT(plan_.warnings, IsEmpty());
}

TEST_F(PackPlan, HigherLevelsAreOff) {
    const std::string pack = std::string(kHead) + std::string(kMatch) +
                             probe("start", "'usdt:app:start'") +
                             probe("stop", "'usdt:app:stop'", "level = \"more\"") +
                             probe("collect", "'u:@:collect'", "level = \"all\"") +
                             probe("gone", "'usdt:app:gone'", "level = \"more\"");
    const std::string path = elf("app", app());
    auto found = rows(pack, path);
    ASSERT_EQ(found.size(), 4u);
    EXPECT_EQ(found[0].status, PackedStatus::armed);
    EXPECT_EQ(found[1].status, PackedStatus::off);
    EXPECT_THAT(found[1].reason, HasSubstr("--level more"));
    EXPECT_EQ(found[2].status, PackedStatus::off);
    // Nobody is sent to a level for what the file lacks.
    EXPECT_EQ(found[3].status, PackedStatus::missing);
    EXPECT_EQ(plan_.programs.size(), 1u);

    options_.request.level = PackLevel::more;
    plan_ = {};
    found = rows(pack, path);
    EXPECT_EQ(found[1].status, PackedStatus::armed);
    EXPECT_EQ(found[2].status, PackedStatus::off);
    EXPECT_EQ(plan_.programs.size(), 2u);

    EXPECT_TRUE(added_.files.front().warning.empty());

    options_.request.level = PackLevel::all;
    plan_ = {};
    found = rows(pack + "[cost]\nall = \"a lot\"\n", path);
    EXPECT_EQ(found[2].status, PackedStatus::armed);
    EXPECT_EQ(plan_.programs.size(), 3u);
    EXPECT_EQ(added_.files.front().warning, "a lot");
}

TEST_F(PackPlan, AProbeIsOfItsVersionsOfTheRuntime) {
    const std::string pack = std::string(kHead) + "[version]\npath = \"app{}\"\n" +
                             std::string(kMatch) +
                             probe("old", "'usdt:app:start'", "versions = \"2-2.9\"") +
                             probe("new", "'usdt:app:stop'", "versions = \"3-\"");
    const auto found = rows(pack, elf("app3.1", app()));
    ASSERT_EQ(found.size(), 2u);
    EXPECT_EQ(added_.files.front().title(), "app 3.1");
    EXPECT_EQ(found[0].status, PackedStatus::missing);
    EXPECT_THAT(found[0].reason, HasSubstr("3.1"));
    EXPECT_EQ(found[1].status, PackedStatus::armed);
}

TEST_F(PackPlan, OfProbesOfOneNameTheOneForTheVersionIsTold) {
    const auto pack = std::string(kHead) + "[version]\npath = \"app{}\"\n" + std::string(kMatch) +
                      probe("start", "'usdt:app:start'", "versions = \"-3.11\"") +
                      probe("start", "'usdt:app:start(n=arg0:s32)'", "versions = \"3.12-\"");
    const auto found = rows(pack, elf("app3.12", app()));
    ASSERT_EQ(found.size(), 1u);
    EXPECT_EQ(found[0].status, PackedStatus::armed) << found[0].reason;
    EXPECT_EQ(found[0].spec, "usdt:app:start(n=arg0:s32)");
}

TEST_F(PackPlan, AnOlderRuntimeThanThePacksIsRefusedAndANewerOneWarnedOf) {
    const std::string pack = std::string(kHead) +
                             "versions = \"3-4\"\n[version]\npath = \"app{}\"\n" +
                             std::string(kMatch) + probe("start", "'usdt:app:start'");
    auto found = rows(pack, elf("app2.7", app()));
    ASSERT_EQ(found.size(), 1u);
    EXPECT_EQ(found[0].status, PackedStatus::refused);
    EXPECT_THAT(found[0].reason, HasSubstr("older"));
    EXPECT_THAT(added_.warnings, IsEmpty());
    found = rows(pack, elf("app5", app()));
    ASSERT_EQ(found.size(), 1u);
    EXPECT_EQ(found[0].status, PackedStatus::armed);
    EXPECT_THAT(added_.warnings, ElementsAre(HasSubstr("newer")));
}

TEST_F(PackPlan, ReadsWhatProcessesWereStartedWith) {
    const std::string proc = folder_.path() + "/proc";
    const auto add_process = [&](uint32_t pid, const std::string& words, const std::string& env) {
        const std::string base = fmt::format("{}/{}", proc, pid);
        ASSERT_EQ(mkdir(base.c_str(), 0700), 0);
        std::ofstream(base + "/cmdline") << words;
        std::ofstream(base + "/environ") << env;
    };
    ASSERT_EQ(mkdir(proc.c_str(), 0700), 0);
    using namespace std::string_literals;
    add_process(7, "app\0-x\0"s, "HOME=/\0"s);
    add_process(8, "app\0"s, "APP_OPTIONS=-a -XX:+Probes -b\0"s);
    add_process(9, "app\0-XX:+ProbesNot\0"s, "PROBES=10\0"s);
    add_process(10, "app\0"s, "PROBES=1\0"s);
    options_.proc_root = proc;
    const std::string pack =
        std::string(kHead) + std::string(kMatch) +
        probe("start", "'usdt:app:start'", "requires_argument = [\"-XX:+Probes\"]") +
        probe("stop", "'usdt:app:stop'", "requires_environment = [\"PROBES=1\"]");
    const std::string path = elf("app", app());
    const auto statuses = [&](std::vector<uint32_t> pids) {
        pids_ = std::move(pids);
        plan_ = {};
        std::vector<PackedStatus> found;
        for (const PackedProbe& row : rows(pack, path)) found.push_back(row.status);
        return found;
    };
    using enum PackedStatus;
    EXPECT_THAT(statuses({7}), ElementsAre(silent, silent));
    EXPECT_THAT(added_.files.front().probes[0].reason, HasSubstr("-XX:+Probes"));
    EXPECT_THAT(added_.files.front().probes[1].reason, HasSubstr("PROBES=1"));
    EXPECT_EQ(plan_.programs.size(), 2u);  // armed: another process may come
    EXPECT_THAT(statuses({8}), ElementsAre(armed, silent));
    EXPECT_THAT(statuses({9}), ElementsAre(silent, silent));
    EXPECT_THAT(statuses({10}), ElementsAre(silent, armed));
    EXPECT_THAT(statuses({7, 8, 10}), ElementsAre(armed, armed));
}

TEST_F(PackPlan, TellsOfProcessesThatLogThemselves) {
    const std::string proc = folder_.path() + "/proc";
    for (const auto* folder : {"", "/7", "/7/fd", "/8", "/8/fd"}) {
        ASSERT_EQ(mkdir((proc + folder).c_str(), 0700), 0);
    }
    ASSERT_EQ(symlink("/tmp/app.eventlog", (proc + "/7/fd/3").c_str()), 0);
    ASSERT_EQ(symlink("pipe:[1.eventlog]", (proc + "/8/fd/3").c_str()), 0);
    options_.proc_root = proc;
    pids_ = {7, 8, 9};
    const std::string words = "own_log = \"*.eventlog\"\nown_log_has = \"it has more\"\n";
    static_cast<void>(
        rows(std::string(kHead) + words + std::string(kMatch) + probe("start", "'usdt:app:start'"),
             elf("app", app())));
    EXPECT_THAT(added_.warnings,
                ElementsAre("process 7 writes a log of its own, /tmp/app.eventlog: it has more"));
}

TEST_F(PackPlan, SaysThatNewerVersionsHaveTheNewestSymbolToo) {
    const auto title_with = [&](const std::string& name, const std::string& symbol) {
        auto builder = app();
        builder.function(symbol, ElfBuilder::kText + 0x60);
        static_cast<void>(rows(std::string(kHead) +
                                   "[version.symbols]\n\"2.0\" = \"old\"\n\"2.1\" = \"new\"\n" +
                                   std::string(kMatch) + probe("start", "'usdt:app:start'"),
                               elf(name, builder)));
        return added_.files.empty() ? "" : added_.files.front().title();
    };
    EXPECT_EQ(title_with("old", "old"), "app 2.0");
    EXPECT_EQ(title_with("new", "new"), "app 2.1 or newer");
}

TEST_F(PackPlan, NamesProcessesByTheirCommandLine) {
    const std::string proc = folder_.path() + "/proc";
    ASSERT_EQ(mkdir(proc.c_str(), 0700), 0);
    ASSERT_EQ(mkdir((proc + "/7").c_str(), 0700), 0);
    std::ofstream(proc + "/7/cmdline") << "app: worker 7   ";
    options_.proc_root = proc;
    pids_ = {7, 8};
    static_cast<void>(rows(std::string(kHead) + "process_title = \"app: *\"\n" +
                               std::string(kMatch) + probe("start", "'usdt:app:start'"),
                           elf("app", app())));
    EXPECT_THAT(added_.titles, ElementsAre(ProcessTitle{7, "worker 7"}));
}

// Of a file that was added before and a process that comes to it; that of another file is not named
// though its command line fits.
TEST_F(PackPlan, NamesProcessesThatComeToAKnownFile) {
    const std::string proc = folder_.path() + "/proc";
    ASSERT_EQ(mkdir(proc.c_str(), 0700), 0);
    ASSERT_EQ(mkdir((proc + "/7").c_str(), 0700), 0);
    std::ofstream(proc + "/7/cmdline") << "app: worker 7   ";
    options_.proc_root = proc;
    const auto named = planner(std::string(kHead) + "process_title = \"app: *\"\n" +
                               std::string(kMatch) + probe("start", "'usdt:app:start'"));
    EXPECT_TRUE(named.has_titles());
    const auto its = open_file_by_path(elf("app", app()));
    const auto other = open_file_by_path(
        elf("other", ElfBuilder().note("no", "start", "4@%edi", ElfBuilder::kText + 4)));
    ASSERT_TRUE(its && other);
    EXPECT_THAT(named.titles(PackSubject{.file = *its, .pids = {7}}),
                ElementsAre(ProcessTitle{7, "worker 7"}));
    EXPECT_THAT(named.titles(PackSubject{.file = *other, .pids = {7}}), IsEmpty());
    EXPECT_THAT(named.titles(PackSubject{.file = *its, .pids = {8}}), IsEmpty());
    EXPECT_FALSE(
        planner(std::string(kHead) + std::string(kMatch) + probe("start", "'usdt:app:start'"))
            .has_titles());
}

Pack titled(std::string pattern) {
    Pack pack;
    pack.process_title = std::move(pattern);
    return pack;
}

TEST(ProcessTitle, EndsBehindTheFirstOfItsEnds) {
    Pack pack = titled("postgres: *");
    EXPECT_EQ(title_in(pack, "postgres: a b [local] idle in transaction  "),
              "a b [local] idle in transaction");
    pack.process_title_ends = {"[local]", ")"};
    EXPECT_EQ(title_in(pack, "postgres: a b [local] idle in transaction"), "a b [local]");
    EXPECT_EQ(title_in(pack, "postgres: a b ::1(4242) UPDATE (x) waiting"), "a b ::1(4242)");
    EXPECT_EQ(title_in(pack, "postgres: checkpointer "), "checkpointer");
    EXPECT_EQ(title_in(pack, "postgres: "), std::nullopt);
    EXPECT_EQ(title_in(pack, "postmaster: checkpointer"), std::nullopt);
}

TEST_F(PackPlan, AFileOfNoPackAndAFileThatIsNoneGiveNothing) {
    const std::string pack =
        std::string(kHead) + std::string(kMatch) + probe("start", "'usdt:app:start'");
    EXPECT_THAT(rows(pack, elf("other", ElfBuilder().function("main", ElfBuilder::kText))),
                IsEmpty());
    EXPECT_THAT(rows(pack, file("text", "no program")), IsEmpty());
    EXPECT_THAT(added_.files, IsEmpty());
}

// Two that read one place differently, and one that the user named there: none takes another's.
TEST_F(PackPlan, ProbesOnOnePlaceStandBesideEachOther) {
    const std::string path = elf("app", app());
    const auto opened = open_file_by_path(path);
    ASSERT_TRUE(opened);
    const EventSpec own = *parse_event_spec("usdt:app:start(mine=arg0:s32) if arg0 > 1");
    plan_ = *compile_late_file(std::span(&own, 1), *opened, TR_PROBE_FIRST_USER, {});
    ASSERT_EQ(plan_.programs.size(), 1u);
    const auto found = rows(std::string(kHead) + std::string(kMatch) +
                                probe("a", "'usdt:app:start(n=arg0:s32) sample 1/2'") +
                                probe("b", "'usdt:app:start(m=arg0:u32) rate 5/s'"),
                            path);
    ASSERT_EQ(found.size(), 2u);
    ASSERT_EQ(plan_.programs.size(), 3u);
    ASSERT_EQ(plan_.gates.size(), 3u);
    for (uint32_t i = 0; i < 3; ++i) {
        EXPECT_EQ(plan_.probes[i].probe_id, TR_PROBE_FIRST_USER + i);
        EXPECT_EQ(plan_.probes[i].point, model::PointIndex{i});
        EXPECT_EQ(plan_.points[i].index, model::PointIndex{i});
        EXPECT_EQ(plan_.programs[i].flags >> TR_PROBE_GATE_SHIFT, i);
        EXPECT_EQ(plan_.gates[i].state, i);
    }
    EXPECT_EQ(plan_.gate_state_count, 3u);
}

TEST_F(PackPlan, APointThatIsKnownIsTakenAgain) {
    const std::string pack =
        std::string(kHead) + std::string(kMatch) + probe("start", "'usdt:app:start'");
    static_cast<void>(rows(pack, elf("app", app())));
    known_ = std::move(plan_.points);
    plan_ = {};
    plan_.first_probe_id = 40;
    const auto found = rows(pack, elf("app.new", app()));
    ASSERT_EQ(found.size(), 1u);
    EXPECT_EQ(found[0].first_probe_id, 40u);
    EXPECT_THAT(plan_.points, IsEmpty());
    ASSERT_EQ(plan_.probes.size(), 1u);
    EXPECT_EQ(plan_.probes[0].probe_id, 40u);
    EXPECT_EQ(plan_.probes[0].point, model::PointIndex{0});
    EXPECT_EQ(plan_.files.at(0).sites.at(0).probe_id, 40u);
}

TEST_F(PackPlan, APackThatDoesNotExistIsNamedWithTheNearest) {
    auto catalog =
        PackCatalog::load({.files = {file("app.toml", std::string(kHead) + std::string(kMatch) +
                                                          probe("start", "'usdt:app:start'"))},
                           .folder = {}});
    ASSERT_TRUE(catalog);
    options_.request.names = {"aps"};
    const auto made = PackPlanner::make(std::move(*catalog), options_);
    ASSERT_FALSE(made);
    EXPECT_THAT(made.error().what + made.error().hint, HasSubstr("app"));
}

// What this process runs, and a program that is yet to be started, looked into once each.
TEST_F(PackPlan, LooksIntoAFileOnceWhoeverRunsIt) {
    const std::string path = elf("app", app());
    const std::string other = folder_.path() + "/other";
    ASSERT_EQ(link(path.c_str(), other.c_str()), 0);
    const auto made =
        planner(std::string(kHead) + std::string(kMatch) + probe("start", "'usdt:app:start'"));
    PackStartRequest request;
    request.pids = {static_cast<uint32_t>(getpid())};
    request.program_files = {path, other};
    const PackStart start = plan_packs(made, request, plan_);
    ASSERT_EQ(start.found.files.size(), 1u);
    EXPECT_EQ(start.opened.size(), 1u);
    EXPECT_EQ(plan_.programs.size(), 1u);
    EXPECT_GT(start.files_looked_at, 2u);  // the C library, the loader, ...
    EXPECT_TRUE(stamp_of(plan_.files.at(0).open_path));
}

TEST(PackWords, LevelsAndNamesAreReadWithTheirFaultsExplained) {
    EXPECT_EQ(*parse_pack_level("default"), PackLevel::standard);
    EXPECT_EQ(*parse_pack_level("all"), PackLevel::all);
    EXPECT_THAT(parse_pack_level("mor").error().hint, HasSubstr("more"));
    EXPECT_THAT(parse_pack_level("7").error().hint, HasSubstr("default, more and all"));
    EXPECT_THAT(*parse_pack_names("python,jvm"), ElementsAre("python", "jvm"));
    for (const char* text : {"", ",", "python,", ",python", "a,,b"}) {
        EXPECT_FALSE(parse_pack_names(text)) << text;
    }
}

TEST(PackWords, ATitleIsThePartThatTheStarStandsFor) {
    EXPECT_EQ(title_in(titled("postgres: *"), "postgres: walwriter "), "walwriter");
    EXPECT_EQ(title_in(titled("* [app]"), "queue [app]"), "queue");
    EXPECT_EQ(title_in(titled("postgres: *"), "postgres: "), std::nullopt);
    EXPECT_EQ(title_in(titled("postgres: *"), "/usr/bin/postgres"), std::nullopt);
    EXPECT_EQ(title_in(titled("ab*ba"), "aba"), std::nullopt);
}

}  // namespace
}  // namespace tracer
