/* SPDX-License-Identifier: MIT */
/*
 * Filling in struct sp_errinfo, once, where the failure was noticed.
 */
#ifndef SP__BASE_ERR_H
#define SP__BASE_ERR_H

#include <spindle/error.h>

/* Does nothing if err is NULL or already tells of a failure. Returns code. */
int sp__err(struct sp_errinfo *err, int code, const char *op, const char *path, long long offset);

/* The same with a reason in words. */
int sp__errf(struct sp_errinfo *err, int code, const char *op, const char *path, long long offset,
	     const char *fmt, ...) __attribute__((format(printf, 6, 7)));

#endif
