/* SPDX-License-Identifier: MIT */
/*
 * Infers types of columns from fields, in one pass.
 *
 * A type is inferred only if each field is canonical: writing the stored value gives the field's
 * bytes.  The first of these types that all fields allow is chosen:
 *
 *	i8 ... u64	the narrowest, signed if both are equally narrow; NULL is not a value
 *	dec8 ... dec64	if all fields have the same number of decimals
 *	date, time(D)	if all fields have the same number of decimals
 *	f64		never f32, since sums would show its rounding
 *	dict8, dict16	if a word occurs four times on average; after a sample, if at most half of
 *			the codes are used, since later fields bring more words
 *	char(N)		if all fields have N bytes, 1 to 255, and do not end with a zero byte
 *	text		also if no field has a value
 *
 * The result depends only on the set of fields, not on their order.
 *
 * Thread rule: one thread at a time uses an inference.
 */
#pragma once

#include "rec/value.h"
#include "table/values/dictionary.h"

/* Facts on the fields of one column. */
struct sp__infer {
	unsigned possible; /* set of kinds of types that all fields allow */
	uint8_t places;	   /* of decimals, and of the seconds of times; or a mark: none yet */
	uint64_t values;   /* not NULL */
	uint64_t positive_max, negative_max; /* of numbers without their points: magnitudes */
	size_t bytes_min, bytes_max;
	struct sp__dictionary words;
};

struct sp__inference {
	uint32_t n;
	uint64_t words_bytes; /* maximum memory of the words of a column */
	struct sp__infer *columns;
};

/*
 * Starts with n columns and no fields.  words_bytes: for all dictionaries, which are charged to
 * budget; columns that need more than an equal share become text.  Returns 0 or -ENOMEM.
 */
SP_MUST_CHECK int sp__inference_init(struct sp__inference *f, uint32_t n, uint64_t words_bytes,
				     struct sp__budget *budget);
void sp__inference_free(struct sp__inference *f);

/* Adds a field of a column that is not NULL.  Returns 0 or -ENOMEM. */
SP_MUST_CHECK int sp__inference_add(struct sp__inference *f, uint32_t column,
				    const struct sp__slice *field);
/* Returns the type of a column.  whole: no further fields follow. */
struct sp__value_type sp__inference_type(const struct sp__inference *f, uint32_t column,
					 bool whole);
