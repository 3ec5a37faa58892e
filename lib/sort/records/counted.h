/* SPDX-License-Identifier: MIT */
/*
 * --count: the number of records that a record stands for travels with it.
 *
 * In a run buffer it is the number before the record, SP__COUNT_HEAD bytes.  In a run it takes as
 * few bytes as it needs, right before the record: six bits in each, the lowest first, 0x80, and
 * 0x40 if more follow.  So none of them ends a line or opens quotes, and one byte is the rule.  In
 * the result it is what uniq -c writes, in CSV a field.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Enough for the number in a run, too: 48 bits. */
#define SP__COUNT_HEAD sizeof(uint64_t)
#define SP__COUNT_BYTES_MAX 11 /* bytes of any number in a run */
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

/* Puts a number right before a record, as in a run; returns its bytes. */
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

/* The number at the beginning of these bytes; returns its own bytes, 0 if it does not end there. */
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

/* Passes the number at the beginning of a record in a run, if records are counted. */
static inline void sp__count_skip(bool counted, const char **rec, size_t *bytes)
{
	uint64_t number;
	size_t head = counted ? sp__count_get(*rec, *bytes, &number) : 0;

	*rec += head;
	*bytes -= head;
}
