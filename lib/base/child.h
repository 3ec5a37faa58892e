/* SPDX-License-Identifier: MIT */
/*
 * Starts other programs.
 *
 * The signal mask of a child is empty, and all signals that the parent can have caught have default
 * dispositions; those that it ignores stay ignored, except SIGPIPE.  Descriptors from 3 on must be
 * close-on-exec.
 */
#pragma once

#include <sys/types.h>
#include <spindle/error.h>

struct sp__child_opts {
	const char *const *argv; /* ends with NULL; the program is found along PATH */
	const char *const
		*variables; /* the environment, ends with NULL; NULL: that of the parent */
	const char *folder; /* where it begins; NULL: that of the parent */
	int fd[3];	    /* its standard input, output and error; -1: that of the parent */
	bool group;	    /* it begins a process group of its own */
};

/* Starts a child; the caller keeps the descriptors.  Returns 0, or -errno: no child is left. */
SP_MUST_CHECK int sp__child_start(pid_t *pid, const struct sp__child_opts *o);
/* Waits until a child has ended, and leaves no zombie.  Returns 0 or -errno. */
SP_MUST_CHECK int sp__child_wait(pid_t pid, int *status);
