/* SPDX-License-Identifier: MIT */
/*
 * Takes the words of a query of a workload apart (run/workload.h reads the lines).
 *
 * Thread rule: one thread.
 */
#pragma once

#include "run/workload.h"
#include "table/schema/schema.h"

#define SP__WORKLOAD_RECORDS_MAX (UINT64_C(1) << 48)
#define SP__QUERY_WORD_SHOWN 40 /* bytes of a user's word in a message */

struct sp__query_words {
	char *at;     /* the rest of the words */
	char *reason; /* of a failure; SP__QUERY_REASON bytes */
	bool no_memory;
};

/* Sets the reason.  Returns false. */
__attribute__((format(printf, 2, 3))) bool sp__query_fail(struct sp__query_words *w,
							  const char *reason, ...);
/* Takes the next word, which blanks end unless they are in double quotes; NULL: none. */
char *sp__query_word(struct sp__query_words *w);
/*
 * Sets *columns to a new array that has true for each column of a list, names with commas between
 * them, or "*".  Returns false after an error; list: NULL is one.
 */
bool sp__query_columns(struct sp__query_words *w, const struct sp__table_schema *s, char *list,
		       bool **columns);
/* Takes a word that is a number of records above 0.  False: it is not; `reason` says so. */
bool sp__query_count(struct sp__query_words *w, uint64_t *count, const char *reason);
