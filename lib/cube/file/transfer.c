/* SPDX-License-Identifier: MIT */
/*
 * Moves the cells of boxes.  A walk of each volume gives the cells on it as runs of blocks, which
 * the lane of the volume makes requests of (cells/lanes.h).
 *
 * Reads pass over gaps up to the blocks that pass under the head during the shortest positioning,
 * the aim of hops, if the tracks are known; else up to GAP_BYTES.  Writes pass over no gap.
 */
#include <stdlib.h>
#include "base/err.h"
#include "base/minmax.h"
#include "base/task.h"
#include "cube/file/putlog.h"
#include "cube/file/transfer.h"
#include "cube/mapping/boxcut.h"

/*
 * Cuts boxes of cells into items and deals them to transfers.  There are several
 * items per thread, since items take different times.
 */

#define ITEM_BYTES (UINT64_C(256) << 10) /* minimum of an item, and of the memory of a transfer */
#define ITEMS_EACH 4			 /* items per thread */

/* Returns the most transfers that can be of use: 1 if requests must stay in the mapping's order. */
static uint64_t max_share(const struct sp__cubefile *file)
{
	uint64_t max = sp__min(sp__transfer_depth(file), SP__DEAL_MAX);

	if (file->superblock.mapping.multimap.nzones)
		return 1;
	max = sp__min(max, sp__transfer_memory(file) / ITEM_BYTES);
	return sp__max(sp__min(max, sp__cube_threads(file)), 1);
}

int sp__transfers_open(struct sp__transfers *ts, struct sp__cubefile *file,
		       struct sp_cube_stats *stats, struct sp_errinfo *err)
{
	*ts = (struct sp__transfers){ .file = file,
				      .stats = stats,
				      .share = (unsigned)max_share(file),
				      .begin_ns = sp__env_now_ns(&file->env) };
	ts->list = calloc(ts->share, sizeof(*ts->list));
	if (!ts->list)
		return sp__err(err, -ENOMEM, "malloc", NULL, -1);
	ts->n = 1;
	return sp__transfer_open_share(&ts->list[0], ts->share, file, stats, err);
}

unsigned sp__transfers_for(struct sp__transfers *ts, uint64_t items)
{
	while (ts->n < sp__min(ts->share, items)) {
		if (sp__transfer_open_share(&ts->list[ts->n], ts->share, ts->file, ts->stats,
					    NULL)) {
			sp__transfer_close(&ts->list[ts->n]);
			ts->share = ts->n;
			break;
		}
		ts->n++;
	}
	return ts->n;
}

struct sp__transfer *sp__transfers_of(struct sp__transfers *ts, unsigned worker,
				      struct sp_errinfo *err)
{
	ts->list[worker].lanes.opts.err = err;
	return &ts->list[worker];
}

struct moving {
	struct sp__transfers *transfers;
	enum sp__op op;
	sp__cell_fn fn;
	void *arg;
	struct sp__boxcut cut;
};

static int move_item(void *arg, unsigned worker, uint64_t item, struct sp_errinfo *err)
{
	struct moving *m = arg;
	struct sp_cube_box box = sp__boxcut_item(&m->cut, item);

	return sp__transfer_box(sp__transfers_of(m->transfers, worker, err), m->op, &box, m->fn,
				m->arg);
}

int sp__transfers_box(struct sp__transfers *ts, enum sp__op op, const struct sp_cube_box *cells,
		      sp__cell_fn fn, void *arg, struct sp_errinfo *err)
{
	unsigned ndims = ts->file->superblock.shape.ndims;
	struct moving m = { .transfers = ts, .op = op, .fn = fn, .arg = arg };
	uint64_t items = sp__box_cells(cells, ndims) * ts->file->cell_bytes / ITEM_BYTES;

	items = sp__max(sp__min(items, ts->share > 1 ? ts->share * ITEMS_EACH : 1), 1);
	items = sp__boxcut_init(&m.cut, cells, ndims, ts->file->superblock.extent_cells, items);
	return sp__deal(sp__transfers_for(ts, items), items, move_item, &m, err);
}

void sp__transfers_close(struct sp__transfers *ts)
{
	double before, passed;

	if (!ts->file)
		return;
	before = ts->stats->transfer_s;
	passed = (double)(sp__env_now_ns(&ts->file->env) - ts->begin_ns) * 1e-9;
	for (unsigned i = 0; i < ts->n; i++)
		sp__transfer_close(&ts->list[i]);
	ts->stats->transfer_s = before + passed;
	free(ts->list);
	*ts = (struct sp__transfers){ 0 };
}

#define DEPTH 16
#define GAP_BYTES (UINT64_C(64) << 10)

uint64_t sp__transfer_gap(const struct sp__cube_superblock *h, bool no_coalesce)
{
	const struct sp__multimap *m = &h->mapping.multimap;

	if (no_coalesce)
		return 0;
	return m->nzones ? m->zones[0].need_blocks : GAP_BYTES / h->block_bytes;
}

static int keep_run(void *lane, uint64_t block, uint64_t cells)
{
	return !sp__runlane_add(lane, block, cells);
}

static bool walk(void *source, struct sp__runlane *lane)
{
	return sp__fragwalk_runs(source, keep_run, lane);
}

/* Returns a cell that was read, or the memory for one that is written. */
static uint8_t *cell_of(const struct sp__transfer *t, const uint64_t *x, uint8_t *cell)
{
	return t->lanes.op == SP__OP_READ && t->file->pending.extent
		       ? sp__putlog_cell(t->file, x, cell)
		       : cell;
}

/* Adds the cells of a request to the progress. */
static void count_cells(struct sp__cubefile *file, const struct sp__lanerequest *q)
{
	uint64_t cells = 0;

	for (unsigned i = 0; i < q->nruns; i++)
		cells += q->runs[i].cells;
	sp__progress_add(&file->progress, cells * file->cell_bytes);
}

static void each_cell(void *arg, const struct sp__lanerequest *q)
{
	struct sp__transfer *t = arg;
	const struct sp__cube_superblock *h = &t->file->superblock;
	uint64_t first = q->runs[0].block, x[SP_CUBE_DIMS_MAX];

	if (t->file->counted == (int)t->lanes.op)
		count_cells(t->file, q);
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

uint64_t sp__transfer_memory(const struct sp__cubefile *file)
{
	return file->env.budget.limit_bytes / 4;
}

unsigned sp__transfer_depth(const struct sp__cubefile *file)
{
	return file->opts.depth ? file->opts.depth : file->env.device ? 1 : DEPTH;
}

/*
 * Returns the size of the longest request.  A reader makes none longer than the longest volume: the
 * memory of all requests would be touched when the queue is opened.
 */
static uint64_t request_bytes(const struct sp__cubefile *file)
{
	const uint64_t max =
		file->opts.request_bytes ? file->opts.request_bytes : SP__TRANSFER_BYTES;
	uint64_t bytes = 0;

	for (unsigned v = 0; v < file->cells.n; v++)
		bytes = sp__max(bytes, file->cells.volumes[v].volume->size_bytes);
	if (file->cells.write || !bytes)
		return max;
	return sp__min(max, bytes + file->cell_bytes - 1); /* whole cells are rounded down */
}

int sp__transfer_open_share(struct sp__transfer *t, unsigned share, struct sp__cubefile *file,
			    struct sp_cube_stats *stats, struct sp_errinfo *err)
{
	const struct sp__cube_superblock *h = &file->superblock;
	const struct sp_cube_opts *o = &file->opts;
	const struct sp__runlanes_opts lo = {
		.volumes = h->mapping.basic.volumes,
		.depth = sp__transfer_depth(file) / share,
		.block_bytes = h->block_bytes,
		.cell_blocks = h->cell_blocks,
		.request_bytes = request_bytes(file),
		.limit_bytes = sp__transfer_memory(file) / share,
		.queue = { .engine = o->run.engine,
			   .trace = file->env.trace,
			   .device = file->env.device },
		.move = each_cell,
		.arg = t,
		.name = file->path,
		.err = err,
	};
	int rc;

	*t = (struct sp__transfer){ .file = file, .stats = stats };
	t->begin_ns = sp__env_now_ns(&file->env);
	t->walks = calloc(lo.volumes, sizeof(*t->walks));
	rc = t->walks ? sp__runlanes_open(&t->lanes, &lo)
		      : sp__err(err, -ENOMEM, "malloc", NULL, -1);
	t->charged_bytes = t->lanes.memory_bytes + lo.volumes * sizeof(*t->walks);
	sp__budget_charge(&file->env.budget, t->charged_bytes);
	for (unsigned v = 0; !rc && v < lo.volumes; v++) {
		struct sp__runlane *lane = &t->lanes.lanes[v];

		lane->fill = walk;
		lane->source = &t->walks[v];
		lane->volume = file->cells.volumes[v].volume;
		lane->begin_block = v * h->mapping.basic.volume_blocks;
	}
	return rc;
}

int sp__transfer_open(struct sp__transfer *t, struct sp__cubefile *file,
		      struct sp_cube_stats *stats, struct sp_errinfo *err)
{
	return sp__transfer_open_share(t, 1, file, stats, err);
}

void sp__transfer_begin(struct sp__transfer *t, enum sp__op op, sp__cell_fn fn, void *arg)
{
	const struct sp__cubefile *c = t->file;

	sp__runlanes_begin(&t->lanes, op,
			   op == SP__OP_READ ? sp__transfer_gap(&c->superblock, c->opts.no_coalesce)
					     : 0);
	t->fn = fn;
	t->arg = arg;
}

int sp__transfer_cells(struct sp__transfer *t, const struct sp_cube_box *cells)
{
	t->cells += sp__box_cells(cells, t->file->superblock.shape.ndims);
	for (unsigned v = 0; v < t->lanes.opts.volumes; v++) {
		sp__fragwalk_begin(&t->walks[v], &t->file->superblock.fragments, cells, v);
		t->lanes.lanes[v].filling = true;
	}
	return sp__runlanes_feed(&t->lanes);
}

static bool walk_mapping(void *source, struct sp__runlane *lane)
{
	struct sp__fragwalk *w = source;

	return sp__cubewalk_runs(&w->walk, keep_run, lane);
}

int sp__transfer_mapped(struct sp__transfer *t, const struct sp__mapping *m,
			const struct sp_cube_box *cells)
{
	t->cells += sp__box_cells(cells, m->grid.n);
	for (unsigned v = 0; v < t->lanes.opts.volumes; v++) {
		sp__cubewalk_begin(&t->walks[v].walk, m, cells, v);
		t->lanes.lanes[v].fill = walk_mapping;
		t->lanes.lanes[v].filling = true;
	}
	return sp__runlanes_feed(&t->lanes);
}

int sp__transfer_run(struct sp__transfer *t, uint64_t block, uint64_t cells)
{
	const struct sp__basicgrid *b = &t->file->superblock.mapping.basic;
	uint64_t volume = b->volumes > 1 ? block / b->volume_blocks : 0;

	t->cells += cells;
	(void)sp__runlane_add(&t->lanes.lanes[volume], block, cells);
	return sp__runlanes_feed(&t->lanes);
}

int sp__transfer_end(struct sp__transfer *t)
{
	return sp__runlanes_end(&t->lanes);
}

int sp__transfer_box(struct sp__transfer *t, enum sp__op op, const struct sp_cube_box *cells,
		     sp__cell_fn fn, void *arg)
{
	int rc;

	sp__transfer_begin(t, op, fn, arg);
	rc = sp__transfer_cells(t, cells);
	return rc ? rc : sp__transfer_end(t);
}

void sp__transfer_close(struct sp__transfer *t)
{
	struct sp_cube_stats *st = t->stats;

	if (t->lanes.queue) {
		sp__env_note_io(&st->run, sp__queue_counters(t->lanes.queue));
		snprintf(st->run.engine, sizeof(st->run.engine), "%s",
			 sp__queue_engine(t->lanes.queue));
	}
	for (unsigned v = 0; t->lanes.lanes && v < t->lanes.opts.volumes; v++) {
		const struct sp__runlane *lane = &t->lanes.lanes[v];

		st->requests += lane->requests;
		st->bytes += lane->bytes;
		st->volume_requests[v] += lane->requests;
		st->volume_bytes[v] += lane->bytes;
	}
	st->seeks += t->lanes.seeks;
	st->cells += t->cells;
	sp__runlanes_close(&t->lanes);
	st->cell_bytes = st->cells * t->file->cell_bytes;
	st->transfer_s += (double)(sp__env_now_ns(&t->file->env) - t->begin_ns) * 1e-9;
	sp__budget_credit(&t->file->env.budget, t->charged_bytes);
	free(t->walks);
}
