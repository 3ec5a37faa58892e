/* SPDX-License-Identifier: MIT */
/*
 * Texts as sets of lines.
 */
#ifndef LINES_H
#define LINES_H

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

struct lines {
	char *text, **line;
	size_t n;
};

static int lines_compare(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Sorted. */
static inline struct lines lines_of(const char *text)
{
	struct lines l = { .text = strdup(text) };
	char *p = l.text, *end;

	l.line = malloc((strlen(text) + 1) * sizeof(*l.line));
	if (!p || !l.line)
		abort();
	for (; (end = strchr(p, '\n')); p = end + 1) {
		*end = '\0';
		l.line[l.n++] = p;
	}
	if (*p)
		l.line[l.n++] = p;
	qsort(l.line, l.n, sizeof(*l.line), lines_compare);
	return l;
}

/* Does each line of the one occur in the other, as often at least? */
static inline bool lines_part(const char *of, const char *all)
{
	struct lines a = lines_of(of), b = lines_of(all);
	size_t i = 0;

	for (size_t k = 0; k < b.n && i < a.n; k++)
		i += strcmp(a.line[i], b.line[k]) == 0;
	free(a.text);
	free(a.line);
	free(b.text);
	free(b.line);
	return i == a.n;
}

static inline bool lines_same(const char *a, const char *b)
{
	return strlen(a) == strlen(b) && lines_part(a, b);
}

#endif
