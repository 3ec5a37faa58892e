/* SPDX-License-Identifier: MIT */
/*
 * The bounds of a column in a directory row: its smallest and its largest value, both as stored,
 * with zero bytes behind them.  NULL does not count; both are NULL if there is no other value.  NaN
 * is larger than all numbers.
 *
 * Thread rule: one thread per entry.
 */
#pragma once

#include "columns/schema.h"

#define SP__BOUND_BYTES 8

struct sp__bounds {
	uint8_t min[SP__BOUND_BYTES], max[SP__BOUND_BYTES];
};

/* Sets the bounds of no values.  The type is one of sp__column_type_bounded(). */
void sp__bounds_begin(struct sp__bounds *b, const struct sp__value_type *type);
/* Extends the bounds by n values, one behind the other. */
void sp__bounds_add(struct sp__bounds *b, const struct sp__value_type *type, const void *values,
		    size_t n);
