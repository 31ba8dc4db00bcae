/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Two tasks pinned to one CPU pass a byte to and fro by pipes --rounds N times (10000): each round
 * needs at least two switches. --cpu N (0); --threads: two threads of one process instead of two
 * processes; --pairs N (1): pair k runs on CPU --cpu + k. Prints a line a task,
 * {"pair":..,"pid":..,"tid":..,"rounds":..,"voluntary":..,"involuntary":..}, and {"end":true}.
 */
#include "target.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/wait.h>

#define PAIRS_MAX 16

struct player {
    unsigned pair;
    int cpu;
    uint64_t rounds;
    int from, to;
    bool serves;
};

struct pair {
    struct player players[2];
    pthread_t threads[2];
    pid_t pids[2];
};

static void pin(int cpu) {
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET((size_t)cpu, &set);
    sched_setaffinity(0, sizeof(set), &set);
}

static bool pass(int fd) {
    const char ball = 'b';
    return write(fd, &ball, 1) == 1;
}

static bool take(int fd) {
    char ball;
    return read(fd, &ball, 1) == 1;
}

/* One line in one write: both players print to the same pipe. */
static void print_player(const struct player* player, uint64_t rounds) {
    struct rusage usage;
    char line[256];
    getrusage(RUSAGE_THREAD, &usage);
    const int bytes = snprintf(line, sizeof(line),
                               "{\"pair\":%u,\"pid\":%d,\"tid\":%d,\"rounds\":%llu,"
                               "\"voluntary\":%ld,\"involuntary\":%ld}\n",
                               player->pair, (int)getpid(), target_tid(),
                               (unsigned long long)rounds, usage.ru_nvcsw, usage.ru_nivcsw);
    if (write(STDOUT_FILENO, line, (size_t)bytes) != bytes) {
        _exit(1);
    }
}

static void* play(void* argument) {
    const struct player* player = argument;
    uint64_t rounds = 0;
    pin(player->cpu);
    for (; rounds < player->rounds; rounds++) {
        const bool done = player->serves ? pass(player->to) && take(player->from)
                                         : take(player->from) && pass(player->to);
        if (!done) {
            break;
        }
    }
    print_player(player, rounds);
    return NULL;
}

static bool start(struct pair* pair, bool threads) {
    for (int p = 0; p < 2; p++) {
        if (threads) {
            if (pthread_create(&pair->threads[p], NULL, play, &pair->players[p]) != 0) {
                return false;
            }
            continue;
        }
        pair->pids[p] = fork();
        if (pair->pids[p] < 0) {
            return false;
        }
        if (pair->pids[p] == 0) {
            play(&pair->players[p]);
            _exit(0);
        }
    }
    return true;
}

static void join(struct pair* pair, bool threads) {
    for (int p = 0; p < 2; p++) {
        if (threads) {
            pthread_join(pair->threads[p], NULL);
        } else {
            while (waitpid(pair->pids[p], NULL, 0) < 0 && errno == EINTR) {
            }
        }
    }
}

int main(int argc, char** argv) {
    static struct pair pairs[PAIRS_MAX];
    const bool threads = target_flag(argc, argv, "--threads");
    uint64_t count = target_option(argc, argv, "--pairs", 1);
    count = count > PAIRS_MAX ? PAIRS_MAX : count;
    target_ready_and_wait();
    for (unsigned k = 0; k < count; k++) {
        int there[2];
        int back[2];
        if (pipe(there) != 0 || pipe(back) != 0) {
            return 1;
        }
        const struct player common = {
            .pair = k,
            .cpu = (int)(target_option(argc, argv, "--cpu", 0) + k),
            .rounds = target_option(argc, argv, "--rounds", 10000),
        };
        pairs[k].players[0] = common;
        pairs[k].players[0].serves = true;
        pairs[k].players[0].from = back[0];
        pairs[k].players[0].to = there[1];
        pairs[k].players[1] = common;
        pairs[k].players[1].from = there[0];
        pairs[k].players[1].to = back[1];
        if (!start(&pairs[k], threads)) {
            return 1;
        }
    }
    for (unsigned k = 0; k < count; k++) {
        join(&pairs[k], threads);
    }
    printf("{\"end\":true}\n");
    target_wait_for_end();
    return 0;
}
