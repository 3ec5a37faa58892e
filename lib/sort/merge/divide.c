/* SPDX-License-Identifier: MIT */
/*
 * Decides into how many ranges the final merge is divided, and makes them.
 *
 * There is one range if keys have been repeated under -u; if values must be deterministic
 * (simulated machines); if reading was set by hand; if the last keys of pages are not kept, or keys
 * have no bytes; if there are less than two pages for each run and range; or if one group of equal
 * keys is so large that a range would have more than 1.5 times its share.
 */
#include <stdlib.h>
#include "base/err.h"
#include "base/minmax.h"
#include "base/ring.h"
#include "sort/merge/divide.h"
#include "sort/merge/group.h"

/* Fewer bytes take less time than the preparations. */
#define MIN_BYTES (UINT64_C(1) << 20)
#define RANGES_MAX 16
/*
 * Minimum of pages of the pool per run, and of pages of each run, since those at cuts are read
 * twice.
 */
#define PAGES_EACH 2
#define RUN_PAGES_EACH 4
#define MIN_CHUNK (8u << 10)

unsigned sp__divide_pages(const struct sp__merging *merging, struct sp__freemem where, unsigned k)
{
	const struct sp__sort_shared *s = merging->sort;
	size_t unpacking =
		k * sp__pool_unpacking(merging->spilled->store->opts.codec, s->plan.page_bytes);

	where.bytes -= sp__min(where.bytes, unpacking);
	return (unsigned)(where.bytes / s->plan.page_bytes / k);
}

size_t sp__divide_chunk(const struct sp__wstream_opts *w, unsigned k)
{
	size_t all = w->chunk_bytes * (SP__RING_BUFFERS + w->depth);

	return sp__min(w->chunk_bytes, all / (k * w->depth)) & ~(size_t)4095;
}

bool sp__divide_fits(const struct sp__merging *merging, unsigned n, struct sp__freemem where,
		     const struct sp__wstream_opts *w, unsigned k)
{
	return sp__divide_chunk(w, k) >= MIN_CHUNK &&
	       (!n || sp__divide_pages(merging, where, k) >= PAGES_EACH * n);
}

/* Returns the number of ranges that there is memory and work for. */
static unsigned ranges_for(const struct sp__merging *merging, unsigned n, uint64_t bytes,
			   struct sp__freemem where, const struct sp__wstream_opts *w)
{
	const struct sp__sort_shared *s = merging->sort;
	unsigned k = s->threads < RANGES_MAX ? s->threads : RANGES_MAX;

	if (bytes < MIN_BYTES)
		return 0;
	while (k > 1 && (!sp__divide_fits(merging, n, where, w, k) ||
			 bytes / s->plan.page_bytes < (uint64_t)RUN_PAGES_EACH * n * k))
		k--;
	return k;
}

uint64_t sp__numbers_bytes(const struct sp__sort_shared *s, uint64_t records)
{
	return s->opts.count ? records * sp__counted_bytes(&s->opts.format) : 0;
}

static uint64_t result_bytes(const struct sp__merging *merging, unsigned n)
{
	struct sp__spilled *spilled = merging->spilled;
	const struct sp__slot *slot;
	uint64_t bytes = sp__numbers_bytes(merging->sort, sp__balance_read(merging).records);

	for (unsigned i = 0; i < n; i++)
		bytes += spilled->runs[spilled->ids[i]]->bytes;
	for (uint64_t from = 0; (slot = sp__slot_from(merging->forming, SP__SLOT_SORTED, from));
	     from = slot->age + 1)
		bytes += sp__runbuf_gives(&slot->buf);
	return bytes;
}

static uint64_t range_bytes(const struct sp__cuts *c, unsigned i)
{
	return sp__cuts_bytes(c, i) + sp__numbers_bytes(c->forming->sort, sp__cuts_records(c, i));
}

static bool uneven(const struct sp__cuts *c, uint64_t bytes)
{
	uint64_t max = 0;

	for (unsigned i = 0; i < c->parts; i++)
		max = sp__max(max, range_bytes(c, i));
	return max > bytes / c->parts / 2 * 3;
}

int sp__divide_cut(struct sp__merging *merging, const struct sp__wstream_opts *writing,
		   struct sp__cuts *cuts)
{
	struct sp__spilled *spilled = merging->spilled;
	struct sp__freemem where = sp__free_region(merging->forming, true);
	const unsigned n = merging->runs_left;
	struct sp__spill *reader = NULL;
	uint64_t bytes = result_bytes(merging, n);
	unsigned k = ranges_for(merging, n, bytes, where, writing);
	int rc;

	if (k < 2 || (n && spilled->store->place) || !sp__runs_cuttable(spilled) ||
	    (merging->sort->opts.unique && sp__balance_dropped(merging).records) ||
	    !sp__cuts_possible(spilled, spilled->ids, n))
		return 0;
	if (n) {
		if (sp__spill_reader_open(&reader, spilled->store, NULL) < 0)
			return 0;
		reader->opts.err = merging->sort->env.err;
	}
	rc = sp__cuts_find(cuts, merging->forming, reader, spilled->ids, n, k, where);
	if (reader)
		sp__spill_reader_close(reader, spilled->store);
	if (rc < 0)
		return rc == SP_EUNSUP ? 0 : rc;
	return uneven(cuts, bytes) ? 0 : (int)k;
}

/* Sets the spans of range i, and returns the bytes of its records if none is dropped. */
static uint64_t set_spans(const struct sp__merging *merging, const struct sp__cuts *cuts,
			  unsigned i, struct sp__range *r)
{
	const struct sp__spilled *spilled = merging->spilled;
	uint64_t bytes = 0;

	for (unsigned j = 0; j < merging->runs_left; j++) {
		r->spans[j] = (struct sp__run_span){ 0, spilled->runs[spilled->ids[j]]->bytes };
		if (cuts)
			r->spans[j] = (struct sp__run_span){ sp__cuts_at(cuts, i, j),
							     sp__cuts_at(cuts, i + 1, j) };
		bytes += r->spans[j].to - r->spans[j].from;
	}
	return cuts ? range_bytes(cuts, i) : bytes;
}

int sp__divide_ranges(struct sp__merging *merging, const struct sp__cuts *cuts, unsigned n,
		      uint64_t at, struct sp__ranges *g)
{
	const struct sp_sort_opts *o = &merging->sort->opts;
	const bool drops = n == 1 && (o->unique || o->count || o->top);

	*g = (struct sp__ranges){ .n = n, .runs = merging->runs_left, .from = at };
	g->list = calloc(n, sizeof(*g->list));
	g->spans = calloc((size_t)n * g->runs + 1, sizeof(*g->spans));
	if (!g->list || !g->spans)
		return sp__err(merging->sort->env.err, -ENOMEM, "allocate", NULL, -1);
	for (unsigned i = 0; i < n; i++) {
		struct sp__range *r = &g->list[i];

		r->spans = g->spans + (size_t)i * g->runs;
		r->at = at;
		at += set_spans(merging, n > 1 ? cuts : NULL, i, r);
		r->end = drops ? UINT64_MAX : at;
	}
	return 0;
}
