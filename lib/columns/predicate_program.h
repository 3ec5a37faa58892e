/* SPDX-License-Identifier: MIT */
/*
 * A predicate as a program: comparisons, and operators that follow their operands.  A condition
 * that no step on the values of a column can decide is a step of its own: its tree is evaluated
 * record by record (expr/evaluate.c).
 *
 * A truth is TRUE, FALSE or 0 for neither, so that a byte per row can be combined bit by bit.
 */
#pragma once

#include "base/decimal.h"
#include "columns/vector.h"
#include "columns/predicate.h"
#include "expr/node.h"
#include "rec/key.h"

#define SP__TRUE 1
#define SP__FALSE 2

enum sp__step_kind {
	SP__STEP_AND, /* "and" of the two results before */
	SP__STEP_OR,
	SP__STEP_NOT,
	SP__STEP_NULL,	/* the column is NULL */
	SP__STEP_RANGE, /* integer, decimal, date, time: from low to high */
	SP__STEP_SET,	/* ... one of several */
	SP__STEP_FLOAT,
	SP__STEP_TEXT, /* text, char */
	SP__STEP_LIKE, /* text, char: like a pattern */
	SP__STEP_WORD, /* dictionary */
	SP__STEP_PAIR, /* two columns */
	SP__STEP_TREE, /* any condition */
};

/* A result that is kept: where it has this truth, a step has no effect. */
struct sp__predicate_guard {
	unsigned kept; /* its number */
	uint8_t truth;
};

struct sp__predicate_step {
	enum sp__step_kind kind;
	uint32_t column, other;
	/* TEXT, LIKE, PAIR, TREE: from the innermost one. */
	struct sp__predicate_guard *guards;
	unsigned nguards;
	unsigned orders;    /* FLOAT, TEXT, PAIR: bits for which it is true; PREFIX alone */
	bool negated;	    /* RANGE, SET: true outside */
	bool empty;	    /* RANGE: no value is in it */
	uint64_t low, high; /* bits, of signed or unsigned numbers as in the column */
	size_t n;	    /* SET: numbers; WORD: codes */
	uint64_t *set;	    /* ascending, signed or unsigned */
	uint8_t *words;	    /* truth of each code, 0 included */
	double number;	    /* FLOAT */
	char *text;	    /* TEXT, LIKE */
	size_t text_bytes;
	uint32_t node;	   /* TREE: in the expression */
	uint32_t *columns; /* TREE: n that it needs */
};

struct sp__predicate {
	const struct sp__schema *schema;
	struct sp__expr *expr;
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

/* Returns the order of two texts as one of the bits. */
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

/* A literal of a predicate; a number has its sign. */
struct sp__predicate_literal {
	bool quoted;
	const char *text;
	size_t bytes;
	size_t at; /* its first character in the predicate, from 0 */
};

/*
 * predicate_literal.c: set the members of a step that compares a column with literals.  Return 0;
 * -ENOMEM; or SP_ESYNTAX with *reason.
 */
SP_MUST_CHECK int sp__step_compare(struct sp__predicate_step *s, const struct sp__schema *schema,
				   unsigned orders, const struct sp__predicate_literal *l,
				   const char **reason);
/* A column of texts and a pattern. */
SP_MUST_CHECK int sp__step_like(struct sp__predicate_step *s, const struct sp__schema *schema,
				const struct sp__slice *pattern);
/*
 * One of n literals, of a number or a word; others are joined by SP__STEP_OR. *bad: the number of
 * the literal with an error.
 */
SP_MUST_CHECK int sp__step_in(struct sp__predicate_step *s, const struct sp__schema *schema,
			      const struct sp__predicate_literal *l, size_t n, size_t *bad,
			      const char **reason);

/* What the compiler knows. */
struct sp__predicate_source {
	struct sp__predicate *predicate;
	const char *text;
	struct sp_errinfo *err;
};
/* Records an error at a character of the text.  Returns SP_ESYNTAX. */
int sp__predicate_fail(const struct sp__predicate_source *p, size_t at, const char *reason);
/* Reads the literal that a node of the tree is.  False: it is none. */
bool sp__predicate_literal(const struct sp__predicate *w, uint32_t node,
			   struct sp__predicate_literal *l);

/* Two operands that a comparison, "between" or "in" compares. */
struct sp__predicate_pair {
	uint32_t a, b;
	unsigned orders;
};
/* Returns one of the nargs - 1 pairs of a node. */
struct sp__predicate_pair sp__predicate_pair(const struct sp__predicate *w,
					     const struct sp__expr_node *n, uint32_t i);

/*
 * predicate_tree.c: conditions that are evaluated record by record.  Sets the columns of a step
 * whose node is set.  Returns 0; -ENOMEM; or SP_ESYNTAX with the reason: types do not fit.
 */
SP_MUST_CHECK int sp__step_tree(const struct sp__predicate_source *p, struct sp__predicate_step *s);
struct sp__predicate_values;
/* Returns memory for one thread; NULL: none. */
struct sp__predicate_values *sp__predicate_values_new(const struct sp__predicate *w);
void sp__predicate_values_free(struct sp__predicate_values *v); /* accepts NULL */
/* Finds the truth for a row.  Returns 0; SP_EFORMAT with *bad; or -ENOMEM. */
SP_MUST_CHECK int sp__step_tree_truth(const struct sp__predicate *w,
				      const struct sp__predicate_step *s,
				      struct sp__predicate_values *v, const struct sp__rows *rows,
				      uint32_t row, uint8_t *truth, struct sp__expr_bad *bad);
