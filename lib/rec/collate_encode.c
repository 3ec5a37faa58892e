/* SPDX-License-Identifier: MIT */
/*
 * Text as bytes in the order of strcoll().
 *
 * An encoding is made of up to four levels, each compared only if those before
 * it are equal:
 *
 *	letters   their ranks, 6 to 255
 *	accents   6 + rank, without the plain letters at the end
 *	variants  7 letters in a byte, 6 + bits, without the zeros at the end
 *	marks     pairs: how many letters lie between the mark before and this
 *	          one, then the mark; at last how many letters are left, then 0
 *
 * A level ends with a byte lower than any of its own, which says what comes
 * next, in the order of the strings:
 *
 *	BEFORE    marks, the first in front of a letter
 *	NOTHING
 *	BEHIND    marks, all behind the last letter
 *	VARIANTS  variants (capitals), then one of the three above
 *	ACCENTS   accents, then one of the four above
 *
 * Two strings meet on a level only with equally many letters, so leaving out
 * what is lowest at the end is right, and a level of nothing but the lowest is
 * left out whole: a word in lower case takes a byte for each letter and one
 * more, and most words are decided in their first eight bytes.
 *
 * On the marks' level glibc weighs all characters, marks below letters, and a
 * string that ends below one that goes on.  With the letters equal this is the
 * order of the pairs: the sooner a mark comes, the lower the string, unless it
 * comes behind the last letter, where the other string has come to its end.
 */
#include <errno.h>
#include <string.h>
#include "rec/collate_table.h"

enum { BEFORE = 1, NOTHING, BEHIND, VARIANTS, ACCENTS, FIRST };

_Static_assert(FIRST == SP__COLLATE_FIRST_RANK, "ranks lie above the ends of levels");

/* How many bytes of a gap one byte may tell; more follows behind 255. */
#define GAP_MAX 255

struct text {
	const struct sp__collate_table *c;
	const unsigned char *s, *end;
};

static const struct sp__collate_sym *next_sym(const struct text *t, const unsigned char **p)
{
	return &t->c->sym[sp__collate_next(t->c, p, t->end)];
}

/* What the levels hold, found on the way over the first. */
struct extent {
	size_t letters;
	size_t accents;	 /* up to the last accent */
	size_t variants; /* up to the last variant */
	size_t before;	 /* letters in front of the first mark */
	bool marks, alone;
};

/* Writes the first level.  NULL if the text cannot be encoded. */
static unsigned char *put_letters(const struct text *t, struct extent *e, unsigned char *out)
{
	const struct sp__collate_table *c = t->c;
	unsigned id, last = 0;

	*e = (struct extent){ 0 };
	for (const unsigned char *p = t->s; p < t->end; last = id) {
		const struct sp__collate_sym *sym;

		id = sp__collate_next(c, &p, t->end);
		sym = &c->sym[id];
		if (!id || (c->sym[last].paired && sp__collate_paired(c, last, id)))
			return NULL;
		if (!sym->letter) {
			if (!e->marks)
				e->before = e->letters;
			e->marks = true;
			continue;
		}
		*out++ = sym->rank;
		e->letters++;
		e->alone |= sym->alone;
		if (sym->accent)
			e->accents = e->letters;
		if (sym->variant)
			e->variants = e->letters;
	}
	return e->marks && e->alone ? NULL : out;
}

static unsigned char *put_accents(const struct text *t, size_t letters, unsigned char *out)
{
	for (const unsigned char *p = t->s; letters;) {
		const struct sp__collate_sym *sym = next_sym(t, &p);

		if (!sym->letter)
			continue;
		*out++ = (unsigned char)(FIRST + sym->accent);
		letters--;
	}
	return out;
}

static unsigned char *put_variants(const struct text *t, size_t letters, unsigned char *out)
{
	const unsigned char *p = t->s;
	unsigned bits = 0;
	size_t n = 0;

	while (n < letters) {
		const struct sp__collate_sym *sym = next_sym(t, &p);

		if (!sym->letter)
			continue;
		bits = bits << 1 | sym->variant;
		if (++n % 7 == 0) {
			*out++ = (unsigned char)(FIRST + bits);
			bits = 0;
		}
	}
	if (n % 7)
		*out++ = (unsigned char)(FIRST + (bits << (7 - n % 7)));
	return out;
}

static unsigned char *put_gap(size_t gap, unsigned char *out)
{
	for (; gap >= GAP_MAX; gap -= GAP_MAX)
		*out++ = GAP_MAX;
	*out++ = (unsigned char)gap;
	return out;
}

static unsigned char *put_marks(const struct text *t, unsigned char *out)
{
	size_t gap = 0;

	for (const unsigned char *p = t->s; p < t->end;) {
		const struct sp__collate_sym *sym = next_sym(t, &p);

		if (sym->letter) {
			gap++;
			continue;
		}
		out = put_gap(gap, out);
		*out++ = sym->mark;
		gap = 0;
	}
	out = put_gap(gap, out);
	*out++ = 0;
	return out;
}

/* Any text; there is room.  NULL if it cannot be encoded. */
static unsigned char *encode_text(const struct text *t, unsigned char *out)
{
	struct extent e;

	out = put_letters(t, &e, out);
	if (!out)
		return NULL;
	if (e.accents) {
		*out++ = ACCENTS;
		out = put_accents(t, e.accents, out);
	}
	if (e.variants) {
		*out++ = VARIANTS;
		out = put_variants(t, e.variants, out);
	}
	if (!e.marks) {
		*out++ = NOTHING;
		return out;
	}
	*out++ = e.before < e.letters ? BEFORE : BEHIND;
	return put_marks(t, out);
}

static int encode_slowly(const struct text *t, struct sp__keybuf *buf)
{
	unsigned char *end = encode_text(t, buf->data + buf->bytes);

	if (!end)
		return 1;
	buf->bytes = (size_t)(end - buf->data);
	return 0;
}

/* The same for texts of single bytes that all have an entry in fast. */

static bool has_bad_pair(const struct text *t)
{
	const struct sp__collate_table *c = t->c;

	for (const unsigned char *p = t->s; p + 1 < t->end; p++)
		if (c->fast[p[0]] & SP__COLLATE_PAIRED &&
		    sp__collate_paired(c, c->byte[p[0]], c->byte[p[1]]))
			return true;
	return false;
}

static unsigned char *put_byte_variants(const struct text *t, unsigned char *out)
{
	const uint16_t *fast = t->c->fast;
	const unsigned char *last = t->end - 1;
	unsigned bits = 0, n = 0;

	while (!(fast[*last] & SP__COLLATE_VARIANT))
		last--;
	*out++ = VARIANTS;
	for (const unsigned char *p = t->s; p <= last; p++) {
		if (fast[*p] & SP__COLLATE_MARK)
			continue;
		bits = bits << 1 | (fast[*p] & SP__COLLATE_VARIANT) / SP__COLLATE_VARIANT;
		if (++n == 7) {
			*out++ = (unsigned char)(FIRST + bits);
			bits = n = 0;
		}
	}
	if (n)
		*out++ = (unsigned char)(FIRST + (bits << (7 - n)));
	return out;
}

static unsigned char *put_byte_marks(const struct text *t, size_t letters, unsigned char *out)
{
	const uint16_t *fast = t->c->fast;
	const unsigned char *from = t->s, *p = t->s;
	unsigned char *kind = out++;

	for (; p < t->end; p++) {
		if (!(fast[*p] & SP__COLLATE_MARK))
			continue;
		out = put_gap((size_t)(p - from), out);
		*out++ = (unsigned char)fast[*p];
		from = p + 1;
	}
	out = put_gap((size_t)(p - from), out);
	*out++ = 0;
	p = t->s;
	while (!(fast[*p] & SP__COLLATE_MARK))
		p++;
	*kind = (size_t)(p - t->s) < letters ? BEFORE : BEHIND;
	return out;
}

/* Every byte's letter, marks left out.  Returns all their flags together. */
static unsigned put_bytes(const struct text *t, unsigned char **out)
{
	const uint16_t *fast = t->c->fast;
	unsigned char *to = *out;
	unsigned seen = 0;

	for (const unsigned char *p = t->s; p < t->end; p++) {
		unsigned known = fast[*p];

		*to = (unsigned char)known;
		to += !(known & SP__COLLATE_MARK);
		seen |= known;
	}
	*out = to;
	return seen;
}

int sp__collate_encode_by(const struct sp__collate_table *c, const char *s, size_t n,
			  struct sp__keybuf *buf)
{
	struct text t = { c, (const unsigned char *)s, (const unsigned char *)s + n };
	unsigned char *out;
	unsigned seen;
	size_t most;

	/* Two bytes for each letter or mark, bits, parts of gaps; ends. */
	if (__builtin_mul_overflow(n, 2, &most) || sp__keybuf_reserve(buf, most + n / 6 + 16))
		return -ENOMEM;
	out = buf->data + buf->bytes;
	seen = put_bytes(&t, &out);
	if (seen & SP__COLLATE_OTHER)
		return encode_slowly(&t, buf);
	if (seen & SP__COLLATE_PAIRED && has_bad_pair(&t))
		return 1;
	if (seen & SP__COLLATE_MARK && seen & SP__COLLATE_ALONE)
		return 1;
	most = (size_t)(out - buf->data) - buf->bytes;
	if (seen & SP__COLLATE_VARIANT)
		out = put_byte_variants(&t, out);
	if (seen & SP__COLLATE_MARK)
		out = put_byte_marks(&t, most, out);
	else
		*out++ = NOTHING;
	buf->bytes = (size_t)(out - buf->data);
	return 0;
}
