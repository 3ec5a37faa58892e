/* SPDX-License-Identifier: MIT */
/*
 * Prints the version.
 */
#include <stdio.h>
#include <string.h>
#include <spindle/run.h>
#include <spindle/version.h>
#include "msg.h"
#include "version.h"

/* Prints the features of the library: the names of an option, except auto and none. */
static void list(const struct sp_enum_value *words)
{
	for (; words->name; words++)
		if (strcmp(words->name, "auto") != 0 && strcmp(words->name, "none") != 0)
			printf(" %s", words->name);
}

void version_print(void)
{
	printf("%s (Spindle) %s\nBuilt in:", msg_program(), SP_VERSION);
	list(sp_engine_values());
	list(sp_spill_compression_values());
#ifdef SP_HAVE_ZLIB
	fputs(" gzip", stdout);
#endif
#ifdef SP_HAVE_LZMA
	fputs(" xz", stdout);
#endif
#ifdef WITH_FUSE
	fputs(" FUSE", stdout);
#endif
	/* text is ordered by the collation of any locale of the C library */
	fputs(" locales\n", stdout);
	fputs("MIT licence: free to use, change and pass on, without any warranty.\n", stdout);
	stdio_leave();
}
