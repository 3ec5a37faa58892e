/* SPDX-License-Identifier: MIT */
/*
 * Keeps the shapes of records of JSON, so that a record of a known shape is read faster.
 *
 * The shape of a record is all of its bytes except its scalar values.  If a record consists of the
 * bytes of a shape and of valid scalars between them, it is valid, and it has its values at the
 * places where the first record of this shape had them.  So names are compared with names at the
 * same place, and are neither searched nor checked.
 *
 * The shapes are a tree.  An entry has the bytes before one scalar; an entry that is `last` has the
 * bytes behind the last one.  A tree that is full is emptied.  If too many records have new shapes,
 * PAUSE records are read without shapes.
 *
 * A record is not learnt if it has a path twice, or an object or an array at a path.
 */
#pragma once

#ifdef __SSE2__
#include <emmintrin.h>
#endif
#include "base/few.h"
#include "rec/jsonpath.h"

#define SP__JSON_SHAPES 192	  /* entries */
#define SP__JSON_SHAPE_BYTES 4096 /* of all entries */
#define SP__JSON_SHAPE_SCALARS 96 /* in a record */

struct sp__json_shape {
	uint16_t at, bytes;   /* in the text */
	uint16_t child, next; /* entries; 0: none */
	unsigned path;	      /* of the scalar that follows, or SP__JSON_NO_NODE */
	bool last;
};

struct sp__json_scalar {
	const char *p, *end;
	bool wanted;
};

struct sp__json_shapes {
	uint64_t paths; /* id of the set */
	enum sp__json_check check;
	int credit;	/* falls with new shapes */
	unsigned pause; /* records to be read without shapes */
	unsigned n, text_bytes, nscalars;
	struct sp__json_shape shapes[SP__JSON_SHAPES]; /* the first one is the root */
	char text[SP__JSON_SHAPE_BYTES + 16];
	struct sp__json_scalar scalars[SP__JSON_SHAPE_SCALARS]; /* of the record that is read */
};

/* Returns the shapes to be used for the next record; NULL: none. */
struct sp__json_shapes *sp__json_shapes_of(struct sp__json_reader *reader);

static inline void sp__json_shapes_known(struct sp__json_shapes *s)
{
	s->credit += s->credit < 64;
}

/* Called before a record of an unknown shape is read. */
void sp__json_shapes_begin(struct sp__json_shapes *s);

/* Notes a scalar of that record; wanted: it is at a path. */
static inline void sp__json_shapes_note(struct sp__json_shapes *s, const char *p, const char *end,
					bool wanted)
{
	if (s->nscalars < SP__JSON_SHAPE_SCALARS)
		s->scalars[s->nscalars] = (struct sp__json_scalar){ p, end, wanted };
	s->nscalars++;
}

/* Called after that record, if it is valid. */
void sp__json_shapes_learn(struct sp__json_shapes *s, const struct sp__json_paths *paths,
			   const char *rec, const char *end, const struct sp__json_value *values);

#ifdef __SSE2__
/* Bit i: byte i is the same, i < 16. */
static inline unsigned sp__json_shape_equal(const char *a, const char *b)
{
	return (unsigned)_mm_movemask_epi8(
		_mm_cmpeq_epi8(_mm_loadu_si128((const __m128i *)(const void *)a),
			       _mm_loadu_si128((const __m128i *)(const void *)b)));
}
#endif

/* Returns !memcmp().  16 bytes of a can be loaded, and of b `readable` ones, at least n. */
static inline bool sp__json_shape_same(const char *a, const char *b, size_t n, size_t readable)
{
#ifdef __SSE2__
	if (__builtin_expect(readable >= 16, 1)) {
		const unsigned differ = ~sp__json_shape_equal(a, b) & 0xFFFF;

		if (n < 16)
			return !(differ & ((1u << n) - 1));
		return !differ && (n == 16 || !memcmp(a + 16, b + 16, n - 16));
	}
#endif
	return sp__same_bytes(a, b, n);
}

/* Returns the entry that the bytes from p on continue; NULL: there is none. */
static inline const struct sp__json_shape *sp__json_shapes_next(const struct sp__json_shapes *s,
								const struct sp__json_shape *at,
								const char *p, const char *end,
								const char *reach)
{
	const size_t left = (size_t)(end - p), readable = (size_t)(reach - p);

	for (unsigned i = at->child; i; i = at->next) {
		char c;

		at = &s->shapes[i];
		if (left < at->bytes ||
		    !sp__json_shape_same(s->text + at->at, p, at->bytes, readable))
			continue;
		if (at->last && left == at->bytes)
			return at;
		if (at->last || left == at->bytes)
			continue;
		c = p[at->bytes];
		if (c == '"' || (unsigned char)(c - '0') < 10 || c == '-' ||
		    (unsigned char)(c - 'a') < 26)
			return at;
	}
	return NULL;
}
