/* SPDX-License-Identifier: MIT */
/*
 * Declares the table of a run buffer that collapses repeated keys while it is filled (distinct.c).
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sp__runbuf;

struct sp__distinct {
	bool due;			     /* a table is made with the first record */
	bool always;			     /* it stays even if it does not pay */
	bool crowded;			     /* a search was too long */
	const struct sp__key_secret *secret; /* of the hashes */
	uint64_t *slots; /* hash bits << 40 | offset of the record + 1; 0: free */
	size_t nslots;	 /* a power of 2; 0: there is no table */
	/* Records looked up and found since the last judgement; `looked` at the next one. */
	uint64_t looked, found, judge_at;
	uint64_t collapsed; /* records found, over all uses of the buffer */
};

/* Makes a table in an empty buffer, unless the buffer is too small. */
void sp__distinct_begin(struct sp__runbuf *rb);
/*
 * Does the work of sp__runbuf_add() while there is a table.  The table ends when it does not pay.
 */
int sp__distinct_add(struct sp__runbuf *rb, const char *data, size_t bytes, size_t *taken);
/* Moves entries and table to the end of `more` bytes that were added after the buffer. */
void sp__distinct_extend(struct sp__runbuf *rb, size_t more);
