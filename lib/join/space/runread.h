/* SPDX-License-Identifier: MIT */
/*
 * Reads a spilled partition from its beginning to its end, in batches of whole records.
 *
 * The memory is divided into chunks; the caller has one, the others are read ahead.  Each chunk is
 * one request if the partition is contiguous there.  Pages are verified when they are returned.
 */
#pragma once

#include <spindle/batch.h>
#include "rec/recfmt.h"
#include "spill/store.h"

#define SP__RUNREAD_CHUNKS 3

struct sp__runread_chunk {
	struct sp__request req;
	size_t first; /* page */
	uint32_t pages;
	bool in_flight;
};

struct sp__runread {
	struct sp__spill *spill;
	struct sp__run *run;
	struct sp__io_owner owner;
	bool last_time; /* frees the space after reading */
	struct sp__splitter splitter;
	char *mem;
	uint32_t chunk_pages;
	struct sp__runread_chunk chunks[SP__RUNREAD_CHUNKS];
	unsigned nchunks, head, in_flight;
	bool begun, pinned;
	size_t asked, given; /* pages */
	uint64_t sum;	     /* of the hashes, for verifying */
	int error;
};

/* mem: at least one page, page-aligned; touched from the first batch to the last. */
void sp__runread_open(struct sp__runread *r, struct sp__spill *spill, struct sp__run *run,
		      const struct sp_recfmt *format, bool last_time, void *mem, size_t mem_bytes);
/* next() of a struct sp__iter. */
SP_MUST_CHECK int sp__runread_next(void *runread, struct sp_batch *batch);
void sp__runread_close(struct sp__runread *r); /* accepts a zeroed struct */
