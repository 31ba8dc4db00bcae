// SPDX-License-Identifier: Apache-2.0
//
// The pack of OCaml against what programs say of themselves: Gc.quick_stat, and the ring of the
// same run. OCaml 5 of newer Debian releases, OCaml 4 of this one.
#include "root/ocaml_program.h"
#include "root/recording.h"
#include "support/fixtures/requirements.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tracer::test {
namespace {

// Two domains collect while the first waits for them, so that its second thread collects for it.
constexpr const char* kDomains = R"(
let work rounds =
  let keep = ref [] in
  for i = 1 to rounds do
    keep := List.init 50 (fun k -> k + i);
    ignore (Sys.opaque_identity !keep)
  done

let () =
  print_endline "ready";
  ignore (input_line stdin);
  let before = (Gc.quick_stat ()).Gc.minor_collections in
  let domains = List.init 2 (fun _ -> Domain.spawn (fun () -> work 60_000)) in
  List.iter Domain.join domains;
  work 20_000;
  Gc.full_major ();
  let after = (Gc.quick_stat ()).Gc.minor_collections in
  Printf.printf "%d %d\n%!" before after;
  ignore (input_line stdin)
)";

// One domain: a compaction, and then minor collections that the program itself asks for.
constexpr const char* kOneDomain = R"(
let () =
  print_endline "ready";
  ignore (input_line stdin);
  Gc.compact ();
  let before = (Gc.quick_stat ()).Gc.minor_collections in
  for i = 1 to 300 do
    ignore (Sys.opaque_identity (List.init 500 (fun k -> k + i)));
    Gc.minor ()
  done;
  let after = (Gc.quick_stat ()).Gc.minor_collections in
  Printf.printf "%d %d\n%!" before after;
  ignore (input_line stdin)
)";

using Lines = std::map<std::string, std::vector<std::string>>;

// What begins and ends on each domain's line, in order.
Lines spans_by_domain(const FxtFile& file) {
    Lines lines;
    for (const FxtEvent& event : file.events) {
        const std::string line(file.thread_name(event.tid));
        if (!line.starts_with("domain ")) continue;
        if (event.type == FxtEventType::duration_begin) {
            lines[line].push_back("begin " + std::string(event.name));
        } else if (event.type == FxtEventType::duration_end) {
            lines[line].push_back("end " + std::string(event.name));
        }
    }
    return lines;
}

uint64_t count_in(const Lines& lines, const std::string& line, std::string_view text) {
    const auto found = lines.find(line);
    if (found == lines.end()) return 0;
    return static_cast<uint64_t>(std::ranges::count(found->second, text));
}

// Minor collections begun behind the compaction, which has some of its own.
uint64_t minors_behind_compaction(const std::vector<std::string>& texts) {
    const auto end = std::ranges::find(texts, "end compaction");
    return static_cast<uint64_t>(std::count(end, texts.end(), "begin minor collection"));
}

class PackOcaml : public OcamlProgram {
protected:
    [[nodiscard]] std::string kept_ring() const {
        for (const auto& entry : std::filesystem::directory_iterator(file(""))) {
            if (entry.path().extension() == ".events") return entry.path();
        }
        return {};
    }
};

TEST_P(PackOcaml, PhasesAreByDomainAndAsManyAsTheProgramCounts) {
    compile(kDomains);
    if (IsSkipped() || HasFatalFailure()) return;
    const auto run = record_running(Ring::off, {"--level", "more"});
    ASSERT_TRUE(run) << run.error().what;
    const Lines lines = spans_by_domain(run->recorded.file);
    // Each takes part in every collection as long as it lives.
    EXPECT_EQ(count_in(lines, "domain 0", "begin minor"),
              run->collections.after - run->collections.before);
    EXPECT_GT(count_in(lines, "domain 1", "begin minor"), 0U);
    EXPECT_EQ(count_in(lines, "domain 0", "begin minor"), count_in(lines, "domain 0", "end minor"));
    EXPECT_EQ(run->recorded.result.summary.at("spans").at("orphan_ends"), 0u);
    EXPECT_EQ(run->recorded.result.summary.at("spans").at("unwound"), 0u);
    EXPECT_GT(count_by_name(run->recorded.file, "app", FxtEventType::counter)["minor_allocated"],
              0U);
    const auto lifecycle = count_by_name(run->recorded.file, "app");
    EXPECT_EQ(lifecycle.at("domain_spawn"), 2U);
}

// The ring of the same run is read afterwards, by another way into the same trace format. It has
// what was before and behind the recording too, when the program waited.
TEST_P(PackOcaml, PhasesAreThoseOfTheRing) {
    compile(kDomains);
    if (IsSkipped() || HasFatalFailure()) return;
    const auto run = record_running(Ring::kept, {"--level", "more", "--no-rings"});
    ASSERT_TRUE(run) << run.error().what;
    const std::string converted = file("ring.fxt");
    const auto convert = run_tracer({"convert", kept_ring(), "-o", converted, "-q"});
    ASSERT_TRUE(convert) << convert.error().what;
    ASSERT_EQ(convert->status, ExitStatus{}) << convert->errors;
    const auto expected = load_fxt(converted);
    ASSERT_TRUE(expected) << expected.error().what;
    const Lines seen = spans_by_domain(run->recorded.file);
    const Lines wanted = spans_by_domain(*expected);
    ASSERT_EQ(seen.size(), 3U);
    for (const auto& [line, texts] : seen) {
        ASSERT_TRUE(wanted.contains(line)) << line;
        const auto& all = wanted.at(line);
        EXPECT_NE(std::search(all.begin(), all.end(), texts.begin(), texts.end()), all.end())
            << line;
        EXPECT_GT(texts.size(), 100U) << line;
    }
}

TEST_P(PackOcaml, CollectionsCostTwoHitsByDefault) {
    compile(kOneDomain);
    if (IsSkipped() || HasFatalFailure()) return;
    const auto run = record_running(Ring::off);
    ASSERT_TRUE(run) << run.error().what;
    const Lines lines = spans_by_domain(run->recorded.file);
    EXPECT_EQ(minors_behind_compaction(lines.at("domain 0")),
              run->collections.after - run->collections.before);
    EXPECT_EQ(count_in(lines, "domain 0", "begin compaction"), 1U);
    EXPECT_GT(count_in(lines, "domain 0", "begin major slice"), 0U);
}

INSTANTIATE_TEST_SUITE_P(Releases, PackOcaml, testing::Values("trixie", "sid"));

// Debian 12's, with one thread at a time: spans are on threads.
TEST(PackOcaml4, CollectionsAreThoseOfTheProgram) {
    TR_REQUIRE_ROOT();
    TR_REQUIRE_FILE(tracer_binary());
    TR_REQUIRE_FILE("/usr/bin/ocamlopt");
    auto folder = TempFolder::make();
    ASSERT_TRUE(folder) << folder.error().what;
    ASSERT_TRUE(write_file(folder->file("app.ml"), kOneDomain));
    const std::string compile =
        fmt::format("cd {} && ocamlopt app.ml -o app >said 2>&1", folder->path().string());
    ASSERT_EQ(std::system(compile.c_str()), 0) << read_file(folder->file("said")).value_or("");
    auto target = ChildProcess::start({folder->file("app")});
    ASSERT_TRUE(target) << target.error().what;
    ASSERT_EQ(target->read_line(kOcamlLimit).value_or(""), "ready");
    auto recorder = Recorder::start({"--pid", std::to_string(target->pid())});
    ASSERT_TRUE(recorder) << recorder.error().what;
    ASSERT_TRUE(target->send_line("go"));
    const auto line = target->read_line(kOcamlLimit);
    ASSERT_TRUE(line) << line.error().what;
    Collections collections;
    ASSERT_EQ(std::sscanf(line->c_str(), "%lu %lu", &collections.before, &collections.after), 2);
    const auto recorded = recorder->stop();
    ASSERT_TRUE(recorded) << recorded.error().what;
    expect_sound(*recorded);
    expect_nothing_lost(*recorded);
    std::vector<std::string> texts;
    for (const FxtEvent& event : recorded->file.events) {
        if (event.category != "app") continue;
        if (event.type == FxtEventType::duration_begin) {
            texts.push_back("begin " + std::string(event.name));
        } else if (event.type == FxtEventType::duration_end) {
            texts.push_back("end " + std::string(event.name));
        }
    }
    EXPECT_EQ(std::ranges::count(texts, "begin compaction"), 1);
    EXPECT_EQ(minors_behind_compaction(texts), collections.after - collections.before);
}

}  // namespace
}  // namespace tracer::test
