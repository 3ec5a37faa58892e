/* SPDX-License-Identifier: MIT */
/*
 * A sort as other capabilities use it, beyond <spindle/sort.h>.
 */
#ifndef SP__SORT_SORT_H
#define SP__SORT_SORT_H

#include <spindle/sort.h>

struct sp__env;

/* sp_sort_new(); plan: the environment of a plan whose simulated device is used, or NULL. */
SP_MUST_CHECK int sp__sort_new(struct sp_sort **sort, const struct sp_sort_opts *opts,
			       const struct sp__env *plan, struct sp_errinfo *err);
/* sp_sort_free(); 0, or the error if the trace could not be written.  Accepts NULL. */
int sp__sort_free(struct sp_sort *sort);
/* The result has been written: on a simulated machine, waits for its device. */
void sp__sort_sync(struct sp_sort *sort);
/* Its run environment, until it is freed. */
struct sp__env *sp__sort_env(struct sp_sort *sort);

#endif
