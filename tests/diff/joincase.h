/* SPDX-License-Identifier: MIT */
/*
 * One join: what its settings are drawn from, its options, and its inputs.
 */
#ifndef DIFF_JOINCASE_H
#define DIFF_JOINCASE_H

#include "naivejoin.h"
#include "pairs.h"

#define LARGE_MAX 5

enum {
	SOURCE,
	LARGE,
	PARALLEL,
	ALGORITHM,
	SORTED_BY,
	TYPE,
	KEYS,
	FOLD,
	FILLER,
	COLUMNS,
	ORDERED,
	BUILD,
	MEMORY,
	JOIN_MEMORY,
	PAGE,
	ENGINE,
	DIRECT,
	SPREAD,
	LENGTH,
	SKEW,
};

static const struct pairs_factor factors[] = {
	{ "source", { "files", "pipe" } },
	{ "large", { "none", "first", "last", "several", "keys" } }, /* S/32 to S/2 */
	{ "parallel", { "1", "2", "3", "5", "8", "16", "64" } },
	/* "sorted" and "nearly" twice: of their cases few have all that a merge takes. */
	{ "algorithm",
	  { "hybrid", "grace", "nested", "shj", "auto", "sorted", "sorted", "nearly", "nearly",
	    "inl", "async-inl" } },
	{ "sorted by", { "bytes", "length" } },
	{ "type", { "inner", "left", "right", "full", "semi", "anti 1", "anti 2" } },
	{ "keys", { "one", "two" } },
	{ "fold", { "no", "yes" } },
	{ "filler", { "none", "word", "newline" } },
	{ "columns", { "default", "some" } },
	{ "ordered", { "no", "1", "2" } },
	{ "build", { "auto", "1", "2" } },
	{ "memory", { "512K", "1M", "12M", "64M" } },
	{ "join-memory", { "default", "256K" } },
	{ "page", { "default", "4K" } },
	{ "engine", { "default", "io_uring", "libaio", "sync" } },
	{ "direct", { "auto", "never" } },
	{ "spread", { "5", "200", "3000" } }, /* of the keys */
	{ "length", { "4", "40", "400" } },   /* of fields that are not keys */
	{ "skew", { "no", "yes" } },
	{ 0 },
};

static const struct pairs_excluded excluded[] = {
	/* Files in order, or nearly so, are not merged into the order of one. */
	{ "algorithm=sorted", "ordered=1" },
	{ "algorithm=sorted", "ordered=2" },
	{ "algorithm=nearly", "ordered=1" },
	{ "algorithm=nearly", "ordered=2" },
	/* An index of file 2 finds no lines of it alone and not its order, and has no long keys. */
	{ "algorithm=inl", "type=right" },
	{ "algorithm=inl", "type=full" },
	{ "algorithm=inl", "type=anti 2" },
	{ "algorithm=inl", "ordered=2" },
	{ "algorithm=inl", "large=keys" },
	{ "algorithm=async-inl", "type=right" },
	{ "algorithm=async-inl", "type=full" },
	{ "algorithm=async-inl", "type=anti 2" },
	{ "algorithm=async-inl", "ordered=2" },
	{ "algorithm=async-inl", "large=keys" },
	/* Pages as the planner has them do not go into so little. */
	{ "join-memory=256K", "page=default" },
	{ 0 },
};

static struct pairs pairs;
static struct pairs_case pick;
static uint64_t state;

static uint64_t below(uint64_t n)
{
	state = state * UINT64_C(6364136223846793005) + 1442695040888963407u;
	return (state >> 33) % n;
}

/* Choosing. */

static bool is(unsigned factor, const char *value)
{
	return !strcmp(pairs_value(&pairs, &pick, factor), value);
}

/* A size, such as 600K; 0 for a word. */
static size_t size_of(unsigned factor)
{
	char *end;
	size_t n = strtoul(pairs_value(&pairs, &pick, factor), &end, 10);

	return n << (*end == 'M' ? 20 : *end == 'K' ? 10 : 0);
}

static void choose_type(struct sp_join_opts *o)
{
	o->semi = is(TYPE, "semi");
	o->pairs = !o->semi && !is(TYPE, "anti 1") && !is(TYPE, "anti 2");
	o->unpaired[0] = is(TYPE, "left") || is(TYPE, "full") || is(TYPE, "anti 1");
	o->unpaired[1] = is(TYPE, "right") || is(TYPE, "full") || is(TYPE, "anti 2");
}

static void choose_options(struct trial *c)
{
	static const enum sp_join_algorithm algorithms[] = {
		SP_JOIN_HYBRID, SP_JOIN_GRACE, SP_JOIN_NESTED,	 SP_JOIN_SHJ,
		SP_JOIN_AUTO,	SP_JOIN_AUTO,  SP_JOIN_AUTO,	 SP_JOIN_AUTO,
		SP_JOIN_AUTO,	SP_JOIN_INL,   SP_JOIN_ASYNC_INL
	};
	struct sp_join_opts *o = &c->opts;

	*o = (struct sp_join_opts)SP_JOIN_OPTS_INIT;
	o->separator = "|";
	o->separator_bytes = 1;
	o->nkeys = is(KEYS, "one") ? 1 : 2;
	for (int side = 0; side < 2; side++) {
		c->keys[side][0] = below(3);
		c->keys[side][1] = o->nkeys == 2 ? (c->keys[side][0] + 1) % 3 : SIZE_MAX;
		o->keys[side] = c->keys[side];
	}
	choose_type(o);
	o->ignore_case = is(FOLD, "yes");
	o->filler = is(FILLER, "none") ? NULL : is(FILLER, "word") ? "none" : "no\nne";
	o->ncolumns = is(COLUMNS, "default") ? 0 : 1 + below(4);
	for (size_t i = 0; i < o->ncolumns; i++) {
		c->columns[i].file = (unsigned)below(3);
		c->columns[i].field = below(FIELDS_MAX);
	}
	o->columns = c->columns;
	o->algorithm = algorithms[pick.value[ALGORITHM]];
	if (is(ALGORITHM, "sorted") || is(ALGORITHM, "nearly"))
		o->sorted = is(SORTED_BY, "bytes") ? SP_JOIN_SORTED_BYTES : SP_JOIN_SORTED_LENGTH;
	o->run.direct = is(DIRECT, "auto") ? -1 : 0;
	o->build = pick.value[BUILD];
	o->ordered = pick.value[ORDERED];
	o->run.parallel = (unsigned)size_of(PARALLEL);
	o->run.engine = is(ENGINE, "default") ? NULL : pairs_value(&pairs, &pick, ENGINE);
	o->run.memory_bytes = size_of(MEMORY);
	o->join_bytes = size_of(JOIN_MEMORY);
	o->run.page_bytes = (uint32_t)size_of(PAGE);
	o->run.seed = below(100);
}

/* The inputs. */

/* Some have equal lengths, so that there are equal ones; `bytes` may be 0. */
static void put_long(struct text *t, char letter, size_t bytes)
{
	char buf[4096];

	memset(buf, letter, sizeof(buf));
	for (; bytes; bytes -= bytes < sizeof(buf) ? bytes : sizeof(buf))
		put(t, buf, bytes < sizeof(buf) ? bytes : sizeof(buf));
}

static void random_field(struct text *t, bool key)
{
	char buf[32];

	if (key && is(SKEW, "yes") && below(3) == 0)
		put(t, "7", 1);
	else if (key)
		put(t, buf,
		    (size_t)snprintf(buf, sizeof(buf), "%u", (unsigned)below(size_of(SPREAD))));
	else if (below(8))
		put_long(t, (char)('a' + below(3)), below(size_of(LENGTH)));
}

/*
 * A record of S/32 to S/2, whose key few others have, for pairs of them are long.
 * Long keys are drawn from a few.
 */
static void large_record(const struct trial *c, struct text *t, int side)
{
	const size_t max = c->opts.run.memory_bytes < 1 << 20 ? c->opts.run.memory_bytes : 1 << 20;
	const bool in_key = is(LARGE, "keys");
	char buf[32];

	for (size_t f = 0; f < 4; f++) {
		if (f)
			put(t, "|", 1);
		if (f != c->keys[side][0] && f != c->keys[side][1]) {
			put_long(t, 'L', f == 3 && !in_key ? max / (2 + below(31)) : 3);
			continue;
		}
		put(t, buf, (size_t)snprintf(buf, sizeof(buf), "L%u", (unsigned)below(4)));
		put_long(t, 'K', in_key ? max / (2u << below(5)) : 0);
	}
	put(t, "\n", 1);
}

static void random_record(const struct trial *c, struct text *t, int side)
{
	size_t fields = below(12) ? 2 + below(FIELDS_MAX - 1) : below(2);

	for (size_t f = 0; f < fields; f++) {
		bool key = f == c->keys[side][0] || f == c->keys[side][1];

		if (f)
			put(t, "|", 1);
		random_field(t, key && below(40));
	}
	put(t, "\n", 1);
}

/* With a NUL after the last line. */
static void end_text(struct text *t)
{
	put(t, "", 1);
	t->bytes--;
}

static void random_input(struct trial *c, int side)
{
	size_t lines = below(6) ? below(LINES_MAX / 4) : below(LINES_MAX - LARGE_MAX);
	size_t large = is(LARGE, "none")			   ? 0
		       : is(LARGE, "several") || is(LARGE, "keys") ? 2 + below(LARGE_MAX - 1)
								   : 1;
	size_t first = is(LARGE, "first") ? 0 : is(LARGE, "last") ? lines : below(lines + 1);

	for (size_t i = 0; i <= lines; i++) {
		for (; large && i >= first;
		     first = large > 1 ? i + below(lines - i + 1) : i, large--)
			large_record(c, &c->input[side], side);
		if (i < lines)
			random_record(c, &c->input[side], side);
	}
	end_text(&c->input[side]);
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
	unsigned disorder = is(ALGORITHM, "nearly") ? 1 + (unsigned)below(3) : 0;
	static struct cut cuts[LINES_MAX];
	struct text sorted = { 0 };
	size_t n = cut_all(&c->input[side], cuts);

	sorting = c;
	sorting_side = side;
	qsort(cuts, n, sizeof(*cuts), by_key);
	for (unsigned i = 0; n && i < disorder; i++) {
		size_t a = below(n), b = below(n);
		struct cut other = cuts[a];

		cuts[a] = cuts[b];
		cuts[b] = other;
	}
	for (size_t i = 0; i < n; i++)
		put(&sorted, cuts[i].line, strcspn(cuts[i].line, "\n") + 1);
	end_text(&sorted);
	free(c->input[side].data);
	c->input[side] = sorted;
}

#endif
