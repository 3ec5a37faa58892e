/* SPDX-License-Identifier: MIT */
/*
 * A cell of points: a header, and the points that it counts.  A point is its key and its value.
 *
 * Points that do not fit a cell are in a chain of overflow cells, each named by the one before.
 * Empty cells of a region have a header, too, so a cell that reads as zeros is damaged.  Only the
 * cell outside is not written before its first point.
 */
#pragma once

#include <string.h>
#include "base/hash.h"
#include "cube/file/pointset.h"

struct sp__pointcell {
	uint64_t checksum; /* checksum of the rest of the header and the points */
	uint64_t home;	   /* the block of the first cell of the chain */
	uint64_t next;	   /* block of an overflow cell; 0: none */
	uint32_t count;	   /* points in this cell */
	uint32_t zero;
};

#define SP__POINTCELL_SUMMED offsetof(struct sp__pointcell, home)

static inline uint64_t sp__pointcell_sum(const uint8_t *cell, uint32_t count, uint32_t record_bytes)
{
	return sp__checksum(cell + SP__POINTCELL_SUMMED, sizeof(struct sp__pointcell) -
								 SP__POINTCELL_SUMMED +
								 (size_t)count * record_bytes);
}

/* Writes the header of a cell, with the checksum of the points that are in it. */
static inline void sp__pointcell_seal(uint8_t *cell, struct sp__pointcell head,
				      uint32_t record_bytes)
{
	memcpy(cell, &head, sizeof(head));
	head.checksum = sp__pointcell_sum(cell, head.count, record_bytes);
	memcpy(cell, &head, sizeof(head));
}

/* Reads the header of a cell.  False: the cell is damaged. */
static inline bool sp__pointcell_read(const uint8_t *cell, const struct sp__pointset *s,
				      struct sp__pointcell *head)
{
	memcpy(head, cell, sizeof(*head));
	return head->count <= s->capacity &&
	       head->checksum == sp__pointcell_sum(cell, head->count, s->record_bytes);
}
