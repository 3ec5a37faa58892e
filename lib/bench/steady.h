/* SPDX-License-Identifier: MIT */
/*
 * Is a measurement in a steady state?  By the rule of SNIA's performance test specification for
 * solid state storage: see <spindle/bench.h>.  Pure functions of the rounds.
 */
#ifndef SP__BENCH_STEADY_H
#define SP__BENCH_STEADY_H

#include <spindle/bench.h>

/* One more round; judges the window that it ends. */
void sp__steady_add(struct sp_bench_steady *s, struct sp_bench_round round);

#endif
