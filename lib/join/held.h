/* SPDX-License-Identifier: MIT */
/*
 * Records that may or may not belong to the result: assembled, and kept in temporary
 * space if they exceed a buffer.
 *
 * Thread rule: that of the join.  Errors are recorded where they happen, those of
 * putting in emit.error.
 */
#ifndef SP__JOIN_HELD_H
#define SP__JOIN_HELD_H

#include "join/stage.h"

struct sp__held {
	struct sp__hash h; /* its spill, and what that needs */
	struct sp__emit emit;
	char *mem;	     /* of the writer, then of the reader */
	struct sp__run *run; /* NULL: everything is in the buffer of emit */
	uint64_t bytes;	     /* put into it */
	struct sp__runwriter writer;
	bool writing;
};

/* layout: borrowed for the call. */
SP_MUST_CHECK int sp__held_open(struct sp__held *held, struct sp__join *j,
				const struct sp__join_layout *layout);
/* They belong to it: adds them to the result. */
SP_MUST_CHECK int sp__held_write(struct sp__held *held);
void sp__held_close(struct sp__held *held);

#endif
