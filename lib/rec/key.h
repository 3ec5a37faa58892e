/* SPDX-License-Identifier: MIT */
/*
 * Defines keys as bytes, for sorting, merging and joining.
 *
 * Every key set has one of three forms.
 *
 * INPLACE   The key is one slice of the record, compared as unsigned bytes, shorter first, all of
 *           it reversed if sp__keyset.descending.
 * ENCODED   The key is a normalised byte string made by sp__key_encode(), whose memcmp order
 *           (shorter first on a common prefix) is the wanted order.  Reversal is already inside,
 *           and if sp__keyset.exact the last resort.
 * COLLATED  At least one key is ordered by strcoll().  sp__key_encode() still returns bytes for
 *           records made of characters that were verified to agree with strcoll().  It refuses the
 *           others and, for small inputs, all records before encoding pays.  sp__key_compare()
 *           compares two refused records, or a refused and an encoded one.
 *
 * Keys made by sp__key_encode() are cut to SP__KEY_MAX bytes, so that a large record does not need
 * its length in memory once more for its key.  If two keys of SP__KEY_MAX bytes are equal,
 * sp__key_compare() decides.
 *
 * Files store encoded keys: indexes (SP__INDEX_VERSION) and checkpoints of sorts
 * (sort/resume/resume.c).  A change of the encoding is a new version of both.
 *
 * Two records with equal keys are ordered by sp__key_last_resort(), if the set has one, and
 * otherwise by their position in the input.
 *
 * "rec, bytes" is a record without its terminator.
 */
#pragma once

#include <string.h>
#include <spindle/rec.h>
#include "base/few.h"
#ifdef __SSE2__
#include <emmintrin.h>
#endif

/* More than offset-value codes (sort/records/ovc.h) cover, so equally cut keys have equal codes. */
#define SP__KEY_MAX ((size_t)512 << 10)

/* Maximum keys of a set, if records are JSON. */
#define SP__JSON_KEYS 64

struct sp__json_reader;

enum sp__keyform { SP__KEY_INPLACE, SP__KEY_ENCODED, SP__KEY_COLLATED };

/* The part of struct sp_keyset that callers can read; it is its first member. */
struct sp__keyset {
	struct sp_recfmt format;
	enum sp__keyform form;
	bool whole;	    /* INPLACE: the slice is the whole record */
	bool descending;    /* INPLACE: larger bytes first */
	bool last_resort;   /* records with equal keys are compared as a whole */
	bool last_reverse;  /* ... in descending order */
	bool last_collated; /* ... by strcoll(), not by their bytes */
	bool exact;	    /* equal keys imply identical records, unless they are cut */
	bool checks;	    /* texts of a key must be of its type: sp_key.checked; or JSON */
	bool encode_checks; /* sp__key_encode() refuses all that sp__key_fitting() finds */
	size_t skip;	    /* bytes at the start of a record that no key sees */
};

static inline const struct sp__keyset *sp__ks(const struct sp_keyset *ks)
{
	return (const struct sp__keyset *)(const void *)ks;
}

/*
 * A growing buffer for one encoded key; the caller owns it.  Zero at the beginning.  It keeps a
 * second buffer for key types that must rewrite their text before they encode it.
 */
struct sp__keybuf {
	unsigned char *data;
	size_t bytes, capacity;
	bool uncut;   /* set by the caller: keys are not cut, */
	size_t reach; /* set by the caller: bytes that can be read from the record on; or 0 */
	bool tells;   /* the key, of at most eight bytes, determines the record */
	bool null;    /* JSON: a key of the record is missing or null */
	struct sp__json_reader *json; /* JSON: set by the caller, for its thread; or NULL */
	struct sp__keybuf *scratch;
};

void sp__keybuf_release(struct sp__keybuf *buf);
void sp__keybuf_release_scratch(struct sp__keybuf *buf);

/* Makes the buffer hold `more` further bytes.  Returns 0 or -ENOMEM. */
int sp__keybuf_grow(struct sp__keybuf *buf, size_t more);

static inline int sp__keybuf_reserve(struct sp__keybuf *buf, size_t more)
{
	if (__builtin_expect(buf->capacity - buf->bytes >= more, 1))
		return 0;
	return sp__keybuf_grow(buf, more);
}

/*
 * Makes a key set for the same records behind `skip` other bytes each, such as a number.  In CSV
 * these bytes are whole fields with their separators.  It has no last resort.  It borrows from ks;
 * the caller frees it with free().  NULL: there is no memory.
 */
struct sp_keyset *sp__keyset_behind(const struct sp_keyset *ks, size_t skip);

/*
 * True if a text has a value of the type of the first key.  Of NUMERIC, HUMAN, GENERAL and MONTH,
 * other texts are encoded alike: a text without digits as 0, one without a month as none.
 */
bool sp__key_has_value(const struct sp_keyset *ks, const char *s, size_t n);

/* INPLACE: finds the slice. */
void sp__key_slice(const struct sp_keyset *ks, const char *rec, size_t bytes, const char **key,
		   size_t *key_bytes);

/*
 * ENCODED and COLLATED: replaces the contents of buf by the normalised key.  Returns 0; 1 if this
 * record has no byte key (COLLATED alone); SP_EFORMAT if it is not JSON; -ENOMEM.
 */
int sp__key_encode(const struct sp_keyset *ks, const char *rec, size_t bytes,
		   struct sp__keybuf *buf);

/*
 * Announces about this many bytes of records to encode.  Optional.  COLLATED keys use it, since
 * they encode nothing until it pays.
 */
void sp__key_expect(const struct sp_keyset *ks, uint64_t bytes);

/*
 * Returns a checksum of the locale data that affect encoded keys.  Key sets with different
 * checksums can encode a record differently.
 */
uint64_t sp__keyset_locale(const struct sp_keyset *ks);

/*
 * Returns a checksum of all that decides the order, with the names and the version of the locale.
 */
uint64_t sp__keyset_identity(const struct sp_keyset *ks);

/* True if a key of this many bytes was cut, so that equal keys can belong to different records. */
static inline bool sp__key_is_cut(const struct sp__keyset *ks, size_t bytes)
{
	return bytes == SP__KEY_MAX && ks->form != SP__KEY_INPLACE;
}

/* A text that is not of the type of its key, or a record that is not JSON, or no object. */
struct sp__badtext {
	const char *wanted; /* JSON: what is expected ... */
	size_t at;	    /* ... at this offset of the record */
	bool object;	    /* ... which is another value of JSON */
	const char *column; /* sp_key.checked */
	enum sp_key_type type;
	const char *text; /* in the record or in the buffer */
	size_t bytes;
};

/*
 * Checks the keys of a batch of whole records.  *fitting: bytes of the records before the first one
 * that has a bad text, or all.  buf: memory for texts.  Returns 0 or -ENOMEM.
 */
SP_MUST_CHECK int sp__key_fitting(const struct sp_keyset *ks, const char *data, size_t bytes,
				  struct sp__keybuf *buf, size_t *fitting, struct sp__badtext *bad);
#define SP__BADTEXT_BYTES 512
/* Says what is wrong, to follow the number of the line. */
void sp__badtext_reason(const struct sp__badtext *bad, char text[SP__BADTEXT_BYTES]);
/* Records the error of a bad text, in a line of an input; err->where is the column. */
int sp__badtext_error(const struct sp__badtext *bad, const char *input, uint64_t line,
		      struct sp_errinfo *err);

/* Compares keys directly, without last resort: slow, for any form. */
int sp__key_compare(const struct sp_keyset *ks, const char *a, size_t abytes, const char *b,
		    size_t bbytes);

/* Compares whole records in the last resort's direction; 0 if there is none. */
int sp__key_last_resort(const struct sp_keyset *ks, const char *a, size_t abytes, const char *b,
			size_t bbytes);

/* Compares bytes, shorter first. */
static inline int sp__order_bytes(const void *a, size_t an, const void *b, size_t bn)
{
	size_t n = an < bn ? an : bn;
	int c = n ? memcmp(a, b, n) : 0; /* an empty string can have no address */

	return c ? c : (an > bn) - (an < bn);
}

/* Returns the first eight bytes as a number with their order, zero padded. */
static inline uint64_t sp__key_prefix(const void *key, size_t bytes)
{
	return __builtin_bswap64(sp__load_few(key, bytes));
}

/* Returns sp__key_prefix() where `readable` bytes, at least as many as the key has, can be read. */
static inline uint64_t sp__key_prefix_near(const void *key, size_t bytes, size_t readable)
{
	return __builtin_bswap64(sp__load_near(key, bytes, readable));
}

/*
 * Returns the nth byte c, n > 0, or end.  Fields and many records are short, so it searches sixteen
 * bytes at a time inline; a call of memchr() for each costs more than the search.
 */
static inline const char *sp__find_nth(const char *p, const char *end, char c, size_t n)
{
#ifdef __SSE2__
	const __m128i want = _mm_set1_epi8(c);

	for (; end - p >= 16; p += 16) {
		__m128i chunk = _mm_loadu_si128((const __m128i *)(const void *)p);
		unsigned hits = (unsigned)_mm_movemask_epi8(_mm_cmpeq_epi8(chunk, want));

		for (; hits; hits &= hits - 1)
			if (!--n)
				return p + __builtin_ctz(hits);
	}
#endif
	for (; p < end; p++)
		if (*p == c && !--n)
			return p;
	return end;
}

/* Returns the byte between fields of lines; -1: runs of blanks. */
int sp__key_separator(const struct sp_keyset *ks);

/* CSV: returns the end of the field that begins at p: its separator or the record's end. */
const char *sp__csv_field_end(const char *p, const char *end, char sep);
/* CSV: returns the start of field n of a record, from 0, or NULL if it has fewer fields. */
const char *sp__csv_field(const char *rec, const char *end, char sep, size_t n);
/* Writes a text in quotes to 2 n + 2 bytes; returns the end of the output. */
char *sp__csv_put_quoted(char *to, const char *text, size_t n);
/* Writes a text as a field, in quotes if it needs them, to 2 n + 2 bytes; returns its length. */
size_t sp__csv_quote(const char *text, size_t n, char sep, char *out);
/*
 * Writes the field [p, end) without its quotes; returns the end of the output, which is no longer
 * and can be in place.
 */
unsigned char *sp__csv_unquote(const char *p, const char *end, unsigned char *out);
