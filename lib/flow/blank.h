/* SPDX-License-Identifier: MIT */
/*
 * Removes blank lines from records of several columns, CSV or lines with a separator, where a blank
 * line is not a record.
 *
 * The first record of an input that is not blank sets the number of columns.  With one column a
 * blank line is a record with an empty field, and stays.
 */
#pragma once

#include "rec/recfmt.h"

/* Zeroed at the beginning of each input, except removed and bytes. */
struct sp__blank {
	bool decided, remove;
	struct sp_batch rest; /* the part of the batch after the records returned */
	uint64_t removed;     /* lines */
	uint64_t bytes;	      /* in removed lines */
};

/* Sets a new batch; the previous one must be used up. */
void sp__blank_put(struct sp__blank *b, const struct sp_recfmt *f, const struct sp_batch *batch);
/* Returns the next records without a blank line.  False: the batch is used up. */
bool sp__blank_next(struct sp__blank *b, const struct sp_recfmt *f, struct sp_batch *batch);
