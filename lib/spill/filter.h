/* SPDX-License-Identifier: MIT */
/*
 * A compression program as a child process: PROG packs its standard input to
 * its standard output, PROG -d unpacks, as sort --compress-program has it.
 *
 * The child gets the two descriptors as 0 and 1, inherits standard error, and
 * has the signal mask empty and all signals that we may have caught or ignored at
 * their defaults (SIGPIPE too).  Every other descriptor must be close-on-exec.
 */
#ifndef SP__SPILL_FILTER_H
#define SP__SPILL_FILTER_H

#include <stdbool.h>
#include <sys/types.h>
#include <spindle/error.h>

struct sp__filter {
	pid_t pid;	     /* 0: not running */
	const char *program; /* borrowed */
	bool unpack;
};

/*
 * Starts program, found along PATH.  Both descriptors stay the caller's, who
 * closes them.  0; or -errno with err->path the program (no child is left): the
 * program could not be executed.
 */
SP_MUST_CHECK int sp__filter_start(struct sp__filter *filter, const char *program, bool unpack,
				   int in_fd, int out_fd, struct sp_errinfo *err);

/*
 * Waits for it to end.  0; SP_ECHILD if it exited with another status than 0 or died
 * by a signal (err->path: the program; err->text: GNU sort's words that follow
 * it).  No zombie is left.  0 at once if it is not running.
 */
SP_MUST_CHECK int sp__filter_wait(struct sp__filter *filter, struct sp_errinfo *err);

/* Says what sp__filter_wait() says of a failure; for one that its status hides. */
int sp__filter_failed(const struct sp__filter *filter, struct sp_errinfo *err);

/* Ends it (SIGTERM) and reaps it, whatever it says; for clearing up. */
void sp__filter_stop(struct sp__filter *filter);

#endif
