/* SPDX-License-Identifier: MIT */
/*
 * Converts the values of a column to another type: exactly, by their text.
 *
 * Thread rule: one thread.
 */
#pragma once

#include "table/schema/schema.h"
#include "table/values/columns.h"
#include "table/values/vector.h"

/* Values of some records, and why one cannot be converted. */
struct sp__retype {
	const struct sp__table_column *from;
	struct sp__table_column *to; /* its dictionary gets new words */
	const struct sp__vector *vector;
	const uint32_t *offsets; /* of the records in the vector, n */
	uint32_t n;
	uint8_t *values;	   /* for n values of `to`, ... */
	struct sp__text_ref *refs; /* ... or, of text, n */
	struct sp__bytes *texts;   /* what these refer to */
	uint32_t bad;		   /* number of the record among the n, ... */
	struct sp__slice text;	   /* ... and its text; NULL: the column must not be NULL */
	char space[SP__VALUE_SPACE];
};

/*
 * Converts n values.  Returns 0; SP_EFORMAT with bad and text set if the type does not have a value
 * exactly; -ENOSPC if the dictionary is full, with the same; SP_EBUDGET or -ENOMEM.
 */
SP_MUST_CHECK int sp__retype(struct sp__retype *r);
