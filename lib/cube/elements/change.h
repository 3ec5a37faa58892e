/* SPDX-License-Identifier: MIT */
/*
 * Changes elements of extents, one or many in any order.
 *
 * A group of extents is read, except extents that were never written, compared with checksums,
 * changed, and written; each pass is in ascending order:
 *
 *	sp__change_begin(), then while sp__change_next():
 *	sp__change_read(); sync, if repeatable
 *	sp__change_write(); sync, if repeatable
 *	sp__change_end()
 *
 * Several changes of different extents can be carried out concurrently.
 *
 * Thread rule: one thread at a time.
 */
#pragma once

#include "cube/file/extents.h"
#include "cube/file/transfer.h"

/* Elements that follow each other, in an extent and in their values. */
struct sp__point {
	uint64_t block;	      /* block of the first cell of their extent */
	uint64_t offset : 40; /* offset of the first element in the extent */
	uint64_t count	: 24; /* elements */
	uint64_t index;	      /* index of the first value, in order of arrival */
};

#define SP__POINT_COUNT_MAX ((UINT64_C(1) << 24) - 1)

struct sp__pointextent {
	uint64_t block; /* block of its first cell */
	uint8_t *data;	/* its cells, one after the other */
	bool absent;	/* never written before */
	struct sp__extents sums;
};

/* A group of extents, in the order of their blocks. */
struct sp__change {
	struct sp__cubefile *file;
	struct sp_errinfo *err;
	bool sum;		       /* add values to their elements, one of each point */
	bool repeatable;	       /* a repeated load sets all changed elements again */
	bool again;		       /* this is a repeated load */
	bool logged;		       /* one extent, which goes to the log of puts first */
	struct sp__transfer *transfer; /* borrowed */
	uint64_t extent_bytes;
	uint64_t charged; /* bytes of memory */
	size_t n, capacity;
	struct sp__pointextent *extents;
	uint8_t *data;
	const struct sp__point *points; /* points that are not merged yet */
	size_t npoints;
	const uint8_t *values;
};

/* Sets the location of one element; index stays. */
void sp__point_locate(const struct sp__cubefile *c, const uint64_t *x, struct sp__point *p);

/*
 * Opens a change whose members before transfer are set, and the others 0.
 * bytes: memory for extents without requests; at least one extent is allocated.
 */
SP_MUST_CHECK int sp__change_open(struct sp__change *ch, uint64_t bytes);
void sp__change_close(struct sp__change *ch);
/*
 * Sorts points.  Points of one element keep their order: the last one is valid, or all are added.
 * values: an element per index.
 */
void sp__change_begin(struct sp__change *ch, struct sp__point *points, size_t n,
		      const uint8_t *values);
/* Makes a group of the next extents that points name.  False: there are none. */
bool sp__change_next(struct sp__change *ch);
/*
 * Makes a group of the next extents of a box that were never written, from x on; dimension 0 of the
 * box is in steps of extents.  Returns 1 if extents of the box follow, else 0; or an error.
 * SP_ESTATE: some were not set again.
 */
SP_MUST_CHECK int sp__change_absent(struct sp__change *ch, const struct sp_cube_box *box,
				    uint64_t *x);
/* Reads the group and applies its points; if repeatable, marks its extents. */
SP_MUST_CHECK int sp__change_read(struct sp__change *ch);
SP_MUST_CHECK int sp__change_write(struct sp__change *ch);
/* Writes the checksums of the group, which is then empty. */
SP_MUST_CHECK int sp__change_end(struct sp__change *ch);
/* Changes the only extent of the group; if logged, by way of the log of puts. */
SP_MUST_CHECK int sp__change_logged(struct sp__change *ch);
/* Writes an extent at its first block, as the log of puts has it. */
SP_MUST_CHECK int sp__change_restore(struct sp__change *ch, uint64_t block, const uint8_t *extent);
