/* SPDX-License-Identifier: MIT */
/*
 * Reads --suffixes=TEXT,TEXT...
 */
#include <string.h>
#include "xjoin.h"

void suffixes_set(void *settings, const char *option, const char *text)
{
	static const char *const defaults[SP_JOIN_FILES_MAX] = { "_1", "_2", "_3", "_4",
								 "_5", "_6", "_7", "_8" };
	struct settings *set = settings;
	char *rest = text ? must_copy(text) : NULL;

	set->opts.suffixes = text ? set->suffixes : defaults;
	for (set->nsuffixes = 0; rest; set->nsuffixes++) {
		if (set->nsuffixes == SP_JOIN_FILES_MAX)
			die("%s: at most %d files are joined", option, SP_JOIN_FILES_MAX);
		set->suffixes[set->nsuffixes] = strsep(&rest, ",");
	}
}

void suffixes_check(const struct settings *set)
{
	const size_t files = 2 + set->opts.nthen;

	if (!set->opts.suffixes)
		return;
	if (!set->opts.header)
		die("--suffixes needs --header");
	if (set->nsuffixes && set->nsuffixes != files)
		die("--suffixes: %zu files need as many suffixes between commas, not %zu", files,
		    set->nsuffixes);
}
