/* SPDX-License-Identifier: MIT */
/*
 * The result of a join: records are assembled (emit.h) and written, and appear in their file
 * when the join is complete.
 *
 * Owner: the thread of the join.  The join algorithms use only `emit`; the rest is opened
 * before the first record is read and closed when the join ends (result_file.c).
 */
#ifndef SP__JOIN_RESULT_FILE_H
#define SP__JOIN_RESULT_FILE_H

#include <spindle/outfile.h>
#include "join/emit.h"

struct sp__result {
	struct sp__emit emit;
	struct sp_outfile *file; /* NULL: the caller's descriptor */
	int fd;
	struct sp__wstream *ws; /* NULL: not open */
};

struct sp__join;

/* Opens the output, which stays unchanged unless it is written in place, and its stream. */
SP_MUST_CHECK int sp__result_open(struct sp__join *j);
/* Writes the assembled records, so that others can see them; at most twice in a join. */
SP_MUST_CHECK int sp__result_flush(struct sp__join *j);
/* Ends the records and writes everything; returns rc, or an error if rc was none. */
int sp__result_end(struct sp__join *j, int rc);
void sp__result_close(struct sp__join *j);

#endif
