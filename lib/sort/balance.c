/* SPDX-License-Identifier: MIT */
#include "base/err.h"
#include "sort/state.h"

int sp__balance_lost(const struct sp_sort *s, const char *what, uint64_t want, uint64_t have)
{
	return sp__errf(s->env.err, SP_EBALANCE, "sort", NULL, -1,
			"%s (%s: %llu expected, %llu found)", sp_strerror(SP_EBALANCE), what,
			(unsigned long long)want, (unsigned long long)have);
}

static struct sp__tally records_read(const struct sp_sort *s)
{
	struct sp__tally t = { 0 };

	for (unsigned i = 0; i < s->nslots; i++)
		sp__tally_join(&t, &s->slots[i].buf.added);
	if (s->inputs)
		sp__tally_join(&t, &s->inputs->read);
	return t;
}

static struct sp__tally records_dropped(const struct sp_sort *s)
{
	struct sp__tally t = s->balance.dropped;

	for (unsigned i = 0; i < s->nslots; i++)
		sp__tally_join(&t, &s->slots[i].buf.dropped);
	sp__tally_join(&t, &s->replace.dropped);
	return t;
}

int sp__balance_merged(struct sp_sort *s, uint64_t records, const struct sp__run *run,
		       uint64_t dropped_before)
{
	uint64_t found = run->records + s->balance.dropped.records - dropped_before;

	if (found < records && s->opts.top && run->records == s->opts.top) {
		s->balance.dropped.records += records - found;
		return 0;
	}
	return found == records ? 0 : sp__balance_lost(s, "records of a merge", records, found);
}

int sp__balance_formed(const struct sp_sort *s)
{
	uint64_t read = records_read(s).records, found = records_dropped(s).records;

	for (size_t i = 0; i < s->nruns; i++)
		found += s->runs[i] ? s->runs[i]->records : 0;
	for (unsigned i = 0; i < s->nslots; i++)
		found += s->slots[i].state == SP__SLOT_SORTED ? s->slots[i].buf.n : 0;
	found += s->replace.held;
	return found == read ? 0 : sp__balance_lost(s, "records in runs", read, found);
}

int sp__balance_ended(const struct sp_sort *s)
{
	struct sp__tally read = records_read(s), found = records_dropped(s);

	sp__tally_join(&found, &s->balance.given);
	if (s->opts.top && s->balance.given.records == s->opts.top)
		return 0;
	if (read.records != found.records)
		return sp__balance_lost(s, "records", read.records, found.records);
	if (s->opts.top)
		return 0;
	if (s->opts.count && s->balance.counted != read.records)
		return sp__balance_lost(s, "sum of counts", read.records, s->balance.counted);
	if (read.bytes != found.bytes)
		return sp__balance_lost(s, "bytes", read.bytes, found.bytes);
	return read.sum == found.sum ? 0 : sp__balance_lost(s, "hash sum", read.sum, found.sum);
}
