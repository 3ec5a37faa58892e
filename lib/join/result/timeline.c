/* SPDX-License-Identifier: MIT */
/* Reports when records of the result were complete (timeline.h). */
#include "join/result/timeline.h"

/* From this number on, a row is reported if all but its first three digits are 0. */
#define DIGITS_BEYOND 1000

static void report(struct sp__timeline *t)
{
	t->reported = t->rows;
	t->io->row(t->io->row_arg, t->rows, t->elapsed_s);
}

static bool is_reported(uint64_t row)
{
	while (row >= DIGITS_BEYOND && row % 10 == 0)
		row /= 10;
	return row < DIGITS_BEYOND;
}

void sp__timeline_row(struct sp__timeline *t)
{
	t->rows++;
	t->elapsed_s = (double)(sp__env_now_ns(t->env) - t->env->begin_ns) * 1e-9;
	if (is_reported(t->rows))
		report(t);
}

void sp__timeline_end(struct sp__timeline *t)
{
	if (t->rows > t->reported)
		report(t);
}
