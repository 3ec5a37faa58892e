/* SPDX-License-Identifier: MIT */
/*
 * Writes the report of --stats.
 */
#include <stdio.h>
#include <string.h>
#include <time.h>
#include "msg.h"
#include "outputs.h"
#include "statsfile.h"

static const char as_text[] = "-";

void statsfile_set(void *to, const char *option, const char *text)
{
	(void)option;
	*(const char **)to = text ? text : as_text;
}

void report_need(void)
{
	struct sp_errinfo err = SP_ERRINFO_INIT;

	if (sp_report_check(&err) < 0)
		die("%s: %s", err.path, err.text);
}

void statsfile_open(struct statsfile *s, const char *name)
{
	struct sp_errinfo err = SP_ERRINFO_INIT;

	*s = (struct statsfile){ .name = name };
	if (name)
		report_need();
	if (name && strcmp(name, "-") != 0 && sp_outfile_open(&s->out, name, 0, &err) < 0)
		output_die(&err);
}

static _Noreturn void write_failed(struct statsfile *s, int rc)
{
	struct sp_errinfo err = SP_ERRINFO_INIT;

	if (!s->out)
		die_sys(-rc, "write failed: standard error");
	err.code = rc;
	err.op = "write";
	snprintf(err.path, sizeof(err.path), "%s", s->name);
	sp_outfile_close(s->out, &err);
	output_die(&err);
}

void statsfile_write(struct statsfile *s, const struct sp_report *report)
{
	struct sp_errinfo err = SP_ERRINFO_INIT;
	FILE *f = stderr;
	int rc;

	if (!s->name)
		return;
	if (!report)
		die("memory exhausted");
	if (s->out && sp_outfile_stream(s->out, &f, &err) < 0)
		output_die(&err);
	rc = s->name == as_text ? sp_report_text(report, f, 0) : sp_report_json(report, f);
	if (rc < 0)
		write_failed(s, rc);
	s->written = true;
}

void statsfile_close(struct statsfile *s)
{
	struct sp_errinfo err = SP_ERRINFO_INIT;

	if (s->written)
		(void)!sp_outfile_commit(s->out, &err);
	sp_outfile_close(s->out, &err);
	s->out = NULL;
	s->name = NULL;
	if (err.code < 0)
		output_die(&err);
}

void statsfile_finish(struct statsfile *s, struct sp_report *report)
{
	statsfile_write(s, report);
	statsfile_close(s);
	sp_report_free(report);
}

/* Returns the processor time of the process. */
static double cpu_s(void)
{
	struct timespec t = { 0 };

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

void statsfile_tell(struct statsfile *s, struct sp_report *report, int text)
{
	int rc = 0;

	if (!report)
		die("memory exhausted");
	if (!s->name && (text & STATSFILE_SUMMARY))
		rc = sp_report_summary(report, cpu_s(), stderr);
	if (!s->name && (text & STATSFILE_DETAILS) && !rc) {
		putc('\n', stderr);
		rc = sp_report_text(report, stderr, 0);
	}
	if (rc < 0)
		die_sys(-rc, "write failed: standard error");
	statsfile_finish(s, report);
}
