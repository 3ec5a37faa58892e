/* SPDX-License-Identifier: MIT */
/*
 * Declares the state of writing ranges, shared only by ranges.c, range.c and marks.c.
 *
 * Writers: the thread that runs the sort, before and after the tasks of the writers.  Meanwhile
 * each range belongs to the writer that has taken it; `lock` protects the journal, the counters of
 * requests and the error of the sort.
 */
#pragma once

#include <pthread.h>
#include "sort/merge/divide.h"
#include "sort/merge/ranges.h"

struct sp__range_writer;

/* A range on its way to the file. */
struct sp__range_file {
	int fd; /* with an offset of its own; -1: not open */
	struct sp__wstream *stream;
	const struct sp__range_writer *writer; /* receives the stream's errors */
	struct sp__balance balance;
};

struct sp__writing {
	struct sp__merging *merging;
	const struct sp__ranges_out *out;
	struct sp__resume *resume; /* NULL: there are no checkpoints */
	struct sp__ranges *ranges; /* those of the checkpoints, or own */
	struct sp__ranges own;
	struct sp__range_file *files; /* of each range */
	struct sp__cuts cuts;	      /* with the positions in slots */
	unsigned nwriters;	      /* threads that write ranges */
	struct sp__range_writer *writers;
	uint64_t marked_bytes;	 /* between marks */
	uint64_t old_bytes;	 /* length of the file before; without checkpoints */
	struct sp_errinfo err;	 /* error of opening the writers */
	_Atomic unsigned next;	 /* range to be taken next */
	_Atomic unsigned unread; /* ranges with pages still to be read */
	_Atomic uint64_t done_bytes;
	_Atomic bool failed;
	struct sp__task emptying;
	pthread_mutex_t lock;
};

struct sp__range_writer {
	struct sp__writing *all;
	unsigned number;
	struct sp__freemem where;
	struct sp__spill *reader;
	struct sp__step_inputs in;
	bool reading;		      /* the pages of the current range are not all in memory yet */
	struct sp__sequence sequence; /* the current range */
	/* Of the current range.  Two writers must not write to one cache line for each record. */
	struct sp__balance balance;
	struct sp__run_offsets offsets; /* of its cursors, with checkpoints */
	XXH3_state_t *digest;
	struct sp__task task;
	struct sp_errinfo err;
	int rc;
};

/* range.c */
/* Merges and writes range i.  The thread must reap all its own reads. */
SP_MUST_CHECK int sp__range_write(struct sp__range_writer *k, unsigned i);
/* Opens the range's stream at an offset of the file. */
SP_MUST_CHECK int sp__range_open_stream(struct sp__range_writer *k, unsigned i, uint64_t at);
void sp__range_close_stream(struct sp__writing *w, struct sp__range_file *f);

/* marks.c */
/* Finds the ranges of the last marks, or makes new ones. */
SP_MUST_CHECK int sp__marks_begin(struct sp__writing *w);
SP_MUST_CHECK int sp__marks_open(struct sp__range_writer *k);
void sp__marks_close(struct sp__range_writer *k);
/*
 * Makes a mark: the range is written up to offset `to`, and continues with the merge's current
 * record. given: the records up to there.
 */
SP_MUST_CHECK int sp__marks_set(struct sp__range_writer *k, unsigned range, uint64_t to,
				const struct sp__tally *given);
