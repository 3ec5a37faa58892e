/* SPDX-License-Identifier: MIT */
/*
 * Costs and benefits of the ways in which a database submits its requests.
 *
 * A load imitates a kind of query on a table of pages, which lie in extents of
 * one target.  Queries work on one page after another, and wait for a page that
 * has not been read.  The submission decides which pages are requested when; the
 * number of outstanding requests follows from it.
 *
 *   scan    the whole table, in order, with read-ahead by extents
 *   range   clients whose queries read pages all over the table
 *   update  a scan that changes every page, of a table larger than the
 *           buffer: a page is read into a free frame of the buffer, which
 *           is empty or has a page that was written since it was changed.
 *
 *   conservative   batches, with pauses.  scan, update: when the last page of
 *                  an extent is worked on, the next extent is requested.
 *                  range: one page at a time.  update: when no frame is free
 *                  the query stops, a few pages are written, and then the
 *                  next few.
 *   aggressive     a constant flow.  scan, update: some extents are always
 *                  requested ahead.  range: pages are requested in batches,
 *                  smaller ones if all clients together would exceed the
 *                  depth.  update: with less than a tenth of the frames free,
 *                  or no read outstanding, a number of writes is kept
 *                  outstanding; the query continues as long as its next page
 *                  is present.  An extent is requested when there are frames
 *                  for all of it.
 *   adaptive       update only: conservative, but pages are also written ahead
 *                  at regular intervals: 64 if less than 50 % of the frames
 *                  are free, 320 at 40 %, 640 below that, and at 10 % or less
 *                  100 with high and 100 with low priority.  Percentages are
 *                  whole numbers.
 *
 * In addition, critical reads arrive at random moments and places: reads that a
 * user waits for, which the load should not delay.  With priorities they have the
 * high one, as have single-page reads, writes for want of a frame, and the log; read-ahead
 * and all other writes have the low one.
 *
 * Source: Hall & Bonnet 2005, sections 3.2, 3.3 and 4.4.
 *
 * Thread rule: that of spindle/bench.h.
 */
#ifndef SPINDLE_POLICY_H
#define SPINDLE_POLICY_H

#include <stdbool.h>
#include <stdint.h>
#include <spindle/api.h>
#include <spindle/bench.h>
#include <spindle/error.h>
#include <spindle/enum.h>

enum sp_policy_load { SP_POLICY_SCAN, SP_POLICY_RANGE, SP_POLICY_UPDATE };

enum sp_policy_submission { SP_POLICY_CONSERVATIVE, SP_POLICY_AGGRESSIVE, SP_POLICY_ADAPTIVE };

/* Pages that an update writes and replaces; those longest in the buffer are in order of address. */
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
	unsigned ahead;	      /* aggressive scan and update: extents */
	unsigned clients;     /* range */
	unsigned query_pages; /* range: of one query */
	unsigned batch;	      /* aggressive range: pages */
	double buffer;	      /* update: as a fraction of the table, below 1 */
	unsigned steal;	      /* update: pages written when no frame is free */
	unsigned flow;	      /* aggressive update: writes outstanding */
	uint64_t preflush_ns; /* adaptive: interval of inspection */
	enum sp_policy_victims victims;
	enum sp_policy_frames frames_needed; /* usual: for an extent if aggressive */
	/*
	 * scan and update: threads of each kind of request that stand for asynchronous I/O: each
	 * takes requests of consecutive pages as one, up to an extent, and waits for it.  Writes
	 * for want of a frame do without.  0: requests are asynchronous.
	 */
	unsigned threads;
	/*
	 * range, one page at a time: an extent is requested as a whole when queries have worked on
	 * more than so many of its pages; queries then have the buffer of an update.  0: never.
	 */
	unsigned extent_threshold;
	uint64_t table_bytes; /* 0: all of the target */
	/*
	 * update: what a changed page adds to the log, which is written each second, or when 512 KB
	 * are there, to the last 64 MiB of the target, one write at a time; 0: no log.
	 */
	unsigned log_bytes;
	uint64_t compute_ns;  /* elapsed time that a query works on a page */
	double critical_rate; /* reads per second; 0: none */
	/*
	 * 0: an update begins with a buffer full of changed pages, as after many
	 * passes.  Otherwise it begins with an empty one, and the run ends after this
	 * many passes of the scan, or queries of range.
	 */
	unsigned passes;
};

struct sp_policy_result {
	struct sp_policy_opts opts;
	/*
	 * Requests: classes "critical" (if there are any), "read", and of an
	 * update "write", "urgent": writes for want of a frame, and those of a
	 * preflush with high priority, and "log" if it has one.
	 */
	const struct sp_bench_result *bench;
	uint64_t table_bytes;
	uint64_t pages;	  /* worked on */
	uint64_t queries; /* range: finished */
	double pages_per_s, bandwidth_bytes_per_s;
	double idle; /* share of the time without an outstanding request */
};

struct sp_policy;

/* Fills in the values of the paper, or usual ones; a conservative scan. */
SP_API void sp_policy_defaults(struct sp_policy_opts *o);

/*
 * Runs a load.  Used of target: one target, engine (not "sync"), buffered, fixed_buffers,
 * register_files, runtime_ns (0 only with passes), ramp_ns, offset_bytes,
 * size_bytes (the table), seed, create, remove, overwrite, keep_going,
 * no_fallback, trace, stop; depth limits the outstanding requests of the load,
 * critical reads not included.  Errors as for sp_bench_run().  Targets are closed
 * when it returns.
 */
SP_API SP_MUST_CHECK int sp_policy_run(struct sp_policy **policy,
				       const struct sp_bench_opts *target,
				       const struct sp_policy_opts *opts, struct sp_errinfo *err);
/*
 * Whether sp_policy_run() would refuse these options, for the target as it is now: 0 or its error,
 * and nothing is run or created.  A file to create is taken for one that can be.
 */
SP_API SP_MUST_CHECK int sp_policy_check(const struct sp_bench_opts *target,
					 const struct sp_policy_opts *opts, struct sp_errinfo *err);
/* Valid as long as the policy. */
SP_API const struct sp_policy_result *sp_policy_result(const struct sp_policy *policy);
SP_API void sp_policy_free(struct sp_policy *policy); /* accepts NULL */

SP_ENUM(sp_policy_load)
SP_ENUM(sp_policy_submission)
SP_ENUM(sp_policy_victims)
SP_ENUM(sp_policy_frames)

#endif
