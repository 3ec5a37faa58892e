/* SPDX-License-Identifier: MIT */
/*
 * Runs behind a compression program (--compress-program).
 *
 * Such a run is one temporary file without a name: PROG writes it from a pipe
 * that we fill, PROG -d reads it back into a pipe that we empty.  It can only
 * be read from its beginning to its end, so nothing is read ahead and no page
 * is used again; what PROG makes of the bytes is its own affair.  But the
 * pages of the run are described as if they lay on disk themselves, and what
 * comes back is verified page by page: a program that loses something is found out.
 *
 * Between writing and reading a run costs one descriptor and no process; while it
 * is read, a process and still one descriptor (the file is the process's then).
 * All descriptors are close-on-exec: a process that inherited another's pipe would
 * keep it from ending.
 */
#ifndef SP__SPILL_FILTERRUN_H
#define SP__SPILL_FILTERRUN_H

#include "spill/filter.h"

struct sp__run;
struct sp__spill;

/* The writing side: PROG at work.  Zero: none is. */
struct sp__packer {
	struct sp__filter child;
	int fd;		 /* where PROG reads; meaningful while it runs */
	const char *dir; /* not NULL: PROG could not be run; fd is the run's own */
};

/*
 * Makes the run's file in dir and starts the store's program; if that cannot be, the run
 * is written as it is, and the store has the reason.
 */
SP_MUST_CHECK int sp__packer_open(struct sp__packer *p, struct sp__spill *spill,
				  struct sp__run *run, const char *dir);
/* A pipe that PROG has closed early is PROG's failure. */
SP_MUST_CHECK int sp__packer_write(struct sp__packer *p, struct sp__spill *spill, const void *data,
				   size_t bytes);
/* The end of the run; PROG has ended, and well, when this returns 0. */
SP_MUST_CHECK int sp__packer_finish(struct sp__packer *p, struct sp__spill *spill,
				    const struct sp__run *run);
/* Ends PROG if it is still there. */
void sp__packer_close(struct sp__packer *p);

/* The reading side: all runs of one merge. */
struct sp__unpackers;

/* mem: one page for each run.  The runs can be read once, and by nobody else. */
SP_MUST_CHECK int sp__unpackers_open(struct sp__unpackers **u, struct sp__spill *spill,
				     struct sp__run *const *runs, unsigned n, void *mem);
/*
 * The run's next page: SP_READY with its payload, valid until the next call
 * for that run; SP_END, when PROG -d has also ended well; or an error.  Waits
 * for the program.
 */
SP_MUST_CHECK int sp__unpackers_get(struct sp__unpackers *u, size_t run, const char **data,
				    size_t *bytes);
/* Ends what still runs, whatever it has to say; accepts NULL. */
void sp__unpackers_close(struct sp__unpackers *u);

#endif
