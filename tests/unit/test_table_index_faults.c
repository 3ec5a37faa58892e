/* SPDX-License-Identifier: MIT */
/*
 * Damaged indexes of columns; and each read, write and allocation of building and using one fails,
 * one at a time.
 */
#define TAP_THREADS
#define CASE_NAME "indexfaults"
#include "tableindexcase.h"

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

/*
 * Calls fail one at a time, while an index is made or used.  Returns the runs; 0: a wrong result.
 */
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
	test_damage();
	test_failures();
	unlink(path);
	unlink(index_path);
	unlink(input);
	return done();
}
