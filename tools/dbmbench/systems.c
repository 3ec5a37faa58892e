/* SPDX-License-Identifier: MIT */
/*
 * The command systems.
 */
#include <stdio.h>
#include "dbmbench.h"

int command_systems(struct config *c)
{
	struct sp_errinfo err = SP_ERRINFO_INIT;
	struct sp_dbm_system *systems;
	size_t n;
	int rc = sp_dbm_systems(c->run.adapters, &systems, &n, &err);

	if (rc)
		die_of(rc, &err);
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
