/* SPDX-License-Identifier: MIT */
/*
 * Records of the result of which it is not sure yet that they belong to it: put
 * together, and kept in temporary space as far as they are more than a buffer takes.
 *
 * Thread rule: that of the join.  Errors are told where they happen, those of putting
 * in emit.error.
 */
#ifndef SP__JOIN_HELD_H
#define SP__JOIN_HELD_H

#include "join/stage.h"

struct sp__held {
	struct sp__hash h; /* its spill, and what that needs */
	struct sp__emit emit;
	char *mem;	     /* of the writer, then of the reader */
	struct sp__run *run; /* NULL: all is in the buffer of emit */
	uint64_t bytes;	     /* put into it */
	struct sp__runwriter writer;
	bool writing;
};

/* layout: borrowed for the call. */
SP_MUST_CHECK int sp__held_open(struct sp__held *held, struct sp__join *j,
				const struct sp__join_layout *layout);
/* They do: adds them to the result. */
SP_MUST_CHECK int sp__held_write(struct sp__held *held);
void sp__held_close(struct sp__held *held);

#endif
