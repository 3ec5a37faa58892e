/* SPDX-License-Identifier: MIT */
/*
 * Computes the offsets of requests, one walk for each class and target, and judges steady states.
 *
 * A walk visits units of the size of a request in a range of the target.
 */
#pragma once

#include <spindle/bench.h>
#include "base/rng.h"

/*
 * Decides whether a measurement is in a steady state, by the rule of SNIA's performance test
 * specification for solid state storage (see <spindle/bench.h>).  A pure function of the rounds.
 */

/* Adds a round and judges the window that it ends. */
void sp__steady_add(struct sp_bench_steady *s, struct sp_bench_round round);

struct sp__walk {
	enum sp_bench_pattern pattern;
	uint64_t begin;	   /* first byte in the target */
	uint32_t unit;	   /* bytes */
	uint64_t units;	   /* number of units, >= 1 */
	uint64_t at;	   /* next unit; shuffled: its position in the pass */
	uint64_t write_at; /* sequential: next unit that is written */
	uint64_t stride;   /* in units */
	uint64_t lane;	   /* strided: first unit of the current pass */
	struct sp__ranks ranks;
	struct sp__perm perm; /* shuffled: order of the current pass */
};

/* Sets up a walk of the requests of c in this range; bytes >= c->bytes. */
void sp__walk_init(struct sp__walk *w, const struct sp_bench_class *c, uint64_t begin,
		   uint64_t bytes);
/* Returns the offset of the next request.  Sequential reads and writes each follow their own. */
uint64_t sp__walk_next(struct sp__walk *w, bool write, struct sp__rng *rng);
