/* SPDX-License-Identifier: MIT */
/*
 * Deletes points, and takes overflow cells back that are no longer needed.
 *
 * Algorithm
 * 1. The superblock counts the points no more, and has one overflow cell more, the spare one.
 * 2. A cell with points to be deleted is written again without them: the other points are written
 *    to the spare cell, the cell gets no points and is followed by the spare cell, the points are
 *    written to the cell, and it counts them again and is followed by its old successor.
 * 3. From the first cell of the chain on, a cell takes the points of the next one while they fit.
 * 4. Cells that are in no chain are released: the last overflow cell of the file moves to the
 *    location of each, and the file becomes shorter.
 *
 * Invariants.  Each write of a header leaves a chain with all points that are kept.  So wherever a
 * deletion is interrupted, no other point is lost or doubled; at worst an overflow cell is unused
 * until the dataset is reorganised, or the count in the superblock is too low.
 *
 * Not done: an overflow cell with a predecessor far from the start of its chain does not move;
 * searching it would take as many reads.  It and the cells before it stay until the dataset is
 * reorganised.
 */
#include <stdlib.h>
#include <string.h>
#include "base/array.h"
#include "base/err.h"
#include "base/minmax.h"
#include "cube/file/space.h"
#include "cube/points/chain.h"

#define SEARCH_MAX 64 /* cells of a chain that are searched for the predecessor of another */

struct deletion {
	struct sp__points *dataset;
	struct sp_errinfo *err;
	struct sp__chaincell cell, other;
	uint64_t spare; /* an overflow cell */
	sp__zkey key;
	const void *value; /* NULL: any */
	uint64_t *unused;  /* numbers of overflow cells that are in no chain */
	size_t nunused, capacity;
};

/* Returns the number of points to delete of a cell, and removes them from the data. */
static uint32_t take_out(const struct deletion *d, const struct sp__chaincell *c)
{
	const struct sp__pointset *s = &d->dataset->set;
	uint32_t kept = 0;

	for (uint32_t i = 0; i < c->head.count; i++) {
		const uint8_t *p = sp__chain_point(c, i);

		if (sp__zkey_load(&s->space, p) == d->key &&
		    (!d->value ||
		     !memcmp(p + s->space.bytes, d->value, s->record_bytes - s->space.bytes)))
			continue;
		memmove(sp__chain_point(c, kept++), p, s->record_bytes);
	}
	return c->head.count - kept;
}

/*
 * Reads the next cell of the chain, or its first one, and decrements *cells, the number of cells
 * that it can have.  Returns 1, 0 at the end, or an error.
 */
static int next_cell(struct sp__chaincell *c, uint64_t *cells)
{
	uint64_t next = *cells > c->dataset->file->superblock.pointset.overflow_cells
				? c->home
				: c->head.next;
	int rc;

	if (!next)
		return 0;
	if (!(*cells)--)
		return sp__cube_damaged(c->dataset->file, next, c->err);
	rc = sp__chain_read(c, next);
	return rc ? rc : 1;
}

static uint64_t cells_max(const struct deletion *d)
{
	return d->dataset->file->superblock.pointset.overflow_cells + 1;
}

/* Counts the points to delete. */
static int count_points(struct deletion *d, uint64_t *points)
{
	uint64_t cells = cells_max(d);
	int rc;

	*points = 0;
	while ((rc = next_cell(&d->cell, &cells)) > 0)
		*points += take_out(d, &d->cell);
	return rc;
}

/* Writes the cell, whose data have `kept` points, by way of the spare cell. */
static int write_again(struct deletion *d, uint32_t kept)
{
	struct sp__chaincell *c = &d->cell;
	const struct sp__pointcell head = c->head;
	uint64_t block = c->block;
	int rc;

	c->head.count = kept;
	c->block = d->spare;
	rc = sp__chain_write_points(c, 0, kept);
	if (!rc)
		rc = sp__chain_write_head(c);
	c->block = block;
	c->head.count = 0;
	c->head.next = d->spare;
	if (!rc)
		rc = sp__chain_write_head(c);
	if (!rc)
		rc = sp__chain_write_points(c, 0, kept);
	c->head.count = kept;
	c->head.next = head.next;
	return rc ? rc : sp__chain_write_head(c);
}

static int delete_points(struct deletion *d)
{
	uint64_t cells = cells_max(d);
	int rc;

	while ((rc = next_cell(&d->cell, &cells)) > 0) {
		uint32_t points = take_out(d, &d->cell);

		rc = points ? write_again(d, d->cell.head.count - points) : 0;
		if (rc)
			break;
	}
	return rc;
}

static int add_unused(struct deletion *d, uint64_t block)
{
	uint64_t first = d->dataset->file->superblock.pointset.overflow_block, number;
	size_t before = d->capacity;

	if (!sp__pointset_number(&d->dataset->set, first, block, &number))
		return sp__cube_damaged(d->dataset->file, block, d->err);
	if (!SP__ARRAY_GROW(d->unused, d->capacity, d->nunused + 1))
		return sp__err(d->err, -ENOMEM, "malloc", NULL, -1);
	sp__budget_charge(&d->dataset->file->env.budget,
			  (d->capacity - before) * sizeof(*d->unused));
	d->unused[d->nunused++] = number;
	return 0;
}

/* Writes the points that a cell has taken from its successors, and its new successor. */
static int write_taken(struct sp__chaincell *c)
{
	struct sp__pointcell written;
	int rc;

	memcpy(&written, c->data, sizeof(written));
	if (written.next == c->head.next)
		return 0;
	rc = sp__chain_write_points(c, written.count, c->head.count);
	return rc ? rc : sp__chain_write_head(c);
}

/* Takes overflow cells of the chain back: a cell takes the points of the next ones that fit. */
static int shorten_chain(struct deletion *d)
{
	struct sp__chaincell *c = &d->cell, *o = &d->other, swap;
	uint64_t cells = cells_max(d);
	int rc = next_cell(c, &cells);

	if (rc < 0)
		return rc;
	o->head = c->head;
	while ((rc = next_cell(o, &cells)) > 0) {
		if (c->head.count + o->head.count <= d->dataset->set.capacity) {
			memcpy(sp__chain_point(c, c->head.count), sp__chain_point(o, 0),
			       (size_t)o->head.count * d->dataset->set.record_bytes);
			c->head.count += o->head.count;
			c->head.next = o->head.next;
			rc = add_unused(d, o->block);
		} else {
			rc = write_taken(c);
			swap = *c;
			*c = *o;
			*o = swap;
			o->head = c->head;
		}
		if (rc)
			return rc;
	}
	return rc ? rc : write_taken(c);
}

/*
 * Moves the last overflow cell of the file to an unused location.  Returns 1; 0 if it is in no
 * chain, or far from the start of one; or an error.
 */
static int move_last(struct deletion *d, uint64_t last, uint64_t to)
{
	struct sp__chaincell *c = &d->cell, *o = &d->other;
	unsigned cells = SEARCH_MAX;
	int rc;

	c->home = 0;
	rc = sp__chain_read(c, last);
	if (rc)
		return rc == SP_ECORRUPT ? 0 : rc; /* a cell that was never written */
	o->home = c->head.home;
	rc = sp__chain_read(o, o->home);
	while (!rc && o->head.next && o->head.next != last && cells--)
		rc = sp__chain_read(o, o->head.next);
	if (rc || o->head.next != last)
		return rc;
	c->block = to;
	o->head.next = to;
	rc = sp__chain_write_points(c, 0, c->head.count);
	if (!rc)
		rc = sp__chain_write_head(c);
	return rc ? rc : sp__chain_write_head(o) ?: 1;
}

static int descending(const void *a, const void *b)
{
	uint64_t p = *(const uint64_t *)a, q = *(const uint64_t *)b;

	return SP__ORDER(q, p);
}

/*
 * Makes the file shorter by the unused cells.  Both superblocks have its new size before, since
 * either can be the only valid one later.
 */
static int release(struct deletion *d)
{
	struct sp__cubefile *f = d->dataset->file;
	struct sp__cube_pointset *p = &f->superblock.pointset;
	const struct sp__pointset *s = &d->dataset->set;
	uint64_t end = sp__cube_superblock_end(&f->superblock);
	int rc = 1;

	if (d->nunused)
		qsort(d->unused, d->nunused, sizeof(*d->unused), descending);
	for (size_t i = 0; i < d->nunused && rc > 0; i++) {
		uint64_t last = p->overflow_cells - 1;

		if (d->unused[i] != last)
			rc = move_last(d, sp__pointset_block(s, p->overflow_block, last),
				       sp__pointset_block(s, p->overflow_block, d->unused[i]));
		if (rc > 0)
			p->overflow_cells--;
	}
	p->full = sp__min(p->full, p->overflow_cells);
	rc = sp__min(rc, 0);
	if (!rc)
		rc = sp__cube_end_change(f, d->err);
	if (!rc)
		rc = sp__cube_superblock_write(&f->superblock, f->cells.first.fd, f->path, d->err);
	if (!rc)
		sp__cube_release(f, sp__cube_superblock_end(&f->superblock), end);
	return rc;
}

static int run_deletion(struct deletion *d)
{
	struct sp__cubefile *f = d->dataset->file;
	struct sp__cube_pointset *p = &f->superblock.pointset;
	uint64_t points;
	int rc = count_points(d, &points);

	if (!rc && !points)
		rc = sp__errf(d->err, -ENOENT, "delete", f->path, -1, "no such point");
	if (rc)
		return rc;
	rc = sp__cube_begin_change(f, d->err);
	if (rc)
		return rc;
	p->count -= sp__min(points, p->count);
	rc = sp__chain_allocate(d->dataset, &d->spare, d->err);
	if (!rc)
		rc = add_unused(d, d->spare);
	if (!rc)
		rc = delete_points(d);
	if (!rc)
		rc = shorten_chain(d);
	return rc ? rc : release(d);
}

int sp__points_delete(struct sp__points *c, const uint64_t *x, const void *value,
		      struct sp_errinfo *err)
{
	struct deletion d = { .dataset = c, .err = err, .value = value };
	struct sp__home home;
	int rc;

	if (!c->file->opts.write)
		return sp__err(err, -EBADF, "delete", c->file->path, -1);
	d.key = sp__zkey_of(&c->set.space, x);
	home = sp__pointset_home(&c->set, d.key, x);
	if (home.outside && !c->file->superblock.pointset.outside)
		return sp__errf(err, -ENOENT, "delete", c->file->path, -1, "no such point");
	rc = sp__chain_open(&d.cell, c, err);
	if (!rc)
		rc = sp__chain_open(&d.other, c, err);
	d.cell.home = d.other.home = home.block;
	if (!rc)
		rc = run_deletion(&d);
	sp__chain_close(&d.cell);
	sp__chain_close(&d.other);
	free(d.unused);
	sp__budget_credit(&c->file->env.budget, d.capacity * sizeof(*d.unused));
	return rc;
}
