/* SPDX-License-Identifier: MIT */
/*
 * The tree of sorted points, and where its nodes go.
 */
#pragma once

#include "cube/file/file.h"
#include "cube/file/pointset.h"

/* Records in order, in a file; a cursor reads them one after the other. */
struct sp__pointcursor {
	int fd;
	const char *name; /* for messages */
	uint32_t record_bytes;
	uint64_t at, end; /* records: the next to be read, and how many there are */
	uint8_t *data;
	size_t next, n, capacity;
	struct sp_errinfo *err;
};

/* From record number first on. */
SP_MUST_CHECK int sp__pointcursor_open(struct sp__pointcursor *c, int fd, const char *name,
				       uint32_t record_bytes, uint64_t first, uint64_t end,
				       struct sp_errinfo *err);
/* The next record, until the next call; NULL: the end, or an error in *rc. */
const uint8_t *sp__pointcursor_next(struct sp__pointcursor *c, int *rc);
void sp__pointcursor_close(struct sp__pointcursor *c);

/* Sorted points in a file, and what may be made of them. */
struct sp__pointsource {
	int fd;
	const char *name;  /* for messages */
	uint64_t n;	   /* points */
	uint64_t leaf_max; /* points of a leaf */
	uint64_t bytes;	   /* of all leaves */
	struct sp_errinfo *err;
};

/*
 * Makes a leaf of each node that has at most leaf_max points and no part of a region, though its
 * parent is not so; at the deepest level whatever it has.  place of a leaf is the number of its
 * points, capped.  Counts the points and the overflow cells of regions.  SP_EBUDGET: too many
 * leaves.
 */
SP_MUST_CHECK int sp__pointtree_build(struct sp__pointset *s, const struct sp__pointsource *source);

/*
 * Finds the regions, which follow the cell outside, makes the other leaves again, and gives them
 * their places behind the regions.  h: the new head, whose mapping says what is wanted; its
 * places are set.  -ENOMEM; SP_EUNSUP: a curve of too many bits; errors of reading, in err.
 */
SP_MUST_CHECK int sp__pointtree_place(struct sp__pointset *s, struct sp__cube_superblock *h,
				      const struct sp__pointsource *source);

/* regions.c: adds regions to those of a tree.  -ENOMEM. */
SP_MUST_CHECK int sp__regions_find(struct sp__pointset *s, const struct sp__cube_superblock *h);

/* Bytes of memory for each leaf while the tree is built. */
#define SP__LEAF_MEMORY (sizeof(struct sp__leaf) + 64)
