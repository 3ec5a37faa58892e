/* SPDX-License-Identifier: MIT */
/*
 * Declares the sort of points: records of fixed length, in the order of memcmp(), sorted in the
 * memory of a slab and in temporary files.
 */
#pragma once

#include "cube/file/file.h"
#include "sort/sort.h"

SP_MUST_CHECK int sp__pointsort_open(struct sp__sorter *s, const struct sp__cubefile *c,
				     uint32_t record_bytes, struct sp_errinfo *err);
/* Ends the input, and passes all records in order to the sink, several at a time. */
SP_MUST_CHECK int sp__pointsort_drain(struct sp__sorter *s, sp_cube_sink sink, void *arg);
