/* SPDX-License-Identifier: MIT */
/*
 * Reads a run from its beginning to its end, in batches of whole records.
 */
#pragma once

#include "rec/recfmt.h"
#include "spill/chunkread.h"

struct sp__runread {
	struct sp__chunkread chunks;
	struct sp__splitter splitter;
};

/* mem: at least one page, page-aligned; touched from the first batch to the last. */
void sp__runread_open(struct sp__runread *r, struct sp__spill *spill, struct sp__run *run,
		      const struct sp_recfmt *format, bool last_time, void *mem, size_t mem_bytes);
/* next() of a struct sp__iter. */
SP_MUST_CHECK int sp__runread_next(void *runread, struct sp_batch *batch);
void sp__runread_close(struct sp__runread *r); /* accepts a zeroed struct */
