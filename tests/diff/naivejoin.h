/* SPDX-License-Identifier: MIT */
/*
 * A join that is right because it is simple: nested loops.  It knows nothing of
 * the library: it cuts lines at one separator, compares keys, and writes columns.
 */
#ifndef DIFF_NAIVEJOIN_H
#define DIFF_NAIVEJOIN_H

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <spindle/join.h>

#define LINES_MAX 3000
#define FIELDS_MAX 6

struct text {
	char *data;
	size_t bytes, capacity;
};

static void put(struct text *t, const char *p, size_t n)
{
	if (!n)
		return;
	if (t->capacity - t->bytes < n) {
		t->capacity = 2 * (t->bytes + n) + 256;
		t->data = realloc(t->data, t->capacity);
		if (!t->data)
			abort();
	}
	memcpy(t->data + t->bytes, p, n);
	t->bytes += n;
}

/* One case. */

struct trial {
	struct sp_join_opts opts;
	size_t keys[2][2];
	struct sp_join_column columns[4];
	struct text input[2];
};

struct cut {
	const char *line;
	const char *field[FIELDS_MAX + 1];
	size_t bytes[FIELDS_MAX + 1], n;
};

static struct cut cut(const char *line)
{
	size_t len = strcspn(line, "\n");
	struct cut c = { .line = line };

	for (const char *p = line, *end = line + len; len; p += c.bytes[c.n++] + 1) {
		const char *bar = memchr(p, '|', (size_t)(end - p));

		c.field[c.n] = p;
		c.bytes[c.n] = (size_t)((bar ? bar : end) - p);
		if (!bar) {
			c.n++;
			break;
		}
	}
	return c;
}

static void field_of(const struct cut *c, size_t k, const char **p, size_t *n)
{
	*p = k < c->n ? c->field[k] : "";
	*n = k < c->n ? c->bytes[k] : 0;
}

static bool equal(const struct trial *c, const struct cut *a, const struct cut *b)
{
	for (size_t i = 0; i < c->opts.nkeys; i++) {
		const char *p, *q;
		size_t n, m;

		field_of(a, c->keys[0][i], &p, &n);
		field_of(b, c->keys[1][i], &q, &m);
		if (n != m || (c->opts.ignore_case ? strncasecmp(p, q, n) : memcmp(p, q, n)))
			return false;
	}
	return true;
}

static void write_field(const struct trial *c, const struct cut *l, size_t k, struct text *out)
{
	const char *p;
	size_t n;

	field_of(l, k, &p, &n);
	if (n)
		put(out, p, n);
	else if (c->opts.filler)
		put(out, c->opts.filler, strlen(c->opts.filler));
}

static void write_key(const struct trial *c, const struct cut *a, const struct cut *b,
		      struct text *out)
{
	for (size_t i = 0; i < c->opts.nkeys; i++) {
		if (i)
			put(out, "|", 1);
		write_field(c, a ? a : b, c->keys[a ? 0 : 1][i], out);
	}
}

static void write_record(const struct trial *c, const struct cut *a, const struct cut *b,
			 struct text *out)
{
	static const struct cut none;
	const struct cut *line[2] = { a ? a : &none, b ? b : &none };

	if (!c->opts.ncolumns)
		write_key(c, a, b, out);
	for (int side = 0; side < 2 && !c->opts.ncolumns; side++) {
		for (size_t k = 0; k < line[side]->n; k++) {
			if (k == c->keys[side][0] || k == c->keys[side][1])
				continue;
			put(out, "|", 1);
			write_field(c, line[side], k, out);
		}
	}
	for (size_t i = 0; i < c->opts.ncolumns; i++) {
		if (i)
			put(out, "|", 1);
		if (c->columns[i].file)
			write_field(c, line[c->columns[i].file - 1], c->columns[i].field, out);
		else
			write_key(c, a, b, out);
	}
	put(out, "\n", 1);
}

static size_t cut_all(const struct text *t, struct cut *cuts)
{
	size_t n = 0;

	for (size_t i = 0; i < t->bytes; i += strcspn(t->data + i, "\n") + 1)
		cuts[n++] = cut(t->data + i);
	return n;
}

/* One of file x, one of the other; either may be NULL. */
static void write_sides(const struct trial *c, int x, const struct cut *l, const struct cut *other,
			struct text *out)
{
	write_record(c, x ? other : l, x ? l : other, out);
}

/* In the order of file 1, or, if that is wanted, of file 2. */
static void naive(const struct trial *c, struct text *out)
{
	static struct cut line[2][LINES_MAX];
	static bool had[LINES_MAX];
	const int x = c->opts.ordered == 2 && !c->opts.semi, y = !x;
	size_t n = cut_all(&c->input[x], line[x]), m = cut_all(&c->input[y], line[y]);

	memset(had, 0, sizeof(had));
	for (size_t i = 0; i < n; i++) {
		bool any = false;

		for (size_t k = 0; k < m; k++) {
			if (!equal(c, x ? &line[0][k] : &line[0][i], x ? &line[1][i] : &line[1][k]))
				continue;
			any = had[k] = true;
			if (c->opts.pairs)
				write_sides(c, x, &line[x][i], &line[y][k], out);
		}
		if (any ? c->opts.semi : c->opts.unpaired[x])
			write_sides(c, x, &line[x][i], NULL, out);
	}
	for (size_t k = 0; k < m; k++)
		if (!had[k] && c->opts.unpaired[y])
			write_sides(c, y, &line[y][k], NULL, out);
}

#endif
