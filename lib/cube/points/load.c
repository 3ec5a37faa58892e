/* SPDX-License-Identifier: MIT */
/*
 * Builds a dataset of points: when points are loaded, and when it is reorganised.
 *
 * Algorithm
 * 1. The present points and those of the input are sorted by their keys into a temporary file.
 * 2. The sorted keys make the tree, and its nodes get their locations (tree.c, regions.c).
 * 3. All cells of regions are written empty, since not all of them have points.
 * 4. The sorted points are read again; the points of a cell follow each other.  Cells are collected
 *    as far as memory allows, and written in ascending order.
 * 5. When all is on the devices, the superblock names the new dataset, and the space of the old one
 *    is released.
 *
 * Directory and cells are written before those of the old dataset if there is enough space,
 * otherwise behind them.
 *
 * Memory: half for sorting, later for the tree; a quarter for collected cells; a quarter for
 * requests.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/bisect.h"
#include "base/err.h"
#include "base/whole.h"
#include "base/minmax.h"
#include "cube/file/pointcell.h"
#include "cube/file/space.h"
#include "cube/points/input.h"
#include "cube/points/tree.h"
#include "cube/file/transfer.h"
#include "run/charge.h"

struct load {
	struct sp__points *dataset;
	struct sp__pointinput input;
	struct sp_cube_stats *stats;
	struct sp_errinfo *err;
	struct sp__sorter sort;
	struct sp__volume *temporary;
	struct sp__pointsource sorted; /* all points, in the temporary file */
};

static int keep(void *arg, sp__zkey key, const uint8_t *record)
{
	struct load *l = arg;
	uint32_t bytes = l->dataset->set.record_bytes;
	uint8_t *to = sp__sorter_space(&l->sort, bytes);

	(void)key;
	if (!to)
		return -ENOMEM;
	memcpy(to, record, bytes);
	return sp__sorter_add(&l->sort, bytes);
}

static int add_point(void *arg, const uint64_t *x, const uint8_t *value)
{
	struct load *l = arg;
	const struct sp__points *c = l->dataset;
	uint8_t *to = sp__sorter_space(&l->sort, c->set.record_bytes);

	if (!to)
		return -ENOMEM;
	sp__zkey_store(&c->set.space, sp__zkey_of(&c->set.space, x), to);
	memcpy(to + c->set.space.bytes, value, c->file->superblock.shape.element_bytes);
	return sp__sorter_add(&l->sort, c->set.record_bytes);
}

static int to_file(void *arg, const void *data, size_t bytes)
{
	struct load *l = arg;
	uint32_t each = l->dataset->set.record_bytes;
	int rc = sp__write_whole(l->sorted.fd, data, bytes, l->sorted.n * each);

	l->sorted.n += bytes / each;
	return rc ? sp__err(l->err, rc, "write", l->sorted.name, -1) : 0;
}

/* Sorts the points that the dataset has. */
static int read_present(struct load *l, const struct sp_cube_box *all)
{
	struct sp__points *c = l->dataset;

	sp__cube_begin_phase(c->file, SP_CUBE_PHASE_INPUT, SP__OP_READ, sp__points_cell_bytes(c));
	return sp__points_each(c, all, keep, l, l->stats, l->err);
}

/* Sorts all points into a temporary file. */
static int sort_points(struct load *l)
{
	struct sp__points *c = l->dataset;
	const struct sp_run_opts *o = &c->file->opts.run;
	struct sp_cube_box all;
	int rc = sp__pointsort_open(&l->sort, c->file, c->set.record_bytes, l->err);

	sp__znode_box(&c->set.space, 0, 0, &all);
	if (!rc)
		rc = sp__volume_temp(&l->temporary, o->ntmpdirs ? o->tmpdirs[0] : "/tmp",
				     SP__DIRECT_NEVER, l->err);
	if (!rc && c->file->superblock.pointset.count)
		rc = read_present(l, &all);
	if (!rc)
		rc = sp__pointinput_read(&l->input);
	if (!rc) {
		l->sorted = (struct sp__pointsource){ .fd = l->temporary->fd,
						      .name = l->temporary->name,
						      .record_bytes = c->set.record_bytes,
						      .share = 1,
						      .bytes = sp__cube_slab_bytes(c->file),
						      .err = l->err };
		rc = sp__pointsort_drain(&l->sort, to_file, l);
	}
	if (!rc && l->sorted.n - l->input.n < c->file->superblock.pointset.count)
		rc = sp__errf(l->err, SP_ECORRUPT, "load", c->file->path, -1,
			      "it has fewer points than its superblock says: run check");
	sp__charge_sorting(&c->file->env, l->sorted.n);
	(void)!sp__sorter_close(&l->sort);
	return rc;
}

/* A cell that is being filled. */
struct opencell {
	struct sp__pointcell head;
	uint64_t block;
	size_t index; /* index of its data */
};

/* Collected cells: full ones, and those that are being filled. */
struct writer {
	struct load *load;
	struct sp__transfer transfer;
	struct opencell open[1 << SP__REGION_CUT_MAX];
	unsigned nopen;
	uint64_t overflow;	  /* overflow cells used */
	size_t used, n, capacity; /* used: cells in data; n: full ones */
	struct fullcell {
		uint64_t block;
		size_t index;
	} * full;
	uint8_t *data;
};

/* Returns the order in which cells are written: alternately on all volumes. */
static uint64_t order_of(const struct writer *w, uint64_t block)
{
	uint64_t number;

	(void)sp__pointset_number(&w->load->dataset->set, 0, block, &number);
	return number;
}

static int by_order(const void *a, const void *b, void *writer)
{
	const struct fullcell *p = a, *q = b;

	return SP__ORDER(order_of(writer, p->block), order_of(writer, q->block));
}

static void fill_cell(void *arg, const uint64_t *x, uint8_t *cell)
{
	const struct writer *w = arg;
	size_t i = SP__BISECT(w->n, k, order_of(w, w->full[k].block) < order_of(w, x[0]));
	uint64_t bytes = w->load->dataset->file->cell_bytes;

	memcpy(cell, w->data + w->full[i].index * bytes, bytes);
}

static int by_index(const void *a, const void *b)
{
	const struct opencell *p = a, *q = b;

	return SP__ORDER(p->index, q->index);
}

static uint8_t *data_of(const struct writer *w, size_t index)
{
	return w->data + index * w->load->dataset->file->cell_bytes;
}

/* Writes the full cells, and moves the others to the front. */
static int flush(struct writer *w)
{
	int rc = 0;

	qsort_r(w->full, w->n, sizeof(*w->full), by_order, w);
	sp__transfer_begin(&w->transfer, SP__OP_WRITE, fill_cell, w);
	for (size_t i = 0; !rc && i < w->n; i++)
		rc = sp__transfer_run(&w->transfer, w->full[i].block, 1);
	if (!rc)
		rc = sp__transfer_end(&w->transfer);
	qsort(w->open, w->nopen, sizeof(*w->open), by_index);
	for (size_t i = 0; i < w->nopen; i++) {
		memmove(data_of(w, i), data_of(w, w->open[i].index),
			w->load->dataset->file->cell_bytes);
		w->open[i].index = i;
	}
	w->used = w->nopen;
	w->n = 0;
	return rc;
}

static void end_cell(struct writer *w, struct opencell *o)
{
	sp__pointcell_seal(data_of(w, o->index), o->head, w->load->dataset->set.record_bytes);
	w->full[w->n++] = (struct fullcell){ o->block, o->index };
	*o = w->open[--w->nopen];
}

static void end_cells(struct writer *w)
{
	while (w->nopen)
		end_cell(w, w->open);
}

/* Begins a cell in the chain of a home; it becomes the last open one. */
static int begin_cell(struct writer *w, uint64_t block, uint64_t home)
{
	int rc = w->used == w->capacity ? flush(w) : 0;

	w->open[w->nopen++] = (struct opencell){ { .home = home }, block, w->used };
	memset(data_of(w, w->used++), 0, w->load->dataset->file->cell_bytes);
	return rc;
}

/* Ends a full cell and begins the next one of its chain, which becomes the last open one. */
static int continue_cell(struct writer *w, struct opencell *o)
{
	const struct sp__cube_pointset *p = &w->load->dataset->file->superblock.pointset;
	uint64_t block = sp__pointset_block(&w->load->dataset->set, p->overflow_block, w->overflow);
	uint64_t home;

	if (w->overflow++ == p->overflow_cells)
		return sp__errf(w->load->err, -ERANGE, "load", w->load->dataset->file->path, -1,
				"too many points have the same coordinates");
	o->head.next = block;
	home = o->head.home;
	end_cell(w, o);
	return begin_cell(w, block, home);
}

static void fill_empty(void *arg, const uint64_t *x, uint8_t *cell)
{
	const struct sp__points *c = ((struct writer *)arg)->load->dataset;

	memset(cell, 0, c->file->cell_bytes);
	sp__pointcell_seal(cell, (struct sp__pointcell){ .home = x[0] }, c->set.record_bytes);
}

static int write_regions(struct writer *w)
{
	const struct sp__pointset *s = &w->load->dataset->set;
	struct sp_cube_box cells = { 0 };
	int rc = 0;

	sp__transfer_begin(&w->transfer, SP__OP_WRITE, fill_empty, w);
	for (size_t i = 0; !rc && i < s->nregions; i++) {
		for (unsigned d = 0; d < s->space.n; d++) {
			cells.hi[d] = s->regions[i]->size[d] - 1;
			cells.stride[d] = 1;
		}
		rc = sp__transfer_mapped(&w->transfer, &s->regions[i]->mapping, &cells);
	}
	return rc ? rc : sp__transfer_end(&w->transfer);
}

/* Returns the open cell of a home, or NULL. */
static struct opencell *find_open(struct writer *w, uint64_t home)
{
	for (unsigned i = 0; i < w->nopen; i++)
		if (w->open[i].head.home == home)
			return &w->open[i];
	return NULL;
}

static int add_record(struct writer *w, uint64_t home, const uint8_t *record)
{
	struct sp__points *c = w->load->dataset;
	struct opencell *o = find_open(w, home);

	if (!o || o->head.count == c->set.capacity) {
		int rc = o ? continue_cell(w, o) : begin_cell(w, home, home);

		if (rc)
			return rc;
		c->file->superblock.pointset.cells += !o;
		o = &w->open[w->nopen - 1];
	}
	memcpy(data_of(w, o->index) + sizeof(o->head) +
		       (size_t)o->head.count++ * c->set.record_bytes,
	       record, c->set.record_bytes);
	return 0;
}

static int write_points(struct writer *w)
{
	struct load *l = w->load;
	struct sp__points *c = l->dataset;
	struct sp__home home = { 0 };
	struct sp__pointcursor cursor;
	uint64_t x[SP_CUBE_DIMS_MAX];
	const uint8_t *record;
	int rc = sp__pointcursor_open(&cursor, &l->sorted, 0);
	uint64_t n = 0;

	sp__cube_begin_phase(c->file, SP_CUBE_PHASE_CELLS, -1, l->sorted.n * c->set.record_bytes);
	while (!rc && (record = sp__pointcursor_next(&cursor, &rc))) {
		sp__zkey key = sp__zkey_load(&c->set.space, record);

		if (key > home.last)
			end_cells(w);
		if (!w->nopen || home.shared) {
			sp__zkey_coordinates(&c->set.space, key, x);
			home = sp__pointset_home(&c->set, key, x);
		}
		rc = add_record(w, home.block, record);
		if (++n % SP__POINTS_REPORTED == 0)
			sp__progress_add(&c->file->progress,
					 SP__POINTS_REPORTED * (uint64_t)c->set.record_bytes);
	}
	end_cells(w);
	sp__pointcursor_close(&cursor);
	return rc ? rc : flush(w);
}

static int write_cells(struct load *l)
{
	struct sp__points *c = l->dataset;
	struct writer w = { .load = l };
	uint64_t each = c->file->cell_bytes + sizeof(*w.full), bytes;
	int rc = -ENOMEM;

	/* Cells that share a node are open together, and one of them can need a successor. */
	w.capacity = sp__max(sp__cube_slab_bytes(c->file) / 2 / each,
			     1 + sp__min(SP__REGION_NODE_BYTES / c->file->cell_bytes,
					 UINT64_C(1) << SP__REGION_CUT_MAX));
	bytes = w.capacity * each;
	w.full = calloc(w.capacity, sizeof(*w.full));
	w.data = malloc(w.capacity * c->file->cell_bytes);
	sp__budget_charge(&c->file->env.budget, bytes);
	if (!w.full || !w.data)
		rc = sp__err(l->err, -ENOMEM, "malloc", NULL, -1);
	else
		rc = sp__transfer_open(&w.transfer, c->file, l->stats, l->err);
	if (!rc)
		rc = write_regions(&w);
	if (!rc)
		rc = write_points(&w);
	if (w.transfer.file)
		sp__transfer_close(&w.transfer);
	free(w.full);
	free(w.data);
	sp__budget_credit(&c->file->env.budget, bytes);
	return rc;
}

static int plan_at(struct load *l, uint64_t block)
{
	struct sp__points *c = l->dataset;
	int rc = sp__pointtree_plan(&c->set, &c->file->superblock, &l->sorted, block);

	return rc ? sp__err(l->err, rc, "load", c->file->path, -1) : 0;
}

/* Plans the dataset before the old one, or behind it. */
static int plan_cells(struct load *l, const struct sp__cube_pointset *old, uint64_t old_end)
{
	struct sp__points *c = l->dataset;
	const struct sp__cube_superblock *h = &c->file->superblock;
	uint64_t front = sp__cube_superblock_front(h), cells = l->sorted.n / c->set.capacity;
	int rc;

	if (cells * h->cell_blocks < old->directory_block - front) {
		rc = plan_at(l, front);
		if (rc || sp__cube_superblock_end(h) <= old->directory_block)
			return rc;
		sp__pointset_free(&c->set);
	}
	return plan_at(l, old_end);
}

/* Names the new dataset in the superblock, once it is on the devices. */
static int commit(struct load *l, const struct sp__cube_pointset *old)
{
	struct sp__cubefile *f = l->dataset->file;
	struct sp__cube_superblock *h = &f->superblock;
	struct sp__cube_pointset new = h->pointset;
	int rc = sp__cube_sync(f, l->err);

	h->pointset = *old;
	if (!rc)
		rc = sp__cube_begin_change(f, l->err);
	h->pointset = new;
	return rc ? rc : sp__cube_end_change(f, l->err);
}

/* Replaces the dataset; the old one stays as it is until the new one is complete. */
static int replace(struct load *l)
{
	struct sp__cubefile *f = l->dataset->file;
	struct sp__cube_superblock *h = &f->superblock;
	struct sp__pointset *set = &l->dataset->set, old_set = *set;
	struct sp__cube_pointset old = h->pointset;
	uint64_t old_end = sp__cube_superblock_end(h);
	struct sp__cubespace space;
	int rc = plan_cells(l, &old, old_end);

	if (!rc) {
		rc = sp__cube_extend(f, sp__cube_superblock_end(h), "load", &space, l->err);
		if (!rc)
			rc = write_cells(l);
		if (!rc)
			rc = sp__directory_write(l->dataset, l->err);
		if (rc)
			sp__cube_shorten(f, &space);
		else
			rc = commit(l, &old);
	}
	if (rc) {
		sp__pointset_free(set);
		*set = old_set;
		h->pointset = old;
		return rc;
	}
	sp__pointset_free(&old_set);
	sp__budget_credit(&f->env.budget, old.nleaves * sizeof(struct sp__leaf));
	sp__budget_charge(&f->env.budget, h->pointset.nleaves * sizeof(struct sp__leaf));
	rc = sp__cube_superblock_write(h, f->cells.first.fd, f->path,
				       l->err); /* the other slot, too */
	if (!rc)
		sp__cube_release(f, old.directory_block, old_end);
	return rc;
}

int sp__points_load(struct sp__points *c, const char *input, const struct sp_cube_load_opts *opts,
		    struct sp_cube_stats *stats, struct sp_errinfo *err)
{
	struct load l = { .dataset = c,
			  .input = { c, input, opts, add_point, &l, err, 0, 0 },
			  .stats = stats,
			  .err = err };
	int rc = sp__pointinput_check(&l.input);

	if (!rc && !c->file->opts.write)
		rc = sp__err(err, -EBADF, "load", c->file->path, -1);
	if (!rc)
		rc = sort_points(&l);
	if (!rc)
		rc = replace(&l);
	sp__volume_close(l.temporary);
	stats->blank_lines = l.input.blank_lines;
	stats->header_lines = l.input.header_lines;
	stats->elements = input ? l.input.n : l.sorted.n;
	return rc;
}
