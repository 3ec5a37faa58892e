/* SPDX-License-Identifier: MIT */
/*
 * The tree of sorted points, and the location of its nodes.
 */
#pragma once

#include "cube/file/file.h"
#include "cube/file/pointset.h"

/* Sorted points in a file, and the limits of their tree. */
struct sp__pointsource {
	int fd;
	const char *name;  /* for messages */
	uint64_t n;	   /* points */
	uint64_t leaf_max; /* maximum points per leaf */
	uint64_t bytes;	   /* maximum memory of all leaves */
	struct sp_errinfo *err;
};

/* A cursor reads sorted records from a file, one after the other. */
struct sp__pointcursor {
	const struct sp__pointsource *from;
	uint32_t record_bytes;
	uint64_t at; /* the next record to read */
	uint8_t *data;
	size_t next, n, capacity;
};

/* Opens a cursor at record number `first`.  Returns 0 or -ENOMEM. */
SP_MUST_CHECK int sp__pointcursor_open(struct sp__pointcursor *c,
				       const struct sp__pointsource *from, uint32_t record_bytes,
				       uint64_t first);
/* Returns the next record, valid until the next call; NULL: the end, or an error in *rc. */
const uint8_t *sp__pointcursor_next(struct sp__pointcursor *c, int *rc);
void sp__pointcursor_close(struct sp__pointcursor *c);

/*
 * Makes a leaf of each largest node that has at most leaf_max points and does not meet a region; at
 * the deepest level a leaf can have more points.  Sets `number` of a leaf to the number of its
 * points, capped.  Counts the points and the overflow cells of regions.  Returns 0; SP_EBUDGET: too
 * many leaves; -ENOMEM; errors of reading.
 */
SP_MUST_CHECK int sp__pointtree_build(struct sp__pointset *s, const struct sp__pointsource *source);

/*
 * Finds the regions, places them after the cell outside, makes the other leaves again, and numbers
 * these after the regions.
 * h: the new superblock, with the requested mapping; its locations are set.
 * Returns 0; -ENOMEM; SP_EUNSUP: the curve has too many bits; errors of reading, in err.
 */
SP_MUST_CHECK int sp__pointtree_place(struct sp__pointset *s, struct sp__cube_superblock *h,
				      const struct sp__pointsource *source);

/* regions.c: adds regions to a tree.  Returns 0 or -ENOMEM. */
SP_MUST_CHECK int sp__regions_find(struct sp__pointset *s, const struct sp__cube_superblock *h);

/* Bytes of memory per leaf while the tree is built. */
#define SP__LEAF_MEMORY (sizeof(struct sp__leaf) + 64)
