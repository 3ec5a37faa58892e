/* SPDX-License-Identifier: MIT */
/*
 * Draws the bounds of queries.
 */
#pragma once

#include "dbm/run.h"

/* Draws the bounds of n queries of a row in a round, which are the same for all systems. */
void sp__bounds_draw(const struct sp__dbm_run *run, size_t row, unsigned round,
		     struct sp__dbm_question *questions, unsigned n);
