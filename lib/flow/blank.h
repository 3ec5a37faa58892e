/* SPDX-License-Identifier: MIT */
/*
 * Removes blank lines from CSV records of several columns, where a blank line is not a record.
 *
 * The first record of an input that is not blank says how many columns there are.  With one column
 * a blank line is a record with an empty field, and stays.
 */
#ifndef SP__FLOW_BLANK_H
#define SP__FLOW_BLANK_H

#include <stdbool.h>
#include <stdint.h>
#include "rec/recfmt.h"

/* Zero at the beginning of each input, except removed and its bytes. */
struct sp__blank {
	bool decided, remove;
	struct sp_batch rest; /* of the batch, behind what was returned */
	uint64_t removed;     /* lines */
	uint64_t bytes;	      /* of them */
};

/* A new batch, when nothing is left of the one before. */
void sp__blank_put(struct sp__blank *b, const struct sp_recfmt *f, const struct sp_batch *batch);
/* The next records without a blank line; false: nothing is left. */
bool sp__blank_next(struct sp__blank *b, const struct sp_recfmt *f, struct sp_batch *batch);

#endif
