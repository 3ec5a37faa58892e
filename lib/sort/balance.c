/* SPDX-License-Identifier: MIT */
#include "base/err.h"
#include "sort/state.h"

/* The error if the values differ. */
static int compare(const struct sp_sort *s, const char *what, uint64_t want, uint64_t have)
{
	if (want == have)
		return 0;
	return sp__errf(s->env.err, SP_EBALANCE, "sort", NULL, -1,
			"%s (%s: %llu expected, %llu found)", sp_strerror(SP_EBALANCE), what,
			(unsigned long long)want, (unsigned long long)have);
}

int sp__balance_taken(const struct sp_sort *s, uint64_t bytes)
{
	return compare(s, "bytes read", bytes, s->stats.input_bytes);
}

int sp__balance_written(const struct sp_sort *s, uint64_t bytes)
{
	return compare(s, "bytes written", s->stats.output_bytes, bytes);
}

int sp__balance_part(const struct sp_sort *s, uint64_t bytes, uint64_t given)
{
	return compare(s, "bytes of a part", bytes, given);
}

void sp__balance_join(struct sp__balance *to, const struct sp__balance *from)
{
	sp__tally_join(&to->dropped, &from->dropped);
	sp__tally_join(&to->given, &from->given);
	to->counted += from->counted;
}

struct sp__tally sp__balance_read(const struct sp_sort *s)
{
	struct sp__tally t = s->resume ? s->resume->read : (struct sp__tally){ 0 };

	for (unsigned i = 0; i < s->forming.nslots; i++)
		sp__tally_join(&t, &s->forming.slots[i].buf.added);
	sp__tally_join(&t, &s->merging.inputs.read);
	return t;
}

static struct sp__tally records_dropped(const struct sp_sort *s)
{
	struct sp__tally t = s->balance.dropped;

	for (unsigned i = 0; i < s->forming.nslots; i++)
		sp__tally_join(&t, &s->forming.slots[i].buf.dropped);
	sp__tally_join(&t, &s->forming.replace.dropped);
	if (s->resume)
		sp__tally_join(&t, &s->resume->dropped);
	return t;
}

bool sp__balance_none_dropped(const struct sp_sort *s)
{
	return !records_dropped(s).records;
}

int sp__balance_merged(struct sp_sort *s, uint64_t records, const struct sp__run *run,
		       uint64_t dropped_before)
{
	uint64_t found = run->records + s->balance.dropped.records - dropped_before;

	if (found < records && s->opts.top && run->records == s->opts.top) {
		s->balance.dropped.records += records - found;
		return 0;
	}
	return compare(s, "records of a merge", records, found);
}

int sp__balance_formed(const struct sp_sort *s)
{
	uint64_t read = sp__balance_read(s).records, found = records_dropped(s).records;

	for (size_t i = 0; i < s->spilled.nruns; i++)
		found += s->spilled.runs[i] ? s->spilled.runs[i]->records : 0;
	for (unsigned i = 0; i < s->forming.nslots; i++)
		if (s->forming.slots[i].state == SP__SLOT_SORTED)
			found += s->forming.slots[i].buf.n + s->forming.slots[i].buf.repeated;
	found += s->forming.replace.held;
	return compare(s, "records in runs", read, found);
}

int sp__balance_ended(const struct sp_sort *s)
{
	struct sp__tally read = sp__balance_read(s), found = records_dropped(s);
	int rc;

	sp__tally_join(&found, &s->balance.given);
	if (s->opts.top && s->balance.given.records == s->opts.top)
		return 0;
	rc = compare(s, "records", read.records, found.records);
	if (rc || s->opts.top)
		return rc;
	if (s->opts.count)
		rc = compare(s, "sum of counts", read.records, s->balance.counted);
	if (!rc)
		rc = compare(s, "bytes", read.bytes, found.bytes);
	return rc ? rc : compare(s, "hash sum", read.sum, found.sum);
}
