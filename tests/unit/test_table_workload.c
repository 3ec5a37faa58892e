/* SPDX-License-Identifier: MIT */
/* The queries of a table's workload: what each line means, and the reason why one is refused. */
#include <string.h>
#include "table/cost/workload.h"
#include "tap.h"

static struct sp__schema schema;

static void make_schema(void)
{
	static const char *const names[] = { "a1", "a2", "a3", "price", "a name, \"quoted\"" };

	for (unsigned i = 0; i < 5; i++)
		if (sp__schema_add(&schema, names[i], strlen(names[i]),
				   &sp__value_types[SP__VALUE_F64]))
			exit(1);
}

static bool set_is(const bool *set, const char *want)
{
	for (unsigned i = 0; i < 5; i++)
		if (!set || set[i] != (want[i] == '1'))
			return false;
	return true;
}

static void takes(const char *line, enum sp__table_query_kind kind, double weight,
		  const char *columns, const char *where, double share, uint64_t records)
{
	struct sp__table_workload w = { 0 };
	struct sp_errinfo err = SP_ERRINFO_INIT;
	int rc = sp__table_workload_add(&w, line, &schema, &err);
	const struct sp__table_query *q = w.queries;

	ok(!rc && w.n == 1 && q->kind == kind && !(q->weight < weight || q->weight > weight) &&
		   (columns ? set_is(q->columns, columns) : !q->columns) &&
		   (where ? set_is(q->where, where) : !q->where) &&
		   !(q->share < share || q->share > share) && q->records == records,
	   "'%s' is understood", line);
	if (rc)
		diag("%s", err.text);
	sp__table_workload_free(&w);
}

static void refuses(const char *line, const char *reason)
{
	struct sp__table_workload w = { 0 };
	struct sp_errinfo err = SP_ERRINFO_INIT;
	int rc = sp__table_workload_add(&w, line, &schema, &err);

	ok(rc == SP_ESYNTAX && strstr(err.text, reason) && !w.n, "'%s' is refused: %s", line,
	   reason);
	if (!strstr(err.text, reason))
		diag("%s", err.text);
	sp__table_workload_free(&w);
}

static void files(void)
{
	char path[] = "/tmp/test-table-workload-XXXXXX";
	struct sp__table_workload w = { 0 };
	struct sp_errinfo err = SP_ERRINFO_INIT;
	FILE *f = fdopen(mkstemp(path), "w");

	if (!f)
		exit(1);
	fputs("# a comment\n\nscan a1,a2\n2 get 5 * # all\r\n", f);
	fflush(f);
	ok(!sp__table_workload_read(&w, path, &schema, &err) && w.n == 2 &&
		   !strcmp(w.queries[1].text, "get 5 * "),
	   "a file has a query per line; comments and empty lines are none");
	sp__table_workload_free(&w);
	fputs("append x\n", f);
	fclose(f);
	ok(sp__table_workload_read(&w, path, &schema, &err) == SP_ESYNTAX &&
		   strstr(err.text, "line 5: ") && !strcmp(err.path, path),
	   "a message names file and line: %s", err.text);
	sp__table_workload_free(&w);
	remove(path);
	ok(sp__table_workload_read(&w, path, &schema, &err) == -ENOENT, "a missing file is named");
}

int main(void)
{
	make_schema();
	takes("scan a1,price", SP__QUERY_SCAN, 1, "10010", NULL, 1, 0);
	takes("2.5 scan * where a2 1%", SP__QUERY_SCAN, 2.5, "11111", "01000", 0.01, 0);
	takes("scan a1 where a1,a2 0", SP__QUERY_SCAN, 1, "10000", "11000", 0, 0);
	takes("scan \"a name, \"\"quoted\"\"\",a3", SP__QUERY_SCAN, 1, "00101", NULL, 1, 0);
	takes("get 20000 *", SP__QUERY_GET, 1, "11111", NULL, 0, 20000);
	takes("  1e-3 update 7\ta1 # why", SP__QUERY_UPDATE, 1e-3, "10000", NULL, 0, 7);
	takes("append 1000", SP__QUERY_APPEND, 1, NULL, NULL, 0, 1000);
	refuses("", "the query is empty");
	refuses("3", "a line must have a weight");
	refuses("-1 scan a1", "a line must have a weight");
	refuses("seek a1", "a scan, get, update or append");
	refuses("scan", "columns are names");
	refuses("scan a1,,a2", "columns are names");
	refuses("scan pryce", "no column 'pryce'; the nearest name is 'price'");
	refuses("scan \"a1", "quote is not closed");
	refuses("scan a1 if a2 1%", "only where");
	refuses("scan a1 where a2", "needs the share");
	refuses("scan a1 where a2 101%", "a share is from 0 to 1");
	refuses("scan a1 where a2 nan", "a share is from 0 to 1");
	refuses("get 0 a1", "number of records above 0");
	refuses("get a1", "number of records above 0");
	refuses("append 5 a1", "text after the end");
	files();
	sp__schema_free(&schema);
	return done();
}
