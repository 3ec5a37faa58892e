/* SPDX-License-Identifier: MIT */
/*
 * Indexes of columns: gets by key against a loop over all values, for each type and layout, with
 * duplicates, NULLs, appended and deleted records; scans of ranges against scans of all records;
 * order of keys; indexes that must be refused.
 */
#define TAP_THREADS
#define CASE_NAME "t"
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

int main(void)
{
	test_order();
	test_finds();
	test_scans();
	test_refusals();
	unlink(path);
	unlink(index_path);
	unlink(input);
	return done();
}
