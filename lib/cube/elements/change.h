/* SPDX-License-Identifier: MIT */
/*
 * Changing elements, one or any number of them in any order.
 *
 * Points that are sorted are merged into their extents: a group of extents is read, as far as
 * they were ever written and their checksums agree, changed, and written, each pass in ascending
 * order.
 */
#pragma once

#include "cube/file/extents.h"
#include "cube/file/transfer.h"

struct sp__point {
	uint64_t block;	 /* of the first cell of its extent */
	uint64_t offset; /* of the element in the extent */
	uint64_t index;	 /* in the order of coming; of its value */
};

struct sp__pointextent {
	uint64_t block; /* of its first cell */
	uint8_t *data;	/* its cells, in a row */
	bool absent;	/* never written until now */
	struct sp__extents sums;
};

/* A group of extents, in the order of their blocks. */
struct sp__change {
	struct sp__cubefile *file;
	struct sp_errinfo *err;
	bool sum;	 /* add values to their elements */
	bool repeatable; /* after an interruption all that is changed will be set again ... */
	bool again;	 /* ... as it was one before */
	bool logged;	 /* one extent, which the log of puts keeps whole */
	struct sp__transfer transfer;
	uint64_t extent_bytes;
	uint64_t charged; /* bytes of memory */
	size_t n, capacity;
	struct sp__pointextent *extents;
	uint8_t *data;
	const struct sp__point *points; /* that are not merged yet */
	size_t npoints;
	const uint8_t *values;
};

/* The location of an element; index remains. */
void sp__point_locate(const struct sp__cubefile *c, const uint64_t *x, struct sp__point *p);

/*
 * What is above transfer is set, the rest is 0.  bytes: memory for extents, beside the requests; at
 * least one extent.
 */
SP_MUST_CHECK int sp__change_open(struct sp__change *ch, uint64_t bytes,
				  struct sp_cube_stats *stats);
void sp__change_close(struct sp__change *ch);
/*
 * Sorts points and merges them.  Those of one element keep their order: the last one counts,
 * or each is added.  values: an element for each index.
 */
SP_MUST_CHECK int sp__change_points(struct sp__change *ch, struct sp__point *points, size_t n,
				    const uint8_t *values);
/* Writes an extent, by its first block, as the log of puts has it. */
SP_MUST_CHECK int sp__change_restore(struct sp__change *ch, uint64_t block, const uint8_t *extent);
/* Writes the extents that were never written.  SP_ESTATE: some are not set again. */
SP_MUST_CHECK int sp__change_absent(struct sp__change *ch);
