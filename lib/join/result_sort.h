/* SPDX-License-Identifier: MIT */
/*
 * Sorting the result of a join into the order of an input.
 *
 * Records begin with the numbers of the two records of which they consist, that of the
 * ordered input first (record.h), and are sorted by them with the sort of this library, in the
 * memory given and its own temporary files.  It sorts lines; newlines in records are escaped
 * as two bytes meanwhile.
 *
 * Thread rule: that of the join.  Errors are recorded where they happen.
 */
#ifndef SP__JOIN_RESULT_SORT_H
#define SP__JOIN_RESULT_SORT_H

#include <spindle/join.h>
#include <spindle/sort.h>
#include "base/mem.h"
#include "join/state.h"

struct sp__order {
	struct sp_keyset *keys;
	struct sp_sort *sort; /* NULL: not open */
	char eol;
	uint64_t bytes;	       /* put */
	bool escape;	       /* records can contain line terminators */
	struct sp__bytes part; /* not yet put into the sort: less than a record, if not escape */
	struct sp_errinfo *err;
};

/* memory_bytes: for the sort.  input_bytes: expected; 0: unknown. */
SP_MUST_CHECK int sp__order_open(struct sp__order *o, const struct sp_join_opts *opts,
				 uint64_t memory_bytes, struct sp_errinfo *err);
/*
 * The sink of an emit: accepts records; whole: the last of them ends here.  After less than
 * a whole record the caller puts no more than its rest, and with escape never more than one
 * record.
 */
SP_MUST_CHECK int sp__order_put(void *order, const char *data, size_t bytes, bool whole);
/* Writes all records in order, without the numbers, to j->result.emit, which has no sink now. */
SP_MUST_CHECK int sp__order_write(struct sp__order *o, struct sp__join *j);
void sp__order_close(struct sp__order *o); /* accepts one all zero */

#endif
