// SPDX-License-Identifier: Apache-2.0
//
// A small program that serves requests, to have something real to trace: three workers, an acceptor
// and four clients in one process, over a Unix socket in a temporary folder.
//   --seconds N   end after N seconds (default: at SIGINT or SIGTERM)
//   --report      print {"ready":PID} at the start and what the service counted at the end
//   --wait        with --report: wait for a line on standard input before serving
// Says nothing otherwise. Probes: see demo_service.cpp.
#include "demo_clients.h"
#include "demo_service.h"
#include "target.h"

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <string>

namespace {

constexpr unsigned kWorkers = 3;
constexpr unsigned kClients = 4;

// Waits for one of `signals`, at most `seconds` (0: for ever).
void wait_for_end(const sigset_t& signals, uint64_t seconds) {
    if (seconds == 0) {
        int signal = 0;
        sigwait(&signals, &signal);
        return;
    }
    const timespec limit{static_cast<time_t>(seconds), 0};
    while (sigtimedwait(&signals, nullptr, &limit) < 0 && errno == EINTR) {
    }
}

// Returns when everything asked is answered and counted.
bool serve(const std::string& socket_path,
           const sigset_t& signals,
           uint64_t seconds,
           tracer::demo::ServiceCounts& counts) {
    tracer::demo::Service service(socket_path, kWorkers, counts);
    if (!service.start()) {
        perror("tracer_demo_server");
        return false;
    }
    const tracer::demo::Clients clients(socket_path, kClients);
    wait_for_end(signals, seconds);
    return true;
}

void print_counts(const tracer::demo::ServiceCounts& counts) {
    printf(
        "{\"request__start\":%llu,\"request__done\":%llu,\"cache__hit\":%llu,"
        "\"cache__miss\":%llu,\"queue__depth\":%llu}\n",
        static_cast<unsigned long long>(counts.started),
        static_cast<unsigned long long>(counts.done), static_cast<unsigned long long>(counts.hits),
        static_cast<unsigned long long>(counts.misses),
        static_cast<unsigned long long>(counts.queued));
    fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
    const uint64_t seconds = target_option(argc, argv, "--seconds", 0);
    const bool report = target_flag(argc, argv, "--report");
    char folder[] = "/tmp/tracer_demo_XXXXXX";
    sigset_t signals;
    sigemptyset(&signals);
    sigaddset(&signals, SIGINT);
    sigaddset(&signals, SIGTERM);
    pthread_sigmask(SIG_BLOCK, &signals, nullptr);
    if (report && target_flag(argc, argv, "--wait")) {
        target_ready_and_wait();
    } else if (report) {
        printf("{\"ready\":%d}\n", static_cast<int>(getpid()));
        fflush(stdout);
    }
    if (mkdtemp(folder) == nullptr) return EXIT_FAILURE;
    tracer::demo::ServiceCounts counts;
    const bool served = serve(std::string(folder) + "/socket", signals, seconds, counts);
    rmdir(folder);
    if (!served) return EXIT_FAILURE;
    if (report) print_counts(counts);
    return EXIT_SUCCESS;
}
