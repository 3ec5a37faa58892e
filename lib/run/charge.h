/* SPDX-License-Identifier: MIT */
/*
 * Charges the time of computation on a simulated machine.
 *
 * Its clock does not advance while the program computes.  So computation is charged with constants
 * of the device model per record, per comparison of keys, and per byte moved.  The results do not
 * depend on the host.  On a real machine these functions do nothing.
 */
#pragma once

#include "run/env.h"

struct sp__machine;

/* Charges work on records, each with a number of comparisons, and copied bytes. */
void sp__charge_machine(struct sp__machine *machine, uint64_t records, unsigned comparisons,
			uint64_t bytes);
void sp__charge_work_always(const struct sp__env *e, uint64_t records, unsigned comparisons,
			    uint64_t bytes);
static inline void sp__charge_work(const struct sp__env *e, uint64_t records, unsigned comparisons,
				   uint64_t bytes)
{
	if (__builtin_expect(e->device != NULL, 0))
		sp__charge_work_always(e, records, comparisons, bytes);
}

/* Charges values of columns, and comparisons of some with literals or with each other. */
void sp__charge_values_always(const struct sp__env *e, uint64_t values, uint64_t comparisons);
static inline void sp__charge_values(const struct sp__env *e, uint64_t values, uint64_t comparisons)
{
	if (__builtin_expect(e->device != NULL, 0))
		sp__charge_values_always(e, values, comparisons);
}

/* Charges the sorting of a run: n log2 n comparisons, divided among the threads. */
void sp__charge_sorting(const struct sp__env *e, uint64_t records);

/* Records that a merge has passed and that are not charged yet. */
struct sp__pace {
	uint64_t records, bytes;
};

/* Charges these records, log2 of the fan-in comparisons each, and resets the count. */
void sp__charge_merge(const struct sp__env *e, struct sp__pace *p, unsigned fan_in);
/* Counts one record; charges every 32 of them. */
void sp__keep_pace(const struct sp__env *e, uint64_t bytes, struct sp__pace *p, unsigned fan_in);
