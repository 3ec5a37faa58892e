/* SPDX-License-Identifier: MIT */
/*
 * Declares run formation from inputs that several threads read in parts (parts.c).
 *
 * Owner: the thread that runs the sort.
 */
#pragma once

#include "flow/parts.h"
#include "sort/form/forming.h"

/* Returns the length of the parts, in which inputs of this length are to be opened. */
uint64_t sp__form_part_bytes(const struct sp__forming *forming, uint64_t input_bytes);
/* Returns the chunk of the streams of parts; each thread has SP__PLAN_PART_CHUNKS. */
size_t sp__form_part_chunk(const struct sp__forming *forming);
/* True if runs can be formed from parts: by load, sort, store, merged lazily, on real files. */
bool sp__form_by_parts(const struct sp__forming *forming);
/*
 * Forms runs of all records of the parts, instead of sp__form_put().  tell: called in this thread
 * after each of its parts.  Returns 0; SP__SCAN_MISCUT if the inputs must be read in order by a new
 * sort; or the error of the first part that has one.
 */
SP_MUST_CHECK int sp__form_parts(struct sp__forming *forming, struct sp__parts *parts,
				 uint64_t input_bytes, void (*tell)(void *arg), void *arg);
