/* SPDX-License-Identifier: MIT */
/*
 * Parses what is grouped and aggregated: columns, and expressions on them, which become derived
 * columns.
 *
 * Thread rule: one thread at a time.
 */
#pragma once

#include "group/spec.h"

struct sp__group_parser {
	struct sp__group_spec *s;
	const struct sp__column_names *names;
	const char *p;
	char *word;	    /* memory for a name or an expression */
	bool names_columns; /* the key whose values become names of columns */
	struct sp_errinfo *err;
};

/* Records the error. */
int sp__group_no_memory(struct sp__group_parser *p);
void sp__group_skip_blanks(struct sp__group_parser *p);
/*
 * Takes a column, which one of the bytes `ends` ends, or an expression; p->word is its name.
 * Returns 0, -EINVAL with the reason, or -ENOMEM.
 */
SP_MUST_CHECK int sp__group_take_operand(struct sp__group_parser *p, const char *ends,
					 uint32_t *column);
/* Takes a function and the parenthesis behind it; *keep: what it needs of its argument. */
SP_MUST_CHECK int sp__group_take_function(struct sp__group_parser *p, struct sp__group_aggregate *a,
					  unsigned *keep);
bool sp__group_takes_two(enum sp__group_function f);
/* True if a column that was taken, before sorting, is not an expression. */
bool sp__group_is_plain(uint32_t column);
/* True if a column that was taken, before sorting, is a condition. */
bool sp__group_is_truth(const struct sp__group_spec *s, uint32_t column);
/* ... a number. */
bool sp__group_is_number(const struct sp__group_spec *s, uint32_t column);
SP_MUST_CHECK int sp__group_take_expression(struct sp__group_parser *p, struct sp__expr **e);
/*
 * Sorts the columns, so that a record is searched once, and puts the derived ones behind them.
 * Returns 0 or -ENOMEM.
 */
SP_MUST_CHECK int sp__group_sort_columns(struct sp__group_parser *p);
