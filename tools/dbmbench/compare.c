/* SPDX-License-Identifier: MIT */
/*
 * The command compare.
 */
#include <errno.h>
#include <stdio.h>
#include <spindle/report.h>
#include "dbmbench.h"

int command_compare(struct config *c)
{
	struct sp_errinfo err = SP_ERRINFO_INIT;
	struct sp_report *report;
	int rc = sp_report_dbm_compare(&report, c->operands.text[0], c->operands.text[1], &err);

	if (rc)
		die_of(rc, &err);
	rc = c->json ? sp_report_json(report, stdout)
		     : sp_report_text(report, stdout, terminal_columns(1));
	sp_report_free(report);
	if (rc)
		die_sys(rc == -ENOMEM ? ENOMEM : errno, "write error");
	return 0;
}
