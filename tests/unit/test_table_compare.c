/* SPDX-License-Identifier: MIT */
/*
 * Comparing the layouts of a stored table: what its own layout reads is exact, and errors are
 * explained.
 */
#include <math.h>
#include <stdio.h>
#include <unistd.h>
#include <spindle/table.h>
#include "table/state.h"
#include "tablecase.h"
#include "tap.h"

static const char path[] = "compare.tmp";

static void make(unsigned form, bool with_text)
{
	const struct tablecase t = { .ncolumns = 12,
				     .cell_bytes = 512,
				     .form = form,
				     .records = 20000,
				     .with_text = with_text };
	const struct sp_run_opts run = SP_RUN_OPTS_INIT;
	struct sp_errinfo err = SP_ERRINFO_INIT;

	if (tablecase_create(&t, path, &run, &err)) {
		diag("%s", err.text);
		exit(1);
	}
}

/* The cells with records of columns 1 and 2 (numbers from 0), in runs that adjoin in the file. */
static void count(const struct sp__tablefile *f, uint64_t *cells, uint64_t *runs)
{
	uint64_t last = 0;

	*cells = *runs = 0;
	for (uint64_t n = 0; n < sp__layout_data_cells(&f->layout, f->superblock.records); n++) {
		const struct sp__layout_position at = sp__layout_position(&f->layout, n);
		uint64_t cell = sp__map_cell(&f->map, SP__AREA_DATA, n);

		if ((at.group != f->layout.places[1].group &&
		     at.group != f->layout.places[2].group) ||
		    !sp__layout_cell_records(&f->layout, f->superblock.records, &at))
			continue;
		*runs += !*cells || cell != last + 1;
		++*cells;
		last = cell;
	}
}

static void exact(unsigned form)
{
	static const char *const queries[] = { "scan column1,column2", "100 get 1 *" };
	struct sp_table_compare_opts o = SP_TABLE_COMPARE_OPTS_INIT;
	struct sp_table_opts open = SP_TABLE_OPTS_INIT;
	struct sp_errinfo err = SP_ERRINFO_INIT;
	struct sp_table_comparison c;
	const struct sp_table_cost *scan;
	struct sp_table *t = NULL;
	uint64_t cells, runs;

	make(form, false);
	o.queries = queries;
	o.nqueries = 2;
	o.run.volume = "sim:flash";
	o.measure = true;
	if (sp_table_open(&t, path, &open, &err) || sp_table_compare(t, &o, &c, &err)) {
		ok(false, "form %u: %s", form, err.text);
		return;
	}
	count(&t->file, &cells, &runs);
	scan = &c.stored.costs[0];
	ok(scan->bytes <= (double)(cells * 512) && scan->bytes >= (double)(cells * 512),
	   "form %u: a scan of the stored table reads %.0f bytes", form, scan->bytes);
	ok(scan->requests >= (double)runs && scan->requests <= (double)runs + scan->bytes / 1e6,
	   "in a request for each run of cells: %.0f", scan->requests);
	ok(isfinite(c.stored.sum.measured_s) && c.nqueries == 2 && c.records == 20000 &&
		   c.candidates[SP_TABLE_AUTO].sum.measured_s <=
			   1.05 * c.candidates[form].sum.measured_s,
	   "the choice takes %.4f s, form %u %.4f s", c.candidates[SP_TABLE_AUTO].sum.measured_s,
	   form, c.candidates[form].sum.measured_s);
	sp_table_comparison_free(&c);
	(void)sp_table_close(t);
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

int main(void)
{
	from_schema();
	for (unsigned form = SP_TABLE_NSM; form <= SP_TABLE_CSM; form++)
		exact(form);
	refusals();
	return done();
}
