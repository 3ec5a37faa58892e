/* SPDX-License-Identifier: MIT */
/*
 * Sequences for tests: from the text of a trace, or from requests in a short
 * notation, "W tmp 4096 8192", that follow one another.
 */
#ifndef SEQTRACE_H
#define SEQTRACE_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "trace/sequence.h"

static char seqtrace_path[4096];

static void seqtrace_begin(void)
{
	const char *dir = getenv("TMPDIR");
	int fd;

	snprintf(seqtrace_path, sizeof(seqtrace_path), "%s/sequenceXXXXXX",
		 dir && *dir ? dir : "/tmp");
	fd = mkstemp(seqtrace_path);
	if (fd < 0)
		exit(1);
	close(fd);
}

static void seqtrace_end(void)
{
	unlink(seqtrace_path);
}

static void seqtrace_write(const char *text)
{
	FILE *f = fopen(seqtrace_path, "w");

	if (!f || fputs(text, f) == EOF || fclose(f))
		exit(1);
}

__attribute__((unused)) static struct sp_sequence *seqtrace_load(const char *text,
								 enum sp_sequence_order order)
{
	struct sp_sequence *seq = NULL;

	seqtrace_write(text);
	if (sp_sequence_load(&seq, seqtrace_path, &(struct sp_sequence_opts){ .order = order },
			     NULL) < 0)
		exit(1);
	return seq;
}

/* Ends with NULL. */
__attribute__((unused)) static struct sp_sequence *seqtrace(const char *const *requests)
{
	char text[16384];
	size_t n = 0;

	for (int i = 0; requests[i]; i++)
		n += (size_t)snprintf(text + n, sizeof(text) - n, "%s 0 %d %d %s\n", requests[i], i,
				      i, strrchr(requests[i], ' ') + 1);
	text[n] = '\0';
	return seqtrace_load(text, SP_SEQUENCE_SUBMIT);
}

#endif
