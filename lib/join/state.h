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
 *	time.c    clocks, real and simulated
 */
#ifndef SP__JOIN_STATE_H
#define SP__JOIN_STATE_H

#include <spindle/join.h>
#include "join/emit.h"
#include "join/source.h"
#include "obs/progress.h"

/* What hash joins count. */
struct sp__join_counts {
	enum sp_join_algorithm algorithm;
	enum sp_join_ordering ordered_by;
	unsigned build;
	uint64_t partitions, spilled_partitions, reversals, nested_blocks;
	uint64_t groups;
	uint64_t filter_probes, filter_drops;
	uint64_t sort_runs;
	uint64_t spill_read_bytes, spill_write_bytes, spill_peak_bytes;
	double resident_share;
	unsigned depth;
	uint64_t phase_ns[SP_JOIN_PHASES];
	uint64_t spill_regions;
	double spill_region_bytes_mean;
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
	struct sp_outfile *out; /* NULL: the descriptor that was given */
	int out_fd;
	struct sp__wstream *ws;
	struct sp__join_counts counts;
	uint64_t merged[2]; /* of either input: the pairs of the first so many are written */
	bool resumed;	    /* the inputs are read once more, for the others */
	struct sp__io_counters read_before;
	struct sp__machine *machine; /* NULL: the real one */
	struct sp__trace *trace;     /* NULL: none */
	struct sp__progress progress;
	uint64_t begin_ns;
};

/* join.c */
/* Puts what has been emitted so far where others can see it. */
SP_MUST_CHECK int sp__join_flush(struct sp__join *j);

/* merge.c: 0, 1 (disorder) or an error. */
SP_MUST_CHECK int sp__join_merge(struct sp__join *j);

/* hash.c: 0 or an error. */
SP_MUST_CHECK int sp__join_hash(struct sp__join *j);

/* time.c */
/* The clock of the machine that joins, simulated or real. */
uint64_t sp__join_now_ns(const struct sp__join *j);
/*
 * On a simulated machine: records are handled, each with so many comparisons of keys, and
 * bytes copied.
 */
void sp__join_charge_always(struct sp__join *j, uint64_t records, unsigned comparisons,
			    uint64_t bytes);
static inline void sp__join_charge(struct sp__join *j, uint64_t records, unsigned comparisons,
				   uint64_t bytes)
{
	if (__builtin_expect(j->machine != NULL, 0))
		sp__join_charge_always(j, records, comparisons, bytes);
}
/* What has been read of a file is dealt with: takes its time, and is told. */
void sp__join_filling(struct sp__source *s);
void sp__join_note_machine(struct sp__join *j, struct sp_join_stats *st);

/* The key of a line of file 0 or 1. */
static inline void sp__line_set(struct sp__join *j, int side, const char *data, size_t bytes,
				struct sp__line *line)
{
	line->data = data;
	line->bytes = bytes;
	sp__field_find(&j->emit.cut, data, bytes, j->opts.keys[side][0], &line->key);
}

#endif
