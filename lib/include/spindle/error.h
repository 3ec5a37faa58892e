/* SPDX-License-Identifier: MIT */
/*
 * Errors: how every function of the library says that it failed.
 *
 * A function returns 0 (or a count) on success and a negative number on
 * failure: -errno for what the system refused, or one of the SP_E codes below
 * -4095 for what the library itself refused.  The library never prints, never
 * exits and never makes its caller read errno.
 *
 * Where it happened is told once, by the place that noticed, in a struct
 * sp_errinfo that the caller passes in (NULL if it does not care).  The first
 * failure is kept: what follows from it does not overwrite it.
 *
 * Thread rule: an errinfo belongs to one operation and its owner reads it
 * after the operation has returned.
 */
#ifndef SPINDLE_ERROR_H
#define SPINDLE_ERROR_H

#include <spindle/api.h>

enum {
	SP_EFORMAT = -4096,  /* input does not have the stated record format */
	SP_EBUDGET = -4097,  /* the memory given cannot do what was asked */
	SP_ECORRUPT = -4098, /* spilled bytes came back other than written */
	SP_ESTATE = -4099,   /* calls in an order the contract forbids */
	SP_EUNSUP = -4100,   /* a combination this build or device cannot do */
	SP_ESYNTAX = -4101,  /* a specification string cannot be understood */
	SP_ECHILD = -4102,   /* a helper program failed */
	SP_EBALANCE = -4103, /* records were lost or doubled: a fault of the library */
	SP_ETHREAD = -4104,  /* the system refuses io_uring a thread */
};

#define SP_ERRINFO_PATH_MAX 4096
#define SP_ERRINFO_TEXT_MAX 256

struct sp_errinfo {
	int code;			/* the negative code; 0: nothing went wrong */
	const char *op;			/* static: "open", "read", "write", "rename", ... */
	long long offset;		/* byte offset in path; -1 where it means nothing */
	char path[SP_ERRINFO_PATH_MAX]; /* the file; "" where there is none */
	char text[SP_ERRINFO_TEXT_MAX]; /* further reason; "" if code says all */
};

#define SP_ERRINFO_INIT                                                                            \
	{                                                                                          \
		.offset = -1                                                                       \
	}

/*
 * The reason in words, without subject: for -errno what strerror() says, for
 * SP_E codes a phrase of our own.  The string is static or thread-local to
 * strerror's rules: use it before the next call.
 */
SP_API const char *sp_strerror(int code);

#endif
