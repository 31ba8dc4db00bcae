// SPDX-License-Identifier: Apache-2.0
//
// Programs of other machines: `tracer list` shows their probes, -e refuses them.
#include "probe/probe_compiler.h"
#include "probe/probe_list.h"
#include "unit/symbol/elf_builder.h"
#include "unit/symbol/foreign_elf.h"

#include <elf.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tracer {
namespace {

using test::ForeignElf;
using ::testing::HasSubstr;

class ForeignList : public ::testing::Test {
protected:
    std::string add_file(const std::string& name, const ForeignElf& program) {
        auto path = test::write_file(folder.path(), name, program.build());
        files.add_file({path, path});
        return path;
    }

    ListOutcome list() {
        return list_probes(files, {}, [&](const ListedProbe& probe) { probes.push_back(probe); });
    }

    test::TemporaryFolder folder;
    TargetFiles files;
    std::vector<ListedProbe> probes;
};

TEST_F(ForeignList, ShowsTypesAndNamesTheMachine) {
    const auto path = add_file("app32", ForeignElf(EM_386, true)
                                            .note("start", "-4@4(%esp) 1@%al 4f@gv 8@%eax",
                                                  ForeignElf::kCode, ForeignElf::kBase)
                                            .note("start", "-4@$5 1@%bl 4f@8(%ebp) 8@(%ecx,%edi,8)",
                                                  ForeignElf::kCode + 1, ForeignElf::kBase));
    const auto outcome = list();
    EXPECT_EQ(outcome.probes, 1u);
    EXPECT_EQ(outcome.foreign_probes, 1u);
    EXPECT_EQ(outcome.files_unreadable, 0u);
    ASSERT_EQ(probes.size(), 1u);
    EXPECT_EQ(probes[0].line, "usdt:" + path + ":app:start(arg0:s32, arg1:u8, arg2:f32, arg3:u64)");
    EXPECT_EQ(probes[0].site_count, 2u);
    EXPECT_TRUE(probes[0].has_semaphore);
    EXPECT_EQ(probes[0].remark, "not of this machine but of i386: cannot be attached");
}

TEST_F(ForeignList, ShowsAarch64) {
    add_file("app-arm", ForeignElf(EM_AARCH64, false)
                            .note("start", "-4@[sp, 8] 8@x0 2@[x1, x2, lsl 1] -1@w3 8f@[x4]",
                                  ForeignElf::kCode));
    EXPECT_EQ(list().foreign_probes, 1u);
    ASSERT_EQ(probes.size(), 1u);
    EXPECT_THAT(probes[0].line, HasSubstr("(arg0:s32, arg1:u64, arg2:u16, arg3:s8, arg4:f64)"));
    EXPECT_THAT(probes[0].remark, HasSubstr("aarch64"));
}

TEST_F(ForeignList, IsRefusedByName) {
    const auto path =
        add_file("app32", ForeignElf(EM_386, true).note("start", "", ForeignElf::kCode));
    const auto spec = parse_probe_spec("usdt:" + path + ":app:start");
    ASSERT_TRUE(spec);
    const auto plan = compile_probes({&*spec, 1}, files, {});
    ASSERT_FALSE(plan);
    EXPECT_THAT(plan.error().what, HasSubstr("another machine (i386)"));
}

}  // namespace
}  // namespace tracer
