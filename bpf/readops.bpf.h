/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef TRACER_BPF_READOPS_H
#define TRACER_BPF_READOPS_H

/*
 * The small machine that computes a probe's arguments: see struct tr_op. It knows registers and
 * memory, and nothing of what they mean.
 */
#include "maps.bpf.h"

#include <bpf/bpf_core_read.h>

/* One register. The verifier allows loads from the context at constant offsets only. */
static __always_inline uint64_t tr_read_register(struct pt_regs *regs, uint32_t reg)
{
	switch (reg) {
	case TR_REG_RAX: return regs->ax;
	case TR_REG_RDX: return regs->dx;
	case TR_REG_RCX: return regs->cx;
	case TR_REG_RBX: return regs->bx;
	case TR_REG_RSI: return regs->si;
	case TR_REG_RDI: return regs->di;
	case TR_REG_RBP: return regs->bp;
	case TR_REG_RSP: return regs->sp;
	case TR_REG_R8: return regs->r8;
	case TR_REG_R9: return regs->r9;
	case TR_REG_R10: return regs->r10;
	case TR_REG_R11: return regs->r11;
	case TR_REG_R12: return regs->r12;
	case TR_REG_R13: return regs->r13;
	case TR_REG_R14: return regs->r14;
	case TR_REG_R15: return regs->r15;
	case TR_REG_RIP: return regs->ip;
	case TR_REG_FS_BASE: return BPF_CORE_READ(bpf_get_current_task_btf(), thread.fsbase);
	default: return 0;
	}
}

/* Reads 1, 2, 4 or 8 bytes, zero-extended. The copy's size must be a constant for the verifier. */
static __always_inline long tr_load(uint64_t *value, uint64_t address, uint32_t bytes, bool kernel)
{
	uint64_t whole = 0;
	long error;

	if (bytes == 8)
		error = kernel ? bpf_probe_read_kernel(&whole, 8, (void *)address) :
				 bpf_probe_read_user(&whole, 8, (void *)address);
	else if (bytes == 4)
		error = kernel ? bpf_probe_read_kernel(&whole, 4, (void *)address) :
				 bpf_probe_read_user(&whole, 4, (void *)address);
	else if (bytes == 2)
		error = kernel ? bpf_probe_read_kernel(&whole, 2, (void *)address) :
				 bpf_probe_read_user(&whole, 2, (void *)address);
	else
		error = kernel ? bpf_probe_read_kernel(&whole, 1, (void *)address) :
				 bpf_probe_read_user(&whole, 1, (void *)address);
	*value = whole;
	return error;
}

struct tr_value {
	uint64_t value;
	uint64_t length;  /* TR_ARG_*_BYTES: of the string at `value`, not extended yet */
	uint64_t address; /* the one that could not be read, when it fails */
};

/*
 * Runs one argument's ops. `regs` is NULL in a tracepoint, `record` (its own record's address) 0
 * elsewhere: both are known when the program is compiled. Returns non-zero if memory could not be
 * read; out->address is then where.
 */
static __always_inline long tr_run_ops(const struct tr_arg *arg, struct pt_regs *regs,
				       uint64_t record, struct tr_value *out)
{
	bool has_length = false;
	uint64_t acc = 0;
	int i;

	for (i = 0; i < TR_OPS_MAX; i++) {
		const struct tr_op *op = &arg->ops[i];

		if (i >= arg->op_count)
			break;
		switch (op->code) {
		case TR_OP_CONST:
			acc = op->imm;
			break;
		case TR_OP_REG:
			if (regs)
				acc = (tr_read_register(regs, op->reg) >> (op->shift & 63)) +
				      op->imm;
			else
				acc = record + op->imm;
			break;
		case TR_OP_INDEX:
			if (regs)
				acc += tr_read_register(regs, op->reg) << (op->shift & 63);
			break;
		case TR_OP_LOAD:
			out->address = acc + op->imm;
			if (tr_load(&acc, out->address, op->bytes, false))
				return -1;
			break;
		case TR_OP_KLOAD:
			if (!regs && tr_load(&acc, acc + op->imm, op->bytes, true))
				return -1;
			break;
		case TR_OP_DATA_LOC:
			if (!regs) {
				if (tr_load(&acc, record + op->imm, 4, true))
					return -1;
				acc = record + (acc & 0xffff);
			}
			break;
		case TR_OP_ADD:
			acc += op->imm;
			break;
		case TR_OP_BITS:
			acc <<= (64 - op->bytes - op->shift) & 63;
			if (op->imm)
				acc = (int64_t)acc >> ((64 - op->bytes) & 63);
			else
				acc >>= (64 - op->bytes) & 63;
			break;
		case TR_OP_LENGTH:
			out->value = acc;
			has_length = true;
			acc = 0;
			break;
		}
	}
	if (has_length)
		out->length = acc;
	else
		out->value = acc;
	return 0;
}

/*
 * tr_run_ops as a global function: the verifier looks at it once instead of once for each argument
 * of each shape, without which the handlers of strings are "too large" (1,000,000 instructions).
 */
__noinline long tr_eval(struct pt_regs *ctx, struct tr_arg *arg, struct tr_value *out)
{
	if (!arg || !out)
		return -1;
	return tr_run_ops(arg, ctx, 0, out);
}

__noinline long tr_eval_record(uint64_t record, struct tr_arg *arg, struct tr_value *out)
{
	if (!arg || !out)
		return -1;
	return tr_run_ops(arg, NULL, record, out);
}

/* Extends the low bytes of a value to 64 bits. */
static __always_inline uint64_t tr_extend(uint64_t value, uint32_t bytes, bool is_signed)
{
	uint32_t shift = (64 - bytes * 8) & 63;

	value <<= shift;
	return is_signed ? (uint64_t)((int64_t)value >> shift) : value >> shift;
}

#endif /* TRACER_BPF_READOPS_H */
