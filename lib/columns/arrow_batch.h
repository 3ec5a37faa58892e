/* SPDX-License-Identifier: MIT */
/*
 * A record batch of Arrow, filled from rows of a table.
 *
 * Integers, floats and dates are as in the table, decimals have 16 bytes, times the unit of their
 * decimals (columns/arrow_formats.h), and texts, char(N) and words of dictionaries are texts with
 * offsets of 8 bytes.  Columns that keep a format of Arrow have that one.
 *
 * Owner: the task that fills it, then the thread that takes it.
 */
#pragma once

#include "columns/arrow_formats.h"
#include "columns/vector.h"

struct sp__arrow_column {
	struct sp__bytes valid, values; /* validity bits; values, or the bytes of texts */
	struct sp__bytes ends;		/* offsets of texts, 8 bytes each, one more than values */
	int64_t nulls;
	struct sp__arrow_format format;
};

struct sp__arrow_batch {
	const struct sp__schema *schema;
	const uint32_t *columns; /* numbers, n of them; borrowed */
	uint32_t n;
	int64_t length;
	struct sp__arrow_column *list;
};

/* Opens an empty batch.  Returns 0 or -ENOMEM. */
SP_MUST_CHECK int sp__arrow_batch_open(struct sp__arrow_batch *b, const struct sp__schema *s,
				       const uint32_t *columns, uint32_t n);
void sp__arrow_batch_close(struct sp__arrow_batch *b); /* zero is accepted */
/* Removes all records. */
void sp__arrow_batch_empty(struct sp__arrow_batch *b);
/*
 * Appends rows; selected: offsets of n records, or NULL for the first n.  Returns 0; -ENOMEM; or
 * SP_EUNSUP, recorded in err, if a text is not UTF-8, or a value is not of the format that its
 * column keeps.
 */
SP_MUST_CHECK int sp__arrow_append(struct sp__arrow_batch *b, const struct sp__rows *rows,
				   const uint32_t *selected, uint32_t n, struct sp_errinfo *err);
/* Returns the bytes of a record of these columns, without texts. */
double sp__arrow_record_bytes(const struct sp__schema *s, const uint32_t *columns, uint32_t n);
/* Moves all records to an array, which the consumer releases.  Returns 0 or -ENOMEM. */
SP_MUST_CHECK int sp__arrow_take(struct sp__arrow_batch *b, struct ArrowArray *out);
