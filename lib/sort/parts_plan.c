/* SPDX-License-Identifier: MIT */
/*
 * Into how many parts the final merge is cut, if at all.
 *
 * There is one part if keys have been repeated under -u, if figures must be deterministic
 * (simulated machines), if reading was set by hand, if the last keys of pages are not kept or keys
 * have no bytes, if there is less than two pages for each run and part, or if one group of equal
 * keys is so large that a part would have more than half as much again as its share.
 */
#include "base/minmax.h"
#include "sort/parts_plan.h"
#include "sort/plan/plan.h"
#include "sort/state.h"

/* Less takes less time than the preparations. */
#define LEAST_BYTES (UINT64_C(1) << 20)
#define PARTS_MAX 16
/* Pages of the pool for each run; and pages of each run, so that those at the cuts do not count. */
#define PAGES_EACH 2
#define RUN_PAGES_EACH 4
#define LEAST_CHUNK (8u << 10)

bool sp__fragments_possible(const struct sp_sort *s)
{
	const struct sp_sort_opts *o = &s->opts;

	return s->threads > 1 && !s->env.device && !o->top && !o->compress_program &&
	       !sp__plan_reading_given(o) && !o->merge_bytes && !s->forming.replacing &&
	       !s->merging.inputs.n;
}

unsigned sp__fragments_pages(const struct sp_sort *s, struct sp__freemem where, unsigned parts)
{
	size_t beside =
		parts * sp__pool_unpacking(s->spilled.store->opts.codec, s->plan.page_bytes);

	return where.bytes < beside
		       ? 0
		       : (unsigned)((where.bytes - beside) / s->plan.page_bytes / parts);
}

size_t sp__fragments_chunk(const struct sp__wstream_opts *w, unsigned k)
{
	size_t all = w->chunk_bytes * (SP__RING_BUFFERS + w->depth);

	return sp__min(w->chunk_bytes, all / (k * w->depth)) & ~(size_t)4095;
}

bool sp__fragments_fit(const struct sp_sort *s, unsigned n, struct sp__freemem where,
		       const struct sp__wstream_opts *w, unsigned k)
{
	return sp__fragments_chunk(w, k) >= LEAST_CHUNK &&
	       (!n || sp__fragments_pages(s, where, k) >= PAGES_EACH * n);
}

/* How many parts there is memory and work for; less than 2: none. */
static unsigned parts_for(const struct sp_sort *s, unsigned n, uint64_t bytes,
			  struct sp__freemem where, const struct sp__wstream_opts *w)
{
	unsigned k = s->threads < PARTS_MAX ? s->threads : PARTS_MAX;

	if (bytes < LEAST_BYTES)
		return 0;
	while (k > 1 && (!sp__fragments_fit(s, n, where, w, k) ||
			 bytes / s->plan.page_bytes < (uint64_t)RUN_PAGES_EACH * n * k))
		k--;
	return k;
}

uint64_t sp__numbers_bytes(const struct sp_sort *s, uint64_t records)
{
	return s->opts.count ? records * sp__counted_bytes(&s->opts.format) : 0;
}

static uint64_t result_bytes(const struct sp_sort *s, unsigned n)
{
	const struct sp__slot *slot;
	uint64_t bytes = sp__numbers_bytes(s, sp__balance_read(s).records);

	for (unsigned i = 0; i < n; i++)
		bytes += s->spilled.runs[s->spilled.ids[i]]->bytes;
	for (uint64_t from = 0; (slot = sp__slot_from(s, SP__SLOT_SORTED, from));
	     from = slot->age + 1)
		bytes += sp__runbuf_gives(&slot->buf);
	return bytes;
}

uint64_t sp__part_bytes(const struct sp__cuts *c, unsigned part)
{
	return sp__cuts_bytes(c, part) + sp__numbers_bytes(c->sort, sp__cuts_records(c, part));
}

static bool uneven(const struct sp__cuts *c, uint64_t bytes)
{
	uint64_t most = 0;

	for (unsigned i = 0; i < c->parts; i++)
		most = sp__max(most, sp__part_bytes(c, i));
	return most > bytes / c->parts / 2 * 3;
}

int sp__fragments_cut(struct sp_sort *s, const struct sp__wstream_opts *writing,
		      struct sp__cuts *cuts)
{
	struct sp__freemem where = sp__free_region(s, true);
	const unsigned n = s->merging.runs_left;
	struct sp__spill *reader = NULL;
	uint64_t bytes = result_bytes(s, n);
	unsigned k = parts_for(s, n, bytes, where, writing);
	int rc;

	if (k < 2 || (n && s->spilled.store->place) || !sp__fragments_possible(s) ||
	    (s->opts.unique && !sp__balance_none_dropped(s)) ||
	    !sp__cuts_possible(s, s->spilled.ids, n))
		return 0;
	if (n) {
		if (sp__spill_reader_open(&reader, s->spilled.store, NULL) < 0)
			return 0;
		reader->opts.err = s->env.err;
	}
	rc = sp__cuts_find(cuts, s, reader, s->spilled.ids, n, k, where);
	if (reader)
		sp__spill_reader_close(reader, s->spilled.store);
	if (rc < 0)
		return rc == SP_EUNSUP ? 0 : rc;
	return uneven(cuts, bytes) ? 0 : (int)k;
}
