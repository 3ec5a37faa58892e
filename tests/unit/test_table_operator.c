/* SPDX-License-Identifier: MIT */
/*
 * Tables as operators of plans: their records are those of a scan, alone, under aggregations and
 * joins, on files and in virtual time.
 */
#define TAP_THREADS
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <spindle/flow.h>
#include <spindle/join.h>
#include <spindle/table.h>
#include "base/mem.h"
#include "tap.h"

#define RECORDS 50000

static const char input[] = "operator-in.tmp", table[] = "operator.tmp";

static void make(enum sp_table_layout layout, enum sp_table_format format)
{
	struct sp_table_load_opts o = SP_TABLE_LOAD_OPTS_INIT;
	struct sp_errinfo err = SP_ERRINFO_INIT;
	const char *const inputs[] = { input };
	FILE *f = fopen(input, "w");

	if (!f)
		exit(1);
	fputs("id,half,word\r\n", f);
	for (unsigned i = 0; i < RECORDS; i++)
		fprintf(f, "%05u,%u.5,%s\r\n", i, i / 2, i % 3 ? "text" : "");
	if (fclose(f))
		exit(1);
	o.run.memory_bytes = 4 << 20;
	o.run.overwrite = o.header = true;
	o.layout = layout;
	o.format = format;
	o.separator = ',';
	if (sp_table_load(table, inputs, 1, &o, NULL, &err)) {
		diag("%s: %s", err.path, err.text);
		exit(1);
	}
	unlink(input);
}

static int append(void *arg, const char *data, size_t bytes)
{
	return sp__bytes_append(arg, data, bytes, NULL);
}

/* Prints a query by a scan, without the header and carriage returns. */
static void scan(const struct sp_table_query *q, struct sp__bytes *text)
{
	struct sp_table_opts open = SP_TABLE_OPTS_INIT;
	struct sp_table *t;
	char *to;
	size_t n;

	if (sp_table_open(&t, table, &open, NULL) || sp_table_scan(t, q, append, text, NULL, NULL))
		exit(1);
	(void)sp_table_close(t);
	n = (size_t)((char *)memchr(text->data, '\n', text->bytes) + 1 - text->data);
	to = text->data;
	for (size_t i = n; i < text->bytes; i++)
		if (text->data[i] != '\r')
			*to++ = text->data[i];
	text->bytes = (size_t)(to - text->data);
}

static struct sp_flow *open_plan(const char *volume, unsigned threads, struct sp_errinfo *err)
{
	static struct sp_run_opts run;
	struct sp_flow *flow;

	run = (struct sp_run_opts)SP_RUN_OPTS_INIT;
	run.memory_bytes = 16 << 20;
	run.volume = volume;
	run.parallel = threads;
	if (sp_flow_open(&flow, &run, err))
		exit(1);
	return flow;
}

/* Takes all batches; *later: how often the operator had none yet. */
static int take(struct sp_flow *flow, struct sp_operator *op, struct sp__bytes *text,
		unsigned *later)
{
	struct sp_batch b;
	int rc;

	for (;;) {
		rc = sp_flow_next(op, &b);
		if (rc == SP_LATER) {
			++*later;
			rc = sp_flow_wait(flow);
		} else if (rc == SP_READY) {
			rc = sp__bytes_append(text, b.data, b.bytes, NULL);
		} else {
			return rc;
		}
		if (rc < 0)
			return rc;
	}
}

static void same(const char *columns, const char *where, uint64_t lo, uint64_t limit,
		 unsigned threads)
{
	struct sp_errinfo err = SP_ERRINFO_INIT;
	struct sp_table_query q = SP_TABLE_QUERY_INIT;
	struct sp_flow *flow = open_plan(NULL, threads, &err);
	struct sp__bytes want = { 0 }, got = { 0 };
	struct sp_operator *op;
	unsigned later = 0;
	int rc;

	q.columns = columns;
	q.where = where;
	q.lo = lo;
	q.limit = limit;
	rc = sp_table_operator(&op, flow, table, NULL, &q);
	if (!rc)
		rc = take(flow, op, &got, &later);
	scan(&q, &want);
	ok(!rc && got.bytes == want.bytes && !memcmp(got.data, want.data, want.bytes),
	   "%s of %s from %llu on, at most %llu, %u threads: %s", columns ? columns : "all columns",
	   where ? where : "all", (unsigned long long)lo, (unsigned long long)limit, threads,
	   rc ? err.text : "as a scan");
	(void)sp_flow_close(flow);
	sp__bytes_release(&want, NULL);
	sp__bytes_release(&got, NULL);
}

/* Counts the pairs of a table and itself, and adds up a field. */
static void joined(const char *volume, unsigned threads, double *seconds)
{
	const struct sp_flow_value values[] = { { SP_FLOW_COUNT, 0 }, { SP_FLOW_SUM, 0 } };
	struct sp_errinfo err = SP_ERRINFO_INIT;
	struct sp_table_query left = SP_TABLE_QUERY_INIT, right = SP_TABLE_QUERY_INIT;
	struct sp_join_opts jo = SP_JOIN_OPTS_INIT;
	struct sp_flow *flow = open_plan(volume, threads, &err);
	struct sp_operator *a, *b, *join, *sum;
	struct sp_run_stats stats = { 0 };
	struct sp__bytes got = { 0 };
	const char *want;
	unsigned later = 0;
	int rc;

	left.columns = right.columns = "id,half";
	left.format = right.format = volume ? SP_TABLE_TEXT : SP_TABLE_CSV;
	right.where = "id >= '01000' and id < '03000'";
	jo.run.memory_bytes = 4 << 20;
	jo.run.volume = volume;
	jo.csv = !volume;
	jo.separator = volume ? "\t" : ",";
	jo.separator_bytes = 1;
	jo.algorithm = volume ? SP_JOIN_MERGE : SP_JOIN_HYBRID;
	rc = sp_table_operator(&a, flow, table, NULL, &left);
	if (!rc)
		rc = sp_table_operator(&b, flow, table, NULL, &right);
	if (!rc)
		rc = sp_join_operator(&join, a, b, &jo);
	if (!rc)
		rc = sp_flow_aggregate(&sum, join, NULL, 0, values, 2);
	if (!rc)
		rc = take(flow, sum, &got, &later);
	want = volume ? "2000\t3999000\n" : "2000,3999000\n";
	ok(!rc && got.bytes == 13 && !memcmp(got.data, want, 13),
	   "a join of two tables%s, %u threads: %s", volume ? " in virtual time" : "", threads,
	   rc ? err.text : "2000 pairs");
	if (rc || got.bytes != 13)
		diag("%d: %.*s", rc, (int)got.bytes, got.data);
	ok(!volume || later > 0, "operators let each other work: %u times", later);
	sp_flow_stats(flow, &stats);
	*seconds = (double)stats.elapsed_s;
	(void)sp_flow_close(flow);
	sp__bytes_release(&got, NULL);
}

/* Two scans of a plan share a pool: the second one reads nothing. */
static void shared(const char *volume)
{
	struct sp_errinfo err = SP_ERRINFO_INIT;
	struct sp_pool_opts po = SP_POOL_OPTS_INIT;
	struct sp_table_opts opts = SP_TABLE_OPTS_INIT;
	struct sp_table_query q = SP_TABLE_QUERY_INIT;
	struct sp_flow *flow = open_plan(volume, 2, &err);
	struct sp__bytes want = { 0 }, got[2] = { 0 };
	struct sp_pool_counters c[2];
	struct sp_run_stats stats[2] = { 0 };
	struct sp_operator *ops[2];
	unsigned later = 0;
	int rc = 0;

	po.bytes = 16 << 20;
	po.frame_bytes = 1 << 20;
	q.columns = "id,half";
	if (sp_pool_open(&opts.pool, &po, &err))
		exit(1);
	for (unsigned i = 0; !rc && i < 2; i++)
		rc = sp_table_operator(&ops[i], flow, table, &opts, &q);
	for (unsigned i = 0; !rc && i < 2; i++) {
		rc = take(flow, ops[i], &got[i], &later);
		sp_pool_counters(opts.pool, &c[i]);
		sp_flow_stats(flow, &stats[i]);
	}
	scan(&q, &want);
	for (unsigned i = 0; i < 2; i++)
		ok(!rc && got[i].bytes == want.bytes && !memcmp(got[i].data, want.data, want.bytes),
		   "scan %u through a pool%s gives the records: %s", i + 1,
		   volume ? " in virtual time" : "", rc ? err.text : "as a scan");
	ok(!rc && c[0].misses && c[1].misses == c[0].misses && c[1].hits > c[0].hits &&
		   stats[1].read_bytes == stats[0].read_bytes && stats[0].read_bytes,
	   "the second scan finds all frames: %llu bytes read",
	   (unsigned long long)stats[1].read_bytes);
	(void)sp_flow_close(flow);
	sp_pool_close(opts.pool);
	for (unsigned i = 0; i < 2; i++)
		sp__bytes_release(&got[i], NULL);
	sp__bytes_release(&want, NULL);
}

static void refused(const struct sp_table_query *q, int code, const char *reason)
{
	struct sp_errinfo err = SP_ERRINFO_INIT;
	struct sp_flow *flow = open_plan(NULL, 1, &err);
	struct sp_operator *op;
	int rc = sp_table_operator(&op, flow, table, NULL, q);

	ok(rc == code && strstr(err.text, reason), "refused: %s", err.text);
	(void)sp_flow_close(flow);
}

static void errors(void)
{
	struct sp_errinfo err = SP_ERRINFO_INIT;
	struct sp_table_query q = SP_TABLE_QUERY_INIT;
	struct sp_flow *flow;
	struct sp_operator *op;
	struct sp__bytes got = { 0 };
	unsigned later = 0;
	FILE *f;
	int rc;

	q.columns = "idd";
	refused(&q, SP_ESYNTAX, "the nearest name is 'id'");
	q.columns = NULL;
	q.agg = "count()";
	refused(&q, SP_EUNSUP, "aggregates");
	q.agg = NULL;
	f = fopen(table, "r+");
	if (!f || fseek(f, -3000, SEEK_END) || fputs("damage", f) < 0 || fclose(f))
		exit(1);
	flow = open_plan(NULL, 2, &err);
	rc = sp_table_operator(&op, flow, table, NULL, &q);
	if (!rc)
		rc = take(flow, op, &got, &later);
	ok(rc == SP_ECORRUPT && strstr(err.text, "damaged"), "a damaged cell ends the plan: %s",
	   err.text);
	(void)sp_flow_close(flow);
	sp__bytes_release(&got, NULL);
	unlink(table);
	refused(&q, -ENOENT, "");
}

int main(void)
{
	double seconds[3];

	for (int layout = SP_TABLE_NSM; layout <= SP_TABLE_CSM; layout++) {
		make(layout, layout % 2 ? SP_TABLE_CSV : SP_TABLE_TEXT);
		same(NULL, NULL, 0, UINT64_MAX, 1);
		same("half,id", "id > '00100' and half < 9000", 0, UINT64_MAX, 3);
		same("word", "word is null", 777, 999, 8);
		joined(NULL, 2, &seconds[0]);
		shared(NULL);
		shared("sim:cheetah36es-like");
	}
	for (unsigned i = 0; i < 3; i++)
		joined("sim:cheetah36es-like", i ? i : 1, &seconds[i]);
	ok(seconds[0] > 0 && seconds[0] == seconds[1] && seconds[1] == seconds[2],
	   "virtual time does not depend on threads: %.6f s", seconds[0]);
	errors();
	return done();
}
