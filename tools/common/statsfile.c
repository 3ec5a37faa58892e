/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <string.h>
#include "msg.h"
#include "quote.h"
#include "statsfile.h"

FILE *statsfile_open(const char *name)
{
	FILE *f;

	if (!name)
		return NULL;
	if (!strcmp(name, "-"))
		return stderr;
	f = fopen(name, "we");
	if (!f)
		die_sys(errno, "open failed: %s", quote_file(name));
	return f;
}

void statsfile_write(FILE *f, const char *name, const struct sp_report *report)
{
	int rc;

	if (!f)
		return;
	if (!report)
		die("memory exhausted");
	rc = sp_report_json(report, f);
	if (rc < 0)
		die_sys(-rc, "write failed: %s", quote_file(name));
}

void statsfile_close(FILE *f, const char *name)
{
	if (f && f != stderr && fclose(f))
		die_sys(errno, "write failed: %s", quote_file(name));
}

void statsfile_finish(FILE *f, const char *name, struct sp_report *report)
{
	statsfile_write(f, name, report);
	statsfile_close(f, name);
	sp_report_free(report);
}

void statsfile_plan(FILE *f, const char *name, struct sp_report *report)
{
	int rc;

	if (!report)
		die("memory exhausted");
	rc = f ? 0 : sp_report_text(report, stderr, 0);
	if (rc < 0)
		die_sys(-rc, "write failed: standard error");
	statsfile_finish(f, name, report);
}
