/* SPDX-License-Identifier: MIT */
/*
 * Repeats a trace, for one thread or for several under the lock of the bench.
 */
#pragma once

#include <spindle/bench.h>

struct sp_sequence;
struct sp__bench_slot;
struct sp__benchclass;

struct sp__replay {
	struct sp_sequence *seq;
	struct sp_bench_volume *volumes;
	size_t *file; /* file number of each volume */
	/* For each target: whether the trace writes to it, and the bytes that it must have. */
	bool writes[SP_BENCH_TARGETS_MAX];
	uint64_t need[SP_BENCH_TARGETS_MAX];
	uint32_t bytes_max;
	bool no_stall;
	double scale;
	uint64_t begin_ns; /* due times count from it; set by the owner */
	char names[SP_BENCH_CLASSES_MAX][16];
	struct sp_bench_class classes[SP_BENCH_CLASSES_MAX];
	size_t nclasses;
	size_t cursor[SP_BENCH_CLASSES_MAX]; /* one for all: the first */
	struct sp_bench_replayed result;
};

/*
 * Loads the trace.  Sets the classes of opts, valid until the replay is closed, and the depth if it
 * is 0.  Returns 0, SP_EFORMAT, -ENODATA (the trace has no requests), or -errno.
 */
SP_MUST_CHECK int sp__replay_open(struct sp__replay **r, struct sp_bench_opts *opts,
				  struct sp_errinfo *err);
void sp__replay_close(struct sp__replay *r); /* accepts NULL */

/* Returns the size of the largest request after its extension to align_bytes. */
uint64_t sp__replay_bytes_max(const struct sp__replay *r, uint32_t align_bytes);
/*
 * Returns when the next request of a class (-1: of all) is due; 0: immediately, UINT64_MAX: never.
 */
uint64_t sp__replay_due(struct sp__replay *r, int class);
/* Fills the slot with the next request, except data and tag; returns its size in bytes. */
struct sp_bench;
size_t sp__replay_take(struct sp__replay *r, int class, const struct sp_bench *b,
		       struct sp__bench_slot *slot);
