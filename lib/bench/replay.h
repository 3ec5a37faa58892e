/* SPDX-License-Identifier: MIT */
/*
 * Repeats a trace, for one thread or for several under the lock of the bench.
 */
#pragma once

#include <spindle/bench.h>

struct sp__replay;
struct sp__bench_slot;
struct sp__benchclass;

/*
 * Loads the trace.  Sets the classes of opts, valid until the replay is closed, and the depth if it
 * is 0.  Returns 0, SP_EFORMAT, -ENODATA (the trace has no requests), or -errno.
 */
SP_MUST_CHECK int sp__replay_open(struct sp__replay **r, struct sp_bench_opts *opts,
				  struct sp_errinfo *err);
void sp__replay_close(struct sp__replay *r); /* accepts NULL */

const struct sp_bench_replayed *sp__replay_result(const struct sp__replay *r);

/* True if the trace writes to the target; the size that the target must have. */
bool sp__replay_writes(const struct sp__replay *r, size_t file);
uint64_t sp__replay_need_bytes(const struct sp__replay *r, size_t file);
/* Returns the size of the largest request after its extension to align_bytes. */
uint64_t sp__replay_bytes_max(const struct sp__replay *r, uint32_t align_bytes);

/* Sets the time from which due times count. */
void sp__replay_begin(struct sp__replay *r, uint64_t now_ns);
/*
 * Returns when the next request of a class (-1: of all) is due; 0: immediately, UINT64_MAX: never.
 */
uint64_t sp__replay_due(struct sp__replay *r, int class);
/* Fills the slot with the next request, except data and tag; returns its size in bytes. */
struct sp_bench;
size_t sp__replay_take(struct sp__replay *r, int class, const struct sp_bench *b,
		       struct sp__bench_slot *slot);
