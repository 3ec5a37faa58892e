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
#include "base/ring.h"
#include "sort/merge/group.h"
#include "sort/merge/parts.h"
#include "sort/plan/plan.h"

/* Less takes less time than the preparations. */
#define MIN_BYTES (UINT64_C(1) << 20)
#define PARTS_MAX 16
/* Pages of the pool for each run; and pages of each run, so that those at the cuts do not count. */
#define PAGES_EACH 2
#define RUN_PAGES_EACH 4
#define MIN_CHUNK (8u << 10)

unsigned sp__parts_pages(const struct sp__merging *merging, struct sp__freemem where,
			 unsigned parts)
{
	const struct sp__sort_shared *s = merging->sort;
	size_t beside =
		parts * sp__pool_unpacking(merging->spilled->store->opts.codec, s->plan.page_bytes);

	return where.bytes < beside
		       ? 0
		       : (unsigned)((where.bytes - beside) / s->plan.page_bytes / parts);
}

size_t sp__parts_chunk(const struct sp__wstream_opts *w, unsigned k)
{
	size_t all = w->chunk_bytes * (SP__RING_BUFFERS + w->depth);

	return sp__min(w->chunk_bytes, all / (k * w->depth)) & ~(size_t)4095;
}

bool sp__parts_fit(const struct sp__merging *merging, unsigned n, struct sp__freemem where,
		   const struct sp__wstream_opts *w, unsigned k)
{
	return sp__parts_chunk(w, k) >= MIN_CHUNK &&
	       (!n || sp__parts_pages(merging, where, k) >= PAGES_EACH * n);
}

/* How many parts there is memory and work for; less than 2: none. */
static unsigned parts_for(const struct sp__merging *merging, unsigned n, uint64_t bytes,
			  struct sp__freemem where, const struct sp__wstream_opts *w)
{
	const struct sp__sort_shared *s = merging->sort;
	unsigned k = s->threads < PARTS_MAX ? s->threads : PARTS_MAX;

	if (bytes < MIN_BYTES)
		return 0;
	while (k > 1 && (!sp__parts_fit(merging, n, where, w, k) ||
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

uint64_t sp__part_bytes(const struct sp__cuts *c, unsigned part)
{
	return sp__cuts_bytes(c, part) +
	       sp__numbers_bytes(c->forming->sort, sp__cuts_records(c, part));
}

static bool uneven(const struct sp__cuts *c, uint64_t bytes)
{
	uint64_t max = 0;

	for (unsigned i = 0; i < c->parts; i++)
		max = sp__max(max, sp__part_bytes(c, i));
	return max > bytes / c->parts / 2 * 3;
}

int sp__parts_cut(struct sp__merging *merging, const struct sp__wstream_opts *writing,
		  struct sp__cuts *cuts)
{
	struct sp__spilled *spilled = merging->spilled;
	struct sp__freemem where = sp__free_region(merging->forming, true);
	const unsigned n = merging->runs_left;
	struct sp__spill *reader = NULL;
	uint64_t bytes = result_bytes(merging, n);
	unsigned k = parts_for(merging, n, bytes, where, writing);
	int rc;

	if (k < 2 || (n && spilled->store->place) || !sp__runs_cuttable(spilled) ||
	    (merging->sort->opts.unique && !sp__balance_none_dropped(merging)) ||
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
