/* SPDX-License-Identifier: MIT */
/*
 * Makes the requests of a scan, as read/access.h does.
 */
#pragma once

#include "table/cost/maker.h"

/* Returns 0 or an error; *scattered: as struct sp__table_cost. */
SP_MUST_CHECK int sp__cost_scan(struct sp__cost_maker *m, bool *scattered);
