/* SPDX-License-Identifier: MIT */
/*
 * Measures the costs and benefits of the ways in which a database submits its requests.  It
 * imitates a load; it is not a database.
 *
 * A load imitates a kind of query on a table of pages, which lie in extents of one target.  Queries
 * process one page after another, and wait for a page that has not been read.  The submission
 * decides when which pages are requested.  The number of outstanding requests follows from it.
 *
 *  scan    the whole table, in order, with read-ahead by extents
 *  range   clients whose queries read pages at random positions of the table
 *  update  a scan that changes every page of a table larger than the buffer: a page is read into a
 *          free frame of the buffer, which is empty or has a page that was written after its change
 *
 *  conservative   batches, with pauses.  scan, update: when the last page of an extent is
 *                 processed, the next extent is requested.  range: one page at a time.  update:
 *                 when no frame is free, the query stops while `steal` pages are written.
 *  aggressive     a constant flow.  scan, update: `ahead` extents are always requested ahead.
 *                 range: pages are requested in batches, smaller ones if all clients together
 *                 would exceed the depth.  update: with less than a tenth of the frames free, or
 *                 no read outstanding, `flow` writes are kept outstanding; the query continues
 *                 while its next page is present.  An extent is requested when there are frames
 *                 for all of it.
 *  adaptive       update only: conservative, but pages are also written ahead at regular intervals:
 *                 64 if less than 50 % of the frames are free, 320 at 40 %, 640 below that, and at
 *                 10 % or less 100 with high and 100 with low priority.  Percentages are integers.
 *
 * In addition, critical reads arrive at random times and positions.  A user waits for them, and the
 * load should not delay them.  With priorities, the high priority is given to critical reads,
 * single-page reads, writes for want of a frame, and the log.  Read-ahead and all other writes have
 * the low priority.
 *
 * Source: Hall & Bonnet 2005, sections 3.2, 3.3 and 4.4.
 *
 * Thread rule: see spindle/bench.h.
 */
#ifndef SPINDLE_POLICY_H
#define SPINDLE_POLICY_H

#include <spindle/bench.h>
#include <spindle/enum.h>

enum sp_policy_load { SP_POLICY_SCAN, SP_POLICY_RANGE, SP_POLICY_UPDATE };

enum sp_policy_submission { SP_POLICY_CONSERVATIVE, SP_POLICY_AGGRESSIVE, SP_POLICY_ADAPTIVE };

/* Pages that an update writes and replaces.  The oldest ones are in order of address. */
enum sp_policy_victims { SP_POLICY_VICTIMS_RANDOM, SP_POLICY_VICTIMS_OLDEST };

/* An update reads when there is a frame for the page, or frames for an extent. */
enum sp_policy_frames { SP_POLICY_FRAMES_USUAL, SP_POLICY_FRAMES_PAGE, SP_POLICY_FRAMES_EXTENT };

struct sp_policy_opts {
	enum sp_policy_load load;
	enum sp_policy_submission submission;
	bool priorities;
	uint16_t high_prio, low_prio; /* SP_BENCH_PRIO(), with priorities */
	uint32_t page_bytes;
	unsigned extent_pages;
	unsigned ahead;	      /* aggressive scan and update: extents requested ahead */
	unsigned clients;     /* range: number of clients */
	unsigned query_pages; /* range: pages of one query */
	unsigned batch;	      /* aggressive range: pages requested together */
	double buffer;	      /* update: size of the buffer as a share of the table, below 1 */
	unsigned steal;	      /* update: pages written when no frame is free */
	unsigned flow;	      /* aggressive update: writes outstanding */
	uint64_t preflush_ns; /* adaptive: interval of the writes ahead */
	enum sp_policy_victims victims;
	enum sp_policy_frames frames_needed; /* usual: for an extent if aggressive */
	/*
	 * scan and update: threads for each kind of request, instead of asynchronous I/O.  Each
	 * merges requests of consecutive pages, up to an extent, and waits for the result.  Writes
	 * for want of a frame need no thread.  0: requests are asynchronous.
	 */
	unsigned threads;
	/*
	 * range, one page at a time: an extent is requested as a whole when queries have processed
	 * more pages of it than this.  Queries then have the buffer of an update.  0: never.
	 */
	unsigned extent_threshold;
	uint64_t table_bytes; /* 0: all of the target */
	/*
	 * update: bytes that a changed page adds to the log; 0: no log.  The log is written every
	 * second, or when it has 512 KiB, to the last 64 MiB of the target, one write at a time.
	 */
	unsigned log_bytes;
	uint64_t compute_ns;  /* elapsed time that a query needs for a page */
	double critical_rate; /* reads per second; 0: none */
	/*
	 * Passes of the scan, or queries of range, after which the run ends; an update begins with
	 * an empty buffer.  0: the run ends by time; an update begins with a buffer full of
	 * changed pages, as after many passes.
	 */
	unsigned passes;
};

struct sp_policy_result {
	struct sp_policy_opts opts;
	/*
	 * Requests, by class: "critical" (if there are any), "read", and for an update "write",
	 * "urgent" (writes for want of a frame, and high-priority writes ahead) and "log" (if there
	 * is one).
	 */
	const struct sp_bench_result *bench;
	uint64_t table_bytes;
	uint64_t pages;	  /* pages processed */
	uint64_t queries; /* range: queries finished */
	double pages_per_s, bandwidth_bytes_per_s;
	double idle; /* share of the time without an outstanding request, 0 to 1 */
};

struct sp_policy;

/* Fills in a conservative scan with the values of the paper, or usual ones. */
SP_API void sp_policy_defaults(struct sp_policy_opts *o);

/*
 * Runs a load.  Free the result with sp_policy_free().
 * target: one target, engine (not "sync"), buffered, fixed_buffers, register_files, runtime_ns (0
 * only with passes), ramp_ns, offset_bytes, size_bytes (the table), seed, create, remove,
 * overwrite, keep_going, no_fallback, trace and stop are used. depth limits the outstanding
 * requests of the load without critical reads.  The target is closed at the end.
 * Returns 0 or an error of sp_bench_run(): -EINVAL, -EPERM, -EBUSY, -ENOSPC, SP_EUNSUP, SP_ESYNTAX,
 * or the code of a failed request.
 */
SP_API SP_MUST_CHECK int sp_policy_run(struct sp_policy **policy,
				       const struct sp_bench_opts *target,
				       const struct sp_policy_opts *opts, struct sp_errinfo *err);

/*
 * Checks options as sp_policy_run() does, for the present target, without running or creating
 * anything.  It assumes that a file to create can be created.
 * Returns 0, or the error with which sp_policy_run() would refuse the options, such as -EINVAL.
 */
SP_API SP_MUST_CHECK int sp_policy_check(const struct sp_bench_opts *target,
					 const struct sp_policy_opts *opts, struct sp_errinfo *err);

/* Returns the result, which is valid while the policy lives. */
SP_API const struct sp_policy_result *sp_policy_result(const struct sp_policy *policy);

/* Frees a policy; NULL is accepted. */
SP_API void sp_policy_free(struct sp_policy *policy);

SP_ENUM(sp_policy_load)
SP_ENUM(sp_policy_submission)
SP_ENUM(sp_policy_victims)
SP_ENUM(sp_policy_frames)

#endif
