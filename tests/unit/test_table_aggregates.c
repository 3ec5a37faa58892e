/* SPDX-License-Identifier: MIT */
/*
 * Aggregates of scans: in each layout, by each access, with one thread and several, against a naive
 * loop over the records of the text that was loaded.
 */
#define TAP_THREADS
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <spindle/table.h>
#include "base/mem.h"
#include "base/rng.h"
#include "tablewraps.h"
#include "tap.h"

#define RECORDS 30000
#define TEXT "aggregates.txt"
#define TABLE "aggregates.table"

static struct sp__rng rng = { 5 };

/* Of each record: k is 0 to 999; a in hundredths, f in eighths; NULL if not. */
static struct {
	int k, a, f, name;
	bool a_null;
} records[RECORDS];

static const char *const names[] = { "lead", "copper", "zinc", "", "tin" };

static void make_text(void)
{
	FILE *file = fopen(TEXT, "w");

	if (!file)
		abort();
	fputs("k,a,f,name\n", file);
	for (int i = 0; i < RECORDS; i++) {
		records[i].k = (int)sp__rng_below(&rng, 1000);
		records[i].a = (int)sp__rng_below(&rng, 200000) - 100000;
		records[i].f = (int)sp__rng_below(&rng, 20000) - 10000;
		records[i].name = (int)sp__rng_below(&rng, 5);
		records[i].a_null = !sp__rng_below(&rng, 9);
		fprintf(file, "%d,", records[i].k);
		if (!records[i].a_null)
			fprintf(file, "%s%d.%02d", records[i].a < 0 ? "-" : "",
				abs(records[i].a) / 100, abs(records[i].a) % 100);
		fprintf(file, ",%.10g,\"%s\"\n", records[i].f / 8.0, names[records[i].name]);
	}
	if (fclose(file))
		abort();
}

/* Sets the line that aggregates of the records with k < max have. */
static void expect(int max, char *line, size_t size)
{
	long n = 0, values = 0, sum = 0, f = 0, average;
	int min = 0, last = -1;

	for (int i = 0; i < RECORDS; i++) {
		if (records[i].k >= max)
			continue;
		min = !n || records[i].f < min ? records[i].f : min;
		if (last < 0 || strcmp(names[records[i].name], names[last]) > 0)
			last = records[i].name;
		n++;
		f += records[i].f;
		values += !records[i].a_null;
		sum += records[i].a_null ? 0 : records[i].a;
	}
	if (!n) {
		snprintf(line, size, "0,0,,,,,\n");
		return;
	}
	average = values ? (2 * labs(sum) * 1000000 + values) / (2 * values) : 0;
	snprintf(line, size, "%ld,%ld,%s%ld.%02ld,%s%ld.%08ld,%.17g,%s,%.17g\n", n, values,
		 sum < 0 ? "-" : "", labs(sum) / 100, labs(sum) % 100,
		 sum < 0 && average ? "-" : "", average / 100000000, average % 100000000, min / 8.0,
		 names[last], (double)f / 8);
}

static int append(void *bytes, const char *data, size_t n)
{
	return sp__bytes_append(bytes, data, n, NULL);
}

/* True if the scan prints the header and the line. */
static bool prints(struct sp_table *t, const struct sp_table_query *q, const char *line)
{
	static const char header[] = "count(),count(a),sum(a),avg(a),min(f),max(name),sum(f)\n";
	struct sp_errinfo err = SP_ERRINFO_INIT;
	struct sp_table_stats stats;
	struct sp__bytes got = { 0 };
	int rc = sp_table_scan(t, q, append, &got, &stats, &err);
	bool same = !rc && got.bytes == strlen(header) + strlen(line) &&
		    !memcmp(got.data, header, strlen(header)) &&
		    !memcmp(got.data + strlen(header), line, strlen(line)) &&
		    stats.output_bytes == got.bytes;

	if (!same)
		diag("%s access %d: %d %s: %.*s instead of %s", q->where ? q->where : "all",
		     (int)q->access, rc, err.text, (int)got.bytes, got.data ? got.data : "", line);
	sp__bytes_release(&got, NULL);
	return same;
}

static bool right(struct sp_table *t)
{
	static const int maxima[] = { 1000, 0, 1, 30, 500 };
	static const enum sp_table_access accesses[] = { SP_TABLE_ACCESS_AUTO, SP_TABLE_S_SCAN,
							 SP_TABLE_SI_SCAN };
	struct sp_table_query q = SP_TABLE_QUERY_INIT;
	char where[32], line[300];

	q.agg = "count(), count(a), sum(a), avg(a), min(f), max(name), sum(f)";
	q.limit = 3; /* has no effect */
	for (unsigned i = 0; i < 5; i++) {
		expect(maxima[i], line, sizeof(line));
		snprintf(where, sizeof(where), "k < %d", maxima[i]);
		q.where = i ? where : NULL;
		for (unsigned k = 0; k < 3; k++) {
			q.access = accesses[k];
			if (!prints(t, &q, line))
				return false;
		}
	}
	return true;
}

static void load(enum sp_table_layout layout)
{
	struct sp_table_load_opts o = SP_TABLE_LOAD_OPTS_INIT;
	const char *const input = TEXT;
	struct sp_errinfo err = SP_ERRINFO_INIT;

	(void)unlink(TABLE);
	o.layout = layout;
	o.format = SP_TABLE_CSV;
	o.header = true;
	if (sp_table_load(TABLE, &input, 1, &o, NULL, &err)) {
		diag("load: %s", err.text);
		abort();
	}
}

static struct sp_table *open_table(unsigned parallel)
{
	struct sp_table_opts o = SP_TABLE_OPTS_INIT;
	struct sp_table *t;

	o.run.parallel = parallel;
	o.run.memory_bytes = 4 << 20;
	if (sp_table_open(&t, TABLE, &o, NULL))
		abort();
	return t;
}

/* Counts records, in all columns' stead. */
static void counts(void)
{
	struct sp_table *t = open_table(2);
	struct sp_table_query q = SP_TABLE_QUERY_INIT;
	struct sp__bytes got = { 0 };
	struct sp_errinfo err = SP_ERRINFO_INIT;
	bool good;

	q.agg = "count()";
	q.lo = 10;
	q.hi = 109;
	good = !sp_table_scan(t, &q, append, &got, NULL, NULL);
	q.where = "k < 0";
	q.access = SP_TABLE_SI_SCAN;
	good &= !sp_table_scan(t, &q, append, &got, NULL, NULL);
	q.format = SP_TABLE_TEXT;
	good &= !sp_table_scan(t, &q, append, &got, NULL, NULL);
	ok(good && got.bytes == 32 &&
		   !memcmp(got.data, "count()\n100\ncount()\n0\ncount()\n0\n", 32),
	   "records of a range are counted, none as 0");
	q.agg = "count(), avg(b)";
	ok(sp_table_scan(t, &q, append, &got, NULL, &err) == SP_ESYNTAX &&
		   strstr(err.text, "the table has no column 'b'"),
	   "a column that is not there is named");
	err = (struct sp_errinfo)SP_ERRINFO_INIT;
	q.agg = "count()";
	q.format = SP_TABLE_FIXED;
	ok(sp_table_scan(t, &q, append, &got, NULL, &err) == SP_EUNSUP,
	   "results have no fixed length");
	sp__bytes_release(&got, NULL);
	(void)sp_table_close(t);
}

/* One allocation of a scan fails, the first, the second ...: an error that says so, or the line. */
static void allocations_fail(enum sp_table_access access)
{
	struct sp_table *t = open_table(1);
	struct sp_table_query q = SP_TABLE_QUERY_INIT;
	unsigned i = 0, refused = 0, wrong = 0;
	struct sp__bytes right = { 0 };

	q.where = "k in (1, 2, 3, 4, 5) and name ^= 'zi' or f > 1249.75";
	q.agg = "count(), sum(a), avg(f), max(name), min(name)";
	q.access = access;
	if (sp_table_scan(t, &q, append, &right, NULL, NULL))
		abort();
	do {
		struct sp_errinfo err = SP_ERRINFO_INIT;
		struct sp__bytes got = { 0 };
		int rc;

		allocations = 0;
		fail_allocation = ++i;
		rc = sp_table_scan(t, &q, append, &got, NULL, &err);
		fail_allocation = 0;
		refused += rc == -ENOMEM && err.code == -ENOMEM;
		wrong += rc ? rc != -ENOMEM
			    : got.bytes != right.bytes ||
					 memcmp(got.data, right.data, got.bytes) != 0;
		sp__bytes_release(&got, NULL);
	} while (allocations >= i);
	if (!ok(!wrong && refused > 20, "a scan without memory ends with that error"))
		diag("%u of %u refused, %u wrong", refused, i, wrong);
	sp__bytes_release(&right, NULL);
	(void)sp_table_close(t);
}

int main(void)
{
	static const enum sp_table_layout layouts[] = { SP_TABLE_NSM, SP_TABLE_PAX, SP_TABLE_DSM,
							SP_TABLE_CSM };
	bool good = true;

	make_text();
	for (unsigned i = 0; i < 4; i++) {
		load(layouts[i]);
		for (unsigned parallel = 1; parallel < 4; parallel += 2) {
			struct sp_table *t = open_table(parallel);

			good &= right(t);
			(void)sp_table_close(t);
		}
	}
	ok(good, "aggregates of scans are those of a naive loop");
	counts();
	allocations_fail(SP_TABLE_S_SCAN);
	allocations_fail(SP_TABLE_SI_SCAN);
	(void)unlink(TABLE);
	(void)unlink(TEXT);
	return done();
}
