/* SPDX-License-Identifier: MIT */
/*
 * Walks all fragments of a cube on all volumes.
 */
#pragma once

#include "cube/mapping/fragments.h"

static inline int walk_all(const struct sp__fragments *p, const struct sp_cube_box *box,
			   sp__cells_fn fn, void *arg)
{
	struct sp__fragwalk w;
	int rc = 0;

	for (unsigned v = 0; !rc && v < p->list[0]->mapping.basic.volumes; v++) {
		sp__fragwalk_begin(&w, p, box, v);
		rc = sp__fragwalk_runs(&w, fn, arg);
	}
	return rc;
}
