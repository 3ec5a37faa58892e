/* SPDX-License-Identifier: MIT */
/*
 * The smaller and the larger of two numbers.
 */
#ifndef SP__BASE_MINMAX_H
#define SP__BASE_MINMAX_H

#include <stdint.h>

static inline uint64_t sp__min(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static inline uint64_t sp__max(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

#endif
