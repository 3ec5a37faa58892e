/* SPDX-License-Identifier: MIT */
/* Compares the tallies of one stage and of all stages (join/input/balance.h). */
#include "join/hash/stage.h"

static struct sp__tally ends(const struct sp__join_balance *b)
{
	struct sp__tally sum = b->kept;

	sp__tally_join(&sum, &b->looked_up);
	sp__tally_join(&sum, &b->filtered);
	sp__tally_join(&sum, &b->alone);
	sp__tally_join(&sum, &b->spilled);
	return sum;
}

int sp__balance_role(struct sp__stage *s, int role, const struct sp__tally *came)
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
		rc = sp__balance_same(s->h->in, s->side[role], "a partition", came, &b->read);
	return rc ? rc : sp__balance_same(s->h->in, s->side[role], where[role], &b->read, &out);
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

/* Checks the bytes of the sources' records, without tags, after the first stage. */
static void end_records(struct sp__stage *s, int role)
{
	int side = s->side[role];
	uint64_t records = s->balance[role].read.records;
	struct sp__tally done = { .records = records,
				  .sum = s->bytes[role] - records * s->h->tag[side] };

	sp__tally_join(&s->h->in->source[side].done, &done);
}

int sp__balance_stage(struct sp__stage *s, const struct sp__tally came[2])
{
	int rc = sp__balance_role(s, SP__BUILD, came ? &came[SP__BUILD] : NULL);

	if (!rc)
		rc = sp__balance_role(s, SP__PROBE, came ? &came[SP__PROBE] : NULL);
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
	return read_back ? sp__balance_same(h->in, side, "a partition", came, read_back) : 0;
}

int sp__balance_hash(struct sp__hash *h)
{
	int rc = 0;

	for (int i = 0; i < 2 && !rc; i++) {
		const struct sp__join_balance *b = &h->balance[i];
		struct sp__tally in = b->read, out = ends(b);

		sp__tally_join(&in, &b->unspilled);
		rc = sp__balance_same(h->in, i, "all partitions", &b->spilled, &b->unspilled);
		if (!rc)
			rc = sp__balance_same(h->in, i, "all stages", &in, &out);
	}
	return rc ? rc : sp__balance_sources(h->in);
}
