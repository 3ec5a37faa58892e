/* SPDX-License-Identifier: MIT */
/*
 * Aggregates over the values of chosen records, as text: "count(), avg(a1), min(\"ship date\")".
 *
 *	count()		records
 *	count(COLUMN)	values that are not NULL
 *	sum, avg	of numbers; exact, and a sum of floats is rounded once
 *	min, max	of any column, in the order of predicates (predicate.h)
 *
 * NULL is skipped; sum, avg, min and max of no values are NULL.  avg of integers and of dec(S) is
 * rounded to S + 6 decimals, half away from zero.  Results do not depend on how records are divided
 * among states.
 *
 * Thread rule: the aggregates are immutable once parsed; each thread has a state of its own.
 */
#pragma once

#include "base/mem.h"
#include "columns/schema.h"
#include "columns/vector.h"

struct sp__aggregates;
struct sp__aggregates_state;

/*
 * Parses a list of aggregates.  The schema must outlive it.  Returns 0; SP_ESYNTAX with the reason
 * and its place, and for an unknown function or column the nearest name; or -ENOMEM.
 */
SP_MUST_CHECK int sp__aggregates_parse(struct sp__aggregates **a, const char *text,
				       const struct sp__schema *schema, struct sp_errinfo *err);
void sp__aggregates_free(struct sp__aggregates *a); /* accepts NULL */
/* Sets columns[i] to true for the columns that are aggregated. */
void sp__aggregates_columns(const struct sp__aggregates *a, bool *columns);

/* Returns the number of columns that are aggregated; 0: only records are counted. */
uint32_t sp__aggregates_ncolumns(const struct sp__aggregates *a);

/* Returns a state of no records; NULL: no memory. */
struct sp__aggregates_state *sp__aggregates_state_new(const struct sp__aggregates *a);
void sp__aggregates_state_free(struct sp__aggregates_state *s); /* accepts NULL */
/*
 * Adds n records; selected: their offsets in rows, or NULL for the first n.  Returns 0; or -ENOMEM
 * for the copy of a text, which is charged to budget unless that is NULL.
 */
SP_MUST_CHECK int sp__aggregates_add(struct sp__aggregates_state *s, const struct sp__rows *rows,
				     const uint32_t *selected, uint32_t n,
				     struct sp__budget *budget);
/* Adds the records of another state of the same aggregates.  Returns 0 or -ENOMEM. */
SP_MUST_CHECK int sp__aggregates_merge(struct sp__aggregates_state *s,
				       const struct sp__aggregates_state *more,
				       struct sp__budget *budget);

/* Returns the number of results. */
uint32_t sp__aggregates_n(const struct sp__aggregates *a);
/* Returns the name of result i, such as "avg(a1)". */
const char *sp__aggregates_name(const struct sp__aggregates *a, uint32_t i);
/*
 * Appends result i to text, and says whether it is NULL, of which nothing is appended.  *is_text:
 * it is the value of a column of texts, else a number, a date or a time.  Returns 0 or -ENOMEM.
 */
SP_MUST_CHECK int sp__aggregates_result(const struct sp__aggregates_state *s, uint32_t i,
					struct sp__bytes *text, bool *is_null, bool *is_text);
