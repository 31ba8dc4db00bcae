// SPDX-License-Identifier: Apache-2.0
#include "dwarf_arguments.h"

TR_OPAQUE void c_integers(int8_t a, uint16_t b, int32_t c, uint64_t d, bool e, enum color f)
{
	TR_USE(a);
	TR_USE(b);
	TR_USE(c);
	TR_USE(d);
	TR_USE(e);
	TR_USE(f);
}

TR_OPAQUE void c_many(int32_t a, int32_t b, int32_t c, int32_t d, int32_t e, int32_t f, int32_t g,
		      int64_t h)
{
	TR_USE(a + b + c + d + e + f);
	TR_USE(g);
	TR_USE(h);
}

TR_OPAQUE void c_floats(double x, int32_t n, float y, int64_t m)
{
	TR_USE(x);
	TR_USE(n);
	TR_USE(y);
	TR_USE(m);
}

TR_OPAQUE void c_structures(struct small s, struct pair p, struct mixed m, int32_t last)
{
	TR_USE(s.a + s.b);
	TR_USE(p.first + p.second);
	TR_USE(m.number);
	TR_USE(m.real);
	TR_USE(last);
}

TR_OPAQUE void c_memory(struct large l, int32_t n, struct crooked k, struct reals r, int32_t m)
{
	TR_USE(l.values[0] + l.values[3]);
	TR_USE(n);
	TR_USE(k.value);
	TR_USE(r.x);
	TR_USE(m);
}

// The pair does not fit into the one register that is left, the number behind it does.
TR_OPAQUE void c_no_room(int64_t a, int64_t b, int64_t c, int64_t d, int64_t e, struct pair p,
			 int64_t f)
{
	TR_USE(a + b + c + d + e);
	TR_USE(p.first + p.second);
	TR_USE(f);
}

TR_OPAQUE struct large c_returns_large(int32_t n)
{
	TR_USE(n);
	return (struct large){{n, 2, 3, 4}};
}

TR_OPAQUE void c_long_double(int32_t n, long double x, __int128 wide, int32_t m)
{
	TR_USE(n);
	TR_USE((double)x);
	TR_USE((int64_t)wide);
	TR_USE(m);
}

TR_OPAQUE void c_request(const struct request *req, const char *text, int *out)
{
	TR_USE(req->id);
	TR_USE(text);
	TR_USE(out);
}

TR_OPAQUE int c_variadic(const char *format, ...)
{
	TR_USE(format);
	return 7;
}

TR_OPAQUE double c_returns_real(void)
{
	return 2.5;
}

// With one caller that always passes 12, an optimiser may drop it.
static __attribute__((noinline)) void c_pruned(int32_t constant, int32_t kept)
{
	TR_USE(constant);
	TR_USE(kept);
}

int main(void)
{
	static struct request request = {77, 5, -9, "path", {88}, {9, "peer"}, 0};
	const struct small s = {-3, 4};
	const struct pair p = {5, -6};
	const struct mixed m = {7, 0.5};
	const struct large l = {{11, 12, 13, 14}};
	const struct crooked k = {1, 0x01020304};
	const struct reals r = {1.5, 2.5};
	volatile int32_t kept = 34;
	int out = 0;
	c_integers(-1, 2, -3, 4, true, kGreen);
	c_many(1, 2, 3, 4, 5, 6, 70, -80);
	c_floats(1.25, 21, 2.5f, -22);
	c_structures(s, p, m, 31);
	c_memory(l, 41, k, r, 42);
	c_no_room(1, 2, 3, 4, 5, p, 51);
	c_returns_large(61);
	c_long_double(71, 1.0L, -72, 73);
	c_request(&request, "text", &out);
	c_variadic("format", 1);
	c_returns_real();
	c_pruned(12, kept);
	return 0;
}
