/* SPDX-License-Identifier: MIT */
/*
 * Sorting and joining by the words of a command: for programs in other languages, which need not
 * know the structs of the other headers.
 *
 * Keys may have the names of columns (spindle/columns.h) where files have headers: functions on
 * files look for their numbers in the first one, which must be a regular file.
 *
 * A call has options of xsort(1), as words without files: those of order and format
 * (spindle/order.h), -S, -T, --parallel, --seed, --count, --decompress, --compress-output and
 * --spill-compression.  What is said of them there holds here too, but sizes are in the units of
 * -S.  sp_call_sort_opts() is for the functions on buffers (spindle/buffers.h).
 *
 * Errors: 0 or a negative code, with the reason in err, which may be NULL; -EINVAL: a word is
 * wrong, and the text names it.
 * Ownership: words are copied; what a function makes is freed by the function named there.
 * Thread rule: a call does not change once it is made; any number of threads may use it.
 */
#ifndef SPINDLE_CALL_H
#define SPINDLE_CALL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <spindle/api.h>
#include <spindle/error.h>
#include <spindle/join.h>
#include <spindle/sort.h>
#include <spindle/split.h>

struct sp_call;

SP_API SP_MUST_CHECK int sp_call_sort(struct sp_call **call, const char *const *words,
				      size_t nwords, struct sp_errinfo *err);
SP_API void sp_call_free(struct sp_call *call); /* accepts NULL */

/* What its words came to; valid while the call lives.  NULL: columns have no numbers yet. */
SP_API const struct sp_sort_opts *sp_call_sort_opts(const struct sp_call *call);
/* Its words, up to NULL. */
SP_API const char *const *sp_call_args(const struct sp_call *call);
/* The same call with numbers for the columns that it names, from the header of a file. */
SP_API SP_MUST_CHECK int sp_call_numbered(struct sp_call **made, const struct sp_call *call,
					  const char *input, struct sp_errinfo *err);

struct sp_call_info {
	int kind; /* enum sp_recfmt_kind */
	int eol;  /* of lines */
	uint64_t fixed_bytes;
	uint64_t header_records;
	uint64_t memory_bytes; /* -S, or the default */
	bool header_first, unique, count, random;
	bool stable; /* equal records keep the order of their inputs */
	bool named;  /* a key names a column */
	struct sp_recfmt format;
};

SP_API void sp_call_info(const struct sp_call *call, struct sp_call_info *info);

/*
 * Sorts, or merges, files into output.  *report, unless report is NULL: the JSON document of
 * schema spindle.sort/1 (spindle-report(5)), for sp_call_report_free().
 */
SP_API SP_MUST_CHECK int sp_call_sort_files(const struct sp_call *call, const char *const *inputs,
					    size_t ninputs, bool merge, const char *output,
					    char **report, struct sp_errinfo *err);
SP_API void sp_call_report_free(char *report); /* accepts NULL */

/* As sp_splitters_sample(), of files with the header of the call. */
SP_API SP_MUST_CHECK int sp_call_sample(struct sp_splitters **splitters, const struct sp_call *call,
					const char *const *inputs, size_t ninputs, size_t parts,
					struct sp_errinfo *err);

struct sp_call_join;

/*
 * The same of xjoin(1): -1, -2, -j, -t, -i, -z, -a, -v, -e, -o, --type, --csv, --header,
 * --record-size, --bkey, and the resources above.
 */
SP_API SP_MUST_CHECK int sp_call_join(struct sp_call_join **call, const char *const *words,
				      size_t nwords, struct sp_errinfo *err);
SP_API void sp_call_join_free(struct sp_call_join *call); /* accepts NULL */
/* What its words came to; valid while the call lives.  NULL: columns have no numbers yet. */
SP_API const struct sp_join_opts *sp_call_join_opts(const struct sp_call_join *call);
SP_API const char *const *sp_call_join_args(const struct sp_call_join *call);
/* A key, or a column of the result, has the name of a column. */
SP_API bool sp_call_join_named(const struct sp_call_join *call);
/* Is the join of parts of file 0 or 1, each with all of the other file, the whole join? */
SP_API bool sp_call_join_divides(const struct sp_call_join *call, int side);
SP_API SP_MUST_CHECK int sp_call_join_numbered(struct sp_call_join **made,
					       const struct sp_call_join *call, const char *left,
					       const char *right, struct sp_errinfo *err);
/*
 * Joins two files into output; *report: of schema spindle.join/1.  bytes: expected in each, for
 * pipes; 0, or bytes NULL: unknown.  sp_call_join_blocks(): next as in struct sp_join_io gives the
 * records.
 */
SP_API SP_MUST_CHECK int sp_call_join_files(const struct sp_call_join *call, const char *left,
					    const char *right, const uint64_t bytes[2],
					    const char *output, char **report,
					    struct sp_errinfo *err);
SP_API SP_MUST_CHECK int sp_call_join_blocks(const struct sp_call_join *call,
					     int (*next)(void *arg, int side,
							 struct sp_batch *batch),
					     void *arg, const uint64_t bytes[2], const char *output,
					     char **report, struct sp_errinfo *err);

/* The version of the library, SP_VERSION; static. */
SP_API const char *sp_version(void);

#endif
