// SPDX-License-Identifier: Apache-2.0
//
// Which files are one, and what the probes of a file that comes later become.
#include "probe/late_files.h"

#include "probe/probe_compiler.h"
#include "unit/symbol/elf_builder.h"

#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tracer {
namespace {

using test::ElfBuilder;
using ::testing::HasSubstr;

FileStamp stamp() {
    return {.device = 1, .inode = 100, .generation = 7, .bytes = 4096, .modified_ns = 55};
}

TEST(SeenFiles, AnInodeIsNewOnce) {
    SeenFiles seen;
    EXPECT_TRUE(seen.add(stamp()));
    EXPECT_FALSE(seen.add(stamp()));
    FileStamp other = stamp();
    other.inode = 101;
    EXPECT_TRUE(seen.add(other));
}

TEST(SeenFiles, ANumberUsedAgainIsAnotherFile) {
    SeenFiles seen;
    EXPECT_TRUE(seen.add(stamp()));
    FileStamp later = stamp();
    later.generation = 8;
    EXPECT_TRUE(seen.add(later));
    // Without generations the content decides.
    FileStamp untold = stamp();
    untold.inode = 200;
    untold.generation.reset();
    EXPECT_TRUE(seen.add(untold));
    EXPECT_FALSE(seen.add(untold));
    untold.modified_ns += 1;
    EXPECT_TRUE(seen.add(untold));
}

TEST(SeenFiles, AnOverlayAndItsLayerAreOneFile) {
    SeenFiles seen;
    EXPECT_TRUE(seen.add(stamp()));
    FileStamp overlay = stamp();
    overlay.device = 39;
    overlay.generation.reset();
    overlay.is_overlay = true;
    EXPECT_FALSE(seen.add(overlay));
    // Changed in the upper layer: a file of its own.
    overlay.modified_ns += 1;
    EXPECT_TRUE(seen.add(overlay));
}

TEST(SeenFiles, TwoDevicesAreTwoFilesHoweverAlike) {
    SeenFiles seen;
    EXPECT_TRUE(seen.add(stamp()));
    FileStamp snapshot = stamp();
    snapshot.device = 2;
    EXPECT_TRUE(seen.add(snapshot));
}

TEST(FileStamp, IsOfRegularFilesOnly) {
    EXPECT_TRUE(stamp_of(std::string("/proc/self/exe")));
    EXPECT_FALSE(stamp_of(std::string("/dev/null")));
    EXPECT_FALSE(stamp_of(std::string("/")));
    EXPECT_FALSE(stamp_of(std::string("/no/such/file")));
}

class LateFiles : public ::testing::Test {
protected:
    LateFile open(const std::string& name, const ElfBuilder& builder) {
        const auto path = test::write_file(folder.path(), name, builder.build());
        struct stat status {};
        EXPECT_EQ(::stat(path.c_str(), &status), 0);
        NewMapping mapping;
        mapping.pid = static_cast<uint32_t>(getpid());
        mapping.inode = status.st_ino;
        mapping.device_major = major(status.st_dev);
        mapping.device_minor = minor(status.st_dev);
        mapping.path = path;
        auto file = open_late_file(mapping);
        EXPECT_TRUE(file);
        return file ? std::move(*file) : LateFile{};
    }

    static std::vector<EventSpec> specs(const std::vector<std::string>& texts) {
        std::vector<EventSpec> parsed;
        for (const auto& text : texts) {
            auto spec = parse_event_spec(text);
            EXPECT_TRUE(spec) << text;
            if (spec) parsed.push_back(std::move(*spec));
        }
        return parsed;
    }

    static ElfBuilder app() {
        return ElfBuilder()
            .function("work", ElfBuilder::kText, 16)
            .note("app", "start", "4@%edi", ElfBuilder::kText + 4);
    }

    test::TemporaryFolder folder;
};

TEST_F(LateFiles, IdsAndPointsGoOnBehindThoseBefore) {
    const LateFile file = open("app", app());
    model::Point before;
    before.name = "other";
    const auto plan =
        compile_late_file(specs({"usdt:app:start", "u:app:work"}), file, 40, std::array{before});
    ASSERT_TRUE(plan) << plan.error().what;
    EXPECT_EQ(plan->first_probe_id, 40u);
    ASSERT_EQ(plan->points.size(), 2u);
    EXPECT_EQ(plan->points[0].index, model::PointIndex{1});
    EXPECT_EQ(plan->points[1].index, model::PointIndex{2});
    ASSERT_EQ(plan->probes.size(), 2u);
    EXPECT_EQ(plan->probes[0].probe_id, 40u);
    EXPECT_EQ(plan->probes[1].probe_id, 41u);
    EXPECT_EQ(plan->probes[1].point, model::PointIndex{2});
    ASSERT_EQ(plan->files.size(), 1u);
    ASSERT_EQ(plan->files[0].sites.size(), 2u);
    EXPECT_EQ(plan->files[0].sites[0].probe_id, 40u);
    EXPECT_EQ(plan->files[0].sites[1].probe_id, 41u);
    EXPECT_TRUE(plan->waiting.empty());
}

TEST_F(LateFiles, TheSameProbeInAnotherFileIsTheSamePoint) {
    const auto wanted = specs({"usdt:app:start"});
    const LateFile first = open("app", app());
    const auto before = compile_late_file(wanted, first, 16, {});
    ASSERT_TRUE(before);
    const LateFile second = open("app.new", app());
    const auto after = compile_late_file(wanted, second, 17, before->points);
    ASSERT_TRUE(after);
    EXPECT_TRUE(after->points.empty());
    ASSERT_EQ(after->probes.size(), 1u);
    EXPECT_EQ(after->probes[0].point, before->points[0].index);
    // Other arguments make it another point.
    const LateFile third = open(
        "app.newest", ElfBuilder().note("app", "start", "4@%edi 8@%rsi", ElfBuilder::kText + 4));
    const auto changed = compile_late_file(wanted, third, 18, before->points);
    ASSERT_TRUE(changed);
    ASSERT_EQ(changed->points.size(), 1u);
    EXPECT_EQ(changed->points[0].index, model::PointIndex{1});
}

TEST_F(LateFiles, PlansOfOneInodeAttachItOnce) {
    const LateFile file = open("app", app());
    const LateFile again = open("app", app());
    const LateFile other = open("other", app());
    auto plan = compile_late_file(specs({"usdt:app:start"}), file, 16, {});
    ASSERT_TRUE(plan) << plan.error().what;
    // Opened a second time it has another path.
    ASSERT_NE(file.file.open_path, again.file.open_path);
    for (const LateFile* added : {&again, &other}) {
        auto more = compile_late_file(specs({"usdt:app:start", "u:*:work"}), *added, 16, {});
        ASSERT_TRUE(more) << more.error().what;
        append_plan(*plan, std::move(*more));
    }
    ASSERT_EQ(plan->files.size(), 2u);
    EXPECT_EQ(plan->files[0].sites.size(), 3u);
    EXPECT_EQ(plan->files[1].sites.size(), 2u);
}

// A user's probe and a pack's on one function: what the decoder needs to tell one call from two.
TEST_F(LateFiles, BeginsAtOnePlaceHaveANumberInCommon) {
    const LateFile file = open("app", app());
    auto plan = compile_late_file(specs({"span:app:work"}), file, 16, {});
    ASSERT_TRUE(plan) << plan.error().what;
    for (const char* text : {"span:app:work(n=arg0)", "u:app:work", "usdt:app:start"}) {
        auto more = compile_late_file(specs({text}), file, 16, {});
        ASSERT_TRUE(more) << more.error().what;
        append_plan(*plan, std::move(*more));
    }
    std::vector<uint32_t> places;
    for (const ProbeDefinition& probe : plan->probes) places.push_back(probe.place);
    EXPECT_EQ(places, (std::vector<uint32_t>{16, 0, 16, 0, 0, 0}));
}

// Most files that come have none of the probes: what their conditions name need not be there yet.
TEST_F(LateFiles, AsksForAConditionOnlyWhereTheProbeIs) {
    const LateFile file = open("app", app());
    CompileOptions options;
    size_t asked = 0;
    options.find_container = [&](std::string_view) -> Result<uint64_t> {
        ++asked;
        return uint64_t{7};
    };
    const auto missing =
        compile_late_file(specs({"u:app:absent if container == \"web\""}), file, 16, {}, options);
    ASSERT_TRUE(missing) << missing.error().what;
    EXPECT_EQ(asked, 0u);
    EXPECT_TRUE(missing->warnings.empty());
    const auto found =
        compile_late_file(specs({"u:app:work if container == \"web\""}), file, 16, {}, options);
    ASSERT_TRUE(found) << found.error().what;
    EXPECT_EQ(asked, 1u);
    EXPECT_EQ(found->programs.size(), 1u);
}

TEST(AttachFile, RaisesASemaphoreOnceAndOnlyOneAtAPlace) {
    AttachFile file;
    EXPECT_TRUE(file.add_raise({.file_offset = 8, .semaphore_offset = 100}));
    EXPECT_TRUE(file.add_raise({.file_offset = 9, .semaphore_offset = 101}));
    EXPECT_TRUE(file.add_raise({.file_offset = 8, .semaphore_offset = 101}));
    EXPECT_FALSE(file.add_raise({.file_offset = 9, .semaphore_offset = 102}));
    EXPECT_EQ(file.raises.size(), 2u);
}

TEST_F(LateFiles, APathMeansTheFileAloneThatCame) {
    const LateFile file = open("app", app());
    // There is such a file, but it is not the one that came.
    const auto other = test::write_file(folder.path(), "other", app().build());
    const auto plan = compile_late_file(
        specs({"u:" + other + ":work", "u:" + folder.path() + "/app:work"}), file, 16, {});
    ASSERT_TRUE(plan);
    ASSERT_EQ(plan->files.size(), 1u);
    EXPECT_EQ(plan->files[0].sites.size(), 1u);
    ASSERT_EQ(plan->waiting.size(), 1u);
    EXPECT_EQ(plan->waiting[0].spec, "u:" + other + ":work");
}

TEST_F(LateFiles, AFaultOfOneSpecIsAWarning) {
    const LateFile file = open("app", app());
    const auto plan =
        compile_late_file(specs({"u:app:work+0x100", "usdt:app:start"}), file, 16, {});
    ASSERT_TRUE(plan) << plan.error().what;
    EXPECT_EQ(plan->probes.size(), 1u);
    EXPECT_THAT(plan->warnings, ::testing::Contains(HasSubstr("16 bytes long")));
}

TEST_F(LateFiles, ContainersInConditionsAreThoseOfTheStart) {
    const LateFile file = open("app", app());
    CompileOptions options;
    options.find_container = [](std::string_view) -> Result<uint64_t> { return 4711; };
    const auto plan =
        compile_late_file(specs({"usdt:app:start if container == \"web\""}), file, 16, {}, options);
    ASSERT_TRUE(plan) << plan.error().what;
    EXPECT_TRUE(plan->warnings.empty()) << plan->warnings.front();
    ASSERT_EQ(plan->gates.size(), 1u);
    EXPECT_EQ(plan->gates[0].terms[0].constant, 4711u);
}

TEST_F(LateFiles, AnotherInodeUnderTheNameIsNotTaken) {
    const auto path = test::write_file(folder.path(), "app", app().build());
    NewMapping mapping;
    mapping.pid = static_cast<uint32_t>(getpid());
    mapping.inode = 1;
    mapping.path = path;
    const auto file = open_late_file(mapping);
    ASSERT_FALSE(file);
    EXPECT_EQ(file.error().code, ErrorCode::not_found);
}

TEST_F(LateFiles, WhatRunsNowIsFoundThroughTheProcess) {
    const auto files = open_mapped_files(static_cast<uint32_t>(getpid()));
    ASSERT_FALSE(files.empty());
    EXPECT_TRUE(files[0].file.shown_path.ends_with("unit_probe_spec")) << files[0].file.shown_path;
}

class WaitingProbes : public LateFiles {
protected:
    Result<AttachPlan> compile(const std::string& text, MissingSpec missing) {
        const auto path = test::write_file(folder.path(), "app", app().build());
        TargetFiles files;
        files.add_file({path, path});
        CompileOptions options;
        options.missing = missing;
        return compile_events(specs({text}), files, options);
    }
};

TEST_F(WaitingProbes, WhatNoFileHasYetIsWaitedFor) {
    for (const char* text :
         {"usdt:nobody:knows", "u:libother.so:work", "u:/no/such/file:work", "u:*.so:work"}) {
        const auto plan = compile(text, MissingSpec::wait);
        ASSERT_TRUE(plan) << text << plan.error().what;
        ASSERT_EQ(plan->waiting.size(), 1u);
        EXPECT_EQ(plan->waiting[0].spec, text);
        EXPECT_FALSE(plan->waiting[0].reason.empty());
        EXPECT_FALSE(compile(text, MissingSpec::refuse)) << text;
    }
}

TEST_F(WaitingProbes, WhatAFileThatIsThereLacksIsAnError) {
    for (const char* text : {"u:app:wrok", "usdt:app:app:stop"}) {
        const auto plan = compile(text, MissingSpec::wait);
        ASSERT_FALSE(plan) << text;
        EXPECT_EQ(plan.error().code, ErrorCode::not_found);
    }
}

// A name like it helps who wrote it; that of a pack or of another file's probe is right. Looking
// for it among all symbols of a large file took a second.
TEST_F(WaitingProbes, OnlyWhoNamedTheFileIsToldOfNamesLikeIt) {
    for (const auto& [text, like] : {std::pair{"u:app:wrok", "did you mean work"},
                                     std::pair{"usdt:app:app:strat", "did you mean app:start"}}) {
        const auto named = compile(text, MissingSpec::refuse);
        ASSERT_FALSE(named) << text;
        EXPECT_NE(named.error().hint.find(like), std::string::npos) << named.error().hint;
        const auto plan = compile(text, MissingSpec::ignore);
        ASSERT_TRUE(plan) << text << plan.error().what;
        ASSERT_EQ(plan->waiting.size(), 1u);
        EXPECT_EQ(plan->waiting[0].reason.find("did you mean"), std::string::npos)
            << plan->waiting[0].reason;
    }
}

}  // namespace
}  // namespace tracer
