/* SPDX-License-Identifier: MIT */
/*
 * Predicates on records: conditions of expr/expr.h on the columns of a schema, which have types.
 *
 * Columns and literals are compared by their types: numbers exactly with integers and decimals, and
 * rounded to the type of a column of f32 or f64; nan and inf are numbers, NaN is greater than all
 * others and equal to itself.  Columns of different types of numbers are compared exactly, and a
 * date with a time as its midnight.
 *
 * Operators and functions see what is printed of a value: numbers of expr/amount.h, and texts; a
 * date or time is a text in the form of its column.  An empty text is a value.
 *
 * Thread rule: immutable once parsed; any number of threads select, each with its own scratch.
 */
#pragma once

#include "columns/schema.h"
#include "columns/vector.h"

struct sp__predicate;
struct sp__predicate_scratch;

/*
 * Parses a predicate.  The schema must outlive it.  Returns 0; SP_ESYNTAX with the reason, the rest
 * of the text, and for an unknown column the nearest name; or -ENOMEM.
 */
SP_MUST_CHECK int sp__predicate_parse(struct sp__predicate **predicate, const char *text,
				      const struct sp__schema *schema, struct sp_errinfo *err);
void sp__predicate_free(struct sp__predicate *w); /* accepts NULL */

/* Sets columns[i] to true for the columns that the predicate needs. */
void sp__predicate_columns(const struct sp__predicate *w, bool *columns);

/* Returns the number of comparisons, and tests of NULL, of a record. */
unsigned sp__predicate_tests(const struct sp__predicate *w);

/* Returns memory for one thread; NULL: none. */
struct sp__predicate_scratch *sp__predicate_scratch_new(const struct sp__predicate *w);
void sp__predicate_scratch_free(struct sp__predicate_scratch *s);

/* Rows that a predicate chooses.  The caller sets at, and if needed ignored and err. */
struct sp__chosen_rows {
	uint32_t *at; /* offsets in the rows, ascending */
	uint32_t n;
	/* True if it does not matter whether a record is chosen; NULL: never. */
	bool (*ignored)(const void *arg, uint64_t record);
	const void *arg;
	struct sp_errinfo *err;
};
/*
 * Finds the rows for which the predicate is true.  Returns 0; SP_EFORMAT: a record that is not
 * ignored has a value that is not what a function or operator needs; or -ENOMEM.
 */
SP_MUST_CHECK int sp__predicate_select(const struct sp__predicate *w,
				       struct sp__predicate_scratch *s, const struct sp__rows *rows,
				       struct sp__chosen_rows *chosen);

/*
 * True if the predicate is true for no record.  bounds: for each column the least and the greatest
 * value of the records, 8 bytes each, NULL if all values are; or NULL if they are not known.
 */
bool sp__predicate_excludes(const struct sp__predicate *w, const uint8_t *const *bounds);
