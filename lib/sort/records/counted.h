/* SPDX-License-Identifier: MIT */
/*
 * Stores the number of records that a record stands for, under --count.
 *
 * In a run buffer the number is before the record, in SP__COUNT_HEAD bytes.  In a run it is also
 * right before the record, in as few bytes as possible: each byte is 0x80, plus 0x40 if more bytes
 * follow, plus six bits of the number, lowest first.  So no byte ends a line or opens quotes, and
 * one byte is typical.  The result has the format of uniq -c, or a field in CSV.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include "base/mem.h"

/* Also has space for a number in the format of runs, up to 48 bits. */
#define SP__COUNT_HEAD sizeof(uint64_t)
#define SP__COUNT_BYTES_MAX 11 /* of any number in a run */
#define SP__COUNT_SPACE 32     /* enough for a number in any format */
#define SP__COUNT_BITS 6u
#define SP__COUNT_MARK 0x80u
#define SP__COUNT_MORE 0x40u

static inline uint64_t sp__count_load(const char *rec)
{
	uint64_t n;

	memcpy(&n, rec - sizeof(n), sizeof(n));
	return n;
}

static inline void sp__count_store(char *rec, uint64_t n)
{
	memcpy(rec - sizeof(n), &n, sizeof(n));
}

/* Writes a number right before a record, in the format of runs; returns its length. */
static inline size_t sp__count_put(char *rec, uint64_t n)
{
	size_t bytes = 1;

	for (uint64_t rest = n >> SP__COUNT_BITS; rest; rest >>= SP__COUNT_BITS)
		bytes++;
	for (char *p = rec - bytes; p < rec; p++, n >>= SP__COUNT_BITS)
		*p = (char)(SP__COUNT_MARK | (p + 1 < rec ? SP__COUNT_MORE : 0) |
			    (n & (SP__COUNT_MORE - 1)));
	return bytes;
}

/* Reads the number at the start of these bytes; returns its length, or 0 if it is incomplete. */
static inline size_t sp__count_get(const char *p, size_t bytes, uint64_t *number)
{
	uint64_t n = 0;

	for (size_t i = 0; i < bytes && i < SP__COUNT_BYTES_MAX; i++) {
		unsigned char c = (unsigned char)p[i];

		n |= (uint64_t)(c & (SP__COUNT_MORE - 1)) << (SP__COUNT_BITS * i);
		if (!(c & SP__COUNT_MORE)) {
			*number = n;
			return i + 1;
		}
	}
	return 0;
}

/*
 * Copies a record behind free space for its number.  The record is at b->data + SP__COUNT_SPACE.
 * Returns 0 or -ENOMEM.
 */
static inline int sp__count_hold(struct sp__bytes *b, const char *rec, size_t bytes,
				 struct sp__budget *budget)
{
	static const char blank[SP__COUNT_SPACE];
	int rc = sp__bytes_set(b, blank, sizeof(blank), budget);

	return rc < 0 ? rc : sp__bytes_append(b, rec, bytes, budget);
}

/* If records are counted, skips the number at the start of a record in a run. */
static inline void sp__count_skip(bool counted, const char **rec, size_t *bytes)
{
	uint64_t number;
	size_t head = counted ? sp__count_get(*rec, *bytes, &number) : 0;

	*rec += head;
	*bytes -= head;
}
