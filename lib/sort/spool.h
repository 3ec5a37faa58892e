/* SPDX-License-Identifier: MIT */
/*
 * Keeps records in temporary space, in their order, to be read several times.
 *
 * Owner: the thread that opened it.
 */
#pragma once

#include <spindle/batch.h>
#include "flow/runread.h"
#include "run/env.h"
#include "spill/writer.h"

struct sp__spool {
	struct sp__spill *spill; /* NULL: it is closed */
	struct sp__run *run;
	struct sp__runwriter writer;
	struct sp__runread reader;
	bool writing, reading;
	char *memory; /* of one of them */
	size_t memory_bytes;
	uint64_t bytes; /* of the records */
};

/*
 * memory_bytes: for buffers, raised to 8 KiB; charged to the budget of env.  Returns 0 or an error,
 * recorded.  close() is for both.
 */
SP_MUST_CHECK int sp__spool_open(struct sp__spool *s, struct sp__env *env, size_t memory_bytes);
void sp__spool_close(struct sp__spool *s, struct sp__env *env); /* accepts a closed one */
/* Puts whole records, before the first reading. */
SP_MUST_CHECK int sp__spool_put(struct sp__spool *s, const char *data, size_t bytes);
/* Starts a reading at the first record. */
SP_MUST_CHECK int sp__spool_read(struct sp__spool *s, const struct sp_recfmt *format);
/* Returns SP_READY with a batch of whole records, SP_END, or an error. */
SP_MUST_CHECK int sp__spool_next(struct sp__spool *s, struct sp_batch *batch);
