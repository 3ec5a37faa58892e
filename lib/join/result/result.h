/* SPDX-License-Identifier: MIT */
/*
 * Holds the result of a join: its records, and the file or stream that they go to.
 *
 * The shell opens and closes it; algorithms write only `emit`.
 */
#pragma once

#include <spindle/outfile.h>
#include "io/ordered.h"
#include "join/result/emit.h"

struct sp__result {
	struct sp__emit emit;
	struct sp__env *env;
	const char *name;
	struct sp_outfile *file; /* NULL: the caller's descriptor */
	int fd;
	struct sp__joincondition *where; /* of emit; NULL: none */
	struct sp__wstream *ws;		 /* NULL: not open */
	struct sp__timeline timeline;	 /* of its records, for sp_join_io.row */
};

/* Bytes of the emit's buffer that an operator returns in one batch. */
#define SP__RESULT_ENOUGH_BYTES (64u << 10)

/* True only with a sink: a stream takes all. */
static inline bool sp__result_full(const struct sp__result *r)
{
	const struct sp__emit *e = &r->emit;

	return e->sink && (size_t)(e->at - e->buf) >= SP__RESULT_ENOUGH_BYTES;
}

/* Opens a stream at the descriptor's offset.  0 or an error. */
SP_MUST_CHECK int sp__result_open(struct sp__result *r);
/* Writes the records so far, so that readers see them; at most twice in a join. */
SP_MUST_CHECK int sp__result_flush(struct sp__result *r);
/* Writes all records, and ends the stream.  0 or an error. */
SP_MUST_CHECK int sp__result_write(struct sp__result *r);

/*
 * Has several threads make the records that follow, by ranges of any number, with this many buffers
 * of buffer_bytes in mem, which the caller frees later.  placed: each thread has memory for a
 * stream of its own, and writes at its own offsets if the result is a file; else one thread writes
 * at a time.  0 or an error; close it in both cases.
 */
SP_MUST_CHECK int sp__result_begin_ordered(struct sp__result *r, struct sp__inorder *ordered,
					   char *mem, size_t buffer_bytes, unsigned buffers,
					   bool placed);
/* Ends this, once the threads have ended.  0 or an error. */
SP_MUST_CHECK int sp__result_end_ordered(struct sp__result *r, struct sp__inorder *ordered);
