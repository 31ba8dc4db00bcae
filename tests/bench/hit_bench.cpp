// SPDX-License-Identifier: Apache-2.0
//
// What one USDT hit costs the traced thread and the recorder. The target is a forked child of this
// program (same file, same site); it runs its loop when told to and reports its own CPU time, so
// that no variant pays for another's start-up.
#include "bare_recorder.h"
#include "bench_support.h"
#include "recorders.h"
#include "symbol/elf_file.h"
#include "symbol/usdt_notes.h"
#include "tracer/base/unique_fd.h"
#include "tracer/usdt.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <fcntl.h>
#include <sched.h>
#include <sys/wait.h>
#include <thread>
#include <time.h>
#include <unistd.h>

#include <fmt/format.h>

TRACER_SEMAPHORE(bench, site)

namespace tracer::bench {
namespace {

constexpr int kHits = 200'000;
constexpr int kWarmUpHits = 5'000;
// The drain's timer and a flush.
constexpr std::chrono::milliseconds kSettle{700};

double thread_cpu_ns() {
    timespec now{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return static_cast<double>(now.tv_sec) * 1e9 + static_cast<double>(now.tv_nsec);
}

__attribute__((noinline)) void hit(int32_t first, uint32_t second) {
    TRACER_PROBE_WITH_SEMAPHORE(bench, site, first, second);
}

double ns_per_hit(int hits) {
    const double start = thread_cpu_ns();
    for (int i = 0; i < hits; ++i) hit(i, static_cast<uint32_t>(i) * 3);
    return (thread_cpu_ns() - start) / hits;
}

// The child: 'r' runs the loop on `threads` threads and answers with the mean ns a hit; 's' answers
// with the semaphore's value.
class Target {
public:
    explicit Target(unsigned threads) {
        std::array<int, 2> to{};
        std::array<int, 2> from{};
        if (pipe(to.data()) != 0 || pipe(from.data()) != 0) return;
        std::fflush(nullptr);
        pid_ = fork();
        if (pid_ == 0) {
            close(to[1]);
            close(from[0]);
            serve(to[0], from[1], threads);
            _exit(0);
        }
        close(to[0]);
        close(from[1]);
        to_ = to[1];
        from_ = from[0];
    }
    ~Target() {
        close(to_);
        close(from_);
        waitpid(pid_, nullptr, 0);
    }
    Target(const Target&) = delete;
    Target& operator=(const Target&) = delete;

    [[nodiscard]] pid_t pid() const { return pid_; }
    [[nodiscard]] double run() const { return ask('r'); }
    [[nodiscard]] bool is_probed() const { return ask('s') > 0; }
    [[nodiscard]] bool wait_probed(bool probed) const {
        return wait_until(20, [&] { return is_probed() == probed; });
    }

private:
    static void serve(int in, int out, unsigned threads) {
        char command = 0;
        while (read(in, &command, 1) == 1) {
            double answer = bench_site_semaphore;
            if (command == 'r') {
                std::vector<double> means(threads);
                std::vector<std::thread> others;
                for (unsigned i = 0; i < threads; ++i) {
                    others.emplace_back([&means, i] {
                        static_cast<void>(ns_per_hit(kWarmUpHits));
                        means[i] = ns_per_hit(kHits);
                    });
                }
                for (std::thread& thread : others) thread.join();
                answer = 0;
                for (const double mean : means) answer += mean / threads;
            }
            if (write(out, &answer, sizeof(answer)) != sizeof(answer)) return;
        }
    }
    [[nodiscard]] double ask(char command) const {
        double answer = 0;
        if (write(to_, &command, 1) != 1) return 0;
        if (read(from_, &answer, sizeof(answer)) != sizeof(answer)) return 0;
        return answer;
    }

    pid_t pid_ = -1;
    int to_ = -1;
    int from_ = -1;
};

struct Site {
    uint64_t file_offset = 0;
    uint64_t semaphore_offset = 0;
};

Site find_site() {
    const auto file = ElfFile::open("/proc/self/exe");
    if (!file) return {};
    const auto notes = read_usdt_notes(*file);
    if (!notes) return {};
    for (const UsdtNote& note : notes->notes) {
        if (note.provider == "bench" && note.name == "site") {
            return {note.location_offset, note.semaphore_offset};
        }
    }
    return {};
}

// CPU of writing the same bytes to the same folder with nothing before them: the floor of any
// recorder to a file.
double write_ns_per_event(uint64_t bytes, double events) {
    const ScratchFolder folder;
    const UniqueFd file(open(folder.path("floor").c_str(), O_WRONLY | O_CREAT, 0600));
    const std::vector<char> buffer(1 << 20, 'x');
    const double start = thread_cpu_ns();
    for (uint64_t done = 0; done < bytes; done += buffer.size()) {
        const auto part = std::min<uint64_t>(buffer.size(), bytes - done);
        if (write(file.get(), buffer.data(), part) < 0) return 0;
    }
    return (thread_cpu_ns() - start) / events;
}

struct Recorder {
    double cpu_ns_per_event = 0;
    double bytes_per_event = 0;
    uint64_t lost = 0;
};

// One run of the loop under `tracer`; the recorder's CPU is what it used between armed and drained.
double run_under_tracer(const Target& target, unsigned threads, Recorder& recorder) {
    const ScratchFolder folder;
    TracerRecording tracer(
        {"--pid", std::to_string(target.pid()), "-e", "usdt:bench:site", "--no-sched"}, folder);
    if (!tracer.wait_ready(20) || !target.wait_probed(true)) {
        fmt::print("tracer did not start: {}\n", tracer.diagnosis());
        return 0;
    }
    const double before = tracer.cpu_ns();
    const double ns = target.run();
    std::this_thread::sleep_for(kSettle);
    const double used = tracer.cpu_ns() - before;
    tracer.stop();
    const auto events = static_cast<double>((kHits + kWarmUpHits) * threads);
    recorder.cpu_ns_per_event = used / events;
    recorder.bytes_per_event = static_cast<double>(tracer.bytes()) / events;
    recorder.lost = tracer.lost();
    static_cast<void>(target.wait_probed(false));
    return ns;
}

// All that a run of the benchmark gathers.
struct HitSamples {
    Samples app;
    Samples loader;
    Samples bytes;
    uint64_t lost = 0;
    std::vector<double> ratios;  // recorder's CPU, tracer / bare recorder, a round each
};

// The same under the least that records; its CPU per event, 0 when it did not attach.
double run_under_bare(const Target& target, HitSamples& samples) {
    const Site site = find_site();
    const ScratchFolder folder;
    const auto bare =
        BareRecorder::on_site(fmt::format("/proc/{}/exe", target.pid()), site.file_offset,
                              site.semaphore_offset, target.pid(), folder.path("bare"));
    if (bare == nullptr || !target.wait_probed(true)) return 0;
    const double before = bare->cpu_ns();
    const double ns = target.run();
    std::this_thread::sleep_for(kSettle);
    const double used = (bare->cpu_ns() - before) / (kHits + kWarmUpHits);
    bare->stop();
    static_cast<void>(target.wait_probed(false));
    samples.app.add("bare recorder", ns);
    samples.loader.add("bare recorder", used);
    return used;
}

double run_under_peer(const Target& target, const std::vector<std::string>& command) {
    const ScratchFolder folder;
    const pid_t pid = start_program(command, folder.path("out"), folder.path("err"));
    double ns = 0;
    if (target.wait_probed(true)) {
        ns = target.run();
    } else {
        fmt::print("{} did not attach: {}\n", command[0], read_file(folder.path("err")));
    }
    stop_program(pid, 30);
    static_cast<void>(target.wait_probed(false));
    return ns;
}

void run_shell(const std::string& command) {
    const pid_t pid = start_program({"sh", "-c", command}, "", "");
    int status = 0;
    waitpid(pid, &status, 0);
}

// Ours, and what it is compared with; false: something did not attach.
bool measure_ours(const Target& target, const Target& two_threads, HitSamples& samples) {
    samples.app.add("no probe", target.run());
    {
        const Site site = find_site();
        const auto empty =
            EmptyProgram::on_site(fmt::format("/proc/{}/exe", target.pid()), site.file_offset,
                                  site.semaphore_offset, target.pid());
        if (empty == nullptr || !target.wait_probed(true)) {
            fmt::print("the empty program did not attach\n");
            return false;
        }
        samples.app.add("empty BPF program", target.run());
    }
    const double bare = run_under_bare(target, samples);
    Recorder one;
    samples.app.add("tracer", run_under_tracer(target, 1, one));
    samples.loader.add("tracer", one.cpu_ns_per_event);
    if (bare > 0) samples.ratios.push_back(one.cpu_ns_per_event / bare);
    samples.loader.add(
        "write(2) of the same bytes alone",
        write_ns_per_event(static_cast<uint64_t>(one.bytes_per_event * kHits), kHits));
    samples.bytes.add("tracer", one.bytes_per_event);
    Recorder two;
    samples.app.add("tracer, two threads at full speed", run_under_tracer(two_threads, 2, two));
    samples.loader.add("tracer, two threads at full speed", two.cpu_ns_per_event);
    samples.lost += one.lost + two.lost;
    return true;
}

void measure_peers(const Target& target, const std::string& program, HitSamples& samples) {
    if (is_installed("bpftrace")) {
        samples.app.add(
            "bpftrace count()",
            run_under_peer(target,
                           {"bpftrace", "-p", std::to_string(target.pid()), "-e",
                            fmt::format("usdt:{}:bench:site {{ @ = count(); }}", program)}));
    }
    if (is_installed("perf")) {
        samples.app.add("perf record",
                        run_under_peer(target, {"perf", "record", "-q", "-a", "-e",
                                                "sdt_bench:site", "-o", "/dev/null"}));
    }
}

void print_results(const HitSamples& samples) {
    const Samples& app = samples.app;
    const Samples& loader = samples.loader;
    app.print("traced thread, CPU per hit", "ns");
    loader.print("recorder, CPU per event", "ns");
    samples.bytes.print("file, bytes per event", "B");
    const double empty = app.added_to("no probe", "empty BPF program");
    const double added = app.added_to("no probe", "tracer");
    const double perf = app.added_to("no probe", "perf record");
    print_goal("added CPU of the traced thread, tracer / empty program", added / empty, 1.3);
    if (perf > 0) {
        print_goal("added CPU of the traced thread, tracer / perf record", added / perf, 0.5);
        fmt::print("  beyond the empty program's trap: tracer {:.0f} ns, perf {:.0f} ns\n",
                   added - empty, perf - empty);
    }
    print_goal("recorder's CPU per event, ns", loader.median_of("tracer"), 25);
    if (!samples.ratios.empty()) {
        // 25 ns stood against 15 of a bare one where both were measured first.
        print_goal("recorder's CPU per event, tracer / bare recorder", median(samples.ratios),
                   25.0 / 15.0);
    }
    fmt::print("  recorder's CPU per event, tracer / write(2) of the same bytes {:>8.2f}\n",
               loader.median_of("tracer") / loader.median_of("write(2) of the same bytes alone"));
    print_goal("bytes per event", samples.bytes.median_of("tracer"), 32.5);
    fmt::print("  hits per second, two threads: {:.0f}; lost in all runs: {}\n",
               2e9 / app.median_of("tracer, two threads at full speed"), samples.lost);
}

}  // namespace

void run_hit_bench(int rounds) {
    const Target target(1);
    const Target two_threads(2);
    char path[4096]{};
    if (readlink("/proc/self/exe", path, sizeof(path) - 1) < 0) return;
    if (is_installed("perf")) {
        run_shell(
            fmt::format("perf buildid-cache --add {0}; perf probe -q -d 'sdt_bench:*'; "
                        "perf probe -q sdt_bench:site",
                        path));
    }
    HitSamples samples;
    for (int round = 0; round < rounds; ++round) {
        if (!measure_ours(target, two_threads, samples)) return;
        measure_peers(target, path, samples);
    }
    if (is_installed("perf")) run_shell("perf probe -q -d 'sdt_bench:*'");
    print_results(samples);
}

}  // namespace tracer::bench
