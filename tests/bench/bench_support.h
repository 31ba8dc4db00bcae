// SPDX-License-Identifier: Apache-2.0
//
// What every benchmark needs: rounds in turn, medians, processes and their CPU time.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <sys/types.h>
#include <vector>

namespace tracer::bench {

[[nodiscard]] double median(std::vector<double> values);

// Samples by the name of a variant, in the order the variants were first seen.
class Samples {
public:
    void add(const std::string& variant, double value);
    [[nodiscard]] double median_of(const std::string& variant) const;
    // Median of the differences to `base` within each round: what drifts from round to round (the
    // host, the clock) is in both and falls out.
    [[nodiscard]] double added_to(const std::string& base, const std::string& variant) const;
    // Quotients by `base` within each round, which do the same where runs last longer on a bad day.
    [[nodiscard]] std::vector<double> ratios_to(const std::string& base,
                                                const std::string& variant) const;
    // A line a variant: median, smallest, largest.
    void print(const std::string& title, const std::string& unit) const;

private:
    std::vector<std::string> order_;
    std::map<std::string, std::vector<double>> values_;
};

// A goal and what was reached, one line; nothing fails on it.
void print_goal(const std::string& what, double reached, double goal_max);

// CPU time of all threads of a process so far, in nanoseconds (/proc/PID/task/*/schedstat).
[[nodiscard]] double process_cpu_ns(pid_t pid);

// True once `condition` holds, false after the deadline. Asks every 2 ms.
[[nodiscard]] bool wait_until(double seconds, const std::function<bool()>& condition);

// Starts a program in a session of its own (its own autogroup, like another terminal); its output
// goes to the files, /dev/null when empty.
[[nodiscard]] pid_t start_program(const std::vector<std::string>& arguments,
                                  const std::string& stdout_path,
                                  const std::string& stderr_path);

// SIGINT, then waits; SIGKILL after the deadline. The wait status.
int stop_program(pid_t pid, double seconds);

[[nodiscard]] bool is_installed(const std::string& program);
[[nodiscard]] uint64_t file_bytes(const std::string& path);
[[nodiscard]] std::string read_file(const std::string& path);

// A folder that goes away with everything in it.
class ScratchFolder {
public:
    ScratchFolder();
    ~ScratchFolder();
    ScratchFolder(const ScratchFolder&) = delete;
    ScratchFolder& operator=(const ScratchFolder&) = delete;
    [[nodiscard]] std::string path(const std::string& name) const { return path_ + "/" + name; }

private:
    std::string path_;
};

// The benchmarks; each prints its table and its goals.
void run_drain_bench(int rounds);
void run_ring_bench(int rounds);
void run_hit_bench(int rounds);
void run_site_bench(int rounds);
void run_switch_bench(int rounds);
void run_saturation_bench(int runs);
void run_attach_bench(int rounds);
// `only`: the workloads whose name starts with it; empty: all.
void run_packs_bench(int rounds, std::string_view only);

}  // namespace tracer::bench
