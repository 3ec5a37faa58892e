/* SPDX-License-Identifier: MIT */
/* Declares the state of a dry run, shared by dryrun.c and hash.c. */
#pragma once

#include "base/rng.h"
#include "join/dryrun/dryrun.h"
#include "predict/dryrun.h"
#include "run/charge.h"

/* An input or a partition. */
struct sp__dryfile {
	struct sp__drystream stream; /* stream of an input */
	struct sp__run *run;	     /* run of a partition; an input has none (NULL) */
	uint64_t bytes, records;
};

/* The first error is kept, and ends the loops. */
struct sp__dryjoin {
	struct sp_join_opts o;
	const struct sp__join_layout *l;
	struct sp__env env;
	struct sp__spill *spill; /* NULL: no partition was written yet */
	int error;
	double work; /* work done so far */
	struct sp__rng rng;
	uint64_t seed;
	enum sp_join_algorithm algorithm;
	struct sp__dryfile input[2];
	struct sp__drystream result;
	/* By file: */
	double mean[2], length_owed[2]; /* bytes of a record */
	double emits[2];		/* result bytes per record, if this file probes */
	double emit_owed;
	uint64_t emitted; /* bytes in the buffer of the emit */
	double bundle[2]; /* records of each file handled as one */
	double more_s;	  /* seconds outside the dry run, added to the machine's */
	double scale;	  /* join size / size of the dry run */
};

/* Keeps an error.  Returns true if there is one. */
static inline bool sp__dryjoin_failed(struct sp__dryjoin *t, int rc)
{
	if (!t->error && rc < 0)
		t->error = rc;
	return t->error;
}

/* Adds work; sets the error -E2BIG once the maximum is exceeded. */
static inline void sp__dryjoin_work(struct sp__dryjoin *t, double work)
{
	t->work += work;
	if (t->work > SP__DRYRUN_WORK_MAX)
		(void)sp__dryjoin_failed(t, -E2BIG);
}

/* dryrun.c: returns the next bytes of an input; 0: the end, or an error. */
uint64_t sp__dryjoin_next(struct sp__dryjoin *t, struct sp__dryfile *input);
/* Adds bytes of the result to the buffer.  Returns the whole bytes. */
uint64_t sp__dryjoin_emit(struct sp__dryjoin *t, double bytes);
/*
 * hash.c: runs a hash join of two inputs (depth 0) or two runs dry; from: by role, the build side
 * first; build_side: its file, 0 or 1.
 */
void sp__dryjoin_hash(struct sp__dryjoin *t, unsigned depth, int build_side,
		      struct sp__dryfile *const from[2]);
