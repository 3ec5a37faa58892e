/* SPDX-License-Identifier: MIT */
/*
 * Cuts two sorted files into ranges of the same keys.
 */
#pragma once

#include "base/mem.h"
#include "join/input/inputs.h"
#include "join/keys/keyorder.h"

struct sp__keycuts {
	struct sp__join_inputs *in;
	const struct sp__emit *emit; /* finds keys */
	struct sp__keyorder order;
	int fd[2];
	struct sp__bytes block; /* of a file */
	uint64_t step;		/* bytes of the longer file in a range */
	/* Bytes of each file: its size; the beginning of the next range. */
	uint64_t size[2], at[2];
};

/* A range of both files: [from, to). */
struct sp__joinrange_cut {
	uint64_t from[2], to[2];
	bool more[2];		/* the file continues after it */
	struct sp__slice bound; /* the key at which it was cut */
	struct sp__bytes bound_copy;
};

/*
 * Opens both inputs, which are regular files of lines; from: the ends of their headers.  0 or an
 * error.
 */
SP_MUST_CHECK int sp__keycuts_open(struct sp__keycuts *c, struct sp__join_inputs *in,
				   const struct sp__emit *emit, const struct sp__keyorder *order,
				   const uint64_t from[2]);
void sp__keycuts_close(struct sp__keycuts *c);
/*
 * Cuts off the next range.  The keys of the last records before the cut precede the bound, and
 * those of the first records after it do not: so if the range is sorted, all its keys precede all
 * later ones.  SP_READY; SP_END: both files have ended; or an error.
 */
SP_MUST_CHECK int sp__keycuts_next(struct sp__keycuts *c, struct sp__joinrange_cut *range);
/* Opens a file once more, for a thread.  Returns the descriptor or an error. */
SP_MUST_CHECK int sp__keycuts_reopen(const struct sp__keycuts *c, int side);
/* Checks that the files have not changed since the join opened them. */
SP_MUST_CHECK int sp__keycuts_check(const struct sp__keycuts *c);
