/* SPDX-License-Identifier: MIT */
/*
 * The state of a call: the options that its words came to, and their memory.
 */
#ifndef SP__CALL_CALL_H
#define SP__CALL_CALL_H

#include <spindle/call.h>
#include <spindle/order.h>
#include "call/options.h"

struct sp_call {
	struct sp_order order;
	struct sp_keyset *keys;
	struct sp_sort_opts sort;
	char **words; /* copies, which options borrow; NULL ends them */
	size_t nwords;
	char **copies; /* more of them, that are cut up */
	size_t ncopies;
	const char *count_name;
	bool named; /* a key has the name of a column: there are no keys yet */
	const char **tmpdirs;
};

/* An error that quotes what it is about, unless that is NULL. */
int sp__call_wrong(struct sp_errinfo *err, const struct sp_errinfo *why, const char *where);

/* Copies the words; 0 or -ENOMEM. */
SP_MUST_CHECK int sp__call_keep(struct sp_call *call, const char *const *words, size_t nwords,
				struct sp_errinfo *err);

/* -EINVAL, for a word. */
int sp__call_bad(struct sp_errinfo *err, const char **where, const char *arg, const char *why);

/* Applies the words of a sort; *where, if it is not NULL, is to be quoted after err->text. */
SP_MUST_CHECK int sp__call_sort_args(struct sp_call *call, const char **where,
				     struct sp_errinfo *err);

/* Their table, and what each sets in an order; 1: it is of no order. */
extern const struct sp__option sp__call_sort_options[];
SP_MUST_CHECK int sp__call_order_option(struct sp_order *order, int code, const char *arg,
					const char **where, struct sp_errinfo *err);

/* A copy of a text that lives as long as the call; NULL is short memory. */
char *sp__call_copy(struct sp_call *call, const char *text);

/* Adds an option of the table to the words; 0 or -ENOMEM. */
SP_MUST_CHECK int sp__call_add_word(struct sp_call *call, const struct sp__option *table, int code,
				    const char *arg, struct sp_errinfo *err);

/* Frees words and directories. */
void sp__call_release(struct sp_call *call);

struct sp_report;

/* The document of a report, which is freed; NULL is short memory. */
SP_MUST_CHECK int sp__call_json(struct sp_report *report, char **text, struct sp_errinfo *err);

/* Memory and temporary directories where the words name none. */
SP_MUST_CHECK int sp__call_complete(struct sp_call *call, struct sp_run_opts *run,
				    struct sp_errinfo *err);

#endif
