/* SPDX-License-Identifier: MIT */
/*
 * The result of a join: records are put together (emit.h), written, and appear in their file
 * when the join is complete.
 *
 * Owner: the thread of the join.  Who finds partners uses `emit` alone; the rest is opened
 * before the first record is read and closed when the join ends (result.c).
 */
#ifndef SP__JOIN_RESULT_FILE_H
#define SP__JOIN_RESULT_FILE_H

#include <spindle/outfile.h>
#include "join/emit.h"

struct sp__result {
	struct sp__emit emit;
	struct sp_outfile *file; /* NULL: the descriptor that was given */
	int fd;
	struct sp__wstream *ws; /* NULL: not open */
};

struct sp__join;

/* The output, which is not touched unless it is written in place, and its stream. */
SP_MUST_CHECK int sp__result_open(struct sp__join *j);
/* Writes what has been put together, so that others can see it; done twice in a join at most. */
SP_MUST_CHECK int sp__result_flush(struct sp__join *j);
/* No more records: everything is written; rc, or an error if there was none before. */
int sp__result_end(struct sp__join *j, int rc);
void sp__result_close(struct sp__join *j);

#endif
