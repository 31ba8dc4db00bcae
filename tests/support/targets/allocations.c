/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Calls every function of the allocator with sizes that nothing else asks for, and waits for a
 * mutex. Prints {"calls":[{"name":..,"size":..,"address":..}],"freed":[..],"mutex":..,"waits":N,
 * "locks":N}: calls and frees in order, addresses as numbers; locks of that mutex, those that had
 * to wait among them.
 */
#include "target.h"

#include <malloc.h>
#include <pthread.h>
#include <stdatomic.h>

#define CALLS_MAX 64
#define WAITS 3
#define SIZE_FIRST 10001

struct call {
    const char* name;
    size_t size;
    void* address;
};

static struct call calls[CALLS_MAX];
static void* freed[CALLS_MAX];
static unsigned call_count;
static unsigned freed_count;

static void note(const char* name, size_t size, void* address) {
    calls[call_count++] = (struct call){name, size, address};
}

static void release(void* address) {
    freed[freed_count++] = address;
    free(address);
}

static void allocate(void) {
    size_t size = SIZE_FIRST;
    void* blocks[8];
    for (unsigned i = 0; i < 8; i++) {
        blocks[i] = malloc(size);
        note("malloc", size++, blocks[i]);
    }
    for (unsigned i = 0; i < 4; i++) {
        blocks[i] = realloc(blocks[i], size);
        note("realloc", size++, blocks[i]);
    }
    void* zeroed = calloc(3, size);
    note("calloc", size++, zeroed);
    void* aligned = memalign(64, size);
    note("memalign", size++, aligned);
    void* result = NULL;
    if (posix_memalign(&result, 128, size) != 0) {
        exit(1);
    }
    note("posix_memalign", size++, result);
    for (unsigned i = 0; i < 8; i++) {
        release(blocks[i]);
    }
    release(zeroed);
    release(aligned);
    release(result);
}

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static atomic_int waiter;

static void* wait_for_mutex(void* unused) {
    atomic_store(&waiter, target_tid());
    pthread_mutex_lock(&mutex);
    pthread_mutex_unlock(&mutex);
    return unused;
}

/* In a futex call of the kernel's. */
static bool is_waiting(int tid) {
    char path[64];
    char line[32] = "";
    snprintf(path, sizeof(path), "/proc/self/task/%d/syscall", tid);
    FILE* file = fopen(path, "r");
    if (file == NULL) {
        return false;
    }
    (void)!fgets(line, sizeof(line), file);
    fclose(file);
    return atoi(line) == SYS_futex;
}

static void make_wait(void) {
    pthread_t thread;
    const struct timespec pause = {0, 1000000};
    atomic_store(&waiter, 0);
    pthread_mutex_lock(&mutex);
    if (pthread_create(&thread, NULL, wait_for_mutex, NULL) != 0) {
        exit(1);
    }
    /* Ten seconds at most. */
    for (unsigned i = 0; i < 10000; i++) {
        const int tid = atomic_load(&waiter);
        if (tid != 0 && is_waiting(tid)) {
            break;
        }
        nanosleep(&pause, NULL);
    }
    pthread_mutex_unlock(&mutex);
    pthread_join(thread, NULL);
}

int main(void) {
    target_ready_and_wait();
    allocate();
    for (unsigned i = 0; i < WAITS; i++) {
        make_wait();
    }
    printf("{\"calls\":[");
    for (unsigned i = 0; i < call_count; i++) {
        printf("%s{\"name\":\"%s\",\"size\":%zu,\"address\":%zu}", i == 0 ? "" : ",", calls[i].name,
               calls[i].size, (size_t)calls[i].address);
    }
    printf("],\"freed\":[");
    for (unsigned i = 0; i < freed_count; i++) {
        printf("%s%zu", i == 0 ? "" : ",", (size_t)freed[i]);
    }
    printf("],\"mutex\":%zu,\"waits\":%d,\"locks\":%d}\n", (size_t)&mutex, WAITS, 2 * WAITS);
    target_wait_for_end();
    return 0;
}
