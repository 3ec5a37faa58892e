/* SPDX-License-Identifier: MIT */
/*
 * Checks and reads --splitters, --split and --parts, and makes the names of the parts.
 */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <spindle/outfile.h>
#include <spindle/split.h>
#include "xsort.h"

#define WIDTH_MAX 255 /* maximum length of a name */
#define NUMBER_MAX 20 /* maximum digits of a number */

/* Replaces the %d of the pattern by part; NULL: the pattern does not have exactly one. */
static char *part_name(const char *pattern, size_t part)
{
	char *name = must_alloc(NULL, strlen(pattern) + WIDTH_MAX + NUMBER_MAX, 1), *to = name;
	bool found = false, zero;
	const char *p;
	int width;

	for (p = pattern; *p; p++) {
		if (*p != '%' || *++p == '%') {
			*to++ = *p;
			continue;
		}
		zero = *p == '0';
		for (width = 0; isdigit((unsigned char)*p) && width <= WIDTH_MAX; p++)
			width = 10 * width + (*p - '0');
		if (*p != 'd' || width > WIDTH_MAX || found)
			break;
		to += sprintf(to, zero ? "%0*zu" : "%*zu", width, part);
		found = true;
	}
	*to = '\0';
	if (found && !*p)
		return name;
	free(name);
	return NULL;
}

static bool names_parts(const char *pattern)
{
	char *name = part_name(pattern, 0);
	bool named = name;

	free(name);
	return named;
}

/* Refuses options that are incompatible with both. */
static void check_common(const struct settings *set, const char *option)
{
	args_exclude(set->check, set->check == 'C' ? "-C" : "-c", true, option);
	args_exclude(sp_order_has_letter(&set->order, 'R'), "-R", true, option);
	args_exclude(set->top, "--limit", true, option);
}

/* Refuses options that need a sort, since --splitters does not sort. */
static void check_splitters(const struct settings *set)
{
	static const char option[] = "--splitters";

	check_common(set, option);
	args_exclude(set->split, "--split", true, option);
	args_exclude(set->cut_into, "--parts", true, option);
	args_exclude(set->debug, "--debug", true, option);
	args_exclude(set->opts.run.decompress, "--decompress", true, option);
	args_exclude(set->common.auto_compression, "--auto-compression", true, option);
	args_exclude(set->require_space, "--require-space", true, option);
	args_exclude(set->opts.run.compress_output, "--compress-output", true, option);
	args_exclude(set->common.explain, "--explain", true, option);
	args_exclude(set->common.stats || set->common.stats_text, "--stats", true, option);
	args_exclude(set->opts.run.trace_path, runplot_option(&set->common), true, option);
	args_exclude(set->opts.run.trace_tasks_path, "--trace-tasks", true, option);
	if (set->output && names_parts(set->output))
		die("-o %s: --splitters writes one file of splitters; --split=FILE or --parts=P "
		    "writes the parts",
		    quote_file_always(set->output));
}

void split_check(const struct settings *set)
{
	const char *option = set->split ? "--split" : "--parts";

	if (set->splitters)
		check_splitters(set);
	args_exclude(set->split, "--split", set->cut_into, "--parts");
	args_exclude(set->cut_into, "--parts", set->opts.run.decompress, "--decompress");
	args_exclude(set->cut_into, "--parts", set->debug, "--debug");
	if (!set->split && !set->cut_into)
		return;
	check_common(set, option);
	if (!set->output)
		die("%s needs -o, such as -o part%%d", option);
	if (!names_parts(set->output))
		die("-o %s: with %s the name has exactly one %%d, %%Nd or %%0Nd, and %%%% for "
		    "a percent sign",
		    quote_file_always(set->output), option);
}

/* Explains --split=N without a file N: --splitters=N makes one. */
static void check_number(const struct settings *set)
{
	const char *text = set->split;

	if (access(text, F_OK) == 0 || strspn(text, "0123456789") != strlen(text))
		return;
	die("--split=%s: there is no such file of splitters: --splitters=%s makes one for %s parts",
	    text, text, text);
}

static void spare_standard_input(const struct settings *set)
{
	bool twice = set->files_from && !strcmp(set->files_from, "-");

	for (size_t i = 0; i < set->nfiles; i++)
		twice |= !strcmp(set->files[i], "-");
	if (twice)
		die("standard input cannot be both the splitters and an input");
}

static void load_splitters(struct settings *set)
{
	struct sp_errinfo err = SP_ERRINFO_INIT;

	if (!strcmp(set->split, "-"))
		spare_standard_input(set);
	check_number(set);
	if (sp_splitters_load(&set->cuts, &set->opts, set->split, &err) < 0)
		failure(set, &err, 0);
}

static void sample_splitters(const struct settings *set, struct sp_splitters **cuts, uint64_t parts)
{
	struct sp_errinfo err = SP_ERRINFO_INIT;
	const struct sp_sort_io io = {
		.inputs = set->files,
		.ninputs = set->nfiles,
		.header_records = set->order.header_records,
		.header_first = set->order.header_first,
	};

	if (sp_splitters_sample(cuts, &set->opts, &io, parts, &err) < 0)
		failure(set, &err, 0);
}

void split_read(struct settings *set)
{
	if (set->split)
		load_splitters(set);
	else if (set->cut_into)
		sample_splitters(set, &set->cuts, set->cut_into);
	else
		return;
	set->nparts = sp_splitters_count(set->cuts) + 1;
	set->parts = must_alloc(NULL, set->nparts, sizeof(*set->parts));
	for (size_t i = 0; i < set->nparts; i++)
		set->parts[i] = part_name(set->output, i);
}

static void write_splitters(const struct sp_splitters *cuts, FILE *f)
{
	for (size_t i = 0; i < sp_splitters_count(cuts); i++) {
		struct sp_batch rec = sp_splitters_get(cuts, i);

		fwrite(rec.data, 1, rec.bytes, f);
	}
}

int splitters_run(const struct settings *set)
{
	struct sp_errinfo err = SP_ERRINFO_INIT;
	struct sp_splitters *cuts;
	struct sp_outfile *out;
	FILE *f;

	sample_splitters(set, &cuts, set->splitters);
	if (!set->output) {
		write_splitters(cuts, stdout);
		stdio_leave();
	}
	if (sp_outfile_open(&out, set->output, 0, &err) < 0 || sp_outfile_stream(out, &f, &err) < 0)
		failure(set, &err, 0);
	write_splitters(cuts, f);
	if (sp_outfile_commit(out, &err) < 0)
		failure(set, &err, 0);
	sp_outfile_close(out, NULL);
	sp_splitters_free(cuts);
	return 0;
}
