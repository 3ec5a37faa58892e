/* SPDX-License-Identifier: MIT */
/*
 * The table of a run buffer that collapses repeated keys while it is filled (distinct.c).
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sp__runbuf;

struct sp__distinct {
	bool due;	 /* a table is made with the first record */
	uint64_t *slots; /* hash bits << 40 | offset of the record + 1; 0: free */
	size_t nslots;	 /* a power of 2; 0: there is no table */
	/* Records looked up since the table was judged last, those found, and when to judge. */
	uint64_t looked, found, judge_at;
	uint64_t collapsed; /* records found, over every use of the buffer */
};

/* Makes a table in an empty buffer, unless that is too small for one. */
void sp__distinct_begin(struct sp__runbuf *rb);
/* sp__runbuf_add() as long as there is a table; it ends when it does not pay any more. */
int sp__distinct_add(struct sp__runbuf *rb, const char *data, size_t bytes, size_t *taken);
/* The buffer, with a table, has got more memory behind it. */
void sp__distinct_extend(struct sp__runbuf *rb, size_t more);
