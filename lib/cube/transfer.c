/* SPDX-License-Identifier: MIT */
/*
 * A mapping walks the cells of a box as runs of blocks.  A run that begins a short gap after
 * the one before is joined to it, gap and all, when reading: passing over some blocks takes
 * less time than a request of its own.  The gap is what passes under the head during the least
 * positioning, the aim of hops, if the tracks are known; else GAP_BYTES.
 *
 * Requests go out in the order of the walk.  With a depth of 1 each is waited for.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <spindle/error.h>
#include "base/err.h"
#include "base/minmax.h"
#include "cube/transfer.h"

#define DEPTH 16
#define REQUEST_MAX (UINT64_C(1) << 30) /* a result is an int32_t */
#define GAP_BYTES (UINT64_C(64) << 10)

uint64_t sp__transfer_gap(const struct sp__cube_head *h, bool no_coalesce)
{
	const struct sp__multimap *m = &h->mapping.multimap;

	if (no_coalesce)
		return 0;
	return m->nzones ? m->zones[0].need_blocks : GAP_BYTES / h->block_bytes;
}

static void set_sizes(struct sp__transfer *t)
{
	const struct sp_cube *c = t->cube;
	uint64_t most = c->opts.request_bytes ? c->opts.request_bytes : SP__TRANSFER_BYTES;

	most = sp__min(most, REQUEST_MAX);

	t->depth = c->opts.depth ? c->opts.depth : c->env.device ? 1 : DEPTH;
	/* A quarter of the memory is for requests. */
	while (t->depth > 1 && t->depth * c->cell_bytes > c->env.budget.limit_bytes / 4)
		t->depth--;
	most = sp__min(most, c->env.budget.limit_bytes / 4 / t->depth);
	t->request_blocks = sp__max(most / c->cell_bytes, 1) * c->head.cell_blocks;
	t->pool_bytes = t->depth * t->request_blocks * c->head.block_bytes;
}

int sp__transfer_open(struct sp__transfer *t, struct sp_cube *cube, enum sp__op op,
		      struct sp_cube_stats *stats, struct sp_errinfo *err)
{
	struct sp__queue_opts qo = { .engine = cube->opts.run.engine,
				     .trace = cube->env.trace,
				     .device = cube->env.device };

	*t = (struct sp__transfer){ .cube = cube, .stats = stats, .err = err, .op = op };
	t->begin_ns = sp__env_now_ns(&cube->env);
	t->last_end = UINT64_MAX;
	set_sizes(t);
	t->pool = sp__pages_alloc(t->pool_bytes, false);
	t->requests = calloc(t->depth, sizeof(*t->requests));
	t->free = calloc(t->depth, sizeof(*t->free));
	if (!t->pool || !t->requests || !t->free)
		return sp__err(err, -ENOMEM, "malloc", NULL, -1);
	sp__budget_charge(&cube->env.budget, t->pool_bytes);
	for (; t->nfree < t->depth; t->nfree++) {
		struct sp__cellrequest *q = &t->requests[t->nfree];

		q->r.data = t->pool + t->nfree * t->request_blocks * cube->head.block_bytes;
		q->r.tag = t->nfree;
		t->free[t->nfree] = q;
	}
	qo.depth = t->depth;
	qo.pool = t->pool;
	qo.pool_bytes = t->pool_bytes;
	return sp__queue_open(&t->queue, &qo, err);
}

static void each_cell(struct sp__transfer *t, struct sp__cellrequest *q)
{
	const struct sp__cube_head *h = &t->cube->head;
	uint64_t first = q->runs[0].block, x[SP_CUBE_DIMS_MAX];

	for (unsigned i = 0; t->fn && i < q->nruns; i++) {
		uint8_t *data = q->r.data;

		data += (q->runs[i].block - first) * h->block_bytes;
		for (uint64_t k = 0; k < q->runs[i].cells; k++) {
			(void)sp__mapping_cell(&h->mapping, q->runs[i].block + k * h->cell_blocks,
					       x);
			t->fn(t->arg, x, data + k * t->cube->cell_bytes);
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
		if (rc)
			continue;
		if (r->result != (int32_t)r->bytes)
			rc = sp__volume_err(
				t->err, t->cube->volume, r->result < 0 ? r->result : SP_ECORRUPT,
				t->op == SP__OP_READ ? "read" : "write", (long long)r->offset);
		else if (t->op == SP__OP_READ)
			each_cell(t, q);
	}
	return n < 0 ? sp__err(t->err, n, "wait", t->cube->path, -1) : rc;
}

/* The block after a run. */
static uint64_t run_end(const struct sp__transfer *t, const struct sp__cellrun *run)
{
	return run->block + run->cells * t->cube->head.cell_blocks;
}

static int submit(struct sp__transfer *t, const struct sp__cellrun *runs, unsigned n)
{
	uint64_t end = run_end(t, &runs[n - 1]);
	uint32_t block_bytes = t->cube->head.block_bytes;
	struct sp__request *r;
	struct sp__cellrequest *q;
	int rc = 0;

	while (!rc && !t->nfree)
		rc = reap(t, 1);
	if (rc)
		return rc;
	q = t->free[--t->nfree];
	memcpy(q->runs, runs, n * sizeof(*runs));
	q->nruns = n;
	r = &q->r;
	*r = (struct sp__request){ .op = t->op,
				   .volume = t->cube->volume,
				   .data = r->data,
				   .tag = r->tag,
				   .offset = runs->block * block_bytes,
				   .bytes = (uint32_t)((end - runs->block) * block_bytes) };
	if (t->op == SP__OP_WRITE)
		each_cell(t, q);
	t->stats->requests++;
	t->stats->bytes += r->bytes;
	t->stats->seeks += runs->block != t->last_end;
	t->last_end = end;
	rc = sp__queue_submit(t->queue, &r, 1);
	if (rc) {
		t->free[t->nfree++] = q;
		return sp__err(t->err, rc, "submit", t->cube->path, (long long)r->offset);
	}
	return t->depth == 1 ? reap(t, 1) : 0;
}

/* Submits the runs that wait: several as one request, a long one in pieces. */
static int flush(struct sp__transfer *t)
{
	uint64_t most = t->request_blocks / t->cube->head.cell_blocks;
	struct sp__cellrun piece = t->runs[0];
	int rc = 0;

	if (t->nruns > 1)
		rc = submit(t, t->runs, t->nruns);
	for (uint64_t left = t->nruns == 1 ? piece.cells : 0; !rc && left; left -= piece.cells) {
		piece.cells = sp__min(left, most);
		rc = submit(t, &piece, 1);
		piece.block = run_end(t, &piece);
	}
	t->nruns = 0;
	return rc;
}

static int take(void *arg, uint64_t block, uint64_t cells)
{
	struct sp__transfer *t = arg;
	struct sp__cellrun run = { block, cells };
	int rc = 0;

	t->stats->cells += cells;
	if (t->nruns) {
		struct sp__cellrun *last = &t->runs[t->nruns - 1];
		uint64_t end = run_end(t, last);

		if (block == end && t->nruns == 1) {
			last->cells += cells;
			return 0;
		}
		if (t->nruns == SP__REQUEST_RUNS || block < end || block - end > t->gap_blocks ||
		    run_end(t, &run) - t->runs[0].block > t->request_blocks)
			rc = flush(t);
	}
	t->runs[t->nruns++] = run;
	return rc;
}

void sp__transfer_begin(struct sp__transfer *t, enum sp__op op, sp__cell_fn fn, void *arg)
{
	t->op = op;
	t->gap_blocks =
		op == SP__OP_READ ? sp__transfer_gap(&t->cube->head, t->cube->opts.no_coalesce) : 0;
	t->fn = fn;
	t->arg = arg;
	t->nruns = 0;
}

int sp__transfer_cells(struct sp__transfer *t, const struct sp_cube_box *cells)
{
	return sp__mapping_walk(&t->cube->head.mapping, cells, take, t);
}

int sp__transfer_end(struct sp__transfer *t)
{
	int rc = flush(t);

	while (!rc && t->nfree < t->depth)
		rc = reap(t, t->depth - t->nfree);
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
	t->stats->cell_bytes = t->stats->cells * t->cube->cell_bytes;
	t->stats->transfer_s += (double)(sp__env_now_ns(&t->cube->env) - t->begin_ns) * 1e-9;
	if (t->pool) {
		sp__pages_free(t->pool, t->pool_bytes);
		sp__budget_credit(&t->cube->env.budget, t->pool_bytes);
	}
	free(t->requests);
	free(t->free);
}
