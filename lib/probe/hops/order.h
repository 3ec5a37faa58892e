/* SPDX-License-Identifier: MIT */
/*
 * The order of tracks: cylinder and head of a track.  Definitions and pure functions; the value
 * belongs to probe/layout/.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum sp__head_order {
	SP__ORDER_UNKNOWN,
	SP__ORDER_CYLINDER,
	SP__ORDER_BANDS,
	SP__ORDER_SURFACE,
	SP__ORDER_LINE
};

struct sp__trackorder {
	enum sp__head_order kind;
	uint32_t surfaces; /* 0: unknown */
	uint32_t band;	   /* tracks of a run on one surface */
	bool whole;	   /* a zone is one band */
	bool descends; /* the first band of a round of them: matters if they are odd in number */
	bool reverses; /* heads reverse on every other cylinder */
	bool reverses_known; /* that, of a cylinder of several surfaces */
};

/* Tracks after which cylinders and heads repeat. */
static inline uint64_t sp__order_round(const struct sp__trackorder *o)
{
	return o->kind == SP__ORDER_CYLINDER ? (1 + o->reverses) * (uint64_t)o->surfaces
	       : o->kind == SP__ORDER_BANDS  ? (uint64_t)o->band * o->surfaces
					     : 1;
}
/* Cylinder and head of a track counted from the start of a round. */
void sp__order_where(const struct sp__trackorder *o, uint64_t track, uint64_t *cyl, uint64_t *head);
const char *sp__order_values(const struct sp__trackorder *o); /* NULL: unknown */
