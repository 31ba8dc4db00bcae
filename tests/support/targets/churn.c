/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Makes and ends processes and threads with known names. --processes N (5), --threads N (3) in
 * each. Child k is named churn_p<k>, its threads churn_t<k>_<j>; then it executes this program by
 * a link named churn_x<k>, which the kernel takes for its name, renames itself churn_r<k> and exits
 * with status 10 + k. Prints a line a task: {"pid":..,"tid":..,"names":[..],"exit_code":..}, names
 * in order, and {"end":true}.
 */
#include "target.h"

#include <errno.h>
#include <pthread.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#define THREADS_MAX 64

struct churn_thread {
    pthread_t thread;
    unsigned process;
    unsigned number;
    int tid;
};

static void rename_task(const char* format, unsigned first, unsigned second) {
    char name[16];
    snprintf(name, sizeof(name), format, first, second);
    prctl(PR_SET_NAME, name);
}

static void* run_thread(void* argument) {
    struct churn_thread* self = argument;
    self->tid = target_tid();
    rename_task("churn_t%u_%u", self->process, self->number);
    return NULL;
}

/* Prints the threads itself: nobody else learns their ids. */
static void run_threads(unsigned process, unsigned count) {
    struct churn_thread threads[THREADS_MAX];
    for (unsigned j = 0; j < count; j++) {
        threads[j] = (struct churn_thread){.process = process, .number = j};
        if (pthread_create(&threads[j].thread, NULL, run_thread, &threads[j]) != 0) {
            _exit(1);
        }
    }
    for (unsigned j = 0; j < count; j++) {
        pthread_join(threads[j].thread, NULL);
        printf(
            "{\"pid\":%d,\"tid\":%d,\"names\":[\"churn_p%u\",\"churn_t%u_%u\"],"
            "\"exit_code\":0}\n",
            (int)getpid(), threads[j].tid, process, process, j);
    }
    fflush(stdout);
}

static void run_child(const char* folder, unsigned process, unsigned threads) {
    char link[128];
    char number[16];
    rename_task("churn_p%u", process, 0);
    run_threads(process, threads);
    snprintf(link, sizeof(link), "%s/churn_x%u", folder, process);
    snprintf(number, sizeof(number), "%u", process);
    execl(link, link, "--after-exec", number, (char*)NULL);
    _exit(1);
}

/* Links of this program under the names the children execute. */
static void make_links(const char* folder, unsigned count) {
    char self[512];
    char link[128];
    const ssize_t bytes = readlink("/proc/self/exe", self, sizeof(self) - 1);
    if (bytes <= 0) {
        exit(1);
    }
    self[bytes] = '\0';
    for (unsigned k = 0; k < count; k++) {
        snprintf(link, sizeof(link), "%s/churn_x%u", folder, k);
        if (symlink(self, link) != 0) {
            exit(1);
        }
    }
}

static void remove_links(const char* folder, unsigned count) {
    char link[128];
    for (unsigned k = 0; k < count; k++) {
        snprintf(link, sizeof(link), "%s/churn_x%u", folder, k);
        unlink(link);
    }
    rmdir(folder);
}

int main(int argc, char** argv) {
    char folder[] = "/tmp/tracer_churn_XXXXXX";
    const unsigned processes = (unsigned)target_option(argc, argv, "--processes", 5);
    unsigned threads = (unsigned)target_option(argc, argv, "--threads", 3);
    if (target_flag(argc, argv, "--after-exec")) {
        const unsigned process = (unsigned)target_option(argc, argv, "--after-exec", 0);
        rename_task("churn_r%u", process, 0);
        return (int)(10 + process);
    }
    threads = threads > THREADS_MAX ? THREADS_MAX : threads;
    if (mkdtemp(folder) == NULL) {
        return 1;
    }
    make_links(folder, processes);
    target_ready_and_wait();
    for (unsigned k = 0; k < processes; k++) {
        int status = 0;
        const pid_t pid = fork();
        if (pid < 0) {
            break;
        }
        if (pid == 0) {
            run_child(folder, k, threads);
        }
        while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
        }
        printf(
            "{\"pid\":%d,\"tid\":%d,\"names\":[\"churn_p%u\",\"churn_x%u\",\"churn_r%u\"],"
            "\"exit_code\":%d}\n",
            (int)pid, (int)pid, k, k, k, WIFEXITED(status) ? WEXITSTATUS(status) : -1);
        fflush(stdout);
    }
    remove_links(folder, processes);
    printf("{\"end\":true}\n");
    target_wait_for_end();
    return 0;
}
