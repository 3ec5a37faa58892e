/* SPDX-License-Identifier: MIT */
/*
 * Keeps the first record of each key, in the order of the input.
 *
 * Algorithm: records get a number (firsts.h) and are sorted by key, which keeps the lowest
 * number of each key.  These are sorted by number.  Both sorts have a record format of their own,
 * and the keys of the first are found behind the number.
 */
#include <stdlib.h>
#include <string.h>
#include "base/err.h"
#include "run/memory.h"
#include "sort/firsts.h"
#include "sort/state.h"

#define DIGIT_BITS 6u
#define TOGETHER ((size_t)64 << 10) /* bytes of records put at once */

/* What one thread of a sort has numbered, in a cache line of its own. */
struct sp__numberer {
	_Alignas(64) struct sp__bytes records;
};

/* Threads that number the records of parts, for sp__sort_put_parts(). */
struct sp__numberers {
	const struct sp__numbering *numbering;
	struct sp__parts *parts;
	sp__tell_fn *tell; /* called as parts are begun */
	void *arg;
	unsigned n;			/* this and the following: by numberers_open() */
	struct sp__numberer *numberers; /* owned */
};

static void numbering_init(struct sp__numbering *n, const struct sp_recfmt *format)
{
	const bool csv = format->kind == SP_REC_CSV;
	const unsigned char separator = csv ? (unsigned char)format->separator : 0;

	/* No digit is the separator, which would end the number. */
	*n = (struct sp__numbering){
		.format = *format,
		.head = SP__NUMBER_BYTES + csv,
		.digit = (char)(separator < 0x80 || separator >= 0xC0 ? 0x80 : 0xC0)
	};
}

/* Writes a number with its separator. */
static void sp__number(const struct sp__numbering *n, char *to, uint64_t number)
{
	for (unsigned i = SP__NUMBER_BYTES; i-- > 0; number >>= DIGIT_BITS)
		to[i] = (char)((unsigned char)n->digit | (number & ((1u << DIGIT_BITS) - 1)));
	if (n->head > SP__NUMBER_BYTES)
		to[SP__NUMBER_BYTES] = n->format.separator;
}

/* Is a function sp__sort_encode_fn (sort.h) of the numberers. */
static int number_batch(void *numberers, unsigned worker, struct sp__part *part,
			struct sp_batch *from, struct sp_batch *records)
{
	const struct sp__numberers *all = numberers;
	const struct sp__numbering *n = all->numbering;
	struct sp__numberer *w = &all->numberers[worker];
	const char *at = from->data, *end = at + from->bytes, *next;
	uint64_t place = part->before + sp__part_at(part, from);

	if (!worker && place == part->before)
		all->tell(all->arg, sp__parts_bytes(all->parts));
	for (w->records.bytes = 0; at < end && w->records.bytes < TOGETHER; at = next) {
		size_t bytes;
		char *to;

		next = sp__rec_end(&n->format, at, (size_t)(end - at));
		bytes = (size_t)(next - at);
		if (sp__bytes_reserve(&w->records, w->records.bytes + n->head + bytes, NULL))
			return sp__err(&part->err, -ENOMEM, "allocate", NULL, -1);
		to = w->records.data + w->records.bytes;
		sp__number(n, to, place);
		memcpy(to + n->head, at, bytes);
		w->records.bytes += n->head + bytes;
		place += bytes;
	}
	*from = (struct sp_batch){ at, (size_t)(end - at) };
	*records = (struct sp_batch){ w->records.data, w->records.bytes };
	return 0;
}

/* The other members must be set.  Returns 0 or -ENOMEM. */
static int numberers_open(struct sp__numberers *all, unsigned threads)
{
	const size_t bytes = threads * sizeof(*all->numberers);

	all->n = threads;
	all->numberers = aligned_alloc(_Alignof(struct sp__numberer), bytes);
	if (all->numberers)
		memset(all->numberers, 0, bytes);
	return all->numberers ? 0 : -ENOMEM;
}

static void numberers_close(struct sp__numberers *all)
{
	for (unsigned i = 0; all->numberers && i < all->n; i++)
		sp__bytes_release(&all->numberers[i].records, NULL);
	free(all->numberers);
}

/* Returns the options of a sort of numbered records. */
static struct sp_sort_opts sort_options(const struct sp__twosorts *n)
{
	struct sp_sort_opts o = *n->opts;

	o.run.memory_bytes = n->share;
	o.run.decompress = SP_PACKED_NONE;
	o.run.compress_output = SP_PACKED_NONE;
	o.record_bytes += o.record_bytes ? n->numbering.head : 0;
	o.format = n->format;
	o.top = 0;
	return o;
}

int sp__twosorts_open(struct sp__twosorts *n, const struct sp_sort_opts *opts, size_t share,
		      struct sp_errinfo *err)
{
	struct sp_sort_opts o;

	*n = (struct sp__twosorts){
		.opts = opts, .share = share, .err = err, .format = opts->format
	};
	numbering_init(&n->numbering, &opts->format);
	if (n->format.kind == SP_REC_FIXED)
		n->format.fixed_bytes += n->numbering.head;
	n->keys = sp__keyset_behind(opts->keys, n->numbering.head);
	if (!n->keys)
		return sp__err(err, -ENOMEM, "allocate", NULL, -1);
	o = sort_options(n);
	o.keys = n->keys;
	return sp__sort_new(&n->by_key.sort, &o, NULL, err);
}

void sp__twosorts_close(struct sp__twosorts *n)
{
	(void)sp__sorter_close(&n->by_number);
	(void)sp__sorter_close(&n->by_key);
	sp__bytes_release(&n->records, NULL);
	free(n->keys);
	n->keys = NULL;
}

static int put_record(struct sp__twosorts *n, const char *rec, size_t bytes)
{
	const size_t head = n->numbering.head;
	char *to = sp__sorter_space(&n->by_key, head + bytes);

	if (!to)
		return -ENOMEM;
	sp__number(&n->numbering, to, n->next++);
	memcpy(to + head, rec, bytes);
	return sp__sorter_add(&n->by_key, head + bytes);
}

int sp__twosorts_put(struct sp__twosorts *n, const char *data, size_t bytes)
{
	const char *end = data + bytes, *next;
	int rc = 0;

	for (; !rc && data < end; data = next) {
		next = sp__rec_end(&n->opts->format, data, (size_t)(end - data));
		rc = put_record(n, data, (size_t)(next - data));
	}
	return rc;
}

int sp__twosorts_put_parts(struct sp__twosorts *n, struct sp__parts *parts, uint64_t input_bytes,
			   sp__tell_fn *tell, void *arg)
{
	struct sp__numberers all = { &n->numbering, parts, tell, arg, 0, NULL };
	int rc = numberers_open(&all, sp__threads(n->opts->run.parallel));

	if (rc)
		return sp__err(n->err, rc, "allocate", NULL, -1);
	rc = sp__sort_put_parts(n->by_key.sort, parts, input_bytes, number_batch, &all);
	numberers_close(&all);
	return rc;
}

uint64_t sp__twosorts_bytes(const struct sp__twosorts *n)
{
	const struct sp_sort_stats *put = &n->by_key.sort->shared.stats;

	return put->input_bytes - put->records * n->numbering.head;
}

static int open_by_number(struct sp__twosorts *n)
{
	struct sp_sort_opts o = sort_options(n);
	struct sp_key number = { .echar = SP__NUMBER_BYTES };
	struct sp_keyset_opts order = {
		.keys = &number, .nkeys = 1, .separator = -1, .stable = true, .bytes = true
	};

	/* Records behind a number are no JSON. */
	o.format.json = o.format.strict = o.format.array = false;
	order.format = o.format;
	if (o.format.kind == SP_REC_FIXED)
		number = (struct sp_key){ .type = SP_KEY_BYTES, .length = SP__NUMBER_BYTES };
	o.unique = false;
	o.top = n->opts->top;
	o.input_bytes = n->by_key.sort->shared.stats.input_bytes;
	return sp__sorter_open(&n->by_number, &order, &o, NULL, n->err);
}

int sp__twosorts_finish(struct sp__twosorts *n)
{
	struct sp_batch batch;
	int rc = sp__sorter_finish(&n->by_key);

	if (!rc)
		rc = open_by_number(n);
	while (!rc && (rc = sp__sort_get_next(n->by_key.sort, &batch)) == SP_READY) {
		rc = sp__sort_put_all(n->by_number.sort, &batch);
		rc = rc < 0 ? rc : 0;
	}
	return rc < 0 ? rc : sp_sort_finish(n->by_number.sort);
}

int sp__twosorts_get(struct sp__twosorts *n, struct sp_batch *batch, uint64_t *records)
{
	const size_t head = n->numbering.head;
	struct sp_batch numbered;
	int rc = sp__sort_get_next(n->by_number.sort, &numbered);
	const char *p = numbered.data, *next;
	char *to;

	if (rc != SP_READY)
		return rc;
	if (sp__bytes_reserve(&n->records, numbered.bytes, NULL))
		return sp__err(n->err, -ENOMEM, "allocate", NULL, -1);
	to = n->records.data;
	*records = 0;
	for (const char *end = p + numbered.bytes; p < end; p = next) {
		next = sp__rec_end(&n->format, p, (size_t)(end - p));
		memcpy(to, p + head, (size_t)(next - p) - head);
		to += (size_t)(next - p) - head;
		++*records;
	}
	*batch = (struct sp_batch){ n->records.data, (size_t)(to - n->records.data) };
	return SP_READY;
}

uint64_t sp__twosorts_given(const struct sp__twosorts *n)
{
	return n->by_number.sort->shared.balance.given.records;
}

void sp__twosorts_stats(const struct sp__twosorts *n, struct sp_sort_stats *stats)
{
	struct sp_sort_stats second;

	sp__sort_stats(n->by_key.sort, stats, false);
	if (!n->by_number.sort)
		return;
	sp__sort_stats(n->by_number.sort, &second, false);
	sp__stats_join(stats, &second);
}
