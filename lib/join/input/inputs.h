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
#include "base/err.h"
#include "join/input/source.h"
#include "join/result/result.h"
#include "obs/progress.h"

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
	struct sp_keyset *json[2]; /* records of JSON: what checks them; NULL: other records */
	struct stat file[2];	   /* of files: their state when they were opened */
	struct sp__waits waits;	   /* waits of both inputs */
	uint64_t merged[2];	   /* records of each input whose pairs are written */
	bool resumed;		   /* the inputs are read again, for the other pairs */
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

/*
 * Compares tallies of records, so that a join that has lost or duplicated a record ends with
 * SP_EBALANCE before its output gets its name.
 *
 * A tally (base/tally.h) is a number of records and an order-independent sum over them; its bytes
 * are not used here.  Every stage counts the records that it receives, and the tallies are compared
 * when that stage, partition or input has ended:
 *
 *	input       bytes that the scan has read = bytes of the records processed, and of
 *	            those left unread because the other input has ended
 *	merge join  records cut off = paired, written alone or skipped (merge.c); after
 *	            disorder, those before it; and the records of a group each time it is
 *	            traversed (presorted.c)
 *	stage       build side: read = in the table + spilled
 *	            probe side: read = looked up + dropped by the filter + spilled
 *	partition   written (in a sort-hash join: after the sweep) = read back by a stage, by
 *	            each pass of block nested loops, or alone if the other side is empty
 *	all stages  read + read back = in tables + looked up + dropped + alone + spilled, and
 *	            spilled = read back: no partition was omitted or joined twice
 *	result      bytes held (presorted.c) or put into a sort (ordered.c) = bytes that came
 *	            back; a table traversed in order (ordered.c) has all records put into it
 *
 * Hash joins sum the hashes of keys, which are available and the same at all depths (keying.h);
 * inputs and merge joins sum bytes.
 *
 * Each tally is written by one file.  In a stage, stage.c writes `read` of the build side;
 * probing.c writes `read`, looked_up and filtered of the probe side; table.c counts `kept` when it
 * makes slots; for `spilled`, spill.c sums the hashes and the writer counts the records.  (Nested
 * loops have only blocks: `read` equals `kept` there, and is compared with the partition.)
 * stage.c adds up the tallies of the join.  All tallies belong to the thread of the join, which
 * adds those that other threads have counted (building.c, workers.c).
 *
 * Not checked: a join that has failed, for example because the reader of its output has exited.
 */

/* All functions return 0, or SP_EBALANCE, recorded. */

/* Compares the tallies of file 0 or 1 before and after a step; `where` names it in the message. */
SP_MUST_CHECK int sp__balance_same(struct sp__join_inputs *in, int side, const char *where,
				   const struct sp__tally *came, const struct sp__tally *went);
/* Compares numbers of bytes. */
SP_MUST_CHECK int sp__balance_bytes(struct sp__join_inputs *in, const char *where, uint64_t came,
				    uint64_t went);
/* Checks the inputs of a join that has ended, except data that need not be read. */
SP_MUST_CHECK int sp__balance_sources(struct sp__join_inputs *in);
