/* SPDX-License-Identifier: MIT */
/*
 * Makes the requests of a scan, as read/scan.h does.
 */
#pragma once

#include "table/cost/maker.h"

/* Returns 0 or an error; *scattered: as struct sp__table_cost. */
SP_MUST_CHECK int sp__cost_scan(struct sp__cost_maker *m, bool *scattered);
/*
 * Returns the share of chosen records below which a scan takes less time if it reads the column
 * groups `first`, those of the predicate, and then only the cells of its other ones that have a
 * chosen record; 0: it has no others.
 */
double sp__cost_switch_share(const struct sp__platform *p, const struct sp__table_layout *l,
			     const bool *groups, const bool *first);
