/* SPDX-License-Identifier: MIT */
/*
 * Numbers of records that were chosen, in any order, until all are known.
 *
 * Thread rule: one thread.
 */
#pragma once

#include "table/file/file.h"

/* A chosen record, and the position in which it was chosen. */
struct sp__chosen {
	uint64_t record;
	uint64_t position;
};

struct sp__chosen_records {
	struct sp__budget *budget;
	struct sp__chosen *list;
	size_t n, capacity;
};

/*
 * Adds a number.  Returns 0; SP_EBUDGET if all numbers exceed half of the memory; or -ENOMEM.
 */
SP_MUST_CHECK int sp__chosen_add(struct sp__chosen_records *c, uint64_t record,
				 struct sp_errinfo *err);
/* Sorts by number, then by position. */
void sp__chosen_sort(struct sp__chosen_records *c);
void sp__chosen_free(struct sp__chosen_records *c);
