/* SPDX-License-Identifier: MIT */
#include "base/err.h"
#include "join/stage.h"

#define PLEASE "please report it, and do not trust the result"

int sp__balance_same(struct sp__join *j, int side, const char *where, const struct sp__tally *in,
		     const struct sp__tally *out)
{
	if (in->records == out->records && in->sum == out->sum)
		return 0;
	return sp__errf(j->env.err, SP_EBALANCE, "join", j->io->inputs[side], -1,
			"%s; " PLEASE " (%s: %llu records in, %llu out%s)",
			sp_strerror(SP_EBALANCE), where, (unsigned long long)in->records,
			(unsigned long long)out->records,
			in->records == out->records ? ", but not the same" : "");
}

int sp__balance_bytes(struct sp__join *j, const char *where, uint64_t in, uint64_t out)
{
	if (in == out)
		return 0;
	return sp__errf(j->env.err, SP_EBALANCE, "join", NULL, -1,
			"%s; " PLEASE " (%s: %llu bytes in, %llu out)", sp_strerror(SP_EBALANCE),
			where, (unsigned long long)in, (unsigned long long)out);
}

/* At its end a scan has returned all that it read. */
static uint64_t scanned(const struct sp__source *s)
{
	return s->scan && s->ended ? sp__scan_owed(s->scan) : s->bytes;
}

static int balance_source(struct sp__join *j, int side)
{
	const struct sp__source *s = &j->source[side];
	struct sp__tally cut = { .records = s->lines, .sum = scanned(s) }, done = s->done;

	done.sum += (uint64_t)(s->end - s->at);
	return sp__balance_same(j, side, "input", &cut, &done);
}

int sp__balance_sources(struct sp__join *j)
{
	int rc = 0;

	for (int i = 0; i < 2 && !rc; i++)
		if (sp__join_scans(&j->opts, i))
			rc = balance_source(j, i);
	return rc;
}

/* Hash joins. */

static struct sp__tally ends(const struct sp__join_balance *b)
{
	struct sp__tally sum = b->kept;

	sp__tally_join(&sum, &b->looked_up);
	sp__tally_join(&sum, &b->filtered);
	sp__tally_join(&sum, &b->alone);
	sp__tally_join(&sum, &b->spilled);
	return sum;
}

static int check_role(struct sp__stage *s, int role, const struct sp__tally *came)
{
	static const char *const where[] = { "build side of a stage", "probe side of a stage" };
	struct sp__join_balance *b = &s->balance[role];
	struct sp__tally out;
	int rc = 0;

	b->spilled = (struct sp__tally){ 0 };
	for (unsigned i = 0; i < s->npartitions; i++) {
		struct sp__tally partition = sp__partition_tally(&s->partitions[i], role);

		sp__tally_join(&b->spilled, &partition);
	}
	out = ends(b);
	if (came)
		rc = sp__balance_same(s->h->j, s->side[role], "a partition", came, &b->read);
	return rc ? rc : sp__balance_same(s->h->j, s->side[role], where[role], &b->read, &out);
}

int sp__balance_probe(struct sp__stage *s, const struct sp__tally *came)
{
	return check_role(s, SP__PROBE, came);
}

/* Adds the tallies of a stage to those of the join's files. */
static void add(struct sp__stage *s, int role)
{
	struct sp__join_balance *b = &s->balance[role], *all = &s->h->balance[s->side[role]];

	sp__tally_join(s->depth ? &all->unspilled : &all->read, &b->read);
	sp__tally_join(&all->kept, &b->kept);
	sp__tally_join(&all->looked_up, &b->looked_up);
	sp__tally_join(&all->filtered, &b->filtered);
	sp__tally_join(&all->spilled, &b->spilled);
}

/* After the first stage: checks the bytes of the sources' records, without tags. */
static void end_records(struct sp__stage *s, int role)
{
	int side = s->side[role];
	uint64_t records = s->balance[role].read.records;
	struct sp__tally done = { .records = records,
				  .sum = s->bytes[role] - records * s->h->tag[side] };

	sp__tally_join(&s->h->j->source[side].done, &done);
}

int sp__balance_stage(struct sp__stage *s, const struct sp__tally came[2])
{
	int rc = check_role(s, SP__BUILD, came ? &came[SP__BUILD] : NULL);

	if (!rc)
		rc = check_role(s, SP__PROBE, came ? &came[SP__PROBE] : NULL);
	for (int role = 0; role < 2; role++) {
		add(s, role);
		if (!s->depth)
			end_records(s, role);
	}
	return rc;
}

int sp__balance_alone(struct sp__hash *h, int side, const struct sp__tally *came,
		      const struct sp__tally *read_back)
{
	struct sp__join_balance *b = &h->balance[side];

	sp__tally_join(&b->unspilled, came);
	sp__tally_join(&b->alone, came);
	return read_back ? sp__balance_same(h->j, side, "a partition", came, read_back) : 0;
}

int sp__balance_hash(struct sp__hash *h)
{
	int rc = 0;

	for (int i = 0; i < 2 && !rc; i++) {
		const struct sp__join_balance *b = &h->balance[i];
		struct sp__tally in = b->read, out = ends(b);

		sp__tally_join(&in, &b->unspilled);
		rc = sp__balance_same(h->j, i, "all partitions", &b->spilled, &b->unspilled);
		if (!rc)
			rc = sp__balance_same(h->j, i, "all stages", &in, &out);
	}
	return rc ? rc : sp__balance_sources(h->j);
}
