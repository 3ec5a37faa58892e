/* SPDX-License-Identifier: MIT */
/*
 * Runs a compression program as a child process: PROG packs its standard input to its standard
 * output, PROG -d unpacks, as for sort --compress-program.
 *
 * The child gets the two descriptors as 0 and 1 and inherits standard error (base/child.h).
 */
#pragma once

#include <sys/types.h>
#include <spindle/error.h>

struct sp__filter {
	pid_t pid;	     /* 0: not running */
	const char *program; /* borrowed */
	bool unpack;
};

/*
 * Starts program, found along PATH.  The caller keeps both descriptors and closes them.  Returns 0;
 * or -errno with the program in err->path if it could not be executed (no child is left).
 */
SP_MUST_CHECK int sp__filter_start(struct sp__filter *filter, const char *program, bool unpack,
				   int in_fd, int out_fd, struct sp_errinfo *err);

/*
 * Waits until the child ends, and leaves no zombie.  Returns 0, immediately if it is not running;
 * SP_ECHILD if it exited with a status other than 0 or died by a signal (err->path: the program;
 * err->text: the rest of GNU sort's message).
 */
SP_MUST_CHECK int sp__filter_wait(struct sp__filter *filter, struct sp_errinfo *err);

/* Reports a failure like sp__filter_wait(), for a failure that the exit status hides. */
int sp__filter_failed(const struct sp__filter *filter, struct sp_errinfo *err);

/* Ends the child (SIGTERM) and reaps it, ignoring its status; for cleaning up. */
void sp__filter_stop(struct sp__filter *filter);
