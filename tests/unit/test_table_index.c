/* SPDX-License-Identifier: MIT */
/*
 * Indexes of columns: gets by key against a loop over all values, for each type and layout, with
 * duplicates, NULLs, appended and deleted records; scans of ranges against scans of all records;
 * order of keys; indexes that must be refused.
 */
#define TAP_THREADS
#define CASE_NAME "t"
#include "index/indexheader.h"
#include "tableindexcase.h"

static void test_scans(void)
{
	for (unsigned layout = 0; layout < 4; layout++) {
		bool good = true;

		for (unsigned i = 0; good && i < TYPES; i++)
			good = try_ranges(types[i], (enum sp_table_layout)layout);
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
static bool ordered(const struct sp__column *c, const uint8_t *a, const uint8_t *b)
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
		struct sp__column c = { 0 };
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

/* Reads the header of the index, or replaces the stamps of its table by those of `stamps`. */
static struct sp__index_header header(const struct sp__index_header *stamps)
{
	static uint8_t data[SP__INDEX_HEADER_MAX];
	struct sp__index_header h;
	FILE *f = fopen(index_path, "r+");
	const char *reason;
	size_t n = f ? fread(data, 1, sizeof(data), f) : 0;

	if (sp__index_header_decode(&h, data, n, &reason))
		abort();
	if (stamps) {
		h.table_id = stamps->table_id;
		h.column_changed = stamps->column_changed;
		sp__index_header_encode(&h, data);
		rewind(f);
		if (fwrite(data, 1, h.header_bytes, f) != h.header_bytes)
			abort();
	}
	fclose(f);
	return h;
}

/* Makes the index of a table whose record 3 had another value, which the table accepts. */
static bool make_wrong(const char *type, enum sp_table_layout layout, const char *before,
		       const char *after)
{
	struct sp__index_header fits;
	char command[2][64];

	memset(deleted, 0, sizeof(deleted));
	write_input(type, 0, 300, 100, 30);
	snprintf(command[0], sizeof(command[0]), "c1=%s", before);
	snprintf(command[1], sizeof(command[1]), "c1=%s", after);
	if (load(type, layout) || !set(command[0]) || !make_index("c1") ||
	    rename(index_path, "t.index.tmp"))
		return false;
	if (!set(command[1]) || !make_index("c1"))
		return false;
	fits = header(NULL);
	if (rename("t.index.tmp", index_path))
		return false;
	(void)header(&fits);
	return true;
}

/* True if it is the error of an index that does not fit, with the command that makes it. */
static bool misfit(const char *what, int rc, const struct sp_errinfo *err)
{
	const bool good = rc == SP_ECORRUPT && strstr(err->text, "record 3 has another value") &&
			  strstr(err->text, "xtable index t.tmp c1");

	if (!good)
		diag("%s: %d %s", what, rc, err->text);
	return good;
}

static bool get_misfits(const char *key, const char *columns)
{
	struct sp_table *t = open_table(false);
	struct sp_errinfo err = SP_ERRINFO_INIT;
	struct texts k = { .list = { (char *)(uintptr_t)key }, .n = 1 };
	struct sp_table_get g = SP_TABLE_GET_INIT;
	struct sp__bytes got = { 0 };
	int rc;

	g.by = "c1";
	g.columns = columns;
	g.keys = next_key;
	g.keys_arg = &k;
	rc = sp_table_get(t, &g, append_text, &got, NULL, &err);
	rc = misfit("get", rc, &err) && !got.bytes ? 0 : 1;
	sp__bytes_release(&got, NULL);
	return !sp_table_close(t) && !rc;
}

static bool scan_misfits(const char *key, const char *columns, const char *agg)
{
	struct sp_table *t = open_table(false);
	struct sp_errinfo err = SP_ERRINFO_INIT;
	struct sp_table_query q = SP_TABLE_QUERY_INIT;
	struct sp__bytes got = { 0 };
	char where[80];
	int rc;

	snprintf(where, sizeof(where), "c1 = %s", key);
	q.where = where;
	q.columns = columns;
	q.agg = agg;
	rc = scan(t, &q, SP_TABLE_BY_INDEX, &got, &err);
	rc = misfit("scan", rc, &err) && !got.bytes ? 0 : 1;
	sp__bytes_release(&got, NULL);
	return !sp_table_close(t) && !rc;
}

/* An update, or a delete if there is no set, by the key and another one. */
static bool change_misfits(const char *key, const char *set_text)
{
	struct sp_table *t = open_table(true);
	struct sp_errinfo err = SP_ERRINFO_INIT;
	struct texts k = { .list = { values[9], (char *)(uintptr_t)key }, .n = 2 };
	struct sp_table_choice choice = { .by = "c1", .index = index_path, .keys = next_key };
	struct sp_table_query q = SP_TABLE_QUERY_INIT;
	struct sp__bytes before = { 0 }, after = { 0 };
	bool good = !scan(t, &q, SP_TABLE_S_SCAN, &before, NULL);
	int rc;

	choice.keys_arg = &k;
	rc = set_text ? sp_table_update(t, &choice, &set_text, 1, NULL, &err)
		      : sp_table_delete(t, &choice, NULL, &err);
	good &= misfit(set_text ? "update" : "delete", rc, &err) &&
		!scan(t, &q, SP_TABLE_S_SCAN, &after, NULL) && same_bytes(&before, &after);
	sp__bytes_release(&before, NULL);
	sp__bytes_release(&after, NULL);
	return !sp_table_close(t) && good;
}

static void test_misfits(void)
{
	static const struct {
		const char *type, *before, *after, *literal;
	} cases[] = { { "i32", "70000", "70001", "70000" },
		      { "f64", "0.125", "-0.125", "0.125" },
		      { "text", "before", "after", "'before'" },
		      { "dict8", "one", "two", "'one'" },
		      { "char(5)", "b", "", "'b'" } };

	for (unsigned i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		const char *key = cases[i].before, *literal = cases[i].literal;
		bool good = make_wrong(cases[i].type, (enum sp_table_layout)(i % 4), key,
				       cases[i].after);
		struct sp_table *t = open_table(false);

		good &= read_values(t) && !sp_table_close(t);
		ok(good && get_misfits(key, "c2") && get_misfits(key, "c1,c2") &&
			   scan_misfits(literal, "c2", NULL) && scan_misfits(literal, "c1", NULL) &&
			   scan_misfits(literal, NULL, "count()") &&
			   scan_misfits(literal, NULL, "sum(c2)") && change_misfits(key, NULL) &&
			   change_misfits(key, "c2=1"),
		   "%s: a record that does not have the key of the index is not used",
		   cases[i].type);
	}
}

int main(void)
{
	test_order();
	test_finds();
	test_scans();
	test_refusals();
	test_misfits();
	unlink(path);
	unlink(index_path);
	unlink(input);
	return done();
}
