/* SPDX-License-Identifier: MIT */
/*
 * The options that xsort and xjoin both have and GNU's tools have not: of temporary data, of
 * the device it goes to, and of what is reported about the work.  Texts are those of the
 * command line, borrowed; sizes without a suffix are bytes.
 */
#ifndef COMMON_OPTIONS_H
#define COMMON_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <spindle/run.h>
#include "progress.h"
#include "setting.h"

#define BKEY_TYPES "bytes, u8, i8, u16le to u64be, i16le to i64be, f32le to f64be"

struct common_options {
	enum progress_mode progress;
	bool explain, usage;
	const char *stats;    /* NULL: none; "-": standard error */
	bool stats_text;      /* for people, on standard error; stats is NULL */
	const char **tmpdirs; /* memory of run->tmpdirs */
	const char *geometry; /* file; NULL: that of a simulated volume's model */
	bool seeded;
	struct sp_run_opts *run; /* of the library's options: what they set */
};

/*
 * Rows of a table for a struct that has common and run as members; getopt lists the candidates
 * of a word in their sequence.  Only the tool knows what --usage prints.
 */
#define COMMON_SETTINGS(type, run)                                                                 \
	{ "progress",                                                                              \
	  "WHEN",                                                                                  \
	  SETTING_TO(type, common.progress),                                                       \
	  .words = progress_words,                                                                 \
	  .optional = true,                                                                        \
	  .absent = PROGRESS_ALWAYS },                                                             \
		{ "explain", SETTING_TO(type, common.explain) },                                   \
		{ "stats", "FILE", SETTING_TO(type, common), .call = stats_set,                    \
		  .optional = true },                                                              \
		{ "trace", "FILE", SETTING_TO(type, run.trace_path) },                             \
		{ "page-size", "SIZE", SETTING_TO(type, run.page_bytes), .whole = page_option },   \
		{ "engine", "NAME", SETTING_TO(type, run.engine), .call = engine_set },            \
		{ "direct",                                                                        \
		  "WHEN",                                                                          \
		  SETTING_TO(type, run.direct),                                                    \
		  .words = sp_direct_words,                                                        \
		  .optional = true,                                                                \
		  .absent = 1 },                                                                   \
		{ "volume", "WHERE", SETTING_TO(type, common), .call = volume_set },               \
		{ "geometry", "FILE", SETTING_TO(type, common.geometry) },                         \
		{ "placement", "HOW", SETTING_TO(type, run.placement),                             \
		  .words = sp_placement_words },                                                   \
		{ "overwrite", SETTING_TO(type, run.overwrite) },                                  \
		{ "decompress",                                                                    \
		  "FORMAT",                                                                        \
		  SETTING_TO(type, run.decompress),                                                \
		  .words = sp_packed_words,                                                        \
		  .optional = true,                                                                \
		  .absent = SP_PACKED_AUTO },                                                      \
		{ "compress-output",                                                               \
		  "FORMAT",                                                                        \
		  SETTING_TO(type, run.compress_output),                                           \
		  .words = sp_packing_words,                                                       \
		  .optional = true,                                                                \
		  .absent = SP_PACKED_AUTO },                                                      \
		{ "seed", "N", SETTING_TO(type, run.seed), .number = { 0, UINT64_MAX },            \
		  .given = offsetof(type, common.seeded) },                                        \
	{                                                                                          \
		"usage", SETTING_TO(type, common.usage)                                            \
	}

/* An I/O engine, NULL for auto. */
void engine_set(void *to, const char *option, const char *text);
/* The same for tools whose result is what they read. */
void data_engine_set(void *to, const char *option, const char *text);
uint64_t page_option(const char *option, const char *text);
/* to is the struct common_options; a directory for temporary data, and what may be one. */
void tmpdir_add(void *to, const char *option, const char *dir);
void volume_set(void *to, const char *option, const char *text);
/* The same; text: the file, or NULL. */
void stats_set(void *to, const char *option, const char *text);

/* When all have been read: temporary data goes to TMPDIR or /tmp if no directory was given. */
void common_options_finish(struct common_options *c);

/*
 * What is decompressed and compressed: finds the format that the suffix of the output, a name or
 * NULL, stands for, and refuses what this build has not.
 */
void common_options_packed(struct common_options *c, const char *output, const char *output_option);

/*
 * The memory that was asked for or else the default; can warn if the control group has less.
 * What is known of the device: a geometry file, or that of a simulated volume's model; the
 * caller frees run->geometry.  0 or a negative code.
 */
int common_options_resources(struct common_options *c, bool warn, struct sp_errinfo *err);

/*
 * Is progress to be shown, beside a result that goes to a regular file or, apart being false,
 * where it may meet the line?
 */
bool common_options_progress(const struct common_options *c, bool apart);

#endif
