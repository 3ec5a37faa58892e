/* SPDX-License-Identifier: MIT */
/*
 * A hash table of groups, for one thread.
 *
 * Slots grow with the groups, in memory that is mapped in the beginning.  If a search is long, all
 * keys are hashed by the strong hash.
 *
 * Thread rule: one thread.
 */
#pragma once

#include "base/hashtable.h"
#include "group/state.h"

struct sp__group_table {
	const struct sp__group_spec *spec;
	struct sp__group_arena arena;
	struct sp__hashtable table; /* places of groups in the arena */
	size_t max_slots;	    /* a power of two */
	size_t groups;
	uint32_t last; /* the group that was made last; 0: none */
};

/* bytes: of memory in all, SP__GROUP_TABLE_MIN to _MAX.  0 or -ENOMEM. */
#define SP__GROUP_TABLE_MIN ((size_t)64 << 10)
#define SP__GROUP_TABLE_MAX ((size_t)16 << 30)
SP_MUST_CHECK int sp__group_table_open(struct sp__group_table *t, const struct sp__group_spec *spec,
				       size_t bytes);
/* Returns the slots of a table of so many bytes, at most. */
size_t sp__group_table_slots(size_t bytes);
void sp__group_table_close(struct sp__group_table *t);
/* Removes all groups. */
void sp__group_table_empty(struct sp__group_table *t);

/*
 * True if there is space for `groups` more groups that need `bytes` of the arena.  If the table is
 * empty, it is extended until there is; false is then -ENOMEM.
 */
bool sp__group_table_fits(struct sp__group_table *t, size_t groups, size_t bytes);
/* Finds the group of a key, or makes it. */
uint32_t sp__group_table_find(struct sp__group_table *t, const char *key, size_t bytes,
			      uint32_t tag);
/*
 * True if there is space for what a record of this group can take for counts, and `bytes` more.  If
 * the table has only this group, without records, it is extended until there is; false is then
 * -ENOMEM.
 */
bool sp__group_table_grows(struct sp__group_table *t, uint32_t at, size_t bytes);
/* True if the table has only this group, without records. */
bool sp__group_table_is_new(const struct sp__group_table *t, uint32_t at);
/* Returns the place of the latest group; then of the one before `at`; 0: none. */
uint32_t sp__group_table_next(const struct sp__group_table *t, uint32_t at);
