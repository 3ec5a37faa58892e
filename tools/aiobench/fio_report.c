/* SPDX-License-Identifier: MIT */
/*
 * Writes the report of all measurements of a job file as one document in fio's format.
 */
#include "aiobench.h"

const struct sp_enum_value fio_report_formats[] = { { "text", false },
						    { "fio-json", true },
						    { 0 } };

static struct sp_report *whole;

void fio_report_add(const struct config *o, const struct sp_bench *bench)
{
	if (!whole)
		whole = sp_report_fio(&o->bench);
	if (!whole || sp_report_add_fio(whole, &o->bench, bench) < 0)
		die("memory exhausted");
}

void fio_report_finish(void)
{
	if (!whole)
		return;
	/* a failure is found when standard output is closed */
	(void)sp_report_json(whole, stdout);
	sp_report_free(whole);
}
