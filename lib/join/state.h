/* SPDX-License-Identifier: MIT */
/*
 * One join in progress, shared by the files of this folder:
 *
 *	join.c    the public call: opening, running, closing
 *	source.c  an input, batch by batch
 *	fields.c  lines cut into fields
 *	emit.c    records of the result put together
 *	merge.c   joining sorted files
 *	hash.c    joining by hashing; stage.h tells of the rest
 */
#ifndef SP__JOIN_STATE_H
#define SP__JOIN_STATE_H

#include <spindle/join.h>
#include "join/emit.h"
#include "join/source.h"
#include "sort/outfile.h"

/* What hash joins count. */
struct sp__join_counts {
	unsigned build;
	uint64_t records[2];
	uint64_t partitions, spilled_partitions, reversals, nested_blocks;
	uint64_t filter_probes, filter_drops;
	uint64_t spill_read_bytes, spill_write_bytes, spill_peak_bytes;
	double resident_share;
	unsigned depth;
	uint64_t phase_ns[SP_JOIN_PHASES];
	char engine[32];
};

struct sp__join {
	struct sp_join_opts opts;
	const struct sp_join_io *io;
	struct sp_errinfo own_err, *err;
	struct sp__rstream_opts read;
	struct sp__wstream_opts write;
	struct sp__source source[2];
	struct sp__emit emit;
	struct sp__outfile out;
	struct sp__wstream *ws;
	struct sp__join_counts counts;
	uint64_t begin_ns;
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
