/* SPDX-License-Identifier: MIT */
/*
 * Decides whether a measurement is in a steady state, by the rule of SNIA's performance test
 * specification for solid state storage (see <spindle/bench.h>).  A pure function of the rounds.
 */
#pragma once

#include <spindle/bench.h>

/* Adds a round and judges the window that it ends. */
void sp__steady_add(struct sp_bench_steady *s, struct sp_bench_round round);
