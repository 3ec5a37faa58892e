/* SPDX-License-Identifier: MIT */
/*
 * Joining files that seem to be sorted, until they turn out not to be.
 *
 *	detect.c     do they seem so
 *	presorted.c  merging them
 *
 * Any order will do in which keys are equal when the hash join finds them so.  Two
 * are known: that of the bytes, and shorter keys first, among which whole numbers
 * are in the order of their values.
 */
#ifndef SP__JOIN_PRESORTED_H
#define SP__JOIN_PRESORTED_H

#include <string.h>
#include "join/state.h"

struct sp__keyorder {
	enum sp_join_sorted by;
	const unsigned char *upper; /* NULL: bytes as they are */
};

static inline int sp__keyorder_compare(const struct sp__keyorder *o, const struct sp__slice *a,
				       const struct sp__slice *b)
{
	size_t n = a->n < b->n ? a->n : b->n;
	int longer = (a->n > b->n) - (a->n < b->n), diff = 0;

	if (longer && o->by == SP_JOIN_SORTED_LENGTH)
		return longer;
	if (!o->upper) {
		diff = n ? memcmp(a->p, b->p, n) : 0;
		return diff ? diff : longer;
	}
	for (size_t i = 0; i < n && !diff; i++)
		diff = o->upper[(unsigned char)a->p[i]] - o->upper[(unsigned char)b->p[i]];
	return diff ? diff : longer;
}

/* Bytes to upper case, as keys are folded. */
void sp__upper_init(unsigned char upper[256]);

/* Can keys of this kind be merged, if the files are sorted? */
bool sp__join_mergeable(const struct sp_join_opts *opts);
/* A look at the files: SP_JOIN_UNSORTED, or how both seem to be sorted. */
enum sp_join_sorted sp__join_detect(const struct sp_join_opts *opts, const char *const inputs[2]);

/*
 * Joins the sources, in which nothing has been read but their headers.  0: all is
 * done.  1: there is disorder, or one key has more records than memory takes:
 * j->merged[] are the numbers of records whose pairs with each other have been
 * written, and nothing else has.  Or an error.
 */
SP_MUST_CHECK int sp__join_presorted(struct sp__join *j);

#endif
