/* SPDX-License-Identifier: MIT */
/*
 * Keys of points: the bits of the coordinates, interleaved.
 *
 * A tree splits the space of the coordinates, rounded up to powers of two, into halves along all
 * dimensions at once.  Level 0 is all of it; a dimension that is down to single coordinates is
 * split no further.  The key has the first bits of all coordinates, the last dimension's first,
 * then the second ones, and so on.  So a node of the tree is a prefix of keys, the nodes of a
 * level are ordered as their keys are, and a node is a range of keys.
 */
#pragma once

#include "cube/mapping/grid.h"

#define SP__ZKEY_BITS 128

__extension__ typedef unsigned __int128 sp__zkey;

struct sp__zspace {
	unsigned n;
	unsigned bits;			     /* of a key */
	unsigned levels;		     /* of the longest coordinate: the deepest level */
	unsigned bytes;			     /* of a key as bytes, at least 1 */
	uint8_t size[SP_CUBE_DIMS_MAX];	     /* bits of each coordinate */
	uint8_t dim[SP__ZKEY_BITS];	     /* of each bit of a key, the first one first ... */
	uint8_t shift[SP__ZKEY_BITS];	     /* ... and its position in the coordinate */
	uint8_t level_bits[65];		     /* of the keys of nodes of a level */
	uint8_t level_of[SP__ZKEY_BITS + 1]; /* the deepest level with at most so many bits */
};

/* SP_EUNSUP: coordinates of these sizes have more than SP__ZKEY_BITS bits together. */
SP_MUST_CHECK int sp__zspace_init(struct sp__zspace *z, unsigned n, const uint64_t *dims);

sp__zkey sp__zkey_of(const struct sp__zspace *z, const uint64_t *x);
void sp__zkey_coordinates(const struct sp__zspace *z, sp__zkey key, uint64_t *x);
/* As bytes, which memcmp() orders as keys are. */
void sp__zkey_store(const struct sp__zspace *z, sp__zkey key, uint8_t *to);
sp__zkey sp__zkey_load(const struct sp__zspace *z, const uint8_t *from);

/* Bits of a key below those of a level. */
static inline unsigned sp__zkey_rest(const struct sp__zspace *z, unsigned level)
{
	return z->bits - z->level_bits[level];
}

/* The last key of the node of a level that begins with this key. */
static inline sp__zkey sp__zkey_last(const struct sp__zspace *z, sp__zkey first, unsigned level)
{
	unsigned rest = sp__zkey_rest(z, level);

	return first | (rest ? ~(sp__zkey)0 >> (SP__ZKEY_BITS - rest) : 0);
}

/* The first key of the node of a level that has this key. */
static inline sp__zkey sp__zkey_first(const struct sp__zspace *z, sp__zkey key, unsigned level)
{
	return key ^ (key & sp__zkey_last(z, 0, level));
}

/* Bits of a coordinate inside a node of a level. */
static inline unsigned sp__zspace_shift(const struct sp__zspace *z, unsigned dim, unsigned level)
{
	return level < z->size[dim] ? z->size[dim] - level : 0;
}

/* The last coordinate of the space along a dimension. */
static inline uint64_t sp__zspace_last(const struct sp__zspace *z, unsigned dim)
{
	return z->size[dim] ? UINT64_MAX >> (64 - z->size[dim]) : 0;
}

/* The deepest level of which one node has both keys. */
unsigned sp__zkey_common(const struct sp__zspace *z, sp__zkey a, sp__zkey b);
/* The coordinates of a node. */
void sp__znode_box(const struct sp__zspace *z, sp__zkey first, unsigned level,
		   struct sp_cube_box *box);
