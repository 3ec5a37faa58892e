/* SPDX-License-Identifier: MIT */
/*
 * What is kept in memory of spilled pages, kept within bounds.
 *
 * Input of unknown length may turn out longer than what the plan has left room to
 * describe.  Then the last keys of pages are dropped, unless reading by them was asked
 * for, and one checksum is made to do for two pages, for four, and so on.  With a page
 * of 4 KB in 4096 a checksum describes 16 MB.  Rejected: larger pages, since a merge
 * and the reuse of space want pages of one size.
 */
#include "sort/state.h"

/* Beyond this share of a memory that is overrun. */
#define DESCRIBED_SHARE 32
#define MOST_GROUP_SHIFT 12

static bool too_much_described(const struct sp_sort *s)
{
	uint64_t bytes = 0;

	if (s->env.budget.used_bytes <= s->env.budget.limit_bytes ||
	    s->spilled.store->group_shift == MOST_GROUP_SHIFT)
		return false;
	for (size_t i = 0; i < s->spilled.nruns; i++)
		bytes += s->spilled.runs[i] ? s->spilled.runs[i]->charged : 0;
	return bytes > s->env.budget.limit_bytes / DESCRIBED_SHARE;
}

void sp__bound_descriptors(struct sp_sort *s)
{
	bool drop = s->spilled.lastkey_fn && s->opts.readahead == SP_READ_AUTO;

	while (too_much_described(s)) {
		for (size_t i = 0; i < s->spilled.nruns; i++) {
			if (s->spilled.runs[i] && drop)
				sp__run_drop_keys(s->spilled.runs[i]);
			else if (s->spilled.runs[i])
				sp__run_coarsen(s->spilled.runs[i]);
		}
		if (drop)
			s->spilled.lastkey_fn = NULL;
		else
			s->spilled.store->group_shift++;
		drop = false;
	}
}
