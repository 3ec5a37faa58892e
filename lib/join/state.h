/* SPDX-License-Identifier: MIT */
/*
 * One join in progress; README.md has the way of a record through it.
 */
#ifndef SP__JOIN_STATE_H
#define SP__JOIN_STATE_H

#include <errno.h>
#include <spindle/join.h>
#include <spindle/outfile.h>
#include "base/err.h"
#include "join/result/emit.h"
#include "join/plan/plan.h"
#include "join/input/source.h"
#include "join/result/timeline.h"
#include "obs/progress.h"
#include "run/charge.h"
#include "run/env.h"

/* The output; the join algorithms use only `emit`. */
struct sp__result {
	struct sp__emit emit;
	struct sp_outfile *file; /* NULL: the caller's descriptor */
	int fd;
	struct sp__wstream *ws; /* NULL: not open */
};

struct sp__join {
	/* Set before anything is opened; only `ordered` and `algorithm` may change later. */
	struct sp_join_opts opts;
	const struct sp_join_io *io;
	struct sp__env env;
	struct sp__join_layout layout; /* not of SP_JOIN_MERGE */

	/*
	 * The inputs, read by one algorithm at a time; after a merge that finds disorder both
	 * are opened again.
	 */
	struct sp__rstream_opts read;
	struct sp__source source[2];
	struct sp__waits waits; /* of both */
	uint64_t merged[2];	/* records of each input whose pairs are written */
	bool resumed;		/* the inputs are read again, for the other pairs */

	struct sp__result result;
	struct sp__timeline timeline; /* of its records, for io->row */

	/* Figures, updated by the code that does the counted work. */
	struct sp_join_stats stats;
	uint64_t phase_ns[SP_JOIN_PHASES];
	struct sp__progress progress;
};

/* join.c: writes the records so far, so that others can see them; at most twice in a join. */
SP_MUST_CHECK int sp__result_flush(struct sp__join *j);

/*
 * firstlines.c: the first records of all files: sets the number of columns from them if requested,
 * and writes them if they are headers.
 */
SP_MUST_CHECK int sp__first_lines(struct sp__join *j);
/* Skips the header at the beginning of the batch, up to its end. */
void sp__header_pass(struct sp__source *src, const char *end);

/* inl/plan.c: 0 or an error. */
SP_MUST_CHECK int sp__join_inl(struct sp__join *j);
/* Writes the first lines; the records after them are those that a limit or a timeline is about. */
SP_MUST_CHECK int sp__join_begin_rows(struct sp__join *j);

/* merge/merge.c: 0, 1 (disorder) or an error. */
SP_MUST_CHECK int sp__join_merge(struct sp__join *j);

/* join.c: 0 or an error. */
SP_MUST_CHECK int sp__join_hash(struct sp__join *j);

/* Of the buffer of the emit: what an operator hands out at once. */
#define SP__RESULT_ENOUGH_BYTES (64u << 10)

/* Only a sink is waited for: a stream takes all. */
static inline bool sp__result_full(const struct sp__join *j)
{
	const struct sp__emit *e = &j->result.emit;

	return e->sink && (size_t)(e->at - e->buf) >= SP__RESULT_ENOUGH_BYTES;
}

static inline int sp__join_no_memory(const struct sp__join *j)
{
	return sp__err(j->env.err, -ENOMEM, "allocate", NULL, -1);
}

/* The key of a line of file 0 or 1. */
static inline void sp__line_set(struct sp__join *j, int side, const char *data, size_t bytes,
				struct sp__line *line)
{
	line->data = data;
	line->bytes = bytes;
	sp__field_find(&j->result.emit.cut, data, bytes, j->opts.keys[side][0], &line->key);
}

#endif
