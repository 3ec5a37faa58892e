/* SPDX-License-Identifier: MIT */
/* Compares the records that a sort has read with those in its rooms, and with the result. */
#include "sort/merge/merging.h"

struct sp__tally sp__balance_read(const struct sp__merging *merging)
{
	struct sp__forming *forming = merging->forming;
	struct sp__spilled *spilled = merging->spilled;
	struct sp__tally t = spilled->resume ? spilled->resume->read : (struct sp__tally){ 0 };

	for (unsigned i = 0; i < forming->nslots; i++)
		sp__tally_join(&t, &forming->slots[i].buf.added);
	sp__tally_join(&t, &merging->inputs.read);
	return t;
}

struct sp__tally sp__balance_dropped(const struct sp__merging *merging)
{
	struct sp__forming *forming = merging->forming;
	struct sp__spilled *spilled = merging->spilled;
	struct sp__tally t = merging->sort->balance.dropped;

	for (unsigned i = 0; i < forming->nslots; i++)
		sp__tally_join(&t, &forming->slots[i].buf.dropped);
	sp__tally_join(&t, &forming->replace.dropped);
	if (spilled->resume)
		sp__tally_join(&t, &spilled->resume->dropped);
	return t;
}

int sp__balance_formed(const struct sp__merging *merging)
{
	struct sp__forming *forming = merging->forming;
	struct sp__spilled *spilled = merging->spilled;
	uint64_t read = sp__balance_read(merging).records,
		 found = sp__balance_dropped(merging).records;

	for (size_t i = 0; i < spilled->nruns; i++)
		found += spilled->runs[i] ? spilled->runs[i]->records : 0;
	for (unsigned i = 0; i < forming->nslots; i++)
		if (forming->slots[i].state == SP__SLOT_SORTED)
			found += forming->slots[i].buf.n + forming->slots[i].buf.repeated;
	found += forming->replace.held;
	return sp__balance_compare(merging->sort, "records in runs", read, found);
}

int sp__balance_ended(const struct sp__merging *merging)
{
	struct sp__sort_shared *s = merging->sort;
	struct sp__tally read = sp__balance_read(merging), found = sp__balance_dropped(merging);
	int rc;

	sp__tally_join(&found, &s->balance.given);
	if (s->opts.top && s->balance.given.records == s->opts.top)
		return 0;
	rc = sp__balance_compare(merging->sort, "records", read.records, found.records);
	if (rc || s->opts.top)
		return rc;
	if (s->opts.count)
		rc = sp__balance_compare(merging->sort, "sum of counts", read.records,
					 s->balance.counted);
	if (!rc)
		rc = sp__balance_compare(merging->sort, "bytes", read.bytes, found.bytes);
	return rc ? rc : sp__balance_compare(merging->sort, "hash sum", read.sum, found.sum);
}
