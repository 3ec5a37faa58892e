/* SPDX-License-Identifier: MIT */
/*
 * The target of a probe: a device that reads blocks, one request at a time unless stated
 * otherwise, and a clock as the host sees it.
 *
 * Blocks count from 0 in units of block_bytes.  Times are nanoseconds of one clock that never goes
 * back.  Functions return 0 or -errno. -EIO: these blocks cannot be read, but others might be.
 * -ESTALE: the device is not the same any more, since its size has changed.
 *
 * Thread rule: one thread.
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
	/* Reads two blocks, in this order, both outstanding concurrently. */
	int (*pair)(struct sp__target *t, const uint64_t lbns[2], struct sp__shot s[2]);
	/* Makes n reads, `depth` of them outstanding, and measures their total time. */
	int (*stream)(struct sp__target *t, const uint64_t *lbns, size_t n, uint32_t blocks,
		      unsigned depth, struct sp__shot *s, uint64_t *elapsed_ns);
	uint64_t (*now)(struct sp__target *t);
	/* Returns at until_ns, as exactly as possible. */
	void (*wait)(struct sp__target *t, uint64_t until_ns);
	void (*close)(struct sp__target *t);
};

struct sp__target {
	const struct sp__target_ops *ops;
	char *name;
	uint64_t blocks;
	uint32_t block_bytes;
	bool simulated;
	/* The blocks that may be written. */
	uint64_t write_first, write_blocks;
};

/* Time of a simulated host between a completion and its next request. */
#define SP__TARGET_TURNAROUND_NS 60000

/*
 * spec: what follows "sim:".  Only its model, sched, window, noise and seed are
 * used.
 */
SP_MUST_CHECK int sp__target_sim(struct sp__target **t, const char *spec, struct sp_errinfo *err);
/* Opens a block device or a regular file; writable: for writing too. */
SP_MUST_CHECK int sp__target_file(struct sp__target **t, const char *path, bool writable,
				  struct sp_errinfo *err);
/*
 * Either of them, by opts->device.  SP_EFORMAT: it has too few blocks; -EINVAL: the range to
 * overwrite is not inside it.
 */
SP_MUST_CHECK int sp__target_open(struct sp__target **t, const struct sp_probe_opts *opts,
				  struct sp_errinfo *err);
void sp__target_close(struct sp__target *t); /* accepts NULL */
