/* SPDX-License-Identifier: MIT */
/*
 * The plan of an append: the fragment that it adds to a cube, with every cell placed, on blocks
 * that no fragment has.
 */
#pragma once

#include "cube/file/superblock.h"

/* What an append changes in a head: as it will be, or, once exchanged, as it was. */
struct sp__growth {
	unsigned dim;
	uint64_t size; /* elements along dim */
	struct sp__fragments fragments;
	struct sp__fragment *fragment; /* the new one */
	size_t shared;		       /* fragments, of both lists, that stay; the others leave */
};

/*
 * For count more elements along a dimension.  Where the dataset ends within a tile, or along
 * dimension 0 within an extent, the new fragment begins with that one.  After an error, too, it is
 * to be freed.  SP_ESYNTAX: no elements, or more than 2^62 bytes; SP_EUNSUP: too many fragments, or
 * a curve that the sizes do not allow; -ENOSPC: the tracks of MultiMap end; -ENOMEM.
 */
SP_MUST_CHECK int sp__growth_plan(struct sp__growth *g, const struct sp__cube_superblock *h,
				  unsigned dim, uint64_t count, const char *path,
				  struct sp_errinfo *err);
/*
 * Plans a new fragment for all elements.  Returns 0, or -ENOSPC, SP_EUNSUP, -ENOMEM or -ERANGE
 * without a message.
 */
SP_MUST_CHECK int sp__growth_replace(struct sp__growth *g, const struct sp__cube_superblock *h);
/* Exchanges what the growth has with what the head has. */
void sp__growth_exchange(struct sp__growth *g, struct sp__cube_superblock *h);
/* Frees the fragments that the head has not. */
void sp__growth_free(struct sp__growth *g);
