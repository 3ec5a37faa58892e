/* SPDX-License-Identifier: MIT */
/*
 * Comparing the layouts of a stored table: requests, bytes and time of scans of it are those of the
 * scan, and errors are explained.
 *
 * With an argument, each layout is scanned on all devices, else on one or two.
 */
#define TAP_SLOW
#define TAP_THREADS 0
#include <math.h>
#include <stdio.h>
#include <unistd.h>
#include <spindle/table.h>
#include "table/state.h"
#include "tablecase.h"
#include "tap.h"

#define RECORDS 150000

static const char path[] = "compare.tmp";

static void make(unsigned form, bool with_text)
{
	const struct tablecase t = { .ncolumns = 12,
				     .cell_bytes = 4096,
				     .form = form,
				     .records = RECORDS,
				     .with_text = with_text };
	const struct sp_run_opts run = SP_RUN_OPTS_INIT;
	struct sp_errinfo err = SP_ERRINFO_INIT;

	if (tablecase_create(&t, path, &run, &err)) {
		diag("%s", err.text);
		exit(1);
	}
}

static int drop(void *arg, const char *data, size_t bytes)
{
	(void)arg, (void)data, (void)bytes;
	return 0;
}

/* Scans columns in the time of a device. */
static struct sp_table_stats scan(const char *columns, const char *volume)
{
	struct sp_table_query query = SP_TABLE_QUERY_INIT;
	struct sp_table_opts open = SP_TABLE_OPTS_INIT;
	struct sp_errinfo err = SP_ERRINFO_INIT;
	struct sp_table_stats stats = { 0 };
	struct sp_table *t = NULL;

	open.run.volume = volume;
	open.run.parallel = 2;
	open.run.memory_bytes = 64 << 20;
	query.columns = columns;
	if (sp_table_open(&t, path, &open, &err) ||
	    sp_table_scan(t, &query, drop, NULL, &stats, &err)) {
		diag("%s", err.text);
		exit(1);
	}
	(void)sp_table_close(t);
	return stats;
}

static struct sp_table_comparison compare(const char *columns, const char *volume)
{
	char query[80];
	const char *const queries[] = { query };
	struct sp_table_compare_opts o = SP_TABLE_COMPARE_OPTS_INIT;
	struct sp_table_opts open = SP_TABLE_OPTS_INIT;
	struct sp_errinfo err = SP_ERRINFO_INIT;
	struct sp_table_comparison c;
	struct sp_table *t = NULL;

	snprintf(query, sizeof(query), "scan %s", columns);
	o.queries = queries;
	o.nqueries = 1;
	o.run.volume = volume;
	o.run.parallel = 2;
	o.run.memory_bytes = 64 << 20;
	if (sp_table_open(&t, path, &open, &err) || sp_table_compare(t, &o, &c, &err)) {
		diag("%s", err.text);
		exit(1);
	}
	(void)sp_table_close(t);
	return c;
}

static void judge(unsigned form, const char *volume, const char *columns)
{
	struct sp_table_stats is = scan(columns, volume);
	struct sp_table_comparison c = compare(columns, volume);
	const struct sp_table_cost *p = &c.stored.costs[0];

	ok(fabs(p->bytes - (double)is.run.read_bytes) < 0.5 &&
		   fabs(p->requests - (double)is.run.read_requests) < 0.5,
	   "%s, %s, scan %s: %.0f requests of %.0f bytes", sp_table_layout_name((int)form), volume,
	   columns, p->requests, p->bytes);
	if (fabs(p->predicted_s - is.run.elapsed_s) <= 0.1 * is.run.elapsed_s)
		ok(true, "in %.5f s, predicted %.5f (%+.1f %%)", is.run.elapsed_s, p->predicted_s,
		   100 * (p->predicted_s / is.run.elapsed_s - 1));
	else
		ok(false, "in %.5f s, predicted %.5f (%+.1f %%); %.0f requests of %.0f bytes",
		   is.run.elapsed_s, p->predicted_s, 100 * (p->predicted_s / is.run.elapsed_s - 1),
		   (double)is.run.read_requests, (double)is.run.read_bytes);
	sp_table_comparison_free(&c);
}

/* What a scan of a table that exceeds the memory is predicted to read is what it reads. */
static void predictions(unsigned form, bool all)
{
	static const char *const volumes[] = {
		"sim:cheetah36es-like", "sim:atlas10k3-like", "sim:nearline6t-like",
		"sim:serpentine",	"sim:flash",	      "sim:mems-thesis"
	};
	static const char *const columns[] = { "column1",
					       "column0,column1,column2,column5,column6,column7" };

	make(form, false);
	for (unsigned i = 0; i < sizeof(volumes) / sizeof(*volumes); i++) {
		for (unsigned k = 0; k < 2 && (all || i % 4 == form); k++)
			judge(form, volumes[i], columns[k]);
	}
	unlink(path);
}

static void refuse(const struct sp_table_compare_opts *o, int code, const char *reason)
{
	struct sp_table_opts open = SP_TABLE_OPTS_INIT;
	struct sp_errinfo err = SP_ERRINFO_INIT;
	struct sp_table_comparison c;
	struct sp_table *t = NULL;
	int rc;

	if (sp_table_open(&t, path, &open, &err))
		exit(1);
	rc = sp_table_compare(t, o, &c, &err);
	ok(rc == code && strstr(err.text, reason), "refused: %s", err.text);
	(void)sp_table_close(t);
}

/* The stored table can be run, too: in virtual time here. */
static void measured(void)
{
	static const char *const queries[] = { "scan *", "3 get 5 column1", "update 5 column1" };
	struct sp_table_compare_opts o = SP_TABLE_COMPARE_OPTS_INIT;
	struct sp_table_opts open = SP_TABLE_OPTS_INIT;
	struct sp_errinfo err = SP_ERRINFO_INIT;
	struct sp_table_comparison c;
	struct sp_table *t = NULL;
	int rc;

	make(SP_TABLE_CSM, false);
	open.run.volume = "sim:nearline6t-like"; /* without a cache: its hits are not predicted */
	o.queries = queries;
	o.nqueries = 3;
	o.measure_stored = true;
	rc = sp_table_open(&t, path, &open, &err);
	if (!rc)
		rc = sp_table_compare(t, &o, &c, &err);
	if (!ok(!rc, "a stored table is measured: %s", rc ? err.text : ""))
		return;
	for (unsigned i = 0; i < 2; i++)
		ok(fabs(c.stored.costs[i].measured_s - c.stored.costs[i].predicted_s) <=
			   0.1 * c.stored.costs[i].measured_s,
		   "'%s' takes %.5f s, predicted %.5f", c.queries[i], c.stored.costs[i].measured_s,
		   c.stored.costs[i].predicted_s);
	ok(isnan(c.stored.costs[2].measured_s) && isnan(c.candidates[0].costs[0].measured_s),
	   "updates are not run, and other layouts are not measured");
	sp_table_comparison_free(&c);
	(void)sp_table_close(t);
	unlink(path);
}

static void refusals(void)
{
	static const char *const wrong[] = { "scan colum1" }, *const right[] = { "scan *" };
	struct sp_table_compare_opts o = SP_TABLE_COMPARE_OPTS_INIT;

	make(SP_TABLE_CSM, false);
	refuse(&o, SP_ESYNTAX, "a workload or a query");
	o.queries = wrong;
	o.nqueries = 1;
	refuse(&o, SP_ESYNTAX, "the nearest name is 'column1'");
	o.queries = right;
	o.measure = true;
	refuse(&o, SP_EUNSUP, "--volume=sim:MODEL");
	o.run.volume = "sim:floppy";
	refuse(&o, -ENOENT, "no such model");
	o.run.volume = NULL;
	o.measure = false;
	o.workload = "missing.tmp";
	refuse(&o, -ENOENT, "");
	unlink(path);
}

/* R of 8 million records, on the device of the design. */
static void from_schema(void)
{
	static const char *const queries[] = { "scan a1,a2" };
	static const char file[] = "schema.tmp";
	struct sp_table_compare_opts o = SP_TABLE_COMPARE_OPTS_INIT;
	struct sp_errinfo err = SP_ERRINFO_INIT;
	struct sp_table_comparison c;
	FILE *f = fopen(file, "w");
	int rc;

	for (unsigned i = 1; f && i <= 15; i++)
		fprintf(f, "a%u f64\n", i);
	if (!f || fclose(f))
		exit(1);
	o.queries = queries;
	o.nqueries = 1;
	rc = sp_table_compare_schema(file, 8000000, &o, &c, &err);
	ok(!rc && !c.stored.costs && c.candidates[SP_TABLE_NSM].sum.bytes < 963772417 &&
		   c.candidates[SP_TABLE_NSM].sum.bytes > 963772415,
	   "NSM of R reads 117,648 cells: %s", rc ? err.text : "");
	ok(!rc && c.candidates[SP_TABLE_CSM].full_reads > 10,
	   "%.0f reads of a full record outweigh a scan",
	   rc ? 0 : c.candidates[SP_TABLE_CSM].full_reads);
	if (!rc)
		sp_table_comparison_free(&c);
	if (truncate(file, 0))
		exit(1);
	ok(sp_table_compare_schema(file, 5, &o, &c, &err) == SP_ESYNTAX &&
		   strstr(err.text, "no columns"),
	   "an empty schema: %s", err.text);
	unlink(file);
	ok(sp_table_compare_schema(file, 5, &o, &c, &err) == -ENOENT, "a missing one");
}

static void write_input(const char *file)
{
	struct sp__rng rng = { 34 };
	FILE *f = fopen(file, "w");

	if (!f)
		exit(1);
	fputs("id,name,price,day,note\n", f);
	for (unsigned i = 0; i < 20000; i++)
		fprintf(f, "%u,name %u,%u.%02u,20%02u-01-02,%.*s\n", i, i,
			(unsigned)sp__rng_below(&rng, 9000), (unsigned)sp__rng_below(&rng, 100),
			10 + (unsigned)sp__rng_below(&rng, 80), (int)sp__rng_below(&rng, 20),
			"a text of some length");
	if (fclose(f))
		exit(1);
}

/* Loads with the layout for a query; returns the number of column groups. */
static size_t groups_for(const char *input, const char *query)
{
	static const char workload[] = "workload.tmp";
	struct sp_table_load_opts load = SP_TABLE_LOAD_OPTS_INIT;
	struct sp_table_opts open = SP_TABLE_OPTS_INIT;
	struct sp_errinfo err = SP_ERRINFO_INIT;
	struct sp_table_info info = { 0 };
	struct sp_table *t = NULL;
	FILE *f = fopen(workload, "w");

	if (!f || fprintf(f, "%s\n", query) < 0 || fclose(f))
		exit(1);
	load.format = SP_TABLE_CSV;
	load.header = true;
	load.layout = SP_TABLE_AUTO;
	load.workload = workload;
	load.run.overwrite = true;
	if (sp_table_load(path, &input, 1, &load, NULL, &err) ||
	    sp_table_open(&t, path, &open, &err) || sp_table_info(t, true, &info, &err)) {
		diag("%s: %s", query, err.text);
		exit(1);
	}
	(void)sp_table_close(t);
	unlink(workload);
	unlink(path);
	return info.ngroups;
}

static void loads(void)
{
	static const char *const input = "compare-input.tmp", *const queries[] = { "scan price",
										   "get 9 *" };
	struct sp_table_compare_opts o = SP_TABLE_COMPARE_OPTS_INIT;
	struct sp_table_load_opts load = SP_TABLE_LOAD_OPTS_INIT;
	struct sp_errinfo err = SP_ERRINFO_INIT;
	struct sp_table_comparison c;
	int rc;

	write_input(input);
	load.format = SP_TABLE_CSV;
	load.header = true;
	o.queries = queries;
	o.nqueries = 2;
	rc = sp_table_compare_input(&input, 1, &load, &o, &c, &err);
	ok(!rc && c.records == 20000 && c.nqueries == 2 && !c.stored.costs,
	   "a text is compared before it is loaded: %s", rc ? err.text : "20000 records");
	if (!rc)
		ok(c.candidates[SP_TABLE_CSM].costs[0].bytes <
			   c.candidates[SP_TABLE_NSM].costs[0].bytes,
		   "a scan of a column reads %.0f bytes instead of %.0f",
		   c.candidates[SP_TABLE_CSM].costs[0].bytes,
		   c.candidates[SP_TABLE_NSM].costs[0].bytes);
	if (!rc)
		sp_table_comparison_free(&c);
	ok(groups_for(input, "scan price") == 5, "auto stores columns apart for scans of one");
	ok(groups_for(input, "get 1000 *") == 1, "and together for reads of full records");
	load.layout = SP_TABLE_AUTO;
	load.run.overwrite = true;
	ok(sp_table_load(path, &input, 1, &load, NULL, &err) == SP_ESYNTAX &&
		   strstr(err.text, "needs a workload"),
	   "auto without a workload is refused: %s", err.text);
	unlink(input);
}

int main(int argc, char **argv)
{
	(void)argv;
	from_schema();
	loads();
	for (unsigned form = SP_TABLE_NSM; form <= SP_TABLE_CSM; form++)
		predictions(form, argc > 1);
	measured();
	refusals();
	return done();
}
