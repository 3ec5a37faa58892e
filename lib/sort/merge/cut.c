/* SPDX-License-Identifier: MIT */
/*
 * Cuts sorted data at keys.
 *
 * Choice: samples are the last keys of pages of runs, and keys in memory, at equal distances in
 * each input; the first one is at a different place in each.  A sample stands for as many bytes.
 * In the order of keys, a cut is where enough bytes have been passed.  There are SAMPLES samples
 * for each part, so the length of a part varies by about a tenth.
 *
 * Truncated keys: last keys are cut to SP__LASTKEY_MAX bytes.  A key to cut at is one byte shorter,
 * so a truncated last key is never equal to it or a prefix of it, and its order is that of the
 * whole key.  Hence the first record that does not precede the key ends in the first page whose
 * last key does not precede it, and starts after the last record of an earlier page.  From there
 * on, records are compared one by one: those of one page for each run and cut, or of two if a
 * record crosses them.
 *
 * Collated keys: a last key is a record, and a truncated one has no known order.  So a cut is at a
 * whole record, and pages with truncated last keys are skipped: those around a cut are read.
 *
 * Rejected: exact lengths by a search among all keys, which takes milliseconds for 64 inputs; bytes
 * of the order of records as a part of the cut, which would divide groups that -u collapses and -s
 * keeps.
 */
#include <stdlib.h>
#include "base/bisect.h"
#include "base/err.h"
#include "sort/merge/cut.h"

#define KEY_MAX (SP__LASTKEY_MAX - 1)
#define SAMPLES 32
/* Multiples of it divide a unit evenly, any number of them. */
#define GOLDEN 0.6180339887498949

/* A key, and the bytes that it stands for. */
struct sample {
	struct sp__cut_key key;
	uint64_t bytes;
};

static const struct sp__run *run_of(const struct sp__cuts *c, unsigned j)
{
	return c->forming->spilled->runs[c->ids[j]];
}

static const struct sp_keyset *keyset(const struct sp__cuts *c)
{
	return c->forming->sort->opts.keys;
}

static bool collated(const struct sp__cuts *c)
{
	return sp__ks(keyset(c))->form == SP__KEY_COLLATED;
}

static bool is_whole(const struct sp__lastkey *last)
{
	return last->bytes < SP__LASTKEY_MAX;
}

static uint64_t whole_last_keys(const struct sp__run *run)
{
	uint64_t n = 0;

	for (uint64_t i = 0; i < run->npages; i++)
		n += is_whole(&run->lastkeys[i]);
	return n;
}

bool sp__cuts_possible(const struct sp__spilled *spilled, const unsigned *ids, unsigned n)
{
	const bool texts = sp__ks(spilled->sort->opts.keys)->form == SP__KEY_COLLATED;
	uint64_t pages = 0, whole = 0;

	for (unsigned i = 0; i < n; i++) {
		const struct sp__run *run = spilled->runs[ids[i]];

		if (!run->lastkeys || run->group_shift)
			return false;
		pages += run->npages;
		whole += texts ? whole_last_keys(run) : run->npages;
	}
	return whole >= pages / 2;
}

static uint64_t positions(const struct sp__cuts *c, unsigned j)
{
	return j < c->n ? run_of(c, j)->npages : c->bufs[j - c->n]->n;
}

static uint64_t total_bytes(const struct sp__cuts *c, unsigned j)
{
	return j < c->n ? run_of(c, j)->bytes : sp__runbuf_gives(c->bufs[j - c->n]);
}

/* Returns the number of pages before the first one in which a record ends. */
static uint64_t lead(const struct sp__cuts *c, unsigned j)
{
	uint64_t page = 0;

	while (j < c->n && page < run_of(c, j)->npages &&
	       run_of(c, j)->lastkeys[page].tail == c->forming->sort->plan.page_bytes)
		page++;
	return page;
}

static bool descending(const struct sp__cuts *c)
{
	return sp__ks(keyset(c))->descending;
}

static struct sp__cut_key key_in_memory(const struct sp__cuts *c, const struct sp__runbuf *buf,
					uint64_t position)
{
	const struct sp__entry *e = &buf->entries[position];
	struct sp__cut_key k = { 0 };

	if (collated(c)) {
		k.data = sp__runbuf_record(buf, e, &k.bytes);
		k.bytes -= sp__rec_term(&sp__ks(keyset(c))->format);
		k.code = sp__runbuf_key(buf, e, &k.code_bytes);
	} else {
		k.data = sp__runbuf_key(buf, e, &k.bytes);
	}
	return k;
}

static struct sp__cut_key key_at(const struct sp__cuts *c, unsigned j, uint64_t position)
{
	const struct sp__lastkey *last;

	if (j >= c->n)
		return key_in_memory(c, c->bufs[j - c->n], position);
	last = &run_of(c, j)->lastkeys[position];
	return (struct sp__cut_key){ .data = run_of(c, j)->keys + last->offset,
				     .bytes = last->bytes };
}

/* Returns the first position from `from` on whose key can be compared; `to`: there is none. */
static uint64_t comparable(const struct sp__cuts *c, unsigned j, uint64_t from, uint64_t to)
{
	if (j < c->n && collated(c))
		while (from < to && !is_whole(&run_of(c, j)->lastkeys[from]))
			from++;
	return from;
}

static bool precedes_as_text(const struct sp__cuts *c, const struct sp__cut_key *a,
			     const struct sp__cut_key *b)
{
	int order;

	if (a->code && b->code) {
		order = sp__order_bytes(a->code, a->code_bytes, b->code, b->code_bytes);
		if (order || !sp__key_is_cut(sp__ks(keyset(c)), a->code_bytes))
			return order < 0;
	}
	return sp__key_compare(keyset(c), a->data, a->bytes, b->data, b->bytes) < 0;
}

static bool precedes(const struct sp__cuts *c, const struct sp__cut_key *a,
		     const struct sp__cut_key *b)
{
	int order;

	if (collated(c))
		return precedes_as_text(c, a, b);
	order = sp__order_bytes(a->data, a->bytes, b->data, b->bytes);
	return descending(c) ? order > 0 : order < 0;
}

/* True if the key at a position precedes k.  In memory, most prefixes decide. */
static bool precedes_at(const struct sp__cuts *c, unsigned j, uint64_t position,
			const struct sp__cut_key *k)
{
	struct sp__cut_key at;
	uint64_t prefix;

	if (j >= c->n && !collated(c)) {
		prefix = c->bufs[j - c->n]->entries[position].prefix;
		if (prefix != k->prefix)
			return prefix < k->prefix;
	}
	at = key_at(c, j, position);
	return precedes(c, &at, k);
}

/*
 * Returns the position after the last one whose key precedes k.  *not_before: the first position
 * whose key does not.  Keys between them cannot be compared.
 */
static uint64_t rank(const struct sp__cuts *c, unsigned j, const struct sp__cut_key *k,
		     uint64_t *not_before)
{
	uint64_t low = lead(c, j), high = positions(c, j);

	*not_before = high;
	while (low < high) {
		uint64_t middle = low + (high - low) / 2, at = comparable(c, j, middle, high);

		if (at < high && precedes_at(c, j, at, k)) {
			low = at + 1;
			continue;
		}
		if (at < high)
			*not_before = at;
		high = middle;
	}
	return low;
}

/* Returns how many samples an input has if each stands for that many bytes. */
static uint64_t count_samples(const struct sp__cuts *c, unsigned j, uint64_t each)
{
	return sp__min(positions(c, j) - lead(c, j), total_bytes(c, j) / each + 1);
}

/* Truncates the key, and sets its prefix; leaves a record as it is. */
static void set_key(const struct sp__cuts *c, struct sp__cut_key *k, size_t bytes)
{
	if (collated(c))
		return;
	k->bytes = sp__min(bytes, KEY_MAX);
	k->prefix = sp__key_prefix(k->data, k->bytes) ^ (descending(c) ? ~UINT64_C(0) : 0);
}

/*
 * Returns the position of sample i of n in input j that has so many positions.  Inputs often have
 * the same keys at the same share of their length, so each has samples at other shares.
 */
static uint64_t place(unsigned j, uint64_t i, uint64_t n, uint64_t positions)
{
	double shift = (j + 1) * GOLDEN;

	shift -= (double)(uint64_t)shift;
	return (uint64_t)(((double)i + shift) / (double)n * (double)positions);
}

static struct sample *add_samples(const struct sp__cuts *c, unsigned j, uint64_t each,
				  struct sample *to)
{
	const uint64_t n = count_samples(c, j, each), first = lead(c, j),
		       all = positions(c, j) - first;

	for (uint64_t i = 0; i < n; i++) {
		uint64_t at = comparable(c, j, first + place(j, i, n, all), first + all);

		if (at == first + all)
			continue;
		to->bytes = total_bytes(c, j) / n;
		to->key = key_at(c, j, at);
		set_key(c, &to->key, to->key.bytes);
		to++;
	}
	return to;
}

static int compare(const void *a, const void *b, void *cuts)
{
	const struct sample *x = a, *y = b;
	const struct sp__cuts *c = cuts;

	if (x->key.prefix != y->key.prefix)
		return SP__ORDER(x->key.prefix, y->key.prefix);
	return precedes(c, &x->key, &y->key) ? -1 : precedes(c, &y->key, &x->key);
}

/* Cuts where the bytes of another part have been passed, at keys that increase. */
static void choose(struct sp__cuts *c, struct sample *samples, uint64_t n, uint64_t all,
		   unsigned parts)
{
	const uint64_t part = all / parts + 1;
	const struct sp__cut_key *last = &samples[0].key;
	uint64_t bytes = 0, cut_at = part;

	qsort_r(samples, n, sizeof(*samples), compare, c);
	for (uint64_t i = 0; i < n; i++) {
		bytes += samples[i].bytes;
		if (bytes < cut_at || !precedes(c, last, &samples[i].key))
			continue;
		c->keys[c->parts - 1] = samples[i].key;
		c->keys[c->parts - 1].share = (double)bytes / (double)all;
		last = &c->keys[c->parts++ - 1];
		cut_at = bytes + part;
	}
}

/* Returns the records of a run that include the first one not preceding the key. */
static struct sp__run_span around(const struct sp__cuts *c, unsigned j, const struct sp__cut_key *k)
{
	const struct sp__run *run = run_of(c, j);
	const uint64_t page_bytes = c->forming->sort->plan.page_bytes;
	uint64_t last, before = rank(c, j, k, &last), end = (last + 1) * page_bytes;
	struct sp__run_span span = { .to = run->bytes };

	if (before == run->npages)
		return (struct sp__run_span){ run->bytes, run->bytes };
	while (before && run->lastkeys[before - 1].tail == page_bytes)
		before--;
	span.from = before ? before * page_bytes - run->lastkeys[before - 1].tail : 0;
	if (last < run->npages)
		span.to = sp__min(end, run->bytes) - run->lastkeys[last].tail;
	return span;
}

/* Returns the key of the record that a cursor is at. */
static struct sp__cut_key current_key(const struct sp__cuts *c, const struct sp__cursor *cursor)
{
	if (!collated(c))
		return (struct sp__cut_key){ .data = cursor->key, .bytes = cursor->key_bytes };
	return (struct sp__cut_key){
		.data = cursor->rec,
		.bytes = cursor->bytes - sp__rec_term(&sp__ks(keyset(c))->format),
		.code = cursor->key,
		.code_bytes = cursor->key_bytes,
	};
}

/* Passes the records of a cursor that precede the key, and moves *at over them. */
static int pass(const struct sp__cuts *c, struct sp__merge *m, unsigned j,
		const struct sp__cut_key *k, uint64_t *at)
{
	const struct sp__cursor_env env = {
		m->keys, m->budget, &m->saved, m->err, false, &m->json
	};
	struct sp__cursor *cursor = &m->cursors[j];
	struct sp__cut_key key;
	int rc;

	while ((rc = sp__cursor_next(cursor, &env, true)) == SP_READY) {
		key = current_key(c, cursor);
		if (!precedes(c, &key, k))
			return 0;
		*at += cursor->head + cursor->bytes;
	}
	return rc < 0 ? sp__err(m->err, rc, "merge", NULL, -1) : 0;
}

/* Finds the positions of a key in the runs. */
static int find_in_runs(const struct sp__cuts *c, const struct sp__cut_key *k,
			struct sp__spill *reader, struct sp__freemem where, uint64_t *at)
{
	struct sp__sort_shared *s = c->forming->sort;
	struct sp__run_span *spans = calloc(c->n, sizeof(*spans));
	struct sp__step_inputs in = { 0 };
	struct sp__merge m;
	int rc = sp__merge_init(&m, s->opts.keys, c->n, &s->env.budget, reader->opts.err);

	if (!rc && !spans)
		rc = sp__err(reader->opts.err, -ENOMEM, "allocate", NULL, -1);
	for (unsigned j = 0; !rc && j < c->n; j++) {
		spans[j] = around(c, j, k);
		at[j] = spans[j].from;
	}
	if (!rc)
		rc = sp__step_open(c->forming->spilled, reader, &in, c->ids, spans, c->n, where,
				   m.cursors);
	for (unsigned j = 0; !rc && j < c->n; j++)
		rc = pass(c, &m, j, k, &at[j]);
	sp__step_close(c->forming->spilled, &in);
	sp__merge_release(&m);
	free(spans);
	return rc;
}

static int find_in_files(const struct sp__cuts *c, unsigned i, uint64_t *at, struct sp_errinfo *err)
{
	const struct sp__cut_key *k = i && i < c->parts ? &c->keys[i - 1] : NULL;
	struct sp__finder finder;
	int rc = sp__finder_open(&finder, c->forming->sort->opts.keys, err);

	for (unsigned j = 0; !rc && j < c->nfiles; j++) {
		const struct sp__cut_file *f = &c->files[j];

		at[j] = i ? f->bytes : 0;
		if (k)
			rc = sp__finder_find(&finder, f, k->data, k->bytes,
					     (uint64_t)((double)f->bytes * k->share), &at[j]);
	}
	sp__finder_release(&finder);
	return rc;
}

int sp__cuts_find(const struct sp__cuts *c, unsigned i, struct sp__spill *reader,
		  struct sp__freemem where, uint64_t *at, struct sp_errinfo *err)
{
	const bool ends = i == 0 || i == c->parts;
	uint64_t same;

	if (c->nfiles)
		return find_in_files(c, i, at, err);

	for (unsigned j = ends ? 0 : c->n; j < c->n + c->nbufs; j++) {
		if (ends)
			at[j] = i ? j < c->n ? run_of(c, j)->bytes : positions(c, j) : 0;
		else
			at[j] = rank(c, j, &c->keys[i - 1], &same);
	}
	return ends || !c->n ? 0 : find_in_runs(c, &c->keys[i - 1], reader, where, at);
}

static int list_buffers(struct sp__cuts *c)
{
	const struct sp__forming *forming = c->forming;
	struct sp__slot *slot;

	c->bufs = calloc(forming->nslots, sizeof(*c->bufs));
	if (!c->bufs)
		return -ENOMEM;
	for (uint64_t from = 0; (slot = sp__slot_from(forming, SP__SLOT_SORTED, from));
	     from = slot->age + 1)
		c->bufs[c->nbufs++] = &slot->buf;
	return 0;
}

/* Encodes the keys of cuts, since most records are compared as bytes. */
static int encode_keys(struct sp__cuts *c)
{
	int rc = 0;

	c->codes = calloc(c->parts, sizeof(*c->codes));
	for (unsigned i = 0; rc >= 0 && c->codes && i + 1 < c->parts; i++) {
		struct sp__cut_key *k = &c->keys[i];

		rc = sp__key_encode(keyset(c), k->data, k->bytes, &c->codes[i]);
		k->code = rc ? NULL : c->codes[i].data;
		k->code_bytes = c->codes[i].bytes;
	}
	if (c->codes && rc >= 0)
		return 0;
	return sp__err(c->forming->sort->env.err, -ENOMEM, "allocate", NULL, -1);
}

int sp__cuts_choose(struct sp__cuts *c, const struct sp__forming *forming, const unsigned *ids,
		    unsigned n, unsigned parts)
{
	uint64_t bytes = 0, each, number = 0;
	struct sample *samples, *end;
	int rc;

	*c = (struct sp__cuts){ .forming = forming, .ids = ids, .n = n, .parts = 1 };
	rc = list_buffers(c);
	if (!rc && parts == 1)
		return 0;
	for (unsigned j = 0; j < c->n + c->nbufs; j++)
		bytes += total_bytes(c, j);
	each = bytes / parts / SAMPLES + 1;
	for (unsigned j = 0; j < c->n + c->nbufs; j++)
		number += count_samples(c, j, each);
	end = samples = malloc((number + 1) * sizeof(*samples));
	c->keys = malloc(parts * sizeof(*c->keys));
	if (rc < 0 || !samples || !c->keys) {
		free(samples);
		return sp__err(forming->sort->env.err, -ENOMEM, "allocate", NULL, -1);
	}
	for (unsigned j = 0; j < c->n + c->nbufs; j++)
		end = add_samples(c, j, each, end);
	if (end > samples)
		choose(c, samples, (uint64_t)(end - samples), bytes, parts);
	free(samples);
	return collated(c) ? encode_keys(c) : 0;
}

/* Adds the keys of samples, without those that are not near their places. */
static int add_file_samples(struct sp__cuts *c, struct sp__finder *finder, unsigned j,
			    uint64_t each, struct sample **to)
{
	const struct sp__cut_file *f = &c->files[j];
	const uint64_t n = f->bytes / each + 1;
	const void *key;
	size_t bytes;
	int rc = 0;

	for (uint64_t i = 0; rc >= 0 && i < n; i++) {
		struct sample *s = *to;

		rc = sp__finder_sample(finder, f, place(j, i, n, f->bytes), &key, &bytes);
		if (rc <= 0)
			continue;
		s->key.data = memcpy(c->file_keys + s->bytes, key, sp__min(bytes, KEY_MAX));
		set_key(c, &s->key, bytes);
		s[1].bytes = s->bytes + s->key.bytes;
		s->bytes = f->bytes / n;
		(*to)++;
	}
	return rc < 0 ? rc : 0;
}

int sp__cuts_choose_files(struct sp__cuts *c, const struct sp__forming *forming,
			  const struct sp__cut_file *files, unsigned n, unsigned parts)
{
	struct sp_errinfo *err = forming->sort->env.err;
	uint64_t bytes = 0, each, number = n;
	struct sample *samples, *end;
	struct sp__finder finder;
	int rc;

	*c = (struct sp__cuts){ .forming = forming, .files = files, .nfiles = n, .parts = 1 };
	rc = sp__finder_open(&finder, forming->sort->opts.keys, err);
	for (unsigned j = 0; j < n; j++)
		bytes += files[j].bytes;
	each = bytes / parts / SAMPLES + 1;
	for (unsigned j = 0; j < n; j++)
		number += files[j].bytes / each;
	/* Until a sample is complete, its bytes are the offset of its key. */
	end = samples = calloc(number + 1, sizeof(*samples));
	c->file_keys = malloc(number * KEY_MAX);
	c->keys = malloc(parts * sizeof(*c->keys));
	if (!rc && (!samples || !c->file_keys || !c->keys))
		rc = sp__err(err, -ENOMEM, "allocate", NULL, -1);
	for (unsigned j = 0; !rc && j < n; j++)
		rc = add_file_samples(c, &finder, j, each, &end);
	if (!rc)
		choose(c, samples, (uint64_t)(end - samples), bytes, parts);
	sp__finder_release(&finder);
	free(samples);
	return rc;
}

void sp__cuts_release(struct sp__cuts *c)
{
	for (unsigned i = 0; c->codes && i < c->parts; i++)
		sp__keybuf_release(&c->codes[i]);
	free(c->codes);
	free(c->bufs);
	free(c->file_keys);
	free(c->keys);
}

static uint64_t entries_bytes(const struct sp__runbuf *rb, uint64_t from, uint64_t to)
{
	uint64_t sum = 0;
	size_t bytes;

	for (; from < to; from++) {
		(void)sp__runbuf_record(rb, &rb->entries[from], &bytes);
		sum += bytes * (rb->repeats ? sp__runbuf_number(rb, &rb->entries[from]) : 1);
	}
	return sum;
}

uint64_t sp__cuts_bytes(const struct sp__cuts *c, const uint64_t *from, const uint64_t *to)
{
	uint64_t sum = 0;

	for (unsigned j = 0; j < c->n + c->nbufs; j++)
		sum += j < c->n ? to[j] - from[j]
				: entries_bytes(c->bufs[j - c->n], from[j], to[j]);
	/* The last record of a file gets a terminator. */
	for (unsigned j = 0; j < c->nfiles; j++)
		sum += to[j] - from[j] +
		       (c->files[j].unended && from[j] < to[j] && to[j] == c->files[j].bytes);
	return sum;
}
