/* SPDX-License-Identifier: MIT */
/*
 * --split: the names of the parts, and what does not go with them.
 */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <spindle/split.h>
#include "longopt.h"
#include "msg.h"
#include "quote.h"
#include "xsort.h"

#define WIDTH_MAX 255 /* no name is longer */
#define NUMBER_MAX 20 /* digits of any number */

/* The pattern with part in place of its %d; NULL: it has not exactly one. */
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

void split_check(const struct settings *set)
{
	static const char check[3][3] = { "", "-c", "-C" };
	const char *c = check[set->check == 'c' ? 1 : set->check == 'C' ? 2 : 0];
	bool random = false;
	char *name;

	if (!set->split)
		return;
	for (size_t i = 0; i < set->nkeys; i++)
		random |= sp_key_has_letter(&set->keys[i].spec, 'R');
	longopt_exclude(set->check, c, true, "--split");
	longopt_exclude(random, "-R", true, "--split");
	longopt_exclude(set->opts.top, "--top", true, "--split");
	if (!set->output)
		die("--split needs -o");
	name = part_name(set->output, 0);
	if (!name)
		die("-o %s: with --split the name has exactly one %%d, %%Nd or %%0Nd, and %%%% for "
		    "a percent sign",
		    quote_file_always(set->output));
	free(name);
}

static void spare_standard_input(const struct settings *set)
{
	bool twice = set->files_from && !strcmp(set->files_from, "-");

	for (size_t i = 0; i < set->nfiles; i++)
		twice |= !strcmp(set->files[i], "-");
	if (twice)
		die("standard input cannot be the splitters and an input");
}

void split_read(struct settings *set)
{
	struct sp_errinfo err = SP_ERRINFO_INIT;

	if (!set->split)
		return;
	if (!strcmp(set->split, "-"))
		spare_standard_input(set);
	if (sp_splitters_load(&set->cuts, &set->opts, set->split, &err) < 0)
		failure(set, &err, 0);
	set->nparts = sp_splitters_count(set->cuts) + 1;
	set->parts = must_alloc(NULL, set->nparts, sizeof(*set->parts));
	for (size_t i = 0; i < set->nparts; i++)
		set->parts[i] = part_name(set->output, i);
}
