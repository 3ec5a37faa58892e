/* SPDX-License-Identifier: MIT */
/*
 * Builds the tree of sorted points in one pass over their keys.
 *
 * Algorithm.  For a point that begins a leaf, the leaf is the largest node that contains neither
 * the previous point, which is in another leaf, nor the point that comes leaf_max points later,
 * which would be one too many.  A node with the previous point has too many points: otherwise it
 * would be the leaf of its first point.  Two cursors, leaf_max points apart, read the same file.
 *
 * Points in a region have no leaf, and a node that meets a region is split.  So a tree is built
 * twice: regions are found from the first tree, which has all points.
 *
 * The leaves of a linear mapping are numbered along it by their first coordinates.
 */
#include <stdlib.h>
#include <string.h>
#include "base/array.h"
#include "base/err.h"
#include "base/minmax.h"
#include "base/whole.h"
#include "cube/file/file.h"
#include "cube/points/tree.h"
#include "sort/sort.h"

/* Sorts points by the sort of this library. */

int sp__pointsort_open(struct sp__sorter *s, const struct sp__cubefile *c, uint32_t record_bytes,
		       struct sp_errinfo *err)
{
	struct sp_keyset_opts ko = {
		.format = { .kind = SP_REC_FIXED, .fixed_bytes = record_bytes }, .bytes = true
	};
	struct sp_sort_opts opts = SP_SORT_OPTS_INIT;

	opts.run.memory_bytes = sp__cube_slab_bytes(c);
	opts.run.parallel = c->opts.run.parallel;
	opts.run.tmpdirs = c->opts.run.tmpdirs;
	opts.run.ntmpdirs = c->opts.run.ntmpdirs;
	return sp__sorter_open(s, &ko, &opts, NULL, err);
}

int sp__pointsort_drain(struct sp__sorter *s, sp_cube_sink sink, void *arg)
{
	struct sp_batch batch;
	int rc = sp__sorter_finish(s);

	while (!rc && (rc = sp__sort_get_next(s->sort, &batch)) == SP_READY)
		rc = sink(arg, batch.data, batch.bytes);
	return rc;
}

#define BUFFER_BYTES (UINT32_C(64) << 10)
/* Cells of leaves begin at a multiple of this. */
#define ALIGN_BYTES 4096

int sp__pointcursor_open(struct sp__pointcursor *c, const struct sp__pointsource *from,
			 uint64_t first)
{
	*c = (struct sp__pointcursor){ .from = from, .at = first };
	c->capacity = sp__max(BUFFER_BYTES / from->record_bytes, 1u);
	c->data = malloc(c->capacity * from->record_bytes);
	return c->data ? 0 : sp__err(from->err, -ENOMEM, "malloc", NULL, -1);
}

static int refill(struct sp__pointcursor *c)
{
	const struct sp__pointsource *from = c->from;
	size_t bytes = sp__min(c->capacity, from->n - c->at) * from->record_bytes;
	uint64_t offset = c->at * from->record_bytes;
	ssize_t n = sp__read_whole(from->fd, c->data, bytes, offset);

	if (n < 0 || (size_t)n < bytes)
		return sp__err(from->err, n < 0 ? (int)n : -EIO, "read", from->name,
			       (long long)offset);
	c->next = 0;
	c->n = bytes / from->record_bytes;
	c->at += c->n;
	return 0;
}

const uint8_t *sp__pointcursor_next(struct sp__pointcursor *c, int *rc)
{
	*rc = 0;
	if (c->next == c->n) {
		if (c->at >= c->from->n)
			return NULL;
		*rc = refill(c);
		if (*rc)
			return NULL;
	}
	return c->data + c->next++ * c->from->record_bytes;
}

void sp__pointcursor_close(struct sp__pointcursor *c)
{
	free(c->data);
}

struct build {
	struct sp__pointset *s;
	const struct sp__pointsource *source;
	struct sp__pointcursor here, ahead;
	size_t capacity;
	/* The region of the last point in a region; last key of its node; points per cell. */
	struct sp__pointregion *region;
	sp__zkey node_last;
	uint64_t in_cell[1 << SP__REGION_CUT_MAX];
};

static int add_leaf(struct build *b, sp__zkey key, unsigned level)
{
	struct sp__pointset *s = b->s;
	sp__zkey first = sp__zkey_first(&s->space, key, level);

	if ((s->nleaves + 1) * SP__LEAF_MEMORY > b->source->bytes || s->nleaves == UINT32_MAX)
		return sp__errf(b->source->err, SP_EBUDGET, "load", NULL, -1,
				"the tree of the points has more than %zu nodes, the maximum for "
				"half of the memory: use larger cells or more memory",
				s->nleaves);
	if (!SP__ARRAY_GROW(s->leaves, b->capacity, s->nleaves + 1))
		return sp__err(b->source->err, -ENOMEM, "malloc", NULL, -1);
	s->leaves[s->nleaves++] = (struct sp__leaf){ .high = (uint64_t)(first >> 64),
						     .low = (uint64_t)first,
						     .level = (uint8_t)level };
	return 0;
}

/* Returns the number of levels with a node that has both keys; 0: there is no other key. */
static unsigned shared_levels(const struct sp__zspace *z, bool there, sp__zkey key, sp__zkey other)
{
	return there ? sp__zkey_common(z, key, other) + 1 : 0;
}

/* Returns the first level at which the node of a point outside a region does not meet it. */
static unsigned leaving_level(const struct sp__zspace *z, const struct sp__pointregion *r,
			      const uint64_t *x)
{
	unsigned level = z->levels;
	struct sp_cube_box box;

	sp__region_box(z, r, &box);
	for (unsigned i = 0; i < z->n; i++) {
		uint64_t near = x[i] < box.lo[i] ? box.lo[i] : box.hi[i];

		if (x[i] < box.lo[i] || x[i] > box.hi[i])
			level = sp__min(
				level, z->size[i] - (63u - (unsigned)__builtin_clzll(x[i] ^ near)));
	}
	return level;
}

/* Counts a point if it is in a region.  Returns false if it is not. */
static bool in_region(struct build *b, sp__zkey key, const uint64_t *x)
{
	const struct sp__zspace *z = &b->s->space;
	uint64_t cell[SP_CUBE_DIMS_MAX], *n;
	struct sp__pointregion *r = sp__region_of(b->s, x, cell);

	if (!r)
		return false;
	if (r != b->region || key > b->node_last) {
		b->region = r;
		b->node_last = sp__zkey_last(z, sp__zkey_first(z, key, (unsigned)r->level),
					     (unsigned)r->level);
		memset(b->in_cell, 0, sizeof(b->in_cell));
	}
	n = &b->in_cell[sp__region_slice(r, x)];
	r->points++;
	r->overflow += *n && *n % b->s->capacity == 0;
	++*n;
	return true;
}

/* Begins a leaf at a point outside regions; ahead: a record that it must not have, or NULL. */
static int begin_leaf(struct build *b, sp__zkey key, const uint64_t *x, const uint8_t *ahead)
{
	const struct sp__pointset *s = b->s;
	const struct sp__zspace *z = &s->space;
	unsigned level = shared_levels(z, ahead, key, ahead ? sp__zkey_load(z, ahead) : 0);

	if (s->nleaves) {
		/* A node with the previous point and this one has all of the previous leaf. */
		const struct sp__leaf *l = &s->leaves[s->nleaves - 1];
		sp__zkey last = sp__zkey_last(z, sp__leaf_key(l), l->level);

		level = sp__max(level, shared_levels(z, true, key, last));
	}
	for (size_t i = 0; i < s->nregions; i++)
		level = sp__max(level, leaving_level(z, s->regions[i], x));
	return add_leaf(b, key, sp__min(level, z->levels));
}

static int scan(struct build *b)
{
	const struct sp__zspace *z = &b->s->space;
	uint64_t x[SP_CUBE_DIMS_MAX];
	struct sp__leaf *leaf = NULL;
	const uint8_t *record, *other;
	sp__zkey last = 0;
	int rc;

	while ((record = sp__pointcursor_next(&b->here, &rc))) {
		sp__zkey key = sp__zkey_load(z, record);

		other = sp__pointcursor_next(&b->ahead, &rc);
		if (rc)
			return rc;
		if (!leaf || key > last) {
			sp__zkey_coordinates(z, key, x);
			if (in_region(b, key, x))
				continue;
			rc = begin_leaf(b, key, x, other);
			if (rc)
				return rc;
			leaf = &b->s->leaves[b->s->nleaves - 1];
			last = sp__zkey_last(z, sp__leaf_key(leaf), leaf->level);
		}
		leaf->number += leaf->number < UINT32_MAX - 1;
	}
	return rc;
}

/*
 * Makes the leaves.  Sets `number` of a leaf to the number of its points, capped.  Counts the
 * points and the overflow cells of regions.
 */
static int build(struct sp__pointset *s, const struct sp__pointsource *from)
{
	struct build b = { .s = s, .source = from };
	int rc;

	free(s->leaves);
	s->leaves = NULL;
	s->nleaves = 0;
	rc = sp__pointcursor_open(&b.here, from, 0);
	if (!rc)
		rc = sp__pointcursor_open(&b.ahead, from, from->leaf_max);
	if (!rc)
		rc = scan(&b);
	sp__pointcursor_close(&b.here);
	sp__pointcursor_close(&b.ahead);
	return rc;
}

/* The rank of a leaf along the mapping. */
struct rank {
	uint64_t high, low;
	size_t leaf;
};

static int by_rank(const void *a, const void *b)
{
	const struct rank *p = a, *q = b;

	return SP__ORDER(p->high, q->high) ?: SP__ORDER(p->low, q->low);
}

/* Returns a key of whole coordinates, the last dimension of the mapping first. */
static sp__zkey row_key(const struct sp__zspace *z, const unsigned *order, const uint64_t *x)
{
	sp__zkey key = 0;

	for (unsigned i = z->n; i-- > 0;) {
		unsigned d = order[i];

		key = z->size[d] ? key << z->size[d] | x[d] : key;
	}
	return key;
}

static int curve_of(const struct sp__zspace *z, enum sp_cube_mapping kind, const unsigned *order,
		    struct sp__grid *grid, struct sp__curve *curve)
{
	if (z->bits > 61)
		return SP_EUNSUP;
	*grid = (struct sp__grid){ .n = z->n, .cells = UINT64_C(1) << z->bits };
	for (unsigned i = 0; i < z->n; i++)
		grid->size[i] = UINT64_C(1) << z->size[order[i]];
	return sp__curve_init(curve, kind, grid);
}

/* Numbers the leaves. */
static int number_leaves(struct sp__pointset *s, enum sp_cube_mapping kind, const unsigned *order)
{
	bool curved = kind == SP_CUBE_HILBERT || kind == SP_CUBE_GRAY;
	struct rank *ranks = calloc(s->nleaves + 1, sizeof(*ranks));
	struct sp__curve curve;
	struct sp__grid grid;
	int rc = ranks ? 0 : -ENOMEM;

	if (!rc && curved)
		rc = curve_of(&s->space, kind, order, &grid, &curve);
	for (size_t i = 0; !rc && i < s->nleaves; i++) {
		uint64_t x[SP_CUBE_DIMS_MAX], ordered[SP_CUBE_DIMS_MAX];
		sp__zkey key;

		sp__zkey_coordinates(&s->space, sp__leaf_key(&s->leaves[i]), x);
		for (unsigned d = 0; d < s->space.n; d++)
			ordered[d] = x[order[d]];
		key = curved		       ? sp__curve_rank(&curve, ordered)
		      : kind == SP_CUBE_ZORDER ? sp__leaf_key(&s->leaves[i])
					       : row_key(&s->space, order, x);
		ranks[i] = (struct rank){ (uint64_t)(key >> 64), (uint64_t)key, i };
	}
	if (!rc)
		qsort(ranks, s->nleaves, sizeof(*ranks), by_rank);
	for (size_t i = 0; !rc && i < s->nleaves; i++)
		s->leaves[ranks[i].leaf].number = (uint32_t)i;
	free(ranks);
	return rc;
}

/*
 * Finds regions and removes their points from the tree.  The directory has space for the leaves of
 * the whole tree.  If regions cut the other leaves into more, they are dropped.
 */
static int separate_regions(struct sp__pointset *s, const struct sp__cube_superblock *h,
			    const struct sp__pointsource *source)
{
	size_t before = s->nleaves;
	int rc = sp__regions_find(s, h);

	if (rc || !s->nregions)
		return rc;
	rc = build(s, source);
	if (!rc && s->nleaves > before) {
		while (s->nregions)
			sp__region_free(s->regions[--s->nregions]);
		rc = build(s, source);
	}
	return rc;
}

/* Finds the regions, makes the other leaves again, and places all cells. */
static int place(struct sp__pointset *s, struct sp__cube_superblock *h,
		 const struct sp__pointsource *source)
{
	struct sp__cube_pointset *p = &h->pointset;
	bool tracks = h->mapping.kind == SP_CUBE_MULTIMAP;
	uint64_t end = p->outside_block + h->cell_blocks, unit;
	int rc;

	rc = tracks ? separate_regions(s, h, source) : 0;
	if (rc)
		return rc;
	p->overflow_cells = 0;
	for (size_t i = 0; i < s->nregions; i++)
		p->overflow_cells += s->regions[i]->overflow;
	/* A leaf with more points than a cell holds has points with equal coordinates only. */
	for (size_t i = 0; i < s->nleaves; i++)
		p->overflow_cells += (s->leaves[i].number - 1) / s->capacity;
	p->full = p->overflow_cells;
	for (size_t i = 0; i < s->nregions; i++)
		end = sp__mapping_end(&s->regions[i]->mapping);
	unit = sp__max(ALIGN_BYTES / h->block_bytes, 1u);
	s->leaf_block = p->leaf_block = sp__div_up(end, unit) * unit;
	p->overflow_block = p->leaf_block + sp__div_up(s->nleaves, s->volumes) * h->cell_blocks;
	p->nleaves = s->nleaves;
	p->nregions = s->nregions;
	return number_leaves(s, tracks ? SP_CUBE_NAIVE : h->mapping.kind, h->mapping.order);
}

int sp__pointtree_plan(struct sp__pointset *s, struct sp__cube_superblock *h,
		       struct sp__pointsource *source, uint64_t block)
{
	struct sp__cube_pointset *p = &h->pointset;
	uint64_t bytes, unit = h->block_bytes;
	int rc = sp__pointset_init(s, h);

	if (rc)
		return rc;
	s->capacity = sp__max((uint32_t)(s->capacity * source->share), 1);
	source->leaf_max = sp__max((uint64_t)s->capacity * p->fill / 1000, 1);
	rc = build(s, source);
	if (rc)
		return rc;
	p->directory_block = sp__cube_superblock_begin(h, block);
	bytes = s->nleaves * sizeof(struct sp__leaf) +
		sp__regions_bytes(h, sp__min(s->nleaves / 2, SP__REGIONS_MAX));
	p->outside_block = sp__div_up(p->directory_block + sp__div_up(bytes, unit), 8) * 8;
	p->outside = false;
	p->count = source->n;
	p->built = p->underflow ? p->count : 0;
	p->cells = 0;
	s->outside_block = p->outside_block;
	return place(s, h, source);
}
