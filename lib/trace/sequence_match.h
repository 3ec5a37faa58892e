/* SPDX-License-Identifier: MIT */
/*
 * Which request of one sequence is which of another: the k-th of equal ones
 * is the k-th.  Volumes are the same if they have the same name.
 */
#ifndef SP__TRACE_SEQUENCE_MATCH_H
#define SP__TRACE_SEQUENCE_MATCH_H

#include "trace/sequence.h"

#define SP__SEQ_NONE SIZE_MAX

struct sp__seqmatch {
	size_t *a_of_b, *b_of_a; /* places; SP__SEQ_NONE: none */
	size_t missing;		 /* first of a that b lacks; SP__SEQ_NONE: none */
	size_t extra;		 /* first of b that a lacks */
};

/* 0 or -ENOMEM. */
SP_MUST_CHECK int sp__sequence_match(const struct sp_sequence *a, const struct sp_sequence *b,
				     struct sp__seqmatch *m);
void sp__sequence_match_release(struct sp__seqmatch *m);

#endif
