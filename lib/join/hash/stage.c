/* SPDX-License-Identifier: MIT */
/*
 * Partitions the inputs of a stage.
 *
 * Algorithm: if the size of the build input is known, the number of partitions follows formula (1)
 * of Wang & Cherniack.  One share of the hash's range, as large as memory allows, stays in memory;
 * the rest is divided into partitions that each fit into memory.  The share in memory is itself
 * divided into a few partitions, so a wrong estimate costs one of them, not all: when no page is
 * left, the largest partition in memory is written out.  If there are not enough buffers for that
 * many partitions, nothing stays in memory, if that moves less data (plan/layout.c).  An input of
 * unknown size is divided into many equal partitions, all in memory at first.
 */
#include <stdlib.h>
#include <string.h>
#include "join/hash/stage.h"

/*
 * A task that touches the pages of the table that the build input is expected to fill, ahead of the
 * thread of the join: the first touch of fresh memory can cost as much as reading the data that
 * fills it.
 */
struct prefault {
	struct sp__task task;
	char *at;
	uint64_t bytes;
	_Atomic bool stop;
};

/* Bytes of one step: a huge page. */
#define STEP_BYTES (2u << 20)
/* Minimum bytes that justify a task. */
#define ENOUGH_BYTES (16u << 20)

static void touch(void *prefault)
{
	struct prefault *t = prefault;

	for (uint64_t at = 0; at < t->bytes && !t->stop; at += STEP_BYTES)
		sp__pages_touch(t->at + at, sp__min(t->bytes - at, STEP_BYTES));
}

/* Begins a task for the input of a stage, if it is large and there are several processors. */
static void prefault_begin(struct prefault *t, const struct sp__stage *s)
{
	const struct sp__hash *h = s->h;
	struct sp__table *table = &s->h->table;

	*t = (struct prefault){ .at = table->mem };
	t->bytes = sp__min(s->resident_bytes, sp__min(table->mem_bytes, table->limit_bytes));
	t->bytes -= t->bytes % table->page_bytes;
	/* Partitions that are read back reuse the memory of earlier ones. */
	if (!s->depth && !h->env->device && t->bytes >= ENOUGH_BYTES &&
	    sp__threads(h->opts->run.parallel) > 1) {
		sp__task_start(&t->task, touch, t);
		table->touched = (uint32_t)(t->bytes / table->page_bytes);
	}
}

/* Ends the task; no thread touches memory of the table afterwards. */
static void prefault_end(struct prefault *t)
{
	t->stop = true;
	sp__task_join(&t->task);
}

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

/* Bytes of the records in memory, without their slots. */
static uint64_t resident_bytes(double share, uint64_t bytes, uint64_t records)
{
	uint64_t all = sp__join_need(bytes, records), slots = sp__table_slots_bytes(records);

	return (uint64_t)(share * (double)(all - sp__min(all, slots)));
}

int sp__stage_new(struct sp__stage **stage, struct sp__hash *h, unsigned depth, int build_side,
		  const uint64_t bytes[2], uint64_t build_records)
{
	struct sp__stage *s = calloc(1, sizeof(*s));
	struct sp__join_split split;

	if (!s)
		return sp__join_no_memory(h->env);
	/* GRACE partitions whole inputs, but joins partitions that fit in memory. */
	sp__join_split(&h->layout, depth ? SP_JOIN_HYBRID : h->opts->algorithm, bytes[SP__BUILD],
		       build_records, bytes[SP__PROBE], &split);
	if (!depth && split.spilled)
		sp__ordered_spill(h);
	s->h = h;
	s->depth = depth;
	s->side[SP__BUILD] = build_side;
	s->side[SP__PROBE] = !build_side;
	s->npartitions = split.resident + split.spilled;
	s->planned = split.spilled;
	s->partitions = calloc(s->npartitions, sizeof(*s->partitions));
	if (!s->partitions) {
		free(s);
		return sp__join_no_memory(h->env);
	}
	for (unsigned i = 0; i < s->npartitions; i++) {
		sp__reclist_init(&s->partitions[i].list);
		s->partitions[i].spilled = i >= split.resident;
	}
	s->strong = h->strong;
	s->spills = split.spilled > 0;
	s->whole = h->whole && !depth && !s->spills;
	s->resident_bytes = resident_bytes(split.share, bytes[SP__BUILD], build_records);
	s->sorted = !depth && h->opts->algorithm == SP_JOIN_SHJ;
	sp__join_deal(&split, s->partition_of);
	s->last_block = true;
	if (h->bloom_used)
		memset(h->bloom.words, 0, h->layout.bloom_bytes);
	h->bloom_used = false;
	*stage = s;
	return 0;
}

void sp__stage_free(struct sp__stage *s)
{
	if (!s)
		return;
	for (unsigned i = 0; i < s->npartitions; i++) {
		struct sp__partition *p = &s->partitions[i];

		if (p->writing)
			sp__runwriter_close(&p->writer);
		sp__run_free(p->run[SP__BUILD]);
		sp__run_free(p->run[SP__PROBE]);
	}
	sp__sweep_close(&s->sweep);
	free(s->had);
	free(s->partitions);
	free(s);
}

/* Evicting partitions. */

/* Writes a list out, which has the records of one partition, or of all. */
static int write_list(struct sp__stage *s, struct sp__reclist *list)
{
	struct sp__hash *h = s->h;
	struct sp__recwalk w = { 0 };
	struct sp__rec *r;
	int rc = 0;

	while (!rc && (r = sp__table_walk(&h->table, list, &w))) {
		struct sp__slice key = sp__rec_key(r);
		uint64_t key_hash = sp__key_hash(key.p, key.n, h->key_seed);
		uint64_t hash = sp__stage_hash(s, &key, key_hash);

		sp__bloom_add(&h->bloom, hash);
		rc = sp__stage_spill(s, sp__stage_partition(s, hash), SP__BUILD, sp__rec_line(r),
				     r->bytes, key_hash);
	}
	sp__table_drop(&h->table, list);
	return rc;
}

static int give_up(struct sp__stage *s, struct sp__partition *p)
{
	p->spilled = s->spills = true;
	return write_list(s, &p->list);
}

/* Evicts all records, which were expected to fit. */
static int give_up_whole(struct sp__stage *s)
{
	s->whole = false;
	s->spills = true;
	for (unsigned i = 0; i < s->npartitions; i++)
		s->partitions[i].spilled = true;
	return write_list(s, &s->partitions[0].list);
}

/* Evicts the largest partition, or, if there is none, p, when no page is left. */
static int give_up_largest(struct sp__stage *s, struct sp__partition *p)
{
	struct sp__partition *max = p;

	if (s->whole)
		return give_up_whole(s);
	for (unsigned i = 0; i < s->npartitions; i++) {
		struct sp__partition *q = &s->partitions[i];

		if (!q->spilled && q->list.bytes > max->list.bytes)
			max = q;
	}
	return give_up(s, max);
}

/* Records. */

void sp__hash_line(const struct sp__hash *h, int side, struct sp__rec *r, struct sp__line *l)
{
	l->data = sp__rec_line(r);
	l->bytes = (sp__rec_bytes(r) & ~SP__REC_MATCHED) - h->tag[side];
	if (h->keying.plain)
		l->key = sp__rec_key(r);
	else if (h->out->emit.simple)
		sp__field_find(h->keying.cut, l->data, l->bytes, h->keying.opts->keys[side][0],
			       &l->key);
}

int sp__hash_key(struct sp__hash *h, int side, const char *line, size_t bytes,
		 struct sp__slice *key)
{
	bytes -= h->tag[side];
	return sp__key_find(&h->keying, side, line, bytes, &h->keymem, key) < 0
		       ? sp__join_no_memory(h->env)
		       : 0;
}

/* Reading the build input. */

int sp__stage_keep(struct sp__stage *s, struct sp__reclist *list, const char *line, size_t bytes,
		   const struct sp__slice *key)
{
	int rc;

	if (bytes > SP__REC_BYTES_MAX - key->n)
		return sp__errf(s->h->env->err, SP_EUNSUP, "read", NULL, -1,
				"a record is longer than 2 GiB");
	rc = sp__table_add(&s->h->table, list, line, bytes, key, !s->h->keying.plain);
	return rc < 0 ? sp__join_no_memory(s->h->env) : rc;
}

/* Keeps a record in the list of p: 0; 1: records were evicted instead; or an error. */
static int keep_or_evict(struct sp__stage *s, struct sp__partition *p, const char *line,
			 size_t bytes, const struct sp__slice *key)
{
	int rc = sp__stage_keep(s, &p->list, line, bytes, key);

	if (rc <= 0)
		return rc;
	sp__ordered_spill(s->h);
	rc = give_up_largest(s, p);
	return rc < 0 ? rc : 1;
}

static int take(struct sp__stage *s, const char *line, size_t bytes)
{
	struct sp__slice key;
	struct sp__partition *p;
	uint64_t key_hash, hash;
	int rc = sp__hash_key(s->h, s->side[SP__BUILD], line, bytes, &key);

	if (rc < 0)
		return rc;
	key_hash = sp__key_hash(key.p, key.n, s->h->key_seed);
	sp__tally_count(&s->balance[SP__BUILD].read, key_hash);
	if (s->whole) {
		rc = keep_or_evict(s, s->partitions, line, bytes, &key);
		if (rc <= 0)
			return rc;
	}
	hash = sp__stage_hash(s, &key, key_hash);
	p = sp__stage_partition(s, hash);
	while (!p->spilled) {
		rc = keep_or_evict(s, p, line, bytes, &key);
		if (rc <= 0)
			return rc;
	}
	sp__bloom_add(&s->h->bloom, hash);
	return sp__stage_spill(s, p, SP__BUILD, line, bytes, key_hash);
}

/*
 * Releases memory for the sort now, if the result will be sorted.  Records larger than a page are
 * not found in order, so with them the result must be sorted.
 */
static int leave_memory(struct sp__stage *s)
{
	struct sp__hash *h = s->h;
	int rc = 0;

	if (h->table.ngiants)
		sp__ordered_spill(h);
	while (!rc && h->sorting && h->table.records && sp__table_over(&h->table))
		rc = give_up_largest(s, &s->partitions[0]);
	return rc;
}

static int take_all(struct sp__stage *s, struct sp__iter *input)
{
	const struct sp_recfmt *format = &s->h->format[s->side[SP__BUILD]];
	struct sp_batch batch;
	int rc;

	while ((rc = input->next(input->operator, & batch)) == SP_READY) {
		const char *at = batch.data, *end = at + batch.bytes, *stop;

		for (; at < end; at = stop) {
			size_t bytes;

			stop = sp__record_next(format, at, end, &bytes);
			rc = take(s, at, bytes);
			if (rc < 0)
				return rc;
			/*
			 * Charged per record, so that the time does not depend on batch boundaries.
			 */
			sp__charge_work(s->h->env, 1, 1, (uint64_t)(stop - at));
		}
		s->bytes[SP__BUILD] += batch.bytes;
		sp__stage_bound(s);
	}
	return rc < 0 ? rc : 0;
}

int sp__stage_build(struct sp__stage *s, struct sp__iter *input)
{
	struct prefault prefault;
	int rc;

	prefault_begin(&prefault, s);
	rc = take_all(s, input);
	prefault_end(&prefault);
	if (!rc && !s->depth)
		rc = leave_memory(s);
	return rc ? rc : sp__stage_end_writing(s);
}

int sp__stage_make_table(struct sp__stage *s)
{
	struct sp__reclist **lists = calloc(s->npartitions, sizeof(*lists));
	size_t n = 0;
	int rc;

	if (!lists)
		return sp__join_no_memory(s->h->env);
	for (unsigned i = 0; i < s->npartitions; i++)
		if (!s->partitions[i].spilled)
			lists[n++] = &s->partitions[i].list;
	rc = sp__table_make(&s->h->table, lists, n, s->h->key_seed);
	free(lists);
	sp__tally_join(&s->balance[SP__BUILD].kept, &s->h->table.made);
	return rc < 0 ? sp__join_no_memory(s->h->env) : 0;
}
