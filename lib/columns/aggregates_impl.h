/* SPDX-License-Identifier: MIT */
/* What the files that implement aggregates.h share. */
#pragma once

#include "base/exactsum.h"
#include "columns/aggregates.h"
#include "columns/predicate_program.h"

enum sp__aggregate_function {
	SP__AGGREGATE_COUNT,
	SP__AGGREGATE_SUM,
	SP__AGGREGATE_AVG,
	SP__AGGREGATE_MIN,
	SP__AGGREGATE_MAX,
};

/* A column that is aggregated once, by one function or several. */
struct sp__aggregate_column {
	uint32_t column;
	bool sum, ends; /* a function needs the sum; the smallest and the largest value */
};

struct sp__aggregate {
	enum sp__aggregate_function function;
	uint32_t of; /* number in columns[]; UINT32_MAX: records are counted */
	char *name;
};

struct sp__aggregates {
	const struct sp__schema *schema;
	uint32_t n, ncolumns;
	struct sp__aggregate *list;
	struct sp__aggregate_column *columns;
};

/* The values of a column that have been added. */
struct sp__column_sum {
	uint64_t n;		    /* number of values that are not NULL */
	sp__int128 sum;		    /* sum of integers or decimals */
	struct sp__exactsum *reals; /* exact sum of floats */
	uint64_t min, max;	    /* ends of integers, decimals, dates, times */
	double min_real, max_real;  /* ends of the floats that are not NaN */
	uint64_t nans;
	struct sp__bytes min_text, max_text;
	uint64_t *codes; /* a bit for each code that occurs; NULL: not a dictionary */
};

/* Returns the 64-bit words for a bit of each code. */
static inline size_t sp__code_words(uint32_t codes)
{
	return codes / 64 + 1;
}

struct sp__aggregates_state {
	const struct sp__aggregates *aggregates;
	struct sp__budget *budget; /* budget of the texts; NULL: not charged */
	uint64_t records;
	struct sp__column_sum columns[];
};

/* aggregate_add.c: add values of one column.  Return 0 or -ENOMEM. */
SP_MUST_CHECK int sp__column_sum_add(struct sp__column_sum *s, const struct sp__aggregate_column *c,
				     const struct sp__column *column,
				     const struct sp__vector *values, const uint32_t *selected,
				     uint32_t n, struct sp__budget *budget);
SP_MUST_CHECK int sp__column_sum_merge(struct sp__column_sum *s,
				       const struct sp__aggregate_column *c,
				       const struct sp__column_sum *more,
				       const struct sp__column *column, struct sp__budget *budget);
