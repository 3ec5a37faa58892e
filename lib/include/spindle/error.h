/* SPDX-License-Identifier: MIT */
/*
 * Errors of all functions of the library.
 *
 * A function returns 0 (or a count) on success and a negative number on
 * failure: -errno for an error of the system, or one of the SP_E codes below
 * -4095 for an error that the library detects.  The library never prints, never
 * exits and never makes its caller read errno.
 *
 * The function that detects a failure records its place once, in a struct
 * sp_errinfo that the caller passes in (or NULL).  The first failure is kept:
 * consequent ones do not overwrite it.
 *
 * Thread rule: an errinfo belongs to one operation; read it after the operation
 * has returned.
 */
#ifndef SPINDLE_ERROR_H
#define SPINDLE_ERROR_H

#include <spindle/api.h>

enum {
	SP_EFORMAT = -4096,  /* input does not have the stated record format */
	SP_EBUDGET = -4097,  /* the memory given is not enough */
	SP_ECORRUPT = -4098, /* spilled data read back differs from what was written */
	SP_ESTATE = -4099,   /* calls in an order the contract forbids */
	SP_EUNSUP = -4100,   /* a combination that this build or device does not support */
	SP_ESYNTAX = -4101,  /* invalid specification string */
	SP_ECHILD = -4102,   /* a helper program failed */
	SP_EBALANCE = -4103, /* records were lost or duplicated: a bug in the library */
	SP_ETHREAD = -4104,  /* the system does not allow io_uring a thread */
};

#define SP_ERRINFO_PATH_MAX 4096
#define SP_ERRINFO_TEXT_MAX 256

struct sp_errinfo {
	int code;			/* the negative code; 0: no error */
	const char *op;			/* static: "open", "read", "write", "rename", ... */
	long long offset;		/* byte offset in path; -1: not applicable */
	char path[SP_ERRINFO_PATH_MAX]; /* the file; "": none */
	char text[SP_ERRINFO_TEXT_MAX]; /* further reason; "": none */
};

#define SP_ERRINFO_INIT                                                                            \
	{                                                                                          \
		.offset = -1                                                                       \
	}

/*
 * The reason in words, without subject: strerror() for -errno, the library's
 * own text for SP_E codes.  The string is valid until the next call in the same
 * thread.
 */
SP_API const char *sp_strerror(int code);

#endif
