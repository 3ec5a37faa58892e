/* SPDX-License-Identifier: MIT */
/* A join being predicted: dryrun.c, hash.c. */
#ifndef SP__JOIN_DRYRUN_IMPL_H
#define SP__JOIN_DRYRUN_IMPL_H

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
	/* Of each file: */
	double mean[2], length_owed[2]; /* bytes of a record */
	double emits[2];		/* bytes of the result for each record, if it probes */
	double emit_owed;
	uint64_t emitted; /* in the buffer of the emit */
	double bundle[2]; /* records of each file that are one in the dry run */
	double more_s;	  /* beside the machine's: of what is not in the dry run */
	double scale;	  /* so many times more is joined than is run dry */
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

/* dryrun.c: bytes of the result come into the buffer; whole ones. */
uint64_t sp__dryrun_emit(struct sp__dryrun *t, double bytes);
/* hash.c: a hash join of both inputs; build: 0 or 1. */
void sp__dryrun_hash(struct sp__dryrun *t, int build);

#endif
