/* SPDX-License-Identifier: MIT */
/*
 * Indexes of columns: gets by key against a loop over all values, for each type and layout, with
 * duplicates, NULLs, appended and deleted records; scans of ranges against scans of all records; order of keys; indexes that must be refused;
 * damaged ones; each read, write and allocation fails, one at a time.
 */
#define TAP_THREADS
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

static const char path[] = "t.tmp", index_path[] = "t.tmp.c1.index", input[] = "in.tmp";
static const char *const types[] = { "i8",	"u8",	"i16",	    "i32",	"u32",	 "i64",
				     "u64",	"f32",	"f64",	    "dec16(1)", "date",	 "time(3)",
				     "char(5)", "text", "dec64(2)", "dict8",	"dict16" };
#define TYPES (sizeof(types) / sizeof(*types))

static struct sp__rng rng = { 17 };

static uint64_t below(uint64_t n)
{
	return sp__rng_below(&rng, n);
}

/* The truth: the value of column c1 of each record, as text; "": NULL. */
static char *values[RECORDS_MAX];
static bool deleted[RECORDS_MAX];
static uint64_t records;

/* Draws a value of a type in some spelling; different: about how many there are. */
static void draw(const char *type, unsigned different, unsigned text_max, char text[VALUE])
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
static void write_input(const char *type, uint64_t first, uint64_t n, unsigned different,
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

static uint64_t memory = 32 << 20;

static struct sp_run_opts run_opts(void)
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

static int load(const char *type, enum sp_table_layout layout)
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

static struct sp_table *open_table(bool write)
{
	struct sp_table_opts o = { .run = run_opts(), .write = write };
	struct sp_table *t = NULL;

	return sp_table_open(&t, path, &o, NULL) ? NULL : t;
}

/* Takes the lines of a scan as values of records that exist. */
static int take_lines(void *arg, const char *data, size_t bytes)
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
static bool read_values(struct sp_table *t)
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

static int next_key(void *arg, const char **key, size_t *bytes)
{
	struct texts *k = arg;

	if (k->next == k->n)
		return 0;
	*key = k->list[k->next++];
	*bytes = strlen(*key);
	return 1;
}

static int append_text(void *arg, const char *data, size_t bytes)
{
	int rc;

	spared = true; /* the test has memory */
	rc = sp__bytes_append(arg, data, bytes, NULL);
	spared = false;
	return rc;
}

static int append_line(void *arg, const char *data, size_t bytes)
{
	int rc = append_text(arg, data, bytes);

	return rc ? rc : append_text(arg, "\n", 1);
}

static void draw_keys(struct texts *k, unsigned n)
{
	static const char *const odd[] = { "",	    "x",	  "99999999999999999999999",
					   "-1.25", "1e2",	  "1.50",
					   " 7 ",   "2026-02-30", "a1" };

	k->n = n;
	for (unsigned i = 0; i < n; i++)
		k->list[i] = strdup(below(5) ? values[below(records)]
					     : odd[below(sizeof(odd) / sizeof(*odd))]);
}

static void free_keys(struct texts *k)
{
	for (unsigned i = 0; i < k->n; i++)
		free(k->list[i]);
}

/* What the keys give: the number of an equal value as `type` prints the key. */
static unsigned naive(const char *type, const struct texts *k, struct sp__bytes *want,
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

static bool same_bytes(const struct sp__bytes *a, const struct sp__bytes *b)
{
	return a->bytes == b->bytes && (!a->bytes || !memcmp(a->data, b->data, a->bytes));
}

/* Gets by keys.  Returns its result; *right: it is that of the loop, if 0. */
static int get(struct sp_table *t, const char *type, struct texts *k, bool *right, bool *failed,
	       struct sp_errinfo *err)
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

static bool finds(const char *type)
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
static int scan(struct sp_table *t, struct sp_table_query *q, enum sp_table_access access,
		struct sp__bytes *got, struct sp_errinfo *err)
{
	struct sp_table_stats stats;

	q->access = access;
	return sp_table_scan(t, q, append_text, got, &stats, err);
}

/* Draws a literal of a value of c1. */
static void draw_literal(const char *type, char literal[80])
{
	const bool quoted = !strcmp(type, "date") || !strncmp(type, "time", 4);
	const char *value = values[below(records)];

	snprintf(literal, 80, quoted ? "'%.70s'" : "%.70s",
		 *value	  ? value
		 : quoted ? "2000-01-01"
			  : "1e3");
}

/* Draws a predicate that is a range of c1. */
static void draw_range(const char *type, char where[200])
{
	static const char *const operators[] = { ">=", ">", "<", "<=", "=" };
	char a[80], b[80];

	draw_literal(type, a);
	draw_literal(type, b);
	if (below(2))
		snprintf(where, 200, "c1 >= %s and c1 %s %s", a, below(2) ? "<=" : "<", b);
	else
		snprintf(where, 200, "c1 %s %s", operators[below(5)], a);
}

/* True if a scan through the index gives what a scan of all records gives. */
static bool scans(const char *type)
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
			rc = scan(t, &q, SP_TABLE_BY_INDEX, &got, &err);
		good = !rc && same_bytes(&want, &got);
		if (!good)
			diag("%s: %s: %d %s: got %zu bytes, want %zu", type, where, rc, err.text,
			     got.bytes, want.bytes);
		sp__bytes_release(&want, NULL);
		sp__bytes_release(&got, NULL);
	}
	return !sp_table_close(t) && good;
}

static bool make_index(const char *column)
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
static bool delete_some(void)
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

static bool append_some(const char *type, unsigned different, unsigned text_max)
{
	const char *const inputs[] = { input };
	struct sp_table *t = open_table(true);
	int rc;

	write_input(type, records, 1 + below(400), different, text_max);
	rc = t ? sp_table_append(t, inputs, 1, NULL, NULL) : 1;
	return !sp_table_close(t) && !rc;
}

static bool try(const char *type, enum sp_table_layout layout)
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
static bool try_ranges(const char *type, enum sp_table_layout layout)
{
	const unsigned different = below(2) ? 30 : 4000;

	memset(deleted, 0, sizeof(deleted));
	write_input(type, 0, below(3000) + 20, different, 1);
	return !load(type, layout) && make_index("c1") && scans(type) &&
	       append_some(type, different, 1) && scans(type) && delete_some() && scans(type);
}

static void test_scans(void)
{
	static const char *const numbers[] = { "i8",	   "u8",   "i32",     "u64",
					       "dec16(1)", "date", "time(3)", "dec64(2)" };

	for (unsigned layout = 0; layout < 4; layout++) {
		bool good = true;

		for (unsigned i = 0; good && i < sizeof(numbers) / sizeof(*numbers); i++)
			good = try_ranges(numbers[i], (enum sp_table_layout)layout);
		ok(good, "layout %u: scans through an index are those of all records", layout);
	}
}

static void test_finds(void)
{
	for (unsigned layout = 0; layout < 4; layout++) {
		bool good = true;

		for (unsigned i = 0; good && i < TYPES; i++)
			good = try(types[i], (enum sp_table_layout)layout);
		ok(good, "layout %u: gets by key are those of a loop over all values", layout);
	}
}

/* Order of keys. */
static bool ordered(const struct sp__table_column *c, const uint8_t *a, const uint8_t *b)
{
	uint8_t space[2][SP__COLUMNKEY_SPACE];
	struct sp__slice k = sp__columnkey(c, &(struct sp__vector){ .data = a }, 0, space[0]);
	struct sp__slice l = sp__columnkey(c, &(struct sp__vector){ .data = b }, 0, space[1]);
	int order, want;

	if (sp__value_null(&c->type, a) || sp__value_null(&c->type, b))
		return !k.p == sp__value_null(&c->type, a) && !l.p == sp__value_null(&c->type, b);
	order = memcmp(k.p, l.p, sp__min(k.n, l.n));
	order = order ? order : SP__ORDER(k.n, l.n);
	want = sp__value_compare(&c->type, a, b);
	return SP__ORDER(order, 0) == SP__ORDER(want, 0);
}

static void test_order(void)
{
	static const uint8_t bytes[] = { 0, 1, 0x7F, 0x80, 0xF0, 0xFF, 0xC0, 'a' };
	bool good = true;

	for (unsigned i = 0; i < TYPES; i++) {
		struct sp__table_column c = { 0 };
		uint8_t v[2][8] = { 0 };

		if (sp__value_type_parse(&c.type, types[i], strlen(types[i])))
			abort();
		for (unsigned n = 0; good && c.type.kind != 't' && c.type.kind != 'w' && n < 30000;
		     n++) {
			for (uint32_t k = 0; k < 2 * c.type.bytes; k++)
				v[k & 1][k / 2] = below(3) ? bytes[below(sizeof(bytes))]
							   : (uint8_t)below(256);
			if (below(4) == 0)
				memcpy(v[1], v[0], c.type.bytes - below(2));
			good = ordered(&c, v[0], v[1]);
		}
		if (!good)
			diag("%s", types[i]);
	}
	ok(good, "keys have the order of values");
}

/* A table whose column c1 has this type, with its index. */
static bool make(const char *type, uint64_t n)
{
	memset(deleted, 0, sizeof(deleted));
	write_input(type, 0, n, 100, 30);
	return !load(type, SP_TABLE_CSM) && make_index("c1");
}

/* True if a get is refused with this code, and the message has this text. */
static bool refused(int code, const char *by, const char *index, const char *text)
{
	struct sp_table *t = open_table(false);
	struct sp_errinfo err = SP_ERRINFO_INIT;
	struct texts none = { 0 };
	struct sp_table_get g = SP_TABLE_GET_INIT;
	int rc;

	g.by = by;
	g.index = index;
	g.keys = next_key;
	g.keys_arg = &none;
	rc = t ? sp_table_get(t, &g, append_text, NULL, NULL, &err) : 1;
	if (rc != code || !strstr(err.text, text))
		diag("%d: %s", rc, err.text);
	return !sp_table_close(t) && rc == code && strstr(err.text, text);
}

static bool set(const char *set)
{
	struct sp_table *t = open_table(true);
	struct sp_table_choice choice = { .keys = next_key };
	struct texts one = { .list = { (char[]){ "3" } }, .n = 1 };
	int rc;

	choice.keys_arg = &one;
	rc = t ? sp_table_update(t, &choice, &set, 1, NULL, NULL) : 1;
	return !sp_table_close(t) && !rc;
}

static void test_refusals(void)
{
	struct sp_index_build_opts file = SP_INDEX_BUILD_OPTS_INIT;
	struct sp_index_opts opts = { .run = run_opts() };
	struct sp_errinfo err = SP_ERRINFO_INIT;
	struct sp_index *ix;

	ok(make("i32", 300) && refused(-ENOENT, "c2", NULL, "xtable index t.tmp c2"),
	   "without an index the error has the command that makes it");
	ok(refused(-ESTALE, "c2", index_path, "xtable index t.tmp c2 -o t.tmp.c1.index"),
	   "the index of another column is refused");
	ok(refused(SP_ESYNTAX, "c3", NULL, "c3"), "a name that is not a column's is refused");
	ok(set("c2=3") && finds("i32"), "an update of another column leaves the index valid");
	ok(set("c1=7") && refused(-ESTALE, "c1", NULL, "xtable index t.tmp c1"),
	   "after an update of the column in place its index is refused");
	ok(make_index("c1") && finds("i32"), "an index that was made again is valid");
	ok(sp_index_open(&ix, index_path, &opts, &err) == SP_EUNSUP &&
		   strstr(err.text, "column c1"),
	   "an index of a table is refused as one of a file");
	ok(!load("i32", SP_TABLE_CSM) && refused(-ESTALE, "c1", NULL, "another table"),
	   "the index of another table is refused");
	file.run = run_opts();
	file.format.eol = '\n';
	ok(!sp_index_build(&file, input, index_path, NULL, NULL) &&
		   refused(SP_EFORMAT, "c1", NULL, "in.tmp"),
	   "the index of a file is refused");
}

static void flip(long at)
{
	FILE *f = fopen(index_path, "r+");
	int c;

	if (!f || fseek(f, at, SEEK_SET))
		abort();
	c = getc(f);
	if (fseek(f, at, SEEK_SET))
		abort();
	putc(c ^ 0x10, f);
	fclose(f);
}

static void test_damage(void)
{
	struct texts keys = { 0 };
	unsigned wrong = 0, errors = 0;
	struct sp_table *t;

	if (!make("text", 2000))
		abort();
	t = open_table(false);
	if (!t || !read_values(t))
		abort();
	draw_keys(&keys, 50);
	for (unsigned i = 0; i < 200; i++) {
		long at = i < 60 ? (long)(i * 4) : (long)below(30000);
		struct sp_errinfo err = SP_ERRINFO_INIT;
		bool right, failed;
		int rc;

		flip(at);
		rc = get(t, "text", &keys, &right, &failed, &err);
		errors += rc != 0;
		wrong += !rc && !right;
		flip(at);
	}
	ok(!wrong && errors > 60, "a damaged index gives right records, or an error: %u errors",
	   errors);
	free_keys(&keys);
	(void)sp_table_close(t);
}

/* Calls fail one at a time, while an index is made or used.  Returns the runs; 0: a wrong result. */
static unsigned sweep(bool building, bool allocating)
{
	struct texts keys = { 0 };
	struct sp_table *t;
	unsigned n = 0;
	bool right = true, failed = true;

	t = open_table(false);
	if (!t || !read_values(t))
		abort();
	draw_keys(&keys, 20);
	while (failed && right && n < 20000) {
		struct sp_errinfo err = SP_ERRINFO_INIT;
		bool unused;
		int rc;

		upset(++n, allocating);
		if (building) {
			rc = sp_table_index(t, "c1", NULL, NULL, &err);
			failed = calm();
		} else {
			rc = get(t, "text", &keys, &right, &failed, &err);
		}
		if (rc)
			right = err.code == rc;
		if (right && building)
			right = !get(t, "text", &keys, &right, &unused, &err) && right;
		if (!right)
			diag("call %u: %d %d %s", n, rc, err.code, err.text);
	}
	free_keys(&keys);
	(void)sp_table_close(t);
	return right ? n : 0;
}

/* Each call of a scan through the index fails.  Returns the runs; 0: a wrong result. */
static unsigned sweep_scan(bool allocating)
{
	struct sp_table *t = open_table(false);
	struct sp__bytes want = { 0 };
	bool right = true, failed = true;
	unsigned n = 0;
	struct sp_table_query q = SP_TABLE_QUERY_INIT;

	q.where = "c1 > -20 and c1 < 30";
	if (!t || scan(t, &q, SP_TABLE_S_SCAN, &want, NULL))
		abort();
	while (failed && right && n < 20000) {
		struct sp_errinfo err = SP_ERRINFO_INIT;
		struct sp__bytes got = { 0 };
		int rc;

		upset(++n, allocating);
		rc = scan(t, &q, SP_TABLE_BY_INDEX, &got, &err);
		failed = calm();
		right = rc ? err.code == rc : same_bytes(&got, &want);
		if (!right)
			diag("call %u: %d %d %s", n, rc, err.code, err.text);
		sp__bytes_release(&got, NULL);
	}
	sp__bytes_release(&want, NULL);
	(void)sp_table_close(t);
	return right ? n : 0;
}

static void test_failures(void)
{
	unsigned n;

	if (!make("text", 60))
		abort();
	n = sweep(true, false);
	ok(n > 2, "an index is made, or the old one stays, if a call fails: %u", n);
	n = sweep(true, true);
	ok(n > 20, "an index is made, or the old one stays, without memory: %u", n);
	n = sweep(false, false);
	ok(n > 2, "a get is right, or an error, if a call fails: %u", n);
	n = sweep(false, true);
	ok(n > 20, "a get is right, or an error, without memory: %u", n);
	if (!make("i32", 60))
		abort();
	n = sweep_scan(false);
	ok(n > 2, "a scan through an index is right, or an error, if a call fails: %u", n);
	n = sweep_scan(true);
	ok(n > 20, "a scan through an index is right, or an error, without memory: %u", n);
}

int main(void)
{
	test_order();
	test_finds();
	test_scans();
	test_refusals();
	test_damage();
	test_failures();
	unlink(path);
	unlink(index_path);
	unlink(input);
	return done();
}
