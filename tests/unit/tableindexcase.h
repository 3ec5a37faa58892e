/* SPDX-License-Identifier: MIT */
/*
 * Tables of one random column with an index, for tests of indexes: gets and scans through it,
 * against a loop over the values.  CASE_NAME: of the files, defined before.
 */
#ifndef TABLEINDEXCASE_H
#define TABLEINDEXCASE_H

#include <stdio.h>
#include <unistd.h>
#include <spindle/index.h>
#include <spindle/table.h>
#include "base/minmax.h"
#include "base/rng.h"
#include "indexwraps.h"
#include "table/index/columnkey.h"
#include "tap.h"

#define RECORDS_MAX 6000
#define KEYS 300
#define VALUE 2600

/* Names that no other test uses: tests run at the same time in one folder. */
static const char path[] = CASE_NAME ".tmp", index_path[] = CASE_NAME ".tmp.c1.index",
		  input[] = CASE_NAME ".in.tmp";
static const char *const types[] = { "i8",	"u8",	"i16",	    "i32",	"u32",	 "i64",
				     "u64",	"f32",	"f64",	    "dec16(1)", "date",	 "time(3)",
				     "char(5)", "text", "dec64(2)", "dict8",	"dict16" };
#define TYPES (sizeof(types) / sizeof(*types))

__attribute__((unused)) static struct sp__rng rng = { 17 };

static inline uint64_t below(uint64_t n)
{
	return sp__rng_below(&rng, n);
}

/* The truth: the value of column c1 of each record, as text; "": NULL. */
__attribute__((unused)) static char *values[RECORDS_MAX];
__attribute__((unused)) static bool deleted[RECORDS_MAX];
__attribute__((unused)) static uint64_t records;

/* Draws a value of a type in some spelling; different: about how many there are. */
static inline void draw(const char *type, unsigned different, unsigned text_max, char text[VALUE])
{
	const unsigned v = (unsigned)below(different);
	const int sign = v % 2 ? -1 : 1;

	if (type[0] == 't' && type[1] == 'e') {
		size_t n = v % text_max;

		memset(text, 'a' + (int)(v % 5), n);
		snprintf(text + n, VALUE - n, "%u", v);
	} else if (type[0] == 'u') {
		snprintf(text, VALUE, "%u", type[1] == '8' ? v % 200 : v);
	} else if (type[0] == 'i') {
		snprintf(text, VALUE, "%d", type[1] == '8' ? sign * (int)(v % 127) : sign * (int)v);
	} else if (type[0] == 'f') {
		snprintf(text, VALUE, v % 50 ? "%g" : "-0", sign * (double)v / 8);
	} else if (!strncmp(type, "dec", 3)) {
		snprintf(text, VALUE, "%s%u.%u", sign < 0 ? "-" : "", v % 3000, v % 9 + 1);
	} else if (!strcmp(type, "date")) {
		snprintf(text, VALUE, "%u-%02u-%02u", 1950 + v % 99, v % 12 + 1, v % 28 + 1);
	} else if (type[0] == 't') {
		snprintf(text, VALUE, "%u-01-%02u 10:00:%02u.%03u", 1960 + v % 99, v % 28 + 1,
			 v % 60, v % 1000);
	} else {
		snprintf(text, VALUE, "%c%u", 'a' + v % 26, v % 100);
	}
}

/* Writes n records, the first with this number. */
static inline void write_input(const char *type, uint64_t first, uint64_t n, unsigned different,
			       unsigned text_max)
{
	FILE *f = fopen(input, "w");
	char text[VALUE];

	if (!f)
		abort();
	for (uint64_t r = first; r < first + n; r++) {
		draw(type, different, text_max, text);
		fprintf(f, "%s\t%llu\n", below(12) ? text : "", (unsigned long long)r);
	}
	fclose(f);
}

__attribute__((unused)) static uint64_t memory = 32 << 20;

static inline struct sp_run_opts run_opts(void)
{
	static const char *const tmp[] = { "." };
	struct sp_run_opts run = SP_RUN_OPTS_INIT;

	run.memory_bytes = memory;
	run.tmpdirs = tmp;
	run.ntmpdirs = 1;
	run.parallel = 1;
	run.engine = "sync";
	return run;
}

static inline int load(const char *type, enum sp_table_layout layout)
{
	struct sp_table_load_opts o = SP_TABLE_LOAD_OPTS_INIT;
	const char *const inputs[] = { input };
	char columns[64];

	snprintf(columns, sizeof(columns), "c1:%s,c2:u32", type);
	o.run = run_opts();
	o.layout = layout;
	o.types = columns;
	return sp_table_load(path, inputs, 1, &o, NULL, NULL);
}

static inline struct sp_table *open_table(bool write)
{
	struct sp_table_opts o = { .run = run_opts(), .write = write };
	struct sp_table *t = NULL;

	return sp_table_open(&t, path, &o, NULL) ? NULL : t;
}

/* Takes the lines of a scan as values of records that exist. */
static inline int take_lines(void *arg, const char *data, size_t bytes)
{
	uint64_t *r = arg;

	for (const char *end = data + bytes, *p = data; p < end; p++) {
		const char *e = memchr(p, '\n', (size_t)(end - p));

		while (*r < RECORDS_MAX && deleted[*r])
			++*r;
		free(values[*r]);
		values[(*r)++] = strndup(p, (size_t)(e - p));
		p = e;
	}
	return 0;
}

/* Reads the truth. */
static inline bool read_values(struct sp_table *t)
{
	struct sp_table_query q = SP_TABLE_QUERY_INIT;
	uint64_t r = 0;
	int rc;

	q.columns = "c1";
	rc = sp_table_scan(t, &q, take_lines, &r, NULL, NULL);
	while (r < RECORDS_MAX && deleted[r])
		r++;
	records = r;
	return !rc;
}

struct texts {
	char *list[KEYS];
	unsigned n, next;
};

static inline int next_key(void *arg, const char **key, size_t *bytes)
{
	struct texts *k = arg;

	if (k->next == k->n)
		return 0;
	*key = k->list[k->next++];
	*bytes = strlen(*key);
	return 1;
}

static inline int append_text(void *arg, const char *data, size_t bytes)
{
	int rc;

	spared = true; /* the test has memory */
	rc = sp__bytes_append(arg, data, bytes, NULL);
	spared = false;
	return rc;
}

static inline int append_line(void *arg, const char *data, size_t bytes)
{
	int rc = append_text(arg, data, bytes);

	return rc ? rc : append_text(arg, "\n", 1);
}

static inline void draw_keys(struct texts *k, unsigned n)
{
	static const char *const odd[] = { "",	    "x",	  "99999999999999999999999",
					   "-1.25", "1e2",	  "1.50",
					   " 7 ",   "2026-02-30", "a1" };

	k->n = n;
	for (unsigned i = 0; i < n; i++)
		k->list[i] = strdup(below(5) ? values[below(records)]
					     : odd[below(sizeof(odd) / sizeof(*odd))]);
}

static inline void free_keys(struct texts *k)
{
	for (unsigned i = 0; i < k->n; i++)
		free(k->list[i]);
}

/* What the keys give: the number of an equal value as `type` prints the key. */
static inline unsigned naive(const char *type, const struct texts *k, struct sp__bytes *want,
			     struct sp__bytes *absent)
{
	struct sp__value_type t;
	unsigned found = 0;
	char line[32];

	if (sp__value_type_parse(&t, type, strlen(type)))
		abort();
	for (unsigned i = 0; i < k->n; i++) {
		char value[64] = { 0 }, canonical[VALUE];
		bool any = false, possible = true;

		snprintf(canonical, sizeof(canonical), "%s", k->list[i]);
		if (t.kind != 't' && t.kind != 'w') {
			possible = sp__value_read(&t, canonical, strlen(canonical), value) ==
				   SP__VALUE_OK;
			if (possible)
				canonical[sp__value_write(&t, value, canonical)] = 0;
		}
		if (t.kind == 'f' && !strcmp(canonical, "-0"))
			strcpy(canonical, "0");
		for (uint64_t r = 0; possible && *canonical && r < records; r++) {
			const char *v = t.kind == 'f' && !strcmp(values[r], "-0") ? "0" : values[r];

			if (deleted[r] || strcmp(v, canonical) != 0)
				continue;
			any = true;
			(void)!append_text(want, line,
					   (size_t)snprintf(line, sizeof(line), "%llu\n",
							    (unsigned long long)r));
		}
		found += any;
		if (!any)
			(void)!append_line(absent, k->list[i], strlen(k->list[i]));
	}
	return found;
}

static inline bool same_bytes(const struct sp__bytes *a, const struct sp__bytes *b)
{
	return a->bytes == b->bytes && (!a->bytes || !memcmp(a->data, b->data, a->bytes));
}

/* Gets by keys.  Returns its result; *right: it is that of the loop, if 0. */
static inline int get(struct sp_table *t, const char *type, struct texts *k, bool *right,
		      bool *failed, struct sp_errinfo *err)
{
	struct sp__bytes got = { 0 }, absent = { 0 }, want = { 0 }, not_there = { 0 };
	struct sp_table_get g = SP_TABLE_GET_INIT;
	struct sp_table_stats stats = { 0 };
	unsigned found;
	int rc;

	k->next = 0;
	g.by = "c1";
	g.columns = "c2";
	g.keys = next_key;
	g.keys_arg = k;
	g.absent = append_line;
	g.absent_arg = &absent;
	rc = sp_table_get(t, &g, append_text, &got, &stats, err);
	*failed = calm();
	found = naive(type, k, &want, &not_there);
	*right = same_bytes(&got, &want) && same_bytes(&absent, &not_there) && stats.keys == k->n &&
		 stats.keys_found == found;
	if (!rc && !*right)
		diag("%s: got %zu bytes, want %zu; absent %zu, want %zu; keys found %llu, want %u",
		     type, got.bytes, want.bytes, absent.bytes, not_there.bytes,
		     (unsigned long long)stats.keys_found, found);
	sp__bytes_release(&got, NULL);
	sp__bytes_release(&absent, NULL);
	sp__bytes_release(&want, NULL);
	sp__bytes_release(&not_there, NULL);
	return rc;
}

static inline bool finds(const char *type)
{
	struct sp_table *t = open_table(false);
	struct sp_errinfo err = SP_ERRINFO_INIT;
	struct texts keys = { 0 };
	bool right = false, failed;
	int rc = 1;

	if (t && read_values(t)) {
		draw_keys(&keys, (unsigned)below(KEYS));
		rc = get(t, type, &keys, &right, &failed, &err);
	}
	if (rc)
		diag("%s: %d %s", type, rc, err.text);
	free_keys(&keys);
	return !sp_table_close(t) && !rc && right;
}

/* Runs a query. */
static inline int scan(struct sp_table *t, struct sp_table_query *q, enum sp_table_access access,
		       struct sp__bytes *got, struct sp_errinfo *err)
{
	struct sp_table_stats stats;

	q->access = access;
	return sp_table_scan(t, q, append_text, got, &stats, err);
}

/* True for a type that ^= is for. */
static inline bool is_text(const char *type)
{
	return !strcmp(type, "text") || !strncmp(type, "char", 4) || !strncmp(type, "dict", 4);
}

/* Draws a literal of a value of c1, or another one. */
static inline void draw_literal(const char *type, char literal[80])
{
	const bool day = !strcmp(type, "date") || !strncmp(type, "time", 4);
	const bool quoted = day || is_text(type);
	static const char *const odd[] = { "1e3", "-128", "-0", "1e999", "-1e999" };
	const char *value = values[below(records)];

	snprintf(literal, 80, quoted ? "'%.70s'" : "%.70s",
		 *value	  ? value
		 : day	  ? "2000-01-01"
		 : quoted ? ""
			  : odd[below(sizeof(odd) / sizeof(*odd))]);
}

/* Draws a predicate that is a range of c1. */
static inline void draw_range(const char *type, char where[200])
{
	static const char *const operators[] = { ">=", ">", "<", "<=", "=" };
	char a[80], b[80];
	unsigned bytes;

	draw_literal(type, a);
	draw_literal(type, b);
	bytes = (unsigned)strlen(a);
	if (is_text(type) && below(3) == 0)
		snprintf(where, 200, "c1 ^= %.*s'", 1 + (int)below(bytes - 1), a);
	else if (below(2))
		snprintf(where, 200, "c1 %s %s and c1 %s %s", below(2) ? ">=" : ">", a,
			 below(2) ? "<=" : "<", b);
	else
		snprintf(where, 200, "c1 %s %s", operators[below(5)], a);
}

/* True if a scan through the index gives what a scan of all records gives. */
static inline bool scans(const char *type)
{
	struct sp_table *t = open_table(false);
	struct sp_errinfo err = SP_ERRINFO_INIT;
	bool good = t && read_values(t);

	for (unsigned i = 0; good && i < 8; i++) {
		struct sp_table_query q = SP_TABLE_QUERY_INIT;
		struct sp__bytes want = { 0 }, got = { 0 };
		char where[200];
		int rc;

		draw_range(type, where);
		q.where = where;
		if (below(2))
			q.columns = "c2";
		if (below(3) == 0)
			q.agg = below(2) ? "sum(c2),count()" : "count()";
		if (below(3) == 0)
			q.lo = below(records);
		if (below(3) == 0)
			q.hi = below(records) + q.lo;
		if (below(3) == 0)
			q.limit = below(40);
		rc = scan(t, &q, SP_TABLE_S_SCAN, &want, &err);
		if (!rc)
			rc = scan(t, &q, below(2) ? SP_TABLE_BY_INDEX : SP_TABLE_ACCESS_AUTO, &got,
				  &err);
		good = !rc && same_bytes(&want, &got);
		if (!good)
			diag("%s: %s: %d %s: got %zu bytes, want %zu", type, where, rc, err.text,
			     got.bytes, want.bytes);
		sp__bytes_release(&want, NULL);
		sp__bytes_release(&got, NULL);
	}
	return !sp_table_close(t) && good;
}

static inline bool make_index(const char *column)
{
	struct sp_errinfo err = SP_ERRINFO_INIT;
	struct sp_table *t;
	int rc;

	memory = 4 << 20; /* some sorts have temporary data */
	t = open_table(false);
	memory = 32 << 20;
	rc = t ? sp_table_index(t, column, NULL, NULL, &err) : 1;

	if (rc)
		diag("index: %d %s", rc, err.text);
	return !sp_table_close(t) && !rc;
}

/* Deletes records with a probability of 1 in 5. */
static inline bool delete_some(void)
{
	struct sp_table *t = open_table(true);
	struct sp_table_choice choice = { .keys = next_key };
	struct texts *k = calloc(1, sizeof(*k));
	char text[24];
	int rc;

	for (uint64_t r = 0; r < records && k->n < KEYS; r++) {
		if (below(5))
			continue;
		deleted[r] = true;
		snprintf(text, sizeof(text), "%llu", (unsigned long long)r);
		k->list[k->n++] = strdup(text);
	}
	choice.keys_arg = k;
	rc = sp_table_delete(t, &choice, NULL, NULL);
	free_keys(k);
	free(k);
	return !sp_table_close(t) && !rc;
}

static inline bool append_some(const char *type, unsigned different, unsigned text_max)
{
	const char *const inputs[] = { input };
	struct sp_table *t = open_table(true);
	int rc;

	write_input(type, records, 1 + below(400), different, text_max);
	rc = t ? sp_table_append(t, inputs, 1, NULL, NULL) : 1;
	return !sp_table_close(t) && !rc;
}

static inline bool try(const char *type, enum sp_table_layout layout)
{
	const unsigned different = type[0] == 'd' && type[1] == 'i' ? 200 : below(2) ? 20 : 4000;
	const unsigned text_max = below(3) ? 40 : 2500;

	memset(deleted, 0, sizeof(deleted));
	write_input(type, 0, below(10) ? below(3000) + 20 : 20, different, text_max);
	return !load(type, layout) && make_index("c1") && finds(type) &&
	       append_some(type, different, text_max) && finds(type) && delete_some() &&
	       finds(type) && append_some(type, different, text_max) && finds(type) &&
	       make_index("c1") && finds(type);
}

/* Ranges of a column, after each change. */
static inline bool try_ranges(const char *type, enum sp_table_layout layout)
{
	const bool words = type[0] == 'd' && type[1] == 'i';
	const unsigned different = below(2) ? 30 : words ? 200 : 4000;
	const unsigned text_max = below(3) ? 40 : 2500;

	memset(deleted, 0, sizeof(deleted));
	write_input(type, 0, below(3000) + 20, different, text_max);
	return !load(type, layout) && make_index("c1") && scans(type) &&
	       append_some(type, different, text_max) && scans(type) && delete_some() &&
	       scans(type);
}

/* A table whose column c1 has this type, with its index. */
static inline bool make(const char *type, uint64_t n)
{
	memset(deleted, 0, sizeof(deleted));
	write_input(type, 0, n, 100, 30);
	return !load(type, SP_TABLE_CSM) && make_index("c1");
}

#endif
