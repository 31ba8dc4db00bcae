// SPDX-License-Identifier: Apache-2.0
//
// The compiler on programs as Debian ships them; each case is skipped, with the file's name, where
// that is not installed.
#include "probe/probe_compiler.h"
#include "probe/probe_list.h"
#include "symbol/process_maps.h"
#include "symbol/symbol_table.h"
#include "symbol/usdt_notes.h"

#include <dlfcn.h>
#include <set>
#include <unistd.h>

#include <gtest/gtest.h>

namespace tracer {
namespace {

constexpr auto kPython = "/usr/bin/python3.11";
constexpr auto kPostgres = "/usr/lib/postgresql/15/bin/postgres";
constexpr auto kCxxLibrary = "/usr/lib/x86_64-linux-gnu/libstdc++.so.6";
constexpr auto kJvm = "/usr/lib/jvm/java-17-openjdk-amd64/lib/server/libjvm.so";

#define SKIP_WITHOUT(path) \
    if (::access(path, R_OK) != 0) GTEST_SKIP() << "not installed: " << (path)

AttachPlan compile(const std::string& text, const CompileOptions& options = {}) {
    auto spec = parse_probe_spec(text);
    EXPECT_TRUE(spec) << spec.error().what;
    if (!spec) return {};
    auto plan = compile_probes({&*spec, 1}, TargetFiles(), options);
    EXPECT_TRUE(plan) << text << ": " << plan.error().what << " / " << plan.error().hint;
    return plan ? std::move(*plan) : AttachPlan{};
}

size_t site_count(const AttachPlan& plan) {
    size_t count = 0;
    for (const auto& file : plan.files) count += file.sites.size();
    return count;
}

const model::Point& point_of(const AttachPlan& plan, const std::string& name) {
    for (const auto& point : plan.points) {
        if (point.name == name) return point;
    }
    ADD_FAILURE() << "no point " << name;
    return plan.points.front();
}

// Each line that `list` prints compiles to what it says.
void expect_round_trip(const std::string& path, size_t usdt_count, size_t usdt_sites) {
    TargetFiles files;
    files.add_file({path, path});
    std::vector<ListedProbe> probes;
    ListOptions options;
    options.functions = false;
    auto outcome =
        list_probes(files, options, [&](const ListedProbe& probe) { probes.push_back(probe); });
    EXPECT_EQ(outcome.probes, usdt_count);
    ASSERT_EQ(probes.size(), usdt_count);
    size_t sites = 0;
    std::vector<ProbeSpec> specs;
    for (const auto& probe : probes) {
        sites += probe.site_count;
        auto spec = parse_probe_spec(probe.line);
        ASSERT_TRUE(spec) << probe.line << ": " << spec.error().what;
        specs.push_back(std::move(*spec));
    }
    EXPECT_EQ(sites, usdt_sites);
    auto plan = compile_probes(specs, TargetFiles(), {});
    ASSERT_TRUE(plan) << plan.error().what;
    EXPECT_EQ(site_count(*plan), usdt_sites);
    EXPECT_EQ(plan->points.size(), usdt_count);
    EXPECT_TRUE(plan->warnings.empty()) << plan->warnings[0];
    for (const auto& program : plan->programs) {
        for (size_t i = 0; i < program.arg_count; ++i) {
            EXPECT_NE(program.args[i].form, TR_ARG_UNREADABLE);
        }
    }
}

TEST(RealBinaries, PythonProbesCompile) {
    SKIP_WITHOUT(kPython);
    expect_round_trip(kPython, 8, 8);
    auto plan = compile(std::string("usdt:") + kPython + ":python:*");
    ASSERT_EQ(plan.files.size(), 1u);
    for (const auto& site : plan.files[0].sites) EXPECT_NE(site.semaphore_offset, 0u);
    EXPECT_EQ(point_of(plan, "gc__start").arguments.at(0).type, model::ValueType::s32);
    EXPECT_EQ(point_of(plan, "gc__done").arguments.at(0).type, model::ValueType::s64);
    EXPECT_EQ(point_of(plan, "line").arguments.size(), 3u);
    EXPECT_EQ(plan.points[0].category, "python");
}

TEST(RealBinaries, PostgresProbesCompile) {
    SKIP_WITHOUT(kPostgres);
    expect_round_trip(kPostgres, 57, 71);
    // Both signs of a 4-byte argument need the wider type.
    auto plan = compile(std::string("usdt:") + kPostgres + ":postgresql:lwlock__wait__start");
    EXPECT_EQ(site_count(plan), 3u);
    EXPECT_EQ(plan.points.size(), 1u);
    EXPECT_EQ(plan.points[0].arguments.at(1).type, model::ValueType::s64);
}

TEST(RealBinaries, PostgresVariablesAreReadRelativeToTheProbe) {
    SKIP_WITHOUT(kPostgres);
    for (auto name : {"checkpoint__done", "buffer__sync__done"}) {
        auto plan = compile(std::string("usdt:") + kPostgres + ":postgresql:" + name);
        ASSERT_EQ(plan.programs.size(), 1u);
        const auto& arg = plan.programs[0].args[0];
        EXPECT_EQ(arg.form, TR_ARG_SIGNED);
        EXPECT_EQ(arg.bytes, 4);
        ASSERT_EQ(arg.op_count, 2);
        EXPECT_EQ(arg.ops[0].code, TR_OP_REG);
        EXPECT_EQ(arg.ops[0].reg, TR_REG_RIP);
        EXPECT_EQ(arg.ops[1].code, TR_OP_LOAD);
        // The variable's page may not be in memory.
        EXPECT_EQ(plan.files.at(0).sites.at(0).program, ProbeProgram::hit_sleepable);
        auto elf = ElfFile::open(kPostgres);
        auto symbols = SymbolTable::load(*elf);
        auto notes = read_usdt_notes(*elf);
        for (const auto& note : notes->notes) {
            if (note.name != name) continue;
            const bool is_checkpoint = note.name == "checkpoint__done";
            const auto symbol = symbols->address_of(is_checkpoint ? "CheckpointStats" : "NBuffers");
            ASSERT_TRUE(symbol);
            EXPECT_EQ(note.location_vaddr + static_cast<uint64_t>(arg.ops[0].imm),
                      *symbol + (is_checkpoint ? 40 : 0));
        }
    }
}

TEST(RealBinaries, CxxLibraryProbesCompile) {
    SKIP_WITHOUT(kCxxLibrary);
    expect_round_trip(kCxxLibrary, 3, 3);
}

TEST(RealBinaries, JvmProbesCompile) {
    SKIP_WITHOUT(kJvm);
    expect_round_trip(kJvm, 517, 531);
}

TEST(RealBinaries, FunctionLinesCompile) {
    SKIP_WITHOUT(kCxxLibrary);
    TargetFiles files;
    files.add_file({kCxxLibrary, kCxxLibrary});
    ListOptions options;
    options.usdt = false;
    std::vector<ProbeSpec> specs;
    const auto outcome = list_probes(files, options, [&](const ListedProbe& probe) {
        auto spec = parse_probe_spec(probe.line);
        ASSERT_TRUE(spec) << probe.line;
        if (specs.size() < 300) specs.push_back(std::move(*spec));
    });
    EXPECT_GE(outcome.probes, 300u);
    ASSERT_EQ(specs.size(), 300u);
    CompileOptions compile_options;
    compile_options.allow_nop5 = true;
    auto plan = compile_probes(specs, files, compile_options);
    ASSERT_TRUE(plan) << plan.error().what;
    // Some functions have several names, so the places count.
    const auto elf = ElfFile::open(kCxxLibrary);
    const auto symbols = SymbolTable::load(*elf);
    std::set<std::string> names;
    for (const auto& spec : specs) names.insert(spec.name);
    std::set<uint64_t> wanted;
    for (const auto& function : symbols->functions()) {
        if (names.count(function.name) != 0) wanted.insert(function.file_offset);
    }
    std::set<uint64_t> probed;
    for (const auto& site : plan->files.at(0).sites) probed.insert(site.file_offset);
    EXPECT_EQ(probed, wanted);
    EXPECT_EQ(plan->points[0].category, "libstdc++.so.6");
}

// As they are printed, comments and all.
TEST(RealBinaries, EveryLineOfAListIsAProbe) {
    for (const auto* path : {kPython, "/usr/lib/x86_64-linux-gnu/libfmt.so.9",
                             "/usr/lib/x86_64-linux-gnu/libz.so.1", "/proc/self/exe"}) {
        if (::access(path, R_OK) != 0) continue;
        TargetFiles files;
        files.add_file({path, path});
        // Some of our own: it has thousands, how many depends on the build.
        const size_t step = std::string_view(path) == "/proc/self/exe" ? 100 : 1;
        size_t lines = 0;
        std::vector<ProbeSpec> specs;
        static_cast<void>(list_probes(files, {}, [&](const ListedProbe& probe) {
            const auto line = annotated_line(probe);
            auto spec = parse_probe_spec(line);
            ASSERT_TRUE(spec) << line << ": " << spec.error().what;
            if (lines++ % step == 0) specs.push_back(std::move(*spec));
        }));
        EXPECT_GT(specs.size(), 30u) << path;
        CompileOptions options;
        options.allow_nop5 = true;
        const auto plan = compile_probes(specs, files, options);
        EXPECT_TRUE(plan) << path << ": " << plan.error().what;
    }
}

TEST(RealBinaries, OwnProcessIsSearched) {
    const pid_t pid = ::getpid();
    auto files = TargetFiles::of_processes({&pid, 1});
    ASSERT_TRUE(files) << files.error().what;
    auto spec = parse_probe_spec("usdt:libstdcxx:throw");
    auto plan = compile_probes({&*spec, 1}, *files, {});
    ASSERT_TRUE(plan) << plan.error().what;
    EXPECT_EQ(site_count(*plan), 1u);
    auto function = parse_probe_spec("u:libc.so:malloc(arg0:u64)");
    plan = compile_probes({&*function, 1}, *files, {});
    ASSERT_TRUE(plan) << plan.error().what;
    EXPECT_EQ(plan->points[0].category, "libc.so.6");
}

// strlen is chosen when the program starts: what the linker gave this one is what is probed.
TEST(RealBinaries, AnIndirectFunctionIsTheOneThatWasChosen) {
    void* const library = ::dlopen("libc.so.6", RTLD_LAZY | RTLD_NOLOAD);
    if (library == nullptr) GTEST_SKIP() << "no glibc in this process";
    const auto address = reinterpret_cast<uintptr_t>(::dlsym(library, "strlen"));
    ::dlclose(library);
    const pid_t pid = ::getpid();
    uint64_t offset = 0;
    const auto mappings = read_process_maps(pid);
    ASSERT_TRUE(mappings);
    for (const auto& mapping : *mappings) {
        if (address < mapping.start || address >= mapping.end) continue;
        offset = address - mapping.start + mapping.file_offset;
    }
    const auto files = TargetFiles::of_processes({&pid, 1});
    ASSERT_TRUE(files);
    const auto spec = parse_probe_spec("u:libc.so.6:strlen(arg0:str)");
    ASSERT_TRUE(spec);
    const auto plan = compile_probes({&*spec, 1}, *files, {});
    ASSERT_TRUE(plan) << plan.error().what;
    ASSERT_EQ(site_count(*plan), 1u);
    EXPECT_EQ(plan->files[0].sites[0].file_offset, offset);
    EXPECT_EQ(plan->points[0].name, "strlen");
}

}  // namespace
}  // namespace tracer
