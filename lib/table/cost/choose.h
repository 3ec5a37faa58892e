/* SPDX-License-Identifier: MIT */
/*
 * The search of choose.c, and the time of a layout that it uses.
 */
#pragma once

#include "table/cost/candidates.h"

/*
 * Returns in *seconds the time of the workload on a layout: measured on a simulated volume, else
 * predicted.  requests_max: see struct sp__cost_opts.  Returns 0, SP_EUNSUP if the layout is
 * impossible, -ENOMEM, or an error of the device.
 */
SP_MUST_CHECK int sp__cost_seconds(const struct sp__cost_question *q,
				   const struct sp__cost_choice *choice, uint64_t requests_max,
				   double *seconds, struct sp_errinfo *err);
