/* SPDX-License-Identifier: MIT */
/*
 * Joins against nested loops: the same random options on the same random inputs must
 * give the same lines, in whatever order, or, if it is asked for, in that of an input.
 * Some inputs are sorted, or nearly, and it is left to the join what to make of it.
 *
 *	SEED=n	another series (default 1)
 *	COUNT=n	so many joins (default 150)
 *
 * The naive program below knows nothing of the library: it cuts lines at one
 * separator, compares keys, and writes columns.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>
#include <spindle/join.h>
#include "tap.h"

#define LINES_MAX 3000
#define FIELDS_MAX 6

static uint64_t state;
static char dir[64];

static uint64_t below(uint64_t n)
{
	state = state * UINT64_C(6364136223846793005) + 1442695040888963407u;
	return (state >> 33) % n;
}

/* Texts and lists of lines. */

struct text {
	char *data;
	size_t bytes, room;
};

static void put(struct text *t, const char *p, size_t n)
{
	if (!n)
		return;
	if (t->room - t->bytes < n) {
		t->room = 2 * (t->bytes + n) + 256;
		t->data = realloc(t->data, t->room);
		if (!t->data)
			abort();
	}
	memcpy(t->data + t->bytes, p, n);
	t->bytes += n;
}

static int by_text(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Lines of a text, ended by newlines, sorted unless their order counts; the text is cut up. */
static size_t cut_lines(struct text *t, char ***lines, bool ordered)
{
	size_t n = 0;

	for (size_t i = 0; i < t->bytes; i++)
		n += t->data[i] == '\n';
	*lines = malloc((n + 1) * sizeof(**lines));
	n = 0;
	for (size_t i = 0, begin = 0; i < t->bytes; i++) {
		if (t->data[i] != '\n')
			continue;
		t->data[i] = '\0';
		(*lines)[n++] = t->data + begin;
		begin = i + 1;
	}
	if (!ordered)
		qsort(*lines, n, sizeof(**lines), by_text);
	return n;
}

/* One case. */

struct trial {
	struct sp_join_opts opts;
	size_t keys[2][2];
	struct sp_join_column columns[4];
	struct text input[2];
	unsigned disorder; /* places in sorted inputs where they are not */
	unsigned spread;   /* of the keys */
	unsigned length;   /* of fields that are no keys */
	bool skewed;
};

static void random_field(struct trial *c, struct text *t, bool key)
{
	char buf[512];
	size_t n = below(c->length);

	if (key && c->skewed && below(3) == 0)
		put(t, "7", 1);
	else if (key)
		put(t, buf, (size_t)snprintf(buf, sizeof(buf), "%u", (unsigned)below(c->spread)));
	else if (below(8)) {
		memset(buf, 'a' + (int)below(3), n);
		put(t, buf, n);
	}
}

static void random_input(struct trial *c, int side)
{
	size_t lines = below(6) ? below(LINES_MAX / 4) : below(LINES_MAX), fields;

	for (size_t i = 0; i < lines; i++) {
		fields = below(12) ? 2 + below(FIELDS_MAX - 1) : below(2);
		for (size_t f = 0; f < fields; f++) {
			bool key = f == c->keys[side][0] || f == c->keys[side][1];

			if (f)
				put(&c->input[side], "|", 1);
			random_field(c, &c->input[side], key && below(40));
		}
		put(&c->input[side], "\n", 1);
	}
}

static void random_options(struct trial *c)
{
	struct sp_join_opts *o = &c->opts;
	static const uint64_t memory[] = { 512 << 10, 600 << 10, 1 << 20, 64 << 20 };

	*o = (struct sp_join_opts)SP_JOIN_OPTS_INIT;
	o->separator = "|";
	o->separator_bytes = 1;
	o->nkeys = below(4) ? 1 : 2;
	for (int side = 0; side < 2; side++) {
		c->keys[side][0] = below(3);
		c->keys[side][1] = o->nkeys == 2 ? (c->keys[side][0] + 1) % 3 : SIZE_MAX;
		o->keys[side] = c->keys[side];
		o->unpaired[side] = below(3) == 0;
	}
	o->semi = !o->unpaired[0] && !o->unpaired[1] && below(6) == 0;
	o->pairs = !o->semi && below(4);
	o->ignore_case = below(8) == 0;
	o->filler = below(3) ? NULL : below(4) ? "none" : "no\nne";
	o->ncolumns = below(3) ? 0 : 1 + below(4);
	for (size_t i = 0; i < o->ncolumns; i++)
		c->columns[i] = (struct sp_join_column){ (unsigned)below(3), below(FIELDS_MAX) };
	o->columns = c->columns;
	o->algorithm = (enum sp_join_algorithm[]){ SP_JOIN_HYBRID, SP_JOIN_HYBRID, SP_JOIN_GRACE,
						   SP_JOIN_NESTED, SP_JOIN_SHJ }[below(5)];
	o->direct = below(8) ? 0 : -1;
	o->build = (unsigned)below(3);
	o->ordered = below(2) ? 0 : 1 + (unsigned)below(2);
	o->memory_bytes = memory[below(4)];
	o->join_bytes = below(2) ? 256 << 10 : 0;
	o->page_bytes = o->join_bytes || below(2) ? 4096 : 0;
	o->seed = below(100);
	c->spread = (unsigned[]){ 5, 200, 3000 }[below(3)];
	c->length = (unsigned[]){ 4, 40, 400 }[below(3)];
	c->skewed = below(5) == 0;
	if (below(2))
		return;
	o->algorithm = SP_JOIN_AUTO;
	if (o->nkeys == 2 || o->ordered)
		return;
	o->sorted = below(2) ? SP_JOIN_SORTED_BYTES : SP_JOIN_SORTED_LENGTH;
	c->disorder = below(2) ? (unsigned)below(4) : 0;
}

/* The naive way. */

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

/* Sorting the inputs. */

static const struct trial *sorting;
static int sorting_side;

static int by_key(const void *a, const void *b)
{
	const struct cut *x = a, *y = b;
	size_t key = sorting->keys[sorting_side][0], n, m;
	const char *p, *q;
	int diff;

	field_of(x, key, &p, &n);
	field_of(y, key, &q, &m);
	if (sorting->opts.sorted == SP_JOIN_SORTED_LENGTH && n != m)
		return n < m ? -1 : 1;
	diff = sorting->opts.ignore_case ? strncasecmp(p, q, n < m ? n : m)
					 : memcmp(p, q, n < m ? n : m);
	return diff ? diff : (n > m) - (n < m);
}

static void sort_input(struct trial *c, int side)
{
	static struct cut cuts[LINES_MAX];
	struct text sorted = { 0 };
	size_t n = cut_all(&c->input[side], cuts);

	sorting = c;
	sorting_side = side;
	qsort(cuts, n, sizeof(*cuts), by_key);
	for (unsigned i = 0; n && i < c->disorder; i++) {
		size_t a = below(n), b = below(n);
		struct cut other = cuts[a];

		cuts[a] = cuts[b];
		cuts[b] = other;
	}
	for (size_t i = 0; i < n; i++)
		put(&sorted, cuts[i].line, strcspn(cuts[i].line, "\n") + 1);
	free(c->input[side].data);
	c->input[side] = sorted;
}

/* Running. */

static const char *path_of(const char *name)
{
	static char path[3][128];
	static int next;
	char *p = path[next++ % 3];

	snprintf(p, sizeof(path[0]), "%s/%s", dir, name);
	return p;
}

static void store(const char *path, const struct text *t)
{
	FILE *f = fopen(path, "w");

	if (!f || fwrite(t->data, 1, t->bytes, f) != t->bytes || fclose(f))
		abort();
}

static void load(const char *path, struct text *t)
{
	char buf[65536];
	FILE *f = fopen(path, "r");
	size_t n;

	if (!f)
		abort();
	while ((n = fread(buf, 1, sizeof(buf), f)) > 0)
		put(t, buf, n);
	fclose(f);
}

static bool same(struct text *got, struct text *want, bool ordered)
{
	char **g, **w;
	size_t n = cut_lines(got, &g, ordered), m = cut_lines(want, &w, ordered), i;

	for (i = 0; i < n && i < m && !strcmp(g[i], w[i]); i++)
		;
	if (n != m || i != n)
		diag("%zu lines, should be %zu; the first that differs: '%.60s', not '%.60s'", n, m,
		     i < n ? g[i] : "", i < m ? w[i] : "");
	free(g);
	free(w);
	return n == m && i == n;
}

static bool run_one(uint64_t number, struct sp_join_stats *stats)
{
	struct trial c = { .opts = SP_JOIN_OPTS_INIT };
	struct sp_errinfo err = SP_ERRINFO_INIT;
	struct text got = { 0 }, want = { 0 };
	const char *tmp = dir;
	struct sp_join_io io = { .inputs = { path_of("1"), path_of("2") },
				 .output = path_of("out"),
				 .output_fd = -1 };
	bool good;
	int rc;

	state = number * UINT64_C(0x9E3779B97F4A7C15);
	random_options(&c);
	for (int side = 0; side < 2; side++) {
		random_input(&c, side);
		put(&c.input[side], "", 1); /* a NUL behind the last line */
		c.input[side].bytes--;
		if (c.opts.sorted)
			sort_input(&c, side);
		store(io.inputs[side], &c.input[side]);
		put(&c.input[side], "", 1); /* a NUL behind the last line */
		c.input[side].bytes--;
	}
	c.opts.tmpdirs = &tmp;
	c.opts.ntmpdirs = 1;
	rc = sp_join_run(&c.opts, &io, stats, &err);
	if (rc)
		diag("%s: %s", err.op, err.text[0] ? err.text : sp_strerror(rc));
	else
		load(io.output, &got);
	naive(&c, &want);
	good = rc == 0 && same(&got, &want, c.opts.ordered);
	free(got.data);
	free(want.data);
	free(c.input[0].data);
	free(c.input[1].data);
	return good;
}

static uint64_t env(const char *name, uint64_t otherwise)
{
	const char *text = getenv(name);

	return text && *text ? strtoull(text, NULL, 10) : otherwise;
}

/* What became of the joins. */
struct tally {
	uint64_t bad, spilled, by[SP_JOIN_BY_MERGING + 1], merged, given_up;
};

static void note(struct tally *t, const struct sp_join_stats *st)
{
	bool began = st->merged_records[0] + st->merged_records[1] > 0;

	t->spilled += st->spill_write_bytes > 0;
	t->by[st->ordered_by]++;
	t->merged += st->algorithm == SP_JOIN_MERGE;
	t->given_up += st->algorithm == SP_JOIN_HYBRID && began;
}

int main(void)
{
	uint64_t seed = env("SEED", 1), count = env("COUNT", 150);
	const char *tmp = getenv("TMPDIR");
	struct sp_join_stats stats;
	struct tally t = { 0 };

	snprintf(dir, sizeof(dir), "%.40s/diffjoin.XXXXXX", tmp ? tmp : "/tmp");
	if (!mkdtemp(dir))
		abort();
	for (uint64_t i = 0; i < count; i++) {
		if (!run_one(seed * 1000000 + i, &stats)) {
			diag("SEED=%llu, number %llu", (unsigned long long)seed,
			     (unsigned long long)i);
			t.bad++;
		}
		note(&t, &stats);
	}
	ok(t.bad == 0, "%llu random joins give what nested loops give", (unsigned long long)count);
	ok(t.spilled > count / 20, "many of them used temporary space (%llu)",
	   (unsigned long long)t.spilled);
	ok(t.by[SP_JOIN_BY_PROBING] > count / 20 && t.by[SP_JOIN_BY_SORTING] > count / 20,
	   "ordered results came by probing (%llu) and by sorting (%llu)",
	   (unsigned long long)t.by[SP_JOIN_BY_PROBING],
	   (unsigned long long)t.by[SP_JOIN_BY_SORTING]);
	ok(t.merged > count / 40 && t.given_up > count / 100,
	   "sorted files were merged to the end (%llu), or to some disorder (%llu)",
	   (unsigned long long)t.merged, (unsigned long long)t.given_up);
	unlink(path_of("1"));
	unlink(path_of("2"));
	unlink(path_of("out"));
	rmdir(dir);
	return done();
}
