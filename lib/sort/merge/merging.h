/* SPDX-License-Identifier: MIT */
/*
 * Declares the final merge of runs, sorted slots and sorted files (final.c), these files
 * (inputs.c), and the output: records of the final merge on their way to sp_sort_get() (output.c).
 *
 * Writers: this room writes struct sp__merging.  The writing thread is the task of the output while
 * it runs, otherwise the caller.  The shell sets the pointers and `seeks`, and begin_ns if no merge
 * has set it.  Only output.c writes struct sp__output, in the merging thread; with threads, this is
 * the background task, which holds `busy` while it merges.
 */
#pragma once

#include <pthread.h>
#include "base/ring.h"
#include "sort/form/forming.h"
#include "sort/merge/sequence.h"

/* A sorted file (-m). */
struct sp__input {
	const char *name;
	int fd;			    /* -1: not open */
	struct sp__rstream *stream; /* NULL: not open */
	bool marked;		    /* it starts with a byte order mark */
};

/* Sorted files (-m).  They are opened in groups that descriptors and fan-in limit; n 0: none. */
struct sp__inputs {
	struct sp__input *list;
	unsigned n;
	unsigned next;		 /* first file not merged yet */
	unsigned fan_in;	 /* maximum number of open files */
	enum sp__direct direct;	 /* NEVER: there are too few descriptors */
	size_t memory_bytes;	 /* for all open streams */
	struct sp__queue *queue; /* queue of all open streams */
	char *chunks;		 /* memory of these streams */
	size_t chunks_bytes;
	unsigned sim_file;    /* number of the first file on a simulated machine */
	bool files;	      /* all are regular files, so reads never wait for other programs */
	uint64_t total_bytes; /* bytes of all files, if `files` is true */
	struct sp__io_counters done;
	uint64_t bytes;	       /* read so far */
	struct sp__tally read; /* records of all inputs; owned by the merging thread */
};

/*
 * Sets the list of files; n is 0 before.  sim_file: number of the first file on a simulated
 * machine; the others follow it.
 */
SP_MUST_CHECK int sp__inputs_list(struct sp__inputs *in, const struct sp__sort_shared *s,
				  const struct sp_sort_io *io, unsigned sim_file);
/*
 * Opens the next files, up to the fan-in.  Returns the number of open files, or an error.  If the
 * system has too few descriptors, the number is lower, and so is the fan-in.
 */
SP_MUST_CHECK int sp__inputs_acquire(struct sp__inputs *in, struct sp_errinfo *err);
/*
 * Makes cursors of the next n files, which are open.  After a failure, sp__inputs_close() closes
 * those that have streams.  err also receives later errors.
 */
SP_MUST_CHECK int sp__inputs_open(const struct sp__sort_shared *s, struct sp__inputs *in,
				  unsigned n, struct sp__cursor *cursors, struct sp_errinfo *err);
/* Closes all inputs that have streams. */
void sp__inputs_close(struct sp__inputs *in);
/* Closes all other inputs, too, and frees the list. */
void sp__inputs_free(struct sp__inputs *in);

struct sp__merging {
	struct sp__sort_shared *sort;
	struct sp__spilled *spilled;
	struct sp__forming *forming;
	struct sp__inputs inputs;
	bool reduced;		      /* all merges except the final one are done */
	unsigned runs_left;	      /* spilled runs of the final merge: spilled.ids */
	struct sp__sequence sequence; /* records of the final merge */
	struct sp__step_inputs final;
	bool seeks; /* the prediction can read a little to measure seeks */
	uint64_t begin_ns, cpu_begin_ns;
};

/* final.c */
/* Performs all merges except the final one, once. */
SP_MUST_CHECK int sp__final_reduce(struct sp__merging *merging);
/* Performs all merges except the final one, and sets up the final one. */
SP_MUST_CHECK int sp__final_prepare(struct sp__merging *merging);
void sp__final_close(struct sp__merging *merging);

/* Returns the tally of all records that the sort has read. */
struct sp__tally sp__balance_read(const struct sp__merging *merging);
/* Called at the end: checks that no record is missing or duplicated. */
SP_MUST_CHECK int sp__balance_ended(const struct sp__merging *merging);

/* output.c */
struct sp__output {
	struct sp__merging *merging;
	struct sp__task task; /* the final merge */
	struct sp__ring ring; /* from the final merge to get() */
	bool threaded;	      /* the final merge runs in the task */
	pthread_mutex_t busy; /* if threaded: held by the task while it merges */
};

SP_MUST_CHECK int sp__output_start(struct sp__output *output);
SP_MUST_CHECK int sp__output_get(struct sp__output *output, struct sp_batch *batch);
SP_MUST_CHECK int sp__output_wait(struct sp__output *output);
/* Stops the merge at any point; afterwards no background work is left. */
void sp__output_stop(struct sp__output *output);
