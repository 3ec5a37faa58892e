/* SPDX-License-Identifier: MIT */
/*
 * Declares sorted files as inputs of a merge (-m).
 *
 * Writer: the merging thread.
 */
#pragma once

#include "io/rstream.h"
#include "sort/shared.h"
#include "sort/tree/merge.h"

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
	struct sp__queue *queue; /* of all open streams */
	char *chunks;		 /* memory of these streams */
	size_t chunks_bytes;
	unsigned sim_file;    /* number of the first file on a simulated machine */
	bool files;	      /* all are regular files, so reads never wait for other programs */
	uint64_t total_bytes; /* of all files, if files is true */
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
