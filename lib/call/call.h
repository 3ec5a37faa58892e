/* SPDX-License-Identifier: MIT */
/*
 * The state of a call: the options made from its arguments, and their memory.
 */
#pragma once

#include <spindle/call.h>
#include <spindle/order.h>
#include "call/options.h"

struct sp_call {
	struct sp_order order;
	struct sp_keyset *keys;
	struct sp_sort_opts sort;
	char **args; /* copies, which options borrow; NULL at the end */
	size_t nargs;
	char **copies; /* further copies, which parsing splits */
	size_t ncopies;
	const char *count_name;
	const char *where, *resume;
	bool skip_invalid;
	bool keep_order;
	bool limited; /* --limit is given, in sort.top; 0: no record */
	bool named;   /* a key names a column; keys are not yet set */
	const char **tmpdirs;
};

/* Makes an error that quotes the argument, unless it is NULL. */
int sp__call_wrong(struct sp_errinfo *err, const struct sp_errinfo *why);

/* Appends the part of an argument that an error quotes to its text; call before that is freed. */
void sp__call_quote(struct sp_errinfo *err);

/* Copies the arguments.  Returns 0 or -ENOMEM. */
SP_MUST_CHECK int sp__call_keep(struct sp_call *call, const char *const *args, size_t nargs,
				struct sp_errinfo *err);

/* Copies the arguments, and applies them by a table.  Returns 0, or an error that quotes one. */
SP_MUST_CHECK int sp__call_read(struct sp_call *call, const struct sp__option *table,
				sp__option_apply *apply, void *to, const char *const *args,
				size_t nargs, struct sp_errinfo *err);

/* Returns the request for the header of an input: see sp_columns_read(). */
struct sp_columns sp__call_columns(const struct sp_call *call, const char *input);

/* Applies the arguments of a sort. */
SP_MUST_CHECK int sp__call_sort_args(struct sp_call *call, struct sp_errinfo *err);

/* The table of sorts, and applying an option to an order.  Returns 1: not an option of an order. */
extern const struct sp__option sp__call_sort_options[];
SP_MUST_CHECK int sp__call_order_option(struct sp_order *order, int code, const char *arg,
					struct sp_errinfo *err);

/* Returns a copy of a text, owned by the call; NULL: out of memory. */
char *sp__call_copy(struct sp_call *call, const char *text);

/* Adds an option of the table to the arguments.  Returns 0 or -ENOMEM. */
SP_MUST_CHECK int sp__call_add_arg(struct sp_call *call, const struct sp__option *table, int code,
				   const char *arg, struct sp_errinfo *err);

/* Frees arguments and directories. */
void sp__call_release(struct sp_call *call);

struct sp_report;

/* Formats a report as JSON, and frees it.  A report of NULL means out of memory. */
SP_MUST_CHECK int sp__call_json(struct sp_report *report, char **text, struct sp_errinfo *err);

/* Sets memory and temporary directories that the arguments do not set. */
SP_MUST_CHECK int sp__call_complete(struct sp_call *call, struct sp_run_opts *run,
				    struct sp_errinfo *err);
