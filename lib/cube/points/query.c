/* SPDX-License-Identifier: MIT */
/*
 * Reads the points of a box.
 *
 * Algorithm.  The cells that the box meets are read as cells.c walks them.  Then the overflow cells
 * that these cells name are read in ascending order, then those that these name, and so on.
 *
 * Points arrive in any order.  A result is sorted by coordinates, the last one first, like the
 * elements of a grid; points of one position are sorted by the bytes of their values.  So it
 * depends neither on the mapping nor on the order of reads.
 *
 * Every cell is compared with its checksum.
 *
 * A planned dataset has no data: its requests are made, for as many overflow cells as are probable.
 */
#include <stdlib.h>
#include <string.h>
#include "base/array.h"
#include "base/err.h"
#include "base/minmax.h"
#include "cube/file/pointcell.h"
#include "cube/points/cells.h"
#include "cube/points/points.h"
#include "cube/points/tree.h"
#include "cube/file/transfer.h"
#include "run/charge.h"

struct query {
	struct sp__points *dataset;
	struct sp_errinfo *err;
	struct sp__transfer transfer;
	struct sp_cube_box box;
	sp__record_fn fn;
	void *arg;
	uint64_t *chain; /* numbers of overflow cells to read next */
	size_t nchain, capacity;
	uint64_t overflow;	     /* read so far */
	uint64_t points;	     /* in the box */
	struct sp_cube_check *check; /* not NULL: damage is counted, and is not an error */
	int rc;
};

static void note_damage(struct query *q, uint64_t block)
{
	if (!q->check) {
		q->rc = sp__cube_damaged(q->dataset->file, block, q->err);
		return;
	}
	if (!q->check->damaged++) {
		struct sp_cube_box node = { 0 };

		(void)sp__pointset_node(&q->dataset->set, block, &node);
		memcpy(q->check->first_damaged, node.lo, sizeof(node.lo));
	}
}

/* Returns the block of an overflow cell. */
static uint64_t overflow_block(const struct query *q, uint64_t number)
{
	return sp__pointset_block(&q->dataset->set,
				  q->dataset->file->superblock.pointset.overflow_block, number);
}

/* Sets the number of an overflow cell; false: there is none at the block. */
static bool find_overflow(const struct query *q, uint64_t block, uint64_t *number)
{
	const struct sp__cube_pointset *p = &q->dataset->file->superblock.pointset;

	return sp__pointset_number(&q->dataset->set, p->overflow_block, block, number) &&
	       *number < p->overflow_cells && overflow_block(q, *number) == block;
}

static void follow(struct query *q, uint64_t block, uint64_t next)
{
	size_t before = q->capacity;
	uint64_t number;

	if (!next)
		return;
	if (!find_overflow(q, next, &number) ||
	    q->overflow + q->nchain >= q->dataset->file->superblock.pointset.overflow_cells) {
		note_damage(q, block);
		return;
	}
	if (!SP__ARRAY_GROW(q->chain, q->capacity, q->nchain + 1)) {
		q->rc = sp__err(q->err, -ENOMEM, "malloc", NULL, -1);
		return;
	}
	sp__budget_charge(&q->dataset->file->env.budget,
			  (q->capacity - before) * sizeof(*q->chain));
	q->chain[q->nchain++] = number;
}

/* Takes a point if it is in the box.  Returns false if it does not belong to this cell. */
static bool take_point(struct query *q, const struct sp__pointcell *head, const uint8_t *record)
{
	const struct sp__pointset *s = &q->dataset->set;
	sp__zkey key = sp__zkey_load(&s->space, record);
	uint64_t x[SP_CUBE_DIMS_MAX];

	sp__zkey_coordinates(&s->space, key, x);
	if (q->check && sp__pointset_home(s, key, x).block != head->home)
		return false;
	if (!sp__box_spans(&q->box, s->space.n, x))
		return true;
	q->points++;
	if (q->fn)
		q->rc = q->fn(q->arg, key, record);
	return true;
}

static void examine(void *arg, const uint64_t *x, uint8_t *cell)
{
	struct query *q = arg;
	const struct sp__pointset *s = &q->dataset->set;
	struct sp__pointcell head;
	uint64_t number;
	bool overflow = find_overflow(q, x[0], &number), good = true;

	if (q->rc)
		return;
	if (!sp__pointcell_read(cell, s, &head) || (!overflow && head.home != x[0])) {
		note_damage(q, x[0]);
		return;
	}
	cell += sizeof(head);
	for (uint32_t i = 0; good && !q->rc && i < head.count; i++, cell += s->record_bytes)
		good = take_point(q, &head, cell);
	if (!good)
		note_damage(q, x[0]);
	if (!q->rc)
		follow(q, x[0], head.next);
}

static int read_mapped(void *arg, const struct sp__mapping *m, const struct sp_cube_box *cells)
{
	struct query *q = arg;
	int rc = sp__transfer_mapped(&q->transfer, m, cells);

	return rc ? rc : q->rc;
}

static int read_cell(void *arg, uint64_t block)
{
	struct query *q = arg;
	int rc = sp__transfer_run(&q->transfer, block, 1);

	return rc ? rc : q->rc;
}

static int ascending(const void *a, const void *b)
{
	uint64_t p = *(const uint64_t *)a, q = *(const uint64_t *)b;

	return SP__ORDER(p, q);
}

/* Reads the overflow cells that other cells have named. */
static int read_chains(struct query *q)
{
	int rc = 0;

	while (!rc && q->nchain) {
		uint64_t *numbers = q->chain;
		size_t n = q->nchain, capacity = q->capacity;

		qsort(numbers, n, sizeof(*numbers), ascending);
		q->chain = NULL;
		q->nchain = q->capacity = 0;
		q->overflow += n;
		sp__transfer_begin(&q->transfer, SP__OP_READ, examine, q);
		for (size_t i = 0; !rc && i < n; i++)
			rc = read_cell(q, overflow_block(q, numbers[i]));
		if (!rc)
			rc = sp__transfer_end(&q->transfer);
		free(numbers);
		sp__budget_credit(&q->dataset->file->env.budget, capacity * sizeof(*numbers));
		if (!rc)
			rc = q->rc;
	}
	return rc;
}

static int read_cells(struct query *q)
{
	const struct sp__points *c = q->dataset;
	const struct sp__pointcells to = { read_mapped, read_cell, q };
	bool planned = c->file->superblock.no_data;
	size_t bytes = sp__pointcells_bytes(&c->set);
	int rc;

	sp__transfer_begin(&q->transfer, SP__OP_READ, planned ? NULL : examine, q);
	sp__budget_charge(&c->file->env.budget, bytes);
	rc = sp__pointcells_walk(&c->set, &c->file->superblock, &q->box, &to);
	if (!rc && planned) {
		rc = sp__transfer_end(&q->transfer);
		sp__transfer_begin(&q->transfer, SP__OP_READ, NULL, q);
		if (!rc)
			rc = sp__pointcells_overflow(&c->set, &c->file->superblock, &q->box, &to);
	}
	sp__budget_credit(&c->file->env.budget, bytes);
	if (rc == -ENOMEM)
		return sp__err(q->err, rc, "read", c->file->path, -1);
	if (!rc)
		rc = sp__transfer_end(&q->transfer);
	if (!rc)
		rc = q->rc;
	return rc ? rc : read_chains(q);
}

static int run_query(struct query *q, struct sp_cube_stats *stats)
{
	struct sp__points *c = q->dataset;
	int rc;

	sp__cube_hollow(c->file, c->file->superblock.no_data);
	rc = sp__transfer_open(&q->transfer, c->file, stats, q->err);
	if (!rc)
		rc = read_cells(q);
	sp__transfer_close(&q->transfer);
	free(q->chain);
	sp__budget_credit(&c->file->env.budget, q->capacity * sizeof(*q->chain));
	sp__charge_work(&c->file->env, q->points, 0, q->points * c->set.record_bytes);
	sp__env_note(&c->file->env, &stats->run, false);
	stats->elements = q->points;
	return rc;
}

int sp__points_each(struct sp__points *c, const struct sp_cube_box *box, sp__record_fn fn,
		    void *arg, struct sp_cube_stats *stats, struct sp_errinfo *err)
{
	struct query q = { .dataset = c, .err = err, .box = *box, .fn = fn, .arg = arg };

	return run_query(&q, stats);
}

uint64_t sp__points_cell_bytes(const struct sp__points *c)
{
	const struct sp__cube_pointset *p = &c->file->superblock.pointset;
	uint64_t cells = p->outside + c->set.nleaves + p->overflow_cells;

	for (size_t i = 0; i < c->set.nregions; i++)
		cells += c->set.regions[i]->mapping.grid.cells;
	return cells * c->file->cell_bytes;
}

int sp__points_verify(struct sp__points *c, struct sp_cube_check *check,
		      struct sp_cube_stats *stats, struct sp_errinfo *err)
{
	struct query q = { .dataset = c, .err = err, .check = check };
	int rc;

	sp__znode_box(&c->set.space, 0, 0, &q.box);
	*stats = (struct sp_cube_stats){ 0 };
	sp__cube_begin_phase(c->file, SP_CUBE_PHASE_CELLS, SP__OP_READ, sp__points_cell_bytes(c));
	rc = run_query(&q, stats);
	check->cells = stats->cells;
	check->points = q.points;
	return rc;
}

/* A result is sorted as big-endian coordinates, the last one first, and the value. */
struct result {
	struct sp__points *dataset;
	struct sp__sorter sort;
	sp_cube_sink sink;
	void *arg;
	uint8_t *out; /* points in the format of the sink */
	size_t n, capacity;
};

size_t sp__point_bytes(const struct sp__points *c)
{
	return c->file->superblock.shape.ndims * sizeof(uint64_t) +
	       c->file->superblock.shape.element_bytes;
}

static int keep(void *arg, sp__zkey key, const uint8_t *record)
{
	struct result *r = arg;
	const struct sp__zspace *z = &r->dataset->set.space;
	uint64_t x[SP_CUBE_DIMS_MAX];
	size_t bytes = sp__point_bytes(r->dataset);
	uint8_t *to = sp__sorter_space(&r->sort, bytes);

	if (!to)
		return -ENOMEM;
	sp__zkey_coordinates(z, key, x);
	for (unsigned i = z->n; i-- > 0; to += sizeof(uint64_t)) {
		uint64_t big_endian = __builtin_bswap64(x[i]);

		memcpy(to, &big_endian, sizeof(big_endian));
	}
	memcpy(to, record + z->bytes, r->dataset->file->superblock.shape.element_bytes);
	return sp__sorter_add(&r->sort, bytes);
}

static int empty(struct result *r)
{
	size_t n = r->n;

	r->n = 0;
	return n ? r->sink(r->arg, r->out, n * sp__point_bytes(r->dataset)) : 0;
}

/* Passes sorted points to the sink, with the first coordinate first. */
static int give(void *arg, const void *data, size_t bytes)
{
	struct result *r = arg;
	size_t each = sp__point_bytes(r->dataset);
	unsigned n = r->dataset->set.space.n;
	int rc = 0;

	for (const uint8_t *from = data, *end = from + bytes; !rc && from < end; from += each) {
		uint8_t *to = r->out + r->n++ * each;

		for (unsigned i = 0; i < n; i++) {
			uint64_t x;

			memcpy(&x, from + (n - 1 - i) * sizeof(x), sizeof(x));
			x = __builtin_bswap64(x);
			memcpy(to + i * sizeof(x), &x, sizeof(x));
		}
		memcpy(to + n * sizeof(uint64_t), from + n * sizeof(uint64_t),
		       each - n * sizeof(uint64_t));
		if (r->n == r->capacity)
			rc = empty(r);
	}
	return rc;
}

static int read_result(struct result *r, const struct sp_cube_box *box, struct sp_cube_stats *stats,
		       struct sp_errinfo *err)
{
	size_t each = sp__point_bytes(r->dataset);
	int rc;

	r->capacity = sp__max((64u << 10) / each, 1u);
	r->out = malloc(r->capacity * each);
	if (!r->out)
		return sp__err(err, -ENOMEM, "malloc", NULL, -1);
	rc = sp__pointsort_open(&r->sort, r->dataset->file, (uint32_t)each, err);
	if (!rc)
		rc = sp__points_each(r->dataset, box, keep, r, stats, err);
	if (!rc)
		rc = sp__pointsort_drain(&r->sort, give, r);
	if (!rc)
		rc = empty(r);
	(void)!sp__sorter_close(&r->sort);
	return rc;
}

int sp__points_read(struct sp__points *c, const struct sp_cube_box *box, sp_cube_sink sink,
		    void *arg, struct sp_cube_stats *stats, struct sp_errinfo *err)
{
	struct result r = { .dataset = c, .sink = sink, .arg = arg };
	int rc;

	*stats = (struct sp_cube_stats){ 0 };
	for (unsigned i = 0; i < c->file->superblock.shape.ndims; i++)
		if (box->stride[i] != 1)
			return sp__errf(err, SP_EUNSUP, "read", c->file->path, -1,
					"points have no grid: a stride does not apply");
	sp__cube_begin_phase(c->file, SP_CUBE_PHASE_CELLS, SP__OP_READ, 0);
	if (!sink)
		return sp__points_each(c, box, NULL, NULL, stats, err);
	rc = read_result(&r, box, stats, err);
	free(r.out);
	return rc;
}
