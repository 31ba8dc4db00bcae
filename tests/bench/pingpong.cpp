// SPDX-License-Identifier: Apache-2.0
//
// The load of the switch benchmarks: pipes between pinned processes. CPU time is the processes'
// own, from wait4, so the recorder's is not in it.
#include "pingpong.h"

#include <array>
#include <chrono>
#include <cstdio>
#include <sched.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

namespace tracer::bench {
namespace {

using Pipe = std::array<int, 2>;

void pin(int cpu) {
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(cpu, &set);
    sched_setaffinity(0, sizeof(set), &set);
}

void pass_bytes(int in, int out, int passes, bool begins) {
    char byte = 0;
    if (begins && write(out, &byte, 1) != 1) return;
    for (int i = 0; i < passes; ++i) {
        if (read(in, &byte, 1) != 1) return;
        if (write(out, &byte, 1) != 1) return;
    }
}

pid_t start_side(int cpu, const Pipe& in, const Pipe& out, int passes, bool begins) {
    std::fflush(nullptr);
    const pid_t pid = fork();
    if (pid == 0) {
        close(in[1]);
        close(out[0]);
        pin(cpu);
        pass_bytes(in[0], out[1], passes, begins);
        _exit(0);
    }
    return pid;
}

double cpu_ns(const rusage& usage) {
    const auto ns = [](const timeval& time) {
        return static_cast<double>(time.tv_sec) * 1e9 + static_cast<double>(time.tv_usec) * 1e3;
    };
    return ns(usage.ru_utime) + ns(usage.ru_stime);
}

}  // namespace

PingPongResult ping_pong(int cpu, int passes) {
    return ping_pong_on({cpu}, passes);
}

PingPongResult ping_pong_on(const std::vector<int>& cpus, int passes) {
    const auto start = std::chrono::steady_clock::now();
    std::vector<pid_t> children;
    for (const int cpu : cpus) {
        Pipe there{};
        Pipe back{};
        if (pipe(there.data()) != 0 || pipe(back.data()) != 0) return {};
        children.push_back(start_side(cpu, back, there, passes, true));
        children.push_back(start_side(cpu, there, back, passes, false));
        for (const int fd : {there[0], there[1], back[0], back[1]}) close(fd);
    }
    double used_ns = 0;
    for (const pid_t child : children) {
        rusage usage{};
        int status = 0;
        if (wait4(child, &status, 0, &usage) == child) used_ns += cpu_ns(usage);
    }
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
    const double switches = 2.0 * passes * static_cast<double>(cpus.size());
    return {used_ns / switches, switches / took.count()};
}

}  // namespace tracer::bench
