/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
#ifndef TRACER_BPF_STRINGS_H
#define TRACER_BPF_STRINGS_H

/*
 * Strings into a record: NUL-ended, arrays that need no NUL, pointer and length. What does not fit
 * is cut, and its true length told. Global functions, which the verifier looks at once and not for
 * each argument of each shape.
 */
#include "readops.bpf.h"

/* How far on the end of a cut string is looked for: 64 KiB, and only strings so long pay for it. */
#define TR_COUNT_CHUNK 256
#define TR_COUNT_CHUNKS 256

/* What tr_copy_* return when nothing could be read. */
#define TR_NO_STRING (~0ULL)

static __always_inline long tr_read_string(void *to, uint32_t room, uint64_t address, bool kernel)
{
	return kernel ? bpf_probe_read_kernel_str(to, room, (void *)address) :
			bpf_probe_read_user_str(to, room, (void *)address);
}

static __always_inline long tr_read_bytes(void *to, uint32_t bytes, uint64_t address, bool kernel)
{
	return kernel ? bpf_probe_read_kernel(to, bytes, (void *)address) :
			bpf_probe_read_user(to, bytes, (void *)address);
}

/*
 * Counts from `address` to the next NUL: a slot's flags, 0 if it lies there, else the mark of a cut
 * string with its true length, which `before` bytes come to.
 */
__noinline uint32_t tr_count_on(uint64_t address, uint32_t before, uint32_t kernel)
{
	char chunk[TR_COUNT_CHUNK];
	uint64_t length = before;
	uint32_t flags = TR_STRING_CUT | TR_STRING_AT_LEAST;
	uint32_t i;

	for (i = 0; i < TR_COUNT_CHUNKS; i++) {
		long copied = tr_read_string(chunk, sizeof(chunk), address, kernel);

		if (copied <= 0)
			break;
		/* Over the last byte of a full chunk lies a NUL: the next begins with it. */
		address += copied - 1;
		length += copied - 1;
		if (copied < sizeof(chunk)) {
			flags = length == before ? 0 : TR_STRING_CUT;
			break;
		}
	}
	if (!flags)
		return 0;
	return flags | (length & TR_STRING_LENGTH_MAX) << TR_STRING_LENGTH_SHIFT;
}

static __always_inline uint64_t tr_copy_ended(char *to, uint64_t room, bool is_array,
					      uint64_t address, bool kernel)
{
	long copied = tr_read_string(to, room, address, kernel);
	uint64_t stored, flags = 0;

	if (copied <= 0)
		return TR_NO_STRING;
	stored = copied - 1;
	/* A full buffer ends in a NUL of the helper's: was it the string's own? */
	if (copied == room && !is_array) {
		flags = tr_count_on(address + stored, stored, kernel);
	} else if (copied == room) {
		if (tr_read_bytes(to + room - 1, 1, address + stored, kernel))
			return TR_NO_STRING;
		stored += to[room - 1] != 0;
	}
	return flags << 32 | stored << 16;
}

static __always_inline uint64_t tr_copy_bytes(char *to, uint64_t room, uint64_t address,
					      uint64_t length, bool kernel)
{
	uint64_t stored = length < room ? length : room;
	uint64_t flags = 0;

	if (length > TR_STRING_LENGTH_MAX)
		return TR_NO_STRING;
	barrier_var(stored);
	/* Again for the verifier, which knows `stored` no longer: "R2 unbounded memory access". */
	if (stored > room)
		return TR_NO_STRING;
	if (stored && tr_read_bytes(to, stored, address, kernel))
		return TR_NO_STRING;
	if (stored < length)
		flags = TR_STRING_CUT | length << TR_STRING_LENGTH_SHIFT;
	return flags << 32 | stored << 16;
}

/* A slot but for its offset, or TR_NO_STRING. */
static __always_inline uint64_t tr_copy_any(char *to, uint64_t room_max, struct tr_arg *arg,
					    struct tr_value *read, bool kernel)
{
	uint64_t room = arg->string_bytes_max;

	/*
	 * The loader compiled it within this bound, but the verifier must see it: without the
	 * barrier clang merges the tests, and it answers "R1 min value is outside of the allowed
	 * memory range".
	 */
	barrier_var(room);
	if (room == 0 || room > room_max)
		return TR_NO_STRING;
	switch (arg->form) {
	case TR_ARG_USER_STRING:
	case TR_ARG_KERNEL_STRING:
		return tr_copy_ended(to, room, false, read->value, kernel);
	case TR_ARG_USER_ARRAY:
	case TR_ARG_KERNEL_ARRAY:
		return tr_copy_ended(to, room, true, read->value, kernel);
	case TR_ARG_USER_BYTES:
	case TR_ARG_KERNEL_BYTES:
		return tr_copy_bytes(to, room, read->value,
				     tr_extend(read->length, arg->length_bytes, false), kernel);
	}
	return TR_NO_STRING;
}

static __always_inline bool tr_is_kernel_form(uint8_t form)
{
	return form == TR_ARG_KERNEL_STRING || form == TR_ARG_KERNEL_ARRAY ||
	       form == TR_ARG_KERNEL_BYTES;
}

/* One a size of room: a global function's memory argument has a constant size. */
#define TR_COPY_FUNCTION(bytes)                                                             \
	struct tr_text_##bytes {                                                            \
		char text[bytes];                                                           \
	};                                                                                  \
	__noinline uint64_t tr_copy_##bytes(struct tr_text_##bytes *to, struct tr_arg *arg, \
					    struct tr_value *read)                          \
	{                                                                                   \
		if (!to || !arg || !read)                                                   \
			return TR_NO_STRING;                                                \
		if (tr_is_kernel_form(arg->form))                                           \
			return tr_copy_any(to->text, bytes, arg, read, true);               \
		return tr_copy_any(to->text, bytes, arg, read, false);                      \
	}

TR_COPY_FUNCTION(256)
TR_COPY_FUNCTION(1024)
TR_COPY_FUNCTION(4096)

#undef TR_COPY_FUNCTION

/* Copies a string to its place in a record of this shape; returns its slot or TR_NO_STRING. */
static __always_inline uint64_t tr_copy_string(void *record, struct tr_arg *arg,
					       struct tr_value *read, uint32_t bytes,
					       uint32_t room)
{
	uint64_t offset = arg->string_offset;
	uint64_t slot;

	barrier_var(offset); /* as above */
	if (offset > bytes - room)
		return TR_NO_STRING;
	if (room == 256)
		slot = tr_copy_256(record + offset, arg, read);
	else if (room == 1024)
		slot = tr_copy_1024(record + offset, arg, read);
	else
		slot = tr_copy_4096(record + offset, arg, read);
	return slot == TR_NO_STRING ? slot : slot | offset;
}

#endif /* TRACER_BPF_STRINGS_H */
