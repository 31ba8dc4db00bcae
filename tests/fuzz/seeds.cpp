// SPDX-License-Identifier: Apache-2.0
//
// Writes the inputs that fuzzing starts from: fuzz_seeds FOLDER makes FOLDER/TARGET/seed_N. They
// come from the builders of the unit tests and so follow every change of a format. Run by
// scripts/fuzz.
#include "capture/capture_file.h"
#include "decode/decoder.h"
#include "eventlog_seeds.h"
#include "packs/pack_catalog.h"
#include "packs/pack_file.h"
#include "ring_seeds.h"
#include "support/byte_vector_sink.h"
#include "support/fxt_speller.h"
#include "support/record_builder.h"
#include "tracer/base/result.h"
#include "tracer/write/formats.h"
#include "unit/symbol/elf_builder.h"
#include "unit/symbol/foreign_elf.h"
#include "unit/symbol/go_table_builder.h"

#include <array>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <random>
#include <string>
#include <string_view>
#include <vector>

namespace tracer::test {
namespace {

using Bytes = std::vector<std::byte>;

constexpr uint32_t kProbeId = 16;

Bytes bytes_of(std::string_view text) {
    const auto bytes = std::as_bytes(std::span(text));
    return {bytes.begin(), bytes.end()};
}

// All of a target's seeds; false when the folder takes no files.
bool write_seeds(const std::filesystem::path& folder, const std::vector<Bytes>& seeds) {
    std::error_code error;
    std::filesystem::create_directories(folder, error);
    for (size_t i = 0; i < seeds.size(); ++i) {
        std::ofstream file(folder / ("seed_" + std::to_string(i)), std::ios::binary);
        for (const std::byte byte : seeds[i]) file.put(static_cast<char>(byte));
        if (!file.flush()) return false;
    }
    return true;
}

RecordingDefinitions make_definitions() {
    using model::ValueType;
    RecordingDefinitions definitions;
    definitions.record_all = true;
    definitions.points = {{.index = model::PointIndex{0},
                           .category = "app",
                           .name = "event",
                           .arguments = {{"a", ValueType::s32}, {"s", ValueType::string}}}};
    definitions.probes = {
        {.probe_id = kProbeId, .slots = {ValueType::s32, ValueType::string}, .spec = "usdt:a:b"}};
    return definitions;
}

// One record of each kind as a raw capture, and the same decoded to a Fuchsia trace.
std::vector<Bytes> make_capture() {
    ByteVectorSink sink;
    CaptureWriter writer(sink);
    TR_CHECK(writer.open(make_definitions()));
    for (const auto& record : make_one_of_each_kind(kProbeId)) writer.on_record(record);
    TR_CHECK(writer.write_counters({}));
    TR_CHECK(writer.close());
    return {sink.bytes()};
}

std::vector<Bytes> make_fxt() {
    ByteVectorSink sink;
    const auto writer = find_format_by_name("fxt")->make_writer(sink);
    TR_CHECK(writer->open());
    const auto decoder = Decoder::make(make_definitions(), *writer);
    for (const auto& record : make_one_of_each_kind(kProbeId)) decoder->on_record(record);
    decoder->finish(decoder->last_ns());
    TR_CHECK(writer->close());
    const FxtSpeller every_record = spell_every_record();
    return {sink.bytes(), {every_record.bytes().begin(), every_record.bytes().end()}};
}

// Choices of any kind do; longer ones give files of more records.
std::vector<Bytes> make_fxt_choices() {
    std::vector<Bytes> seeds;
    std::minstd_rand choices;
    for (const size_t size : {64, 512, 4096}) {
        Bytes& seed = seeds.emplace_back();
        for (size_t i = 0; i < size; ++i) seed.push_back(std::byte(choices() >> 8));
    }
    return seeds;
}

// Hits of the counters, states, frames and names of decoder_fuzz.cpp.
Bytes make_meanings() {
    const auto at = [](uint64_t time_ns) { return At{.time_ns = time_ns, .tgid = 8, .tid = 8}; };
    const std::vector<Record> records{make_string_hit(at(10), 26, "pool", 0, {1}),
                                      make_string_hit(at(20), 27, "run"),
                                      make_string_hit(at(30), 27, ""),
                                      make_hit(at(40), 28, {5}),
                                      make_hit(at(50), 28, {6}),
                                      make_hit(at(60), 29, {5}),
                                      make_hit(at(70), 30, {6}),
                                      make_string_hit(at(80), 31, "thread"),
                                      make_string_hit(at(90), 32, "process"),
                                      make_task(at(95), TR_KIND_task_rename, {.comm = "comm"})};
    Bytes seed{std::byte{1}};
    for (const auto& record : records) {
        seed.push_back(std::byte{0xff});
        seed.insert(seed.end(), record.begin(), record.end());
    }
    return seed;
}

// As decoder_fuzz.cpp takes them: a byte of choices, then {room, record} each.
std::vector<Bytes> make_record_streams() {
    std::vector<Bytes> seeds;
    for (const uint8_t choice : std::array<uint8_t, 4>{0, 1, 2, 5}) {
        Bytes seed{std::byte{choice}};
        for (const auto& record : make_one_of_each_kind(kProbeId)) {
            seed.push_back(std::byte{0xff});
            seed.insert(seed.end(), record.begin(), record.end());
        }
        seeds.push_back(std::move(seed));
    }
    // Names of C++ types, which a probe of the target has.
    constexpr uint32_t kThrown = 33;
    Bytes types{std::byte{1}};
    for (const char* name :
         {"St13runtime_error", "*N12_GLOBAL__N_15ErrorIS_IiEJS0_S1_EEE",
          "St6vectorINSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEESaIS5_EE"}) {
        const auto record = make_string_hit({.time_ns = 1, .tgid = 8, .tid = 8}, kThrown, name);
        types.push_back(std::byte{0xff});
        types.insert(types.end(), record.begin(), record.end());
    }
    seeds.push_back(std::move(types));
    seeds.push_back(make_meanings());
    return seeds;
}

std::vector<Bytes> make_programs() {
    const auto with_notes = [](uint16_t type) {
        return ElfBuilder(type)
            .function("handle", ElfBuilder::kText, 32)
            .object("counter", ElfBuilder::kData)
            .thread_local_object("current", 8)
            .tls(16, 8)
            .note("app", "one", "-4@%edi 8@-8(%rbp) 8@counter(%rip)", ElfBuilder::kText + 8)
            .note("app", "two", "4@$7 1@%fs:-8", ElfBuilder::kText + 9, ElfBuilder::kData)
            .build();
    };
    const auto foreign = [](uint16_t machine, bool is_32_bit, const std::string& operands) {
        return ForeignElf(machine, is_32_bit)
            .note("one", operands, ForeignElf::kCode, ForeignElf::kBase)
            .note("two", "", ForeignElf::kCode + 1)
            .build();
    };
    return {with_notes(ET_DYN), with_notes(ET_EXEC),
            foreign(EM_386, true, "-4@4(%esp) 4@arr@GOTOFF(%edx,%esi,4) 8f@%esi"),
            foreign(EM_AARCH64, false, "-4@[sp, 8] 8@x0 4@[x0, w1, sxtw 2]"),
            foreign(EM_X86_64, true, "4@%eax 4@(%r8d)")};
}

std::vector<Bytes> make_go_tables() {
    std::vector<Bytes> tables;
    for (const auto& form : {kGoForm12, kGoForm116, kGoForm118, kGoForm120}) {
        const GoTableBuilder table(form, {{0x00, "main.main"},
                                          {0x20, "runtime.deferreturn", 21},
                                          {0x40, "runtime.newproc"},
                                          {0x60, "runtime.futex", 0, 4},
                                          {0x80, "runtime.newproc", 21}});
        tables.push_back(bytes_of(table.build()));
    }
    return tables;
}

// The template, those of this build, and forms of text that they do not have.
std::vector<Bytes> make_packs() {
    std::vector<Bytes> seeds{bytes_of(pack_template("seed"))};
    for (const auto& pack : built_in_packs()) seeds.push_back(bytes_of(pack.text));
    seeds.push_back(
        bytes_of("pack = { name = \"a\", version = 0x1, about = '\xc3\xa4' }\n"
                 "match = [ { soname = \"l*\" } ]\nprobe.name = 1979-05-27\n"
                 "[[probe]]\nprobe = \"\"\"\\\n  u:@:f \\u00e4\"\"\"\n"));
    return seeds;
}

int write_all(const std::filesystem::path& root) {
    const bool is_written =
        write_seeds(root / "capture_file_fuzz", make_capture()) &&
        write_seeds(root / "eventlog_reader_fuzz", make_eventlog_seeds()) &&
        write_seeds(root / "foreign_operand_fuzz",
                    {bytes_of("-4@4(%esp) 1@%ah 4@arr@GOTOFF(%edx,%esi,4) -4@%gs:tls@ntpoff"),
                     bytes_of("-4@[sp, 8] 8@x30 4@[x0, w1, sxtw 2] 8@[x1, :lo12:counter+8]"),
                     bytes_of("8@[x0, x1, lsl #3] 4@w1 8@-5 8f@d0")}) &&
        write_seeds(root / "fxt_reader_fuzz", make_fxt()) &&
        write_seeds(root / "go_functions_fuzz", make_go_tables()) &&
        write_seeds(root / "fxt_records_fuzz", make_fxt_choices()) &&
        write_seeds(root / "decoder_fuzz", make_record_streams()) &&
        write_seeds(root / "elf_notes_fuzz", make_programs()) &&
        write_seeds(root / "pack_file_fuzz", make_packs()) &&
        write_seeds(root / "ring_cursor_fuzz", make_ring_seeds()) &&
        write_seeds(root / "control_fuzz",
                    {bytes_of("\xffstatus\nflush\nmark \"a \\x41\" b\nstop\n"),
                     bytes_of("\x01sink /tmp/a keep-old no-header\nsink restore\nnonsense\n")}) &&
        write_seeds(
            root / "probe_spec_fuzz",
            {bytes_of("usdt:/usr/bin/app:provider:name"),
             bytes_of("u:app:f(x=*(*(arg0+8)-0x10):u32/x, arg1:str[*(arg2):u32,64])"),
             bytes_of("span:app:f(arg:r->a.b:str[64+], arg3/map(0=read,-1=\"no op\"), ret)"),
             bytes_of("u:app:handle+16(arg0:str, n=arg1:u32)"),
             bytes_of("usdt:libstdcxx:throw(t=*(arg1+8):str/type) as \"throw {t}\""),
             bytes_of("ur:/a:\"f(int)\"(ret:s64)"), bytes_of("span:app:handle*"),
             bytes_of("t:sched:sched_switch(prev_pid:s32)"),
             bytes_of("u:app:0x4011d0  # a comment"),
             bytes_of("u:app:f if arg0 > 4 && comm ~ \"a*\" sample 1/10 as \"f {arg0}\""),
             bytes_of("usdt:a:f(n=arg0) counter as \"pool {n}\" raise a:b"),
             bytes_of("t:a:f(n=x) state \"s {n}\" as \"\""), bytes_of("ur:a:f names thread"),
             bytes_of("span:a:f track \"t\"")}) &&
        write_seeds(root / "demangle_fuzz", {bytes_of("_ZNK2ns5Class6methodEiPKc.cold"),
                                             bytes_of("_RINvNtCs6xxl1lAjzDf_1a5inner5twiceyEB4_"),
                                             bytes_of("base_DataziVoid_zdfOrdVoidzuzdczlzg_info"),
                                             bytes_of("camlStdlib__$5e_135")}) &&
        write_seeds(root / "usdt_operand_fuzz",
                    {bytes_of("-4@%edi 8@-8(%rbp) 8@counter+8(%rip)"),
                     bytes_of("4@$-7 1@%ah 2@(%rax,%rbx,4) 8f@%xmm0"),
                     bytes_of("8@%fs:-8 8@current@tpoff(%rax) 4@16(,%rcx,8)")});
    if (!is_written) std::fprintf(stderr, "no seeds written below %s\n", root.c_str());
    return is_written ? 0 : 1;
}

}  // namespace
}  // namespace tracer::test

int main(int argc, char** argv) {
    if (argc != 2) {
        std::fprintf(stderr, "usage: fuzz_seeds FOLDER\n");
        return 2;
    }
    return tracer::test::write_all(argv[1]);
}
