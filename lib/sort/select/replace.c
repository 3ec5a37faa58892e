/* SPDX-License-Identifier: MIT */
/*
 * Forms runs by replacement selection in batches (replace.h).
 *
 * A record larger than the whole memory is a giant.  It is output directly once memory is empty, to
 * the next run if it precedes the record output last.
 */
#include <math.h>
#include <stdlib.h>
#include "base/array.h"
#include "base/bisect.h"
#include "sort/select/replace.h"

#define BATCH_FACTOR 2048
#define MIN_BATCH (8u << 10)
#define SPANS_PER_BATCH 32
#define MIN_SPAN 512u
#define LARGEST_SPAN 4096u
#define STRIPS_BYTES 800 /* of two strips, besides spans */

/* Header of a span; its records follow. */
struct span {
	uint64_t bytes;
	uint32_t next; /* name of the strip's next span; 0: none */
};

size_t sp__replace_batch_bytes(size_t memory_bytes)
{
	size_t b = (size_t)sqrt((double)memory_bytes * BATCH_FACTOR) & ~(size_t)4095;

	b = b < MIN_BATCH ? MIN_BATCH : b;
	return b < memory_bytes / 8 ? b : memory_bytes / 8 & ~(size_t)15;
}

static size_t span_bytes(size_t batch_bytes)
{
	size_t span = batch_bytes / SPANS_PER_BATCH;

	return span < MIN_SPAN ? MIN_SPAN : span > LARGEST_SPAN ? LARGEST_SPAN : span;
}

double sp__replace_run_bytes(size_t memory_bytes)
{
	size_t batch = sp__replace_batch_bytes(memory_bytes);
	double memory = (double)memory_bytes, b = (double)batch;

	memory -= b + memory / b * ((double)span_bytes(batch) + STRIPS_BYTES);
	return 2 * fmax(memory, (double)memory_bytes / 4);
}

int sp__replace_open(struct sp__replace *r, const struct sp_keyset *keys, void *mem, size_t bytes,
		     struct sp__budget *budget, const struct sp__replace_sink *sink,
		     bool drop_equal)
{
	int rc;

	*r = (struct sp__replace){
		.keys = keys, .budget = budget, .sink = *sink, .drop_equal = drop_equal
	};
	r->span_bytes = span_bytes(sp__replace_batch_bytes(bytes));
	sp__recmem_init(&r->mem, mem, bytes);
	rc = sp__merge_init(&r->merge, keys, 0, budget, NULL);
	return rc < 0 ? rc : sp__merge_init(&r->next, keys, 0, budget, NULL);
}

void sp__replace_close(struct sp__replace *r)
{
	if (!r->keys)
		return;
	sp__merge_release(&r->merge);
	sp__merge_release(&r->next);
	sp__bytes_release(&r->last, r->budget);
	sp__keybuf_release(&r->last_key);
	sp__budget_credit(r->budget, r->strips_cap * sizeof(*r->strips));
	free(r->strips);
	*r = (struct sp__replace){ 0 };
}

/*
 * Cursors refer to strips by number.  The table holds the name of a strip's current span or, for a
 * free number, the next free one (+ 1).
 */
static int feed_get(void *ctx, size_t strip, bool wait, const char **data, size_t *bytes)
{
	struct sp__replace *r = ctx;
	const struct span *s;

	(void)wait;
	if (!r->strips[strip]) {
		r->strips[strip] = r->free_strip;
		r->free_strip = (uint32_t)strip + 1;
		return SP_END;
	}
	s = sp__recmem_block(&r->mem, r->strips[strip]);
	*data = (const char *)(s + 1);
	*bytes = s->bytes;
	return SP_READY;
}

static int feed_release(void *ctx, size_t strip)
{
	struct sp__replace *r = ctx;
	struct span *s = sp__recmem_block(&r->mem, r->strips[strip]);

	r->strips[strip] = s->next;
	sp__recmem_release(&r->mem, s);
	return 0;
}

/* Makes a strip that starts with this span an input of a merge. */
static int add_strip(struct sp__replace *r, struct sp__merge *m, uint32_t first)
{
	size_t cap = r->strips_cap, strip = r->nstrips;
	int rc;

	if (r->free_strip) {
		strip = r->free_strip - 1;
		r->free_strip = r->strips[strip];
	} else {
		if (!SP__ARRAY_GROW(r->strips, r->strips_cap, r->nstrips + 1))
			return -ENOMEM;
		sp__budget_charge(r->budget, (r->strips_cap - cap) * sizeof(*r->strips));
		r->nstrips++;
	}
	r->strips[strip] = first;
	rc = sp__merge_more(m, 1);
	if (rc == 0)
		m->cursors[m->n - 1].feed = (struct sp__feed){
			.ctx = r, .index = strip, .get = feed_get, .release = feed_release
		};
	return rc;
}

void sp__replace_cursors(const struct sp__replace *r, struct sp__cursor *cursors)
{
	for (unsigned i = 0; i < r->merge.n; i++)
		cursors[i].feed = r->merge.cursors[i].feed;
}

/* Returns the record output last, at its present address. */
static void previous(const struct sp__replace *r, const char **prev, size_t *bytes)
{
	*prev = r->merge.prev ? r->merge.prev : r->writing ? r->last.data : NULL;
	*bytes = r->merge.prev ? r->merge.prev_bytes : r->last.bytes;
}

static int put(struct sp__replace *r, const char *rec, size_t bytes)
{
	const char *prev;
	size_t prev_bytes;
	int rc;

	previous(r, &prev, &prev_bytes);
	if (!r->writing) {
		rc = r->sink.begin(r->sink.ctx);
		if (rc < 0)
			return rc;
		r->writing = true;
		prev = NULL;
	}
	r->held--;
	return r->sink.put(r->sink.ctx, rec, bytes, prev, prev_bytes);
}

/* Ends the current run and starts the next one with its strips. */
static int next_run(struct sp__replace *r)
{
	const char *prev;
	size_t prev_bytes;
	int rc;

	if (r->writing) {
		previous(r, &prev, &prev_bytes);
		r->writing = false;
		rc = r->sink.end(r->sink.ctx, prev, prev_bytes);
		sp__bytes_empty(&r->last, r->budget);
		if (rc < 0)
			return rc;
	}
	sp__merge_release(&r->merge);
	r->merge = r->next;
	return sp__merge_init(&r->next, r->keys, 0, r->budget, NULL);
}

/* Outputs one record.  Returns SP_READY, or SP_END if there is none. */
static int output_one(struct sp__replace *r)
{
	int rc;

	while ((rc = sp__merge_next(&r->merge, true)) == SP_END) {
		if (!r->next.n)
			return SP_END;
		rc = next_run(r);
		if (rc < 0)
			return rc;
	}
	if (rc != SP_READY)
		return rc;
	if (r->merge.equal && r->drop_equal) {
		sp__tally_add(&r->dropped, r->merge.rec, r->merge.bytes);
		r->held--;
		return SP_READY;
	}
	rc = put(r, r->merge.rec, r->merge.bytes);
	return rc < 0 ? rc : SP_READY;
}

/*
 * Keeps a giant as the record output last, with its key, which is already known: comparing each
 * batch with the whole record would take long.
 */
static int keep_giant(struct sp__replace *r, const struct sp__runbuf *b, const struct sp__entry *e)
{
	const unsigned char *key = NULL;
	const char *rec;
	size_t bytes;

	if (sp__ks(r->keys)->form != SP__KEY_INPLACE)
		key = sp__runbuf_key(b, e, &bytes);
	if (key) {
		r->last_key.bytes = 0;
		if (sp__keybuf_reserve(&r->last_key, bytes + 1) < 0)
			return -ENOMEM;
		memcpy(r->last_key.data, key, bytes);
		r->last_key.bytes = bytes;
	}
	r->keyed = key != NULL;
	rec = sp__runbuf_record(b, e, &bytes);
	return sp__bytes_set(&r->last, rec, bytes, r->budget);
}

/* True if a record of the batch precedes the one output last. */
static bool before_last(const struct sp__replace *r, const struct sp__runbuf *b,
			const struct sp__entry *e)
{
	const size_t term = sp__rec_term(&sp__ks(r->keys)->format);
	const unsigned char *key = NULL;
	size_t bytes;
	int c;

	if (r->keyed)
		key = sp__runbuf_key(b, e, &bytes);
	if (key) {
		c = sp__order_bytes(key, bytes, r->last_key.data, r->last_key.bytes);
		if (c)
			return c < 0;
	}
	const char *rec = sp__runbuf_record(b, e, &bytes);

	return sp_keyset_compare(r->keys, rec, bytes - term, r->last.data, r->last.bytes - term) <
	       0;
}

/* Outputs records until free_bytes are free.  Returns SP_READY, or SP_END if none is left. */
static int output_until(struct sp__replace *r, size_t free_bytes)
{
	bool given = false;
	int rc = SP_READY;

	while (r->mem.free_bytes < free_bytes) {
		rc = output_one(r);
		if (rc != SP_READY)
			break;
		given = true;
	}
	if (rc >= 0 && given) {
		const char *rec = rc == SP_END ? r->merge.prev : r->merge.rec;
		size_t bytes = rc == SP_END ? r->merge.prev_bytes : r->merge.bytes;

		r->keyed = false;
		if (sp__bytes_set(&r->last, rec, bytes, r->budget) < 0)
			return -ENOMEM;
	}
	return rc;
}

/* Returns the bytes that a batch takes, assuming full spans. */
static size_t space_for(const struct sp__replace *r, uint64_t bytes)
{
	return (size_t)bytes + (size_t)bytes / r->span_bytes * 48 + 2 * r->span_bytes;
}

/* Returns the first record from entry i on that does not precede the one output last. */
static size_t find_cut(const struct sp__replace *r, const struct sp__runbuf *b, size_t i)
{
	if (!r->writing)
		return i;
	return i + SP__BISECT(b->n - i, k, before_last(r, b, &b->entries[i + k]));
}

/* Copies records from entry *i on into a new span.  NULL: there is no space for one. */
static struct span *fill_span(struct sp__replace *r, const struct sp__runbuf *b, size_t *i,
			      size_t end)
{
	size_t bytes, got, used = sizeof(struct span);
	const char *rec = sp__runbuf_record(b, &b->entries[*i], &bytes);
	size_t min = used + bytes;
	struct span *s =
		sp__recmem_take(&r->mem, min, min > r->span_bytes ? min : r->span_bytes, &got);

	if (!s)
		return NULL;
	do {
		memcpy((char *)s + used, rec, bytes);
		used += bytes;
		if (++*i == end)
			break;
		rec = sp__runbuf_record(b, &b->entries[*i], &bytes);
	} while (bytes <= got - used);
	sp__recmem_trim(&r->mem, s, used);
	*s = (struct span){ .bytes = used - sizeof(*s) };
	return s;
}

/*
 * Stores entries *i to end as a strip of a merge, as far as memory allows, which can be not even
 * the first.
 */
static int store_strip(struct sp__replace *r, const struct sp__runbuf *b, size_t *i, size_t end,
		       struct sp__merge *m)
{
	struct span *s, *before = NULL;
	uint32_t first = 0;

	while (*i < end && (s = fill_span(r, b, i, end))) {
		uint32_t name = sp__recmem_name(&r->mem, s);

		if (before)
			before->next = name;
		else
			first = name;
		before = s;
	}
	return first ? add_strip(r, m, first) : 0;
}

/* Outputs a record larger than the memory, which is empty. */
static int put_giant(struct sp__replace *r, const struct sp__runbuf *b, const struct sp__entry *e,
		     bool turns)
{
	size_t bytes;
	const char *rec = sp__runbuf_record(b, e, &bytes);
	int rc = turns ? next_run(r) : 0;

	if (!rc)
		rc = put(r, rec, bytes);
	if (rc < 0)
		return rc;
	sp__merge_release(&r->merge);
	if (keep_giant(r, b, e) < 0)
		return -ENOMEM;
	return sp__merge_init(&r->merge, r->keys, 0, r->budget, NULL);
}

/*
 * Called if memory is too fragmented for entry *i: outputs records until there is space for it, or
 * outputs it directly if it is a giant.
 */
static int make_space(struct sp__replace *r, const struct sp__runbuf *b, size_t *i)
{
	size_t bytes, want;
	int rc;

	sp__runbuf_record(b, &b->entries[*i], &bytes);
	want = 2 * bytes + 4 * r->span_bytes + r->mem.free_bytes;
	rc = output_until(r, want);
	if (rc != SP_END)
		return rc;
	if (bytes + sizeof(struct span) + 2 * SP__RECMEM_UNIT <= r->mem.free_bytes)
		return 0;
	rc = put_giant(r, b, &b->entries[*i], find_cut(r, b, *i) > *i);
	++*i;
	return rc;
}

int sp__replace_add(struct sp__replace *r, const struct sp__runbuf *b)
{
	int rc;

	r->held += b->n;
	rc = output_until(r, space_for(r, b->record_bytes));
	for (size_t i = 0, cut; rc >= 0 && i < b->n;) {
		cut = find_cut(r, b, i);
		rc = store_strip(r, b, &i, cut, &r->next);
		if (rc >= 0 && i == cut)
			rc = store_strip(r, b, &i, b->n, &r->merge);
		if (rc >= 0 && i < b->n)
			rc = make_space(r, b, &i);
	}
	return rc < 0 ? rc : 0;
}

int sp__replace_drain(struct sp__replace *r)
{
	int rc;

	while ((rc = output_one(r)) == SP_READY)
		;
	return rc == SP_END ? next_run(r) : rc;
}
