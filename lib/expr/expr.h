/* SPDX-License-Identifier: MIT */
/*
 * Expressions on the fields of a record.
 *
 *	or:	and {"or" and}				words in any case
 *	and:	not {"and" not}
 *	not:	"not" not | comparison
 *	comparison:	sum {= != <> < <= > >= ^= sum}	pairs, joined by "and"
 *		sum ["not"] between sum and sum
 *		sum ["not"] in (sum, ...)
 *		sum ["not"] like 'pattern'
 *		sum is ["not"] null
 *	sum:	product {+ - || product}
 *	product:	sign {* / % sign}
 *	sign:	"-" sign | "(" or ")" | FUNCTION(or, ...) | operand
 *	operand:	NAME | "NAME" | $NUMBER | number | 'text'	quotes inside are doubled
 *
 * A field has no type: an operator or function takes it as a number, a text or a date, and it is an
 * error if it is none.  A comparison with a number is one of numbers, and one with a text of bytes;
 * two fields are compared as numbers if both are numbers.  An empty field or text has no value.  A
 * calculation with no value has none, except "||" and replace(), which take it as an empty text; a
 * comparison with it is neither true nor false, as in SQL.  A quotient by 0, and a result that is
 * not finite, has no value.  "and", "or", if() and coalesce() do not calculate what they do not
 * need.
 *
 * Numbers: expr/amount.h.  In a pattern % is any text, _ any character, and \ takes away the
 * meaning of what follows.  Characters are those of UTF-8, and bytes that belong to none.
 *
 * Thread rule: immutable once parsed; any number of threads evaluate, each with its own scratch.
 */
#pragma once

#include <spindle/error.h>
#include "expr/amount.h"
#include "rec/fields.h"

struct sp__expr;
struct sp__expr_scratch;

/*
 * Finds a column by its name or, if name is NULL, its number from 1; *column: what the caller calls
 * it.  Returns 0, or an error with its reason in the sp_errinfo of the parser.
 */
struct sp__expr_names {
	int (*find)(void *arg, const char *name, size_t bytes, uint64_t number, uint32_t *column);
	/* True if a text that looks like a call, such as "sum(x)", is a name.  NULL: never. */
	bool (*is_name)(void *arg, const char *text, size_t bytes);
	void *arg;
	/*
	 * Columns have types, which the caller checks (columns/predicate.h).  An empty text is a
	 * value, and a column without a value has NULL as its text.  The caller checks literals
	 * that are not numbers.
	 */
	bool typed;
};

/*
 * Parses the longest expression at *text, and moves *text behind it.  Returns 0; -EINVAL with the
 * reason; -ENOMEM; or the error of names->find().
 */
SP_MUST_CHECK int sp__expr_parse(struct sp__expr **e, const char **text,
				 const struct sp__expr_names *names, struct sp_errinfo *err);
void sp__expr_free(struct sp__expr *e); /* accepts NULL */

/* True if the value is true, false or neither. */
bool sp__expr_is_truth(const struct sp__expr *e);
/* True if the value is a number, or none. */
bool sp__expr_is_number(const struct sp__expr *e);
/*
 * Returns 0 if an expression that was parsed from `text` up to `rest` is a condition and all of the
 * text; else -EINVAL with the reason, which names the option.
 */
SP_MUST_CHECK int sp__expr_condition(const struct sp__expr *e, const char *option, const char *text,
				     const char *rest, struct sp_errinfo *err);
/* If the expression is only a column, its number; else UINT32_MAX. */
uint32_t sp__expr_column(const struct sp__expr *e);
/* Gives the columns other numbers: to[number]. */
void sp__expr_renumber(struct sp__expr *e, const uint32_t *to);

/* Returns memory for one thread; NULL: none. */
struct sp__expr_scratch *sp__expr_scratch_new(const struct sp__expr *e);
void sp__expr_scratch_free(struct sp__expr_scratch *s); /* accepts NULL */

struct sp__expr_record {
	const struct sp__slice *columns;
	const char *null_text; /* text of a field without a value; NULL: only the empty one */
	size_t null_bytes;
};

enum sp__expr_kind { SP__EXPR_NULL, SP__EXPR_NUMBER, SP__EXPR_TEXT, SP__EXPR_TRUTH };

struct sp__expr_value {
	enum sp__expr_kind kind;
	bool truth;
	struct sp__amount number;
	struct sp__slice text; /* in the record, the expression or the scratch */
};

/* Why a record has no value of the expression. */
struct sp__expr_bad {
	struct sp__slice text;
	const char *wanted; /* "a number" */
};

/*
 * Evaluates; the value is valid until the next call with this scratch.  Returns 0; SP_EFORMAT with
 * *bad; or -ENOMEM.
 */
SP_MUST_CHECK int sp__expr_evaluate(const struct sp__expr *e, struct sp__expr_scratch *s,
				    const struct sp__expr_record *record,
				    struct sp__expr_value *value, struct sp__expr_bad *bad);
/* The same as text, {NULL, 0} if there is no value; a truth is "true" or "false". */
SP_MUST_CHECK int sp__expr_text(const struct sp__expr *e, struct sp__expr_scratch *s,
				const struct sp__expr_record *record, struct sp__slice *text,
				struct sp__expr_bad *bad);
/* The same of a condition: *chosen if it is true. */
SP_MUST_CHECK int sp__expr_choose(const struct sp__expr *e, struct sp__expr_scratch *s,
				  const struct sp__expr_record *record, bool *chosen,
				  struct sp__expr_bad *bad);
