/* SPDX-License-Identifier: MIT */
/*
 * The inputs of a load: their records in order, from the beginning again if the inputs allow it.
 *
 * Thread rule: one thread.
 */
#pragma once

#include "flow/scan.h"
#include "run/env.h"

struct sp__tablesource_opts {
	const char *const *inputs; /* paths; "-": standard input */
	size_t n;
	struct sp_recfmt format;
	bool header; /* the first record of each input has the names of columns */
};

struct sp__tablesource {
	struct sp__tablesource_opts opts;
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
	struct sp__bytes header; /* of the first input */
	bool header_known;
	bool no_newline;  /* the last input that ended has no final newline */
	bool no_newlines; /* an input before it has none */
	uint64_t bytes;	  /* of the inputs that ended */
	struct sp__io_counters io;
	char engine[32];
};

/* Opens the inputs.  Returns 0 or an error; after that, too, the source must be closed. */
SP_MUST_CHECK int sp__tablesource_open(struct sp__tablesource *s,
				       const struct sp__tablesource_opts *opts, struct sp__env *env,
				       struct sp_errinfo *err);
void sp__tablesource_close(struct sp__tablesource *s);
/*
 * Returns the next records, of one input: SP_READY, valid until the next call; SP_END; SP_EFORMAT
 * if the header of an input differs from that of the first one; or another error.
 */
SP_MUST_CHECK int sp__tablesource_next(struct sp__tablesource *s, struct sp_batch *batch);
/* Returns the bytes of text that have been returned. */
uint64_t sp__tablesource_done(const struct sp__tablesource *s);
/* Starts from the beginning.  Returns 0; or SP_EUNSUP if an input is not a regular file. */
SP_MUST_CHECK int sp__tablesource_rewind(struct sp__tablesource *s);
