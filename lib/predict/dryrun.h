/* SPDX-License-Identifier: MIT */
/*
 * Runs the streams of a capability dry on its simulated machine, to predict its time.
 *
 * The streams are those of the capability itself: hollow stores (spill/store.h) and their writers,
 * pools and readers submit the requests that they would submit, and move no bytes.  Inputs and the
 * result are hollow stores of one run.  The capability charges its computation (run/charge.h), and
 * the machine's clock shows the time.
 *
 * Thread rule: one thread.
 */
#pragma once

#include "run/env.h"
#include "spill/chunkread.h"
#include "spill/writer.h"

/*
 * Opens an environment with the machine of the options, without trace, and with an unlimited
 * budget; its temporary space is hollow.  After an error it must be closed.  Returns SP_EUNSUP, not
 * recorded, if the machine cannot run dry: it follows the trace of another run.
 */
SP_MUST_CHECK int sp__dryrun_open(struct sp__env *e, const struct sp_run_opts *opts,
				  struct sp_errinfo *err);
/* Returns the seconds since the environment was opened. */
double sp__dryrun_s(const struct sp__env *e);
/* Closes the environment.  Returns rc, recorded; 0 for errors that make the time unknown. */
int sp__dryrun_close(struct sp__env *e, int rc);

/*
 * Maximum work of a dry run: about 1 s, with a file system up to 3 s.  A unit is about 50 ns, the
 * time of a record.
 */
#define SP__DRYRUN_WORK_MAX 20000000
/*
 * Returns the work of requests of `each` bytes.  A page cache, a file system or an array handles
 * each 4 KiB block of a request.
 */
double sp__dryrun_requests(const struct sp__env *e, double bytes, double each);

/* An input or the result, in chunks.  Without a store it takes no time. */
struct sp__drystream {
	const struct sp__env *env;
	struct sp__spill *store;
	struct sp__run *run;
	struct sp__chunkread read;
	struct sp__runwriter write;
	char *mem;
	uint32_t chunk_bytes;
	uint64_t left; /* bytes of an input */
};

/* Opens an input of file_bytes, of which the first read_bytes are read.  Returns 0 or an error. */
SP_MUST_CHECK int sp__dryinput_open(struct sp__drystream *s, struct sp__env *e, uint64_t file_bytes,
				    uint64_t read_bytes);
/* Waits for the next bytes, *bytes; 0: the end.  Returns 0 or an error. */
SP_MUST_CHECK int sp__dryinput_next(struct sp__drystream *s, uint64_t *bytes);
/* Opens the result.  Returns 0 or an error. */
SP_MUST_CHECK int sp__dryoutput_open(struct sp__drystream *s, struct sp__env *e);
/* Adds bytes to the result; waits while all chunks are in flight.  Returns 0 or an error. */
SP_MUST_CHECK int sp__dryoutput_put(struct sp__drystream *s, uint64_t bytes);
/* Writes the rest and waits for it.  Returns 0 or an error. */
SP_MUST_CHECK int sp__dryoutput_finish(struct sp__drystream *s);
void sp__drystream_close(struct sp__drystream *s); /* accepts a zeroed struct */
