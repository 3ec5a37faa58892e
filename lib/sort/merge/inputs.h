/* SPDX-License-Identifier: MIT */
/*
 * Sorted files as inputs of a merge (-m).
 *
 * Writers.  The merging thread.
 */
#pragma once

#include "io/rstream.h"
#include "sort/shared.h"
#include "sort/tree/merge.h"

struct sp__input {
	const char *name;
	uint64_t file_bytes;	    /* if it is a regular file */
	int fd;			    /* -1: not open */
	struct sp__rstream *stream; /* NULL: not open */
	bool marked;		    /* it begins with a byte order mark */
};

/* Sorted files (-m): opened in groups no larger than descriptors and fan-in allow; n 0: none. */
struct sp__inputs {
	struct sp__input *list;
	unsigned n;
	unsigned next;		 /* the first not merged yet */
	unsigned fan_in;	 /* the most open at a time */
	enum sp__direct direct;	 /* NEVER: there are not descriptors enough for it */
	size_t memory_bytes;	 /* for the streams of all that are open */
	struct sp__queue *queue; /* of those, */
	char *chunks;		 /* and their memory */
	size_t chunks_bytes;
	unsigned sim_file;    /* number of the first one on a simulated machine */
	bool files;	      /* all are regular files, so reading them never waits for others, */
	uint64_t total_bytes; /* ... of that size */
	struct sp__io_counters done;
	uint64_t bytes;	       /* read so far */
	struct sp__tally read; /* records of all inputs; owned by the merging thread */
};

/*
 * Takes the list of files; n is 0 before.  sim_file: number of the first one on a simulated
 * machine; the others follow it.
 */
SP_MUST_CHECK int sp__inputs_list(struct sp__inputs *in, const struct sp__sort_shared *s,
				  const struct sp_sort_io *io, unsigned sim_file);
/*
 * Opens the files of the next inputs, up to the fan-in.  Returns how many are open: fewer if the
 * system has no more descriptors, which lowers the fan-in; or an error.
 */
SP_MUST_CHECK int sp__inputs_acquire(struct sp__inputs *in, struct sp_errinfo *err);
/*
 * Makes cursors of the next n, whose files are open.  After a failure sp__inputs_close() closes
 * those that have streams.  Errors, later ones too, are recorded in err.
 */
SP_MUST_CHECK int sp__inputs_open(const struct sp__sort_shared *s, struct sp__inputs *in,
				  unsigned n, struct sp__cursor *cursors, struct sp_errinfo *err);
/* Closes all inputs that have streams. */
void sp__inputs_close(struct sp__inputs *in);
/* Closes the others, too, and frees the list. */
void sp__inputs_free(struct sp__inputs *in);
