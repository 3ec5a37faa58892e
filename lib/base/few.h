/* SPDX-License-Identifier: MIT */
/*
 * Loads and copies a few bytes inline, by loads that overlap.  Fields and many records are so short
 * that a call of memcpy() with a variable length costs more.
 */
#pragma once

#include <endian.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define SP__COPY_SHORT 16

/* Returns the first eight bytes, or all if there are fewer, as a little-endian number. */
static inline uint64_t sp__load_few(const void *data, size_t bytes)
{
	const unsigned char *p = data;
	uint64_t word;
	uint32_t low, high;

	if (__builtin_expect(bytes >= 8, 1)) {
		memcpy(&word, p, 8);
		return le64toh(word);
	}
	if (bytes >= 4) {
		memcpy(&low, p, 4);
		memcpy(&high, p + bytes - 4, 4);
		return le32toh(low) | (uint64_t)le32toh(high) << 8 * (bytes - 4);
	}
	if (!bytes)
		return 0;
	return p[0] | (uint64_t)p[bytes / 2] << 8 * (bytes / 2) |
	       (uint64_t)p[bytes - 1] << 8 * (bytes - 1);
}

/*
 * Returns the value of sp__load_few().  `readable` bytes, at least `bytes`, can be read; if these
 * are 8 or more, the load does not branch on bytes.
 */
static inline uint64_t sp__load_near(const void *data, size_t bytes, size_t readable)
{
	static const uint64_t mask[9] = {
		0x0,	      0xFF,	      0xFFFF,		0xFFFFFF,	   0xFFFFFFFF,
		0xFFFFFFFFFF, 0xFFFFFFFFFFFF, 0xFFFFFFFFFFFFFF, 0xFFFFFFFFFFFFFFFF
	};
	uint64_t word;

	if (__builtin_expect(readable < 8, 0))
		return sp__load_few(data, bytes);
	memcpy(&word, data, 8);
	return le64toh(word) & mask[bytes < 8 ? bytes : 8];
}

/* Returns !memcmp(). */
static inline bool sp__same_bytes(const void *a, const void *b, size_t bytes)
{
	return sp__load_few(a, bytes) == sp__load_few(b, bytes) &&
	       (bytes <= 8 || !memcmp(a, b, bytes));
}

/* Copies as memcpy() does; fast for short records. */
static inline void sp__copy_record(char *to, const char *from, size_t bytes)
{
	uint64_t head, tail;
	uint32_t low, high;

	if (bytes > SP__COPY_SHORT || bytes < 4) {
		if (bytes >= 4)
			memcpy(to, from, bytes);
		else
			for (size_t i = 0; i < bytes; i++)
				to[i] = from[i];
		return;
	}
	if (bytes >= 8) {
		memcpy(&head, from, 8);
		memcpy(&tail, from + bytes - 8, 8);
		memcpy(to, &head, 8);
		memcpy(to + bytes - 8, &tail, 8);
		return;
	}
	memcpy(&low, from, 4);
	memcpy(&high, from + bytes - 4, 4);
	memcpy(to, &low, 4);
	memcpy(to + bytes - 4, &high, 4);
}

/* Copies a record.  `room` bytes, at least `bytes`, can be read and written. */
static inline void sp__copy_near(char *to, const char *from, size_t bytes, size_t room)
{
	if (bytes <= SP__COPY_SHORT && __builtin_expect(room >= SP__COPY_SHORT, 1))
		memcpy(to, from, SP__COPY_SHORT);
	else
		sp__copy_record(to, from, bytes);
}
