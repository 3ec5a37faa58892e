/* SPDX-License-Identifier: MIT */
/*
 * Joining files that seem to be sorted, until they prove not to be.
 *
 * Any order works in which keys are equal exactly if they are equal for the hash join.
 * Two are known: that of the bytes, and shorter keys first, which orders whole numbers
 * by value.
 */
#ifndef SP__JOIN_PRESORTED_H
#define SP__JOIN_PRESORTED_H

#include "join/state.h"
#include "rec/key.h"

struct sp__keyorder {
	enum sp_join_sorted by;
	const unsigned char *upper; /* of the cut; NULL: bytes unchanged */
};

static inline int sp__keyorder_compare(const struct sp__keyorder *o, const struct sp__slice *a,
				       const struct sp__slice *b)
{
	size_t n = a->n < b->n ? a->n : b->n;
	int longer = (a->n > b->n) - (a->n < b->n), diff = 0;

	if (longer && o->by == SP_JOIN_SORTED_LENGTH)
		return longer;
	if (!o->upper)
		return sp__order_bytes(a->p, a->n, b->p, b->n);
	for (size_t i = 0; i < n && !diff; i++)
		diff = o->upper[(unsigned char)a->p[i]] - o->upper[(unsigned char)b->p[i]];
	return diff ? diff : longer;
}

/* Samples the files: SP_JOIN_UNSORTED, or how both seem to be sorted. */
enum sp_join_sorted sp__join_detect(const struct sp_join_opts *opts, const char *const inputs[2]);

/*
 * Joins the sources, of which only headers have been read.  0: complete.  1: disorder,
 * or one key has more records than fit in memory: j->merged[] are the numbers of
 * records whose pairs with each other, and nothing else, have been written.  Or an
 * error.
 */
SP_MUST_CHECK int sp__join_presorted(struct sp__join *j);

#endif
