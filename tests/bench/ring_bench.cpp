// SPDX-License-Identifier: Apache-2.0
//
// Runs tracer_ring_bench, with an LTTng session around it where LTTng is installed: a flight
// recorder that overwrites its oldest events, as our rings do, in as much memory as one of them.
// The session daemon is ours for the time, unless one runs already.
#include "bench_support.h"

#include <cstdlib>
#include <string>

#include <fmt/format.h>

namespace tracer::bench {
namespace {

bool run_command(const std::string& command) {
    return std::system(command.c_str()) == 0;
}

class LttngSession {
public:
    explicit LttngSession(const ScratchFolder& scratch) {
        const std::string log = scratch.path("lttng.log");
        is_own_daemon_ = !run_command("lttng list >/dev/null 2>&1");
        is_on_ =
            (!is_own_daemon_ || run_command(fmt::format(
                                    "lttng-sessiond --daemonize --no-kernel --pidfile={} >>{} 2>&1",
                                    scratch.path("pid"), log))) &&
            run_command(fmt::format("(lttng create {0} --snapshot --output={1} && "
                                    "lttng enable-channel -s {0} -u ring --overwrite "
                                    "--subbuf-size=128K --num-subbuf=4 && "
                                    "lttng enable-event -s {0} -u -c ring 'tracer_bench:*' && "
                                    "lttng start {0}) >>{2} 2>&1",
                                    kName, scratch.path("snapshot"), log));
        if (!is_on_) fmt::print("lttng-ust: left out\n{}\n", read_file(log));
        pid_path_ = scratch.path("pid");
    }
    ~LttngSession() {
        if (is_on_) run_command(fmt::format("lttng destroy {} >/dev/null 2>&1", kName));
        if (is_own_daemon_) {
            run_command(fmt::format("[ ! -s {0} ] || kill $(cat {0})", pid_path_));
        }
    }
    LttngSession(const LttngSession&) = delete;
    LttngSession& operator=(const LttngSession&) = delete;

private:
    static constexpr const char* kName = "tracer_bench";
    bool is_own_daemon_ = false;
    bool is_on_ = false;
    std::string pid_path_;
};

}  // namespace

void run_ring_bench(int rounds) {
    const std::string command = fmt::format("{} --rounds {}", TRACER_RING_BENCH, rounds);
    std::fflush(stdout);
    if (!is_installed("lttng") || !is_installed("lttng-sessiond")) {
        fmt::print("lttng-ust: not installed, left out\n");
        run_command(command);
        return;
    }
    const ScratchFolder scratch;
    const LttngSession session(scratch);
    std::fflush(stdout);
    // Waits until the session knows the program before main.
    run_command("LTTNG_UST_REGISTER_TIMEOUT=5000 " + command);
}

}  // namespace tracer::bench
