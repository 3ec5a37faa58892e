/* SPDX-License-Identifier: MIT */
/*
 * A mapping walks the cells of a box as runs of blocks.  A run that begins a short gap after
 * the one before is joined to it, gap and all, when reading: passing over some blocks takes
 * less time than a request of its own.  The gap is what passes under the head during the least
 * positioning, the aim of hops, if the tracks are known; else GAP_BYTES.
 *
 * Requests to a volume go out in the order of its walk, at most depth of them at a time.  All
 * volumes are kept busy: each has a lane (datafile/lanes.h), and lanes get their turn whenever
 * a request has ended.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <spindle/error.h>
#include "base/err.h"
#include "base/minmax.h"
#include "cube/file/putlog.h"
#include "cube/file/transfer.h"

#define DEPTH 16
#define REQUEST_MAX (UINT64_C(1) << 30) /* a result is an int32_t */
#define REQUESTS_MAX 4096		/* of a queue */
#define GAP_BYTES (UINT64_C(64) << 10)
/* Memory of a request beside its cells. */
#define REQUEST_MEMORY (sizeof(struct sp__cellrequest) + sizeof(struct sp__cellrequest *))

uint64_t sp__transfer_gap(const struct sp__cube_superblock *h, bool no_coalesce)
{
	const struct sp__multimap *m = &h->mapping.multimap;

	if (no_coalesce)
		return 0;
	return m->nzones ? m->zones[0].need_blocks : GAP_BYTES / h->block_bytes;
}

static void set_sizes(struct sp__transfer *t)
{
	const struct sp__cubefile *c = t->file;
	uint64_t most = c->opts.request_bytes ? c->opts.request_bytes : SP__TRANSFER_BYTES;
	uint64_t limit = c->env.budget.limit_bytes / 4;

	most = sp__min(most, REQUEST_MAX);

	t->nlanes = sp__fragments_volumes(&c->superblock.fragments);
	t->depth = c->opts.depth ? c->opts.depth : c->env.device ? 1 : DEPTH;
	t->depth = (unsigned)sp__min(t->depth, REQUESTS_MAX / t->nlanes);
	/* A quarter of the memory is for requests. */
	while (t->depth > 1 && t->depth * t->nlanes * (c->cell_bytes + REQUEST_MEMORY) > limit)
		t->depth--;
	t->nrequests = t->depth * t->nlanes;
	limit /= t->nrequests;
	most = sp__min(most, limit - sp__min(limit, REQUEST_MEMORY));
	t->rules.cell_blocks = c->superblock.cell_blocks;
	t->rules.request_blocks = sp__max(most / c->cell_bytes, 1) * c->superblock.cell_blocks;
	t->pool_bytes = t->nrequests * t->rules.request_blocks * c->superblock.block_bytes;
}

static int keep_run(void *lane, uint64_t block, uint64_t cells)
{
	return !sp__runlane_add(lane, block, cells);
}

static bool walk(void *source, struct sp__runlane *lane)
{
	return sp__fragwalk_runs(source, keep_run, lane);
}

int sp__transfer_open(struct sp__transfer *t, struct sp__cubefile *file, enum sp__op op,
		      struct sp_cube_stats *stats, struct sp_errinfo *err)
{
	struct sp__queue_opts qo = { .engine = file->opts.run.engine,
				     .trace = file->env.trace,
				     .device = file->env.device };

	*t = (struct sp__transfer){ .file = file, .stats = stats, .err = err, .op = op };
	t->begin_ns = sp__env_now_ns(&file->env);
	set_sizes(t);
	t->pool = sp__pages_alloc(t->pool_bytes, true);
	t->requests = calloc(t->nrequests, sizeof(*t->requests));
	t->free = calloc(t->nrequests, sizeof(*t->free));
	t->lanes = calloc(t->nlanes, sizeof(*t->lanes));
	t->walks = calloc(t->nlanes, sizeof(*t->walks));
	if (!t->pool || !t->requests || !t->free || !t->lanes || !t->walks)
		return sp__err(err, -ENOMEM, "malloc", NULL, -1);
	t->charged_bytes = t->pool_bytes + t->nlanes * (sizeof(*t->lanes) + sizeof(*t->walks)) +
			   t->nrequests * REQUEST_MEMORY;
	sp__budget_charge(&file->env.budget, t->charged_bytes);
	for (unsigned v = 0; v < t->nlanes; v++) {
		t->lanes[v].fill = walk;
		t->lanes[v].source = &t->walks[v];
		t->lanes[v].last_end = UINT64_MAX;
	}
	for (; t->nfree < t->nrequests; t->nfree++) {
		struct sp__cellrequest *q = &t->requests[t->nfree];

		q->r.data =
			t->pool + t->nfree * t->rules.request_blocks * file->superblock.block_bytes;
		q->r.tag = t->nfree;
		t->free[t->nfree] = q;
	}
	qo.depth = t->nrequests;
	qo.pool = t->pool;
	qo.pool_bytes = t->pool_bytes;
	return sp__queue_open(&t->queue, &qo, err);
}

/* A cell that was read, or the room for one that is written. */
static uint8_t *cell_of(const struct sp__transfer *t, const uint64_t *x, uint8_t *cell)
{
	return t->op == SP__OP_READ && t->file->pending.extent ? sp__putlog_cell(t->file, x, cell)
							       : cell;
}

static void each_cell(struct sp__transfer *t, struct sp__cellrequest *q)
{
	const struct sp__cube_superblock *h = &t->file->superblock;
	uint64_t first = q->runs[0].block, x[SP_CUBE_DIMS_MAX];

	for (unsigned i = 0; t->fn && i < q->nruns; i++) {
		const struct sp__fragment *fragment =
			h->points ? NULL : sp__fragments_of(&h->fragments, q->runs[i].block);
		uint8_t *data = q->r.data;

		data += (q->runs[i].block - first) * h->block_bytes;
		for (uint64_t k = 0; k < q->runs[i].cells; k++) {
			if (fragment)
				(void)sp__fragment_cell(fragment,
							q->runs[i].block + k * h->cell_blocks, x);
			else
				x[0] = q->runs[i].block + k * h->cell_blocks;
			t->fn(t->arg, x, cell_of(t, x, data + k * t->file->cell_bytes));
		}
	}
}

/* Waits for a request, or for all of them. */
static int reap(struct sp__transfer *t, unsigned min)
{
	struct sp__request *done[64];
	int rc = 0, n;

	n = sp__queue_reap(t->queue, done, 64, sp__min(min, 64), -1);
	for (int i = 0; i < n; i++) {
		struct sp__request *r = done[i];
		struct sp__cellrequest *q = &t->requests[r->tag];

		t->free[t->nfree++] = q;
		q->lane->outstanding--;
		if (rc)
			continue;
		if (r->result != (int32_t)r->bytes)
			rc = sp__volume_err(
				t->err, r->volume, r->result < 0 ? r->result : SP_ECORRUPT,
				r->op == SP__OP_READ ? "read" : "write", (long long)r->offset);
		else if (r->op == SP__OP_READ)
			each_cell(t, q);
	}
	return n < 0 ? sp__err(t->err, n, "wait", t->file->path, -1) : rc;
}

/* There is a free request. */
static int submit(struct sp__transfer *t, struct sp__runlane *lane, unsigned n)
{
	struct sp__cellrequest *q = t->free[t->nfree - 1];
	uint64_t end = sp__cellrun_end(&t->rules, &q->runs[n - 1]), first = q->runs[0].block;
	uint64_t local = first;
	struct sp__request *r = &q->r;
	int rc;

	(void)sp__basicgrid_volume(&t->file->superblock.mapping.basic, &local);
	q->nruns = n;
	q->lane = lane;
	*r = (struct sp__request){ .op = t->op,
				   .volume = t->file->volumes[lane - t->lanes],
				   .data = r->data,
				   .tag = r->tag,
				   .offset = local * t->file->superblock.block_bytes,
				   .bytes = (uint32_t)((end - first) *
						       t->file->superblock.block_bytes) };
	if (t->op == SP__OP_WRITE)
		each_cell(t, q);
	lane->requests++;
	lane->bytes += r->bytes;
	t->stats->seeks += first != lane->last_end;
	lane->last_end = end;
	rc = sp__queue_submit(t->queue, &r, 1);
	if (rc)
		return sp__err(t->err, rc, "submit", t->file->path, (long long)r->offset);
	t->nfree--;
	lane->outstanding++;
	return 0;
}

/* Submits what lanes have, as far as depth allows; returns how many have more, or an error. */
static int feed(struct sp__transfer *t)
{
	int rc = 0, more = 0;

	for (unsigned v = 0; !rc && v < t->nlanes; v++) {
		struct sp__runlane *lane = &t->lanes[v];
		bool ready = true;
		unsigned n;

		while (!rc && ready && lane->outstanding < t->depth) {
			ready = sp__runlane_next(lane, &t->rules, t->free[t->nfree - 1]->runs,
						 &n) == SP_READY;
			if (ready)
				rc = submit(t, lane, n);
		}
		more += ready && (lane->filling || lane->ending || !sp__runlane_free(lane));
	}
	return rc ? rc : more;
}

void sp__transfer_begin(struct sp__transfer *t, enum sp__op op, sp__cell_fn fn, void *arg)
{
	t->op = op;
	t->rules.gap_blocks = op == SP__OP_READ ? sp__transfer_gap(&t->file->superblock,
								   t->file->opts.no_coalesce)
						: 0;
	t->fn = fn;
	t->arg = arg;
	for (unsigned v = 0; v < t->nlanes; v++) {
		t->lanes[v].ending = false;
		t->lanes[v].first = t->lanes[v].n = 0;
	}
}

/* Until no lane has more than it may, or all have nothing. */
static int feed_all(struct sp__transfer *t)
{
	int more;

	while ((more = feed(t)) > 0) {
		int rc = reap(t, 1);

		if (rc)
			return rc;
	}
	return more;
}

int sp__transfer_cells(struct sp__transfer *t, const struct sp_cube_box *cells)
{
	uint64_t n = 1;

	for (unsigned i = 0; i < t->file->superblock.shape.ndims; i++)
		n *= sp__box_count(cells, i);
	t->stats->cells += n;
	for (unsigned v = 0; v < t->nlanes; v++) {
		sp__fragwalk_begin(&t->walks[v], &t->file->superblock.fragments, cells, v);
		t->lanes[v].filling = true;
	}
	return feed_all(t);
}

int sp__transfer_run(struct sp__transfer *t, uint64_t block, uint64_t cells)
{
	uint64_t local = block;
	struct sp__runlane *lane =
		&t->lanes[sp__basicgrid_volume(&t->file->superblock.mapping.basic, &local)];

	t->stats->cells += cells;
	(void)sp__runlane_add(lane, block, cells);
	return feed_all(t);
}

int sp__transfer_end(struct sp__transfer *t)
{
	int rc;

	for (unsigned v = 0; v < t->nlanes; v++)
		t->lanes[v].ending = true;
	rc = feed_all(t);
	while (!rc && t->nfree < t->nrequests)
		rc = reap(t, t->nrequests - t->nfree);
	return rc;
}

int sp__transfer_box(struct sp__transfer *t, const struct sp_cube_box *cells, sp__cell_fn fn,
		     void *arg)
{
	int rc;

	sp__transfer_begin(t, t->op, fn, arg);
	rc = sp__transfer_cells(t, cells);
	return rc ? rc : sp__transfer_end(t);
}

void sp__transfer_close(struct sp__transfer *t)
{
	if (t->queue) {
		sp__env_note_io(&t->stats->run, sp__queue_counters(t->queue));
		snprintf(t->stats->run.engine, sizeof(t->stats->run.engine), "%s",
			 sp__queue_engine(t->queue));
	}
	sp__queue_close(t->queue);
	for (unsigned v = 0; t->lanes && v < t->nlanes; v++) {
		t->stats->requests += t->lanes[v].requests;
		t->stats->bytes += t->lanes[v].bytes;
		t->stats->volume_requests[v] += t->lanes[v].requests;
		t->stats->volume_bytes[v] += t->lanes[v].bytes;
	}
	t->stats->cell_bytes = t->stats->cells * t->file->cell_bytes;
	t->stats->transfer_s += (double)(sp__env_now_ns(&t->file->env) - t->begin_ns) * 1e-9;
	if (t->pool)
		sp__pages_free(t->pool, t->pool_bytes);
	sp__budget_credit(&t->file->env.budget, t->charged_bytes);
	free(t->requests);
	free(t->free);
	free(t->lanes);
	free(t->walks);
}
