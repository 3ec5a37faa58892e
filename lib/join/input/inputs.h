/* SPDX-License-Identifier: MIT */
/*
 * Holds the two inputs of a join, and the options and counters of its algorithms.
 *
 * The shell sets everything before an algorithm begins, and opens the sources.  Then only the
 * running algorithm writes it: it reads the sources, counts, and resolves what opts leave open.  A
 * merge that finds disorder sets `merged`; then the shell opens both inputs again.
 */
#pragma once

#include <sys/stat.h>
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
	struct stat file[2];	/* of files: their state when they were opened */
	struct sp__waits waits; /* of both */
	uint64_t merged[2];	/* records of each input whose pairs are written */
	bool resumed;		/* the inputs are read again, for the other pairs */
};

/*
 * firstlines.c: reads the first records of all files, sets the number of columns from them if
 * requested, and writes them if they are headers.  A limit and a timeline count only the records
 * after them.  0, SP__LIMIT_REACHED, or an error.
 */
SP_MUST_CHECK int sp__join_begin_rows(struct sp__join_inputs *in, struct sp__result *out);
/* Skips the header at the beginning of the batch, up to its end. */
void sp__header_pass(struct sp__source *src, const char *end);

static inline int sp__join_no_memory(const struct sp__env *env)
{
	return sp__err(env->err, -ENOMEM, "allocate", NULL, -1);
}
