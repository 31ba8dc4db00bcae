/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A probe that is hit before and after fork(), and a leaf function that keeps data in the red zone
 * across a probe. A tracer that steps to a 5-byte nop kills the children and spoils the red zone;
 * this program counts both. --children N (50), --hits N a child (20). Prints one line:
 * {"parent_hits":..,"child_hits":..,"red_zone_hits":..,"red_zone_wrong":..,"killed":..,
 *  "wrong_checksum":..,"children":..}
 * Probes: forking:request(int number, int child), child 0 in the parent; forking:red_zone(u64);
 * forking:pair(int number) and forking:lone(int number) with each request.
 */
#include "function_kept_whole.h"
#include "raw_note.h"
#include "target.h"
#include "tracer/usdt.h"

#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/wait.h>

/* Shared with the children, which may die at any point. */
struct counts {
    atomic_ullong parent_hits;
    atomic_ullong child_hits;
    atomic_ullong red_zone_hits;
    atomic_ullong red_zone_wrong;
};

/*
 * Returns its argument, kept at -8(%rsp) while the site is hit. Assembler, because a compiler
 * decides by itself where a leaf function keeps what.
 */
uint64_t red_zone_leaf(uint64_t value);
__asm__(
    ".text\n"
    ".globl red_zone_leaf\n"
    ".type red_zone_leaf, @function\n"
    "red_zone_leaf:\n"
    "mov %rdi, -8(%rsp)\n"
    "xor %eax, %eax\n" RAW_NOTE("forking", "red_zone", "0", "8@%rdi")
    "mov -8(%rsp), %rax\n"
    "ret\n"
    ".size red_zone_leaf, .-red_zone_leaf\n");

/* One site for parent and children. */
static FUNCTION_KEPT_WHOLE void request(int number, int child) {
    TRACER_PROBE(forking, request, number, child);
}

/*
 * As newer macros leave sites: a 1-byte nop with a 5-byte nop behind it, and a 5-byte nop alone,
 * which no tracer should touch on Linux 6.18.
 */
static FUNCTION_KEPT_WHOLE void pair(int number) {
    __asm__ __volatile__(RAW_NOTE("forking", "pair", "0", "-4@%0") RAW_NOP5 : : "r"(number));
}

static FUNCTION_KEPT_WHOLE void lone(int number) {
    __asm__ __volatile__(RAW_NOTE_ON(RAW_NOP5, "forking", "lone", "0", "-4@%0") : : "r"(number));
}

static void check_red_zone(struct counts* counts, uint64_t value) {
    atomic_fetch_add(&counts->red_zone_hits, 1);
    if (red_zone_leaf(value) != value) {
        atomic_fetch_add(&counts->red_zone_wrong, 1);
    }
}

static int checksum(int child, uint64_t hits) {
    return (int)(((uint64_t)child * 7 + hits * 3) % 100);
}

static void run_child(struct counts* counts, int child, uint64_t hits) {
    uint64_t done = 0;
    for (; done < hits; done++) {
        atomic_fetch_add(&counts->child_hits, 1);
        request((int)done, child);
        pair((int)done);
        lone((int)done);
        check_red_zone(counts, (uint64_t)child << 32 | done);
    }
    _exit(checksum(child, done));
}

int main(int argc, char** argv) {
    const uint64_t children = target_option(argc, argv, "--children", 50);
    const uint64_t hits = target_option(argc, argv, "--hits", 20);
    struct counts* counts =
        mmap(NULL, sizeof(*counts), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    unsigned killed = 0;
    unsigned wrong_checksum = 0;
    if (counts == MAP_FAILED) {
        return 1;
    }
    target_ready_and_wait();
    for (int child = 1; child <= (int)children; child++) {
        atomic_fetch_add(&counts->parent_hits, 1);
        request(child, 0);
        pair(child);
        lone(child);
        check_red_zone(counts, (uint64_t)child);
        const pid_t pid = fork();
        int status = 0;
        if (pid < 0) {
            return 1;
        }
        if (pid == 0) {
            run_child(counts, child, hits);
        }
        waitpid(pid, &status, 0);
        if (WIFSIGNALED(status)) {
            killed++;
        } else if (WEXITSTATUS(status) != checksum(child, hits)) {
            wrong_checksum++;
        }
    }
    printf(
        "{\"parent_hits\":%llu,\"child_hits\":%llu,\"red_zone_hits\":%llu,"
        "\"red_zone_wrong\":%llu,\"killed\":%u,\"wrong_checksum\":%u,\"children\":%llu}\n",
        atomic_load(&counts->parent_hits), atomic_load(&counts->child_hits),
        atomic_load(&counts->red_zone_hits), atomic_load(&counts->red_zone_wrong), killed,
        wrong_checksum, (unsigned long long)children);
    target_wait_for_end();
    return 0;
}
