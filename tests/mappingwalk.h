/* SPDX-License-Identifier: MIT */
/*
 * Walks the cells of a box on all volumes of a mapping.
 */
#pragma once

#include "place/walk.h"

static inline int mapping_walk(const struct sp__mapping *m, const struct sp_cube_box *box,
			       sp__cells_fn fn, void *arg)
{
	struct sp__cubewalk w;
	int rc = 0;

	for (unsigned v = 0; !rc && v < m->basic.volumes; v++) {
		sp__cubewalk_begin(&w, m, box, v);
		rc = sp__cubewalk_runs(&w, fn, arg);
	}
	return rc;
}
