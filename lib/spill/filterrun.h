/* SPDX-License-Identifier: MIT */
/*
 * Runs written through a compression program (--compress-program).
 *
 * Such a run is one unnamed temporary file: PROG writes it from a pipe that we fill,
 * PROG -d reads it back into a pipe that we empty.  It can only be read from
 * beginning to end, so there is no read-ahead and no recycling, and the format of
 * the file is PROG's own.  But the pages of the run are described as if they lay on
 * disk themselves, and verified when read back: a program that loses data is detected.
 *
 * Between writing and reading a run takes one descriptor and no process; while it is
 * read, a process and still one descriptor (the process has the file then).  All
 * descriptors are close-on-exec: a process that inherited another's pipe would keep it
 * from ending.
 */
#ifndef SP__SPILL_FILTERRUN_H
#define SP__SPILL_FILTERRUN_H

#include "spill/filter.h"

struct sp__run;
struct sp__spill;

/* The writing side: a running PROG.  Zero: none. */
struct sp__packer {
	struct sp__filter child;
	int fd;		 /* PROG's input; valid while it runs */
	const char *dir; /* not NULL: PROG could not be run; fd is the run's own */
};

/*
 * Creates the run's file in dir and starts the store's program; if that cannot be run,
 * the run is written uncompressed, and the store has the reason.
 */
SP_MUST_CHECK int sp__packer_open(struct sp__packer *p, struct sp__spill *spill,
				  struct sp__run *run, const char *dir);
/* If PROG closes the pipe early, that is PROG's failure. */
SP_MUST_CHECK int sp__packer_write(struct sp__packer *p, struct sp__spill *spill, const void *data,
				   size_t bytes);
/* Ends the run; returns 0 if PROG has ended successfully. */
SP_MUST_CHECK int sp__packer_finish(struct sp__packer *p, struct sp__spill *spill,
				    const struct sp__run *run);
/* Ends PROG if it is still running. */
void sp__packer_close(struct sp__packer *p);

/* The reading side: all runs of one merge. */
struct sp__unpackers;

/* mem: one page for each run.  The runs can be read only once, by one reader. */
SP_MUST_CHECK int sp__unpackers_open(struct sp__unpackers **u, struct sp__spill *spill,
				     struct sp__run *const *runs, unsigned n, void *mem);
/*
 * The run's next page: SP_READY with its payload, valid until the next call for that
 * run; SP_END, after PROG -d has ended successfully; or an error.  Waits for the
 * program.
 */
SP_MUST_CHECK int sp__unpackers_get(struct sp__unpackers *u, size_t run, const char **data,
				    size_t *bytes);
/* Ends running programs, ignoring their status; accepts NULL. */
void sp__unpackers_close(struct sp__unpackers *u);

#endif
