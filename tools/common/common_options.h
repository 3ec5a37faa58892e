/* SPDX-License-Identifier: MIT */
/*
 * The options that xsort and xjoin both have and GNU's tools have not: of temporary data, of
 * the device it goes to, and of what is reported about the work.  Texts are those of the
 * command line, borrowed; sizes without a suffix are bytes.
 */
#ifndef COMMON_OPTIONS_H
#define COMMON_OPTIONS_H

#include <getopt.h>
#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <spindle/run.h>
#include "progress.h"

#define BKEY_TYPES "bytes, u8, i8, u16le to u64be, i16le to i64be, f32le to f64be"

/* Below the codes of the tools' own long options, above all letters. */
enum {
	COMMON_PROGRESS = INT_MAX / 4,
	COMMON_EXPLAIN,
	COMMON_STATS,
	COMMON_TRACE,
	COMMON_PAGE_SIZE,
	COMMON_ENGINE,
	COMMON_DIRECT,
	COMMON_VOLUME,
	COMMON_GEOMETRY,
	COMMON_PLACEMENT,
	COMMON_OVERWRITE,
	COMMON_SEED,
	COMMON_USAGE, /* for the tool: only it knows what to print */
};

/* Entries of a table for getopt_long(), which lists the candidates of a word in this sequence. */
#define COMMON_OPTION(name, has_argument, code)                                                    \
	{                                                                                          \
		name, has_argument, NULL, code                                                     \
	}
#define COMMON_OPTIONS                                                                             \
	COMMON_OPTION("progress", optional_argument, COMMON_PROGRESS),                             \
		COMMON_OPTION("explain", no_argument, COMMON_EXPLAIN),                             \
		COMMON_OPTION("stats", optional_argument, COMMON_STATS),                           \
		COMMON_OPTION("trace", required_argument, COMMON_TRACE),                           \
		COMMON_OPTION("page-size", required_argument, COMMON_PAGE_SIZE),                   \
		COMMON_OPTION("engine", required_argument, COMMON_ENGINE),                         \
		COMMON_OPTION("direct", optional_argument, COMMON_DIRECT),                         \
		COMMON_OPTION("volume", required_argument, COMMON_VOLUME),                         \
		COMMON_OPTION("geometry", required_argument, COMMON_GEOMETRY),                     \
		COMMON_OPTION("placement", required_argument, COMMON_PLACEMENT),                   \
		COMMON_OPTION("overwrite", no_argument, COMMON_OVERWRITE),                         \
		COMMON_OPTION("seed", required_argument, COMMON_SEED),                             \
		COMMON_OPTION("usage", no_argument, COMMON_USAGE)

struct common_options {
	enum progress_mode progress;
	bool explain;
	const char *stats;    /* NULL: none; "-": standard error */
	const char **tmpdirs; /* memory of run->tmpdirs */
	const char *geometry; /* file; NULL: that of a simulated volume's model */
	bool seeded;
	struct sp_run_opts *run; /* of the library's options: what they set */
};

/*
 * Takes the option code, one of the above or 'T' (a directory for temporary data), with its
 * argument; false: it is none of them.  name is the option with its hyphens, for
 * messages.  What cannot be ends the program with status.
 */
bool common_options_apply(struct common_options *c, int code, const char *name, const char *text,
			  int status);

/* The library's name of an I/O engine, NULL for auto; no such word ends the program with status. */
const char *engine_option(const char *name, const char *text, int status);

/* When all have been read: temporary data goes to TMPDIR or /tmp if no directory was given. */
void common_options_finish(struct common_options *c);

/*
 * Is progress to be shown, beside a result that goes to a regular file or, apart being false,
 * where it may meet the line?
 */
bool common_options_progress(const struct common_options *c, bool apart);

#endif
