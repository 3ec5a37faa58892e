/* SPDX-License-Identifier: MIT */
/*
 * What the generated tables answer to each query: the records of T1 are counted by a2 and a3.
 *
 * Every record of T1 has its a1 in T2, so a mean over the join is one over T1.
 */
#pragma once

#include <spindle/dbm.h>

#define SP__TRUTH_GROUPS 50 /* values of a3, from 1 */

struct sp__dbm_truth {
	uint64_t records;
	uint32_t *upto; /* [a2][a3 - 1]: records of this a3 with at most this a2; 4 MB */
};

/* A query with its bounds. */
struct sp__dbm_question {
	enum sp_dbm_query query;
	uint32_t lo, hi;
};

struct sp__dbm_answer {
	uint64_t records; /* within the bounds */
	uint64_t sum;	  /* of their a3 */
	uint64_t groups;  /* bits 1 << a3 */
};

/* Returns 0 or -ENOMEM. */
SP_MUST_CHECK int sp__truth_open(struct sp__dbm_truth *t);
void sp__truth_close(struct sp__dbm_truth *t);
/* Counts lines of T1, `a1|a2|a3|...`, all complete.  False: one has another form. */
bool sp__truth_add(struct sp__dbm_truth *t, const char *lines, size_t bytes);
/* After the last line. */
void sp__truth_end(struct sp__dbm_truth *t);
/* Returns what is right, after sp__truth_end(). */
struct sp__dbm_answer sp__truth_answer(const struct sp__dbm_truth *t,
				       const struct sp__dbm_question *q);
