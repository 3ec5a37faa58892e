/* SPDX-License-Identifier: MIT */
/*
 * Joins a pair of partitions by block nested loops.
 *
 * Algorithm: loads as much of the build partition as fits into memory, reads the whole probe
 * partition against it, loads the next block, and so on.  Two kinds of partitions are joined so:
 * those that partitioning does not make smaller, because most of their records have one key; and
 * those only slightly larger than memory, for which reading the probe partition again is cheaper
 * than partitioning both.
 *
 * If the result depends on whether a probe record had a partner in any block, each probe record has
 * a bit for it.
 */
#include <stdlib.h>
#include "base/array.h"
#include "join/hash/stage.h"

struct nested {
	struct sp__hash *h;
	struct sp__stage *s;
	struct sp__runread build;
	const char *at, *end; /* rest of the build batch */
	struct sp__run *probe;
	const struct sp__tally *came;
	bool divides; /* see sp__hash_nested() */
};

static bool needs_bits(const struct sp__stage *s)
{
	const struct sp_join_opts *o = s->h->opts;

	return o->unpaired[s->side[SP__PROBE]] || (o->semi && s->side[SP__PROBE] == 0);
}

/* Loads a block of the build partition: SP_READY if there can be more, SP_END if not. */
static int fill(struct nested *n)
{
	struct sp__stage *s = n->s;
	const struct sp_recfmt *format = &n->h->format[s->side[SP__BUILD]];
	struct sp_batch batch;
	int rc = SP_READY;

	for (;;) {
		while (n->at < n->end) {
			struct sp__slice key;
			size_t bytes;
			const char *stop = sp__record_next(format, n->at, n->end, &bytes);

			rc = sp__hash_key(n->h, s->side[SP__BUILD], n->at, bytes, &key);
			if (!rc)
				rc = sp__stage_keep(s, &s->partitions[0].list, n->at, bytes, &key);
			if (rc)
				return rc > 0 ? SP_READY : rc;
			sp__charge_work(n->h->env, 1, 1, 0);
			n->at = stop;
		}
		rc = sp__runread_next(&n->build, &batch);
		if (rc != SP_READY)
			return rc;
		n->at = batch.data;
		n->end = batch.data + batch.bytes;
		sp__charge_work(n->h->env, 0, 0, batch.bytes);
	}
}

static int probe(struct nested *n, bool last)
{
	struct sp__runread r;
	struct sp__iter it = { &r, sp__runread_next };
	int rc;

	sp__runread_open(&r, n->h->spill, n->probe, &n->h->format[n->s->side[SP__PROBE]], last,
			 n->h->write_mem, n->h->layout.read_bytes);
	n->s->last_block = last;
	n->s->probed = 0;
	n->s->balance[SP__PROBE] = (struct sp__join_balance){ 0 };
	rc = sp__stage_probe(n->s, &it);
	sp__runread_close(&r);
	return rc ? rc : sp__balance_role(n->s, SP__PROBE, &n->came[SP__PROBE]);
}

static int blocks(struct nested *n)
{
	int more, rc;

	do {
		more = fill(n);
		rc = more < 0 ? more : sp__stage_make_table(n->s);
		if (!rc && n->divides && 2 * sp__table_keys(&n->h->table) > n->h->table.records)
			rc = SP_EUNSUP;
		n->divides = false;
		if (!rc)
			rc = probe(n, more == SP_END);
		if (!rc)
			rc = sp__stage_rest(n->s);
		sp__table_empty(&n->h->table);
		sp__reclist_init(&n->s->partitions[0].list);
		n->h->counts->stats.nested_blocks += rc != SP_EUNSUP;
	} while (!rc && more == SP_READY);
	/* All records read were in the tables of the blocks, which count them. */
	n->s->balance[SP__BUILD].read = n->s->balance[SP__BUILD].kept;
	return rc ? rc : sp__balance_stage(n->s, n->came);
}

int sp__hash_nested(struct sp__hash *h, struct sp__run *build, struct sp__run *probe_run,
		    int build_side, unsigned depth, const struct sp__tally came[2], bool divides)
{
	const uint64_t few[2] = { 1, 1 };
	struct nested n = { .h = h, .probe = probe_run, .came = came, .divides = divides };
	uint64_t had_bytes = 0;
	int rc = sp__stage_new(&n.s, h, depth, build_side, few, 1);

	if (rc < 0)
		return rc;
	for (unsigned b = 0; b < SP__BUCKETS; b++)
		n.s->partition_of[b] = 0;
	n.s->partitions[0].spilled = n.s->spills = false;
	if (needs_bits(n.s)) {
		had_bytes = SP__BITS_WORDS(probe_run->records + 1) * sizeof(uint64_t);
		n.s->had = calloc(1, had_bytes);
		sp__budget_charge(&h->env->budget, had_bytes);
		rc = n.s->had ? 0 : sp__join_no_memory(h->env);
	}
	sp__runread_open(&n.build, h->spill, build, &h->format[build_side], !divides, h->read_mem,
			 h->layout.read_bytes);
	if (!rc)
		rc = blocks(&n);
	sp__runread_close(&n.build);
	sp__budget_credit(&h->env->budget, had_bytes);
	sp__stage_free(n.s);
	return rc;
}
