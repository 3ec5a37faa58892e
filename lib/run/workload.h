/* SPDX-License-Identifier: MIT */
/*
 * Reads workloads as text, a query per line: an optional weight, then the words of the query, which
 * each capability parses itself.  `#` begins a comment.
 */
#pragma once

#include <spindle/error.h>

#define SP__QUERY_REASON 200 /* bytes of a reason with its 0 byte */

struct sp__workload_reader {
	/*
	 * Takes a query.  words: the text after the weight, which it can change.  reason has
	 * SP__QUERY_REASON bytes.  Returns 0; SP_ESYNTAX, with the reason set; or -ENOMEM.
	 */
	int (*query)(void *arg, double weight, char *words, char *reason);
	void *arg;
	const char *form; /* the reason if a line has no form of a query, such as a wrong weight */
};

/*
 * Reads all queries of a file, which has at least one.  Returns 0; -errno; -ENOMEM; SP_EFORMAT if
 * the file was truncated meanwhile; or SP_ESYNTAX, with line and reason in err.
 */
SP_MUST_CHECK int sp__workload_read(const struct sp__workload_reader *r, const char *path,
				    struct sp_errinfo *err);
/* Reads the query of one line, which is not empty.  Returns 0, -ENOMEM or SP_ESYNTAX. */
SP_MUST_CHECK int sp__workload_query(const struct sp__workload_reader *r, const char *query,
				     struct sp_errinfo *err);
