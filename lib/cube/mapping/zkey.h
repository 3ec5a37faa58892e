/* SPDX-License-Identifier: MIT */
/*
 * Keys of points: the bits of the coordinates, interleaved.
 *
 * A tree splits the space of coordinates, rounded up to powers of two, into halves along all
 * dimensions.  Level 0 is the whole space.  A dimension with a single coordinate is split no
 * further. The key has the first bits of all coordinates, the last dimension's first, then the
 * second bits, and so on.  So a node of the tree is a prefix of keys and a range of keys, and the
 * nodes of a level are in the order of their keys.
 */
#pragma once

#include "cube/mapping/grid.h"

#define SP__ZKEY_BITS 128

__extension__ typedef unsigned __int128 sp__zkey;

struct sp__zspace {
	unsigned n;
	unsigned bits;			/* of a key */
	unsigned levels;		/* bits of the longest coordinate: the deepest level */
	unsigned bytes;			/* of a key as bytes, at least 1 */
	uint8_t size[SP_CUBE_DIMS_MAX]; /* bits of each coordinate */
	uint8_t dim[SP__ZKEY_BITS];	/* the dimension of each bit of a key, first bit first */
	uint8_t shift[SP__ZKEY_BITS];	/* position of the bit in its coordinate */
	uint8_t level_bits[65];		/* bits of a prefix of each level */
	uint8_t level_of[SP__ZKEY_BITS + 1]; /* the deepest level with at most i bits */
};

/* Returns 0, or SP_EUNSUP: the coordinates have more than SP__ZKEY_BITS bits together. */
SP_MUST_CHECK int sp__zspace_init(struct sp__zspace *z, unsigned n, const uint64_t *dims);

sp__zkey sp__zkey_of(const struct sp__zspace *z, const uint64_t *x);
void sp__zkey_coordinates(const struct sp__zspace *z, sp__zkey key, uint64_t *x);
/* Stores and loads a key as bytes, which memcmp() orders like keys. */
void sp__zkey_store(const struct sp__zspace *z, sp__zkey key, uint8_t *to);
sp__zkey sp__zkey_load(const struct sp__zspace *z, const uint8_t *from);

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

/* Returns the deepest level with a node that contains both keys. */
unsigned sp__zkey_common(const struct sp__zspace *z, sp__zkey a, sp__zkey b);
/* Sets box to the coordinates of a node. */
void sp__znode_box(const struct sp__zspace *z, sp__zkey first, unsigned level,
		   struct sp_cube_box *box);
