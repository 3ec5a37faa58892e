/* SPDX-License-Identifier: MIT */
/*
 * One join in progress, shared by the files of this folder:
 *
 *	join.c    the public call: opening, running, closing
 *	source.c  an input, batch by batch
 *	fields.c  lines cut into fields
 *	emit.c    records of the result put together
 *	merge.c   joining sorted files
 *	balance.c no record lost or doubled
 *	hash.c    joining by hashing; stage.h tells of the rest
 *	presorted.h  joining files that seem to be sorted
 */
#ifndef SP__JOIN_STATE_H
#define SP__JOIN_STATE_H

#include <spindle/join.h>
#include "join/emit.h"
#include "join/source.h"
#include "obs/progress.h"
#include "run/charge.h"
#include "run/env.h"

struct sp__join {
	struct sp_join_opts opts;
	const struct sp_join_io *io;
	struct sp__env env;
	struct sp__rstream_opts read;
	struct sp__wstream_opts write;
	struct sp__source source[2];
	struct sp__emit emit;
	struct sp_outfile *out; /* NULL: the descriptor that was given */
	int out_fd;
	struct sp__wstream *ws;
	struct sp_join_stats stats; /* filled in as things happen, and by the end of the join */
	uint64_t phase_ns[SP_JOIN_PHASES];
	uint64_t merged[2]; /* of either input: the pairs of the first so many are written */
	bool resumed;	    /* the inputs are read once more, for the others */
	struct sp__progress progress;
};

/* join.c */
/* Puts what has been emitted so far where others can see it. */
SP_MUST_CHECK int sp__join_flush(struct sp__join *j);

/* merge.c: 0, 1 (disorder) or an error. */
SP_MUST_CHECK int sp__join_merge(struct sp__join *j);

/* hash.c: 0 or an error. */
SP_MUST_CHECK int sp__join_hash(struct sp__join *j);

/* The key of a line of file 0 or 1. */
static inline void sp__line_set(struct sp__join *j, int side, const char *data, size_t bytes,
				struct sp__line *line)
{
	line->data = data;
	line->bytes = bytes;
	sp__field_find(&j->emit.cut, data, bytes, j->opts.keys[side][0], &line->key);
}

#endif
