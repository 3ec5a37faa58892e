/* SPDX-License-Identifier: MIT */
/*
 * The directory of a dataset of points: finds the cell of a point.
 *
 * Points are stored in cells.  Where points are dense, cells form a region: a grid of cells of one
 * size, with a MultiMap mapping of its own.  All other cells are leaves, nodes of a tree
 * (struct sp__zspace), stored consecutively in the order of a linear mapping.
 *
 * A cell of a region is a node, or a slice of a node.  A slice is thin along the major dimension,
 * which is read in sequence, so lines along the other dimensions meet few cells.
 *
 * A node without points has no cell.  Points put there later go to the cell outside, the only one
 * that is not a node.  It is on the first volume; leaves and overflow cells alternate between
 * volumes, and the basic cubes of a region are declustered.
 *
 * Memory: 24 bytes for each leaf while the dataset is open.  The directory changes only when the
 * dataset is rebuilt.
 *
 * Thread rule: immutable once read or built.
 */
#pragma once

#include "cube/file/superblock.h"
#include "place/grid.h"

/*
 * Keys of points: the bits of the coordinates, interleaved.
 *
 * A tree splits the space of coordinates, rounded up to powers of two, into halves along all
 * dimensions.  Level 0 is the whole space.  A dimension with a single coordinate is split no
 * further. The key has the first bits of all coordinates, the last dimension's first, then the
 * second bits, and so on.  So a node of the tree is a prefix of keys and a range of keys, and the
 * nodes of a level are in the order of their keys.
 */

#define SP__ZKEY_BITS 128

__extension__ typedef unsigned __int128 sp__zkey;

struct sp__zspace {
	unsigned n;
	unsigned bits;			/* bits of a key */
	unsigned levels;		/* bits of the longest coordinate: the deepest level */
	unsigned bytes;			/* bytes of a stored key, at least 1 */
	uint8_t size[SP_CUBE_DIMS_MAX]; /* bits of each coordinate */
	uint8_t dim[SP__ZKEY_BITS];	/* the dimension of each bit of a key, first bit first */
	uint8_t shift[SP__ZKEY_BITS];	/* position of the bit in its coordinate */
	uint8_t level_bits[65];		/* bits of a prefix of each level */
	uint8_t level_of[SP__ZKEY_BITS + 1]; /* the deepest level with at most i bits */
};

/* Returns the number of bits of a key after the prefix of a level. */
static inline unsigned sp__zkey_rest(const struct sp__zspace *z, unsigned level)
{
	return z->bits - z->level_bits[level];
}

/* Returns the last key of the node of a level whose first key is this one. */
static inline sp__zkey sp__zkey_last(const struct sp__zspace *z, sp__zkey first, unsigned level)
{
	unsigned rest = sp__zkey_rest(z, level);

	return first | (rest ? ~(sp__zkey)0 >> (SP__ZKEY_BITS - rest) : 0);
}

/* Returns the first key of the node of a level that contains this key. */
static inline sp__zkey sp__zkey_first(const struct sp__zspace *z, sp__zkey key, unsigned level)
{
	return key ^ (key & sp__zkey_last(z, 0, level));
}

/* Returns the bits of a coordinate inside a node of a level. */
static inline unsigned sp__zspace_shift(const struct sp__zspace *z, unsigned dim, unsigned level)
{
	return level < z->size[dim] ? z->size[dim] - level : 0;
}

/* Returns the last coordinate of the space along a dimension. */
static inline uint64_t sp__zspace_last(const struct sp__zspace *z, unsigned dim)
{
	return z->size[dim] ? UINT64_MAX >> (64 - z->size[dim]) : 0;
}
/* Returns 0, or SP_EUNSUP: the coordinates have more than SP__ZKEY_BITS bits together. */
SP_MUST_CHECK int sp__zspace_init(struct sp__zspace *z, unsigned n, const uint64_t *dims);
sp__zkey sp__zkey_of(const struct sp__zspace *z, const uint64_t *x);
void sp__zkey_coordinates(const struct sp__zspace *z, sp__zkey key, uint64_t *x);
/* Stores and loads a key as bytes, which memcmp() orders like keys. */
void sp__zkey_store(const struct sp__zspace *z, sp__zkey key, uint8_t *to);
sp__zkey sp__zkey_load(const struct sp__zspace *z, const uint8_t *from);
/* Returns the deepest level with a node that contains both keys. */
unsigned sp__zkey_common(const struct sp__zspace *z, sp__zkey a, sp__zkey b);
/* Sets box to the coordinates of a node. */
void sp__znode_box(const struct sp__zspace *z, sp__zkey first, unsigned level,
		   struct sp_cube_box *box);

#define SP__REGIONS_MAX 256
/* Limits of the cells that share a node of a region: 1 << SP__REGION_CUT_MAX, and bytes. */
#define SP__REGION_CUT_MAX 4
#define SP__REGION_NODE_BYTES (UINT64_C(64) << 10)

struct sp__leaf {
	uint64_t high, low; /* the first key of the node */
	uint32_t number;    /* position among the leaves; while the tree is built: points */
	uint8_t level;
	uint8_t zero[3];
};

struct sp__pointregion {
	uint64_t level; /* its cells are nodes of this level, */
	unsigned cut;	/* each halved this many times along the major dimension */
	uint64_t points;
	uint64_t overflow; /* overflow cells that it needs; not stored in the file */
	uint64_t origin[SP_CUBE_DIMS_MAX]; /* the first cell, counted in cells */
	uint64_t size[SP_CUBE_DIMS_MAX];   /* cells along each dimension */
	unsigned major;			   /* the first dimension of the mapping */
	uint8_t shift[SP_CUBE_DIMS_MAX];   /* bits of a coordinate inside a cell */
	/* The file has first_block, from which on its cells begin on a whole track, and sizes k. */
	struct sp__mapping mapping;
};

struct sp__pointset {
	struct sp__zspace space;
	uint32_t record_bytes; /* bytes of a point in a cell: its key and its value */
	uint32_t capacity;     /* points in a cell */
	uint32_t cell_blocks;
	unsigned volumes;
	uint64_t volume_blocks;		    /* several volumes: as struct sp__basicgrid has it */
	uint64_t outside_block, leaf_block; /* block of the cell outside; block of the first leaf */
	struct sp__pointregion **regions;
	size_t nregions;
	struct sp__leaf *leaves; /* in the order of their keys */
	size_t nleaves;
};

/* The cell in which a point is stored, or is to be stored. */
struct sp__home {
	uint64_t block;
	sp__zkey first, last; /* its keys */
	bool shared;	      /* other cells of the region have some of these keys */
	bool outside;	      /* it is the cell outside */
};

static inline sp__zkey sp__leaf_key(const struct sp__leaf *l)
{
	return (sp__zkey)l->high << 64 | l->low;
}

/*
 * Returns the block of a leaf or overflow cell by its number among them: consecutive ones are on
 * consecutive volumes.  first: block of number 0.
 */
static inline uint64_t sp__pointset_block(const struct sp__pointset *s, uint64_t first,
					  uint64_t number)
{
	return first + number / s->volumes * s->cell_blocks +
	       number % s->volumes * s->volume_blocks;
}

/* Sets the number of the cell that occupies a block.  False: it is before the first of them. */
static inline bool sp__pointset_number(const struct sp__pointset *s, uint64_t first, uint64_t block,
				       uint64_t *number)
{
	uint64_t volume = s->volumes > 1 ? block / s->volume_blocks : 0;
	uint64_t local = block - volume * s->volume_blocks;

	*number = (local - first) / s->cell_blocks * s->volumes + volume;
	return local >= first && volume < s->volumes;
}

static inline uint64_t sp__leaf_block(const struct sp__pointset *s, const struct sp__leaf *l)
{
	return sp__pointset_block(s, s->leaf_block, l->number);
}

/*
 * Sets what the superblock determines: no regions, no leaves.  Returns 0; SP_EUNSUP if keys are too
 * long; or -ERANGE if a cell cannot hold a point.
 */
SP_MUST_CHECK int sp__pointset_init(struct sp__pointset *s, const struct sp__cube_superblock *h);
void sp__pointset_free(struct sp__pointset *s);

void sp__region_free(struct sp__pointregion *r); /* accepts NULL */
/* Sets major and shift of a region whose level and cut are set.  False: they are impossible. */
bool sp__region_shape(struct sp__pointregion *r, const struct sp__zspace *z,
		      const struct sp__cube_superblock *h);
/* Returns the region that has a point, and sets its cell there; NULL: none. */
struct sp__pointregion *sp__region_of(const struct sp__pointset *s, const uint64_t *x,
				      uint64_t *cell);
/* Returns the number of the slice of a node that has a point. */
static inline unsigned sp__region_slice(const struct sp__pointregion *r, const uint64_t *x)
{
	return (unsigned)(x[r->major] >> r->shift[r->major]) & ((1u << r->cut) - 1);
}
/* Sets the box of coordinates of a region. */
void sp__region_box(const struct sp__zspace *z, const struct sp__pointregion *r,
		    struct sp_cube_box *box);

/* Returns the bytes of n regions in the file. */
uint64_t sp__regions_bytes(const struct sp__cube_superblock *h, size_t n);
void sp__regions_encode(const struct sp__pointset *s, uint8_t *to);
/*
 * Reads regions, and owns the leaves; the superblock has the number of both.  Returns 0, -ENOMEM,
 * or SP_ECORRUPT if they contradict each other or the superblock.
 */
SP_MUST_CHECK int sp__pointset_decode(struct sp__pointset *s, const struct sp__cube_superblock *h,
				      const uint8_t *regions, struct sp__leaf *leaves);

/* Returns the cell of a key, whose coordinates are x. */
struct sp__home sp__pointset_home(const struct sp__pointset *s, sp__zkey key, const uint64_t *x);
/* Sets the cells of a region that a box meets, counted from its first cell; false: none. */
bool sp__region_clip(const struct sp__zspace *z, const struct sp__pointregion *r,
		     const struct sp_cube_box *box, struct sp_cube_box *cells);
/* Sets the box of the leaf, or cell of a region, that occupies a block; false: none. */
bool sp__pointset_node(const struct sp__pointset *s, uint64_t block, struct sp_cube_box *box);

/* Calls fn with each leaf that a box of coordinates meets, in the order of keys; not 0: stop. */
typedef int (*sp__leaf_fn)(void *arg, size_t leaf);
int sp__leaves_walk(const struct sp__pointset *s, const struct sp_cube_box *box, sp__leaf_fn fn,
		    void *arg);
