/* SPDX-License-Identifier: MIT */
/*
 * Probes the table with records in groups, so that the cache misses of a group overlap.
 *
 * Algorithm: first all keys of a group are found and their slots prefetched, then the records that
 * the slots refer to; then keys are compared.
 */
#include "base/array.h"
#include "base/err.h"
#include "join/hash/stage.h"
#include "join/hash/workers.h"

#define GROUP 32

/* Minimum bytes of probe records that justify several threads. */
#define ENOUGH_BYTES (64u << 10)

struct probed {
	struct sp__line line;
	struct sp__slice key;
	size_t key_begin;
	uint64_t key_hash, hash;	 /* hash: decides the partition */
	struct sp__partition *partition; /* NULL: in memory */
};

static bool needs_field(const struct sp__hash *h)
{
	return !h->keying.plain && h->out->emit.simple;
}

static void emit_pairs(const struct sp__prober *p, const struct sp__line *l, struct sp__rec *last)
{
	const struct sp__stage *s = p->stage;
	struct sp__hash *h = s->h;
	int side = s->side[SP__BUILD];
	bool old = h->in->resumed && sp__hash_old(h, !side, l);
	struct sp__rec *r = sp__chain_first(&h->table, last);
	struct sp__line other;

	for (; r; r = sp__chain_next(&h->table, r, last)) {
		sp__hash_line(h, side, r, &other);
		if (old && sp__hash_old(h, side, &other))
			continue;
		sp__emit_sides(p->emit, side, &other, l);
	}
}

/* Block nested loops: returns true if it had a partner in an earlier block; records this match. */
static bool had_before(struct sp__stage *s, bool match)
{
	uint64_t n;
	bool had;

	if (!s->had)
		return false;
	n = s->probed++;
	had = sp__bits_has(s->had, n);
	if (match)
		sp__bits_add(s->had, n);
	return had;
}

/* Ends a probe record that has been joined; r is its last partner, or NULL. */
static inline void met(const struct sp__prober *p, const struct sp__line *l, struct sp__rec *r)
{
	struct sp__stage *s = p->stage;
	const struct sp_join_opts *o = s->h->opts;
	bool had = had_before(s, r != NULL);

	if (!r) {
		if (o->unpaired[s->side[SP__PROBE]] && s->last_block && !had)
			sp__emit_sides(p->emit, s->side[SP__PROBE], l, NULL);
		return;
	}
	if (s->h->mark)
		sp__rec_mark(r);
	if (o->semi && s->side[SP__PROBE] == 0 && !had)
		sp__emit_sides(p->emit, 0, l, NULL);
	if (o->pairs)
		emit_pairs(p, l, r);
}

/* Finds the partition of a record: NULL if it is in memory. */
static struct sp__partition *spilled_partition(struct sp__stage *s, struct probed *p)
{
	struct sp__partition *partition;

	p->hash = sp__stage_hash(s, &p->key, p->key_hash);
	partition = sp__stage_partition(s, p->hash);
	return partition->spilled ? partition : NULL;
}

/* Finds keys, hashes and slots of a group. */
static int look(const struct sp__prober *by, struct probed *group, size_t n)
{
	struct sp__stage *s = by->stage;
	const struct sp__hash *h = s->h;
	struct sp__keymem *keymem = by->keymem;
	int side = s->side[SP__PROBE];

	keymem->bytes = 0;
	for (size_t i = 0; i < n; i++) {
		struct probed *p = &group[i];

		if (h->keying.plain || needs_field(h))
			sp__field_find(h->keying.cut, p->line.data, p->line.bytes,
				       h->keying.opts->keys[side][0], &p->line.key);
		p->key = p->line.key;
		if (!h->keying.plain && sp__key_make(&h->keying, side, p->line.data, p->line.bytes,
						     keymem, &p->key_begin) < 0)
			return sp__err(by->err, -ENOMEM, "allocate", NULL, -1);
		p->key.n = h->keying.plain ? p->key.n : keymem->bytes - p->key_begin;
	}
	for (size_t i = 0; i < n; i++) {
		struct probed *p = &group[i];

		if (!h->keying.plain)
			p->key.p = p->key.n ? keymem->data + p->key_begin : sp__no_field;
		p->key_hash = sp__key_hash(p->key.p, p->key.n, h->key_seed);
		sp__tally_count(&by->balance->read, p->key_hash);
		p->partition = s->spills ? spilled_partition(s, p) : NULL;
		if (!p->partition)
			__builtin_prefetch(sp__table_slot(&h->table, p->key_hash));
		else if (h->bloom.words)
			__builtin_prefetch(sp__bloom_word(&h->bloom, p->hash));
	}
	return 0;
}

static void fetch(struct sp__stage *s, const struct probed *group, size_t n)
{
	const struct sp__table *t = &s->h->table;

	for (size_t i = 0; i < n; i++) {
		const struct sp__rec *r;

		if (group[i].partition)
			continue;
		r = sp__table_likely(t, group[i].key_hash);
		if (r) {
			__builtin_prefetch(r);
			__builtin_prefetch((const char *)r + 64);
		}
	}
}

/* Defers a probe record whose partition is not in memory. */
static int defer(const struct sp__prober *by, const struct probed *p)
{
	struct sp__stage *s = by->stage;
	const struct sp__hash *h = s->h;
	const struct sp__deferred record = { p->line.data,
					     p->line.bytes + h->tag[s->side[SP__PROBE]],
					     p->partition, p->key_hash };

	if (p->partition->run[SP__BUILD] && sp__bloom_has(&h->bloom, p->hash))
		return by->worker ? sp__worker_defer(by->worker, &record)
				  : sp__stage_spill_deferred(s, &record);
	sp__tally_count(&by->balance->filtered, p->key_hash);
	met(by, &p->line, NULL);
	return 0;
}

static int resolve(const struct sp__prober *by, const struct probed *group, size_t n)
{
	struct sp__stage *s = by->stage;
	struct sp__emit *e = by->emit;
	uint64_t written = sp__emit_bytes(e);
	int rc = 0;

	for (size_t i = 0; i < n && !rc; i++) {
		const struct probed *p = &group[i];

		if (p->partition) {
			rc = defer(by, p);
		} else {
			met(by, &p->line, sp__table_find(&s->h->table, p->key_hash, &p->key));
			sp__tally_count(&by->balance->looked_up, p->key_hash);
		}
		sp__charge_work(s->h->env, 1, 1, p->line.bytes + 1 + sp__emit_bytes(e) - written);
		written = sp__emit_bytes(e);
	}
	return rc ? rc : e->error;
}

int sp__probe(const struct sp__prober *by, const struct sp_batch *batch)
{
	struct sp__stage *s = by->stage;
	const struct sp_recfmt *format = &s->h->format[s->side[SP__PROBE]];
	const size_t tag = s->h->tag[s->side[SP__PROBE]];
	const char *at = batch->data, *end = at + batch->bytes;
	struct probed group[GROUP];
	int rc = 0;

	while (at < end && !rc) {
		size_t n = 0;

		for (; n < GROUP && at < end; n++) {
			group[n].line.data = at;
			at = sp__record_next(format, at, end, &group[n].line.bytes);
			group[n].line.bytes -= tag;
		}
		rc = look(by, group, n);
		if (rc)
			break;
		fetch(s, group, n);
		rc = resolve(by, group, n);
	}
	*by->bytes += batch->bytes;
	return rc;
}

int sp__stage_probe(struct sp__stage *s, struct sp__iter *input)
{
	const struct sp__prober alone = { .stage = s,
					  .emit = &s->h->out->emit,
					  .keymem = &s->h->keymem,
					  .balance = &s->balance[SP__PROBE],
					  .bytes = &s->bytes[SP__PROBE],
					  .err = s->h->env->err };
	const bool wanted = sp__workers_wanted(s);
	struct sp_batch batch;
	int rc = wanted ? sp__workers_probe_parts(s) : SP_EUNSUP;

	if (rc != SP_EUNSUP)
		return rc;
	while ((rc = input->next(input->operator, & batch)) == SP_READY) {
		if (wanted && s->bytes[SP__PROBE] + batch.bytes >= ENOUGH_BYTES) {
			rc = sp__workers_probe(s, input, &batch);
			break;
		}
		rc = sp__probe(&alone, &batch);
		if (rc < 0)
			break;
		sp__stage_bound(s);
	}
	return rc < 0 ? rc : sp__stage_end_writing(s);
}

static void chain_rest(struct sp__stage *s, struct sp__rec *last)
{
	const struct sp_join_opts *o = s->h->opts;
	int side = s->side[SP__BUILD];
	bool matched = last->bytes & SP__REC_MATCHED;
	struct sp__rec *r = sp__chain_first(&s->h->table, last);
	struct sp__line l;

	if (matched ? !(o->semi && side == 0) : !o->unpaired[side])
		return;
	for (; r; r = sp__chain_next(&s->h->table, r, last)) {
		sp__hash_line(s->h, side, r, &l);
		sp__emit_sides(&s->h->out->emit, side, &l, NULL);
	}
}

int sp__stage_rest(struct sp__stage *s)
{
	const struct sp__table *t = &s->h->table;

	if (!s->h->mark)
		return 0;
	if (s->h->opts->ordered && !s->h->sorting)
		return sp__ordered_rest(s);
	for (uint64_t i = 0; i < t->nslots && !s->h->out->emit.error; i++)
		if (t->slots[i])
			chain_rest(s, sp__table_rec(t, (uint32_t)t->slots[i]));
	return s->h->out->emit.error;
}
