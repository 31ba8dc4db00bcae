/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef TRACER_ABI_RING_LAYOUT_H
#define TRACER_ABI_RING_LAYOUT_H

#include "types.h"

#include <stddef.h>

/*
 * The file that a process shares with whoever reads its events: <pid>.events, mapped by both. It
 * is the file of OCaml 5.1 to 5.5 bit for bit (runtime/caml/runtime_events.h of their sources,
 * metadata version 1); what we add is in space that their readers do not look at: the low 36 bits
 * of record headers, the spare words of ring headers, and a trailer behind the name table. OCaml
 * 5.0 has no name table: its offset is 0 there.
 *
 *	metadata | ring headers | data of ring 0, 1, ... | names of user events | trailer (ours)
 *
 * All numbers are little-endian, and words have 64 bits. A reader trusts none of it.
 */

#define TR_RING_VERSION 1
#define TR_RING_COUNT_MAX 4096

struct tr_ring_metadata {
	uint64_t version; /* TR_RING_VERSION; 0: not written yet */
	uint64_t ring_count;
	uint64_t ring_header_bytes; /* sizeof(struct tr_ring_header) */
	uint64_t ring_bytes;        /* of one ring's data */
	uint64_t ring_words;        /* the same in words, a power of two */
	uint64_t headers_offset;
	uint64_t data_offset;
	uint64_t names_offset; /* 0: OCaml 5.0 */
};
TR_STATIC_ASSERT(sizeof(struct tr_ring_metadata) == 64);

/*
 * head and tail count words since the start and never wrap: the data between them is in the ring,
 * each at its count modulo ring_words. head is always at a record's first word. Only the writer
 * stores; tail last, with release order. Before it overwrites records it moves head past them.
 */
struct tr_ring_header {
	uint64_t head;
	uint64_t tail;
	/* Ours, 0 in OCaml's. */
	uint64_t events;     /* written since the start, overwritten ones too; stored before tail */
	uint64_t dropped;    /* not written: by a signal handler within a write */
	uint32_t owner_tid;  /* 0: free */
	uint32_t generation; /* how many threads have had it; 1 is the first */
	uint64_t claimed_ns; /* CLOCK_MONOTONIC */
	uint64_t reserved[4];
};
TR_STATIC_ASSERT(sizeof(struct tr_ring_header) == 80);
TR_STATIC_ASSERT(offsetof(struct tr_ring_header, events) == 16);
TR_STATIC_ASSERT(offsetof(struct tr_ring_header, owner_tid) == 32);
TR_STATIC_ASSERT(offsetof(struct tr_ring_header, reserved) == 48);

/*
 * A record: its header, the time (CLOCK_MONOTONIC in ns), and its payload. It never runs over the
 * end of a ring: a filler, which may be the header alone, covers the rest. The sequence counts the
 * events of a ring from 1, fillers not; OCaml's records have 0 there.
 */
#define TR_RING_LENGTH_SHIFT 54 /* 10 bits: words, header and time included */
#define TR_RING_LENGTH_MAX 1023
#define TR_RING_USER_BIT 53
#define TR_RING_TYPE_SHIFT 49 /* 4 bits */
#define TR_RING_TYPE_MASK 15
#define TR_RING_ID_SHIFT 36 /* 13 bits */
#define TR_RING_ID_MASK 0x1fff
#define TR_RING_SEQUENCE_MASK 0xfffffffffull

/* Types of records without the user bit. */
enum tr_ring_type {
	TR_RING_FILLER = 0, /* with id 0 */
	TR_RING_LIFECYCLE = 1,
	TR_RING_BEGIN = 2,
	TR_RING_END = 3,
	TR_RING_COUNTER = 4, /* one word */
	TR_RING_ALLOC = 5,   /* TR_RING_ALLOC_BUCKETS words */
};
#define TR_RING_ALLOC_BUCKETS 20

/* Types of records with it; the id is an index of the name table. */
enum tr_ring_user_type {
	TR_RING_USER_UNIT = 0,
	TR_RING_USER_INT = 1, /* one word */
	TR_RING_USER_BEGIN = 2,
	TR_RING_USER_END = 3,
	/* And above: n bytes in (n + 8) / 8 words; the last byte: how many before it are unused. */
	TR_RING_USER_CUSTOM = 4,
};
#define TR_RING_CUSTOM_BYTES_MAX 1024

/* Ids of lifecycle records, the same in every version. */
enum tr_ring_lifecycle {
	TR_RING_START = 0, /* payload: pid */
	TR_RING_STOP = 1,  /* no payload; records may follow */
	TR_RING_PAUSE = 2,
	TR_RING_RESUME = 3,
	TR_RING_FORK_PARENT = 4, /* child's pid */
	TR_RING_FORK_CHILD = 5,
	TR_RING_DOMAIN_SPAWN = 6, /* a ring begins to be used: OCaml's pid, our thread's id */
	TR_RING_DOMAIN_TERMINATE = 7,
};

#define TR_RING_NAMES 8192
#define TR_RING_NAME_BYTES 128 /* NUL included */

/* "TRCRRING" */
#define TR_RING_TRAILER_MAGIC 0x474e495252435254ull
#define TR_RING_TRAILER_MAJOR 1
/* 1: the types behind the trailer, and its clock */
#define TR_RING_TRAILER_MINOR 1

enum tr_ring_file_state {
	TR_RING_INITIALISING = 0,
	TR_RING_RUNNING = 1,
	TR_RING_PAUSED = 2,
	TR_RING_STOPPED = 3,
};

/* What tells the time of events; either way they are CLOCK_MONOTONIC's nanoseconds. */
enum tr_ring_clock {
	TR_RING_CLOCK_READ = 0,    /* the clock itself, for each event */
	TR_RING_CLOCK_COUNTED = 1, /* the processor's counter, set by the clock again and again */
};

/* What a user event was registered as: a byte for each id, stored after its name. */
enum tr_ring_registered {
	TR_RING_NOT_REGISTERED = 0,
	TR_RING_REGISTERED_UNIT = 1,
	TR_RING_REGISTERED_INT = 2,
	TR_RING_REGISTERED_SPAN = 3,
	TR_RING_REGISTERED_CUSTOM = 4,
};
#define TR_RING_TYPES_BYTES TR_RING_NAMES

/* At names_offset + TR_RING_NAMES * TR_RING_NAME_BYTES. Its presence says that sequences count. */
struct tr_ring_trailer {
	uint64_t magic;      /* TR_RING_TRAILER_MAGIC */
	uint16_t major;      /* another one is not for this reader */
	uint16_t minor;
	uint32_t state;      /* enum tr_ring_file_state; stored last on creation, release order */
	uint32_t bytes;      /* of this struct; the table of types is behind it */
	uint32_t pid;        /* in the producer's own pid namespace */
	uint64_t start_ticks;  /* field 22 of /proc/PID/stat */
	/* Three clocks, read together when the file was made. */
	uint64_t monotonic_ns;
	uint64_t realtime_ns;
	uint64_t boottime_ns;
	uint64_t rings_missing; /* events dropped since all rings were taken */
	uint32_t parent_pid;    /* after a fork the parent, else 0 */
	uint32_t clock;         /* enum tr_ring_clock; since minor 1 */
	char runtime[32];       /* what made the file, NUL-padded: "tracer_ring 0.1" */
	char boot_id[40];       /* /proc/sys/kernel/random/boot_id, NUL-padded */
};
TR_STATIC_ASSERT(sizeof(struct tr_ring_trailer) == 144);
TR_STATIC_ASSERT(offsetof(struct tr_ring_trailer, start_ticks) == 24);
TR_STATIC_ASSERT(offsetof(struct tr_ring_trailer, rings_missing) == 56);
TR_STATIC_ASSERT(offsetof(struct tr_ring_trailer, runtime) == 72);

#endif /* TRACER_ABI_RING_LAYOUT_H */
