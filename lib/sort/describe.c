/* SPDX-License-Identifier: MIT */
/*
 * Keeps the descriptors of spilled pages within bounds.
 *
 * Input of unknown length may prove longer than the plan has reserved memory to
 * describe.  Then the last keys of pages are dropped, unless reading by them was
 * requested, and one checksum covers two pages, then four, and so on.  At 4096 pages of
 * 4 KB a checksum covers 16 MB.  Rejected: larger pages, since merges and recycling need
 * pages of one size.
 */
#include "sort/state.h"

/* Descriptors beyond this share of the memory are reduced. */
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
