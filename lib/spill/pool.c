/* SPDX-License-Identifier: MIT */
/*
 * Reads the pages of a merge into slots of memory.
 *
 * States: a slot is free, requested for a run, or pinned by the merge.  The slots of a run form a
 * list in the order of its pages: the first can be pinned, the others are read or being read.
 */
#include <stdlib.h>
#include <spindle/batch.h>
#include "base/err.h"
#include "base/hash.h"
#include "spill/codec.h"
#include "spill/pool.h"

#define BLOCK 4096u
#define NONE UINT32_MAX

/* Memory of one page. */
struct slot {
	struct sp__request req;
	char *data;
	uint32_t next; /* in the list of its run, or of free slots */
	bool in_flight;
};

struct source {
	struct sp__run *run;
	struct sp__run_span span; /* to be read */
	size_t end;		  /* one past its last page */
	uint64_t sum;		  /* sum of the current group, for verification */
	size_t asked, given;	  /* the next pages to request, to pin */
	uint64_t unit;		  /* first unit of the next page to request */
	uint32_t first, last;	  /* slots requested and not released, in order */
	bool out;		  /* the merge has pinned the first slot */
};

struct sp__pool {
	struct sp__spill *spill;
	struct sp__io_owner owner;
	struct sp__poolplan plan;
	struct source *sources;
	size_t nsources;
	struct slot *slots;
	struct sp__request **batch;
	struct sp__stop *pending; /* npages, if runs are placed by tracks; else NULL */
	unsigned npending;
	char *spare_mem, *spare; /* under compression: one more page, and the current spare */
	unsigned npages, nfree;
	uint32_t free_list;
	struct sp__codec *codec;
	uint64_t unasked; /* pages */
	size_t in_flight;
	size_t last_run; /* run of the read issued last */
	int error;
};

size_t sp__pool_unpacking(enum sp_spill_compression codec, uint32_t page_bytes)
{
	size_t memory = sp__codec_memory(codec, page_bytes, SP__CODEC_UNPACKS);

	return memory ? memory + page_bytes : 0;
}

size_t sp__pool_memory(const struct sp__spill *s, size_t nruns, unsigned npages)
{
	size_t unpacking = sp__pool_unpacking(s->opts.codec, s->opts.page_bytes);
	size_t order = s->place ? npages * (sizeof(struct sp__stop) + sp__place_order_memory()) : 0;

	return order + npages * sizeof(struct slot) + nruns * sizeof(struct source) + unpacking;
}

static void completed(struct sp__io_owner *owner, struct sp__request *req)
{
	struct sp__pool *p = (void *)((char *)owner - offsetof(struct sp__pool, owner));
	struct slot *slot = (void *)req;

	slot->in_flight = false;
	p->in_flight--;
	if (!p->error)
		p->error = sp__spill_check_read(p->spill, req);
}

/* Prepares reading the next page of a source into a free slot. */
static struct sp__request *prepare(struct sp__pool *p, struct source *src)
{
	uint32_t at = p->free_list;
	struct slot *slot = &p->slots[at];
	uint32_t bytes = sp__spill_page_stored(p->spill, src->run, src->asked);

	p->free_list = slot->next;
	p->nfree--;
	slot->req = (struct sp__request){ .op = SP__OP_READ,
					  .data = slot->data,
					  .bytes = (bytes + BLOCK - 1) & ~(BLOCK - 1) };
	sp__spill_locate(p->spill, src->run, src->unit, &slot->req);
	src->unit += sp__spill_page_units(p->spill, src->run, src->asked);
	slot->in_flight = true;
	slot->next = NONE;
	if (src->first == NONE)
		src->first = at;
	else
		p->slots[src->last].next = at;
	src->last = at;
	src->asked++;
	p->unasked--;
	return &slot->req;
}

static int submit(struct sp__pool *p, struct sp__request **batch, unsigned pages)
{
	int rc;

	p->in_flight += pages;
	rc = sp__spill_submit(p->spill, &p->owner, batch, pages);
	if (rc >= 0)
		return 0;
	p->in_flight -= pages;
	for (unsigned i = 0; i < pages; i++)
		((struct slot *)batch[i])->in_flight = false;
	return p->error = rc;
}

/* Submits gathered reads as one batch, once the device is idle. */
static int submit_pending(struct sp__pool *p)
{
	unsigned pages = p->npending;

	if (!pages || p->in_flight)
		return 0;
	p->npending = 0;
	if (sp__place_order(p->spill->place, p->pending, pages) < 0)
		return p->error = sp__err(p->spill->opts.err, -ENOMEM, "allocate", NULL, -1);
	for (unsigned i = 0; i < pages; i++)
		p->batch[i] = p->pending[i].what;
	return submit(p, p->batch, pages);
}

/* Adds a page to the reads to be gathered. */
static void put_off(struct sp__pool *p, struct source *src)
{
	uint64_t unit = sp__spill_unit(src->run, src->unit);

	p->pending[p->npending++] = (struct sp__stop){ unit, prepare(p, src) };
}

static int read_cluster(struct sp__pool *p, unsigned run, unsigned pages)
{
	if (p->last_run != run)
		p->spill->cluster_reads++;
	p->last_run = run;
	for (unsigned i = 0; i < pages; i++) {
		if (p->pending)
			put_off(p, &p->sources[run]);
		else
			p->batch[i] = prepare(p, &p->sources[run]);
	}
	return p->pending ? 0 : submit(p, p->batch, pages);
}

static int pump(struct sp__pool *p)
{
	unsigned run = 0, pages;
	int rc = 0;

	while (!rc && p->nfree && (pages = p->plan.next(p->plan.plan, p->nfree, &run)) > 0)
		rc = read_cluster(p, run, pages);
	/* A batch is worth waiting for until the merge cannot continue. */
	return rc || p->npending < p->nsources ? rc : submit_pending(p);
}

/* Returns the maximum number of requests in a batch: of a cluster, or of all pending reads. */
static size_t batch_cap(const struct sp__pool *p)
{
	if (p->spill->place)
		return p->npages;
	return p->plan.largest ? p->plan.largest : 1;
}

static void open_source(struct sp__pool *p, struct source *src, struct sp__run *run,
			struct sp__run_span span)
{
	const uint32_t page = p->spill->opts.page_bytes;
	size_t first = span.from == span.to ? 0 : (size_t)(span.from / page);

	*src = (struct source){ .run = run,
				.span = span,
				.end = first + sp__run_span_pages(&span, page),
				.asked = first,
				.given = first,
				.first = NONE,
				.last = NONE };
	for (size_t i = 0; i < first; i++)
		src->unit += sp__spill_page_units(p->spill, run, i);
	p->unasked += src->end - first;
}

static int setup(struct sp__pool *p, struct sp__run *const *runs, const struct sp__run_span *spans,
		 void *mem)
{
	const uint32_t page = p->spill->opts.page_bytes;

	p->slots = calloc(p->npages, sizeof(*p->slots));
	p->sources = calloc(p->nsources, sizeof(*p->sources));
	p->batch = calloc(batch_cap(p), sizeof(struct sp__request *));
	if (p->spill->place)
		p->pending = calloc(p->npages, sizeof(*p->pending));
	if (!p->slots || !p->sources || !p->batch || (p->spill->place && !p->pending))
		return -ENOMEM;
	for (unsigned i = 0; i < p->npages; i++) {
		p->slots[i].data = mem ? (char *)mem + (size_t)i * page : NULL;
		p->slots[i].next = i + 1 < p->npages ? i + 1 : NONE;
	}
	p->nfree = p->npages;
	if (p->spill->opts.codec) {
		int rc = sp__codec_new(&p->codec, p->spill->opts.codec, page, SP__CODEC_UNPACKS,
				       p->spill->opts.err);

		if (rc < 0)
			return rc;
		p->spare = p->spare_mem = sp__pages_alloc(page, false);
		if (!p->spare_mem)
			return -ENOMEM;
	}
	for (size_t i = 0; i < p->nsources; i++)
		open_source(p, &p->sources[i], runs[i],
			    spans ? spans[i] : (struct sp__run_span){ 0, runs[i]->bytes });
	return 0;
}

int sp__pool_open(struct sp__pool **pool, struct sp__spill *spill, struct sp__run *const *runs,
		  const struct sp__run_span *spans, size_t nruns, void *mem, unsigned npages,
		  const struct sp__poolplan *plan)
{
	struct sp__pool *p = calloc(1, sizeof(*p));
	int rc;

	if (!p)
		return sp__err(spill->opts.err, -ENOMEM, "allocate", NULL, -1);
	p->spill = spill;
	p->owner.completed = completed;
	p->plan = *plan;
	p->nsources = nruns;
	p->npages = npages;
	p->last_run = SIZE_MAX;
	rc = setup(p, runs, spans, mem);
	if (rc < 0)
		sp__err(spill->opts.err, rc, "allocate", NULL, -1);
	else
		rc = pump(p);
	if (rc < 0) {
		sp__pool_close(p);
		return rc;
	}
	*pool = p;
	return 0;
}

void sp__pool_close(struct sp__pool *p)
{
	if (!p)
		return;
	while (p->in_flight)
		if (sp__spill_reap(p->spill, 1) < 0)
			break;
	sp__pages_free(p->spare_mem, p->spill->opts.page_bytes);
	sp__codec_free(p->codec);
	free(p->slots);
	free(p->sources);
	free(p->batch);
	free(p->pending);
	free(p);
}

bool sp__pool_has_all(struct sp__pool *p)
{
	if (!p->unasked && p->in_flight && sp__spill_reap(p->spill, 0) < 0)
		return false;
	return !p->unasked && !p->in_flight && !p->error;
}

/* Unpacks a page into the spare one; the memory into which it was read becomes the spare. */
static int unpack(struct sp__pool *p, struct slot *slot, uint32_t payload, uint32_t stored)
{
	char *packed = slot->data;

	slot->data = p->spare;
	p->spare = packed;
	return sp__codec_unpack(p->codec, slot->data, payload, packed, stored);
}

/* Reduces a page to its part within the span. */
static void trim(const struct source *src, uint64_t page_begin, const char **data, size_t *bytes)
{
	if (page_begin + *bytes > src->span.to)
		*bytes = (size_t)(src->span.to - page_begin);
	if (page_begin < src->span.from) {
		*data += src->span.from - page_begin;
		*bytes -= (size_t)(src->span.from - page_begin);
	}
}

/* Verifies the first page of the run, and unpacks it. */
static int verify(struct sp__pool *p, struct source *src, const char **data, size_t *bytes)
{
	struct slot *slot = &p->slots[src->first];
	uint32_t payload = sp__spill_page_payload(p->spill, src->run, src->given);
	uint32_t stored = sp__spill_page_stored(p->spill, src->run, src->given);

	if (p->codec && stored != payload && unpack(p, slot, payload, stored) < 0)
		goto corrupt;
	if (!p->spill->opts.hollow && !sp__run_verify_page(src->run, &src->sum, src->given,
							   sp__checksum(slot->data, payload)))
		goto corrupt;
	sp__spill_give_page(p->spill, src->run, src->given);
	*data = slot->data;
	*bytes = payload;
	trim(src, (uint64_t)src->given * p->spill->opts.page_bytes, data, bytes);
	return SP_READY;
corrupt:
	return p->error = sp__errf(p->spill->opts.err, SP_ECORRUPT, "read", slot->req.volume->name,
				   (long long)slot->req.offset,
				   "spilled page is corrupted (checksum differs)");
}

int sp__pool_get(struct sp__pool *p, size_t run, bool wait, const char **data, size_t *bytes)
{
	struct source *src = &p->sources[run];
	int rc;

	if (src->out)
		return SP_ESTATE;
	if (src->given == src->end)
		return SP_END;
	if (src->first == NONE) {
		rc = pump(p);
		if (rc < 0)
			return rc;
		if (src->first == NONE)
			return p->error = SP_ESTATE;
	}
	while (p->slots[src->first].in_flight && !p->error) {
		rc = submit_pending(p);
		if (rc < 0)
			return rc;
		rc = sp__spill_reap(p->spill, wait ? 1 : 0);
		if (rc < 0)
			return p->error = rc;
		if (rc == 0 && !wait)
			return SP_LATER;
	}
	if (p->error)
		return p->error;
	rc = verify(p, src, data, bytes);
	if (rc == SP_READY) {
		src->given++;
		src->out = true;
	}
	return rc;
}

int sp__pool_release(struct sp__pool *p, size_t run)
{
	struct source *src = &p->sources[run];
	uint32_t at = src->first;

	src->first = p->slots[at].next;
	if (src->first == NONE)
		src->last = NONE;
	src->out = false;
	p->slots[at].next = p->free_list;
	p->free_list = at;
	p->nfree++;
	p->plan.consumed(p->plan.plan, (unsigned)run);
	return pump(p);
}
