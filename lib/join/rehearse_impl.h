/* SPDX-License-Identifier: MIT */
/* A join being predicted: rehearse.c, rehearse_parts.c. */
#ifndef SP__JOIN_REHEARSE_IMPL_H
#define SP__JOIN_REHEARSE_IMPL_H

#include "base/rng.h"
#include "join/rehearse.h"
#include "join/rehearsed.h"
#include "run/charge.h"
#include "run/memory.h"

struct sp__told {
	const struct sp_join_opts *o;
	const struct sp__join_layout *l;
	struct sp__rehearsal r;
	struct sp__rng rng;
	uint64_t seed;
	struct sp__buffers buffers;
	enum sp_join_algorithm algorithm;
	struct sp__rehearsed input[2], result;
	struct sp__rehearsed_write to;
	/* Of each file: */
	double mean[2], length_owed[2]; /* bytes of a record */
	double emits[2];		/* bytes of the result for each record, if it probes */
	double emit_owed;
	uint64_t emitted; /* in the buffer of the emit */
	double bundle[2]; /* records of each file that are rehearsed as one */
	double more_s;	  /* beside the machine's: of what is not rehearsed */
	double scale;	  /* so many times more is joined than is rehearsed */
};

static inline void sp__told_work(struct sp__told *t, uint64_t records, unsigned comparisons,
				 uint64_t bytes)
{
	sp__charge_machine(t->r.machine, records, comparisons, bytes);
}

static inline double sp__told_now(const struct sp__told *t)
{
	return (double)sp__machine_now_ns(t->r.machine) * 1e-9;
}

/* rehearse.c: bytes of the result come into the buffer; whole ones. */
uint64_t sp__told_emit(struct sp__told *t, double bytes);
/* rehearse_parts.c: a hash join of both inputs; build: 0 or 1. */
void sp__told_hash(struct sp__told *t, int build);

#endif
