// SPDX-License-Identifier: Apache-2.0
//
// Places inside of functions, and addresses of stripped files.
#include "probe/code_place.h"

#include "probe/probe_compiler.h"
#include "symbol/frame_table.h"
#include "symbol/instructions.h"
#include "unit/symbol/elf_builder.h"

#include <unistd.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tracer {
namespace {

using test::ElfBuilder;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr uint64_t kText = ElfBuilder::kText;

class CodePlace : public ::testing::Test {
protected:
    CodePlace() {
        // push %rbp; mov %rsp,%rbp; sub $0x10,%rsp; ret
        const auto program =
            ElfBuilder()
                .code(kText, {0x55, 0x48, 0x89, 0xe5, 0x48, 0x83, 0xec, 0x10, 0xc3})
                // Bytes that are no instruction of 64-bit code.
                .code(kText + 0x40, {0x55, 0x06, 0x90, 0x90})
                .function("work", kText, 9)
                .function("broken", kText + 0x40, 4);
        path = test::write_file(folder.path(), "app", program.build());
        files.add_file({path, path});
    }

    Result<AttachPlan> compile(const std::string& text) {
        TR_ASSIGN(const auto spec, parse_probe_spec(text));
        return compile_probes({&spec, 1}, files, {});
    }

    // What is said of the place; that single steps are dear is another matter.
    static std::vector<std::string> remarks(const AttachPlan& plan) {
        auto remarks = plan.warnings;
        std::erase_if(remarks, [](const std::string& line) {
            return line.find("single-steps") != std::string::npos;
        });
        return remarks;
    }

    test::TemporaryFolder folder;
    TargetFiles files;
    std::string path;
};

TEST_F(CodePlace, AnInstructionsFirstByteIsTakenWithoutAWord) {
    for (const auto* text : {"u:app:work+1", "u:app:work+4", "u:app:work+8"}) {
        const auto plan = compile(text);
        ASSERT_TRUE(plan) << text << ": " << plan.error().what;
        EXPECT_THAT(remarks(*plan), IsEmpty());
    }
}

TEST_F(CodePlace, AByteInsideOfAnInstructionIsRefusedWithItsNeighbours) {
    const auto plan = compile("u:app:work+2");
    ASSERT_FALSE(plan);
    EXPECT_EQ(plan.error().code, ErrorCode::usage);
    EXPECT_THAT(plan.error().what,
                HasSubstr("work+0x2 is inside of the instruction \"mov %rsp, %rbp\" at work+0x1"));
    EXPECT_THAT(plan.error().hint, HasSubstr("work+0x1 and work+0x4"));
}

TEST_F(CodePlace, WhereCodeCannotBeDecodedItSaysThatNothingIsChecked) {
    const auto plan = compile("u:app:broken+2");
    ASSERT_TRUE(plan) << plan.error().what;
    EXPECT_THAT(remarks(*plan), ElementsAre(HasSubstr("cannot check that an instruction begins")));
}

TEST_F(CodePlace, AnAddressIsAPlaceToo) {
    const auto plan = compile("u:app:0x400201");
    ASSERT_TRUE(plan) << plan.error().what;
    EXPECT_EQ(plan->files.at(0).sites.at(0).file_offset, 0x201u);
    EXPECT_EQ(plan->points.at(0).name, "0x400201");
    EXPECT_THAT(remarks(*plan), IsEmpty());
    const auto inside = compile("u:app:0x400202");
    ASSERT_FALSE(inside);
    EXPECT_THAT(inside.error().what, HasSubstr("inside of the instruction"));
}

TEST_F(CodePlace, AnAddressThatNothingCoversIsTakenWithAWarning) {
    const auto plan = compile("u:app:0x400280");
    ASSERT_TRUE(plan) << plan.error().what;
    EXPECT_THAT(remarks(*plan), ElementsAre(HasSubstr("no symbol and no unwind table")));
}

TEST_F(CodePlace, AnAddressThatTheFileHasNotIsRefused) {
    for (const auto* text : {"u:app:0x1", "u:app:0xffffffffffffffff", "u:app:0x401600"}) {
        const auto plan = compile(text);
        ASSERT_FALSE(plan) << text;
        EXPECT_EQ(plan.error().code, ErrorCode::not_found) << text;
    }
    EXPECT_FALSE(compile("u:app:0x"));
    EXPECT_FALSE(compile("u:app:0x12345678901234567"));
}

TEST_F(CodePlace, AReturnProbeNeedsAFunctionsFirstInstruction) {
    EXPECT_TRUE(compile("ur:app:0x400200"));
    EXPECT_TRUE(compile("span:app:0x400200"));
    const auto inside = compile("ur:app:0x400201");
    ASSERT_FALSE(inside);
    EXPECT_THAT(inside.error().what, HasSubstr("no function is known to begin at"));
}

TEST_F(CodePlace, ArgumentsInsideOfAFunctionAreToldOf) {
    const auto plan = compile("u:app:0x400204(arg0)");
    ASSERT_TRUE(plan) << plan.error().what;
    EXPECT_THAT(remarks(*plan), ElementsAre(HasSubstr("as they lie at the function's entry")));
}

TEST(FrameTable, KnowsTheFunctionsOfAStrippedFile) {
    constexpr auto kShell = "/bin/sh";
    if (::access(kShell, R_OK) != 0) GTEST_SKIP() << "not installed: " << kShell;
    // The same table leads to every function that a file with symbols names.
    const auto elf = ElfFile::open("/proc/self/exe");
    const auto symbols = SymbolTable::load(*elf);
    ASSERT_TRUE(elf && symbols);
    size_t checked = 0;
    size_t equal = 0;
    for (const auto& function : symbols->functions()) {
        if (function.bytes < 2 || checked == 500) continue;
        const auto range = frame_range_at(*elf, function.vaddr + function.bytes - 1);
        if (!range) continue;
        ++checked;
        equal += range->vaddr == function.vaddr && range->bytes == function.bytes ? 1 : 0;
    }
    EXPECT_EQ(checked, 500u);
    // Parts of functions share an entry with none, symbols of assembly may be shorter.
    EXPECT_GE(equal, 495u);
    const auto shell = ElfFile::open(kShell);
    ASSERT_TRUE(shell);
    const auto* text = shell->section(".text");
    ASSERT_NE(text, nullptr);
    EXPECT_TRUE(frame_range_at(*shell, text->vaddr + text->bytes / 2));
    EXPECT_FALSE(frame_range_at(*shell, 0));
    EXPECT_FALSE(frame_range_at(*shell, UINT64_MAX));
}

TEST(FrameTable, RefusesWhatItDoesNotKnow) {
    const std::string good("\1\x1b\3\x3b\0\0\0\0\1\0\0\0\0\0\0\0\0\0\0\0", 20);
    auto range_of = [](const std::string& table) {
        const auto bytes =
            ElfBuilder().section(".eh_frame_hdr", SHT_PROGBITS, table, kText).build();
        const auto elf = ElfFile::from_bytes(FileBytes::from_memory(bytes, "test"));
        return frame_range_at(*elf, kText + 4).has_value();
    };
    EXPECT_FALSE(range_of(good));  // its entry lies where no entry is
    auto many = good;
    many[8] = '\x7f';
    EXPECT_FALSE(range_of(many));
    auto other = good;
    other[3] = '\x3c';
    EXPECT_FALSE(range_of(other));
    for (size_t bytes = 0; bytes < good.size(); ++bytes) {
        EXPECT_FALSE(range_of(good.substr(0, bytes))) << bytes;
    }
}

TEST(Instructions, AreWrittenAsTheAssemblerDoes) {
    const std::vector<std::byte> code = {std::byte{0x55}};
    EXPECT_EQ(instruction_text(code, 0), "push %rbp");
    EXPECT_EQ(instruction_text({}, 0), "");
    EXPECT_EQ(check_boundary({}, 0, 0).state, BoundaryCheck::State::unknown);
}

}  // namespace
}  // namespace tracer
