/* SPDX-License-Identifier: MIT */
/*
 * The target of a probe: a device that reads blocks, one request at a time
 * unless stated otherwise, and a clock as the host sees it.
 *
 * Blocks count from 0 in units of block_bytes.  Times are nanoseconds of one
 * clock that never goes back.  Functions return 0 or -errno: -EIO means that
 * these blocks cannot be read while others may be, -ESTALE that the device is
 * not the one it was (its size has changed).
 *
 * One thread.
 */
#pragma once

#include <spindle/probe.h>

struct sp__shot {
	uint64_t issue_ns, done_ns;
};

struct sp__target;

struct sp__target_ops {
	/* Reads one block, or overwrites it. */
	int (*transfer)(struct sp__target *t, uint64_t lbn, bool write, struct sp__shot *s);
	/* Reads two blocks, both outstanding at once, in this order. */
	int (*pair)(struct sp__target *t, const uint64_t lbns[2], struct sp__shot s[2]);
	/* n reads with `depth` of them outstanding; and the time of all together. */
	int (*stream)(struct sp__target *t, const uint64_t *lbns, size_t n, uint32_t blocks,
		      unsigned depth, struct sp__shot *s, uint64_t *elapsed_ns);
	uint64_t (*now)(struct sp__target *t);
	/* Returns as exactly at until_ns as it can. */
	void (*wait)(struct sp__target *t, uint64_t until_ns);
	void (*close)(struct sp__target *t);
};

struct sp__target {
	const struct sp__target_ops *ops;
	char *name;
	uint64_t blocks;
	uint32_t block_bytes;
	bool simulated;
	/* Where writes may go. */
	uint64_t write_first, write_blocks;
};

/* What the host needs between a completion and its next request, where it is simulated. */
#define SP__TARGET_TURNAROUND_NS 60000

/*
 * spec: what follows "sim:".  Only its model, sched, window, noise and seed are
 * used.
 */
SP_MUST_CHECK int sp__target_sim(struct sp__target **t, const char *spec, struct sp_errinfo *err);
/* A block device or a regular file; writable: it is opened for writing too. */
SP_MUST_CHECK int sp__target_file(struct sp__target **t, const char *path, bool writable,
				  struct sp_errinfo *err);
/*
 * Either of them, by opts->device.  SP_EFORMAT: it has too few blocks; -EINVAL: the range to
 * overwrite is not inside it.
 */
SP_MUST_CHECK int sp__target_open(struct sp__target **t, const struct sp_probe_opts *opts,
				  struct sp_errinfo *err);
void sp__target_close(struct sp__target *t); /* accepts NULL */
