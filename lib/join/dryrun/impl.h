/* SPDX-License-Identifier: MIT */
/* Declares the state of a dry run, shared by dryrun.c and hash.c. */
#pragma once

#include "base/rng.h"
#include "join/dryrun/dryrun.h"
#include "join/dryrun/streams.h"
#include "run/charge.h"
#include "run/memory.h"

struct sp__dryrun {
	const struct sp_join_opts *o;
	const struct sp__join_layout *l;
	struct sp__drymachine r;
	struct sp__rng rng;
	uint64_t seed;
	struct sp__buffers buffers;
	enum sp_join_algorithm algorithm;
	struct sp__dryfile input[2], result;
	struct sp__drywrite to;
	/* By file: */
	double mean[2], length_owed[2]; /* bytes of a record */
	double emits[2];		/* result bytes per record, if this file probes */
	double emit_owed;
	uint64_t emitted; /* bytes in the buffer of the emit */
	double bundle[2]; /* records of each file handled as one */
	double more_s;	  /* seconds outside the dry run, added to the machine's */
	double scale;	  /* join size / size of the dry run */
};

static inline void sp__dryrun_work(struct sp__dryrun *t, uint64_t records, unsigned comparisons,
				   uint64_t bytes)
{
	sp__charge_machine(t->r.machine, records, comparisons, bytes);
}

static inline double sp__dryrun_now(const struct sp__dryrun *t)
{
	return (double)sp__machine_now_ns(t->r.machine) * 1e-9;
}

/* dryrun.c: adds bytes of the result to the buffer.  Returns the whole bytes. */
uint64_t sp__dryrun_emit(struct sp__dryrun *t, double bytes);
/* hash.c: runs a hash join of both inputs dry; build: 0 or 1. */
void sp__dryrun_hash(struct sp__dryrun *t, int build);
