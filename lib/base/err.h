/* SPDX-License-Identifier: MIT */
/*
 * Fills in struct sp_errinfo, once, where the failure was noticed.
 */
#pragma once

#include <spindle/error.h>

/*
 * Results that the library handles itself.  They are numbers of their own: a device can return any
 * errno.
 */
enum {
	SP__MISCUT = -4352,	/* a part of a CSV file was not cut at a record */
	SP__DISORDERED = -4353, /* a file is not sorted */
};

/* Describes a failure, unless err is NULL or already describes one.  Returns code. */
int sp__err(struct sp_errinfo *err, int code, const char *op, const char *path, long long offset);

/* Describes a failure with a reason in words.  Returns code. */
int sp__errf(struct sp_errinfo *err, int code, const char *op, const char *path, long long offset,
	     const char *fmt, ...) __attribute__((format(printf, 6, 7)));

/*
 * Describes an invalid argument of a command; where: the part of it to quote after the reason, or
 * NULL.  Returns -EINVAL.
 */
int sp__invalid(struct sp_errinfo *err, const char *where, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
