/* SPDX-License-Identifier: MIT */
/*
 * Reads a run from its beginning to its end, in chunks of pages.
 *
 * The memory is divided into chunks; the caller has one, the others are read ahead.  Each chunk is
 * one request if the run is contiguous there.  Pages are verified when they are returned.
 */
#pragma once

#include "spill/store.h"

#define SP__CHUNKREAD_CHUNKS 3

struct sp__chunkread_chunk {
	struct sp__request req;
	size_t first; /* page */
	uint32_t pages;
	bool in_flight;
};

struct sp__chunkread {
	struct sp__spill *spill;
	struct sp__run *run;
	struct sp__io_owner owner;
	bool last_time; /* frees the space after reading */
	char *mem;
	uint32_t chunk_pages;
	struct sp__chunkread_chunk chunks[SP__CHUNKREAD_CHUNKS];
	unsigned nchunks, head, in_flight;
	bool begun, pinned;
	size_t asked; /* pages */
	uint64_t sum; /* sum of the hashes, for verifying */
	int error;
};

/*
 * mem: at least one page, page-aligned; touched from the first chunk to the last.  NULL if the
 * store is hollow.
 */
void sp__chunkread_open(struct sp__chunkread *r, struct sp__spill *spill, struct sp__run *run,
			bool last_time, void *mem, size_t mem_bytes);
/* Returns SP_READY, with bytes that stay until the next call; SP_END; or an error. */
SP_MUST_CHECK int sp__chunkread_next(struct sp__chunkread *r, const char **data, size_t *bytes);
void sp__chunkread_close(struct sp__chunkread *r); /* accepts a zeroed struct */
