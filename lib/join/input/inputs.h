/* SPDX-License-Identifier: MIT */
/*
 * The two inputs of a join, and what its algorithms are told and count.
 *
 * The shell sets all of it before an algorithm begins, and opens the sources.  Then the one
 * algorithm at work writes it: it reads the sources, counts, and resolves what opts leave open.
 * A merge that finds disorder sets `merged`; then the shell opens both inputs again.
 */
#ifndef SP__JOIN_INPUT_INPUTS_H
#define SP__JOIN_INPUT_INPUTS_H

#include <errno.h>
#include <spindle/join.h>
#include "base/err.h"
#include "join/input/source.h"
#include "join/result/result.h"
#include "obs/progress.h"
#include "run/charge.h"
#include "run/env.h"

/* Updated by the code that does the counted work. */
struct sp__join_counts {
	struct sp_join_stats stats;
	uint64_t phase_ns[SP_JOIN_PHASES];
	struct sp__progress progress;
};

struct sp__join_inputs {
	struct sp_join_opts *opts;
	const struct sp_join_io *io;
	struct sp__env *env;
	struct sp__join_counts *counts;
	struct sp__rstream_opts read;
	struct sp__source source[2];
	struct sp__waits waits; /* of both */
	uint64_t merged[2];	/* records of each input whose pairs are written */
	bool resumed;		/* the inputs are read again, for the other pairs */
};

/*
 * firstlines.c: reads the first records of all files, sets the number of columns from them if
 * requested, and writes them if they are headers.  The records after them are those that a limit or
 * a timeline is about.  0, SP__LIMIT_REACHED, or an error.
 */
SP_MUST_CHECK int sp__join_begin_rows(struct sp__join_inputs *in, struct sp__result *out);
/* Skips the header at the beginning of the batch, up to its end. */
void sp__header_pass(struct sp__source *src, const char *end);

static inline int sp__join_no_memory(const struct sp__env *env)
{
	return sp__err(env->err, -ENOMEM, "allocate", NULL, -1);
}

#endif
