/* SPDX-License-Identifier: MIT */
/*
 * Keys: values of a column that records are chosen by, found by a hash table.
 *
 * Thread rule: one thread adds keys and notes which were found; any number of threads find them.
 */
#pragma once

#include "base/hashtable.h"
#include "base/mem.h"
#include "columns/vector.h"
#include "table/file/file.h"

#define SP__NO_KEY UINT32_MAX

struct sp__table_key {
	uint64_t bits; /* of a value that is not a text */
	uint64_t text; /* where the key as given is in texts, */
	uint32_t bytes;
	bool possible; /* the column can have it */
	bool found;    /* in a record */
};

struct sp__key_set {
	const struct sp__column *column;
	struct sp__budget *budget;
	struct sp__bytes texts; /* texts of all keys */
	struct sp__table_key *keys;
	uint32_t n;
	struct sp__hashtable table; /* 1 + numbers of keys */
	bool any;		    /* a key is possible */
	uint8_t min[8], max[8];	    /* ends of the possible keys, if the column has bounds */
	uint64_t charged;
};

/* column: of a table that outlives the set, with its budget. */
void sp__key_set_open(struct sp__key_set *k, const struct sp__column *column,
		      struct sp__budget *budget);
void sp__key_set_close(struct sp__key_set *k);
/*
 * Adds a key of n bytes as text.  *number: of the key, or of an equal one that was added before,
 * and then 1 is returned.  Returns 0; SP_ESYNTAX if the text is not a value of the column's type;
 * SP_EBUDGET if all keys exceed half of the memory; or -ENOMEM.
 */
SP_MUST_CHECK int sp__key_set_add(struct sp__key_set *k, const char *text, size_t n,
				  uint32_t *number, struct sp_errinfo *err);
/* Returns the number of the key that value i of the vector is; or SP__NO_KEY. */
uint32_t sp__key_set_find(const struct sp__key_set *k, const struct sp__vector *v, uint32_t i);
/*
 * Counts keys that were found in records, and gives the others to absent, unless that is NULL.
 * Returns 0, or a code of absent.
 */
SP_MUST_CHECK int sp__key_set_report(const struct sp__key_set *k, uint64_t *found,
				     sp_table_sink absent, void *arg);
/* True if no value within these bounds, 8 bytes each, is a key. */
bool sp__key_set_excludes(const struct sp__key_set *k, const uint8_t *bounds);

/* Returns a key as it was given. */
static inline struct sp__slice sp__key_text(const struct sp__key_set *k, uint32_t number)
{
	return (struct sp__slice){ k->texts.data + k->keys[number].text, k->keys[number].bytes };
}
