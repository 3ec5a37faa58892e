/* SPDX-License-Identifier: MIT */
/*
 * Finds the numbers of the records whose value of a column is a key, in the order of the keys;
 * records with the same value in the order of their numbers.
 *
 * Owner: the thread that finds.
 */
#pragma once

#include "base/mem.h"
#include "index/lookup.h"
#include "table/file/file.h"
#include "table/read/get.h"

/*
 * The keys of records that were appended after an index had been made, sorted.
 */

struct sp__appended_key {
	uint64_t record;
	size_t at; /* in keys */
	uint32_t bytes;
};

/* Zeroed: none. */
struct sp__appended {
	struct sp__bytes keys;
	struct sp__appended_key *list; /* in the order of keys, then of records */
	size_t n, capacity;
	uint64_t max_bytes; /* maximum memory; set before reading */
};

#define SP__KEYFIND_KEYS 128 /* keys that are looked up concurrently */

struct sp__keyfind_opts {
	struct sp__tablefile *file;
	uint32_t column;
	const char *path; /* file of the index; NULL: the default one */
	sp_table_keys keys;
	void *keys_arg;
	sp_table_sink absent; /* NULL: keys without a record are only counted */
	void *absent_arg;
	struct sp_table_stats *stats; /* keys and keys_found are counted at the end */
	struct sp_errinfo *err;
};

/* A key that is being looked up. */
struct sp__keyfind_key {
	struct sp__bytes text, key;
	bool impossible; /* the column cannot have it */
};

struct sp__keyfind {
	struct sp__keyfind_opts opts;
	struct sp__index index;
	struct sp__waits waits;
	struct sp__requests reads;
	struct sp__lookup *lookup;
	struct sp__appended appended;
	struct sp__keyfind_key queue[SP__KEYFIND_KEYS]; /* in the order of the keys */
	unsigned head, nkeys;
	bool keys_end;
	/* Of the oldest key: the matches of a leaf, then appended records. */
	struct sp__found found;
	size_t next;	/* next one of found.matches or of the appended keys */
	uint64_t least; /* number that can be the next one of found.matches */
	enum { SP__FIND_KEY, SP__FIND_MATCHES, SP__FIND_APPENDED } step;
	bool exists; /* a record has the oldest key */
	uint64_t keys, keys_found;
	uint64_t keys_ended; /* the number of the oldest key, from 0 */
};

/*
 * Opens the index, compares it with the table, and reads the keys of appended records.  Returns 0,
 * or an error, recorded: -ENOENT: there is no index; -ESTALE: the column was changed in place
 * since, or the index is of another table; SP_EFORMAT; SP_ECORRUPT; SP_EBUDGET; -ENOMEM; or -errno.
 * After an error, too, it must be closed.
 */
SP_MUST_CHECK int sp__keyfind_open(struct sp__keyfind *k, const struct sp__keyfind_opts *opts);
void sp__keyfind_close(struct sp__keyfind *k);
/*
 * Gives the next number of a record that exists.  Returns SP_READY, SP_END, an error of a callback,
 * or one that is recorded.
 */
SP_MUST_CHECK int sp__keyfind_next(void *keyfind, uint64_t *record);
/*
 * Makes the check of a get (read/get.h): the records have the keys that they were found by.  It is
 * valid while the keyfind is open.
 */
struct sp__tableget_check sp__keyfind_check(const struct sp__keyfind *k);
