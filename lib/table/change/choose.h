/* SPDX-License-Identifier: MIT */
/*
 * Chooses the records for which a predicate is true, or whose value of a column is a key.
 *
 * Thread rule: one thread; tasks check cells and select records.
 */
#pragma once

#include <spindle/table.h>
#include "columns/predicate.h"
#include "table/change/keyset.h"
#include "table/file/file.h"

/* Records are chosen by one of these two. */
struct sp__chosen_by {
	const struct sp__predicate *predicate; /* is true; or, if NULL, */
	struct sp__key_set *keys;	       /* the value of `column` is a key */
	uint32_t column;
	const char *index;    /* path of the column's; NULL: the default one, if it is there */
	uint64_t max_lookups; /* more keys than these are not found through the default one */
	/* Receives a record; key: its number, or SP__NO_KEY.  Returns 0 or a code. */
	int (*put)(void *arg, uint64_t record, uint32_t key);
	void *arg;
};

/*
 * Calls put() for each record that is chosen and not deleted, in ascending order, and sets `found`
 * of keys.  Returns 0; a code of put(); or an error, recorded in err.
 */
SP_MUST_CHECK int sp__choose_records(struct sp__tablefile *f, const struct sp__chosen_by *choice,
				     struct sp_table_stats *stats, struct sp_errinfo *err);

/*
 * Numbers of records that were chosen, in any order, until all are known.
 *
 * Thread rule: one thread.
 */

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
