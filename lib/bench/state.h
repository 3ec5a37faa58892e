/* SPDX-License-Identifier: MIT */
/*
 * The state of a measurement.  Each member has an owner; its comment says when others may read it.
 */
#pragma once

#include <pthread.h>
#include "bench/bench.h"
#include "bench/load.h"
#include "bench/meter.h"
#include "bench/replay.h"
#include "obs/trace.h"
#include "sim/fwd.h"

struct sp__benchfile {
	struct sp__volume *volume;
	const char *path;
	bool created;
	struct sp__outname *name; /* a created file that fatal signals remove, or NULL */
	uint32_t align_bytes;	  /* requests must be multiples of it; 1: any size */
	uint64_t begin, bytes;	  /* the used part */
};

struct sp_bench {
	/* Constant once the targets are open; read by all threads. */
	struct sp_bench_opts opts;
	struct sp__benchfile files[SP_BENCH_TARGETS_MAX]; /* target.c */
	size_t nfiles;
	struct sp__volume *device; /* the simulated device, or NULL */
	struct sp__trace *trace;   /* NULL: no trace; has its own lock */
	struct sp__benchclass *classes[SP_BENCH_CLASSES_MAX];
	size_t nclasses;
	size_t nloads;
	bool threaded; /* each load has a thread; the lock is in use */

	/* Each load belongs to its thread. */
	struct sp__load loads[SP_BENCH_CLASSES_MAX];

	/* If threaded, guarded by the lock while the loads run. */
	pthread_mutex_t lock;
	struct sp__replay *replay; /* NULL: no replay */
	struct sp__meter meter;
	uint64_t issued_bytes; /* load_fill.c; meter.c resets it after the ramp */
	bool stopped;

	/*
	 * Written by bench_result.c after the loads have ended; errors and overdue requests by
	 * meter.c before.
	 */
	struct sp_bench_result result;
	struct sp_bench_stats stats[SP_BENCH_CLASSES_MAX];
	struct sp_bench_window windows[SP__BENCH_WINDOWS_MAX]; /* windows of all classes */
	uint64_t device_ns[SP__DEPTH_MAX + 1];
};

/* bench.c: measures with checked options; plan adds loads and groups. */
typedef int sp__bench_plan(struct sp_bench *b, void *arg, struct sp_errinfo *err);
SP_MUST_CHECK int sp__bench_run(struct sp_bench **out, const struct sp_bench_opts *opts,
				sp__bench_plan *plan, void *arg, struct sp_errinfo *err);
/* Adds a load, for a plan. */
struct sp__load *sp__bench_load(struct sp_bench *b);
/* Adds a group to a load: n consecutive members of l->classes; rate 0: as fast as they complete. */
struct sp__bench_group *sp__bench_add_group(struct sp__load *l, size_t first, size_t n,
					    unsigned depth, double rate);
/* Keeps the result, and files that sp_bench_free() is to remove. */
void sp__bench_close(struct sp_bench *b);

/* target.c */
SP_MUST_CHECK int sp__bench_open_targets(struct sp_bench *b, struct sp_errinfo *err);
void sp__bench_close_targets(struct sp_bench *b);

/* bench_check.c: replaces class RT if it is not allowed.  Returns 0 or -EPERM. */
SP_MUST_CHECK int sp__bench_settle_prios(struct sp_bench *b, struct sp_errinfo *err);

/* bench_result.c */
void sp__bench_figures(struct sp_bench *b);
