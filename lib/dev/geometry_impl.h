/* SPDX-License-Identifier: MIT */
/*
 * Between the files that make a geometry from a model.
 */
#ifndef SP__DEV_GEOMETRY_IMPL_H
#define SP__DEV_GEOMETRY_IMPL_H

#include "dev/geometry.h"
#include "dev/model.h"

/* Fills in transfer_s_per_mb and seek_s from how the model's device behaves; 0 or -ENOMEM. */
SP_MUST_CHECK int sp__geometry_measure(struct sp_geometry *g, const struct sp__model *m);

#endif
