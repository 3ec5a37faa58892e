/* SPDX-License-Identifier: MIT */
/*
 * What a room above may ask of a measurement beside <spindle/bench.h>.
 *
 * A bench belongs to the thread that opened it.
 */
#ifndef SP__BENCH_BENCH_H
#define SP__BENCH_BENCH_H

#include <spindle/bench.h>
#include "base/err.h"
#include "obs/hist.h"

/* Refuses options, for a reason as for printf(3). */
#define SP__REFUSE(err, ...) sp__errf(err, -EINVAL, "check", "", -1, __VA_ARGS__)
/* 0, or -EINVAL, SP_EUNSUP: options that contradict each other. An end is not required. */
SP_MUST_CHECK int sp__bench_check(const struct sp_bench_opts *opts, struct sp_errinfo *err);
/*
 * Opens the targets for the classes, and creates them if asked to, without measuring.  *bench is
 * NULL after -ENOMEM only; sp_bench_free() closes the targets and removes what was created if asked
 * to.
 */
SP_MUST_CHECK int sp__bench_hold(struct sp_bench **bench, const struct sp_bench_opts *opts,
				 struct sp_errinfo *err);
/* Counts errors of this kind in a list of up to SP_BENCH_ERRORS_MAX; the last is of all others. */
void sp__bench_count_error(struct sp_bench_error *list, size_t *n, int code, uint64_t count);
/* Bytes used of the smallest target. */
uint64_t sp__bench_least_bytes(const struct sp_bench *bench);
/* Latencies of a class, in ns; valid as long as the bench. */
const struct sp__hist *sp__bench_latency(const struct sp_bench *bench, size_t class);
/* Time of the simulated machine since it was opened, the ramp and the draining included. */
uint64_t sp__bench_machine_ns(const struct sp_bench *bench);

#endif
