/* SPDX-License-Identifier: MIT */
/*
 * Compares the outputs of a command with the volumes of a table.
 */
#include <stdlib.h>
#include "outputs.h"
#include "volumes.h"
#include "xtable.h"

void check_table_volumes(const struct config *c, const char *table, const struct sp_output_set *set)
{
	struct sp_table_opts o = { .run = c->run };
	struct sp_errinfo err = SP_ERRINFO_INIT;
	struct sp_table_info info;
	struct sp_table *t;
	int rc;

	o.run.trace_path = o.run.trace_tasks_path = NULL;
	rc = sp_table_open(&t, table, &o, &err);
	if (rc == SP_ESTATE)
		die_of(rc, &err); /* the wait has ended */
	if (rc)
		return;
	if (sp_table_info(t, false, &info, &err))
		info.nvolume_names = 0;
	for (size_t i = 0; i < info.nvolume_names; i++) {
		char *path = volumes_path(table, info.volume_names[i]);

		outputs_check_input(set, path);
		free(path);
	}
	(void)sp_table_close(t);
}
