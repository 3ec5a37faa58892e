/* SPDX-License-Identifier: MIT */
/*
 * Points in order, in memory of a part and temporary files: records of fixed length are put,
 * sorted as memcmp() orders them, and given to a function.
 */
#ifndef SP__CUBE_POINTS_SORT_H
#define SP__CUBE_POINTS_SORT_H

#include <spindle/sort.h>
#include "cube/file/file.h"

struct sp__pointsort {
	struct sp_sort *sort;
	struct sp_keyset *keys;
	struct sp_errinfo *err;
	struct sp_sort_opts opts;
	uint32_t record_bytes;
	uint8_t *data; /* records that are not put yet */
	size_t n, room;
};

SP_MUST_CHECK int sp__pointsort_open(struct sp__pointsort *s, const struct sp__cubefile *c,
				     uint32_t record_bytes, struct sp_errinfo *err);
/* Room for the next record, which is to be filled before the next call; NULL: an error, in *rc. */
uint8_t *sp__pointsort_next(struct sp__pointsort *s, int *rc);
/* Ends the input, and gives all records, several at a time. */
SP_MUST_CHECK int sp__pointsort_drain(struct sp__pointsort *s, sp_cube_sink sink, void *arg);
void sp__pointsort_close(struct sp__pointsort *s);

#endif
