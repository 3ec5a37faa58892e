/* SPDX-License-Identifier: MIT */
/*
 * The commands systems, run and compare.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <spindle/report.h>
#include "dbmbench.h"
#include "gnuplot.h"
#include "outputs.h"
#include "signals.h"

int command_compare(struct config *c)
{
	struct sp_errinfo err = SP_ERRINFO_INIT;
	struct sp_report *report;
	int rc = sp_report_dbm_compare(&report, c->operands.text[0], c->operands.text[1], &err);

	if (rc)
		die_of(rc, &err);
	rc = c->json ? sp_report_json(report, stdout)
		     : sp_report_text(report, stdout, terminal_columns(1));
	statsfile_finish(&c->statsfile, report);
	if (rc)
		die_sys(rc == -ENOMEM ? ENOMEM : errno, "write error");
	return 0;
}

/* Finds all systems; the caller frees them.  An error ends the program. */
static struct sp_dbm_system *find_all(const struct config *c, size_t *n)
{
	struct sp_errinfo err = SP_ERRINFO_INIT;
	struct sp_dbm_system *systems;
	int rc = sp_dbm_systems(c->run.adapters, &systems, n, &err);

	if (rc)
		die_of(rc, &err);
	return systems;
}

int command_systems(struct config *c)
{
	size_t n;
	struct sp_dbm_system *systems = find_all(c, &n);

	for (size_t i = 0; i < n; i++)
		if (systems[i].version)
			printf("%-12s %s\n", quote_plain(systems[i].name),
			       quote_plain(systems[i].version));
	for (size_t i = 0; i < n; i++)
		if (!systems[i].version)
			printf("%-12s absent: %s\n", quote_plain(systems[i].name),
			       quote_plain(systems[i].failure));
	sp_dbm_systems_free(systems, n);
	return 0;
}

static void show_progress(void *arg, const char *system, const char *what, double share_done)
{
	(void)arg;
	progress_draw("%3.0f %%  %s: %s", 100 * share_done, quote_plain(system), what);
}

/* Takes all systems that work here.  Their names are never freed: they are in use to the end. */
static void take_all(struct config *c)
{
	size_t n;
	struct sp_dbm_system *systems = find_all(c, &n);

	for (size_t i = 0; i < n && c->run.nsystems < SP_DBM_SYSTEMS_MAX; i++)
		if (systems[i].version)
			c->names[c->run.nsystems++] = must_copy(systems[i].name);
	sp_dbm_systems_free(systems, n);
	if (!c->run.nsystems)
		die("%s: no system works here; `dbmbench systems` says why",
		    quote_file(c->run.adapters));
}

/* Writes one of the files of the result folder: the report, or without one a table. */
static void write_file(const struct config *c, const char *name, const struct sp_dbm_result *r,
		       const struct sp_report *report)
{
	struct sp_errinfo err = SP_ERRINFO_INIT;
	struct sp_outfile *out;
	char *path;
	FILE *f;
	int fd;

	if (asprintf(&path, "%s/%s", c->run.folder, name) < 0)
		die_sys(ENOMEM, "%s", name);
	if (sp_outfile_open(&out, path, 0, &err) < 0)
		output_die(&err);
	fd = sp_outfile_begin(out, &err);
	f = fd < 0 ? NULL : fdopen(dup(fd), "w");
	if (!f)
		output_die(&err);
	if (report && sp_report_json(report, f))
		die_sys(errno, "%s", quote_file(path));
	if (!report)
		table_write(f, name[0] == 't' ? TABLE_MARKDOWN : TABLE_CSV, r);
	if (ferror(f) | fclose(f))
		die_sys(errno, "%s", quote_file(path));
	if (sp_outfile_commit(out, &err) < 0)
		output_die(&err);
	sp_outfile_close(out, &err);
	free(path);
}

static void print_head(const struct sp_dbm_result *r)
{
	printf("T1: %llu records, T2: %llu; %s, %u processors\n", (unsigned long long)r->t1_records,
	       (unsigned long long)r->t2_records,
	       *r->machine ? quote_plain(r->machine) : "unknown processor", r->processors);
	printf("counters: %s", sp_dbm_counters_name(r->counters));
	if (r->counters_reason)
		printf(" (%s)", quote_plain(r->counters_reason));
	putchar('\n');
}

/* Prints what each system took before the first query, and to start without one. */
static void print_systems(const struct sp_dbm_result *r)
{
	for (size_t i = 0; i < r->nsystems; i++) {
		const struct sp_dbm_system *s = &r->systems[i];

		if (!isfinite(s->empty.wall_s)) /* it has not come so far */
			continue;
		printf("%s: %s; loaded in %.3g s, indexes in %.3g s, %.3g MB; "
		       "a unit without queries %.3g ms\n",
		       quote_plain(s->name), quote_plain(s->version), s->load_s, s->index_s,
		       (double)s->loaded_bytes / 1e6, s->empty.wall_s * 1e3);
	}
}

/* Prints and writes what was measured.  Returns the exit status. */
static int finish(struct config *c, const struct sp_dbm_result *r)
{
	struct sp_report *report = sp_report_dbm(&c->run, r);
	int status = 0;

	if (!report)
		die_sys(ENOMEM, "report");
	write_file(c, "report.json", r, report);
	write_file(c, "table.md", r, NULL);
	write_file(c, "results.csv", r, NULL);
	if (c->json) {
		(void)!sp_report_json(report, stdout);
	} else {
		print_head(r);
		print_systems(r);
		table_write(stdout, TABLE_TEXT, r);
	}
	statsfile_finish(&c->statsfile, report);
	if (c->plot)
		plot_result(c->plot, r);
	for (size_t i = 0; i < r->nsystems; i++)
		if (r->systems[i].version && r->systems[i].failure) {
			msg("%s was skipped: %s", quote_file(r->systems[i].name),
			    quote_plain(r->systems[i].failure));
			status = NEGATIVE;
		}
	for (size_t i = 0; i < r->ncells; i++)
		status = r->cells[i].plan_lacks ? NEGATIVE : status;
	if (r->stopped)
		msg("stopped early: the report has what was measured");
	return status;
}

int command_run(struct config *c)
{
	struct sp_errinfo err = SP_ERRINFO_INIT;
	struct sp_dbm_result result;
	int rc, status = 0;

	report_need();
	if (!c->run.nsystems)
		take_all(c);
	if (progress_wanted(c->progress, 1))
		c->run.progress = show_progress;
	signals_interrupt();
	c->run.stop = &interrupted;
	rc = sp_dbm_run(&c->run, &result, &err);
	progress_wipe();
	if (!rc || result.nunits)
		status = finish(c, &result);
	sp_dbm_free(&result);
	if (rc)
		die_of(rc, &err);
	return status;
}
