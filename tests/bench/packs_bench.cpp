// SPDX-License-Identifier: Apache-2.0
//
// What packs cost the programs they are for: fixed work of each runtime (tests/bench/packs), alone,
// under `tracer` without packs, and with its pack at each level, in turn. Every workload measures
// itself, without its start, and writes the nanoseconds to a file. What [cost] of a pack says comes
// from here. The dear levels take part in the first rounds alone: there a single one says enough.
#include "bench_support.h"
#include "probe/call_sites.h"
#include "recorders.h"
#include "symbol/elf_file.h"
#include "symbol/symbol_table.h"

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <string_view>
#include <sys/wait.h>

#include <fmt/format.h>

namespace tracer::bench {
namespace {

// A third of a minute alone, and packs at their highest level may make it many times as long.
constexpr double kRunSeconds = 300;
constexpr double kPrepareSeconds = 120;
constexpr double kAttachSeconds = 20;
constexpr double kLossGoal = 1.03;
constexpr const char* kEmpty = "empty program";
constexpr double kSwitchGoalUs = 1;
constexpr int kDearRounds = 3;

std::string source(const std::string& name) {
    return std::string(TRACER_BENCH_PACKS) + "/" + name;
}

using Command = std::vector<std::string>;

// An empty program of bpftrace.
struct Floor {
    std::string name;
    std::string program;
};

struct Workload {
    std::string name;
    std::string pack;
    std::string program;  // that must be installed
    // Builds what is to be run in a folder of its own; empty: nothing to build.
    std::function<Command(const ScratchFolder&)> prepare;
    // What is run; the path of the result is added.
    std::function<Command(const ScratchFolder&)> run;
    // What the kernel alone costs on some of the default level's sites; empty: not asked.
    std::vector<Floor> floors = {};
    // An empty program of ours wherever these functions of folder/work are called or jumped to,
    // which is what the level "more" hits; and how often the work does. Empty: not asked.
    std::vector<std::string> floor_calls = {};
    double hits = 0;
};

Workload haskell(const std::string& work) {
    return {"ghc-" + work, "ghc", "ghc",
            [](const ScratchFolder& folder) {
                return Command{"ghc",
                               "-v0",
                               "-O1",
                               "-outputdir",
                               folder.path("out"),
                               "-o",
                               folder.path("work"),
                               source("ghc.hs")};
            },
            [work](const ScratchFolder& folder) {
                return Command{folder.path("work"), work};
            }};
}

Workload haskell_switching() {
    Workload workload = haskell("switch");
    workload.floor_calls = {"StgRun", "StgReturn"};
    workload.hits = 400'000;  // a begin and an end for each of 200,000 runs
    return workload;
}

Workload pgbench(const std::string& name, const std::string& action) {
    const auto script = [](const std::string& what) {
        return [what](const ScratchFolder& folder) {
            return Command{"sh", source("postgresql.sh"), what, folder.path("")};
        };
    };
    const std::string site = "usdt:/usr/lib/postgresql/15/bin/postgres:postgresql:";
    return {name,
            "postgresql",
            "setpriv",
            script("prepare"),
            script(action),
            // All that the default level hits for each statement and transaction; and the least
            // that any recorder of queries with their text must hit.
            {{"where the default level is hit",
              site + "query__start," + site + "query__done," + site + "query__execute__start," +
                  site + "transaction__start," + site + "transaction__commit {}"},
             {"one hit a statement", site + "query__start {}"}}};
}

std::vector<Workload> workloads() {
    const auto script = [](const std::string& pack, const Command& interpreter,
                           const std::string& name) {
        return Workload{pack, pack, interpreter.front(), nullptr, [=](const ScratchFolder&) {
                            Command command = interpreter;
                            command.push_back(source(name));
                            return command;
                        }};
    };
    return {
        script("python", {"python3.11", "-S", "-E"}, "python.py"),
        script("ruby", {"ruby3.1", "--disable-gems"}, "ruby.rb"),
        script("php", {"php8.2", "-n"}, "php.php"),
        script("node", {"node"}, "node.js"),
        {"jvm", "jvm", "javac",
         [](const ScratchFolder& folder) {
             return Command{"javac", "-d", folder.path(""), source("Work.java")};
         },
         [](const ScratchFolder& folder) {
             return Command{"java", "-Xmx256m", "-cp", folder.path(""), "Work"};
         }},
        {"go", "go", "go",
         [](const ScratchFolder& folder) {
             return Command{"env",
                            "GO111MODULE=off",
                            "CGO_ENABLED=0",
                            "GOCACHE=" + folder.path("cache"),
                            "go",
                            "build",
                            "-o",
                            folder.path("work"),
                            source("work.go")};
         },
         [](const ScratchFolder& folder) { return Command{folder.path("work")}; }},
        {"libc", "libc", "cc",
         [](const ScratchFolder& folder) {
             return Command{"cc", "-O2", "-o", folder.path("allocate"), source("allocate.c")};
         },
         [](const ScratchFolder& folder) { return Command{folder.path("allocate")}; }},
        haskell("gc"),
        haskell_switching(),
        pgbench("postgresql", "run"),
        pgbench("postgresql-no-fsync", "run-no-fsync"),
    };
}

// Debian's interpreters, whatever else PATH has in front of them.
std::string installed(const std::string& program) {
    return "/usr/bin/" + program;
}

std::optional<double> result_of(const std::string& path) {
    const std::string text = read_file(path);
    char* end = nullptr;
    const double nanoseconds = std::strtod(text.c_str(), &end);
    if (end == text.c_str() || nanoseconds <= 0) return std::nullopt;
    return nanoseconds;
}

// One on each place of the file that leads to one of the functions; empty: not all could be put.
std::vector<std::unique_ptr<EmptyProgram>> empty_programs(
    const std::string& path, const std::vector<std::string>& functions) {
    std::vector<std::unique_ptr<EmptyProgram>> programs;
    const auto elf = ElfFile::open(path);
    if (!elf) return {};
    const auto symbols = SymbolTable::load(*elf);
    if (!symbols) return {};
    for (const std::string& function : functions) {
        const auto address = symbols->address_of(function);
        if (!address) return {};
        for (const uint64_t offset : find_call_sites(*elf, *symbols, *address).offsets) {
            programs.push_back(EmptyProgram::on_site(path, offset, 0, 0));
            if (programs.back() == nullptr) return {};
        }
    }
    return programs;
}

bool run_to_end(const Command& command, const std::string& errors, double seconds) {
    const pid_t pid = start_program(command, "", errors);
    int status = -1;
    const bool ended = wait_until(seconds, [&] { return waitpid(pid, &status, WNOHANG) == pid; });
    if (!ended) stop_program(pid, 5);
    return ended && status == 0;
}

struct Variant {
    std::string name;
    std::optional<Command> options;  // of tracer; none: the work alone
    int rounds_max;
};

std::vector<Variant> variants(const std::string& pack) {
    const auto at = [&](const std::string& level, int rounds_max) {
        return Variant{level, Command{"--packs", pack, "--level", level}, rounds_max};
    };
    constexpr int kEach = std::numeric_limits<int>::max();
    return {{"alone", std::nullopt, kEach},
            {"no packs", Command{"--no-packs"}, kEach},
            at("default", kEach),
            at("more", kDearRounds),
            at("all", 1)};
}

class PackBench {
public:
    PackBench(const Workload& workload, int rounds) : workload_(workload), rounds_(rounds) {}

    void run() {
        if (workload_.prepare && !run_to_end(with_path(workload_.prepare(folder_)),
                                             folder_.path("prepare.err"), kPrepareSeconds)) {
            fmt::print("  {}: left out, its work was not built: {}\n", workload_.name,
                       read_file(folder_.path("prepare.err")));
            return;
        }
        for (int round = 0; round < rounds_; ++round) {
            for (const auto& variant : variants(workload_.pack)) {
                if (round < variant.rounds_max && !run_variant(variant)) return;
            }
            for (const Floor& floor : floors()) {
                if (!run_floor(floor)) return;
            }
            if (!workload_.floor_calls.empty() && round < kDearRounds && !run_empty()) return;
        }
        print();
    }

private:
    static Command with_path(Command command) {
        if (command.front().find('/') == std::string::npos) {
            command.front() = installed(command.front());
        }
        return command;
    }

    bool run_variant(const Variant& variant) {
        const std::string result = folder_.path("result");
        std::remove(result.c_str());
        Command work = with_path(workload_.run(folder_));
        work.push_back(result);
        std::string said;
        if (!variant.options) {
            if (!run_to_end(work, folder_.path("work.err"), kRunSeconds)) {
                said = read_file(folder_.path("work.err"));
            }
        } else {
            Command arguments = *variant.options;
            arguments.emplace_back("--");
            arguments.insert(arguments.end(), work.begin(), work.end());
            TracerRecording recording(std::move(arguments), folder_);
            if (!recording.finish(kRunSeconds)) said = recording.diagnosis();
            lost_ += recording.lost();
            events_[variant.name] = recording.events();
        }
        const auto nanoseconds = result_of(result);
        if (!nanoseconds) {
            fmt::print("  {}, {}: gave no result: {}\n", workload_.name, variant.name, said);
            return false;
        }
        samples_.add(variant.name, *nanoseconds / 1e6);
        return true;
    }

    bool run_empty() {
        const auto programs = empty_programs(folder_.path("work"), workload_.floor_calls);
        if (programs.empty()) {
            fmt::print("  {}: no empty program could be attached\n", workload_.name);
            return false;
        }
        return run_variant({kEmpty, std::nullopt, 0});
    }

    [[nodiscard]] std::vector<Floor> floors() const {
        return is_installed("bpftrace") ? workload_.floors : std::vector<Floor>();
    }

    bool run_floor(const Floor& floor) {
        const std::string said = folder_.path("bpftrace.out");
        // It counts time once all is attached.
        const std::string program = "interval:ms:200 { printf(\"running\\n\"); } " + floor.program;
        const pid_t pid =
            start_program({installed("bpftrace"), "-B", "line", "-e", program}, said, "");
        const bool attached = wait_until(
            kAttachSeconds, [&] { return read_file(said).find("running") != std::string::npos; });
        const bool measured = attached && run_variant({floor.name, std::nullopt, 0});
        stop_program(pid, kAttachSeconds);
        if (!attached) fmt::print("  {}: bpftrace did not start\n", workload_.name);
        return measured;
    }

    void print() const {
        samples_.print(workload_.name, "ms");
        for (const auto& variant : variants(workload_.pack)) {
            if (!variant.options) continue;
            const auto of_alone = samples_.ratios_to("alone", variant.name);
            const auto [least, most] = std::minmax_element(of_alone.begin(), of_alone.end());
            fmt::print(
                "  {:<10} {:>7.3f} of alone ({:.3f} to {:.3f}), {:>7.3f} of no packs; {} events\n",
                variant.name, median(of_alone), *least, *most,
                median(samples_.ratios_to("no packs", variant.name)), events_.at(variant.name));
        }
        print_goal("default / alone", median(samples_.ratios_to("alone", "default")), kLossGoal);
        print_goal("default / no packs", median(samples_.ratios_to("no packs", "default")),
                   kLossGoal);
        for (const Floor& floor : floors()) {
            const double ratio = median(samples_.ratios_to("alone", floor.name));
            fmt::print(
                "  {:.3f} of alone: an empty program of bpftrace, {}{}\n", ratio, floor.name,
                ratio > kLossGoal ? "; on this machine the goal is out of reach for that" : "");
        }
        if (workload_.hits != 0) print_hits();
        fmt::print("  lost: {}\n", lost_);
    }

    // Of the level that is armed there, above an empty program on the same places.
    void print_hits() const {
        constexpr double kUsPerMs = 1000;
        const double empty = samples_.added_to("alone", kEmpty) * kUsPerMs / workload_.hits;
        const double more = samples_.added_to(kEmpty, "more") * kUsPerMs / workload_.hits;
        fmt::print("  {:.2f} us a hit: {} on the same places\n", empty, kEmpty);
        print_goal("us a run that more takes above it, two hits", 2 * more, kSwitchGoalUs);
    }

    const Workload& workload_;
    int rounds_;
    ScratchFolder folder_;
    Samples samples_;
    std::map<std::string, uint64_t> events_;  // of the last round
    uint64_t lost_ = 0;
};

}  // namespace

void run_packs_bench(int rounds, std::string_view only) {
    for (const auto& workload : workloads()) {
        if (!std::string_view(workload.name).starts_with(only)) continue;
        if (!is_installed(workload.program)) {
            fmt::print("  {}: left out, {} is not installed\n", workload.name, workload.program);
            continue;
        }
        PackBench(workload, rounds).run();
    }
}

}  // namespace tracer::bench
