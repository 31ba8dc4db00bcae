// SPDX-License-Identifier: Apache-2.0
#include "packs/pack_file.h"

#include "unit/packs/pack_texts.h"

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tracer::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

struct Fault {
    std::string place;    // "LINE:COLUMN"
    std::string message;  // without the place
    std::string token;    // what the carets stand under
    std::string hint;
};

Fault fault_of(const PackProblem& problem) {
    Fault fault;
    fault.place = std::to_string(problem.line) + ":" + std::to_string(problem.column);
    fault.hint = problem.error.hint;
    const std::string& what = problem.error.what;
    const auto first = what.find('\n');
    const auto last = what.rfind('\n');
    EXPECT_LT(first, last) << what;
    const auto head = "t:" + fault.place + ": ";
    EXPECT_TRUE(what.starts_with(head)) << what;
    fault.message = what.substr(head.size(), first - head.size());
    const auto line = what.substr(first + 1, last - first - 1);
    const auto carets = what.substr(last + 1);
    const auto begin = carets.find('^');
    if (begin < line.size()) fault.token = line.substr(begin, carets.size() - begin);
    return fault;
}

// Of a text with one problem, that one.
Fault only_fault(const std::string& text) {
    const auto check = check_pack(text, "t");
    EXPECT_THAT(check.problems, SizeIs(1)) << text;
    for (const auto& problem : check.problems) {
        if (check.problems.size() > 1) ADD_FAILURE() << problem.error.what;
    }
    if (check.problems.empty()) return {};
    EXPECT_EQ(check.pack.has_value(), check.problems[0].is_warning) << text;
    return fault_of(check.problems[0]);
}

// The same of a pack whose one probe has these lines besides `name` and `about`.
Fault probe_fault(std::string_view lines) {
    return only_fault(with(kHead, kMatch, kCost, "[[probe]]\nname = \"p\"\nabout = \"a\"\n") +
                      std::string(lines) + "\n");
}

Fault event_fault(std::string_view event) {
    return probe_fault("stability = \"stable\"\nprobe = '" + std::string(event) + "'");
}

TEST(PackFile, ReadsEveryWord) {
    const auto pack = parse_pack(R"toml(
[pack]
name = "demo"
aliases = ["dm", "demo-server"]
runtime = "Demo server"
version = 3
about = "requests"
versions = "2.1-4"
process_title = "demo: *"
process_title_ends = ["]", " for"]
[version]
path = "*demo{}"
text = "Demo/{}"
section = ".rodata"
[cost]
default = "1 %"
more = "2 %"
all = "30 %"
[[match]]
provider = "demo"
without_provider = "other"
soname = "libdemo.so*"
executable = "demod"
section = ".demo"
symbol = "demo_*"
build_id = "ab12"
[[match]]
soname = "x"
[[probe]]
name = "request"
about = "one request"
level = "more"
stability = "evolving"
probe = ['usdt:demo:begin(url=arg0:str) ~~ usdt:demo:end', "u:@:f(n=arg0)"]
versions = "3-"
requires_argument = ["-p"]
requires_environment = ["P=1", "Q="]
without = "install it"
)toml",
                                 "t");
    ASSERT_TRUE(pack) << pack.error().what;
    EXPECT_EQ(pack->name, "demo");
    EXPECT_THAT(pack->aliases, ElementsAre("dm", "demo-server"));
    EXPECT_EQ(pack->runtime, "Demo server");
    EXPECT_EQ(pack->version, 3U);
    EXPECT_EQ(pack->about, "requests");
    EXPECT_EQ(pack->versions, (VersionRange{"2.1", "4"}));
    EXPECT_EQ(pack->process_title, "demo: *");
    EXPECT_THAT(pack->process_title_ends, ElementsAre("]", " for"));
    EXPECT_EQ(pack->version_path, "*demo{}");
    EXPECT_EQ(pack->version_text, "Demo/{}");
    EXPECT_EQ(pack->version_section, ".rodata");
    EXPECT_THAT(pack->cost, ElementsAre("1 %", "2 %", "30 %"));
    EXPECT_EQ(pack->origin, "t");
    ASSERT_THAT(pack->matches, SizeIs(2));
    const auto& match = pack->matches[0];
    EXPECT_EQ(match.provider, "demo");
    EXPECT_EQ(match.without_provider, "other");
    EXPECT_EQ(match.soname, "libdemo.so*");
    EXPECT_EQ(match.executable, "demod");
    EXPECT_EQ(match.section, ".demo");
    EXPECT_EQ(match.symbol, "demo_*");
    EXPECT_EQ(match.build_id, "ab12");
    EXPECT_EQ(pack->matches[1].soname, "x");
    ASSERT_THAT(pack->probes, SizeIs(1));
    const auto& probe = pack->probes[0];
    EXPECT_EQ(probe.name, "request");
    EXPECT_EQ(probe.about, "one request");
    EXPECT_EQ(probe.level, PackLevel::more);
    EXPECT_EQ(probe.stability, PackStability::evolving);
    ASSERT_THAT(probe.events, SizeIs(2));
    EXPECT_TRUE(probe.events[0].is_pair());
    EXPECT_EQ(probe.events[1].text, "u:@:f(n=arg0)");
    EXPECT_EQ(probe.versions, (VersionRange{"3", ""}));
    EXPECT_THAT(probe.requires_argument, ElementsAre("-p"));
    EXPECT_THAT(probe.requires_environment, ElementsAre("P=1", "Q="));
    EXPECT_EQ(probe.without, "install it");
}

TEST(PackFile, LeavesOutWhatMayBeLeftOut) {
    const auto check = check_pack(with(kHead, kMatch, kProbe, kCost), "t");
    EXPECT_THAT(check.problems, IsEmpty());
    ASSERT_TRUE(check.pack);
    EXPECT_TRUE(check.pack->versions.is_open());
    EXPECT_EQ(check.pack->probes[0].level, PackLevel::standard);
}

TEST(PackFile, OffersATemplateThatNeedsNoCorrection) {
    const auto check = check_pack(pack_template("my-app"), "/home/u/my-app.toml");
    for (const auto& problem : check.problems) ADD_FAILURE() << problem.error.what;
    ASSERT_TRUE(check.pack);
    EXPECT_EQ(check.pack->name, "my-app");
    EXPECT_THAT(check.pack->probes, SizeIs(3));
}

TEST(PackFile, PointsAtAnUnknownWordAndNamesTheNearest) {
    const auto fault = only_fault(with(kHead, "abuot = \"x\"\n", kMatch) + with(kProbe, kCost));
    EXPECT_EQ(fault.place, "6:1");
    EXPECT_EQ(fault.message, "an unknown word in [pack]");
    EXPECT_EQ(fault.token, "abuot");
    EXPECT_EQ(fault.hint, "did you mean about?");
}

TEST(PackFile, ListsTheWordsWhereNoneIsNear) {
    const auto fault =
        only_fault(with(kHead, kMatch, kProbe, "[cost]\ndefault = \"x\"\nzzzzzzz = 1\n"));
    EXPECT_EQ(fault.token, "zzzzzzz");
    EXPECT_EQ(fault.hint, "[cost] knows default, more, all");
}

TEST(PackFile, RefusesAnUnknownTable) {
    const auto fault = only_fault(with(kHead, kMatch, kProbe, kCost) + "[[prob]]\nname = \"x\"\n");
    EXPECT_EQ(fault.message, "an unknown word in a pack");
    EXPECT_EQ(fault.token, "prob");
    EXPECT_EQ(fault.hint, "did you mean probe?");
}

TEST(PackFile, TellsEveryProblemInTheOrderOfTheText) {
    const auto check = check_pack(
        "[pack]\nname = \"Demo\"\nruntime = 1\nversion = 0\nabout = \"\"\nx = 1\n"
        "[[match]]\nprovider = \"*\"\n[[probe]]\nname = \"p\"\nlevel = \"most\"\n"
        "stability = \"stable\"\nprobe = 'u:a:f'\nabout = 'a'\n[cost]\ndefault = 'x'\n",
        "t");
    EXPECT_FALSE(check.pack);
    std::vector<std::string> tokens;
    for (const auto& problem : check.problems) tokens.push_back(fault_of(problem).token);
    EXPECT_THAT(tokens,
                ElementsAre("\"Demo\"", "1", "0", "\"\"", "x", "\"*\"", "\"most\"", "u:a:f"));
}

TEST(PackFile, FailsWithTheFirstProblemThatIsNoWarning) {
    const auto pack =
        parse_pack(with(kHead, kMatch, kCost) +
                       "[[probe]]\nname = \"p\"\nstability = \"stable\"\nprobe = 'x'\n",
                   "t");
    ASSERT_FALSE(pack);
    EXPECT_EQ(pack.error().code, ErrorCode::usage);
    EXPECT_THAT(pack.error().what, HasSubstr("t:13:10: a probe begins with its kind"));
}

TEST(PackFile, RefusesWhatIsNoToml) {
    const auto fault = only_fault("[pack\nname = 1\n");
    EXPECT_EQ(fault.place, "1:6");
    EXPECT_THAT(fault.message, HasSubstr("expected ']'"));
}

TEST(PackFile, RefusesAWordSaidTwice) {
    const auto fault = only_fault(with(kHead, "about = \"again\"\n"));
    EXPECT_EQ(fault.place, "6:9");
    EXPECT_THAT(fault.message, HasSubstr("cannot redefine"));
}

TEST(PackFile, RefusesATextThatIsTooLong) {
    std::string text = with(kHead, kMatch, kProbe, kCost);
    text.append(kPackFileBytesMax - text.size(), '\n');
    EXPECT_TRUE(check_pack(text, "t").pack);
    text += '\n';
    EXPECT_THAT(only_fault(text).message, HasSubstr("longer than the 262144 allowed"));
}

TEST(PackFile, RefusesAPackWithoutHeadMatchOrProbe) {
    EXPECT_THAT(only_fault(with(kMatch, kProbe, kCost)).message, HasSubstr("no [pack]"));
    EXPECT_THAT(only_fault(with(kHead, kProbe, kCost)).message, HasSubstr("no [[match]]"));
    EXPECT_THAT(only_fault(with(kHead, kMatch, kCost)).message, HasSubstr("no [[probe]]"));
    EXPECT_THAT(only_fault(with("match = []\n", kHead, kProbe, kCost)).message,
                HasSubstr("no [[match]]"));
}

TEST(PackFile, RefusesTablesOfAnotherForm) {
    auto fault = only_fault(with(kHead, "[match]\nprovider = \"x\"\n", kProbe, kCost));
    EXPECT_THAT(fault.message, HasSubstr("[[match]]"));
    fault = only_fault("pack = 1\n" + with(kMatch, kProbe, kCost));
    EXPECT_THAT(fault.message, HasSubstr("written [pack]"));
}

TEST(PackFile, SaysWhichWordIsMissing) {
    const auto text = "[pack]\nname = \"demo\"\nversion = 1\nabout = \"x\"\n";
    const auto fault = only_fault(with(text, kMatch, kProbe, kCost));
    EXPECT_EQ(fault.place, "1:1");
    EXPECT_EQ(fault.message, "[pack] has no `runtime`");
    EXPECT_EQ(fault.token, "[pack]");
}

TEST(PackFile, RefusesNamesThatAreNoNames) {
    for (const auto* name :
         {"", "Demo", "1a", "a b", "-a", "a_b", "a23456789012345678901234567890123"}) {
        const auto text = std::string("[pack]\nname = \"") + name +
                          "\"\nruntime = \"x\"\nversion = 1\nabout = \"x\"\n";
        const auto fault = only_fault(with(text, kMatch, kProbe, kCost));
        EXPECT_THAT(fault.message, HasSubstr("expected small letters")) << name;
    }
    EXPECT_TRUE(is_pack_name("a2345678901234567890123456789012"));
}

TEST(PackFile, RefusesANameThatIsNotTheFiles) {
    const auto text = with(kHead, kMatch, kProbe, kCost);
    EXPECT_TRUE(check_pack(text, "/x/demo.toml").pack);
    const auto check = check_pack(text, "/x/dem.toml");
    ASSERT_THAT(check.problems, SizeIs(1));
    EXPECT_THAT(check.problems[0].error.what, HasSubstr("dem.toml:2:8: not the file's name"));
    EXPECT_EQ(check.problems[0].error.hint, "call it \"dem\", or the file demo.toml");
}

TEST(PackFile, RefusesPackVersionsThatAreNoNumbers) {
    for (const auto* number : {"0", "-1", "\"1\"", "1.5", "4294967296", "true"}) {
        const auto text = std::string("[pack]\nname = \"demo\"\nruntime = \"x\"\nversion = ") +
                          number + "\nabout = \"x\"\n";
        const auto fault = only_fault(with(text, kMatch, kProbe, kCost));
        EXPECT_EQ(fault.token, number);
        EXPECT_THAT(fault.message, HasSubstr("whole number"));
    }
}

TEST(PackFile, RefusesTextOfSeveralLines) {
    const auto fault =
        only_fault(with(kHead, "[version]\npath = \"a\\n{}\"\n", kMatch, kProbe) + with(kCost));
    EXPECT_EQ(fault.message, "expected one line, without control characters");
}

TEST(PackFile, RefusesRangesThatAreNone) {
    const auto fault =
        only_fault(with(kHead, "versions = \"3.x\"\n", kMatch, kProbe) + with(kCost));
    EXPECT_EQ(fault.token, "\"3.x\"");
    EXPECT_THAT(fault.message, HasSubstr("expected versions"));
}

TEST(PackFile, RefusesTitlesWithoutAPlaceForTheName) {
    for (const auto* title : {"*", "postgres", "a * b *"}) {
        const auto line = std::string("process_title = \"") + title + "\"\n";
        const auto fault = only_fault(with(kHead, line, kMatch, kProbe) + with(kCost));
        EXPECT_THAT(fault.message, HasSubstr("one *")) << title;
    }
}

TEST(PackFile, RefusesAnEndOfNoTitle) {
    const auto fault =
        only_fault(with(kHead, "process_title_ends = [\"]\"]\n", kMatch, kProbe) + with(kCost));
    EXPECT_EQ(fault.token, "\"]\"");
    EXPECT_THAT(fault.message, HasSubstr("of no title"));
}

TEST(PackFile, RefusesVersionPatternsWithoutOnePlace) {
    for (const auto* pattern : {"python", "a{}b{}"}) {
        const auto line = std::string("[version]\npath = \"") + pattern + "\"\n";
        const auto fault = only_fault(with(kHead, line, kMatch, kProbe) + with(kCost));
        EXPECT_EQ(fault.message, "expected one {}, which stands for the version") << pattern;
    }
    auto fault =
        only_fault(with(kHead, "[version]\ntext = \"v{}\"\n", kMatch, kProbe) + with(kCost));
    EXPECT_EQ(fault.message, "needs more text in front of {}");
    fault = only_fault(with(kHead, "[version]\n", kMatch, kProbe) + with(kCost));
    EXPECT_THAT(fault.message, HasSubstr("`path`, `text` or `symbols`"));
    for (const auto* symbols : {"\"5.x\" = \"s\"", "\"5.1\" = 3"}) {
        fault = only_fault(
            with(kHead, std::string("[version.symbols]\n") + symbols + "\n", kMatch, kProbe) +
            with(kCost));
        EXPECT_THAT(fault.message, HasSubstr("expected a version in quotes")) << symbols;
    }
    fault = only_fault(with(kHead, "[version]\npath='a{}'\nsection='.x'\n", kMatch, kProbe) +
                       with(kCost));
    EXPECT_EQ(fault.message, "`section` is for `text`");
}

TEST(PackFile, RefusesToGiveWayToAProbeThatIsNotBefore) {
    const auto fault = only_fault(with(kHead, kMatch, kProbe, kCost) +
                                  "[[probe]]\nname = \"x\"\nabout = \"x\"\nstability = \"stable\"\n"
                                  "probe = 'usdt:demo:x'\nunless = \"y\"\n");
    EXPECT_THAT(fault.message, HasSubstr("no probe before it is called so"));
}

TEST(PackFile, RefusesMatchesThatNearlyEveryFileFits) {
    for (const auto* match : {"[[match]]\n", "[[match]]\nwithout_provider = \"x\"\n"}) {
        const auto fault = only_fault(with(kHead, match, kProbe, kCost));
        EXPECT_EQ(fault.message, "a [[match]] that nearly every file fits");
    }
    const auto fault = only_fault(with(kHead, "[[match]]\nsymbol = \"*?\"\n", kProbe, kCost));
    EXPECT_EQ(fault.message, "a pattern that anything fits");
}

TEST(PackFile, RefusesFoldersAndBuildIdsThatAreNone) {
    auto fault = only_fault(with(kHead, "[[match]]\nexecutable = \"/bin/x\"\n", kProbe, kCost));
    EXPECT_EQ(fault.message, "expected a file's name without its folder");
    fault = only_fault(with(kHead, "[[match]]\nbuild_id = \"AB\"\n", kProbe, kCost));
    EXPECT_THAT(fault.message, HasSubstr("hexadecimal"));
}

TEST(PackFile, RefusesLevelsAndStabilitiesThatDoNotExist) {
    auto fault = probe_fault("level = \"alll\"\nstability = \"stable\"\nprobe = 'usdt:a:b'");
    EXPECT_EQ(fault.message, "expected \"default\", \"more\" or \"all\"");
    EXPECT_EQ(fault.hint, "did you mean all?");
    fault = probe_fault("probe = 'usdt:a:b'");
    EXPECT_EQ(fault.message, "[[probe]] has no `stability`");
}

TEST(PackFile, RefusesProbeNamesThatCannotBeListed) {
    for (const auto& name : {std::string("a,b"), std::string(65, 'a')}) {
        const auto fault = only_fault(with(kHead, kMatch, kCost) + "[[probe]]\nname = \"" + name +
                                      "\"\nabout='a'\nstability='stable'\nprobe='usdt:a:b'\n");
        EXPECT_EQ(fault.message, "expected at most 64 bytes without a comma");
    }
}

TEST(PackFile, RefusesTwoProbesOfOneName) {
    const auto fault = only_fault(with(kHead, kMatch, kProbe, kProbe) + with(kCost));
    EXPECT_EQ(fault.message, "a second probe of this name");
    EXPECT_EQ(fault.place, "13:1");
}

TEST(PackFile, TakesTwoProbesOfOneNameForDifferentVersions) {
    const std::string probe(kProbe);
    const auto pack = [&](const char* first, const char* second) {
        return with(kHead, kMatch, probe + first, probe + second) + with(kCost);
    };
    EXPECT_TRUE(parse_pack(pack("versions = \"-3.11\"\n", "versions = \"3.12-\"\n"), "app"));
    EXPECT_EQ(only_fault(pack("versions = \"-3.11\"\n", "versions = \"3.11-\"\n")).message,
              "a second probe of this name");
}

TEST(PackFile, RefusesEmptyLists) {
    EXPECT_EQ(probe_fault("stability='stable'\nprobe = []").message, "an empty list");
    EXPECT_THAT(probe_fault("stability='stable'\nprobe = ['usdt:a:b', 3]").message,
                HasSubstr("list of such texts"));
}

TEST(PackFile, RefusesEnvironmentWithoutValue) {
    const auto fault =
        probe_fault("stability='stable'\nprobe = 'usdt:a:b'\nrequires_environment = ['A']");
    EXPECT_EQ(fault.message, "expected NAME=VALUE");
    EXPECT_EQ(fault.token, "'A'");
}

// What is wrong inside of a probe's text is shown inside of the file.
TEST(PackFile, PointsIntoAProbesText) {
    const auto fault = event_fault("usdt:demo:one(a=arg0:strr)");
    EXPECT_EQ(fault.place, "14:31");
    EXPECT_EQ(fault.token, "strr");
}

TEST(PackFile, PointsIntoThePieceOfASpan) {
    const auto fault = event_fault("usdt:demo:one(a=arg0) ~~ usdt:demo:two(b=argh)");
    EXPECT_EQ(fault.token, "argh");
    EXPECT_EQ(fault.place, "14:51");
}

TEST(PackFile, PointsIntoATextOfSeveralLines) {
    const auto fault = probe_fault(
        "stability = \"stable\"\nprobe = '''\nusdt:demo:one(a=arg0)\n  ~~ u:@:two(b=argh)'''");
    EXPECT_EQ(fault.place, "16:16");
    EXPECT_EQ(fault.token, "argh");
}

TEST(PackFile, TakesATextOfSeveralLinesForOne) {
    const auto pack = parse_pack(with(kHead, kMatch, kCost) +
                                     "[[probe]]\nname='p'\nstability='stable'\nabout='a'\n"
                                     "probe = '''\nusdt:demo:one(a=arg0)  as \"two  \\\"  of\"\n"
                                     "    ~~\tusdt:demo:two '''\n",
                                 "t");
    ASSERT_TRUE(pack) << pack.error().what;
    EXPECT_EQ(pack->probes[0].events[0].text,
              "usdt:demo:one(a=arg0) as \"two  \\\"  of\" ~~ usdt:demo:two");
}

TEST(PackFile, PointsAtATextThatIsWrittenWithEscapes) {
    const auto fault =
        probe_fault("stability = \"stable\"\nprobe = \"u:@:f(a=arg0:strr) if comm == \\\"x\\\"\"");
    EXPECT_EQ(fault.place, "14:9");
}

TEST(PackFile, CountsColumnsInCharacters) {
    const auto fault = only_fault(with(kHead, kMatch, kCost) +
                                  "[[probe]]\nabout = 'a'\nstability = 'stable'\nprobe = "
                                  "'usdt:demo:one'\nname = 'äöü', x\n");
    EXPECT_EQ(fault.place, "14:13");
}

TEST(PackFile, ShowsAPartOfALongLine) {
    const auto check =
        check_pack(with(kHead, kMatch, kCost) +
                       "[[probe]]\nname='p'\nstability='stable'\nprobe = 'usdt:demo:" +
                       std::string(3000, 'x') + "(a=argh)'\nabout = 'a'\n",
                   "t");
    ASSERT_THAT(check.problems, SizeIs(1));
    const auto& what = check.problems[0].error.what;
    EXPECT_LT(what.size(), 700U);
    EXPECT_EQ(fault_of(check.problems[0]).token, "argh");
}

TEST(PackFile, RefusesOtherFilesThanTheMatchedOne) {
    auto fault = event_fault("u:libc.so.6:malloc");
    EXPECT_EQ(fault.message, "a pack's probes are of the file that it matched");
    EXPECT_EQ(fault.hint, "write @ for PATH, as in u:@:malloc");
    fault = event_fault("usdt:/bin/x:demo:one ~~ usdt:demo:two");
    EXPECT_EQ(fault.token, "usdt:/bin/x:demo:one");
    EXPECT_EQ(fault.hint, "leave PATH out: usdt:demo:one");
    EXPECT_EQ(event_fault("t:sched:sched_switch").message, "a tracepoint belongs to no file");
}

TEST(PackFile, WarnsOfArgumentsWithoutNames) {
    const auto fault = event_fault("usdt:demo:one(arg0:str, n=arg1:u32)");
    EXPECT_EQ(fault.message, "the trace will call an argument arg0");
    EXPECT_EQ(fault.hint, "say what it is: NAME=arg0:str");
}

TEST(PackFile, WarnsOfProbesThatSayNothingOfThemselves) {
    const auto check = check_pack(with(kHead, kMatch,
                                       "[[probe]]\nname='p'\nlevel='all'\n"
                                       "stability='internal'\nprobe='u:@:f()'\n"),
                                  "t");
    EXPECT_TRUE(check.pack);
    std::vector<std::string> messages;
    for (const auto& problem : check.problems) {
        EXPECT_TRUE(problem.is_warning);
        messages.push_back(fault_of(problem).message);
    }
    EXPECT_THAT(messages, ElementsAre("a probe without `about`",
                                      "[cost] has no `all`: the first probe of that level"));
}

// Every beginning of a pack is refused or read; none reads past its end.
TEST(PackFile, BearsBeingCut) {
    const auto whole = pack_template("cut");
    for (size_t size = 0; size < whole.size(); size += 7) {
        const auto check = check_pack(std::string_view(whole).substr(0, size), "t");
        EXPECT_TRUE(check.pack || !check.problems.empty()) << size;
        for (const auto& problem : check.problems) EXPECT_GE(problem.line, 1U);
    }
}

}  // namespace
}  // namespace tracer::test
