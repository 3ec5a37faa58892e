/* SPDX-License-Identifier: MIT */
/*
 * Declares the result of a sort on its way to its outputs: one file, or one for each part
 * (result.c).
 *
 * Owner: the thread that runs the sort.
 */
#pragma once

#include <sys/stat.h>
#include <spindle/outfile.h>
#include "sort/merge/ranges.h"

struct sp__sort_result {
	const struct sp_sort_io *io; /* borrowed */
	struct sp_errinfo *err;
	bool counted; /* each record has its number before it */
	const struct sp__owndir
		*staging;   /* directory of the single output until it is complete, or NULL */
	const char *staged; /* its name there */

	struct sp_outfile **files; /* file of each part; NULL: the caller's descriptor */
	size_t nfiles;		   /* 0: not prepared */
	size_t at;		   /* the part being written */
	size_t header_bytes;
	struct sp__bytes header; /* header of each part */
	struct sp__wstream_opts writing;
	struct sp__wstream *stream;  /* stream of this part */
	struct sp__io_counters done; /* of closed streams */
};

/*
 * Checks all outputs, and creates those that are new files, without a name.  Existing contents do
 * not change.  Later calls do nothing.
 */
SP_MUST_CHECK int sp__result_prepare(struct sp__sort_result *r);
/* Called after prepare(): true if an output is this file and will be written in place. */
bool sp__result_overwrites(const struct sp__sort_result *r, const struct stat *st);
/* Starts the first part; calls prepare() if necessary. */
SP_MUST_CHECK int sp__result_begin(struct sp__sort_result *r,
				   const struct sp__wstream_opts *writing);
/* Puts the header, which later parts also begin with. */
SP_MUST_CHECK int sp__result_put_header(struct sp__sort_result *r, const struct sp_batch *header);
SP_MUST_CHECK int sp__result_put(struct sp__sort_result *r, const struct sp_batch *batch);
/*
 * Called after the header: sets `out` to where the rest can be written in ranges.  That is the
 * file, if the output is a single regular one, until finish(); otherwise put().
 */
void sp__result_place(struct sp__sort_result *r, struct sp__ranges_out *out);
/*
 * Called instead of begin() for a single, staged output: writes the header and keeps the following
 * bytes, to be written in parts.
 */
SP_MUST_CHECK int sp__result_continue(struct sp__sort_result *r,
				      const struct sp__wstream_opts *writing,
				      const struct sp_batch *header, struct sp__ranges_out *out);
/* Writes all records that were put, and empty parts. */
SP_MUST_CHECK int sp__result_finish(struct sp__sort_result *r);
/* Gives all files their names. */
SP_MUST_CHECK int sp__result_commit(struct sp__sort_result *r);
void sp__result_counters(const struct sp__sort_result *r, struct sp__io_counters *c);
/* Discards outputs that have not been committed. */
void sp__result_close(struct sp__sort_result *r);
