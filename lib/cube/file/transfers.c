/* SPDX-License-Identifier: MIT */
/*
 * Cuts boxes of cells into items and deals them to transfers (transfers.h).  There are several
 * items per thread, since items take different times.
 */
#include <stdlib.h>
#include "base/err.h"
#include "base/minmax.h"
#include "cube/file/transfers.h"
#include "cube/mapping/boxcut.h"

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
