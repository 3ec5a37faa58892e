/* SPDX-License-Identifier: MIT */
/*
 * Regions: parts of the space where points are so uniform that a grid of cells of one level
 * holds them, with a MultiMap mapping (Shao 2008, section 5.3.5).
 *
 * 1. Seeds.  From the root on, a node is a seed if cells of one level, the coarsest that holds
 *    nearly all of its points, do so at a price that pays; else its children are looked at.
 * 2. Growth.  The largest seed comes first.  A region is a box of cells; on each side it takes
 *    slabs, as thick as it is, or half, and so on down to one cell, as long as they pay.
 * 3. A region is kept if MultiMap can place it behind the one before, and its rows are not so
 *    short that several of them lie on one track (cube/plan.c).
 *
 * The price is cells.  Some of a region are emptier than leaves would be, and stand for a part of
 * a leaf, or for nothing.  Off the major dimension a leaf costs its positioning and half a
 * revolution, a cell of a region one hop; so a region pays if
 *
 *	cells * hop < leaves * (positioning + revolution / 2)
 *
 * and, whatever the time, it has at most twice as many cells as leaves.  A cell whose points do not
 * fit has overflow cells, each of which costs as much as a leaf.  A leaf is in a region as a whole
 * or not at all.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/array.h"
#include "base/bisect.h"
#include "base/minmax.h"
#include "cube/pointtree.h"

#define MOST_CELLS_PER_LEAF 2.0
/* Cells are as large as possible, but at most this share of them needs overflow cells. */
#define CROWDED 0.02

enum mark { FREE, TAKEN, TRIED };

/* A node whose leaves, from begin to end, fit cells of one level. */
struct seed {
	size_t begin, end;
	uint8_t node_level, level;
};

struct finder {
	struct sp__pointset *s;
	const struct sp__cube_head *h;
	double most;  /* cells for a leaf */
	double chain; /* an overflow cell, in cells */
	uint64_t cell_points;
	uint8_t *marks;
	struct seed *seeds;
	size_t nseeds, room;
	uint64_t end; /* block after the last region */
	/* The region that grows, and what a slab of it has. */
	struct sp__pointregion *region;
	struct sp_cube_box slab;
	uint64_t leaves, overflow, in_cell;
	sp__zkey cell;
};

/* What a leaf costs, in cells of a region. */
static double leaf_cost(const struct sp__cube_head *h)
{
	const struct sp__cubezone *z = &h->mapping.multimap.zones[0];
	double hop = (double)z->aim_blocks + 2.0 * h->cell_blocks;

	return ((double)z->need_blocks + (double)z->track_blocks / 2) / hop;
}

static bool pays(const struct finder *f, double cells, uint64_t leaves)
{
	return leaves && cells <= f->most * (double)leaves;
}

/* Overflow cells that a cell counts for: it wants room for further points, too. */
static uint64_t crowded(const struct finder *f, uint64_t points)
{
	return points > f->cell_points ? 1 + (points - f->cell_points - 1) / f->s->capacity : 0;
}

/* Overflow cells of leaves begin to end in cells of a level. */
static uint64_t overflow_of(const struct finder *f, size_t begin, size_t end, unsigned level)
{
	uint64_t points = 0, overflow = 0;
	sp__zkey cell = 0;

	for (size_t i = begin; i < end; i++) {
		const struct sp__leaf *l = &f->s->leaves[i];
		sp__zkey own = sp__zkey_first(&f->s->space, sp__leaf_key(l), level);

		if (own != cell) {
			overflow += crowded(f, points);
			points = 0;
		}
		points += l->place;
		cell = own;
	}
	return overflow + crowded(f, points);
}

/* Cells of a level in a node of another. */
static double cells_of(const struct finder *f, unsigned node_level, unsigned level)
{
	const uint8_t *bits = f->s->space.level_bits;

	return ldexp(1, bits[level] - bits[node_level]);
}

static int add_seed(struct finder *f, struct seed seed)
{
	if (!SP__ARRAY_ROOM(f->seeds, f->room, f->nseeds + 1))
		return -ENOMEM;
	f->seeds[f->nseeds++] = seed;
	return 0;
}

/* Leaves begin to end, which are those of a node. */
static int find_seeds(struct finder *f, size_t begin, size_t end, unsigned node_level)
{
	const struct sp__zspace *z = &f->s->space;
	unsigned level = node_level;
	uint64_t overflow;
	double price;
	int rc = 0;

	if (end - begin < 2)
		return 0;
	for (size_t i = begin; i < end; i++)
		level = sp__max(level, (unsigned)f->s->leaves[i].level);
	for (; level > node_level + 1; level--) {
		overflow = overflow_of(f, begin, end, level - 1);
		if ((double)overflow > CROWDED * cells_of(f, node_level, level - 1))
			break;
	}
	price = cells_of(f, node_level, level) +
		f->chain * (double)overflow_of(f, begin, end, level);
	if (pays(f, price, end - begin))
		return add_seed(f,
				(struct seed){ begin, end, (uint8_t)node_level, (uint8_t)level });
	for (size_t next; !rc && begin < end; begin = next) {
		sp__zkey last = sp__zkey_last(
			z, sp__zkey_first(z, sp__leaf_key(&f->s->leaves[begin]), node_level + 1),
			node_level + 1);

		next = begin +
		       SP__BISECT(end - begin, i, sp__leaf_key(&f->s->leaves[begin + i]) <= last);
		rc = find_seeds(f, begin, next, node_level + 1);
	}
	return rc;
}

static int larger_first(const void *a, const void *b)
{
	const struct seed *p = a, *q = b;
	size_t m = p->end - p->begin, n = q->end - q->begin;

	if (m != n)
		return m > n ? -1 : 1;
	return SP__ORDER(p->begin, q->begin);
}

/* The coordinates of a box of cells. */
static void coordinates(const struct finder *f, const struct sp_cube_box *cells,
			struct sp_cube_box *box)
{
	for (unsigned i = 0; i < f->s->space.n; i++) {
		unsigned shift = sp__zspace_shift(&f->s->space, i, (unsigned)f->region->level);

		box->lo[i] = cells->lo[i] << shift;
		box->hi[i] = (cells->hi[i] << shift) + ((UINT64_C(1) << shift) - 1);
		box->stride[i] = 1;
	}
}

static void region_box(const struct finder *f, struct sp_cube_box *box)
{
	struct sp_cube_box cells;

	for (unsigned i = 0; i < f->s->space.n; i++) {
		cells.lo[i] = f->region->origin[i];
		cells.hi[i] = f->region->origin[i] + f->region->size[i] - 1;
	}
	coordinates(f, &cells, box);
}

/* A leaf of a slab; 1: it cannot be in the region. */
static int look(void *arg, size_t i)
{
	struct finder *f = arg;
	const struct sp__leaf *l = &f->s->leaves[i];
	sp__zkey cell = sp__zkey_first(&f->s->space, sp__leaf_key(l), (unsigned)f->region->level);
	struct sp_cube_box node;

	sp__znode_box(&f->s->space, sp__leaf_key(l), l->level, &node);
	for (unsigned d = 0; d < f->s->space.n; d++)
		if (node.lo[d] < f->slab.lo[d] || node.hi[d] > f->slab.hi[d])
			return 1;
	if (f->marks[i] == TAKEN)
		return 1;
	f->in_cell = f->leaves && cell == f->cell ? f->in_cell : 0;
	f->overflow -= crowded(f, f->in_cell);
	f->in_cell += l->place;
	f->overflow += crowded(f, f->in_cell);
	f->cell = cell;
	f->leaves++;
	return 0;
}

static int take(void *arg, size_t i)
{
	struct finder *f = arg;

	f->marks[i] = TAKEN;
	f->region->points += f->s->leaves[i].place;
	return 0;
}

/* Counts the overflow cells that the region has. */
static int count_overflow(void *arg, size_t i)
{
	struct finder *f = arg;
	const struct sp__leaf *l = &f->s->leaves[i];
	sp__zkey cell = sp__zkey_first(&f->s->space, sp__leaf_key(l), (unsigned)f->region->level);

	if (!f->in_cell || cell != f->cell)
		f->in_cell = 0;
	else
		f->region->overflow -= (f->in_cell - 1) / f->s->capacity;
	f->in_cell += l->place;
	f->region->overflow += (f->in_cell - 1) / f->s->capacity;
	f->cell = cell;
	return 0;
}

static int give_back(void *arg, size_t i)
{
	((struct finder *)arg)->marks[i] = TRIED;
	return 0;
}

/* Adds a slab of cells on one side of the region, if it pays. */
static bool add_slab(struct finder *f, unsigned dim, bool above, uint64_t thick)
{
	struct sp__pointregion *r = f->region;
	uint64_t end = r->origin[dim] + r->size[dim],
		 last = sp__zspace_last(&f->s->space, dim) >>
			sp__zspace_shift(&f->s->space, dim, (unsigned)r->level);
	struct sp_cube_box cells;
	double n = (double)thick;

	if (above ? end > last || thick > last - end + 1 : thick > r->origin[dim])
		return false;
	for (unsigned i = 0; i < f->s->space.n; i++) {
		cells.lo[i] = r->origin[i];
		cells.hi[i] = r->origin[i] + r->size[i] - 1;
		n *= i == dim ? 1 : (double)r->size[i];
	}
	cells.lo[dim] = above ? end : r->origin[dim] - thick;
	cells.hi[dim] = cells.lo[dim] + thick - 1;
	coordinates(f, &cells, &f->slab);
	f->leaves = f->overflow = 0;
	if (sp__leaves_walk(f->s, &f->slab, look, f) ||
	    !pays(f, n + f->chain * (double)f->overflow, f->leaves))
		return false;
	(void)sp__leaves_walk(f->s, &f->slab, take, f);
	r->size[dim] += thick;
	r->origin[dim] -= above ? 0 : thick;
	return true;
}

static bool grow(struct finder *f)
{
	bool grown = false;

	for (unsigned side = 0; side < 2 * f->s->space.n; side++)
		for (uint64_t thick = f->region->size[side / 2]; thick; thick /= 2)
			if (add_slab(f, side / 2, side % 2, thick)) {
				grown = true;
				break;
			}
	return grown;
}

static void begin_region(struct finder *f, const struct seed *seed)
{
	const struct sp__zspace *z = &f->s->space;
	struct sp_cube_box box;

	*f->region = (struct sp__pointregion){ .level = seed->level, .first_block = f->end };
	sp__znode_box(z,
		      sp__zkey_first(z, sp__leaf_key(&f->s->leaves[seed->begin]), seed->node_level),
		      seed->node_level, &box);
	for (unsigned i = 0; i < z->n; i++) {
		unsigned shift = sp__zspace_shift(z, i, seed->level);

		f->region->origin[i] = box.lo[i] >> shift;
		f->region->size[i] = (box.hi[i] >> shift) - f->region->origin[i] + 1;
	}
	region_box(f, &box);
	(void)sp__leaves_walk(f->s, &box, take, f);
}

/* Keeps the region, or gives its leaves back. */
static int end_region(struct finder *f)
{
	const struct sp__multimap *m = &f->region->mapping.multimap;
	int rc = sp__region_place(f->region, f->h);
	struct sp_cube_box box;

	region_box(f, &box);
	if (!rc &&
	    f->region->size[f->h->mapping.order[0]] * f->h->cell_blocks >= m->zones[0].hop_blocks) {
		f->end = sp__mapping_end(&f->region->mapping);
		f->in_cell = 0;
		(void)sp__leaves_walk(f->s, &box, count_overflow, f);
		f->s->regions[f->s->nregions++] = f->region;
		return 0;
	}
	(void)sp__leaves_walk(f->s, &box, give_back, f);
	sp__region_free(f->region);
	return rc == -ENOMEM ? rc : 0;
}

/* Of a seed that is not in another region. */
static int try_seed(struct finder *f, const struct seed *seed)
{
	size_t n = f->s->nregions;

	for (size_t i = seed->begin; i < seed->end; i++)
		if (f->marks[i] != FREE)
			return 0;
	if (n == SP__REGIONS_MAX)
		return 0;
	if (!SP__ARRAY_RESIZE(f->s->regions, n + 1))
		return -ENOMEM;
	f->region = calloc(1, sizeof(*f->region));
	if (!f->region)
		return -ENOMEM;
	begin_region(f, seed);
	while (grow(f))
		;
	return end_region(f);
}

int sp__regions_find(struct sp__pointset *s, const struct sp__cube_head *h)
{
	struct finder f = { .s = s,
			    .h = h,
			    .most = fmin(leaf_cost(h), MOST_CELLS_PER_LEAF),
			    .chain = leaf_cost(h),
			    .end = h->pointset.outside_block + h->cell_blocks };
	uint64_t filled = sp__max((uint64_t)s->capacity * h->pointset.fill / 1000, 1);
	int rc;

	/* Half of the room that the fill factor leaves. */
	f.cell_points = (filled + s->capacity) / 2;
	f.marks = calloc(s->nleaves + 1, 1);
	rc = f.marks ? find_seeds(&f, 0, s->nleaves, 0) : -ENOMEM;
	if (!rc && f.nseeds)
		qsort(f.seeds, f.nseeds, sizeof(*f.seeds), larger_first);
	for (size_t i = 0; !rc && i < f.nseeds; i++)
		rc = try_seed(&f, &f.seeds[i]);
	for (size_t i = 0; !rc && i < s->nleaves; i++)
		if (f.marks[i] == TAKEN)
			s->leaves[i].place = UINT32_MAX;
	free(f.marks);
	free(f.seeds);
	return rc;
}
