/* SPDX-License-Identifier: MIT */
/* Loads values of up to 8 bytes, for the files that implement value.h. */
#pragma once

#include "base/few.h"
#include "rec/value.h"

/* Quiet NaNs whose payload no computation makes. */
#define SP__NULL_F64 0x7FF800004E554C4Cu
#define SP__NULL_F32 0x7FC04E55u

/* Returns the value's bits, extended with zeros. */
static inline uint64_t sp__value_bits(const struct sp__value_type *t, const void *value)
{
	return sp__load_few(value, t->bytes);
}

static inline int64_t sp__value_signed(const struct sp__value_type *t, const void *value)
{
	unsigned unused = 64 - t->bytes * 8;

	return (int64_t)(sp__value_bits(t, value) << unused) >> unused;
}

/* Stores the lower 1, 2, 4 or 8 bytes; a copy of a constant length needs no call. */
static inline void sp__value_put(void *value, uint64_t bits, uint32_t bytes)
{
	if (bytes == 1)
		memcpy(value, &bits, 1);
	else if (bytes == 2)
		memcpy(value, &bits, 2);
	else if (bytes == 4)
		memcpy(value, &bits, 4);
	else
		memcpy(value, &bits, 8);
}

/* Returns the bits of NULL. */
static inline uint64_t sp__value_null_bits(const struct sp__value_type *t)
{
	unsigned unused = 64 - t->bytes * 8;

	if (t->kind == 'w')
		return 0;
	if (t->kind == 'f')
		return t->bytes == 8 ? SP__NULL_F64 : SP__NULL_F32;
	return t->kind == 'u' ? UINT64_MAX >> unused : UINT64_C(1) << 63 >> unused;
}

/* Returns 10^n, n <= 19. */
static inline uint64_t sp__value_power(unsigned n)
{
	static const uint64_t power[] = { UINT64_C(1),
					  UINT64_C(10),
					  UINT64_C(100),
					  UINT64_C(1000),
					  UINT64_C(10000),
					  UINT64_C(100000),
					  UINT64_C(1000000),
					  UINT64_C(10000000),
					  UINT64_C(100000000),
					  UINT64_C(1000000000),
					  UINT64_C(10000000000),
					  UINT64_C(100000000000),
					  UINT64_C(1000000000000),
					  UINT64_C(10000000000000),
					  UINT64_C(100000000000000),
					  UINT64_C(1000000000000000),
					  UINT64_C(10000000000000000),
					  UINT64_C(100000000000000000),
					  UINT64_C(1000000000000000000),
					  UINT64_C(10000000000000000000) };

	return power[n];
}
