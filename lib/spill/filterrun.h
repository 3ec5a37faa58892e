/* SPDX-License-Identifier: MIT */
/*
 * Writes and reads runs through a compression program (--compress-program).
 *
 * Such a run is one unnamed temporary file.  PROG writes it from a pipe that the library fills;
 * PROG -d reads it into a pipe that the library empties.  It can only be read from beginning to
 * end, so there is no read-ahead and no recycling, and PROG defines the format of the file.  But
 * the pages of the run are described as if they were stored raw, and verified when read back.  So a
 * program that loses data is detected.
 *
 * Between writing and reading a run takes one descriptor and no process.  While it is read, it
 * takes a process and still one descriptor, since the process has the file then.  All descriptors
 * are close-on-exec: a process that inherited another's pipe would keep it from ending.
 */
#pragma once

#include "spill/filter.h"

struct sp__run;
struct sp__spill;

/* The writing side: a running PROG; zero: none. */
struct sp__packer {
	struct sp__filter child;
	int fd;		 /* PROG's input; valid while it runs */
	const char *dir; /* not NULL: PROG could not be run; fd is the run's file */
};

/*
 * Creates the run's file in dir and starts the store's program.  If that cannot be run, the run is
 * written uncompressed, and the store keeps the error.
 */
SP_MUST_CHECK int sp__packer_open(struct sp__packer *p, struct sp__spill *spill,
				  struct sp__run *run, const char *dir);
/* Writes bytes to PROG.  If PROG closes the pipe early, PROG has failed. */
SP_MUST_CHECK int sp__packer_write(struct sp__packer *p, struct sp__spill *spill, const void *data,
				   size_t bytes);
/* Ends the run.  Returns 0 if PROG has ended successfully. */
SP_MUST_CHECK int sp__packer_finish(struct sp__packer *p, struct sp__spill *spill,
				    const struct sp__run *run);
/* Ends PROG if it is still running. */
void sp__packer_close(struct sp__packer *p);

/* The reading side: all runs of one merge. */
struct sp__unpackers;

/* Opens the runs of a merge; mem: one page per run.  They can be read only once, by one reader. */
SP_MUST_CHECK int sp__unpackers_open(struct sp__unpackers **u, struct sp__spill *spill,
				     struct sp__run *const *runs, unsigned n, void *mem);
/*
 * Returns the run's next page: SP_READY with its payload, valid until the next call for that run;
 * SP_END, after PROG -d has ended successfully; or an error.  Waits for the program.
 */
SP_MUST_CHECK int sp__unpackers_get(struct sp__unpackers *u, size_t run, const char **data,
				    size_t *bytes);
/* Ends running programs, ignoring their status; accepts NULL. */
void sp__unpackers_close(struct sp__unpackers *u);
