/* SPDX-License-Identifier: MIT */
/*
 * Whether the parts of a split lie between their splitters, as GNU sort -c sees it:
 *
 *	part 0 <= splitter 1 <= part 1 <= splitter 2 ...	as one file, by keys
 *	last record before part i < splitter i
 *
 * CSV records are not judged: GNU sort does not know where they end.
 */
#ifndef DIFF_SORTSPLIT_H
#define DIFF_SORTSPLIT_H

#include "sortrun.h"

/* GNU sort's word on a file: are the keys in order, and, with -u, different? */
static bool in_order(const struct sort_case *c, const char *dir, const struct text *t,
		     const char *how)
{
	struct args files = { 0 };

	write_file(dir, "judged", t);
	add(&files, "-c");
	add(&files, "judged");
	return status_of(start_gnu(c, dir, how, &files, -1, "stdout")) == 0;
}

/* Records without the numbers of --count. */
static void uncount(const struct sort_case *c, struct text *t)
{
	size_t to_at = 0;

	for (size_t at = 0, end; is(c, KEEP, "count") && at < t->bytes; at = end) {
		const char *p = t->data + at + strspn(t->data + at, " ");

		end = (size_t)((char *)memchr(p, c->eol, (size_t)(t->data + t->bytes - p)) -
			       t->data) +
		      1;
		p += strspn(p, "0123456789") + 1;
		memmove(t->data + to_at, p, (size_t)(t->data + end - p));
		to_at += (size_t)(t->data + end - p);
	}
	if (is(c, KEEP, "count"))
		t->bytes = to_at;
}

/* Record number i, with its terminator; the last one if there are fewer. */
static void put_record(struct text *to_text, const struct text *t, unsigned i, char eol)
{
	size_t begin = 0, end;

	for (;; begin = end) {
		const char *p = memchr(t->data + begin, eol, t->bytes - begin);

		end = p ? (size_t)(p - t->data) + 1 : t->bytes;
		if (!i-- || end == t->bytes)
			break;
	}
	text_put(to_text, t->data + begin, end - begin);
}

/* dir: GNU sort's; parts: xsort's. */
static bool parts_fit(const struct sort_case *c, const char *dir, const char *parts)
{
	struct text all = { 0 }, part = { 0 }, splitters = { 0 }, pair = { 0 };
	bool fit = true;
	char name[16];

	read_file(dir, "splitters", &splitters);
	for (unsigned i = 0; i <= SPLITTERS; i++) {
		snprintf(name, sizeof(name), "part%u", i);
		read_file(parts, name, &part);
		uncount(c, &part);
		text_put(&all, part.data, part.bytes);
		if (i == SPLITTERS)
			break;
		pair.bytes = 0;
		if (part.bytes) {
			put_record(&pair, &part, UINT32_MAX, c->eol);
			put_record(&pair, &splitters, i, c->eol);
			fit = fit && in_order(c, dir, &pair, "-u");
		}
		put_record(&all, &splitters, i, c->eol);
	}
	fit = fit && in_order(c, dir, &all, "-s");
	free(all.data);
	free(part.data);
	free(splitters.data);
	free(pair.data);
	return fit;
}

#endif
