/* SPDX-License-Identifier: MIT */
/*
 * The result of a sort on its way to its outputs: one, or a file for each part (result.c).
 *
 * Owner: the thread that runs the sort.
 */
#pragma once

#include <sys/stat.h>
#include <spindle/outfile.h>
#include <spindle/sort.h>
#include "io/wstream.h"
#include "sort/merge/write_parts.h"

struct sp__sort_result {
	const struct sp_sort_io *io; /* borrowed */
	struct sp_errinfo *err;
	bool counted; /* each record has its number before it */
	const struct sp__owndir
		*staging;   /* where the one output is until it is complete; or NULL */
	const char *staged; /* its name there */

	struct sp_outfile **files; /* for each part; NULL: the caller's descriptor */
	size_t nfiles;		   /* 0: not prepared */
	size_t at;		   /* the part being written */
	size_t header_bytes;
	struct sp__wstream_opts writing;
	struct sp__wstream *stream;  /* of that part */
	struct sp__io_counters done; /* of the streams closed */
};

/*
 * Looks at all outputs and makes those that are new files, without a name.  Changes no old
 * contents.  Later calls do nothing.
 */
SP_MUST_CHECK int sp__result_prepare(struct sp__sort_result *r);
/* After prepare(): whether an output is this file, and will be written in place. */
bool sp__result_overwrites(const struct sp__sort_result *r, const struct stat *st);
/* Begins with the first part, after prepare() if that has not been called. */
SP_MUST_CHECK int sp__result_begin(struct sp__sort_result *r,
				   const struct sp__wstream_opts *writing);
/* Bytes that belong to no record: the header. */
SP_MUST_CHECK int sp__result_put_header(struct sp__sort_result *r, const struct sp_batch *header);
SP_MUST_CHECK int sp__result_put(struct sp__sort_result *r, const struct sp_batch *batch);
/*
 * After the header: where the rest can be written in parts, if the output is a single regular file.
 * They must all be written before finish().  False: it is not.
 */
bool sp__result_place(struct sp__sort_result *r, struct sp__parts_out *out);
/*
 * Instead of begin(), of one output that is staged: writes the header, and leaves what follows it
 * as it is, to be written in parts.
 */
SP_MUST_CHECK int sp__result_continue(struct sp__sort_result *r,
				      const struct sp__wstream_opts *writing,
				      const struct sp_batch *header, struct sp__parts_out *out);
/* Writes all that has been put, and the parts that are empty. */
SP_MUST_CHECK int sp__result_finish(struct sp__sort_result *r);
/* Gives all files their names. */
SP_MUST_CHECK int sp__result_commit(struct sp__sort_result *r);
void sp__result_counters(const struct sp__sort_result *r, struct sp__io_counters *c);
/* Discards what has not been committed. */
void sp__result_close(struct sp__sort_result *r);
