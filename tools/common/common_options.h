/* SPDX-License-Identifier: MIT */
/*
 * Options of xsort and xjoin that GNU's tools do not have: temporary data, its device, and reports.
 * Texts of the command line are borrowed; sizes without a suffix are bytes.
 */
#pragma once

#include <spindle/run.h>
#include "gnuplot.h"
#include "number.h"
#include "progress.h"
#include "setting.h"

#define BKEY_TYPES "bytes, u8, i8, u16le to u64be, i16le to i64be, f32le to f64be"

struct common_options {
	enum progress_mode progress;
	bool explain;
	bool details; /* text has all values, too */
	bool auto_compression;
	const char *stats;    /* NULL: none; "-": standard error */
	bool stats_text;      /* text report on standard error; stats is NULL */
	const char **tmpdirs; /* owns run->tmpdirs */
	const char *plot;     /* picture of the requests; NULL: none */
	const char *geometry; /* file; NULL: from a simulated volume's model */
	bool seeded;
	struct sp_run_opts *run; /* options of the library that these set */
};

/* Rows of a table for a struct that has common, and run somewhere, as members. */
#define AUTOPACK_SETTING(type, doc, commands)                                                      \
	{                                                                                          \
		"auto-compression", NULL, doc, SETTING_TO(type, common.auto_compression),          \
			.by = commands                                                             \
	}

#define PACKED_SETTINGS(type, run)                                                                 \
	AUTOPACK_SETTING(type,                                                                     \
			 "decompress inputs that are compressed, and compress an output "          \
			 "with such a suffix; so does SPINDLE_AUTO_COMPRESSION=1",                 \
			 0),                                                                       \
		{ "decompress",                                                                    \
		  "FORMAT",                                                                        \
		  "inputs are compressed: gzip, zstd, lz4 or xz; without FORMAT, those "           \
		  "recognised by "                                                                 \
		  "their first bytes",                                                             \
		  SETTING_TO(type, run.decompress),                                                \
		  .values = sp_packed_values,                                                      \
		  .optional = true,                                                                \
		  .absent = SP_PACKED_AUTO },                                                      \
	{                                                                                          \
		"compress-output", "FORMAT[:LEVEL]",                                               \
			"write gzip, zstd, lz4 or xz, with a level as in zstd:9; without FORMAT, " \
			"by the suffix of the output's name",                                      \
			SETTING_TO(type, common), .values = sp_packed_values,                      \
						  .call = compress_output_set, .optional = true    \
	}

#define REPORT_SETTINGS(type, run)                                                                 \
	{ "explain", NULL, "print the plan on standard error, and do no more",                     \
	  SETTING_TO(type, common.explain) },                                                      \
		{ "stats",                                                                         \
		  "FILE",                                                                          \
		  "write a report as JSON to FILE; without FILE, as text to standard error",       \
		  SETTING_TO(type, common),                                                        \
		  .call = stats_set,                                                               \
		  .optional = true },                                                              \
		{ "details", NULL, "with --stats or --explain: print all values, too",             \
		  SETTING_TO(type, common.details) },                                              \
		{ "trace", "FILE", "write every block request to FILE",                            \
		  SETTING_TO(type, run.trace_path) },                                              \
		{ "trace-tasks", "FILE", "log how the work divides over threads to FILE",          \
		  SETTING_TO(type, run.trace_tasks_path) },                                        \
		PROGRESS_SETTING(type, common.progress, 0),                                        \
	{                                                                                          \
		"seed", "N", "seed of all random choices", SETTING_TO(type, run.seed),             \
			.number = { 0, UINT64_MAX }, .given = offsetof(type, common.seeded)        \
	}

/* runplot.h draws it. */
#define PLOT_SETTING(type, commands)                                                               \
	{                                                                                          \
		"plot", "FILE",                                                                    \
			"draw the block requests by time and position with gnuplot to FILE.png, "  \
			".svg or .pdf",                                                            \
			SETTING_TO(type, common.plot), .call = gnuplot_set, .by = commands         \
	}

#define SPACE_SETTINGS(type, run)                                                                  \
	{ "volume",                                                                                \
	  "WHERE",                                                                                 \
	  "dir:PATH, as -T PATH; block:DEVICE; or sim:MODEL[,KEY=VALUE]..., a simulated machine "  \
	  "in virtual time",                                                                       \
	  SETTING_TO(type, common),                                                                \
	  .choices = volume_kinds,                                                                 \
	  .call = volume_set },                                                                    \
		{ "overwrite", NULL, "allow all data on block:DEVICE to be overwritten",           \
		  SETTING_TO(type, run.overwrite) },                                               \
		{ "geometry", "FILE", "geometry of the device, from diskprobe",                    \
		  SETTING_TO(type, common.geometry), .dash = SETTING_DASH_INPUT },                 \
		{ "placement", "HOW", "contiguous, track, semiseq or auto (contiguous)",           \
		  SETTING_TO(type, run.placement), .values = sp_placement_values },                \
		{ "engine",                                                                        \
		  "NAME",                                                                          \
		  "io_uring, libaio, sync, null or auto (auto)",                                   \
		  SETTING_TO(type, run.engine),                                                    \
		  .values = sp_engine_values,                                                      \
		  .call = engine_set },                                                            \
		{ "direct",                                                                        \
		  "WHEN",                                                                          \
		  "bypass the page cache: auto, always or never",                                  \
		  SETTING_TO(type, run.direct),                                                    \
		  .values = sp_direct_values,                                                      \
		  .optional = true,                                                                \
		  .absent = 1 },                                                                   \
	{                                                                                          \
		"page-size", "SIZE", "page size of temporary data",                                \
			SETTING_TO(type, run.page_bytes), .whole = page_option                     \
	}

/* For a tool that opens cubes or tables. */
#define WAIT_SETTING(type, run, commands)                                                          \
	{                                                                                          \
		"wait", "TIME",                                                                    \
			"wait until other programs have released the file, at most TIME; without " \
			"TIME, without limit (0)",                                                 \
			SETTING_TO(type, run.wait_ns), .whole = wait_value, .optional = true,      \
						       .by = commands                              \
	}

/* Sets the I/O engine, NULL for auto. */
void engine_set(void *to, const char *option, const char *text);
/* Sets the I/O engine of a tool whose result is the data read. */
void data_engine_set(void *to, const char *option, const char *text);
uint64_t page_option(const char *option, const char *text);
/* Adds a directory for temporary data to the struct common_options. */
void tmpdir_add(void *to, const char *option, const char *dir);
extern const struct sp_enum_value volume_kinds[]; /* beginnings of arguments of --volume */
void volume_set(void *to, const char *option, const char *text);
/* Sets --compress-output of the struct common_options; text: FORMAT[:LEVEL], or NULL. */
void compress_output_set(void *to, const char *option, const char *text);
/* Sets --stats of the struct common_options; text: the file, or NULL. */
void stats_set(void *to, const char *option, const char *text);

/* Completes the options: without a directory, temporary data goes to TMPDIR or /tmp. */
void common_options_finish(struct common_options *c);

/* True if the volume of temporary data is a simulated one. */
bool common_options_simulated(const struct common_options *c);
/* True if an error concerns temporary data, which is named by its directory. */
bool common_options_temporary(const struct common_options *c, const struct sp_errinfo *err);

/* Ends the program if it was built without a format. */
void common_options_need_format(const char *option, enum sp_packed format);

/*
 * Sets the formats of compressed files: finds the format by the suffix of output, a name or NULL,
 * and refuses formats that this build does not have.
 */
void common_options_packed(struct common_options *c, const char *output, const char *output_option);

/*
 * Sets the memory, as requested or by default; warns, if warn, that the control group has less.
 * If the n inputs are small regular files, the default of the memory does not consider how much is
 * available, and that of the threads is 1.  A tool whose inputs do not tell this passes none.
 * Sets run->geometry from a file or from the model of a simulated volume; the caller frees it.
 * Returns 0 or a negative code.
 */
int common_options_resources(struct common_options *c, const char *const *inputs, size_t n,
			     bool warn, struct sp_errinfo *err);

/*
 * True if progress is to be shown. apart: the result goes to a regular file; if false, the result
 * can mix with the progress line.
 */
bool common_options_progress(const struct common_options *c, bool apart);
