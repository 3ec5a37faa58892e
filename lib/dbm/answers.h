/* SPDX-License-Identifier: MIT */
/*
 * Judges what systems print: plans by what they name, answers by counts of the generated tables.
 *
 * The records of T1 are counted by a2 and a3.  Every record of T1 has its a1 in T2, so a mean over
 * the join is one over T1.
 */
#pragma once

#include <spindle/dbm.h>

/* Returns what the text of a plan lacks for a query, such as "T2"; NULL: nothing. */
const char *sp__plan_lacks(enum sp_dbm_query query, const char *text);

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
	uint64_t sum;	  /* sum of a3 of the selected records */
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

/* Writes a right answer as a system prints it.  text: 256 bytes. */
void sp__answer_print(const struct sp__dbm_question *q, const struct sp__dbm_answer *a, char *text);
/* True if a line, without its newline, is this answer: values exactly, means to 1e-9. */
bool sp__answer_is(const struct sp__dbm_question *q, const struct sp__dbm_answer *a,
		   const char *line);
/*
 * Compares the lines of a file with n questions.  Returns 0; SP_EFORMAT if there are fewer or more,
 * or one is wrong; -ENOMEM; or -errno.
 */
SP_MUST_CHECK int sp__answers_check(const char *path, const struct sp__dbm_truth *t,
				    const struct sp__dbm_question *questions, unsigned n,
				    struct sp_errinfo *err);
