/* SPDX-License-Identifier: MIT */
/*
 * The options of <spindle/order.h> as words, for whoever reads others beside them.
 */
#ifndef SP__REC_ORDERWORDS_H
#define SP__REC_ORDERWORDS_H

#include <spindle/order.h>
#include "base/optwords.h"

enum sp__order_code {
	SP__ORDER_CSV = 256,
	SP__ORDER_FIXED,
	SP__ORDER_BKEY,
	SP__ORDER_HEADER,
	SP__ORDER_SORT,
	SP__ORDER_CODES
};

#define SP__ORDER_NAMES                                                                            \
	{ "ignore-leading-blanks", 'b', SP__OPT_NONE }, { "dictionary-order", 'd', SP__OPT_NONE }, \
		{ "ignore-case", 'f', SP__OPT_NONE },                                              \
		{ "general-numeric-sort", 'g', SP__OPT_NONE },                                     \
		{ "ignore-nonprinting", 'i', SP__OPT_NONE }, { "key", 'k', SP__OPT_ARG },          \
		{ "month-sort", 'M', SP__OPT_NONE }, { "numeric-sort", 'n', SP__OPT_NONE },        \
		{ "human-numeric-sort", 'h', SP__OPT_NONE },                                       \
		{ "version-sort", 'V', SP__OPT_NONE }, { "random-sort", 'R', SP__OPT_NONE },       \
		{ "sort", SP__ORDER_SORT, SP__OPT_ARG }, { "reverse", 'r', SP__OPT_NONE },         \
		{ "stable", 's', SP__OPT_NONE }, { "field-separator", 't', SP__OPT_ARG },          \
		{ "unique", 'u', SP__OPT_NONE }, { "zero-terminated", 'z', SP__OPT_NONE },         \
		{ "csv", SP__ORDER_CSV, SP__OPT_NONE },                                            \
		{ "record-size", SP__ORDER_FIXED, SP__OPT_ARG },                                   \
		{ "bkey", SP__ORDER_BKEY, SP__OPT_ARG },                                           \
	{                                                                                          \
		"header", SP__ORDER_HEADER, SP__OPT_MAYBE                                          \
	}

/* Applies an option of SP__ORDER_NAMES; 1: its code is none of theirs. */
SP_MUST_CHECK int sp__order_option(struct sp_order *order, int code, const char *arg,
				   const char **where, struct sp_errinfo *err);
/* After all options: names of columns, and what does not go together, are -EINVAL. */
SP_MUST_CHECK int sp__order_complete(struct sp_order *order, const char **where,
				     struct sp_errinfo *err);

#endif
