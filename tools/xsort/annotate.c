/* SPDX-License-Identifier: MIT */
/*
 * Annotates the sorted lines for --debug.
 *
 * Algorithm: a thread reads the lines from a pipe and writes each to standard output, followed by
 * one line for each key with underscores below the key.  So the result can have any size, and the
 * sort is not involved.  If the system refuses a thread, a temporary file replaces the pipe and is
 * annotated after the sort.
 */
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <wchar.h>
#include <wctype.h>
#include "xsort.h"

static struct {
	const struct settings *set;
	const struct sp_keyset *keys;
	FILE *in;
	int write_end;
	pthread_t thread;
	bool threaded;
	int error; /* errno of the first failed write */
} an;

/* Returns the columns of the character at p; *bytes is its length. */
static size_t columns_at(const char *p, const char *end, mbstate_t *state, size_t *bytes)
{
	wchar_t wc;
	int w;

	*bytes = mbrtowc(&wc, p, (size_t)(end - p), state);
	if (*bytes == (size_t)-2) {
		*bytes = (size_t)(end - p);
		return 1;
	}
	if (*bytes == (size_t)-1) {
		memset(state, 0, sizeof(*state));
		*bytes = 1;
		return 1;
	}
	if (*bytes == 0)
		*bytes = 1;
	w = wcwidth(wc);
	if (w >= 0)
		return (size_t)w;
	return wc == L'\t' || !iswcntrl((wint_t)wc);
}

static size_t columns(const char *p, const char *end)
{
	mbstate_t state = { 0 };
	size_t width = 0, bytes;

	for (; p < end; p += bytes)
		width += columns_at(p, end, &state, &bytes);
	return width;
}

static void underline(size_t offset, size_t width)
{
	while (offset--)
		putchar(' ');
	if (!width) {
		puts("^ no match for key");
		return;
	}
	while (width--)
		putchar('_');
	putchar('\n');
}

static void underline_key(const char *line, size_t bytes, size_t k)
{
	size_t begin, end;

	sp_keyset_extent(an.keys, k, line, bytes, &begin, &end);
	underline(columns(line, line + begin), columns(line + begin, line + end));
}

static void show(const char *line, size_t bytes)
{
	size_t i;

	for (i = 0; i < bytes; i++)
		putchar(line[i] == '\t' ? '>' : line[i]);
	putchar('\n');
	for (i = 0; i < an.set->order.nkeys; i++)
		underline_key(line, bytes, i);
	if (!an.set->order.nkeys || !(an.set->order.unique || an.set->order.stable))
		underline(0, columns(line, line + bytes));
}

static void *annotate(void *unused)
{
	char *line = NULL;
	size_t room = 0;
	ssize_t n;

	(void)unused;
	while ((n = getdelim(&line, &room, an.set->order.eol, an.in)) > 0) {
		if (an.error)
			continue; /* continue reading: the sort must not see a closed pipe */
		show(line, (size_t)n - (line[n - 1] == an.set->order.eol));
		if (ferror(stdout))
			an.error = errno;
	}
	free(line);
	return NULL;
}

static void begin_file(void)
{
	an.in = tmpfile();
	an.write_end = an.in ? fcntl(fileno(an.in), F_DUPFD_CLOEXEC, 0) : -1;
	if (an.write_end < 0)
		die_sys(errno, "cannot create temporary file");
}

int annotate_begin(const struct settings *set, const struct sp_keyset *keys)
{
	int ends[2];

	if (pipe2(ends, O_CLOEXEC))
		die_sys(errno, "pipe");
	an.set = set;
	an.keys = keys;
	an.write_end = ends[1];
	an.in = fdopen(ends[0], "r");
	if (!an.in)
		die("memory exhausted");
	an.threaded = pthread_create(&an.thread, NULL, annotate, NULL) == 0;
	if (!an.threaded) {
		fclose(an.in);
		close(ends[1]);
		begin_file();
	}
	return an.write_end;
}

int annotate_end(void)
{
	close(an.write_end);
	if (an.threaded) {
		pthread_join(an.thread, NULL);
	} else {
		rewind(an.in);
		annotate(NULL);
	}
	fclose(an.in);
	if (!an.error && fflush(stdout))
		an.error = errno;
	return an.error;
}
