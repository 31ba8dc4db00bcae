// SPDX-License-Identifier: Apache-2.0
#include "cli/command_line.h"

#include <gtest/gtest.h>

namespace tracer {
namespace {

using namespace std::chrono_literals;

Result<Command> parse(std::vector<std::string> words) {
    return parse_command_line(words);
}

RecordCommand record(std::vector<std::string> words) {
    auto command = parse(std::move(words));
    EXPECT_TRUE(command) << command.error().what;
    if (!command || !std::holds_alternative<RecordCommand>(*command)) {
        ADD_FAILURE() << "not a recording";
        return {};
    }
    return std::get<RecordCommand>(*command);
}

Error usage_error(std::vector<std::string> words) {
    const auto command = parse(std::move(words));
    if (command) {
        ADD_FAILURE() << "accepted";
        return {};
    }
    EXPECT_EQ(command.error().code, ErrorCode::usage);
    return command.error();
}

TEST(CommandLine, TakesPidsRepeatedAndInLists) {
    const auto command = record({"--pid", "1,2", "-p", "3", "--pid=4"});
    EXPECT_EQ(command.ids, (std::vector<uint32_t>{1, 2, 3, 4}));
    EXPECT_FALSE(command.tree);
    EXPECT_TRUE(command.real_time);
    EXPECT_TRUE(command.sched);
    EXPECT_FALSE(command.buffer);
    EXPECT_FALSE(command.duration);
}

TEST(CommandLine, TailIsARecordingOfLines) {
    const auto command = record({"tail", "--pid", "1", "-e", "usdt:a:b", "-d", "2s", "--begins",
                                 "--time", "delta", "--color", "always"});
    ASSERT_TRUE(command.tail);
    EXPECT_EQ(command.ids, std::vector<uint32_t>{1});
    EXPECT_EQ(command.probes, std::vector<std::string>{"usdt:a:b"});
    EXPECT_EQ(command.duration, 2s);
    EXPECT_EQ(command.output_path, "-");
    EXPECT_EQ(command.format_name, "txt");
    EXPECT_FALSE(command.sched);
    EXPECT_TRUE(command.tail->lines.begins);
    EXPECT_TRUE(command.tail->lines.colour);
    EXPECT_EQ(command.tail->lines.time, lines::LineTime::delta);
    const auto objects = record({"tail", "--json", "--sched", "--color=always", "--", "ls", "-l"});
    ASSERT_TRUE(objects.tail);
    EXPECT_EQ(objects.format_name, "ndjson");
    EXPECT_TRUE(objects.tail->lines.is_json);
    EXPECT_FALSE(objects.tail->lines.colour);
    // Of the summary, which stays text.
    EXPECT_FALSE(objects.verbosity.json);
    EXPECT_TRUE(objects.sched);
    EXPECT_EQ(objects.command, (std::vector<std::string>{"ls", "-l"}));
    EXPECT_FALSE(record({"--pid", "1"}).tail);
}

TEST(CommandLine, TailRefusesWhatGoesToFiles) {
    usage_error({"tail"});
    usage_error({"tail", "--pid", "1", "-o", "x.txt"});
    usage_error({"tail", "--pid", "1", "--keep", "30s"});
    EXPECT_NE(usage_error({"tail", "--pid", "1", "--time", "gmt"}).what.find("gmt"),
              std::string::npos);
    EXPECT_NE(usage_error({"tail", "--pid", "1", "--color", "pink"}).what.find("pink"),
              std::string::npos);
}

TEST(CommandLine, TopIsARecordingOfCounts) {
    const auto command = record({"top", "-a", "-e", "usdt:a:b", "-i", "500ms", "--by", "label",
                                 "--sort", "p99", "--rows", "7", "--histogram"});
    ASSERT_TRUE(command.top);
    EXPECT_FALSE(command.tail);
    EXPECT_TRUE(command.all);
    EXPECT_FALSE(command.sched);
    EXPECT_EQ(command.top->interval, 500ms);
    EXPECT_EQ(command.top->view.grouping, TopGrouping::label);
    EXPECT_EQ(command.top->view.sort, TopSort::p99);
    EXPECT_EQ(command.top->view.rows_max, 7u);
    EXPECT_TRUE(command.top->view.has_histogram);
    const auto objects = record({"top", "--json", "--sched", "--", "ls"});
    ASSERT_TRUE(objects.top);
    EXPECT_TRUE(objects.top->is_json);
    EXPECT_TRUE(objects.sched);
    EXPECT_EQ(objects.top->interval, 1s);
    EXPECT_EQ(objects.top->view.rows_max, SIZE_MAX);
}

TEST(CommandLine, TopRefusesWhatItDoesNotKnow) {
    EXPECT_NE(usage_error({"top", "-a", "--by", "moon"}).what.find("moon"), std::string::npos);
    EXPECT_NE(usage_error({"top", "-a", "--sort", "luck"}).what.find("luck"), std::string::npos);
    usage_error({"top", "-a", "-i", "1ms"});
    usage_error({"top", "-a", "--rows", "0"});
    usage_error({"top", "-a", "-o", "x.fxt"});
    usage_error({"top"});
}

TEST(CommandLine, TakesEveryOption) {
    const auto command = record({"-a",
                                 "--tree",
                                 "-e",
                                 "usdt:a:b",
                                 "-e",
                                 "u:/x:y(arg0:str, arg1)",
                                 "-o",
                                 "x.traw",
                                 "--format",
                                 "traw",
                                 "-d",
                                 "5s",
                                 "--max-size",
                                 "1G",
                                 "--buffer",
                                 "64K/cpu",
                                 "--no-rt",
                                 "--no-sched",
                                 "-v",
                                 "--json",
                                 "--force-perf-links",
                                 "--fast-sites",
                                 "--drain-share",
                                 "20"});
    EXPECT_TRUE(command.all);
    EXPECT_TRUE(command.tree);
    EXPECT_EQ(command.probes, (std::vector<std::string>{"usdt:a:b", "u:/x:y(arg0:str, arg1)"}));
    EXPECT_EQ(command.output_path, "x.traw");
    EXPECT_EQ(command.format_name, "traw");
    EXPECT_EQ(command.duration, 5s);
    EXPECT_EQ(command.bytes_max, 1u << 30);
    ASSERT_TRUE(command.buffer);
    EXPECT_TRUE(command.buffer->per_cpu);
    EXPECT_FALSE(command.real_time);
    EXPECT_FALSE(command.sched);
    EXPECT_TRUE(command.verbosity.verbose);
    EXPECT_TRUE(command.verbosity.json);
    EXPECT_TRUE(command.force_perf_links);
    EXPECT_TRUE(command.fast_sites);
    EXPECT_EQ(command.drain_percent, 20u);
}

TEST(CommandLine, LeavesEverythingBehindTheDashesToTheCommand) {
    const auto command = record({"-d", "1s", "--", "sh", "-c", "x", "--", "--pid", "list"});
    EXPECT_EQ(command.command, (std::vector<std::string>{"sh", "-c", "x", "--", "--pid", "list"}));
    EXPECT_TRUE(command.tree);
    EXPECT_TRUE(command.ids.empty());
}

TEST(CommandLine, TakesStandardOutputAsAFile) {
    // Which every process is chosen from anyway.
    EXPECT_FALSE(record({"-a", "--comm", "pg*"}).all);
    EXPECT_EQ(record({"-a", "-o", "-"}).output_path, "-");
}

TEST(CommandLine, RefusesNothingToRecord) {
    EXPECT_NE(usage_error({}).hint.find("--pid"), std::string::npos);
    EXPECT_NE(usage_error({"-d", "1s"}).what.find("nothing to record"), std::string::npos);
    usage_error({"--"});
}

TEST(CommandLine, RefusesContradictions) {
    usage_error({"-a", "--pid", "1"});
    usage_error({"--pid", "1", "--", "true"});
    usage_error({"-a", "-q", "-v"});
}

TEST(CommandLine, NamesTheOptionOfAWrongValue) {
    EXPECT_EQ(usage_error({"-a", "-d", "5x"}).what.find("-d: "), 0u);
    EXPECT_EQ(usage_error({"-a", "--max-size", "x"}).what.find("--max-size: "), 0u);
    EXPECT_EQ(usage_error({"-a", "-d", ""}).what.find("-d: "), 0u);
    EXPECT_EQ(usage_error({"-a", "--max-size", ""}).what.find("--max-size: "), 0u);
    EXPECT_EQ(usage_error({"-a", "--buffer", "0"}).what.find("--buffer: "), 0u);
    EXPECT_EQ(usage_error({"--pid", "x"}).what.find("--pid: "), 0u);
    usage_error({"-a", "--drain-share", "0"});
    usage_error({"-a", "--drain-share", "101"});
}

TEST(CommandLine, TakesFilesThatRotate) {
    const Rotation rotation = record({"-a", "--rotate", "1G,10m", "--rotate-keep", "5"}).rotation;
    EXPECT_EQ(rotation.limits.chunk_bytes, 1u << 30);
    EXPECT_EQ(rotation.limits.chunk_age_ns, 600'000'000'000u);
    EXPECT_EQ(rotation.keep_files, 5u);
    EXPECT_EQ(rotation.keep_bytes, 0u);
    EXPECT_EQ(record({"-a", "--rotate", "10M"}).rotation.limits.chunk_bytes, 10u << 20);
    EXPECT_EQ(record({"-a", "--rotate", "1m", "--rotate-keep", "2G"}).rotation.keep_bytes,
              uint64_t{2} << 30);
    EXPECT_FALSE(record({"-a"}).rotation.is_on());
    for (const char* wrong : {"", "5", "1G,2G", "1s,", "0G", "fast"}) {
        EXPECT_EQ(usage_error({"-a", "--rotate", wrong}).what.find("--rotate: "), 0u) << wrong;
    }
    usage_error({"-a", "--rotate", "1G", "--rotate-keep", "0"});
    usage_error({"-a", "--rotate-keep", "5"});
    EXPECT_EQ(rotation.compression, ChunkCompression::none);
    EXPECT_EQ(record({"-a", "--rotate", "1G", "--zstd"}).rotation.compression,
              ChunkCompression::zstd);
    EXPECT_EQ(record({"-a", "--keep", "9s", "--zstd"}).flight->compression, ChunkCompression::zstd);
    usage_error({"-a", "--zstd"});
    usage_error({"-a", "--rotate", "1G", "-o", "-"});
}

TEST(CommandLine, TakesARecordingInMemory) {
    const auto chunks =
        record({"-a", "--chunks", "1M,10s", "--chunk-memory", "64M", "-o", "t.fxt"}).chunks;
    ASSERT_TRUE(chunks);
    EXPECT_EQ(chunks->limits.chunk_bytes, 1u << 20);
    EXPECT_EQ(chunks->limits.chunk_age_ns, 10'000'000'000u);
    EXPECT_EQ(chunks->bytes_max, 64u << 20);
    EXPECT_FALSE(record({"-a"}).chunks);
    usage_error({"-a", "--chunk-memory", "64M"});
    usage_error({"-a", "--chunks", "5"});
    usage_error({"-a", "--chunks", "1M", "--no-ctl"});
    usage_error({"-a", "--chunks", "1M", "--rotate", "1M"});
    usage_error({"-a", "--chunks", "1M", "--keep", "1M"});
    usage_error({"-a", "--chunks", "1M", "-o", "-"});
}

TEST(CommandLine, TakesWhenToStart) {
    const auto after = record({"-a", "--start-after", "5s"}).start;
    ASSERT_TRUE(after);
    EXPECT_EQ(after->after, std::chrono::seconds(5));
    EXPECT_EQ(after->text, "--start-after 5s");
    EXPECT_EQ(after->at, 0);
    const auto at = record({"-a", "--start-at", "2999-12-31T14:30"}).start;
    ASSERT_TRUE(at);
    EXPECT_GT(at->at, time(nullptr));
    EXPECT_FALSE(record({"-a"}).start);
    usage_error({"-a", "--start-after", "soon"});
    usage_error({"-a", "--start-at", "2001-01-01T00:00"});
    usage_error({"-a", "--start-after", "5s", "--start-at", "2999-12-31T14:30"});
}

TEST(CommandLine, TakesWhatOpensIt) {
    const auto conditions = record({"-a", "--start-when", "span(q) > 5ms"}).start_when;
    ASSERT_EQ(conditions.size(), 1u);
    EXPECT_EQ(conditions[0].text, "span(q) > 5ms");
    usage_error({"-a", "--start-when", "span(q)"});
    usage_error({"-a", "--start-when", "crash", "--start-after", "5s"});
    usage_error({"-a", "--start-when", "crash", "--keep", "5s"});
}

TEST(CommandLine, TakesWhatEndsIt) {
    const auto conditions =
        record({"-a", "--stop-when", "crash", "--stop-when", "span(q) > 5ms"}).stop_when;
    ASSERT_EQ(conditions.size(), 2u);
    EXPECT_EQ(conditions[1].text, "span(q) > 5ms");
    usage_error({"-a", "--stop-when", "span(q)"});
    usage_error({"-a", "--keep", "30s", "--stop-when", "crash"});
}

TEST(CommandLine, TakesAFlightRecorder) {
    const auto flight = record({"-a", "--keep", "30s,512M", "--when", "span(q) > 5ms", "--when",
                                "crash", "--before", "2s", "--after", "1s", "--snapshots", "7"})
                            .flight;
    ASSERT_TRUE(flight);
    EXPECT_EQ(flight->history.age_ns_max, 30'000'000'000u);
    EXPECT_EQ(flight->history.bytes_max, 512u << 20);
    EXPECT_EQ(flight->triggers.size(), 2u);
    EXPECT_EQ(flight->before, std::chrono::seconds(2));
    EXPECT_EQ(flight->after, std::chrono::seconds(1));
    EXPECT_EQ(flight->cooldown, std::chrono::seconds(10));
    EXPECT_EQ(flight->files_max, 7u);
    EXPECT_FALSE(record({"-a"}).flight);
    usage_error({"-a", "--keep", "30"});
    usage_error({"-a", "--when", "crash"});
    usage_error({"-a", "--after", "1s"});
    usage_error({"-a", "--keep", "30s", "--when", "span(q)"});
    usage_error({"-a", "--keep", "30s", "--rotate", "1G"});
    usage_error({"-a", "--keep", "30s", "-o", "-"});
    usage_error({"-a", "--keep", "30s", "--snapshots", "0"});
}

TEST(CommandLine, RefusesUnknownOptionsAndStrayWords) {
    EXPECT_NE(usage_error({"-a", "--colour"}).what.find("--colour"), std::string::npos);
    EXPECT_NE(usage_error({"-a", "-e", "usdt:a:b", "stray"}).what.find("stray"), std::string::npos);
    usage_error({"--pid"});
    EXPECT_NE(usage_error({"-a", "-o", ""}).what.find("--output: the name"), std::string::npos);
    EXPECT_NE(usage_error({"convert", "a.traw", "-o", ""}).what.find("--output"),
              std::string::npos);
    EXPECT_EQ(usage_error({"-a", "--colour"}).hint.find("`tracer --help`"), 0u);
    EXPECT_NE(usage_error({"sleep", "1"}).hint.find("tracer -- sleep"), std::string::npos);
    usage_error({"listt"});
}

TEST(CommandLine, HelpShowsExamplesBeforeOptionsAndHidesTheHiddenOne) {
    const auto command = parse({"--help"});
    ASSERT_TRUE(command);
    const std::string text = std::get<PrintCommand>(*command).text;
    EXPECT_LT(text.find("sudo tracer --pid 1234"), text.find("--max-size"));
    EXPECT_EQ(text.find("force-perf-links"), std::string::npos);
    for (const char* option :
         {"--pid", "--all", "--tree", "--event", "--output", "--format", "--duration", "--max-size",
          "--buffer", "--no-rt", "--no-sched", "--quiet", "--verbose", "--json"}) {
        EXPECT_NE(text.find(option), std::string::npos) << option;
    }
}

TEST(CommandLine, VersionIsPrinted) {
    const auto command = parse({"--version"});
    ASSERT_TRUE(command);
    EXPECT_EQ(std::get<PrintCommand>(*command).text.find("tracer "), 0u);
}

ListCommand list(std::vector<std::string> words) {
    words.insert(words.begin(), "list");
    const auto command = parse(std::move(words));
    EXPECT_TRUE(command);
    return command ? std::get<ListCommand>(*command) : ListCommand{};
}

TEST(CommandLine, ListTellsFilesFromPatterns) {
    EXPECT_EQ(list({}).pattern, "");
    EXPECT_EQ(list({"t:sched:*"}).pattern, "t:sched:*");
    EXPECT_EQ(list({"/bin/sh"}).file, "/bin/sh");
    const auto both = list({"/bin/sh", "query*"});
    EXPECT_EQ(both.file, "/bin/sh");
    EXPECT_EQ(both.pattern, "query*");
    const auto process = list({"--pid", "12", "gc*"});
    EXPECT_EQ(process.ids, std::vector<uint32_t>{12});
    EXPECT_EQ(process.pattern, "gc*");
    EXPECT_TRUE(list({"--json"}).json);
    const auto in_container = list({"--pid", "7@1234", "gc*"});
    ASSERT_EQ(in_container.namespaced_ids.size(), 1u);
    EXPECT_EQ(in_container.namespaced_ids[0].id, 7u);
    EXPECT_EQ(in_container.pattern, "gc*");
    usage_error({"list", "--pid", "1", "a", "b"});
    EXPECT_EQ(usage_error({"list", "a", "b", "c"}).what, "unexpected \"c\"");
}

TEST(CommandLine, ConvertNeedsBothFiles) {
    const auto command = parse({"convert", "in.traw", "-o", "out.fxt"});
    ASSERT_TRUE(command);
    EXPECT_EQ(std::get<ConvertCommand>(*command).input_path, "in.traw");
    EXPECT_EQ(std::get<ConvertCommand>(*command).output_path, "out.fxt");
    usage_error({"convert", "in.traw"});
    usage_error({"convert", "-o", "out.fxt"});
    usage_error({"convert", "in.traw", "-o", "out.fxt", "--", "true"});
}

TEST(CommandLine, ConvertAndGcStatsTakeTheOcamlThatWroteTheRings) {
    const auto convert = parse({"convert", "1.events", "--ocaml", "5.3.1", "-o", "out.fxt"});
    ASSERT_TRUE(convert);
    EXPECT_EQ(std::get<ConvertCommand>(*convert).ocaml, (ring::OcamlVersions{3, 3}));
    const auto stats = parse({"gc-stats", "1.events", "--json"});
    ASSERT_TRUE(stats);
    EXPECT_EQ(std::get<GcStatsCommand>(*stats).input_path, "1.events");
    EXPECT_TRUE(std::get<GcStatsCommand>(*stats).json);
    EXPECT_EQ(std::get<GcStatsCommand>(*stats).ocaml, ring::OcamlVersions());
    usage_error({"gc-stats"});
    EXPECT_TRUE(std::get<RingsCommand>(*parse({"rings", "--json"})).json);
    EXPECT_TRUE(std::get<RingsCommand>(*parse({"rings", "--events"})).events);
    usage_error({"rings", "1234"});
    usage_error({"gc-stats", "1.events", "--ocaml", "4.14"});
    usage_error({"gc-stats", "1.events", "--", "true"});
}

TEST(CommandLine, DoctorTakesJson) {
    const auto command = parse({"doctor", "--json"});
    ASSERT_TRUE(command);
    EXPECT_TRUE(std::get<DoctorCommand>(*command).json);
}

TEST(CommandLine, ExplainTakesProbesAndWhereToLook) {
    const std::vector<std::string> words = {"explain", "-e",     "u:app:f",     "-p",
                                            "1,2",     "--json", "--debuginfod"};
    const auto command = parse_command_line(words);
    ASSERT_TRUE(command) << command.error().what;
    const auto& explain = std::get<ExplainCommand>(*command);
    EXPECT_EQ(explain.probes, std::vector<std::string>{"u:app:f"});
    EXPECT_EQ(explain.ids, (std::vector<uint32_t>{1, 2}));
    EXPECT_TRUE(explain.json && explain.debuginfod);
    const std::vector<std::string> with_command = {"explain", "-e", "u:app:f", "--", "./app", "-e"};
    const auto program = parse_command_line(with_command);
    ASSERT_TRUE(program) << program.error().what;
    EXPECT_EQ(std::get<ExplainCommand>(*program).command,
              (std::vector<std::string>{"./app", "-e"}));
    usage_error({"explain"});
    usage_error({"explain", "-e", "u:app:f", "-p", "1", "--", "./app"});
}

TEST(CommandLine, TakesTheOptionsOfPacks) {
    const auto plain = record({"-a"});
    EXPECT_FALSE(plain.packs.request.off);
    EXPECT_EQ(plain.packs.request.level, PackLevel::standard);
    EXPECT_TRUE(plain.packs.request.names.empty());
    const auto command = record({"-a", "--packs", "python,jvm", "--packs", "php", "--level", "more",
                                 "--pack", "a.toml", "--pack", "b.toml"});
    EXPECT_EQ(command.packs.request.names, (std::vector<std::string>{"python", "jvm", "php"}));
    EXPECT_EQ(command.packs.request.level, PackLevel::more);
    EXPECT_EQ(command.packs.files, (std::vector<std::string>{"a.toml", "b.toml"}));
    EXPECT_TRUE(record({"-a", "--no-packs"}).packs.request.off);
}

TEST(CommandLine, ExplainsWrongOptionsOfPacks) {
    EXPECT_NE(usage_error({"-a", "--level", "mroe"}).hint.find("more"), std::string::npos);
    EXPECT_NE(usage_error({"-a", "--level", "mroe"}).what.find("--level"), std::string::npos);
    EXPECT_NE(usage_error({"-a", "--packs", "a,,b"}).what.find("--packs"), std::string::npos);
    EXPECT_NE(usage_error({"-a", "--no-packs", "--level", "all"}).what.find("--no-packs"),
              std::string::npos);
}

TEST(CommandLine, TakesThePacksCommands) {
    const auto all = parse({"packs", "--json"});
    ASSERT_TRUE(all && std::holds_alternative<PacksCommand>(*all));
    EXPECT_TRUE(std::get<PacksCommand>(*all).json);
    const auto one = parse({"packs", "python", "--pid", "1,2", "--level", "all"});
    ASSERT_TRUE(one && std::holds_alternative<PacksCommand>(*one));
    EXPECT_EQ(std::get<PacksCommand>(*one).name, "python");
    EXPECT_EQ(std::get<PacksCommand>(*one).ids, (std::vector<uint32_t>{1, 2}));
    const auto check = parse({"pack", "check", "a.toml", "b.toml"});
    ASSERT_TRUE(check && std::holds_alternative<PackCheckCommand>(*check));
    EXPECT_EQ(std::get<PackCheckCommand>(*check).files.size(), 2u);
    const auto begin = parse({"pack", "template", "redis"});
    ASSERT_TRUE(begin && std::holds_alternative<PackTemplateCommand>(*begin));
    EXPECT_EQ(std::get<PackTemplateCommand>(*begin).name, "redis");

    EXPECT_NE(usage_error({"packs", "--pid", "1"}).hint.find("python --pid"), std::string::npos);
    usage_error({"packs", "python", "--level", "all"});
    usage_error({"packs", "python", "ruby"});
    EXPECT_NE(usage_error({"pack", "chek", "a.toml"}).hint.find("check"), std::string::npos);
    usage_error({"pack"});
    usage_error({"pack", "check"});
    usage_error({"pack", "template", "No Name"});
    usage_error({"packs", "--", "ls"});
}

TEST(CommandLine, TakesRequestsToARecordingThatRuns) {
    const auto ctl = [](std::vector<std::string> words) {
        words.insert(words.begin(), "ctl");
        const auto command = parse(std::move(words));
        EXPECT_TRUE(command && std::holds_alternative<CtlCommand>(*command));
        return command ? std::get<CtlCommand>(*command) : CtlCommand{};
    };
    using Words = std::vector<std::string>;
    EXPECT_EQ(ctl({"list"}).words, Words{"list"});
    EXPECT_EQ(ctl({"status"}).pid, std::nullopt);
    EXPECT_EQ(ctl({"12", "stop", "--json"}).pid, 12u);
    EXPECT_EQ(ctl({"12", "mark", "a", "b"}).words, (Words{"mark", "a", "b"}));
    EXPECT_EQ(ctl({"sink", "-"}).words, (Words{"sink", "-"}));
    EXPECT_EQ(ctl({"sink", "restore"}).words, (Words{"sink", "restore"}));
    EXPECT_EQ(ctl({"sink", "tcp:h:1", "keep-old"}).words, (Words{"sink", "tcp:h:1", "keep-old"}));
    EXPECT_EQ(ctl({"sink", "unix:@name"}).words, (Words{"sink", "unix:@name"}));
    // The recording runs in another folder.
    EXPECT_EQ(ctl({"sink", "a.fxt"}).words.at(1).front(), '/');
    EXPECT_TRUE(ctl({"sink", "unix:a.sock"}).words.at(1).starts_with("unix:/"));

    EXPECT_NE(usage_error({"ctl"}).hint.find("status"), std::string::npos);
    EXPECT_NE(usage_error({"ctl", "stauts"}).what.find("stauts"), std::string::npos);
    EXPECT_NE(usage_error({"ctl", "12", "mark"}).hint.find("TEXT"), std::string::npos);
    usage_error({"ctl", "12", "list"});
    usage_error({"ctl", "stop", "now"});
    EXPECT_TRUE(record({"-a"}).ctl);
    EXPECT_FALSE(record({"-a", "--no-ctl"}).ctl);
}

}  // namespace
}  // namespace tracer
