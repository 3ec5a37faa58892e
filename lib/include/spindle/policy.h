/* SPDX-License-Identifier: MIT */
/*
 * What the way in which a database submits its requests costs and brings.
 *
 * A load stands for a kind of query on a table of pages, which lie in extents
 * in one target.  Queries work on one page after another; a page that has not
 * been read they wait for.  Which pages are asked for, and when, is the
 * submission; how many requests are outstanding follows from it.
 *
 *   scan    the whole table, in order, with read-ahead by extents
 *   range   clients whose queries read pages all over the table
 *   update  a scan that changes every page, of a table larger than the
 *           buffer: a page is read into a free frame of the buffer, which
 *           is empty or has a page that was written since it was changed.
 *           Pages to be written are picked at random among the changed ones,
 *           as are pages to be replaced.
 *
 *   conservative   batches, with pauses.  scan, update: when the last page of
 *                  an extent is worked on, the next extent is asked for.
 *                  range: one page at a time.  update: when no frame is free
 *                  the query stops, a few pages are written, and when these
 *                  are done the next few.
 *   aggressive     a constant flow.  scan, update: some extents are always
 *                  asked for ahead.  range: pages are asked for in batches,
 *                  smaller ones when all clients together would have more
 *                  outstanding than is allowed.  update: with less than a
 *                  tenth of the frames free, or no read outstanding, a number
 *                  of writes is kept outstanding; the query does not stop for
 *                  them as long as its next page is there.  An extent is
 *                  asked for when there are frames for all of it.
 *   adaptive       update alone: conservative, and at regular moments pages
 *                  are written ahead: 64 if less than 50 % of the frames are
 *                  free, 320 if 40 %, 640 if less, and at 10 % or less 100
 *                  with high and 100 with low priority.  Shares are in whole
 *                  percent.
 *
 * Beside the load, critical reads come at random moments and places: reads
 * that somebody waits for, which the load should not be in the way of.  With
 * priorities they have the high one, as have reads of one page at a time and
 * writes for want of a frame; read-ahead and all other writes have the low one.
 *
 * Source: Hall & Bonnet 2005, sections 3.2, 3.3 and 4.4.
 *
 * Thread rule: as of spindle/bench.h.
 */
#ifndef SPINDLE_POLICY_H
#define SPINDLE_POLICY_H

#include <stdbool.h>
#include <stdint.h>
#include <spindle/api.h>
#include <spindle/bench.h>
#include <spindle/error.h>
#include <spindle/words.h>

enum sp_policy_load { SP_POLICY_SCAN, SP_POLICY_RANGE, SP_POLICY_UPDATE };

enum sp_policy_submission { SP_POLICY_CONSERVATIVE, SP_POLICY_AGGRESSIVE, SP_POLICY_ADAPTIVE };

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
	double buffer;	      /* update: as a part of the table, below 1 */
	unsigned steal;	      /* update: pages written when no frame is free */
	unsigned flow;	      /* aggressive update: writes outstanding */
	uint64_t preflush_ns; /* adaptive: from one look to the next */
	uint64_t compute_ns;  /* that a query works on a page; time, not processor time */
	double critical_rate; /* reads a second; 0: none */
	/*
	 * 0: an update begins with a buffer full of changed pages, as after many
	 * passes.  Else it begins with an empty one; the run ends when the scan
	 * has been through the table so many times, or so many queries are done.
	 */
	unsigned passes;
};

struct sp_policy_result {
	struct sp_policy_opts opts;
	/*
	 * Requests: classes "critical" (if there are any), "read", and of an
	 * update "write" and "urgent", which are the writes for want of a frame
	 * and those of a preflush that have the high priority.
	 */
	const struct sp_bench_result *bench;
	uint64_t table_bytes;
	uint64_t pages;	  /* worked on */
	uint64_t queries; /* range: finished */
	double pages_per_s, bandwidth_bytes_per_s;
	double idle; /* share of the time without an outstanding request */
};

struct sp_policy;

/* Fills in the values of the paper, or else what is usual; a scan, conservative. */
SP_API void sp_policy_defaults(struct sp_policy_opts *o);

/*
 * Runs.  Of target: one target, engine (not "sync"), buffered, fixed_buffers,
 * register_files, runtime_ns (0 only with passes), ramp_ns, offset_bytes,
 * size_bytes (the table), seed, create, remove, overwrite, keep_going,
 * no_fallback, trace, stop; depth is the most requests that the load may have
 * outstanding, beside critical ones.  Errors and what is there after them as
 * for sp_bench_run().  Targets are closed when it returns.
 */
SP_API SP_MUST_CHECK int sp_policy_run(struct sp_policy **policy,
				       const struct sp_bench_opts *target,
				       const struct sp_policy_opts *opts, struct sp_errinfo *err);
/* Lives as long as the policy. */
SP_API const struct sp_policy_result *sp_policy_result(const struct sp_policy *policy);
SP_API void sp_policy_free(struct sp_policy *policy); /* accepts NULL */

SP_WORDS(sp_policy_load)
SP_WORDS(sp_policy_submission)

#endif
