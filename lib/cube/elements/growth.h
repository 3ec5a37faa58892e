/* SPDX-License-Identifier: MIT */
/*
 * Plans an append: a new fragment, with the location of every cell, on unused blocks.
 */
#pragma once

#include "cube/file/file.h"

/* The members of a superblock that an append changes: new ones, or, once exchanged, old ones. */
struct sp__growth {
	unsigned dim;
	uint64_t size; /* elements along dim */
	struct sp__fragments fragments;
	struct sp__fragment *fragment; /* the new one */
	size_t shared;		       /* fragments of both lists that stay */
};

/*
 * Plans count more elements along a dimension.  If the dataset ends inside a tile, or along
 * dimension 0 inside an extent, the new fragment begins with that one.  The caller frees the plan,
 * also after an error.  Returns 0; SP_ESYNTAX: no elements, or more than 2^62 bytes; SP_EUNSUP: too
 * many fragments, or sizes that the curve does not allow; -ENOSPC: the tracks of MultiMap end;
 * -ENOMEM.
 */
SP_MUST_CHECK int sp__growth_plan(struct sp__growth *g, const struct sp__cube_superblock *h,
				  unsigned dim, uint64_t count, const char *path,
				  struct sp_errinfo *err);
/*
 * Plans a new fragment for all elements.  Returns 0, or -ENOSPC, SP_EUNSUP, -ENOMEM or -ERANGE
 * without a message.
 */
SP_MUST_CHECK int sp__growth_replace(struct sp__growth *g, const struct sp__cube_superblock *h);
/* Exchanges these members with those of a superblock. */
void sp__growth_exchange(struct sp__growth *g, struct sp__cubefile *c);
/* Frees the fragments that the superblock does not have. */
void sp__growth_free(struct sp__growth *g);
