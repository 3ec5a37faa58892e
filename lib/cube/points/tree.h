/* SPDX-License-Identifier: MIT */
/*
 * The tree of sorted points, and the location of its nodes.
 */
#pragma once

#include "cube/file/file.h"
#include "cube/file/pointset.h"
#include "sort/sort.h"

/*
 * Declares the sort of points: records of fixed length, in the order of memcmp(), sorted in the
 * memory of a slab and in temporary files.
 */

SP_MUST_CHECK int sp__pointsort_open(struct sp__sorter *s, const struct sp__cubefile *c,
				     uint32_t record_bytes, struct sp_errinfo *err);
/* Ends the input, and passes all records in order to the sink, several at a time. */
SP_MUST_CHECK int sp__pointsort_drain(struct sp__sorter *s, sp_cube_sink sink, void *arg);

/* Sorted points in a file, and the limits of their tree. */
struct sp__pointsource {
	int fd;
	const char *name;      /* for messages */
	uint32_t record_bytes; /* bytes of a point, which begins with its key */
	uint64_t n;	       /* points */
	double share;	       /* share of all points, if these are a sample; else 1 */
	uint64_t leaf_max;     /* maximum points per leaf, set by sp__pointtree_plan() */
	uint64_t bytes;	       /* maximum memory of all leaves */
	struct sp_errinfo *err;
};

/* A cursor reads sorted records from a file, one after the other. */
struct sp__pointcursor {
	const struct sp__pointsource *from;
	uint64_t at; /* the next record to read */
	uint8_t *data;
	size_t next, n, capacity;
};

/* Opens a cursor at record number `first`.  Returns 0 or -ENOMEM. */
SP_MUST_CHECK int sp__pointcursor_open(struct sp__pointcursor *c,
				       const struct sp__pointsource *from, uint64_t first);
/* Returns the next record, valid until the next call; NULL: the end, or an error in *rc. */
const uint8_t *sp__pointcursor_next(struct sp__pointcursor *c, int *rc);
void sp__pointcursor_close(struct sp__pointcursor *c);

/*
 * Plans a dataset of sorted points that begins at a block: makes a leaf of each largest node that
 * has at most the points that a load fills a cell with; at the deepest level a leaf can have
 * more.  With MultiMap, finds regions, whose points are in no leaf.  Gives all cells their
 * locations.
 * s: empty; its capacity is in points of the source.
 * h: the new superblock, with the requested mapping; its locations and counters are set.
 * Returns 0; SP_EBUDGET: too many leaves; -ENOMEM; SP_EUNSUP: keys are too long, or the curve has
 * too many bits; errors of reading.  Then sp__pointset_free() is due, too.
 */
SP_MUST_CHECK int sp__pointtree_plan(struct sp__pointset *s, struct sp__cube_superblock *h,
				     struct sp__pointsource *source, uint64_t block);

/* regions.c: adds regions to a tree.  Returns 0 or -ENOMEM. */
SP_MUST_CHECK int sp__regions_find(struct sp__pointset *s, const struct sp__cube_superblock *h);

/* Bytes of memory per leaf while the tree is built. */
#define SP__LEAF_MEMORY (sizeof(struct sp__leaf) + 64)
