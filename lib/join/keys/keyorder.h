/* SPDX-License-Identifier: MIT */
/*
 * Defines the orders in which sorted files can be merged.
 *
 * An order is suitable if keys are equal in it exactly if they are equal for the hash join.  There
 * are two: by bytes; and shorter keys first, which orders whole numbers by value.  A merge that is
 * requested also has the order of the locale.
 */
#pragma once

#include <spindle/join.h>
#include "rec/collate.h"
#include "rec/fields.h"
#include "rec/key.h"

struct sp__keyorder {
	enum sp_join_sorted by;
	const unsigned char *upper; /* upper-case table of the cut; NULL: bytes unchanged */
	bool collate;		    /* by the locale; a merge as GNU join's */
};

static inline int sp__keyorder_compare(const struct sp__keyorder *o, const struct sp__slice *a,
				       const struct sp__slice *b)
{
	size_t n = a->n < b->n ? a->n : b->n;
	int longer = (a->n > b->n) - (a->n < b->n), diff = 0;

	if (o->collate && n)
		return sp__collate_compare(a->p, a->n, b->p, b->n);
	if (longer && o->by == SP_JOIN_SORTED_LENGTH)
		return longer;
	if (!o->upper)
		return sp__order_bytes(a->p, a->n, b->p, b->n);
	for (size_t i = 0; i < n && !diff; i++)
		diff = o->upper[(unsigned char)a->p[i]] - o->upper[(unsigned char)b->p[i]];
	return diff ? diff : longer;
}
