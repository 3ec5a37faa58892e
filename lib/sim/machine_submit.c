/* SPDX-License-Identifier: MIT */
/*
 * Turns requests of a program into transfers of the simulated machine.
 *
 * Algorithm.  A request is cut where its pages are not contiguous on the device.  Each contiguous
 * span passes through the page cache, or directly to the device.  All requests of a submission are
 * located first, because only that step can fail for lack of space.  Then transfers are made for
 * all of them and submitted to the device together.
 *
 * If memory runs out during this, the transfers made so far are still submitted (the page cache
 * relies on them), but no request waits for them.
 */
#include <stdlib.h>
#include "base/array.h"
#include "base/err.h"
#include "base/minmax.h"
#include "sim/machine_impl.h"
#include "trace/sequence.h"

/*
 * The recorded sequence for OPT: a trace of an earlier run that made the same requests in the same
 * order.  The requests of the run are found in it.  The trace can have requests to volumes that are
 * not on the simulated machine (files=...).  So a request is searched among the next AHEAD ones, by
 * direction and offset.  The first match of a file and a volume links the two.  Skipped requests
 * leave gaps in the positions.  OPT only compares positions, so gaps have no effect.
 */
#define AHEAD 4096 /* requests examined */

struct sp__simtrace {
	struct sp_sequence *seq;
	struct sp__seqpages pages;
	uint64_t *position; /* page of the device at which each request begins */
	unsigned *file;	    /* number of each volume's file, plus 1; 0: not known yet */
	size_t next;
};

static int count_positions(struct sp__simtrace *t, uint32_t page_bytes)
{
	uint64_t position = 0;

	t->position = calloc(t->seq->n + 1, sizeof(*t->position));
	t->file = calloc(t->seq->nvolumes + 1, sizeof(*t->file));
	if (!t->position || !t->file)
		return -ENOMEM;
	for (size_t i = 0; i < t->seq->n; i++) {
		const struct sp__seqreq *r = &t->seq->req[i];

		t->position[i] = position;
		position += sp__seqreq_pages(r, page_bytes);
	}
	return 0;
}

int sp__simtrace_open(struct sp__simtrace **out, const char *path, uint32_t page_bytes,
		      struct sp_errinfo *err)
{
	struct sp__simtrace *t = calloc(1, sizeof(*t));
	int rc;

	if (!t)
		return sp__err(err, -ENOMEM, "read", path, -1);
	rc = sp_sequence_load(&t->seq, path, NULL, err);
	if (rc == 0)
		rc = sp__sequence_pages(t->seq, page_bytes, &t->pages);
	if (rc == 0)
		rc = count_positions(t, page_bytes);
	if (rc < 0) {
		sp__simtrace_close(t);
		return sp__err(err, rc, "read", path, -1);
	}
	*out = t;
	return 0;
}

void sp__simtrace_close(struct sp__simtrace *t)
{
	if (!t)
		return;
	sp__sequence_pages_release(&t->pages);
	sp_sequence_free(t->seq);
	free(t->position);
	free(t->file);
	free(t);
}

const uint64_t *sp__simtrace_pages(const struct sp__simtrace *t, size_t *n)
{
	*n = t->pages.n;
	return t->pages.pages;
}

static bool is_taken(const struct sp__simtrace *t, unsigned file)
{
	for (size_t v = 0; v < t->seq->nvolumes; v++)
		if (t->file[v] == file)
			return true;
	return false;
}

/* Passes the position of a request in the trace to the page cache. */
static void simtrace_seek(struct sp__simtrace *t, struct sp__pcache *pc,
			  const struct sp__simreq *req)
{
	unsigned file = req->file + 1;
	bool known = is_taken(t, file);

	for (size_t i = t->next; i < t->seq->n && i < t->next + AHEAD; i++) {
		const struct sp__seqreq *r = &t->seq->req[i];

		if (r->write != req->write || r->offset != req->offset ||
		    t->file[r->volume] != (known ? file : 0))
			continue;
		t->file[r->volume] = file;
		t->next = i + 1;
		sp__pcache_seek(pc, t->position[i]);
		return;
	}
	sp__pcache_seek(pc, t->pages.n);
}

/* Pages of a file that are contiguous on the device. */
struct span {
	uint64_t page; /* number of the page in the file */
	uint64_t device;
	size_t pages;
};

typedef int span_fn(struct sp__machine *m, struct sp__simreq *req, const struct span *span);

/* Returns the end of the bytes that take time. */
static uint64_t end_of(const struct sp__machine *m, const struct sp__simreq *req)
{
	uint64_t end = req->offset + req->bytes, file_end = m->files[req->file].end;

	return !req->write && end > file_end ? file_end : end;
}

static int each_span(struct sp__machine *m, struct sp__simreq *req, span_fn *fn)
{
	uint64_t end = end_of(m, req), last;
	struct span span = { .page = req->offset / m->spec.page_bytes };
	int rc = 0;

	if (end <= req->offset)
		return 0;
	last = (end - 1) / m->spec.page_bytes;
	for (; rc == 0 && span.page <= last; span.page += span.pages) {
		rc = sp__fsmap_locate(m->fs, req->file, span.page, last - span.page + 1,
				      &span.device, &span.pages);
		if (rc == 0 && fn)
			rc = fn(m, req, &span);
	}
	return rc;
}

/* Without a page cache: makes a transfer of the blocks that hold the bytes. */
static int direct_span(struct sp__machine *m, struct sp__simreq *req, const struct span *span)
{
	uint64_t base = span->page * m->spec.page_bytes, block = m->model->block_bytes;
	uint64_t from = req->offset > base ? req->offset - base : 0;
	uint64_t to = end_of(m, req) - base, most = (uint64_t)span->pages * m->spec.page_bytes;
	uint64_t first = from / block;
	struct sp__xfer *x;
	int rc;

	to = sp__min(to, most);
	m->stats.transfers += span->pages;
	x = sp__xfer_new(m, req->write, span->device * m->page_blocks + first,
			 (to + block - 1) / block - first);
	if (!x)
		return -ENOMEM;
	x->req.prio = req->prio;
	rc = sp__xfer_ready(m, x);
	return rc < 0 ? rc : sp__xfer_wait(m, x, req);
}

static void forget_work(struct sp__machine *m)
{
	m->read.n = m->ahead.n = m->write.n = 0;
}

/* Waits for the cached pages of the span that are still being read. */
static int wait_for_flying(struct sp__machine *m, struct sp__simreq *req, const struct span *span)
{
	size_t missing = 0;
	void *before = NULL;

	for (uint64_t p = span->device; m->flying && p < span->device + span->pages; p++) {
		void **tag;

		if (missing < m->read.n && m->read.pages[missing] == p) {
			missing++;
			continue;
		}
		tag = sp__pcache_tag(m->pc, p);
		if (!tag || !*tag || *tag == before)
			continue;
		before = *tag;
		if (sp__xfer_wait(m, before, req) < 0)
			return -ENOMEM;
	}
	return 0;
}

/* Makes transfers for the lists, with a gate before the reads if pages are evicted. */
static int make_reads(struct sp__machine *m, struct sp__simreq *req)
{
	struct sp__xfer_use evict = { .write = true, .prio = req->prio },
			    ahead = { .prio = req->prio }, read = { .prio = req->prio, .req = req };
	struct sp__gate *gate = NULL;
	int rc = 0;

	if (m->write.n) {
		gate = sp__simpool_get(&m->gates);
		if (!gate)
			return -ENOMEM;
		*gate = (struct sp__gate){ .last = &gate->first };
		evict.shut = read.into = ahead.into = gate;
		rc = sp__xfers_make(m, &m->write, m->write_pages_max, &evict);
	}
	if (rc == 0)
		rc = sp__xfers_make(m, &m->read, UINT32_MAX, &read);
	if (rc == 0)
		rc = sp__xfers_make(m, &m->ahead, UINT32_MAX, &ahead);
	if (gate && !gate->shut)
		sp__simpool_put(&m->gates, gate);
	return rc;
}

static int read_span(struct sp__machine *m, struct sp__simreq *req, const struct span *span)
{
	/* A window begins at most one window after the span and is twice as long. */
	size_t look = span->pages + 3 * (size_t)(m->spec.readahead_bytes / m->spec.page_bytes);
	uint64_t further;
	int rc;

	forget_work(m);
	look = sp__fsmap_contiguous(m->fs, req->file, span->page, look);
	sp__pcache_ahead_end(m->pc, span->device + look);
	rc = sp__pcache_read(m->pc, span->device, span->pages, &m->read, &m->ahead, &m->write);
	if (look == span->pages &&
	    sp__fsmap_find(m->fs, req->file, span->page + span->pages, &further))
		sp__pcache_stream(m->pc, further);
	if (rc == 0)
		rc = wait_for_flying(m, req, span);
	return rc < 0 ? rc : make_reads(m, req);
}

static int write_span(struct sp__machine *m, struct sp__simreq *req, const struct span *span)
{
	struct sp__xfer_use use = { .write = true, .prio = req->prio, .req = req };
	int rc;

	forget_work(m);
	rc = sp__pcache_write(m->pc, m->now_ns, span->device, span->pages, &m->write);
	return rc < 0 ? rc : sp__xfers_make(m, &m->write, m->write_pages_max, &use);
}

/* Allocates the pages of all requests, and the memory for their completion. */
static int prepare(struct sp__machine *m, struct sp__simreq **reqs, size_t n)
{
	size_t most = m->outstanding + n;
	int rc = m->rc;

	if (!SP__ARRAY_GROW(m->done.item, m->done_cap, most))
		return -ENOMEM;
	for (size_t i = 0; i < n && rc == 0; i++) {
		struct sp__simfile *f = &m->files[reqs[i]->file];
		uint64_t end;

		if (__builtin_add_overflow(reqs[i]->offset, reqs[i]->bytes, &end))
			return -ENOSPC;
		rc = each_span(m, reqs[i], NULL);
		if (rc == 0 && reqs[i]->write && end > f->end)
			f->end = end;
	}
	return rc;
}

static int build(struct sp__machine *m, struct sp__simreq **reqs, size_t n)
{
	int rc = 0;

	m->made = NULL;
	for (size_t i = 0; i < n && rc == 0; i++) {
		struct sp__simreq *r = reqs[i];

		r->waits = 0;
		r->submit_ns = m->now_ns;
		if (!m->pc) {
			rc = each_span(m, r, direct_span);
			continue;
		}
		if (m->future)
			simtrace_seek(m->future, m->pc, r);
		rc = each_span(m, r, r->write ? write_span : read_span);
	}
	for (struct sp__wait *w = m->made; rc < 0 && w; w = w->made)
		w->req = NULL;
	return rc;
}

/* Completes the requests that wait for no transfer once their bytes are copied. */
static void settle(struct sp__machine *m, struct sp__simreq **reqs, size_t n)
{
	uint64_t copy_ns = 0;

	for (size_t i = 0; i < n; i++) {
		struct sp__simreq *r = reqs[i];

		r->seq = m->seq++;
		r->copy_ns = m->pc ? (uint64_t)r->bytes * m->model->cpu_copy_ps / 1000 : 0;
		if (r->waits && !r->write)
			continue;
		copy_ns += r->copy_ns;
		r->copy_ns = 0;
	}
	m->outstanding += (unsigned)n;
	m->stats.requests += n;
	sp__machine_charge(m, copy_ns);
	for (size_t i = 0; i < n; i++)
		if (!reqs[i]->waits)
			sp__machine_complete(m, reqs[i], m->now_ns);
}

int sp__machine_submit(struct sp__machine *m, struct sp__simreq **reqs, size_t n, bool indivisible)
{
	int rc;

	sp__machine_charge(m, n * m->model->cpu_request_ns);
	sp__machine_catch_up(m);
	rc = prepare(m, reqs, n);
	if (rc < 0)
		return rc;
	rc = build(m, reqs, n);
	sp__xfers_submit(m, m->now_ns, indivisible);
	sp__machine_background(m, m->now_ns);
	if (rc == 0)
		settle(m, reqs, n);
	return rc;
}
