/* SPDX-License-Identifier: MIT */
/*
 * Bytes of partial records, which a sort orders by memcmp.
 *
 * A partial record is KEY TAG REST NUL.  KEY is the parts of the group's key, each escaped and
 * followed by SP__CODE_END; TAG says what REST is.  Escaping keeps the order and leaves no NUL and
 * no SP__CODE_END: bytes below 3 become SP__CODE_ESCAPE and three more than the byte.
 *
 * Thread rule: any thread.
 */
#pragma once

#include <errno.h>
#include <string.h>
#include "base/decimal.h"
#include "base/mem.h"

enum {
	SP__CODE_NUL,	 /* ends a record */
	SP__CODE_END,	 /* ends a part */
	SP__CODE_ESCAPE, /* before a byte 3 to 5, which stands for 0 to 2 */
	/* Tags: a group, and from here on a value of its list number 0 and so on. */
	SP__TAG_GROUP,
	SP__TAG_LIST,
};

#define SP__CODE_STEP 3
#define SP__CODE_LISTS (256 - SP__TAG_LIST) /* maximum lists */
#define SP__CODE_HUGE ((size_t)64 << 10)
#define SP__CODE_VARINT 19 /* maximum bytes of a number of 128 bits */

/* True if one of eight bytes is below 3. */
static inline bool sp__code_special(const char *p)
{
	uint64_t v;

	memcpy(&v, p, sizeof(v));
	return (v - UINT64_C(0x0303030303030303)) & ~v & UINT64_C(0x8080808080808080);
}

/* Escapes n bytes to at most 2 n; returns the end of the output. */
static inline char *sp__code_escape(char *to, const char *p, size_t n)
{
	const char *end = p + n;

	while (p < end) {
		if (end - p >= 8 && !sp__code_special(p)) {
			memcpy(to, p, 8);
			to += 8;
			p += 8;
			continue;
		}
		if ((unsigned char)*p <= SP__CODE_ESCAPE) {
			*to++ = SP__CODE_ESCAPE;
			*to++ = (char)(*p++ + SP__CODE_STEP);
		} else {
			*to++ = *p++;
		}
	}
	return to;
}

/* Appends a part: bytes, escaped, and their end.  Returns 0 or -ENOMEM. */
static inline int sp__code_put_part(struct sp__bytes *key, const char *p, size_t n)
{
	const size_t need = key->bytes + 2 * n + 16;
	char *to;

	/* Huge parts are rare, and get what they need. */
	if (need > key->capacity &&
	    sp__bytes_reserve(key, n > SP__CODE_HUGE ? need : 2 * need, NULL))
		return -ENOMEM;
	to = sp__code_escape(key->data + key->bytes, p, n);
	*to++ = SP__CODE_END;
	key->bytes = (size_t)(to - key->data);
	return 0;
}

/* Appends parts that are in `parts` as one part in descending order; changes them. */
static inline int sp__code_put_descending(struct sp__bytes *key, struct sp__bytes *parts)
{
	for (size_t i = 0; i < parts->bytes; i++)
		parts->data[i] = (char)~parts->data[i];
	return sp__code_put_part(key, parts->data, parts->bytes);
}

#define SP__CODE_POSITION 8

/* Writes a position so that bytes order as positions do. */
static inline void sp__code_position(char *to, uint64_t position)
{
	for (unsigned i = 0; i < SP__CODE_POSITION; i++)
		to[i] = (char)(unsigned char)(position >> (56 - 8 * i));
}

/* Takes escapes back; returns the end of the output, which is no longer. */
static inline char *sp__code_unescape(char *to, const char *p, size_t n)
{
	for (const char *end = p + n; p < end; p++)
		*to++ = *p == SP__CODE_ESCAPE && p + 1 < end ? (char)(*++p - SP__CODE_STEP) : *p;
	return to;
}

/* Writes a number in groups of seven bits, the lowest first; returns the end. */
static inline char *sp__code_put(char *to, unsigned __int128 v)
{
	for (; v >= 0x80; v >>= 7)
		*to++ = (char)(unsigned char)(v | 0x80);
	*to++ = (char)(unsigned char)v;
	return to;
}

static inline char *sp__code_put_signed(char *to, sp__int128 v)
{
	return sp__code_put(to, (unsigned __int128)v << 1 ^ (unsigned __int128)(v >> 127));
}

/* Reads what the functions above wrote; a text that ends too early makes it bad. */
struct sp__codes {
	const char *p, *end;
	bool bad;
};

static inline unsigned __int128 sp__code_take(struct sp__codes *c)
{
	unsigned __int128 v = 0;

	for (unsigned shift = 0; c->p < c->end && shift < 128; shift += 7) {
		const unsigned char b = (unsigned char)*c->p++;

		v |= (unsigned __int128)(b & 0x7F) << shift;
		if (b < 0x80)
			return v;
	}
	c->bad = true;
	return 0;
}

static inline sp__int128 sp__code_take_signed(struct sp__codes *c)
{
	const unsigned __int128 v = sp__code_take(c);

	return (sp__int128)(v >> 1) ^ -(sp__int128)(v & 1);
}

/* Returns n bytes; NULL: there are fewer. */
static inline const char *sp__code_take_bytes(struct sp__codes *c, uint64_t n)
{
	const char *p = c->p;

	if ((uint64_t)(c->end - p) < n) {
		c->bad = true;
		return NULL;
	}
	c->p += n;
	return p;
}
