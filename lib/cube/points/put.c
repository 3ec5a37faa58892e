/* SPDX-License-Identifier: MIT */
/*
 * Adds a point to the first cell of its chain with free space, or to a new overflow cell, which
 * becomes the second one of the chain.
 *
 * Invariants.  The cell outside is created with its first point, and is valid when the superblock
 * says so.  A new cell is first recorded in the superblock, then written, then linked.  So wherever
 * a put is interrupted, all earlier points are kept; at worst an overflow cell is unused until the
 * dataset is reorganised, or the count in the superblock is one too low.
 */
#include <string.h>
#include "cube/points/chain.h"

struct put {
	struct sp__chaincell cell;
	sp__zkey key;
	const void *value;
};

/* Adds the point after those that the cell has. */
static int add_to_cell(struct put *p)
{
	const struct sp__pointset *s = &p->cell.dataset->set;
	uint32_t last = p->cell.head.count;
	uint8_t *to = sp__chain_point(&p->cell, last);
	int rc;

	sp__zkey_store(&s->space, p->key, to);
	memcpy(to + s->space.bytes, p->value, s->record_bytes - s->space.bytes);
	rc = sp__chain_write_points(&p->cell, last, last + 1);
	if (rc)
		return rc;
	p->cell.head.count++;
	return sp__chain_write_head(&p->cell);
}

/* Adds a cell after the first one of a chain whose cells are all full. */
static int add_cell(struct put *p)
{
	struct sp__chaincell *c = &p->cell;
	uint64_t block, next;
	int rc = sp__chain_read(c, c->home);

	if (rc)
		return rc;
	next = c->head.next;
	rc = sp__chain_allocate(c->dataset, &block, c->err);
	if (rc)
		return rc;
	sp__chain_begin(c, block, next);
	rc = add_to_cell(p);
	if (!rc)
		rc = sp__chain_read(c, c->home);
	if (rc)
		return rc;
	c->head.next = block;
	return sp__chain_write_head(c);
}

static int add_point(struct put *p)
{
	struct sp__chaincell *c = &p->cell;
	uint64_t cells = c->dataset->file->superblock.pointset.overflow_cells + 1;
	int rc = sp__chain_read(c, c->home);

	while (!rc && c->head.count == c->dataset->set.capacity && c->head.next && cells--)
		rc = sp__chain_read(c, c->head.next);
	if (rc)
		return rc;
	return c->head.count < c->dataset->set.capacity ? add_to_cell(p) : add_cell(p);
}

static int run_put(struct put *p, bool outside)
{
	struct sp__cubefile *f = p->cell.dataset->file;
	struct sp__cube_pointset *s = &f->superblock.pointset;
	int rc = sp__cube_begin_change(f, p->cell.err);

	if (rc)
		return rc;
	if (outside && !s->outside) {
		sp__chain_begin(&p->cell, p->cell.home, 0);
		rc = add_to_cell(p);
	} else {
		rc = add_point(p);
	}
	if (rc)
		return rc;
	s->outside |= outside;
	s->count++;
	return sp__cube_end_change(f, p->cell.err);
}

int sp__points_put(struct sp__points *c, const uint64_t *x, const void *value,
		   struct sp_errinfo *err)
{
	struct put p = { .value = value };
	struct sp__home home;
	int rc;

	p.key = sp__zkey_of(&c->set.space, x);
	home = sp__pointset_home(&c->set, p.key, x);
	rc = sp__chain_open(&p.cell, c, err);
	if (rc)
		return rc;
	p.cell.home = home.block;
	rc = run_put(&p, home.outside);
	sp__chain_close(&p.cell);
	return rc;
}
