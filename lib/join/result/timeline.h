/* SPDX-License-Identifier: MIT */
/*
 * Records the times at which records of a result are complete, for the caller of the join;
 * sp_join_io defines which of them are reported.
 */
#pragma once

#include <spindle/join.h>
#include "run/env.h"

struct sp__timeline {
	const struct sp_join_io *io;
	const struct sp__env *env;
	uint64_t rows, reported; /* complete; the last one reported */
	double elapsed_s;	 /* of the last row */
};

/* Counts another complete record. */
void sp__timeline_row(struct sp__timeline *t);
/* Reports the last record, after the end. */
void sp__timeline_end(struct sp__timeline *t);
