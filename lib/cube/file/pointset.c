/* SPDX-License-Identifier: MIT */
/*
 * Reads and writes the directory of a dataset of points, and searches it.
 *
 * Algorithm.  Leaves are disjoint ranges of keys in ascending order, so a key is found by
 * bisection.  A box is found by halving the space, bit by bit of the key, while a half has leaves
 * and the box meets it.  Regions are searched before leaves; no leaf has a point of a region.
 */
#include <stdlib.h>
#include <string.h>
#include "base/bisect.h"
#include "base/minmax.h"
#include "cube/file/pointcell.h"
#include "cube/file/pointset.h"
#include "place/grid.h"

/*
 * Makes keys of coordinates and coordinates of keys.
 */

static unsigned bits_of(uint64_t size)
{
	return size > 1 ? 64 - (unsigned)__builtin_clzll(size - 1) : 0;
}

int sp__zspace_init(struct sp__zspace *z, unsigned n, const uint64_t *dims)
{
	unsigned bits = 0;

	*z = (struct sp__zspace){ .n = n };
	for (unsigned i = 0; i < n; i++) {
		z->size[i] = (uint8_t)bits_of(dims[i]);
		z->bits += z->size[i];
		z->levels = sp__max(z->levels, (unsigned)z->size[i]);
	}
	if (z->bits > SP__ZKEY_BITS)
		return SP_EUNSUP;
	z->bytes = sp__max((z->bits + 7) / 8, 1u);
	for (unsigned level = 0; level < z->levels; level++) {
		for (unsigned i = n; i-- > 0;)
			if (level < z->size[i]) {
				z->dim[bits] = (uint8_t)i;
				z->shift[bits++] = (uint8_t)(z->size[i] - level - 1);
			}
		z->level_bits[level + 1] = (uint8_t)bits;
	}
	for (unsigned level = 0; level <= z->levels; level++)
		memset(z->level_of + z->level_bits[level], (int)level,
		       z->bits + 1 - z->level_bits[level]);
	return 0;
}

sp__zkey sp__zkey_of(const struct sp__zspace *z, const uint64_t *x)
{
	sp__zkey key = 0;

	for (unsigned b = 0; b < z->bits; b++)
		key = key << 1 | (x[z->dim[b]] >> z->shift[b] & 1);
	return key;
}

void sp__zkey_coordinates(const struct sp__zspace *z, sp__zkey key, uint64_t *x)
{
	memset(x, 0, z->n * sizeof(*x));
	for (unsigned b = z->bits; b-- > 0; key >>= 1)
		x[z->dim[b]] |= (uint64_t)(key & 1) << z->shift[b];
}

void sp__zkey_store(const struct sp__zspace *z, sp__zkey key, uint8_t *to)
{
	for (unsigned i = z->bytes; i-- > 0; key >>= 8)
		to[i] = (uint8_t)key;
}

sp__zkey sp__zkey_load(const struct sp__zspace *z, const uint8_t *from)
{
	sp__zkey key = 0;

	for (unsigned i = 0; i < z->bytes; i++)
		key = key << 8 | from[i];
	return key;
}

unsigned sp__zkey_common(const struct sp__zspace *z, sp__zkey a, sp__zkey b)
{
	sp__zkey other = a ^ b;
	uint64_t high = (uint64_t)(other >> 64), low = (uint64_t)other;
	unsigned differing = high  ? 128 - (unsigned)__builtin_clzll(high)
			     : low ? 64 - (unsigned)__builtin_clzll(low)
				   : 0;

	return z->level_of[z->bits - differing];
}

void sp__znode_box(const struct sp__zspace *z, sp__zkey first, unsigned level,
		   struct sp_cube_box *box)
{
	sp__zkey_coordinates(z, first, box->lo);
	sp__zkey_coordinates(z, sp__zkey_last(z, first, level), box->hi);
	for (unsigned i = 0; i < z->n; i++)
		box->stride[i] = 1;
}

int sp__pointset_init(struct sp__pointset *s, const struct sp__cube_superblock *h)
{
	uint64_t cell_bytes = (uint64_t)h->cell_blocks * h->block_bytes;
	int rc;

	*s = (struct sp__pointset){ .cell_blocks = h->cell_blocks,
				    .volumes = h->mapping.basic.volumes,
				    .volume_blocks = h->mapping.basic.volume_blocks,
				    .outside_block = h->pointset.outside_block,
				    .leaf_block = h->pointset.leaf_block };
	rc = sp__zspace_init(&s->space, h->shape.ndims, h->shape.dims);
	if (rc)
		return rc;
	s->record_bytes = s->space.bytes + h->shape.element_bytes;
	if (cell_bytes < sizeof(struct sp__pointcell) + s->record_bytes)
		return -ERANGE;
	s->capacity = (uint32_t)((cell_bytes - sizeof(struct sp__pointcell)) / s->record_bytes);
	return 0;
}

void sp__pointset_free(struct sp__pointset *s)
{
	for (size_t i = 0; i < s->nregions; i++)
		sp__region_free(s->regions[i]);
	free(s->regions);
	free(s->leaves);
	*s = (struct sp__pointset){ 0 };
}

void sp__region_free(struct sp__pointregion *r)
{
	if (r)
		free(r->mapping.multimap.zones);
	free(r);
}

bool sp__region_shape(struct sp__pointregion *r, const struct sp__zspace *z,
		      const struct sp__cube_superblock *h)
{
	r->major = h->mapping.order[0];
	if (!r->level || r->level > z->levels || r->cut > SP__REGION_CUT_MAX ||
	    (uint64_t)h->cell_blocks * h->block_bytes << r->cut >
		    sp__max(SP__REGION_NODE_BYTES, (uint64_t)h->cell_blocks * h->block_bytes))
		return false;
	for (unsigned i = 0; i < z->n; i++)
		r->shift[i] = (uint8_t)sp__zspace_shift(z, i, (unsigned)r->level);
	if (r->cut > r->shift[r->major])
		return false;
	r->shift[r->major] -= (uint8_t)r->cut;
	return true;
}

/*
 * Format of a region: level + CUT_UNIT * cut, points, first block; then origin, size and basic cube
 * of each dimension.
 */
#define REGION_NUMBERS(n) (3 + 3 * (n))
#define CUT_UNIT 256

uint64_t sp__regions_bytes(const struct sp__cube_superblock *h, size_t n)
{
	return n * REGION_NUMBERS(h->shape.ndims) * sizeof(uint64_t);
}

static void copy_region(struct sp__pointregion *r, uint8_t *bytes, unsigned n, bool in)
{
	uint64_t *sizes[] = { r->origin, r->size, r->mapping.basic.k };

	for (unsigned i = 0; i < REGION_NUMBERS(n); i++, bytes += sizeof(uint64_t)) {
		uint64_t *v = i == 0   ? &r->level
			      : i == 1 ? &r->points
			      : i == 2 ? &r->mapping.first_block
				       : &sizes[(i - 3) % 3][(i - 3) / 3];

		memcpy(in ? (void *)v : bytes, in ? (void *)bytes : v, sizeof(*v));
	}
}

void sp__regions_encode(const struct sp__pointset *s, uint8_t *to)
{
	unsigned n = s->space.n;

	for (size_t i = 0; i < s->nregions; i++) {
		struct sp__pointregion r = *s->regions[i];

		r.level += (uint64_t)CUT_UNIT * r.cut;
		copy_region(&r, to + i * REGION_NUMBERS(n) * sizeof(uint64_t), n, false);
	}
}

/* Checks that a region is inside the space, on blocks that nothing else has. */
static int check_region(const struct sp__pointset *s, const struct sp__cube_superblock *h,
			struct sp__pointregion *r, uint64_t *end)
{
	const struct sp__mapping *m = &r->mapping;
	int rc;

	r->cut = (unsigned)sp__min(r->level / CUT_UNIT, UINT32_MAX);
	r->level %= CUT_UNIT;
	if (!sp__region_shape(r, &s->space, h) || m->first_block < *end ||
	    m->first_block >= h->pointset.leaf_block)
		return SP_ECORRUPT;
	for (unsigned i = 0; i < s->space.n; i++) {
		uint64_t last = sp__zspace_last(&s->space, i) >> r->shift[i];

		if (!r->size[i] || !m->basic.k[i] || r->size[i] - 1 > last ||
		    r->origin[i] > last - (r->size[i] - 1))
			return SP_ECORRUPT;
	}
	rc = sp__mapping_place(&r->mapping, &h->mapping, s->space.n, r->size);
	if (rc)
		return rc == -ENOMEM ? rc : SP_ECORRUPT;
	*end = sp__mapping_end(&r->mapping);
	return *end <= h->pointset.leaf_block ? 0 : SP_ECORRUPT;
}

/* Checks that leaves are disjoint and in order, each with a location of its own. */
static int check_leaves(const struct sp__pointset *s)
{
	const struct sp__zspace *z = &s->space;
	uint8_t *seen = calloc(s->nleaves / 8 + 1, 1);
	sp__zkey next = 0, max = sp__zkey_last(z, 0, 0);
	bool good = true;

	if (!seen)
		return -ENOMEM;
	for (size_t i = 0; good && i < s->nleaves; i++) {
		const struct sp__leaf *l = &s->leaves[i];
		sp__zkey key = sp__leaf_key(l);

		good = l->level <= z->levels && key <= max && (i == 0 || key > next) &&
		       key == sp__zkey_first(z, key, l->level) && l->number < s->nleaves &&
		       !(seen[l->number / 8] >> l->number % 8 & 1);
		if (good) {
			next = sp__zkey_last(z, key, l->level);
			seen[l->number / 8] |= (uint8_t)(1 << l->number % 8);
		}
	}
	free(seen);
	return good ? 0 : SP_ECORRUPT;
}

int sp__pointset_decode(struct sp__pointset *s, const struct sp__cube_superblock *h,
			const uint8_t *regions, struct sp__leaf *leaves)
{
	uint64_t end = h->pointset.outside_block + h->cell_blocks;
	unsigned n = h->shape.ndims;
	int rc;

	rc = sp__pointset_init(s, h);
	s->leaves = leaves;
	s->nleaves = h->pointset.nleaves;
	s->regions = calloc(h->pointset.nregions + 1, sizeof(*s->regions));
	if (!s->regions)
		return -ENOMEM;
	for (; !rc && s->nregions < h->pointset.nregions; s->nregions++) {
		struct sp__pointregion *r = calloc(1, sizeof(*r));

		s->regions[s->nregions] = r;
		if (!r)
			return -ENOMEM;
		copy_region(r,
			    (uint8_t *)(uintptr_t)regions +
				    s->nregions * REGION_NUMBERS(n) * sizeof(uint64_t),
			    n, true);
		rc = check_region(s, h, r, &end);
	}
	return rc ? rc : check_leaves(s);
}

/* True if a region has a point; sets its cell there. */
static bool in_region(const struct sp__zspace *z, const struct sp__pointregion *r,
		      const uint64_t *x, uint64_t *cell)
{
	for (unsigned i = 0; i < z->n; i++) {
		cell[i] = (x[i] >> r->shift[i]) - r->origin[i];
		if (cell[i] >= r->size[i])
			return false;
	}
	return true;
}

struct sp__pointregion *sp__region_of(const struct sp__pointset *s, const uint64_t *x,
				      uint64_t *cell)
{
	for (size_t i = 0; i < s->nregions; i++)
		if (in_region(&s->space, s->regions[i], x, cell))
			return s->regions[i];
	return NULL;
}

void sp__region_box(const struct sp__zspace *z, const struct sp__pointregion *r,
		    struct sp_cube_box *box)
{
	for (unsigned i = 0; i < z->n; i++) {
		box->lo[i] = r->origin[i] << r->shift[i];
		box->hi[i] = box->lo[i] + ((r->size[i] << r->shift[i]) - 1);
		box->stride[i] = 1;
	}
}

struct sp__home sp__pointset_home(const struct sp__pointset *s, sp__zkey key, const uint64_t *x)
{
	struct sp__home home = { .block = s->outside_block, .first = key, .last = key };
	uint64_t cell[SP_CUBE_DIMS_MAX];
	const struct sp__pointregion *r = sp__region_of(s, x, cell);
	size_t before;

	if (r) {
		home.block = sp__mapping_block(&r->mapping, cell);
		home.shared = r->cut;
		home.first = sp__zkey_first(&s->space, key, (unsigned)r->level);
		home.last = sp__zkey_last(&s->space, home.first, (unsigned)r->level);
		return home;
	}
	before = SP__BISECT(s->nleaves, i, sp__leaf_key(&s->leaves[i]) <= key);
	if (before) {
		const struct sp__leaf *l = &s->leaves[before - 1];

		home.first = sp__leaf_key(l);
		home.last = sp__zkey_last(&s->space, home.first, l->level);
		if (key <= home.last) {
			home.block = sp__leaf_block(s, l);
			return home;
		}
	}
	home.outside = true;
	home.first = home.last = key;
	return home;
}

bool sp__region_clip(const struct sp__zspace *z, const struct sp__pointregion *r,
		     const struct sp_cube_box *box, struct sp_cube_box *cells)
{
	for (unsigned i = 0; i < z->n; i++) {
		uint64_t lo = box->lo[i] >> r->shift[i], hi = box->hi[i] >> r->shift[i];
		uint64_t end = r->origin[i] + r->size[i] - 1;

		if (hi < r->origin[i] || lo > end)
			return false;
		cells->lo[i] = sp__max(lo, r->origin[i]) - r->origin[i];
		cells->hi[i] = sp__min(hi, end) - r->origin[i];
		cells->stride[i] = 1;
	}
	return true;
}

bool sp__pointset_node(const struct sp__pointset *s, uint64_t block, struct sp_cube_box *box)
{
	uint64_t cell[SP_CUBE_DIMS_MAX], number;
	bool leaf = sp__pointset_number(s, s->leaf_block, block, &number);

	for (size_t i = 0; i < s->nregions; i++) {
		const struct sp__pointregion *r = s->regions[i];

		if (!sp__mapping_cell(&r->mapping, block, cell))
			continue;
		for (unsigned d = 0; d < s->space.n; d++) {
			box->lo[d] = (r->origin[d] + cell[d]) << r->shift[d];
			box->hi[d] = box->lo[d] + ((UINT64_C(1) << r->shift[d]) - 1);
			box->stride[d] = 1;
		}
		return true;
	}
	for (size_t i = 0; leaf && i < s->nleaves; i++)
		if (s->leaves[i].number == number) {
			sp__znode_box(&s->space, sp__leaf_key(&s->leaves[i]), s->leaves[i].level,
				      box);
			return true;
		}
	return false;
}

struct walk {
	const struct sp__pointset *s;
	const struct sp_cube_box *box;
	struct sp_cube_box node; /* the space, halved repeatedly */
	sp__leaf_fn fn;
	void *arg;
};

static int give_leaves(const struct walk *w, size_t begin, size_t end)
{
	int rc = 0;

	for (size_t i = begin; !rc && i < end; i++)
		rc = w->fn(w->arg, i);
	return rc;
}

/* Walks leaves [begin, end) of the half whose keys begin with `bits` bits of first. */
static int walk_half(struct walk *w, size_t begin, size_t end, sp__zkey first, unsigned bits)
{
	const struct sp__zspace *z = &w->s->space;
	sp__zkey middle;
	size_t split;
	uint64_t half;
	unsigned dim;
	int rc;

	if (begin == end || !sp__boxes_meet(&w->node, w->box, z->n))
		return 0;
	if (end - begin == 1) {
		const struct sp__leaf *l = &w->s->leaves[begin];
		struct sp_cube_box box;

		sp__znode_box(z, sp__leaf_key(l), l->level, &box);
		return sp__boxes_meet(&box, w->box, z->n) ? w->fn(w->arg, begin) : 0;
	}
	if (sp__box_spans(w->box, z->n, w->node.lo) && sp__box_spans(w->box, z->n, w->node.hi))
		return give_leaves(w, begin, end);
	middle = first | (sp__zkey)1 << (z->bits - 1 - bits);
	split = begin + SP__BISECT(end - begin, i, sp__leaf_key(&w->s->leaves[begin + i]) < middle);
	dim = z->dim[bits];
	half = UINT64_C(1) << z->shift[bits];
	w->node.hi[dim] -= half;
	rc = walk_half(w, begin, split, first, bits + 1);
	w->node.hi[dim] += half;
	w->node.lo[dim] += half;
	if (!rc)
		rc = walk_half(w, split, end, middle, bits + 1);
	w->node.lo[dim] -= half;
	return rc;
}

int sp__leaves_walk(const struct sp__pointset *s, const struct sp_cube_box *box, sp__leaf_fn fn,
		    void *arg)
{
	struct walk w = { .s = s, .box = box, .fn = fn, .arg = arg };

	sp__znode_box(&s->space, 0, 0, &w.node);
	return walk_half(&w, 0, s->nleaves, 0, 0);
}
