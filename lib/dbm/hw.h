/* SPDX-License-Identifier: MIT */
/*
 * The processor's own counters, of the children of this process and of servers.
 */
#pragma once

#include "dbm/usage.h"

struct sp__hw;

/* Returns 0 if the kernel allows counting, kernel: in itself, too; or an error with the reason. */
int sp__hw_try(bool *kernel, struct sp_errinfo *err);
/* Begins to count children that are started from now on, and servers.  Returns 0 or an error. */
SP_MUST_CHECK int sp__hw_begin(struct sp__hw **hw, const struct sp__dbm_servers *servers,
			       struct sp_errinfo *err);
/* Adds what was counted; used: NULL: forgets it. */
void sp__hw_end(struct sp__hw **hw, struct sp_dbm_usage *used);
