/* SPDX-License-Identifier: MIT */
/*
 * The result of a join put into the order of an input.
 *
 * Records come with the numbers of the two records that they were made of in front, the
 * one of the ordered input first (tag.h), and are sorted by them with the sort of this
 * library, in the memory given and temporary files of its own.  It sorts lines; in records
 * that can hold newlines these are written as two bytes meanwhile.
 *
 * Thread rule: that of the join.  Errors are told where they happen.
 */
#ifndef SP__JOIN_RESULT_SORT_H
#define SP__JOIN_RESULT_SORT_H

#include <spindle/join.h>
#include <spindle/sort.h>
#include "base/mem.h"
#include "join/state.h"
#include "join/tag.h"

struct sp__order {
	struct sp_keyset *keys;
	struct sp_sort *sort; /* NULL: not open */
	char eol;
	uint64_t bytes; /* put */
	bool escape;	/* records can hold what ends lines */
	struct sp__bytes
		part; /* what has not gone to the sort: less than a record, if not escape */
	struct sp_errinfo *err;
};

/* memory_bytes: for the sort.  input_bytes: that will come, as far as can be told; or 0. */
SP_MUST_CHECK int sp__order_open(struct sp__order *o, const struct sp_join_opts *opts,
				 uint64_t memory_bytes, struct sp_errinfo *err);
/*
 * The sink of an emit: takes records; whole: the last of them ends here.  Who has put
 * less than a whole record puts no more than its rest next, and never more than one
 * record with escape.
 */
SP_MUST_CHECK int sp__order_put(void *order, const char *data, size_t bytes, bool whole);
/* All records in their order, without the numbers, to j->result.emit, which has no sink now. */
SP_MUST_CHECK int sp__order_write(struct sp__order *o, struct sp__join *j);
void sp__order_stats(struct sp__order *o, struct sp_sort_stats *stats);
void sp__order_close(struct sp__order *o); /* accepts one all zero */

#endif
