// SPDX-License-Identifier: Apache-2.0
//
// Programs that a careless probe kills or makes compute wrong: alive and right under ours, and what
// is recorded is what they did. TRACER_HARM_SECONDS=60 runs each for that long instead of 2 s.
#include "root/proc_view.h"
#include "root/recording.h"
#include "support/fixtures/deadline.h"
#include "support/fixtures/requirements.h"
#include "support/fixtures/target_program.h"

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <map>

#include <gtest/gtest.h>

namespace tracer::test {
namespace {

int harm_seconds() {
    const char* text = std::getenv("TRACER_HARM_SECONDS");
    const int seconds = text == nullptr ? 2 : std::atoi(text);
    return std::clamp(seconds, 1, 600);
}

Milliseconds harm_limit() {
    return std::chrono::seconds(60 + 4 * harm_seconds());
}

std::string place(const std::string& kind, const std::string& target, const std::string& function) {
    return kind + ":" + target_path(target) + ":" + function;
}

struct Outcome {
    nlohmann::json told;  // by the program
    Recorded recorded;
};

// Runs a target under probes until it says what it did, and reads both.
Result<Outcome> run_under(const std::string& name,
                          const std::vector<std::string>& target_arguments,
                          const std::vector<std::string>& probes,
                          std::vector<std::string> options = {}) {
    TR_ASSIGN(auto target, start_target(name, target_arguments));
    for (const auto& probe : probes) options.insert(options.end(), {"-e", probe});
    options.insert(options.end(), {"--pid", std::to_string(target.pid())});
    TR_ASSIGN(auto recorder, Recorder::start(options));
    TR_ASSIGN(auto lines, run_target(target, harm_limit()));
    if (lines.size() != 1) return fail(ErrorCode::bad_input, "the program died early");
    TR_ASSIGN(auto recorded, recorder.stop());
    return Outcome{lines.at(0), std::move(recorded)};
}

TEST(Harm, GoWithGrowingStacksIsAliveAndEveryCallIsASpanOfItsGoroutine) {
    TR_REQUIRE_ROOT();
    TR_REQUIRE_FILE(tracer_binary());
    TR_REQUIRE_FILE(target_path("go_stacks"));
    const auto outcome = run_under(
        "go_stacks", {"--goroutines", "24"},
        {place("span", "go_stacks", "main.deep(arg0,arg1,ret)"),
         place("ur", "go_stacks", "main.leaf"), place("span", "go_stacks", "main.guarded"),
         place("span", "go_stacks", "main.broken")},
        {"--buffer", "32M/cpu"});
    ASSERT_TRUE(outcome) << outcome.error().what;
    const auto& [told, recorded] = *outcome;
    expect_sound(recorded);
    expect_nothing_lost(recorded);
    EXPECT_EQ(told.at("wrong"), 0);
    const auto& file = recorded.file;
    const auto begins = events_of(file, "main.deep", FxtEventType::duration_begin);
    const auto ends = events_of(file, "main.deep", FxtEventType::duration_end);
    EXPECT_EQ(begins.size(), told.at("calls").get<size_t>());
    EXPECT_EQ(ends.size(), told.at("calls").get<size_t>());
    // Each is nested in its goroutine: deep(n, x) returns n + x + 1.
    std::map<uint64_t, std::vector<uint64_t>> open;
    size_t wrong = 0;
    for (const FxtEvent& event : file.events) {
        if (event.name != "main.deep") continue;
        auto& stack = open[event.tid];
        if (event.type == FxtEventType::duration_begin) {
            const auto levels = integer_argument(file, event, "arg0");
            const auto x = integer_argument(file, event, "arg1");
            ASSERT_TRUE(levels && x);
            stack.push_back(*levels + *x + 1);
        } else if (event.type == FxtEventType::duration_end) {
            ASSERT_FALSE(stack.empty());
            if (integer_argument(file, event, "ret") != stack.back()) ++wrong;
            stack.pop_back();
        }
    }
    EXPECT_EQ(wrong, 0u);
    EXPECT_GT(open.size(), 1u);
    EXPECT_EQ(events_of(file, "main.leaf").size(), told.at("leaves").get<size_t>());
    // A panic leaves broken() without a return; guarded() returns each time.
    EXPECT_EQ(events_of(file, "main.guarded", FxtEventType::duration_begin).size(), 24u);
    EXPECT_EQ(events_of(file, "main.guarded", FxtEventType::duration_end).size(), 24u);
}

TEST(Harm, GoGoesOnForSecondsUnderReturnProbes) {
    TR_REQUIRE_ROOT();
    TR_REQUIRE_FILE(tracer_binary());
    TR_REQUIRE_FILE(target_path("go_stacks"));
    const auto outcome =
        run_under("go_stacks", {"--seconds", std::to_string(harm_seconds())},
                  {place("span", "go_stacks", "main.*"), place("u", "go_stacks", "main.deep"),
                   place("ur", "go_stacks", "runtime.newstack")});
    ASSERT_TRUE(outcome) << outcome.error().what;
    EXPECT_EQ(outcome->told.at("wrong"), 0);
    EXPECT_GT(outcome->told.at("rounds"), 0);
    expect_sound(outcome->recorded);
}

TEST(Harm, ExceptionsPassThroughFunctionsUnderReturnProbes) {
    TR_REQUIRE_ROOT();
    TR_REQUIRE_FILE(tracer_binary());
    const auto outcome = run_under(
        "exceptions", {},
        {place("span", "exceptions", "pass_through"), place("span", "exceptions", "clean_up"),
         place("span", "exceptions", "catch_it(arg0:s32,ret:s32)"),
         "usdt:" + target_path("exceptions") + ":throwing:span__*(arg0:str)",
         place("ur", "exceptions", "throw_at")});
    ASSERT_TRUE(outcome) << outcome.error().what;
    const auto& [told, recorded] = *outcome;
    expect_sound(recorded);
    expect_nothing_lost(recorded);
    EXPECT_EQ(told.at("wrong"), 0);
    EXPECT_GT(told.at("caught"), 0);
    const auto& file = recorded.file;
    const auto count = [&](std::string_view name, FxtEventType type) {
        return events_of(file, name, type).size();
    };
    EXPECT_EQ(count("pass_through", FxtEventType::duration_begin),
              told.at("entered").get<size_t>());
    // Those that an exception left are ended too, when the next frame at their place begins.
    EXPECT_EQ(count("pass_through", FxtEventType::duration_end), told.at("entered").get<size_t>());
    EXPECT_EQ(count("throw_at", FxtEventType::instant), told.at("returned").get<size_t>());
    EXPECT_EQ(count("catch_it", FxtEventType::duration_begin),
              count("catch_it", FxtEventType::duration_end));
    // A scope ends once, whichever way it is left.
    auto scopes = count_by_name(file, "throwing");
    EXPECT_EQ(scopes["span__begin"], told.at("destroyed").get<uint64_t>());
    EXPECT_EQ(scopes["span__end"], told.at("destroyed").get<uint64_t>());
    for (const FxtEvent* event : events_of(file, "span__end")) {
        ASSERT_EQ(to_text(*file.find(event->arguments, "arg0")), "\"clean up\"");
    }
    // Of catch_it every call returned, with the value of its own argument.
    std::map<uint64_t, int64_t> open;
    size_t wrong = 0;
    for (const FxtEvent& event : file.events) {
        if (event.name != "catch_it") continue;
        const FxtValue* value =
            file.find(event.arguments, event.type == FxtEventType::duration_begin ? "arg0" : "ret");
        ASSERT_NE(value, nullptr);
        const int64_t number = std::stoll(to_text(*value));
        if (event.type == FxtEventType::duration_begin) {
            open[event.tid] = number;
        } else {
            const int64_t x = open[event.tid];
            if (number != (x % 3 == 0 ? -x : x + 3)) ++wrong;
        }
    }
    EXPECT_EQ(wrong, 0u);
}

// The C library calls back into C++, which throws: its functions are in no file that throws itself.
TEST(Harm, ExceptionsPassThroughCFunctionsUnderReturnProbes) {
    TR_REQUIRE_ROOT();
    TR_REQUIRE_FILE(tracer_binary());
    const auto outcome =
        run_under("exceptions", {},
                  {"span:libc.so.6:qsort", "span:libc.so.6:bsearch", "ur:libc.so.6:bsearch"});
    ASSERT_TRUE(outcome) << outcome.error().what;
    const auto& [told, recorded] = *outcome;
    expect_sound(recorded);
    expect_nothing_lost(recorded);
    EXPECT_EQ(told.at("wrong"), 0);
    const auto sorted = told.at("sorted").get<size_t>();
    const auto searched = told.at("searched").get<size_t>();
    const auto thrown = told.at("thrown_in_c").get<size_t>();
    ASSERT_GT(thrown, 0u);
    EXPECT_EQ(recorded.result.summary.at("warnings").dump().find("std::terminate"),
              std::string::npos);
    const auto& file = recorded.file;
    for (const auto& [name, count] : {std::pair("qsort", sorted), std::pair("bsearch", searched)}) {
        EXPECT_EQ(events_of(file, name, FxtEventType::duration_begin).size(), count + thrown);
        EXPECT_EQ(events_of(file, name, FxtEventType::duration_end).size(), count + thrown);
    }
    EXPECT_EQ(events_of(file, "bsearch", FxtEventType::instant).size(), searched);
    // qsort is left by a jump to qsort_r, and ends when that returns.
    size_t rows = 0;
    for (const auto& row : recorded.result.summary.at("durations")) {
        if (row.at("span") != "qsort") continue;
        ++rows;
        EXPECT_EQ(row.at("ends").at("returned"), sorted) << row;
        EXPECT_EQ(row.value("orphan_ends", 0u), 0u) << row;
    }
    EXPECT_EQ(rows, 1u);
}

TEST(Harm, AThrowingProgramGoesOnForSeconds) {
    TR_REQUIRE_ROOT();
    TR_REQUIRE_FILE(tracer_binary());
    const auto outcome =
        run_under("exceptions", {"--seconds", std::to_string(harm_seconds())},
                  {place("span", "exceptions", "*"), place("ur", "exceptions", "*")});
    ASSERT_TRUE(outcome) << outcome.error().what;
    EXPECT_EQ(outcome->told.at("wrong"), 0);
    EXPECT_GT(outcome->told.at("caught"), 0);
    expect_sound(outcome->recorded);
}

// Children forked after the first hit, on 1-byte nops alone and before a 5-byte nop, and a leaf
// function with data in its red zone.
TEST(Harm, ForkedChildrenAndRedZonesAreWholeUnderEverySite) {
    TR_REQUIRE_ROOT();
    TR_REQUIRE_FILE(tracer_binary());
    const auto children = std::to_string(30 * harm_seconds());
    auto target = start_target("fork_server", {"--children", children, "--hits", "20"});
    ASSERT_TRUE(target) << target.error().what;
    auto recorder = Recorder::start({"-e", "usdt:forking:*", "-e",
                                     place("span", "fork_server", "red_zone_leaf"), "--buffer",
                                     "32M/cpu", "--tree", "--pid", std::to_string(target->pid())});
    ASSERT_TRUE(recorder) << recorder.error().what;
    const auto lines = run_target(*target, harm_limit(), 1);
    ASSERT_TRUE(lines) << lines.error().what;
    const auto recorded = recorder->stop();
    ASSERT_TRUE(recorded) << recorded.error().what;
    expect_sound(*recorded);
    expect_nothing_lost(*recorded);
    const auto& told = lines->at(0);
    EXPECT_EQ(told.at("killed"), 0);
    EXPECT_EQ(told.at("red_zone_wrong"), 0);
    EXPECT_EQ(told.at("wrong_checksum"), 0);
    auto counts = count_by_name(recorded->file, "forking");
    const uint64_t hits =
        told.at("parent_hits").get<uint64_t>() + told.at("child_hits").get<uint64_t>();
    EXPECT_EQ(counts["request"], hits);
    EXPECT_EQ(counts["pair"], hits);
    EXPECT_EQ(counts["red_zone"], told.at("red_zone_hits").get<uint64_t>());
    EXPECT_EQ(counts.count("lone"), 0u) << "left out, as the warning says";
    EXPECT_NE(recorded->result.summary.at("warnings").dump().find("5-byte nop"), std::string::npos);
}

TEST(Harm, ALoneFiveByteNopIsRefusedWithTheWayOut) {
    TR_REQUIRE_ROOT();
    TR_REQUIRE_FILE(tracer_binary());
    const auto refused =
        run_tracer({"-a", "-e", "usdt:" + target_path("fork_server") + ":forking:lone", "-o",
                    "/dev/null", "--format", "fxt", "-d", "1ms"});
    ASSERT_TRUE(refused) << refused.error().what;
    EXPECT_EQ(refused->status, (ExitStatus{3, 0})) << refused->errors;
    EXPECT_NE(refused->errors.find("kills children"), std::string::npos) << refused->errors;
    EXPECT_NE(refused->errors.find("--fast-sites"), std::string::npos) << refused->errors;
}

// On a kernel that fails the trial the option ends the run; on others the site is recorded.
TEST(Harm, FastSitesAreTakenOnlyWhereTheDoctorSaysTheyAreSafe) {
    TR_REQUIRE_ROOT();
    TR_REQUIRE_FILE(tracer_binary());
    const auto doctor = run_tracer({"doctor"});
    ASSERT_TRUE(doctor) << doctor.error().what;
    const bool is_safe =
        doctor->output.find("fast sites: safe on this kernel") != std::string::npos;
    const bool is_unsafe =
        doctor->output.find("fast sites: unsafe on this kernel") != std::string::npos;
    ASSERT_NE(is_safe, is_unsafe) << doctor->output;
    const auto run = run_tracer({"-a", "--fast-sites", "--no-sched", "-e",
                                 "usdt:" + target_path("fork_server") + ":forking:lone", "-o",
                                 "/dev/null", "--format", "fxt", "-d", "1ms"});
    ASSERT_TRUE(run) << run.error().what;
    EXPECT_EQ(run->status, (ExitStatus{is_safe ? 0 : 3, 0})) << run->errors;
    if (is_unsafe) {
        EXPECT_NE(run->errors.find("unsafe on this kernel"), std::string::npos) << run->errors;
    }
}

nlohmann::json semaphores_of(ChildProcess& target) {
    if (!target.send_line("semaphores")) return "the target is gone";
    const auto line = target.read_json(std::chrono::seconds(20));
    return line ? line->at("semaphores") : nlohmann::json(line.error().what);
}

// Semaphores up, a link over many sites, and return probes under way in a thread that is inside of
// the probed function when the tracer dies.
TEST(Harm, KillingTheTracerInTheMiddleOfReturnsLeavesNothing) {
    TR_REQUIRE_ROOT();
    TR_REQUIRE_FILE(tracer_binary());
    auto matrix = start_target("usdt_matrix_pie");
    auto throwing = start_target("exceptions", {"--seconds", "4"});
    auto tree = start_target("call_tree", {"--fib", "26", "--deep", "60", "--jumps", "50"});
    ASSERT_TRUE(matrix && throwing && tree);
    auto recorder = Recorder::start(
        {"-a", "--no-sched", "-e", "usdt:" + target_path("usdt_matrix_pie") + ":matrix:*", "-e",
         place("span", "exceptions", "*"), "-e", place("span", "call_tree", "*")});
    ASSERT_TRUE(recorder) << recorder.error().what;
    const std::vector<pid_t> pids{matrix->pid(), throwing->pid(), tree->pid()};
    for (const pid_t pid : pids) EXPECT_GT(changed_text_bytes(pid).value_or(0), 0u);
    const auto raised = semaphores_of(*matrix);
    EXPECT_FALSE(raised.empty());
    for (const auto& [name, value] : raised.items()) EXPECT_GT(value, 0) << name;
    ASSERT_TRUE(throwing->send_line("go"));
    ASSERT_TRUE(tree->send_line("go"));
    // It is recording: the file grows while the programs run.
    EXPECT_TRUE(wait_until(Milliseconds(10000), [&] {
        std::error_code error;
        return std::filesystem::file_size(recorder->path(), error) > 0;
    }));
    const auto recorded = recorder->stop(SIGKILL);
    ASSERT_TRUE(recorded) << recorded.error().what;
    EXPECT_EQ(recorded->result.status, (ExitStatus{0, SIGKILL}));
    for (const pid_t pid : pids) {
        EXPECT_TRUE(wait_until(Milliseconds(10000), [&] {
            return changed_text_bytes(pid).value_or(SIZE_MAX) == 0;
        })) << pid;
    }
    const auto fallen = semaphores_of(*matrix);
    EXPECT_FALSE(fallen.empty());
    for (const auto& [name, value] : fallen.items()) EXPECT_EQ(value, 0) << name;
    const auto thrown = throwing->read_json(harm_limit());
    ASSERT_TRUE(thrown) << thrown.error().what;
    EXPECT_EQ(thrown->at("wrong"), 0);
    const auto called = tree->read_json(harm_limit());
    ASSERT_TRUE(called) << called.error().what;
    EXPECT_GT(called->at("calls").at("fib"), 0);
    EXPECT_TRUE(run_target(*matrix, harm_limit()));
}

}  // namespace
}  // namespace tracer::test
