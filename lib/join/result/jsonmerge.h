/* SPDX-License-Identifier: MIT */
/*
 * Finds the members of an object of file 2 that the object of file 1 has, too, and the suffix that
 * makes their names differ from all others.
 *
 * Algorithm: the names of object 1 are put into a hash table, and those of object 2 are looked up.
 * If there are more names than the table may have, this is repeated for the next ones.  A name with
 * a suffix is taken if it is in an object, so for each name that ends with suffixes its beginnings
 * without some of them are looked up; a name's hash is made byte by byte, so all of them have one
 * from one pass over the name.  The time is proportional to the bytes of the objects.
 *
 * Memory: a bit for each member of object 2 and for half the bytes of the longest name, and 16
 * bytes for each name in the table, of which there are at most 131072, or one for 128 bytes of
 * object 1.
 *
 * Thread rule: each emit has its own memory.
 */
#pragma once

#include "base/hashtable.h"
#include "rec/fields.h"
#include "rec/jsonread.h"

/* A text that is appended to the names of shared members, as often as necessary. */
#define SP__JSON_SUFFIX "_2"

/* The memory of an emit; zero at first. */
struct sp__jsonmerge {
	struct sp__hashtable table; /* names of object 1, by their offset in a part of it, from 1 */
	size_t slots_capacity, n;
	const char *base; /* beginning of this part */
	uint64_t *both;	  /* by slot: object 2 has the name, too */
	size_t both_words;
	uint64_t *shared; /* by member of object 2: its name is in object 1 */
	size_t shared_words;
	uint64_t *taken; /* by number of suffixes */
	size_t taken_words;
};

void sp__jsonmerge_release(struct sp__jsonmerge *m);

/*
 * Finds the shared members of two objects that have been read; keys: names of members of object 2
 * that are left out.  *times: of the suffix, at least 1.  Returns 0 or -ENOMEM.
 */
SP_MUST_CHECK int sp__jsonmerge_find(struct sp__jsonmerge *m, const struct sp__slice object[2],
				     const struct sp__slice *keys, size_t nkeys, size_t *times);
/* True if member i of object 2 is shared. */
static inline bool sp__jsonmerge_is_shared(const struct sp__jsonmerge *m, size_t i)
{
	return i / 64 < m->shared_words && m->shared[i / 64] >> i % 64 & 1;
}

/* True if a member is a key that is left out. */
bool sp__jsonmerge_is_key(const struct sp__json_value *name, const struct sp__slice *keys,
			  size_t nkeys);

static inline struct sp__json_items sp__object_items(const struct sp__slice *object)
{
	const struct sp__json_value v = { .p = object->p, .n = object->n, .kind = SP__JSON_OBJECT };

	return sp__json_items(&v);
}
