/* SPDX-License-Identifier: MIT */
/*
 * Makes the requests of updates and appends, as table/change does.
 */
#pragma once

#include "table/cost/maker.h"

/* Return 0 or an error. */
SP_MUST_CHECK int sp__cost_update(struct sp__cost_maker *m);
SP_MUST_CHECK int sp__cost_append(struct sp__cost_maker *m);
