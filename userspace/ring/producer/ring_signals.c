// SPDX-License-Identifier: Apache-2.0
//
// Removing the file where a signal ends the program, if the program asked for it
// (tracer_ring_options.remove_on_signals). Only signals whose action is the default get a handler:
// one that has its own belongs to the program, which may call tracer_ring_remove_file() there. The
// handler puts the default back and sends the signal again, so that the program ends as it would
// have, with the same status and core.
#include "ring/producer/ring_control.h"

#include <signal.h>

// Those whose default action ends the process.
static const int ending[] = {SIGHUP,  SIGINT,  SIGQUIT,   SIGILL,  SIGTRAP, SIGABRT, SIGBUS,
                             SIGFPE,  SIGUSR1, SIGSEGV,   SIGUSR2, SIGPIPE, SIGALRM, SIGTERM,
                             SIGXCPU, SIGXFSZ, SIGVTALRM, SIGPROF, SIGSYS};
#define ENDING_COUNT (sizeof(ending) / sizeof(ending[0]))

static void on_signal(int number) {
    tracer_ring_remove_file();
    const struct sigaction standard = {.sa_handler = SIG_DFL};
    sigaction(number, &standard, NULL);
    // Blocked until the handler returns; a fault comes again by itself.
    raise(number);
}

void tr_signals_install(void) {
    for (size_t i = 0; i < ENDING_COUNT; ++i) {
        struct sigaction current;
        if (sigaction(ending[i], NULL, &current) != 0 || current.sa_handler != SIG_DFL) continue;
        struct sigaction ours = {.sa_handler = on_signal, .sa_flags = SA_ONSTACK};
        sigemptyset(&ours.sa_mask);
        sigaction(ending[i], &ours, NULL);
    }
}

void tr_signals_remove(void) {
    for (size_t i = 0; i < ENDING_COUNT; ++i) {
        struct sigaction current;
        if (sigaction(ending[i], NULL, &current) != 0 || current.sa_handler != on_signal) continue;
        const struct sigaction standard = {.sa_handler = SIG_DFL};
        sigaction(ending[i], &standard, NULL);
    }
}
