/* SPDX-License-Identifier: MIT */
#include <string.h>
#include <spindle/run.h>
#include <spindle/version.h>
#include "msg.h"
#include "stdio_end.h"
#include "version.h"

/* What the library has: the words of an option, but for those that leave a choice or want none. */
static void list(FILE *f, const struct sp_word *words)
{
	for (; words->word; words++)
		if (strcmp(words->word, "auto") != 0 && strcmp(words->word, "none") != 0)
			fprintf(f, " %s", words->word);
}

void version_print(FILE *f, struct argp_state *state)
{
	(void)state;
	fprintf(f, "%s (Spindle) %s\nBuilt in:", msg_program(), SP_VERSION);
	list(f, sp_engine_words());
	list(f, sp_spill_compression_words());
#ifdef SP_HAVE_ZLIB
	fputs(" gzip", f);
#endif
#ifdef SP_HAVE_LZMA
	fputs(" xz", f);
#endif
#ifdef WITH_FUSE
	fputs(" FUSE", f);
#endif
	/* Text is ordered by the collation of any locale of the C library. */
	fputs(" locales\n", f);
	fputs("MIT licence: free to use, change and pass on, without any warranty.\n", f);
}

void version_leave(void)
{
	version_print(stdout, NULL);
	stdio_leave();
}
