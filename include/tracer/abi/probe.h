/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef TRACER_ABI_PROBE_H
#define TRACER_ABI_PROBE_H

#include "event.h"

/*
 * The contract from userspace to the kernel side: a probe as data. The attach cookie is the index
 * of a struct tr_probe in the map `probes`; generic handlers run its read ops.
 *
 * Each argument is at most TR_OPS_MAX steps on one 64-bit accumulator, which starts at 0: enough
 * for the widest operand of a USDT note (register, index, load), two loads through structures
 * behind it, and a string's length.
 */
#define TR_OPS_MAX 8

enum tr_op_code {
	TR_OP_END = 0,
	TR_OP_CONST = 1, /* acc = imm */
	TR_OP_REG = 2,   /* acc = register `reg` + imm */
	TR_OP_INDEX = 3, /* acc += register `reg` << shift */
	TR_OP_LOAD = 4,  /* acc = the `bytes` (1, 2, 4, 8) bytes at user address acc + imm */
	TR_OP_KLOAD = 5, /* the same of kernel memory (a tracepoint's own record only) */
	TR_OP_DATA_LOC = 6, /* acc = tracepoint record + (its u32 at imm & 0xffff): a __data_loc */
	TR_OP_ADD = 7,      /* acc += imm */
	TR_OP_LENGTH = 8,   /* acc is the string's address; acc = 0 for what computes its length */
	TR_OP_BITS = 9, /* acc = its `bytes` (1..64) bits from bit `shift` on; imm: sign-extended */
};

/* Numbers of the registers in tr_op.reg, the DWARF numbering of x86-64 and three of our own. */
enum tr_reg {
	TR_REG_RAX = 0,
	TR_REG_RDX = 1,
	TR_REG_RCX = 2,
	TR_REG_RBX = 3,
	TR_REG_RSI = 4,
	TR_REG_RDI = 5,
	TR_REG_RBP = 6,
	TR_REG_RSP = 7,
	TR_REG_R8 = 8,
	TR_REG_R9 = 9,
	TR_REG_R10 = 10,
	TR_REG_R11 = 11,
	TR_REG_R12 = 12,
	TR_REG_R13 = 13,
	TR_REG_R14 = 14,
	TR_REG_R15 = 15,
	TR_REG_RIP = 16,     /* the probed instruction's run-time address */
	TR_REG_FS_BASE = 17, /* thread-local storage */
	TR_REG_RECORD = 18,  /* a tracepoint's own record (kernel memory) */
	TR_REG_COUNT = 19,
};

struct tr_op {
	uint8_t code;  /* enum tr_op_code */
	uint8_t reg;   /* enum tr_reg */
	uint8_t bytes; /* TR_OP_LOAD, TR_OP_KLOAD; TR_OP_BITS: how many bits */
	uint8_t shift; /* TR_OP_INDEX: 0..3; TR_OP_REG: the register is shifted right (%ah: 8) */
	uint32_t reserved;
	int64_t imm;
};
TR_STATIC_ASSERT(sizeof(struct tr_op) == 16);

enum tr_arg_form {
	TR_ARG_UNSIGNED = 0,    /* the low `bytes` bytes of acc, zero-extended */
	TR_ARG_SIGNED = 1,      /* the low `bytes` bytes of acc, sign-extended */
	TR_ARG_USER_STRING = 2, /* NUL-ended string at user address acc */
	TR_ARG_KERNEL_STRING = 3, /* NUL-ended string at kernel address acc (tracepoints only) */
	TR_ARG_UNREADABLE = 4,  /* no ops: marked missing in every record */
	TR_ARG_USER_ARRAY = 5,  /* at most string_bytes_max bytes, fewer if a NUL is among them */
	TR_ARG_KERNEL_ARRAY = 6,
	TR_ARG_USER_BYTES = 7,  /* as many bytes as the ops behind TR_OP_LENGTH say */
	TR_ARG_KERNEL_BYTES = 8,
};

struct tr_arg {
	uint8_t op_count;
	uint8_t form;              /* enum tr_arg_form */
	uint8_t bytes;             /* integers: 1, 2, 4, 8 */
	uint8_t length_bytes;      /* TR_ARG_*_BYTES: of the length, unsigned: 1, 2, 4, 8 */
	uint16_t string_offset;    /* strings: where in the record; see tr_record_shape */
	uint16_t string_bytes_max; /* strings: room; of TR_ARG_*_STRING the NUL included */
	struct tr_op ops[TR_OPS_MAX];
};
TR_STATIC_ASSERT(sizeof(struct tr_arg) == 136);

/*
 * Shapes of a hit's record: X(number, name, bytes, room). BPF reserves constant sizes only. The
 * slots of the arguments follow the header; strings lie behind TR_STRINGS_OFFSET, each in room of
 * its own of at most `room` bytes that begins no later than at `bytes` - `room`: the largest one
 * last, the others before it in any order. room 0: no strings.
 */
#define TR_STRING_BYTES 256 /* room of a string when its probe does not say */
#define TR_STRING_ROOM_MAX 4096
#define TR_STRINGS_OFFSET (32 + 8 * TR_ARGS_MAX)

#define TR_RECORD_SHAPES(X)                                                \
	X(0, args0, 32, 0)                                                 \
	X(1, args2, 48, 0)                                                 \
	X(2, args4, 64, 0)                                                 \
	X(3, args12, 128, 0)                                               \
	X(4, strings1, 128 + 1 * TR_STRING_BYTES, TR_STRING_BYTES)         \
	X(5, strings2, 128 + 2 * TR_STRING_BYTES, TR_STRING_BYTES)         \
	X(6, strings4, 128 + 4 * TR_STRING_BYTES, TR_STRING_BYTES)         \
	X(7, strings12, 128 + 12 * TR_STRING_BYTES, TR_STRING_BYTES)       \
	X(8, text1k, 128 + 1024, 1024)                                     \
	X(9, text2k, 128 + 2048, 1024)                                     \
	X(10, text4k, 128 + TR_STRING_ROOM_MAX, TR_STRING_ROOM_MAX)        \
	X(11, text5k, 128 + 1024 + TR_STRING_ROOM_MAX, TR_STRING_ROOM_MAX) \
	X(12, text8k, TR_RECORD_BYTES_MAX, TR_STRING_ROOM_MAX)

enum tr_record_shape {
#define TR_SHAPE_ENUM(number, name, bytes, room) TR_SHAPE_##name = number,
	TR_RECORD_SHAPES(TR_SHAPE_ENUM)
#undef TR_SHAPE_ENUM
};

/* Bits of tr_probe.flags. With TR_PROBE_GATED the upper 24 are an index into the map `gates`. */
#define TR_PROBE_GATED 1u
#define TR_PROBE_GATE_SHIFT 8

struct tr_probe {
	uint16_t arg_count;
	uint16_t shape; /* enum tr_record_shape; strings only from TR_SHAPE_strings1 on */
	uint32_t flags; /* TR_PROBE_* */
	struct tr_arg args[TR_ARGS_MAX];
};
TR_STATIC_ASSERT(sizeof(struct tr_probe) == 1640);

#endif /* TRACER_ABI_PROBE_H */
