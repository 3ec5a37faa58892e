/* SPDX-License-Identifier: MIT */
/*
 * Readers and writers of one table at the same time, each thread with a handle of its own, with and
 * without a pool: a reader sees the values of one update in all records, or is refused while the
 * table is changed.
 *
 * SP_BESIDE_CHANGES=N (8): each writer changes the table so many times.
 */
#define TAP_THREADS
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <unistd.h>
#include <spindle/pool.h>
#include <spindle/table.h>
#include "tap.h"

#define RECORDS 2000
#define ADDED 10 /* records of an append */

static const char table[] = "beside-table.tmp", input[] = "beside-in.tmp",
		  added[] = "beside-more.tmp";
static unsigned changes = 8;
static atomic_uint writing, scans, gets, refused, wrong;

struct output {
	char text[256];
	size_t bytes;
};

static int keep(void *output, const char *data, size_t bytes)
{
	struct output *o = output;

	if (bytes > sizeof(o->text) - 1 - o->bytes)
		bytes = sizeof(o->text) - 1 - o->bytes;
	memcpy(o->text + o->bytes, data, bytes);
	o->bytes += bytes;
	o->text[o->bytes] = 0;
	return 0;
}

static void write_lines(const char *name, unsigned n)
{
	FILE *f = fopen(name, "w");

	for (unsigned i = 0; f && i < n; i++)
		fprintf(f, "0,%u,text %u\n", i, i % 7);
	if (!f || fclose(f))
		abort();
}

static void load(void)
{
	struct sp_table_load_opts o = SP_TABLE_LOAD_OPTS_INIT;
	struct sp_errinfo err = SP_ERRINFO_INIT;
	const char *const inputs[] = { input };

	write_lines(input, RECORDS);
	write_lines(added, ADDED);
	o.run.overwrite = true;
	o.format = SP_TABLE_CSV;
	o.separator = ',';
	o.cell_bytes = 512;
	o.types = "a:i32,b:i32,c:text";
	if (sp_table_load(table, inputs, 1, &o, NULL, &err)) {
		diag("%s: %s", err.path, err.text);
		abort();
	}
}

/* True if a call was refused because of another handle. */
static bool is_refused(const struct sp_errinfo *err)
{
	if (strstr(err->text, "another program is") ||
	    strstr(err->text, "has changed since it was opened")) {
		atomic_fetch_add(&refused, 1);
		return true;
	}
	diag("%d %s: %s", err->code, err->path, err->text);
	atomic_fetch_add(&wrong, 1);
	return false;
}

/* Opens the table, with a pool if there is one. */
static struct sp_table *open_table(bool write, struct sp_pool *pool)
{
	struct sp_table_opts o = SP_TABLE_OPTS_INIT;
	struct sp_errinfo err = SP_ERRINFO_INIT;
	struct sp_table *t;

	o.run.memory_bytes = 8 << 20;
	o.run.parallel = 2;
	o.write = write;
	o.pool = pool;
	if (!sp_table_open(&t, table, &o, &err))
		return t;
	if (is_refused(&err))
		usleep(500);
	return NULL;
}

/* Counts a fault of a read. */
static void expect(bool good, const char *what, const struct output *o)
{
	if (good)
		return;
	diag("%s: %s", what, o->text);
	atomic_fetch_add(&wrong, 1);
}

/* One value of a in all loaded records, or all records of each append. */
static void scan(struct sp_table *t, bool count)
{
	struct sp_table_query q = SP_TABLE_QUERY_INIT;
	struct sp_errinfo err = SP_ERRINFO_INIT;
	struct output o = { .bytes = 0 };
	unsigned a, b;

	q.agg = count ? "count(),count()" : "min(a),max(a)";
	if (!count)
		q.hi = RECORDS - 1;
	if (sp_table_scan(t, &q, keep, &o, NULL, &err)) {
		(void)!is_refused(&err);
		return;
	}
	atomic_fetch_add(&scans, 1);
	expect(sscanf(o.text, "%u,%u", &a, &b) == 2 && a == b &&
		       (!count || (a >= RECORDS && a % ADDED == 0)),
	       "scan", &o);
}

/* Gives three record numbers. */
static int next_key(void *arg, const char **key, size_t *bytes)
{
	static const char *const keys[] = { "0", "700", "1999" };
	unsigned *n = arg;

	if (*n == 3)
		return 0;
	*key = keys[(*n)++];
	*bytes = strlen(*key);
	return 1;
}

static void get(struct sp_table *t)
{
	struct sp_table_get g = SP_TABLE_GET_INIT;
	struct sp_errinfo err = SP_ERRINFO_INIT;
	struct output o = { .bytes = 0 };
	unsigned n = 0, a, b, c;

	g.columns = "a";
	g.keys = next_key;
	g.keys_arg = &n;
	if (sp_table_get(t, &g, keep, &o, NULL, &err)) {
		(void)!is_refused(&err);
		return;
	}
	atomic_fetch_add(&gets, 1);
	expect(sscanf(o.text, "%u\n%u\n%u", &a, &b, &c) == 3 && a == b && b == c, "get", &o);
}

/* Reads until all writers have ended. */
static void *reader(void *pooled)
{
	struct sp_pool_opts o = SP_POOL_OPTS_INIT;
	struct sp_pool *pool = NULL;
	struct sp_table *t;

	o.bytes = 1 << 20;
	o.frame_bytes = 64 << 10;
	if (pooled && sp_pool_open(&pool, &o, NULL))
		abort();
	do {
		t = open_table(false, pool);
		if (!t)
			continue;
		scan(t, false);
		get(t);
		scan(t, true);
		(void)sp_table_close(t);
		usleep(8000); /* or no writer has a turn */
	} while (atomic_load(&writing));
	sp_pool_close(pool);
	return NULL;
}

/* Sets one value in all records, or appends some. */
static int change(struct sp_table *t, unsigned value, bool append, struct sp_errinfo *err)
{
	const struct sp_table_choice all = { .where = "b >= 0" };
	const char *const inputs[] = { added };
	char text[32];
	const char *set = text;

	snprintf(text, sizeof(text), "a=%u", value);
	return append ? sp_table_append(t, inputs, 1, NULL, err)
		      : sp_table_update(t, &all, &set, 1, NULL, err);
}

static void *writer(void *append)
{
	for (unsigned i = 1; i <= changes;) {
		struct sp_errinfo err = SP_ERRINFO_INIT;
		struct sp_table *t = open_table(true, NULL);

		if (!t)
			continue;
		if (change(t, i, append != NULL, &err))
			(void)!is_refused(&err);
		if (sp_table_close(t))
			atomic_fetch_add(&wrong, 1);
		i++;
	}
	atomic_fetch_sub(&writing, 1);
	return NULL;
}

int main(void)
{
	static char yes;
	void *const arg[] = { NULL, &yes }; /* append, pooled */
	const char *n = getenv("SP_BESIDE_CHANGES");
	pthread_t threads[5];

	if (n)
		changes = (unsigned)strtoul(n, NULL, 10);
	load();
	atomic_store(&writing, 2);
	for (unsigned i = 0; i < 5; i++)
		if (pthread_create(&threads[i], NULL, i < 2 ? writer : reader, arg[i & 1]))
			abort();
	for (unsigned i = 0; i < 5; i++)
		pthread_join(threads[i], NULL);
	diag("%u scans, %u gets, %u refused", scans, gets, refused);
	ok(scans && gets, "readers read while writers change the table, or before and after");
	ok(!wrong, "each read sees one update in all records, or is refused");
	unlink(table);
	unlink(input);
	unlink(added);
	return done();
}
