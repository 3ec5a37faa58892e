/* SPDX-License-Identifier: MIT */
/*
 * Infers types of columns from fields, in one pass.
 *
 * Types that give the fields back come first: each field is canonical, so writing the stored value
 * gives the field's bytes.  The first of these types that all fields allow is chosen:
 *
 *	i8 ... u64	the narrowest, signed if both are equally narrow; NULL is not a value
 *	dec8 ... dec64	if all fields have the same number of decimals
 *	date, time(D)	if all fields have the same number of decimals
 *	f64		never f32, since sums would show its rounding
 *	i8 ... time(D)	unless `exact`: if all fields are numbers that the type holds, or times,
 *			in any spelling; f64 before decimals of as many places as needed.
 *			Digits of one length, some with zeros before them, are texts
 *	dict8, dict16	if a word occurs four times on average; after a sample, if at most half of
 *			the codes are used, since later fields bring more words
 *	char(N)		if all fields have N bytes, 1 to 255, and do not end with a zero byte
 *	text		also if no field has a value
 *
 * An empty field of CSV in quotes is a text, or, unless `exact`, stands for no value in a column of
 * numbers or times.
 *
 * The result depends only on the set of fields, not on their order.
 *
 * Thread rule: one thread at a time uses an inference.
 */
#pragma once

#include "columns/dictionary.h"
#include "rec/value.h"

/* How the values of a column relate to their fields. */
enum sp__infer_note {
	SP__INFER_GIVEN,     /* the type is not inferred */
	SP__INFER_CANONICAL, /* they are written as the fields */
	SP__INFER_RESPELLED, /* some are written in another way */
	SP__INFER_TOO_LONG,  /* text: all are numbers, which no type holds */
};

/* Facts on the fields of one column. */
struct sp__infer {
	unsigned possible; /* set of kinds of types that all fields allow */
	unsigned seen;	   /* set of properties that a field has */
	/* Places of decimals, and of the seconds of times: of one field, or a mark: none yet. */
	uint8_t places, places_max;
	uint64_t values;			/* not NULL */
	uint64_t blanks;			/* empty, in quotes; not in values */
	uint64_t units_max[SP__DEC_PLACES + 1]; /* maximum of the numbers with so many places */
	uint64_t positive_max,
		negative_max; /* maximum magnitudes of numbers without their points */
	size_t bytes_min, bytes_max;
	struct sp__dictionary words;
};

struct sp__inference {
	uint32_t n;
	bool exact;	      /* set by the owner: fields come back as they are */
	uint64_t words_bytes; /* maximum memory of the words of a column */
	struct sp__infer *columns;
	size_t capacity; /* of columns */
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
/*
 * Adds a text of JSON, which is not a number whatever its characters are.  A column with texts is
 * one of dates or times only if these are written as they were read.
 */
SP_MUST_CHECK int sp__inference_add_text(struct sp__inference *f, uint32_t column,
					 const struct sp__slice *text);
/* True if a column has texts of JSON. */
bool sp__inference_texts(const struct sp__inference *f, uint32_t column);
/* Grows to n columns, which share words_bytes.  Returns 0 or -ENOMEM. */
SP_MUST_CHECK int sp__inference_grow(struct sp__inference *f, uint32_t n, uint64_t words_bytes,
				     struct sp__budget *budget);
/* Adds a field that is empty and in quotes. */
void sp__inference_add_blank(struct sp__inference *f, uint32_t column);
/* Returns the type of a column.  whole: no further fields follow.  note: may be NULL. */
struct sp__value_type sp__inference_type(const struct sp__inference *f, uint32_t column, bool whole,
					 enum sp__infer_note *note);
