/* SPDX-License-Identifier: MIT */
/* Computes cylinders and heads of tracks, and names the order of heads. */
#include "dev/drive.h"
#include "probe/hops/order.h"

void sp__order_where(const struct sp__trackorder *o, uint64_t track, uint64_t *cyl, uint64_t *head)
{
	uint64_t round = (uint64_t)o->band * o->surfaces, at;

	*head = 0;
	*cyl = track;
	if (o->kind == SP__ORDER_CYLINDER) {
		*cyl = track / o->surfaces;
		*head = track % o->surfaces;
		if (o->reverses && *cyl % 2)
			*head = o->surfaces - 1 - *head;
	} else if (o->kind == SP__ORDER_BANDS) {
		*head = track % round / o->band;
		at = track % o->band;
		at = *head % 2 != o->descends ? o->band - 1 - at : at;
		*cyl = track / round * o->band + at;
	}
}

const char *sp__order_values(const struct sp__trackorder *o)
{
	switch (o->kind) {
	case SP__ORDER_CYLINDER:
		return sp__layout_names[o->reverses ? SP__LAYOUT_CYLINDER_SERPENTINE
						    : SP__LAYOUT_CYLINDER];
	case SP__ORDER_BANDS:
		return sp__layout_names[o->whole ? SP__LAYOUT_SURFACE_SERPENTINE
						 : SP__LAYOUT_HYBRID_SERPENTINE];
	case SP__ORDER_SURFACE:
		return sp__layout_names[SP__LAYOUT_SURFACE_SERPENTINE];
	default:
		return NULL;
	}
}
