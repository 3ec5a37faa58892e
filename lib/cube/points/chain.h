/* SPDX-License-Identifier: MIT */
/*
 * A cell of a chain in memory, and its changes in the file.
 *
 * Invariants.  A change is made in writes, each of which waits until the one before is on the
 * device.  A point is written after those that the header counts; the header is in one block, so
 * its write is the moment at which the cell changes.
 */
#pragma once

#include "cube/file/pointcell.h"
#include "cube/points/points.h"

struct sp__chaincell {
	struct sp__points *dataset;
	struct sp_errinfo *err;
	uint8_t *data;
	struct sp__pointcell head;
	uint64_t block;
	uint64_t home; /* the first cell of the chain, set by the caller; 0: of any chain */
};

/* Allocates the data of a cell.  Returns 0 or -ENOMEM. */
SP_MUST_CHECK int sp__chain_open(struct sp__chaincell *c, struct sp__points *dataset,
				 struct sp_errinfo *err);
void sp__chain_close(struct sp__chaincell *c);

/* Reads a cell of the chain of c->home.  Returns 0, SP_ECORRUPT, or an error of reading. */
SP_MUST_CHECK int sp__chain_read(struct sp__chaincell *c, uint64_t block);
/* Begins an empty cell in memory. */
void sp__chain_begin(struct sp__chaincell *c, uint64_t block, uint64_t next);
/* Returns the location of a point in the data. */
static inline uint8_t *sp__chain_point(const struct sp__chaincell *c, uint32_t point)
{
	return c->data + sizeof(c->head) + (size_t)point * c->dataset->set.record_bytes;
}

/* Writes points [first, last) of the data; the header still counts others. */
SP_MUST_CHECK int sp__chain_write_points(struct sp__chaincell *c, uint32_t first, uint32_t last);
/* Writes the header, with the checksum of the points that it counts. */
SP_MUST_CHECK int sp__chain_write_head(struct sp__chaincell *c);

/*
 * Appends a cell to the file, sets *block to it, and counts it in the superblock, which is written.
 * Returns 0, -ENOMEM or -errno.
 */
SP_MUST_CHECK int sp__chain_allocate(struct sp__points *dataset, uint64_t *block,
				     struct sp_errinfo *err);
