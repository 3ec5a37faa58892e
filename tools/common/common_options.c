/* SPDX-License-Identifier: MIT */
/*
 * Reads and completes the options that several tools share.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <spindle/size.h>
#include "common_options.h"
#include "msg.h"
#include "number.h"

#define PAGE_UNIT 4096u
#define PAGE_MAX (16u << 20)
/*
 * Inputs of so few bytes occupy little of any memory, and one thread does all the work.  To ask the
 * system what is available would take longer than to sort or join them.
 */
#define SMALL_INPUTS (256u << 10)

#define DIR "dir:"

const struct sp_enum_value volume_kinds[] = {
	{ DIR, 0 }, { "block:", 1 }, { "sim:", 2 }, { NULL, 0 }
};

void tmpdir_add(void *to, const char *option, const char *dir)
{
	struct common_options *c = to;
	struct sp_run_opts *run = c->run;

	(void)option;
	c->tmpdirs = must_alloc(c->tmpdirs, run->ntmpdirs + 1, sizeof(*c->tmpdirs));
	c->tmpdirs[run->ntmpdirs++] = dir;
	run->tmpdirs = c->tmpdirs;
}

uint64_t page_option(const char *option, const char *text)
{
	uint64_t bytes = size_option(option, text);

	if (!bytes || bytes % PAGE_UNIT || bytes > PAGE_MAX)
		die("%s must be a multiple of 4096 bytes and at most 16 MiB", option);
	return bytes;
}

void engine_set(void *to, const char *option, const char *text)
{
	const char **engine = to;

	/* for tests; the library reads and checks the rest */
	if (!strncmp(text, "fault:", 6))
		*engine = text;
	else
		*engine = sp_engine_name(choice_option(option, text, sp_engine_values()));
	if (!strcmp(*engine, "auto"))
		*engine = NULL;
}

void data_engine_set(void *to, const char *option, const char *text)
{
	const char **engine = to;

	engine_set(to, option, text);
	if (*engine && !strcmp(*engine, "null"))
		number_die(NUMBER_INVALID, option, text, "it moves no bytes");
}

void volume_set(void *to, const char *option, const char *text)
{
	struct common_options *c = to;
	const char *colon = strchr(text, ':');
	bool known = false;

	for (const struct sp_enum_value *k = volume_kinds; colon && k->name; k++)
		known |= colon[1] && !strncmp(text, k->name, (size_t)(colon + 1 - text));
	if (!known)
		number_die(NUMBER_INVALID, option, text,
			   "valid are dir:PATH, block:DEVICE and sim:MODEL[,KEY=VALUE]...");
	if (!strncmp(text, DIR, sizeof(DIR) - 1))
		tmpdir_add(c, option, colon + 1);
	else
		c->run->volume = text;
}

void compress_output_set(void *to, const char *option, const char *text)
{
	struct sp_run_opts *run = ((struct common_options *)to)->run;
	struct sp_errinfo err = SP_ERRINFO_INIT;
	int rc;

	run->compress_output = SP_PACKED_AUTO;
	run->compress_level = 0;
	rc = text ? sp_packed_parse_level(text, &run->compress_output, &run->compress_level, &err)
		  : 0;
	if (rc == SP_ESYNTAX)
		die("%s=%s: %s", option, quote(text), err.text);
	if (rc)
		choice_option(option, text, sp_packed_values()); /* ends the program */
}

void stats_set(void *to, const char *option, const char *text)
{
	struct common_options *c = to;

	(void)option;
	c->stats = text;
	c->stats_text = !text;
}

bool common_options_progress(const struct common_options *c, bool apart)
{
	return (apart || c->progress == PROGRESS_ALWAYS) && progress_wanted(c->progress, 1);
}

void common_options_finish(struct common_options *c)
{
	const char *dir = getenv("TMPDIR");

	if (c->details && !c->stats && !c->stats_text && !c->explain)
		die("--details needs --stats or --explain");
	if (!c->run->ntmpdirs)
		tmpdir_add(c, NULL, dir && *dir ? dir : "/tmp");
}

bool common_options_simulated(const struct common_options *c)
{
	return c->run->volume && !strncmp(c->run->volume, "sim:", 4);
}

bool common_options_temporary(const struct common_options *c, const struct sp_errinfo *err)
{
	for (size_t i = 0; i < c->run->ntmpdirs; i++)
		if (!strcmp(err->path, c->run->tmpdirs[i]))
			return true;
	return false;
}

void common_options_need_format(const char *option, enum sp_packed format)
{
	const char *missing = sp_packed_missing(format);

	if (missing)
		die("%s=%s: this program lacks it: %s", option, sp_packed_name(format), missing);
}

void common_options_packed(struct common_options *c, const char *output, const char *output_option)
{
	static const char option[] = "--compress-output";
	struct sp_run_opts *run = c->run;

	common_options_need_format("--decompress", run->decompress);
	if (run->compress_output == SP_PACKED_AUTO) {
		if (!output)
			die("%s needs a format (gzip, zstd, lz4 or xz), or %s with a name that "
			    "ends in .gz, .zst, .lz4 or .xz",
			    option, output_option);
		run->compress_output = sp_packed_by_suffix(output);
		if (!run->compress_output)
			die("%s: the suffix of %s is none of .gz, .zst, .lz4 and .xz; or give a "
			    "format: %s=gzip, zstd, lz4 or xz",
			    option, quote(output), option);
	}
	common_options_need_format(option, run->compress_output);
}

static uint64_t memory_asked(uint64_t bytes, bool small, bool warn)
{
	uint64_t limit;

	if (!bytes)
		return small ? sp_memory_default_small() : sp_memory_default();
	limit = sp_memory_group();
	if (warn && bytes > limit)
		msg("warning: -S asks for %" PRIu64
		    " bytes of memory, but the control group is limited to %" PRIu64,
		    bytes, limit);
	return bytes;
}

/* True if all inputs are regular files, and together small; n is 0 if it does not matter. */
static bool are_small(const struct sp_run_opts *run, const char *const *inputs, size_t n)
{
	uint64_t all = 0;
	struct stat st;

	if (!n || run->decompress || run->volume)
		return false;
	for (size_t i = 0; i < n; i++) {
		int rc = strcmp(inputs[i], "-") ? stat(inputs[i], &st) : fstat(STDIN_FILENO, &st);

		/* files of /proc have 0 bytes */
		if (rc || !S_ISREG(st.st_mode) || !st.st_size)
			return false;
		all += (uint64_t)st.st_size;
	}
	return all <= SMALL_INPUTS;
}

int common_options_resources(struct common_options *c, const char *const *inputs, size_t n,
			     bool warn, struct sp_errinfo *err)
{
	struct sp_run_opts *run = c->run;
	const bool small = are_small(run, inputs, n);
	struct sp_geometry *g = NULL;
	int rc;

	run->memory_bytes = memory_asked(run->memory_bytes, small, warn);
	if (small && !run->parallel)
		run->parallel = 1;
	rc = c->geometry ? sp_geometry_load(&g, c->geometry, err)
			 : sp_run_geometry(&g, run->volume, err);
	run->geometry = g;
	return rc;
}
