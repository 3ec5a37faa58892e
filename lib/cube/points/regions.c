/* SPDX-License-Identifier: MIT */
/*
 * Finds regions: boxes in which points are dense enough for a grid of cells of one size, which
 * MultiMap places (Shao 2008, section 5.3.5).
 *
 * Algorithm
 * 1. Seeds.  A node of the tree is a seed if cells of one shape hold its points at a price that
 * pays,
 *    and that is not above the price of its children.  Shapes are nodes of one level, halved along
 *    the major dimension: each has twice the coordinates of the next one, so one of them suits any
 *    density.
 * 2. Growth, largest seed first.  A region is a box of cells.  On each side it takes slabs while
 * they
 *    pay: as thick as the region, half as thick, and so on down to one cell.  A seed that meets a
 *    region is replaced by its children.
 * 3. A region is kept if MultiMap can place it after the previous one in at most SPACE_PER_LEAF_MAX
 *    times the space of its leaves.
 *
 * Prices are in cells.  Off the major dimension a leaf costs its positioning and half a revolution,
 * a cell of a region costs one hop.  So a region pays if
 *
 *	cells * hop < leaves * (positioning + revolution / 2) * width
 *
 * Cells that are halved c times in n dimensions are 2^(c / n) times as wide as cubes of their
 * volume, so a line off the major dimension meets fewer of them: this is their width.
 *
 * In addition, a region has at most CELLS_PER_LEAF_MAX times as many cells as leaves.  A cell with
 * too many points has overflow cells; each costs as much as a leaf and delays lines along the major
 * dimension, so OVERFLOW_MAX limits them.
 *
 * If part of a leaf is in a region, the same share of its points is.  This is an estimate: tree.c
 * makes the leaves again without the regions, and counts the points of regions.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/array.h"
#include "base/bisect.h"
#include "base/minmax.h"
#include "base/rng.h"
#include "cube/points/tree.h"

#define CELLS_PER_LEAF_MAX 3.4
#define OVERFLOW_MAX 0.03      /* overflow cells per cell */
#define SPACE_PER_LEAF_MAX 4.0 /* unused ends of tracks included */
#define SEED_LEAVES 16
#define GRID 1.1 /* cells per leaf if points form a grid */

/* The shape of cells: nodes of a level, halved `cut` times along the major dimension. */
struct shape {
	uint8_t level, cut;
};

/* A node of the tree with leaves [begin, end), and the shape of its cells. */
struct seed {
	size_t begin, end;
	uint8_t node_level;
	struct shape shape;
};

struct finder {
	struct sp__pointset *s;
	const struct sp__cube_superblock *h;
	double chain; /* price of an overflow cell, in cells */
	uint64_t cell_points;
	struct seed *seeds;
	size_t nseeds, capacity;
	uint64_t end; /* block after the last region */
	struct sp__pointregion *region;
	/* The shape of counted cells, and the leaves and overflow cells of a box of them: */
	struct sp__pointregion counted;
	struct sp_cube_box box;
	double leaves;
	uint64_t overflow;
	sp__zkey node; /* node of the last leaf; in_cell: points of its cells */
	uint64_t in_cell[1 << SP__REGION_CUT_MAX];
};

/* Returns the price of a leaf, in cells of a region. */
static double leaf_cost(const struct sp__cube_superblock *h)
{
	const struct sp__cubezone *z = &h->mapping.multimap.zones[0];
	double hop = (double)z->aim_blocks + 2.0 * h->cell_blocks;

	return ((double)z->need_blocks + (double)z->track_blocks / 2) / hop;
}

/* Returns the maximum of cells per leaf for cells that are cut so many times. */
static double cells_max(const struct finder *f, unsigned cut)
{
	return fmin(f->chain * exp2((double)cut / f->s->space.n), CELLS_PER_LEAF_MAX);
}

/*
 * Returns the weight of the overflow cells of a cell, which also reserves space for further points:
 * their square, because with more points more queries meet the cell, and each reads all of them.
 */
static uint64_t overflow_weight(const struct finder *f, uint64_t points)
{
	uint64_t n =
		points > f->cell_points ? 1 + (points - f->cell_points - 1) / f->s->capacity : 0;

	return n * n;
}

/* Returns the slice of a node of a region's cells that has a key, from the bits of the cut. */
static unsigned slice_of(const struct sp__zspace *z, const struct sp__pointregion *r, sp__zkey key)
{
	unsigned end = z->level_bits[sp__min((unsigned)(r->level + r->cut), z->levels)], slice = 0;

	for (unsigned b = z->level_bits[r->level]; b < end; b++)
		if (z->dim[b] == r->major)
			slice = slice << 1 | (unsigned)(key >> (z->bits - 1 - b) & 1);
	return slice;
}

/*
 * Counts the points of a leaf in its cells, evenly if it has several, beginning at a random one.  A
 * leaf larger than the node of a cell has few points per cell, and is skipped.
 */
static void add_leaf(struct finder *f, const struct sp__leaf *l)
{
	const struct sp__zspace *z = &f->s->space;
	const struct sp__pointregion *r = &f->counted;
	sp__zkey key = sp__leaf_key(l), node;
	unsigned slice = 0;
	uint64_t cells, any;

	if (l->level < r->level)
		return;
	node = sp__zkey_first(z, key, (unsigned)r->level);
	if (node != f->node) {
		f->node = node;
		memset(f->in_cell, 0, sizeof(f->in_cell));
	}
	if (r->cut && l->level > r->level)
		slice = slice_of(z, r, key);
	cells = UINT64_C(1) << sp__zspace_shift(z, r->major, l->level) >> r->shift[r->major];
	cells = sp__max(cells, 1);
	any = sp__mix64((uint64_t)key) % cells;
	for (uint64_t i = 0; i < cells; i++) {
		uint64_t *n = &f->in_cell[slice + (i + any) % cells];

		f->overflow -= overflow_weight(f, *n);
		*n += l->number * (i + 1) / cells - l->number * i / cells;
		f->overflow += overflow_weight(f, *n);
	}
}

static void begin_count(struct finder *f, struct shape shape)
{
	f->counted = (struct sp__pointregion){ .level = shape.level, .cut = shape.cut };
	(void)sp__region_shape(&f->counted, &f->s->space, f->h);
	f->leaves = 0;
	f->overflow = 0;
	f->node = ~(sp__zkey)0;
}

/* True if that many cells pay for the leaves that were counted. */
static bool pays(const struct finder *f, double cells, double leaves)
{
	return (double)f->overflow <= OVERFLOW_MAX * cells &&
	       cells + f->chain * (double)f->overflow <= cells_max(f, f->counted.cut) * leaves;
}

static int add_seed(struct finder *f, struct seed seed)
{
	if (!SP__ARRAY_GROW(f->seeds, f->capacity, f->nseeds + 1))
		return -ENOMEM;
	f->seeds[f->nseeds++] = seed;
	return 0;
}

/* Finds the shape, cut so many times, of which a node has 1 << bits cells; false: none. */
static bool find_shape(const struct finder *f, unsigned node_level, unsigned bits, unsigned cut,
		       struct shape *shape)
{
	const struct sp__zspace *z = &f->s->space;
	struct sp__pointregion r = { .cut = cut };

	bits += z->level_bits[node_level];
	if (bits < cut || bits - cut > z->bits)
		return false;
	r.level = z->level_of[bits - cut];
	if (r.level < node_level || z->level_bits[r.level] + cut != bits ||
	    !sp__region_shape(&r, z, f->h))
		return false;
	*shape = (struct shape){ (uint8_t)r.level, (uint8_t)cut };
	return true;
}

/* Counts a node with cells of a shape.  Returns true if they pay, and their price. */
static bool try_shape(struct finder *f, struct seed *seed, struct shape shape, double cells,
		      double *price)
{
	begin_count(f, shape);
	for (size_t i = seed->begin; i < seed->end; i++)
		add_leaf(f, &f->s->leaves[i]);
	if (!pays(f, cells, (double)(seed->end - seed->begin)))
		return false;
	seed->shape = shape;
	*price = cells + f->chain * (double)f->overflow;
	return true;
}

/*
 * Finds the largest cells that pay for a node, cut as often as possible, and their price.  Returns
 * false if none pay.  If there are as many whole nodes as leaves, points form a grid, and cuts
 * would only add cells.
 */
static bool best_shape(struct finder *f, struct seed *seed, double *price)
{
	double leaves = (double)(seed->end - seed->begin);
	struct shape shape;

	for (unsigned bits = (unsigned)log2(cells_max(f, SP__REGION_CUT_MAX) * leaves); bits > 0;
	     bits--) {
		double cells = ldexp(1, (int)bits);
		unsigned cut = SP__REGION_CUT_MAX + 1;

		if (find_shape(f, seed->node_level, bits, 0, &shape) && cells <= GRID * leaves &&
		    try_shape(f, seed, shape, cells, price) && *price <= GRID * leaves)
			return true;
		while (cut > 0 && !find_shape(f, seed->node_level, bits, --cut, &shape))
			;
		if (!cut && !find_shape(f, seed->node_level, bits, 0, &shape))
			continue;
		if (!try_shape(f, seed, shape, cells, price) &&
		    (double)f->overflow > OVERFLOW_MAX * cells && cells < leaves / 2)
			break;
	}
	return seed->shape.level;
}

/* Returns the end of the leaves of the node whose first leaf is `begin`. */
static size_t node_end(const struct finder *f, size_t begin, size_t end, unsigned level)
{
	const struct sp__leaf *l = f->s->leaves;
	sp__zkey last = sp__zkey_last(
		&f->s->space, sp__zkey_first(&f->s->space, sp__leaf_key(&l[begin]), level), level);

	return begin + SP__BISECT(end - begin, i, sp__leaf_key(&l[begin + i]) <= last);
}

static int find_seeds(struct finder *f, size_t begin, size_t end, unsigned node_level,
		      double *price);

/* Finds the seeds of the children of a node, and the price of them and of other leaves. */
static int split_node(struct finder *f, size_t begin, size_t end, unsigned node_level,
		      double *price)
{
	double child;
	int rc = 0;

	*price = 0;
	for (size_t next; !rc && begin < end; begin = next) {
		next = node_end(f, begin, end, node_level + 1);
		rc = find_seeds(f, begin, next, node_level + 1, &child);
		*price += child;
	}
	return rc;
}

/* Makes the node with leaves [begin, end) a seed, or finds the seeds of its children. */
static int find_seeds(struct finder *f, size_t begin, size_t end, unsigned node_level,
		      double *price)
{
	struct seed seed = { begin, end, (uint8_t)node_level, { 0 } };
	size_t before = f->nseeds;
	double own = 0;
	int rc;

	*price = f->chain * (double)(end - begin);
	if (end - begin < SEED_LEAVES)
		return 0;
	rc = split_node(f, begin, end, node_level, price);
	if (rc || !best_shape(f, &seed, &own) || own > *price)
		return rc;
	*price = own;
	f->nseeds = before;
	return add_seed(f, seed);
}

static int larger_first(const void *a, const void *b)
{
	const struct seed *p = a, *q = b;
	size_t m = p->end - p->begin, n = q->end - q->begin;

	return SP__ORDER(n, m) ?: SP__ORDER(p->begin, q->begin);
}

/* True if the box meets a region that is kept. */
static bool taken(const struct finder *f)
{
	struct sp_cube_box box;

	for (size_t i = 0; i < f->s->nregions; i++) {
		sp__region_box(&f->s->space, f->s->regions[i], &box);
		if (sp__boxes_meet(&box, &f->box, f->s->space.n))
			return true;
	}
	return false;
}

static struct shape shape_of(const struct sp__pointregion *r)
{
	return (struct shape){ (uint8_t)r->level, (uint8_t)r->cut };
}

/* Counts a leaf that the box meets, by the share of its volume. */
static int count_leaf(void *arg, size_t i)
{
	struct finder *f = arg;
	const struct sp__leaf *l = &f->s->leaves[i];
	struct sp_cube_box node;
	double share = 1;

	sp__znode_box(&f->s->space, sp__leaf_key(l), l->level, &node);
	for (unsigned d = 0; d < f->s->space.n; d++) {
		uint64_t lo = sp__max(node.lo[d], f->box.lo[d]);
		uint64_t hi = sp__min(node.hi[d], f->box.hi[d]);

		share *= ((double)(hi - lo) + 1) / ((double)(node.hi[d] - node.lo[d]) + 1);
	}
	f->leaves += share;
	add_leaf(f, l);
	return 0;
}

/* Adds a slab of whole nodes on one side of the region if it pays. */
static bool add_slab(struct finder *f, unsigned dim, bool above, uint64_t thick)
{
	struct sp__pointregion *r = f->region, slab = *r;
	uint64_t end = r->origin[dim] + r->size[dim],
		 last = sp__zspace_last(&f->s->space, dim) >> r->shift[dim];
	double cells = 1;

	if (above ? end > last || thick > last - end + 1 : thick > r->origin[dim])
		return false;
	slab.origin[dim] = above ? end : r->origin[dim] - thick;
	slab.size[dim] = thick;
	for (unsigned i = 0; i < f->s->space.n; i++)
		cells *= (double)slab.size[i];
	sp__region_box(&f->s->space, &slab, &f->box);
	if (taken(f))
		return false;
	begin_count(f, shape_of(r));
	(void)sp__leaves_walk(f->s, &f->box, count_leaf, f);
	if (!pays(f, cells, f->leaves))
		return false;
	r->size[dim] += thick;
	r->origin[dim] -= above ? 0 : thick;
	return true;
}

static bool grow(struct finder *f)
{
	bool grown = false;

	for (unsigned side = 0; side < 2 * f->s->space.n; side++) {
		unsigned dim = side / 2, cut = dim == f->region->major ? f->region->cut : 0;

		for (uint64_t nodes = f->region->size[dim] >> cut; nodes; nodes /= 2)
			if (add_slab(f, dim, side % 2, nodes << cut)) {
				grown = true;
				break;
			}
	}
	return grown;
}

/* Begins a region with the node of a seed, and sets f->box to its box. */
static void begin_region(struct finder *f, const struct seed *seed)
{
	const struct sp__zspace *z = &f->s->space;
	struct sp__pointregion *r = f->region;

	*r = (struct sp__pointregion){ .level = seed->shape.level,
				       .cut = seed->shape.cut,
				       .mapping.first_block = f->end };
	(void)sp__region_shape(r, z, f->h);
	sp__znode_box(z,
		      sp__zkey_first(z, sp__leaf_key(&f->s->leaves[seed->begin]), seed->node_level),
		      seed->node_level, &f->box);
	for (unsigned i = 0; i < z->n; i++) {
		r->origin[i] = f->box.lo[i] >> r->shift[i];
		r->size[i] = (f->box.hi[i] >> r->shift[i]) - r->origin[i] + 1;
	}
}

/* Keeps the region, or drops it. */
static int end_region(struct finder *f)
{
	struct sp__mapping *m = &f->region->mapping;
	int rc = sp__mapping_place(m, &f->h->mapping, f->s->space.n, f->region->size);
	double space;

	if (!rc) {
		sp__region_box(&f->s->space, f->region, &f->box);
		begin_count(f, shape_of(f->region));
		(void)sp__leaves_walk(f->s, &f->box, count_leaf, f);
		space = (double)(sp__mapping_end(m) - f->end) * m->basic.volumes;
		if (space <= SPACE_PER_LEAF_MAX * f->leaves * f->h->cell_blocks) {
			f->end = sp__mapping_end(m);
			f->s->regions[f->s->nregions++] = f->region;
			return 0;
		}
	}
	sp__region_free(f->region);
	return rc == -ENOMEM ? rc : 0;
}

static int try_seed(struct finder *f, struct seed seed)
{
	size_t n = f->s->nregions;
	double price;

	if (n == SP__REGIONS_MAX)
		return 0;
	if (!SP__ARRAY_RESIZE(f->s->regions, n + 1))
		return -ENOMEM;
	f->region = calloc(1, sizeof(*f->region));
	if (!f->region)
		return -ENOMEM;
	begin_region(f, &seed);
	if (taken(f)) {
		sp__region_free(f->region);
		return split_node(f, seed.begin, seed.end, seed.node_level, &price);
	}
	while (grow(f))
		;
	return end_region(f);
}

int sp__regions_find(struct sp__pointset *s, const struct sp__cube_superblock *h)
{
	struct finder f = { .s = s,
			    .h = h,
			    .chain = leaf_cost(h),
			    .end = h->pointset.outside_block + h->cell_blocks };
	uint64_t filled = sp__max((uint64_t)s->capacity * h->pointset.fill / 1000, 1);
	double price;
	int rc;

	/* Half of the space that the fill factor leaves is reserved. */
	f.cell_points = (filled + s->capacity + 1) / 2;
	rc = find_seeds(&f, 0, s->nleaves, 0, &price);
	if (!rc && f.nseeds)
		qsort(f.seeds, f.nseeds, sizeof(*f.seeds), larger_first);
	for (size_t i = 0; !rc && i < f.nseeds; i++)
		rc = try_seed(&f, f.seeds[i]);
	free(f.seeds);
	return rc;
}
