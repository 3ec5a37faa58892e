/* SPDX-License-Identifier: MIT */
/*
 * Estimates what a scan of a range reads (estimate.h), from the positions of its bounds in the
 * leaves.
 */
#include "base/minmax.h"
#include "index/lookup.h"
#include "table/index/estimate.h"

#define DEPTH 1

/* Where the first entry is that is not less than a bound. */
struct position {
	uint64_t page;
	double below, count; /* entries of the page before it, and all */
};

struct finder {
	const struct sp__index *index;
	struct sp__waits waits;
	struct sp__requests reads;
};

static int find(struct finder *f, const struct sp__bytes *key, struct position *p)
{
	const struct sp__lookup_opts opts = {
		.index = f->index, .reads = &f->reads, .waits = &f->waits, .max = DEPTH
	};
	struct sp__lookup *l;
	struct sp__found found;
	int rc = sp__lookup_open(&l, &opts);

	if (!rc)
		rc = sp__lookup_put(l, key->data, key->bytes, 0);
	while (!rc) {
		rc = sp__lookup_get(l, &found);
		if (rc == SP_LATER)
			rc = sp__waits_block(&f->waits);
	}
	if (rc == SP_READY)
		*p = (struct position){ found.leaf, found.below, found.count };
	sp__lookup_close(l);
	return rc == SP_READY ? 0 : rc;
}

/* Finds the end of the range: the position of high, or if high is in it, of its successor. */
static int find_end(struct finder *f, const struct sp__keyrange *r, struct position *p)
{
	struct sp__bytes key = { 0 };
	int rc = sp__bytes_set(&key, r->high.data, r->high.bytes, NULL);

	if (!rc && !r->open)
		rc = sp__bytes_append(&key, "", 1, NULL);
	if (!rc)
		rc = find(f, &key, p);
	sp__bytes_release(&key, NULL);
	return rc;
}

static double pages_before(const struct position *p)
{
	return (double)p->page + (p->count > 0 ? p->below / p->count : 0);
}

static int estimate(struct finder *f, const struct sp__keyrange *r, struct sp__keyrange_estimate *e)
{
	const struct sp__index_header *h = &f->index->header;
	const uint64_t first = h->header_bytes / h->page_bytes;
	struct position low = { .page = first }, high = { .page = h->last_leaf };
	int rc = 0;

	if (r->has_low)
		rc = find(f, &r->low, &low);
	high.below = high.count = low.page == high.page && low.count > 0 ? low.count : 1;
	if (!rc && r->has_high)
		rc = find_end(f, r, &high);
	if (rc)
		return rc;
	e->pages = (double)(sp__max(high.page, low.page) - low.page + 1);
	if (!r->has_low && !r->has_high)
		e->records = (double)h->records;
	else if (low.page == high.page)
		e->records = high.below - low.below;
	else
		e->records = (pages_before(&high) - pages_before(&low)) * (double)h->records /
			     (double)(h->end_page - first);
	return 0;
}

void sp__keyrange_min(struct sp__keyrange_estimate *e, const struct sp__index *ix)
{
	*e = (struct sp__keyrange_estimate){ .pages = 1,
					     .levels = ix->header.levels,
					     .page_bytes = ix->header.page_bytes,
					     .table_records = ix->header.table_records };
}

int sp__keyrange_estimate(struct sp__keyrange_estimate *e, const struct sp__keyrange *r,
			  const struct sp__index *ix, const struct sp__tablefile *f,
			  struct sp_table_stats *stats, struct sp_errinfo *err)
{
	const struct sp__queue_opts queue = sp__tablefile_queue(f, DEPTH);
	struct finder finder = { .index = ix };
	int rc;

	sp__keyrange_min(e, ix);
	if (r->empty)
		return 0;
	rc = sp__requests_open(&finder.reads, &queue, err);
	if (!rc)
		rc = estimate(&finder, r, e);
	if (finder.reads.queue)
		sp__env_note_io(&stats->run, sp__queue_counters(finder.reads.queue));
	sp__requests_close(&finder.reads);
	return rc;
}
