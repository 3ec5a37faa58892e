/* SPDX-License-Identifier: MIT */
/*
 * Commands that read records: scan and get.
 */
#include "xtable.h"

int command_scan(struct config *c)
{
	struct sp_errinfo err = SP_ERRINFO_INIT;
	struct sp_table_stats st;

	open_table(c, false, false);
	check_printed(sp_table_scan(c->table, &c->query, print_records, NULL, &st, &err), &err);
	report(c, "scan", &st);
	close_table(c);
	return 0;
}

int command_get(struct config *c)
{
	struct sp_errinfo err = SP_ERRINFO_INIT;
	struct sp_table_stats st;
	struct keys keys;
	struct sp_table_get get = { .columns = c->query.columns,
				    .format = c->query.format,
				    .keys = keys_next,
				    .keys_arg = &keys,
				    .absent = keys_absent,
				    .absent_arg = &keys };

	open_table(c, false, false);
	keys_open(&keys, c);
	check_printed(sp_table_get(c->table, &get, print_records, NULL, &st, &err), &err);
	report(c, "get", &st);
	keys_close(&keys);
	close_table(c);
	return keys.absent ? NEGATIVE : 0;
}
