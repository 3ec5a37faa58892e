/* SPDX-License-Identifier: MIT */
/*
 * The inputs of a load: their records in order, from the beginning again if the inputs allow it.
 *
 * Thread rule: one thread.
 */
#pragma once

#include "flow/parts.h"
#include "run/env.h"

#define SP__COLUMNSOURCE_STREAM (2 * SP__PART_MIN_BYTES) /* memory of the stream of a part */

struct sp__columnsource_opts {
	const char *const *inputs; /* paths; "-": standard input */
	size_t n;
	struct sp_recfmt format;
	bool header; /* the first record of each input has the names of columns */
};

struct sp__columnsource {
	struct sp__columnsource_opts opts;
	struct sp__env *env;
	struct sp_errinfo *err;
	bool again;	/* all inputs are regular files */
	uint64_t total; /* their bytes; 0: unknown */
	int64_t begin;	/* offset of standard input */
	/* Change while records are read. */
	size_t input; /* from which the last batch was */
	struct sp__scan *scan;
	struct sp__waits waits;
	bool ended;
	struct sp__bytes header; /* header of the first input that is not empty, without a mark */
	bool header_known;
	size_t header_input; /* number of the input that has the header */
	bool marked;	     /* an input begins with a byte order mark */
	/* Of the inputs that ended: */
	uint64_t blank_lines;  /* skipped: records of several columns are not blank */
	uint64_t empty_inputs; /* with no bytes, or only a mark */
	bool no_newline;       /* the last input that ended has no final newline */
	bool no_newlines;      /* an input before it has none */
	uint64_t bytes;	       /* bytes of the inputs that ended */
	struct sp__io_counters io;
	char engine[32];
};

/* Opens the inputs.  Returns 0 or an error; after that, too, the source must be closed. */
SP_MUST_CHECK int sp__columnsource_open(struct sp__columnsource *s,
					const struct sp__columnsource_opts *opts,
					struct sp__env *env, struct sp_errinfo *err);
void sp__columnsource_close(struct sp__columnsource *s);
/*
 * Returns the next records, of one input: SP_READY, valid until the next call; SP_END; SP_EFORMAT
 * if the header of an input differs from that of the first one; or another error.
 */
SP_MUST_CHECK int sp__columnsource_next(struct sp__columnsource *s, struct sp_batch *batch);
/*
 * Starts from the beginning, and opens all inputs in parts of about part_bytes, to be read by
 * several threads.  opts: set, must stay. *parts: NULL: they are read in order.  Returns 0; or
 * SP_EUNSUP, with nothing changed, if the inputs cannot be read again.
 */
SP_MUST_CHECK int sp__columnsource_divide(struct sp__columnsource *s, uint64_t part_bytes,
					  struct sp__scan_opts *opts, struct sp__parts **parts);
/*
 * Notes facts about the inputs when all parts have been read.  Returns 0; or an error, such as
 * SP_EFORMAT if an input has changed.
 */
SP_MUST_CHECK int sp__columnsource_end_parts(struct sp__columnsource *s, struct sp__parts *parts);
/* Returns the bytes of text that have been returned. */
uint64_t sp__columnsource_done(const struct sp__columnsource *s);
/* Leaves the input from which the last batch was: the next records are those of another one. */
void sp__columnsource_skip(struct sp__columnsource *s);
/* Starts from the beginning.  Returns 0; or SP_EUNSUP if an input is not a regular file. */
SP_MUST_CHECK int sp__columnsource_rewind(struct sp__columnsource *s);
