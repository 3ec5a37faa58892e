/* SPDX-License-Identifier: MIT */
/*
 * Reads the inputs of a sort with keep_order, several times if necessary (reread.c).
 *
 * Owner: the thread that runs the sort.
 */
#pragma once

#include <sys/stat.h>
#include <spindle/sort.h>
#include "flow/parts.h"
#include "flow/scan.h"
#include "run/env.h"
#include "sort/result.h"
#include "sort/sort.h"
#include "sort/spool.h"

struct sp__reread {
	const struct sp_sort_opts *opts; /* this and the following: borrowed */
	const struct sp_sort_io *io;
	struct sp__env *env;
	struct sp_errinfo *err;
	struct sp__scan *scan; /* the present one; NULL: the spool is read */
	bool again;	       /* the first one is closed, or cannot go on */
	struct sp__waits waits;
	struct stat *inputs;  /* as they were before the first scan */
	uint64_t *lengths;    /* of files, when they were looked at first; 0: read to the end */
	off_t begin;	      /* where standard input was */
	uint64_t total_bytes; /* 0: unknown */
	struct sp__io_counters closed; /* of parts and closed scans */
	struct sp__bytes header;       /* of the first scan; with a spool */
	struct sp__spool spool;	       /* is read again, instead of the inputs, unless closed */
};

/* The members above scan must be set.  Learns of the inputs.  Returns 0 or -ENOMEM, recorded. */
SP_MUST_CHECK int sp__reread_open(struct sp__reread *s);
/* True if the result overwrites an input in place. */
bool sp__reread_overwritten(const struct sp__reread *s, const struct sp__sort_result *result);
void sp__reread_close(struct sp__reread *s);
void sp__reread_counters(const struct sp__reread *s, struct sp__io_counters *c);

/*
 * Called after the first batch: opens the spool, in which the caller puts what will be read again.
 * memory_bytes: as of sp__spool_open().
 */
SP_MUST_CHECK int sp__reread_spool(struct sp__reread *s, size_t memory_bytes);

/* Starts a scan at the beginning of the inputs or of the spool, and ends the one before. */
SP_MUST_CHECK int sp__reread_scan(struct sp__reread *s);
/* Returns the next batch of the scan as sp__iter_next() does. */
SP_MUST_CHECK int sp__reread_next(struct sp__reread *s, struct sp_batch *batch);
/* Returns the header, after the first batch of the first scan. */
void sp__reread_header(const struct sp__reread *s, struct sp_batch *header);
/* Returns the bytes that batches of the scan must have had at its end. */
uint64_t sp__reread_owed(const struct sp__reread *s);

/* True if all inputs are regular files, as they were before the first scan, and without a spool. */
bool sp__reread_same(const struct sp__reread *s);
/*
 * Called after the last scan, which had the result rc: returns SP_EFORMAT if the scans have not
 * read the same, which also explains SP_EBALANCE; otherwise rc.
 */
SP_MUST_CHECK int sp__reread_check(const struct sp__reread *s, int rc);

/* Puts the records of parts into a sort; sets *bytes to their length.  Returns 0 or an error. */
typedef int sp__put_parts_fn(void *arg, struct sp__parts *parts, uint64_t *bytes);
/*
 * Has the records of all inputs, read by parts, put into a sort.  Returns 0; SP_EUNSUP or
 * SP__MISCUT, if a scan must read them; or an error.
 */
SP_MUST_CHECK int sp__reread_put_parts(struct sp__reread *s, const struct sp__sorter *sorter,
				       sp__put_parts_fn *put, void *arg);
