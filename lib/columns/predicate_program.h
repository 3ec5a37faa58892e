/* SPDX-License-Identifier: MIT */
/*
 * A predicate as a program: comparisons, and operators that follow their operands.
 *
 * A truth is TRUE, FALSE or 0 for neither, so that a byte per row can be combined bit by bit.
 */
#pragma once

#include "base/decimal.h"
#include "columns/vector.h"
#include "columns/predicate.h"
#include "rec/key.h"

#define SP__TRUE 1
#define SP__FALSE 2

/* Bits of a set of orders of a value and a literal. */
#define SP__ORDER_LESS 1
#define SP__ORDER_EQUAL 2
#define SP__ORDER_MORE 4

enum sp__step_kind {
	SP__STEP_AND, /* "and" of the two results before */
	SP__STEP_OR,
	SP__STEP_NOT,
	SP__STEP_NULL,	/* the column is NULL */
	SP__STEP_RANGE, /* integer, decimal, date, time: from low to high */
	SP__STEP_SET,	/* ... one of several */
	SP__STEP_FLOAT,
	SP__STEP_TEXT, /* text, char */
	SP__STEP_WORD, /* dictionary */
	SP__STEP_PAIR, /* two columns */
};

struct sp__predicate_step {
	enum sp__step_kind kind;
	uint32_t column, other;
	unsigned orders;    /* FLOAT, TEXT, PAIR: for which it is true */
	bool negated;	    /* RANGE, SET: true outside */
	bool empty;	    /* RANGE: no value is in it */
	uint64_t low, high; /* bits, of signed or unsigned numbers as in the column */
	size_t n;	    /* SET: numbers; WORD: codes */
	uint64_t *set;	    /* ascending, signed or unsigned */
	uint8_t *words;	    /* truth of each code, 0 included */
	double number;	    /* FLOAT */
	bool prefix;	    /* TEXT: true if the value begins with text */
	char *text;
	size_t text_bytes;
};

struct sp__predicate {
	const struct sp__schema *schema;
	size_t n, capacity;
	struct sp__predicate_step *steps;
	unsigned depth; /* results that are kept at a time, at most */
};

/* True if numbers of the column are unsigned. */
static inline bool sp__predicate_unsigned(const struct sp__value_type *t)
{
	return t->kind == 'u';
}

/* Returns an integer of a column, as 64 bits, signed or unsigned as the column is. */
static inline uint64_t sp__predicate_load(const struct sp__value_type *t, const uint8_t *at)
{
	const unsigned unused = 64 - 8 * t->bytes;
	uint64_t v = 0;

	memcpy(&v, at, t->bytes);
	return sp__predicate_unsigned(t) ? v : (uint64_t)((int64_t)(v << unused) >> unused);
}

static inline double sp__predicate_load_float(const struct sp__value_type *t, const uint8_t *at)
{
	double wide;
	float narrow;

	if (t->bytes == 4) {
		memcpy(&narrow, at, sizeof(narrow));
		return (double)narrow;
	}
	memcpy(&wide, at, sizeof(wide));
	return wide;
}

/* Returns the order of two texts as one of the bits above. */
static inline unsigned sp__predicate_text_order(const char *a, size_t a_bytes, const char *b,
						size_t b_bytes)
{
	const int order = sp__order_bytes(a, a_bytes, b, b_bytes);

	return order < 0 ? SP__ORDER_LESS : order ? SP__ORDER_MORE : SP__ORDER_EQUAL;
}
static inline unsigned sp__predicate_float_order(double a, double b)
{
	if (__builtin_isnan(b))
		return __builtin_isnan(a) ? SP__ORDER_EQUAL : SP__ORDER_LESS;
	return a < b ? SP__ORDER_LESS : a == b ? SP__ORDER_EQUAL : SP__ORDER_MORE;
}

/* A literal of a predicate. */
struct sp__predicate_literal {
	bool quoted;
	const char *text;
	size_t bytes;
	size_t at; /* its first character in the predicate, from 1 */
};

/*
 * predicate_literal.c: set the members of a step that compares a column with literals.  Return 0;
 * -ENOMEM; or SP_ESYNTAX with *reason.
 */
SP_MUST_CHECK int sp__step_compare(struct sp__predicate_step *s, const struct sp__schema *schema,
				   unsigned orders, bool prefix,
				   const struct sp__predicate_literal *l, const char **reason);
/*
 * One of n literals, of a number or a word; others are joined by SP__STEP_OR. *bad: the number of
 * the literal with an error.
 */
SP_MUST_CHECK int sp__step_in(struct sp__predicate_step *s, const struct sp__schema *schema,
			      const struct sp__predicate_literal *l, size_t n, size_t *bad,
			      const char **reason);
