/* SPDX-License-Identifier: MIT */
/*
 * Sums of numbers that are exact and of those that are not: units of 10^-9, and a sum of f64.
 *
 * Thread rule: any thread.
 */
#pragma once

#include "base/exactsum.h"
#include "expr/amount.h"

/* True if the units could overflow soon. */
static inline bool sp__units_are_large(sp__int128 units)
{
	const sp__int128 end = (sp__int128)1 << 125;

	return units >= end || units <= -end;
}

/* Moves the whole part of units to a sum of f64, without rounding it. */
static inline void sp__units_relieve(sp__int128 *units, struct sp__exactsum *to)
{
	const sp__int128 whole = *units / SP__UNITS;

	sp__exactsum_add(to, (double)(whole >> 48) * 0x1p48);
	sp__exactsum_add(to, (double)(whole & ((INT64_C(1) << 48) - 1)));
	*units -= whole * SP__UNITS;
}

/* Returns the sum of both, divided by n > 0. */
static inline double sp__units_divide(sp__int128 units, const struct sp__exactsum *reals,
				      uint64_t n)
{
	struct sp__exactsum all = *reals;

	sp__units_relieve(&units, &all);
	sp__exactsum_add(&all, (double)units / SP__UNITS);
	return sp__exactsum_divide(&all, n);
}
