/* SPDX-License-Identifier: MIT */
/*
 * Declares the state of writing ranges, shared only by ranges.c, range.c and marks.c.
 *
 * Writers: the thread that runs the sort, before and after the tasks of the workers.  Meanwhile
 * each range belongs to the worker that has taken it; `lock` protects the positions of cuts, the
 * sum of balances, the journal, the counters of requests and the error of the sort.
 */
#pragma once

#include <errno.h>
#include <pthread.h>
#include "io/ordered.h"
#include "sort/merge/ranges.h"

/* What a range has read, dropped and returned. */
struct sp__range_sum {
	struct sp__balance balance;
	struct sp__tally read; /* of files */
};

/* A task that frees the space of some files of the store: of every SP__EMPTYING-th one. */
#define SP__EMPTYING 8
struct sp__emptying {
	struct sp__task task;
	const struct sp__spill *store;
	size_t from;
};

struct sp__writing {
	struct sp__merging *merging;
	const struct sp__ranges_out *out;
	struct sp__division division;
	struct sp__range_worker *workers;
	uint64_t nranges;
	_Atomic uint64_t unread; /* ranges with pages still to be read */
	_Atomic uint64_t done_bytes;
	struct sp__emptying emptying[SP__EMPTYING];
	struct sp__balance balance; /* of ranges that have ended */
	pthread_mutex_t lock;

	/* Without checkpoints: */
	struct sp__cuts cuts;
	struct sp__inorder ordered;
	uint64_t **found;	    /* positions of each cut, for the range after it; or NULL */
	pthread_cond_t changed;	    /* a cut has been found, or will not be */
	bool given_up;		    /* a worker has failed to find a cut */
	struct sp__range_sum *sums; /* sums of each range */
	/* The first range in which a file is not sorted; where it starts. */
	uint64_t disordered;
	uint64_t *rest;
	bool resting;	    /* everything from there on is merged as one range */
	uint64_t put_bytes; /* by the function of the result */

	/* With checkpoints: */
	struct sp__resume *resume; /* NULL: there are none */
	struct sp__ranges *ranges; /* the ranges of the checkpoints */
	uint64_t marked_bytes;	   /* between marks */
	_Atomic uint64_t next;	   /* range to be taken next */
	_Atomic bool failed;
};

struct sp__range_worker {
	struct sp__writing *all;
	unsigned number;
	struct sp__freemem where; /* for pages */
	struct sp__spill *reader;
	struct sp__step_inputs in;
	struct sp__run_span *spans; /* spans of each run */
	uint64_t *from, *to;	    /* positions of the cuts before and after the range */
	struct sp__file_span *files;
	struct sp__tally read;	   /* records of the range that came from files */
	struct sp__io_counters io; /* requests of all ranges */
	bool verified;		   /* the range is known to be sorted */
	bool reading;		   /* the pages of the range are not all in memory yet */
	struct sp__sequence sequence;
	/* Of the range.  Two workers must not write to one cache line for each record. */
	struct sp__balance balance;
	struct sp__inorder_maker maker;

	/* With checkpoints: */
	struct sp__wstream *stream;
	struct sp__run_offsets offsets; /* offsets of the range's cursors */
	XXH3_state_t *digest;

	struct sp_errinfo err;
	int rc;
};

/* range.c */
/* Body of a worker: merges ranges until none is left.  The thread must reap all its own reads. */
void sp__range_work(void *worker);
/* Returns where a range with checkpoints started, before any mark. */
static inline uint64_t sp__range_begin(const struct sp__ranges *g, uint64_t i)
{
	return i ? g->list[i - 1].end : g->from;
}

/* marks.c */
/* Finds the ranges of the last marks, or makes new ones. */
SP_MUST_CHECK int sp__marks_begin(struct sp__writing *w);
SP_MUST_CHECK int sp__marks_open(struct sp__range_worker *k);
void sp__marks_close(struct sp__range_worker *k);
/* True if all records of a range are in marks. */
bool sp__marks_complete(const struct sp__writing *w, uint64_t i);
/* Writes the rest of a range, whose sequence is open, with marks. */
SP_MUST_CHECK int sp__marks_write(struct sp__range_worker *k, uint64_t i);
/* Ends the file after the last range. */
SP_MUST_CHECK int sp__marks_end(struct sp__writing *w);
