/* SPDX-License-Identifier: MIT */
/*
 * Counts of the processor as valgrind's cachegrind simulates it.
 */
#pragma once

#include <spindle/dbm.h>

/*
 * What is put before a program, which runs in a folder beside sim/.  A thread that wakes another
 * one continues with SCHED_BATCH (chrt), so that fewer instructions depend on the time.
 */
#define SP__CACHEGRIND                                                                             \
	"chrt --batch 0 valgrind --tool=cachegrind --cache-sim=yes --branch-sim=yes "              \
	"--log-file=/dev/null --cachegrind-out-file=../sim/%p.out"

/*
 * Adds the counts of one result of cachegrind to events; those that it has not stay NaN or as they
 * were.  Returns 0; SP_EFORMAT if it is none; or -errno.
 */
SP_MUST_CHECK int sp__cachegrind_add(const char *path, double *events, struct sp_errinfo *err);
/* Adds all results in a folder and removes them, also after an error.  Errors as above. */
SP_MUST_CHECK int sp__cachegrind_take(const char *folder, double *events, struct sp_errinfo *err);
