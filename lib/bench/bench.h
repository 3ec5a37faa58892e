/* SPDX-License-Identifier: MIT */
/*
 * Opens measurements step by step and reads their histograms, for `benchset`; see also
 * <spindle/bench.h>.
 *
 * A bench belongs to the thread that opened it.
 */
#pragma once

#include <spindle/bench.h>
#include "base/err.h"
#include "obs/hist.h"

/* Fails with -EINVAL; the reason is a format of printf(3) and its arguments. */
#define SP__REFUSE(err, ...) sp__errf(err, -EINVAL, "check", "", -1, __VA_ARGS__)
/* Checks options for contradictions.  They need no end.  Returns 0, -EINVAL or SP_EUNSUP. */
SP_MUST_CHECK int sp__bench_check(const struct sp_bench_opts *opts, struct sp_errinfo *err);
/*
 * Opens the targets of the classes without measuring; creates them if the options say so.  *bench
 * is NULL only after -ENOMEM. sp_bench_free() closes the targets and, if the options say so,
 * removes those created.
 */
SP_MUST_CHECK int sp__bench_hold(struct sp_bench **bench, const struct sp_bench_opts *opts,
				 struct sp_errinfo *err);
/*
 * Counts errors by code in a list of at most SP_BENCH_ERRORS_MAX; its last entry counts all others.
 */
void sp__bench_count_error(struct sp_bench_error *list, size_t *n, int code, uint64_t count);
/* Returns the bytes used of the smallest target. */
uint64_t sp__bench_min_bytes(const struct sp_bench *bench);
/* Returns the latencies of a class in ns; valid until the bench is freed. */
const struct sp__hist *sp__bench_latency(const struct sp_bench *bench, size_t class);
/* Returns the time of the simulated machine since it was opened, including ramp and draining. */
uint64_t sp__bench_machine_ns(const struct sp_bench *bench);
