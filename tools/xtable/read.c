/* SPDX-License-Identifier: MIT */
/*
 * Commands that find records: scan, get and index.
 */
#include <unistd.h>
#include "xtable.h"

/* Sets the last record of a scan from --hi, which is behind it. */
static void end_scan(struct sp_table_query *q)
{
	if (!q->hi)
		q->lo = 1; /* no record */
	else if (q->hi != UINT64_MAX)
		q->hi--;
}

int command_scan(struct config *c)
{
	struct sp_errinfo err = SP_ERRINFO_INIT;
	struct sp_table_stats st;
	const int out = STDOUT_FILENO;

	open_table(c, false, false);
	c->query.fd = &out;
	end_scan(&c->query);
	check_printed(sp_table_scan(c->table, &c->query, print_records, c, &st, &err), &err);
	return end_command(c, "scan", &st);
}

int command_get(struct config *c)
{
	struct sp_errinfo err = SP_ERRINFO_INIT;
	struct sp_table_stats st;
	struct sp_table_get get = { .by = c->by,
				    .index = c->query.index,
				    .columns = c->query.columns,
				    .discard = c->query.discard,
				    .format = c->query.format,
				    .keys = keys_next,
				    .keys_arg = &c->wanted,
				    .absent = name_absent,
				    .absent_arg = c };

	open_table(c, false, false);
	open_wanted(c);
	check_printed(sp_table_get(c->table, &get, print_records, c, &st, &err), &err);
	return end_command(c, "get", &st);
}

int command_index(struct config *c)
{
	struct sp_errinfo err = SP_ERRINFO_INIT;
	struct sp_table_stats st;
	int rc;

	open_table(c, false, false);
	rc = sp_table_index(c->table, c->operands.text[1], c->output, &st, &err);
	if (rc)
		die_of(rc, &err);
	return end_command(c, "index", &st);
}
