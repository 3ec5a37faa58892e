/* SPDX-License-Identifier: MIT */
/*
 * Predicates on records, three-valued as in SQL.
 *
 *	or:		and {"or" and}			words in any case
 *	and:		not {"and" not}
 *	not:		"not" not | "(" or ")" | comparison
 *	comparison:	operand {= != <> < <= > >= ^= operand}	pairs, joined by "and"
 *			operand ["not"] in (literal, ...)
 *			operand is ["not"] null
 *	operand:	column | "column" | number | 'text'	quotes inside are doubled
 *
 * A comparison with NULL is neither true nor false.  NaN is greater than all numbers, and equal to
 * itself.  Texts are compared byte by byte; a ^= 'b' is true if a begins with b.  Dates and times
 * are texts in the form of their columns.  Numbers are compared exactly with integers and decimals,
 * and are rounded to the type of a column of f32 or f64.  Columns of different types of numbers are
 * compared exactly, and a date with a time as its midnight.
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
/*
 * Writes the offsets of the rows for which the predicate is true to selected, ascending.  Returns
 * their number.
 */
uint32_t sp__predicate_select(const struct sp__predicate *w, struct sp__predicate_scratch *s,
			      const struct sp__rows *rows, uint32_t *selected);

/*
 * True if the predicate is true for no record.  bounds: for each column the least and the greatest
 * value of the records, 8 bytes each, NULL if all values are; or NULL if they are not known.
 */
bool sp__predicate_excludes(const struct sp__predicate *w, const uint8_t *const *bounds);
