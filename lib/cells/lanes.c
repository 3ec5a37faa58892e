/* SPDX-License-Identifier: MIT */
/*
 * Joins and cuts runs of cells, and keeps requests of all lanes outstanding.
 *
 * A run that begins a short gap after the one before is joined to it, gap and all.  A run that
 * is longer than a request is cut, and what is left of it is a request of its own.  Whether a
 * run is joined depends on the next one, so the last run that is known waits for it.
 *
 * Memory: requests have fixed buffers in one pool, each of the longest request.  If that exceeds
 * the limit, first the depth is lowered until a cell of each request fits, then requests are
 * shorter.
 */
#include <stdlib.h>
#include <string.h>
#include "base/err.h"
#include "base/mem.h"
#include "base/minmax.h"
#include "cells/lanes.h"

#define REQUEST_MAX (UINT64_C(1) << 30) /* a result is an int32_t */
#define REQUESTS_MAX 4096		/* maximum requests of a queue */
/* Memory of a request in addition to its cells. */
#define REQUEST_MEMORY (sizeof(struct sp__lanerequest) + sizeof(struct sp__lanerequest *))

static void compact(struct sp__runlane *l)
{
	memmove(l->runs, l->runs + l->first, (l->n - l->first) * sizeof(*l->runs));
	l->n -= l->first;
	l->first = 0;
}

/* Gets more runs from the source, if few are left. */
static void refill(struct sp__runlane *l)
{
	if (!l->filling || !sp__runlane_free(l))
		return;
	compact(l);
	l->filling = l->fill(l->source, l);
}

bool sp__runlane_add(struct sp__runlane *l, uint64_t block, uint64_t cells)
{
	if (l->n == SP__RUNLANE_RUNS)
		compact(l);
	l->runs[l->n++] = (struct sp__cellrun){ block, cells };
	return l->n < SP__RUNLANE_RUNS;
}

/* Merges runs that continue the first one into it.  False: it is the last one known. */
static bool merge(struct sp__runlane *l, const struct sp__runlane_rules *rules)
{
	while (l->first + 1 < l->n) {
		struct sp__cellrun *run = &l->runs[l->first], *next = run + 1;

		if (next->block != sp__cellrun_end(rules, run))
			return true;
		next->block = run->block;
		next->cells += run->cells;
		l->first++;
	}
	return false;
}

int sp__runlane_next(struct sp__runlane *l, const struct sp__runlane_rules *rules,
		     struct sp__cellrun runs[SP__REQUEST_RUNS], unsigned *count)
{
	uint64_t max = rules->request_blocks / rules->cell_blocks;
	const struct sp__cellrun *first, *next;
	bool known;
	unsigned n = 1;

	do {
		refill(l);
		known = merge(l, rules);
	} while (!known && l->filling);
	if (l->first == l->n)
		return l->ending ? SP_END : SP_LATER;
	first = next = &l->runs[l->first];
	if (first->cells > max) {
		runs[0] = (struct sp__cellrun){ first->block, max };
		l->runs[l->first].block += max * rules->cell_blocks;
		l->runs[l->first].cells -= max;
		l->rest = true;
		*count = 1;
		return SP_READY;
	}
	for (; !l->rest && l->first + n < l->n && n < SP__REQUEST_RUNS; n++) {
		uint64_t end = sp__cellrun_end(rules, next++);

		if (next->block < end || next->block - end > rules->gap_blocks ||
		    sp__cellrun_end(rules, next) - first->block > rules->request_blocks)
			break;
	}
	known = l->ending || l->first + n < l->n || n == SP__REQUEST_RUNS;
	if (!known)
		return SP_LATER;
	memcpy(runs, first, n * sizeof(*runs));
	l->first += n;
	l->rest = false;
	*count = n;
	return SP_READY;
}

void sp__runlanes_sizes(struct sp__runlanes_opts *o)
{
	uint64_t cell_bytes = (uint64_t)o->cell_blocks * o->block_bytes, limit = o->limit_bytes;
	uint64_t max = sp__min(o->request_bytes, REQUEST_MAX);

	o->depth = (unsigned)sp__min(o->depth, REQUESTS_MAX / o->volumes);
	while (o->depth > 1 && o->depth * o->volumes * (cell_bytes + REQUEST_MEMORY) > limit)
		o->depth--;
	limit /= o->depth * o->volumes;
	max = sp__min(max, limit - sp__min(limit, REQUEST_MEMORY));
	o->request_bytes = sp__max(max / cell_bytes, 1) * cell_bytes;
}

/* Sets the number of requests and their length. */
static void set_sizes(struct sp__runlanes *l)
{
	struct sp__runlanes_opts *o = &l->opts;

	sp__runlanes_sizes(o);
	l->nrequests = o->depth * o->volumes;
	l->rules.cell_blocks = o->cell_blocks;
	l->rules.request_blocks = (uint32_t)(o->request_bytes / o->block_bytes);
	l->pool_bytes = l->nrequests * o->request_bytes;
}

static void completed(struct sp__io_owner *owner, struct sp__request *r)
{
	struct sp__runlanes *l = (void *)owner;
	struct sp__lanerequest *q = (void *)r;

	l->free[l->nfree++] = q;
	q->lane->outstanding--;
	if (l->error)
		return;
	if (r->result != (int32_t)r->bytes)
		l->error = sp__volume_err(
			l->opts.err, r->volume, r->result < 0 ? r->result : SP_ECORRUPT,
			r->op == SP__OP_READ ? "read" : "write", (long long)r->offset);
	else if (r->op == SP__OP_READ)
		l->opts.move(l->opts.arg, q);
}

int sp__runlanes_open(struct sp__runlanes *l, const struct sp__runlanes_opts *opts)
{
	struct sp__queue_opts qo = opts->queue;

	*l = (struct sp__runlanes){ .owner.completed = completed, .opts = *opts };
	set_sizes(l);
	l->pool = sp__pages_alloc(l->pool_bytes, true);
	l->requests = calloc(l->nrequests, sizeof(*l->requests));
	l->free = calloc(l->nrequests, sizeof(*l->free));
	l->lanes = calloc(opts->volumes, sizeof(*l->lanes));
	if (!l->pool || !l->requests || !l->free || !l->lanes)
		return sp__err(opts->err, -ENOMEM, "malloc", NULL, -1);
	l->memory_bytes =
		l->pool_bytes + opts->volumes * sizeof(*l->lanes) + l->nrequests * REQUEST_MEMORY;
	for (unsigned v = 0; v < opts->volumes; v++)
		l->lanes[v].last_end = UINT64_MAX;
	for (; l->nfree < l->nrequests; l->nfree++) {
		struct sp__lanerequest *q = &l->requests[l->nfree];

		q->r.data = l->pool + l->nfree * l->rules.request_blocks * opts->block_bytes;
		l->free[l->nfree] = q;
	}
	qo.depth = l->nrequests;
	qo.pool = l->pool;
	qo.pool_bytes = l->pool_bytes;
	return sp__queue_open(&l->queue, &qo, opts->err);
}

void sp__runlanes_begin(struct sp__runlanes *l, enum sp__op op, uint64_t gap_blocks)
{
	l->op = op;
	l->error = 0;
	l->rules.gap_blocks = gap_blocks;
	for (unsigned v = 0; v < l->opts.volumes; v++) {
		l->lanes[v].ending = false;
		l->lanes[v].first = l->lanes[v].n = 0;
	}
}

/* Waits for `min` requests, and takes all that have completed. */
static int reap(struct sp__runlanes *l, unsigned min)
{
	int n = sp__queue_complete(l->queue, min, -1);

	return n < 0 ? sp__err(l->opts.err, n, "wait", l->opts.name, -1) : l->error;
}

/* Submits the first free request, whose runs are set. */
static int submit(struct sp__runlanes *l, struct sp__runlane *lane, unsigned n)
{
	struct sp__lanerequest *q = l->free[l->nfree - 1];
	uint64_t first = q->runs[0].block, end = sp__cellrun_end(&l->rules, &q->runs[n - 1]);
	struct sp__request *r = &q->r;
	int rc;

	q->nruns = n;
	q->lane = lane;
	*r = (struct sp__request){ .op = l->op,
				   .volume = lane->volume,
				   .data = r->data,
				   .owner = &l->owner,
				   .offset = (first - lane->begin_block) * l->opts.block_bytes,
				   .bytes = (uint32_t)((end - first) * l->opts.block_bytes) };
	if (l->op == SP__OP_WRITE)
		l->opts.move(l->opts.arg, q);
	lane->requests++;
	lane->bytes += r->bytes;
	l->seeks += first != lane->last_end;
	lane->last_end = end;
	rc = sp__queue_submit(l->queue, &r, 1);
	if (rc)
		return sp__err(l->opts.err, rc, "submit", l->opts.name, (long long)r->offset);
	l->nfree--;
	lane->outstanding++;
	return 0;
}

/* Submits as far as the depth allows.  Returns the number of lanes that have more, or an error. */
static int submit_all(struct sp__runlanes *l)
{
	int rc = 0, more = 0;

	for (unsigned v = 0; !rc && v < l->opts.volumes; v++) {
		struct sp__runlane *lane = &l->lanes[v];
		bool ready = true;
		unsigned n;

		while (!rc && ready && lane->outstanding < l->opts.depth) {
			ready = sp__runlane_next(lane, &l->rules, l->free[l->nfree - 1]->runs,
						 &n) == SP_READY;
			if (ready)
				rc = submit(l, lane, n);
		}
		more += ready && (lane->filling || lane->ending || !sp__runlane_free(lane));
	}
	return rc ? rc : more;
}

int sp__runlanes_feed(struct sp__runlanes *l)
{
	int more;

	while ((more = submit_all(l)) > 0) {
		int rc = reap(l, 1);

		if (rc)
			return rc;
	}
	return more;
}

int sp__runlanes_end(struct sp__runlanes *l)
{
	int rc;

	for (unsigned v = 0; v < l->opts.volumes; v++)
		l->lanes[v].ending = true;
	rc = sp__runlanes_feed(l);
	while (!rc && l->nfree < l->nrequests)
		rc = reap(l, l->nrequests - l->nfree);
	return rc;
}

void sp__runlanes_close(struct sp__runlanes *l)
{
	sp__queue_close(l->queue);
	if (l->pool)
		sp__pages_free(l->pool, l->pool_bytes);
	free(l->requests);
	free(l->free);
	free(l->lanes);
	*l = (struct sp__runlanes){ 0 };
}
