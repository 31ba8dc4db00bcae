// SPDX-License-Identifier: Apache-2.0
//
// The producer's file: made, laid out, mapped, and taken away again.
#pragma once

#include "tracer/abi/ring_layout.h"

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

// What tracer_ring_options and the environment come to.
struct tr_ring_settings {
    char directory[PATH_MAX];  // absolute; empty: by the default order
    bool is_memory;            // no name at all
    bool is_preserved;
    bool is_removed_on_signals;
    bool is_clock_counted;  // ring_clock.h
    uint32_t words_log2;
    uint32_t ring_count;
};

struct tr_ring_file {
    unsigned char* base;  // the mapping; NULL: none
    uint64_t bytes;
    int fd;  // kept for reservations, and for the lock that says that its process lives
    bool has_name;
    bool is_clock_counted;
    uint32_t ring_count;
    uint64_t ring_words;
    uint64_t data_offset;
    uint64_t names_offset;
    uint64_t names_reserved;  // bytes of the name table that have blocks
    pid_t pid;                // whose file it is
    char path[PATH_MAX];
};

// Of one process in one directory, with the blocks of everything but names and rings 1 and up.
// 0 or a negative errno, and then nothing is left behind. The state is TR_RING_INITIALISING.
int tr_ring_file_open(struct tr_ring_file* file,
                      const struct tr_ring_settings* settings,
                      pid_t parent);
// Gives a part of the file its blocks, so that writing to the mapping cannot fail (SIGBUS).
int tr_ring_file_reserve(const struct tr_ring_file* file, uint64_t offset, uint64_t bytes);
// Readers see the name and the type from here on. -ENOSPC: no room for it.
int tr_ring_file_set_event(struct tr_ring_file* file,
                           uint32_t id,
                           const char* name,
                           enum tr_ring_registered type);
void tr_ring_file_set_state(const struct tr_ring_file* file, enum tr_ring_file_state state);
// Takes the name away, if it has one and is this process's. Async-signal-safe.
void tr_ring_file_unlink(const struct tr_ring_file* file);
// Unmaps and closes; the name goes unless it is preserved.
void tr_ring_file_close(struct tr_ring_file* file, bool is_preserved);

struct tr_ring_header* tr_ring_file_header(const struct tr_ring_file* file, uint32_t ring);
struct tr_ring_trailer* tr_ring_file_trailer(const struct tr_ring_file* file);
uint64_t tr_ring_file_ring_offset(const struct tr_ring_file* file, uint32_t ring);

// A small file of /proc or /sys, as a text.
bool tr_ring_read_text(const char* path, char* text, size_t text_bytes);
// Field 22 of a /proc/.../stat file; 0: it cannot be read.
uint64_t tr_ring_start_ticks(const char* stat_path);
uint64_t tr_ring_clock_ns(int clock);
