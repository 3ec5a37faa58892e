/* SPDX-License-Identifier: MIT */
/*
 * Time that computing takes on a simulated machine.
 *
 * Its clock stands still while we compute, so computing is charged to it by constants of the
 * device model: for each record, for each comparison of keys, for each byte moved.  The
 * figures depend on nothing of the host.  On the real machine these functions do nothing.
 */
#ifndef SP__RUN_CHARGE_H
#define SP__RUN_CHARGE_H

#include "run/env.h"

/* Records are handled, each with a number of comparisons, and bytes copied. */
void sp__charge_work_always(const struct sp__env *e, uint64_t records, unsigned comparisons,
			    uint64_t bytes);
static inline void sp__charge_work(const struct sp__env *e, uint64_t records, unsigned comparisons,
				   uint64_t bytes)
{
	if (__builtin_expect(e->machine != NULL, 0))
		sp__charge_work_always(e, records, comparisons, bytes);
}

/* Sorting a run: n log2 n comparisons, shared by the threads. */
void sp__charge_sorting(const struct sp__env *e, uint64_t records);

/* Records that a merge has passed on and that are not charged yet. */
struct sp__pace {
	uint64_t records, bytes;
};

/* Charges them, log2 of the fan-in comparisons each, and counts from 0 again. */
void sp__charge_merge(const struct sp__env *e, struct sp__pace *p, unsigned fan_in);
/* Counts one record; every 32 of them are charged. */
void sp__keep_pace(const struct sp__env *e, uint64_t bytes, struct sp__pace *p, unsigned fan_in);

#endif
