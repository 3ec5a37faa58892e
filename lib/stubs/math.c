/* SPDX-License-Identifier: MIT */
/*
 * Defines the stubs of libm, whose first call loads it: the library is part of the C library's
 * package, so it is never missing.
 */
#include <math.h>
#include <stdlib.h>
#include "stubs/stubs.h"

#define TRIES 100

#define LIST(S)                                                                                    \
	S(double, ceil, (double x), (x))                                                           \
	S(double, cos, (double x), (x))                                                            \
	S(double, exp, (double x), (x))                                                            \
	S(double, exp2, (double x), (x))                                                           \
	S(double, expm1, (double x), (x))                                                          \
	S(double, fma, (double x, double y, double z), (x, y, z))                                  \
	S(double, floor, (double x), (x))                                                          \
	S(double, fmod, (double x, double y), (x, y))                                              \
	S(double, frexp, (double x, int *exponent), (x, exponent))                                 \
	S(double, ldexp, (double x, int exponent), (x, exponent))                                  \
	S(double, hypot, (double x, double y), (x, y))                                             \
	S(long long, llround, (double x), (x))                                                     \
	S(double, log, (double x), (x))                                                            \
	S(double, log1p, (double x), (x))                                                          \
	S(double, log2, (double x), (x))                                                           \
	S(long, lround, (double x), (x))                                                           \
	S(double, nearbyint, (double x), (x))                                                      \
	S(double, pow, (double x, double y), (x, y))                                               \
	S(double, round, (double x), (x))                                                          \
	S(double, sin, (double x), (x))                                                            \
	S(void, sincos, (double x, double *sine, double *cosine), (x, sine, cosine))               \
	S(double, trunc, (double x), (x))                                                          \
	S(double, sqrt, (double x), (x))

enum { LIST(SP__STUB_INDEX) count };
static void *functions[count];

const struct sp__stubs sp__m_stubs = {
	.soname = SP__SONAME_m,
	.packages = "libc6 (Debian) or glibc (Fedora)",
	.names = LIST(SP__STUB_NAME),
	.functions = functions,
	.n = count,
};

/* These functions cannot report an error; there is none unless the system has no memory at all. */
static __attribute__((noinline)) void *first_call(void **function)
{
	unsigned tries = TRIES;

	while (sp__library_load(SP__LIB_M, NULL))
		if (!--tries)
			abort();
	return *function;
}

static void *loaded(void **function)
{
	void *f = __atomic_load_n(function, __ATOMIC_ACQUIRE);

	return f ? f : first_call(function);
}

#define STUB(type, name, parameters, arguments)                                                    \
	type name parameters                                                                       \
	{                                                                                          \
		return ((__typeof__(name) *)loaded(&functions[index_##name]))arguments;            \
	}

LIST(STUB)

/* Every plan of a sort calls these, so they need no library.  As in IEEE 754, NaN is missing. */
double fmax(double x, double y)
{
	return x > y || isnan(y) ? x : y;
}

double fmin(double x, double y)
{
	return x < y || isnan(y) ? x : y;
}
