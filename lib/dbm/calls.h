/* SPDX-License-Identifier: MIT */
/*
 * Calls programs that can hang: each in a process group of its own, which ends with the call.
 */
#pragma once

#include "dbm/counting.h"

/* A call of a program; files are opened by it. */
struct sp__dbm_call {
	const char *const *argv;
	const char *const *variables; /* environment */
	const char *folder;	      /* where it begins */
	const char *in, *out;	      /* files; NULL: none; out is new */
	const char *log;	      /* for standard error; it is appended to */
	pid_t pid;		      /* 0: not running */
	uint64_t ended_ns;	      /* sp__now_ns() of its end */
	int status;		      /* status from waitpid() */
	struct rusage used;
};

struct sp__dbm_limits {
	uint64_t timeout_ns;
	const volatile sig_atomic_t *stop; /* not 0: end; or NULL */
};

/*
 * Runs n calls at the same time, until all have ended.  Returns 0, whatever their status is;
 * -ETIMEDOUT or -ECANCELED (stop) after the processes of all of them were ended; or -errno.
 */
SP_MUST_CHECK int sp__calls_run(struct sp__dbm_call *calls, unsigned n,
				const struct sp__dbm_limits *limits, struct sp_errinfo *err);
