/* SPDX-License-Identifier: MIT */
/*
 * Encodes numbers: general ones (-g), decimal ones of any length (-n), and those with a unit (-h).
 *
 * A decimal number is blanks, an optional minus sign, digits with thousands separators anywhere
 * among them, and a decimal point with more digits.  The rest of the text is ignored; without
 * digits the number is zero.  The encoding of
 *
 *	zero		is the byte 0x80;
 *	a positive one	begins with 0x81 plus the count of its integer digits without
 *			leading zeros (0xFE and the count in eight bytes if it is
 *			large); then all digits without trailing zeros, two per byte,
 *			each pair plus one; then a zero byte;
 *	a negative one	is the complement of its positive counterpart.
 *
 * Of two positive numbers the one with more integer digits is larger.  With equal numbers of them,
 * the digits decide like a fraction.  An integer of up to 14 digits is decided within eight bytes;
 * most need five or six.
 *
 * Rejected: the value as a 64-bit integer.  Longer numbers and fractions between its neighbours
 * would need one more byte in every key.
 */
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/mem.h"
#include "rec/integer.h"
#include "rec/keyset.h"

/*
 * The key of a general number (-g) is the value that strtold() reads, in the order: not a number,
 * NaN, -infinity to +infinity.
 *
 * The value's bits, most significant first, have the order of the values if the sign bit is
 * inverted, or, if it is set, all bits.  Even -infinity does not begin with three zero bytes.  So
 * these and a fourth byte encode the rest: 0 for a text that is not a number, 1 for a NaN.  The
 * bytes of a NaN follow in memory order, because GNU sort compares two of them so.
 *
 * strtold() is slow and needs a NUL.  A plain decimal number of up to 19 digits is one exactly
 * stored integer divided by another, so one division gives the same correctly rounded value.
 */

/* Storage of the text of a number in a long double. */
#if LDBL_MANT_DIG == 64
#define VALUE_BYTES 10
#else
#define VALUE_BYTES ((int)sizeof(long double))
#endif

enum { NO_NUMBER, NOT_A_NUMBER, NUMBER };

#define STACK_TEXT 512

static inline bool alnum(char c)
{
	return sp__digit(c) || (unsigned)(c | 0x20) - 'a' < 26;
}

/* Reads a plain decimal number; false: the text is not one. */
static bool plain_decimal(const struct sp_keyset *ks, const char *s, const char *lim,
			  long double *value)
{
	static const long double pow10[] = {
		1e0L,  1e1L,  1e2L,  1e3L,  1e4L,  1e5L,  1e6L,	 1e7L,	1e8L,  1e9L,
		1e10L, 1e11L, 1e12L, 1e13L, 1e14L, 1e15L, 1e16L, 1e17L, 1e18L, 1e19L,
	};
	size_t digits = 0, point = 0;
	bool negative = s < lim && *s == '-', seen_point = false;
	uint64_t v = 0;

	for (s += negative; s < lim; s++) {
		if (sp__digit(*s)) {
			v = v * 10 + (uint64_t)(*s - '0');
			digits++;
			point += seen_point;
		} else if ((unsigned char)*s == ks->numfmt.strtold_point && !seen_point) {
			seen_point = true;
		} else if (alnum(*s) || *s == '.' || (*s & 0x80)) {
			return false;
		} else {
			break;
		}
	}
	if (!digits || digits > 19)
		return false;
	*value = (long double)v / pow10[point];
	if (negative)
		*value = -*value;
	return true;
}

/* Returns the maximum number of bytes that can be part of a number. */
static size_t span(const char *s, size_t n)
{
	size_t i = 0;

	while (i < n && (s[i] == ' ' || (s[i] >= '\t' && s[i] <= '\r')))
		i++;
	while (i < n && (alnum(s[i]) || (s[i] & 0x80) || (s[i] && strchr("+-.,()_'", s[i]))))
		i++;
	return i;
}

size_t sp__general_value(const char *s, size_t n, long double *value)
{
	char stack[STACK_TEXT], *text = stack, *end;
	size_t used;

	n = span(s, n);
	if (n >= sizeof(stack)) {
		text = sp__block_resize(NULL, 0, n + 1);
		if (!text) {
			/* Digits this far from the beginning rarely change the value. */
			text = stack;
			n = sizeof(stack) - 1;
		}
	}
	memcpy(text, s, n);
	text[n] = '\0';
	*value = strtold(text, &end);
	used = (size_t)(end - text);
	if (text != stack)
		(void)sp__block_resize(text, n + 1, 0);
	return used;
}

static int classify(const char *s, size_t n, long double *value)
{
	if (!sp__general_value(s, n, value))
		return NO_NUMBER;
	return isnan(*value) ? NOT_A_NUMBER : NUMBER;
}

unsigned char *sp__general_encode(const struct sp_keyset *ks, const char *s, size_t n,
				  unsigned char *out)
{
	unsigned char raw[sizeof(long double)];
	const char *p = s, *lim = s + n;
	long double value;
	unsigned char flip;
	int class = NUMBER;

	while (p < lim && *p == ' ')
		p++;
	if (LDBL_MANT_DIG < 64 || !plain_decimal(ks, p, lim, &value))
		class = classify(s, n, &value);
	if (class != NUMBER) {
		memset(out, 0, 3);
		out[3] = (unsigned char)class;
		if (class == NO_NUMBER)
			return out + 4;
		memcpy(out + 4, &value, VALUE_BYTES);
		return out + 4 + VALUE_BYTES;
	}
	if (value == 0)
		value = 0; /* without the sign */
	memcpy(raw, &value, sizeof(raw));
	flip = signbit(value) ? 0xFF : 0;
	for (int i = 0; i < VALUE_BYTES; i++)
		out[i] = raw[SP__LITTLE_ENDIAN ? VALUE_BYTES - 1 - i : i] ^ flip;
	if (!flip)
		out[0] |= 0x80;
	return out + VALUE_BYTES;
}

int sp__general_compare(const char *a, size_t an, const char *b, size_t bn)
{
	long double va, vb;
	int ca = classify(a, an, &va), cb = classify(b, bn, &vb);

	if (ca != cb || ca == NO_NUMBER)
		return ca - cb;
	if (ca == NOT_A_NUMBER)
		return memcmp(&va, &vb, VALUE_BYTES);
	return (va > vb) - (va < vb);
}

#define MAX_SHORT_COUNT 0x7C
#define HEAD_LONG 0xFE

/* Returns the byte at p; at the end -2, which equals no byte. */
static inline int at(const char *p, const char *lim)
{
	return p < lim ? (unsigned char)*p : -2;
}

static inline const char *skip_leading(const struct sp__numfmt *f, const char *s, const char *lim)
{
	while (s < lim && (*s == '0' || (unsigned char)*s == f->thousands))
		s++;
	return s;
}

/* Gathers digits, two per byte; keep: end of the last pair that is not zero. */
struct pairs {
	unsigned char *out, *keep;
	int high; /* the first digit of a pair whose second is missing; -1 */
};

static inline void put_digit(struct pairs *w, int d)
{
	if (w->high < 0) {
		w->high = d;
		return;
	}
	*w->out = (unsigned char)(w->high * 10 + d + 1);
	if (*w->out++ != 1)
		w->keep = w->out;
	w->high = -1;
}

static void put_digits(struct pairs *w, const struct sp__numfmt *f, const char *s, const char *lim)
{
	for (; sp__digit(at(s, lim)) || at(s, lim) == f->thousands; s++)
		if (sp__digit(*s))
			put_digit(w, *s - '0');
	if (at(s, lim) == f->decimal)
		for (s++; sp__digit(at(s, lim)); s++)
			put_digit(w, *s - '0');
	if (w->high >= 0)
		put_digit(w, 0);
}

/* True if there are digits other than zeros.  fraction: s is after the decimal point. */
static bool counts(const struct sp__numfmt *f, const char *s, const char *lim, bool fraction)
{
	for (; s < lim; s++) {
		if (*s == '0' || (!fraction && (unsigned char)*s == f->thousands))
			continue;
		if (fraction || (unsigned char)*s != f->decimal)
			return sp__digit(*s);
		fraction = true;
	}
	return false;
}

/* Gathers digits up to about end; if digits that matter can be left, trailing zeros are kept. */
static void put_first_digits(struct pairs *w, const struct sp__numfmt *f, const char *s,
			     const char *lim, const unsigned char *end)
{
	bool fraction = false;

	for (; s < lim && w->out < end; s++) {
		if (sp__digit(*s))
			put_digit(w, *s - '0');
		else if (!fraction && (unsigned char)*s == f->decimal)
			fraction = true;
		else if (fraction || (unsigned char)*s != f->thousands)
			break;
	}
	if (w->high >= 0)
		put_digit(w, 0);
	if (counts(f, s, lim, fraction))
		w->keep = w->out;
}

static unsigned char *put_head(unsigned char *out, uint64_t count)
{
	if (count <= MAX_SHORT_COUNT) {
		*out++ = (unsigned char)(0x81 + count);
		return out;
	}
	*out++ = HEAD_LONG;
	count = __builtin_bswap64(count);
	memcpy(out, &count, 8);
	return out + 8;
}

/* Encodes any number; s is after blanks and sign. */
static unsigned char *encode_general(const struct sp__numfmt *f, const char *s, const char *lim,
				     bool terminate, unsigned char flip, unsigned char *out,
				     size_t room)
{
	struct pairs w = { .high = -1 };
	unsigned char *head = out;
	uint64_t count = 0;

	s = skip_leading(f, s, lim);
	for (const char *p = s; sp__digit(at(p, lim)) || at(p, lim) == f->thousands; p++)
		count += sp__digit(*p);
	out = put_head(out, count);
	w.out = w.keep = out;
	if (SP__NUMBER_MAX((size_t)(lim - s)) > room)
		put_first_digits(&w, f, s, lim, out + room);
	else
		put_digits(&w, f, s, lim);
	if (w.keep == out)
		return NULL; /* zero */
	out = w.keep;
	if (terminate)
		*out++ = 0;
	if (flip)
		for (; head < out; head++)
			*head ^= flip;
	return out;
}

unsigned char *sp__number_encode(const struct sp_keyset *ks, const char *s, const char *lim,
				 const char *reach, bool last, bool reverse, unsigned char *out,
				 size_t room)
{
	const struct sp__numfmt *f = &ks->numfmt;
	unsigned char flip = reverse ? 0xFF : 0, *end;
	unsigned digits;

	s = sp__skip_blanks(ks, s, lim);
	if (s < lim && *s == '-') {
		flip ^= 0xFF;
		s++;
	}
	end = sp__integer_encode(f, s, lim, reach, !last || flip, flip, out, &digits);
	if (!end)
		end = encode_general(f, s, lim, !last || flip, flip, out, room);
	if (!end) {
		*out = reverse ? 0x7F : 0x80;
		end = out + 1;
	}
	return end;
}

bool sp__number_found(const struct sp_keyset *ks, const char *s, const char *lim)
{
	const struct sp__numfmt *f = &ks->numfmt;

	s = sp__skip_blanks(ks, s, lim);
	s += at(s, lim) == '-';
	while (at(s, lim) == f->thousands)
		s++;
	s += at(s, lim) == f->decimal;
	return sp__digit(at(s, lim));
}

/* The direct comparison. */

struct reader {
	const char *s, *lim;
	const struct sp__numfmt *f;
	bool fraction;
};

/* Returns the next digit before the decimal point, or -1. */
static int next_digit(struct reader *r)
{
	while (at(r->s, r->lim) == r->f->thousands)
		r->s++;
	return sp__digit(at(r->s, r->lim)) ? *r->s++ - '0' : -1;
}

/* Returns the next digit after the decimal point; zeros after the last. */
static int next_fraction_digit(struct reader *r)
{
	if (!r->fraction) {
		r->fraction = true;
		if (at(r->s, r->lim) == r->f->decimal)
			r->s++;
		else
			r->s = r->lim;
	}
	if (sp__digit(at(r->s, r->lim)))
		return *r->s++ - '0';
	r->s = r->lim;
	return 0;
}

static int compare_magnitude(struct reader a, struct reader b)
{
	int first = 0, da, db;

	a.s = skip_leading(a.f, a.s, a.lim);
	b.s = skip_leading(b.f, b.s, b.lim);
	do {
		da = next_digit(&a);
		db = next_digit(&b);
		if (!first)
			first = da - db;
	} while (da >= 0 && db >= 0);
	if (da != db)
		return da - db; /* one has more digits */
	while (!first && (a.s < a.lim || b.s < b.lim))
		first = next_fraction_digit(&a) - next_fraction_digit(&b);
	return first;
}

int sp__number_compare(const struct sp_keyset *ks, const char *a, const char *alim, const char *b,
		       const char *blim)
{
	static const struct sp__numfmt none = { -1, -1, -1 };
	struct reader ra = { sp__skip_blanks(ks, a, alim), alim, &ks->numfmt, false };
	struct reader rb = { sp__skip_blanks(ks, b, blim), blim, &ks->numfmt, false };
	const struct reader zero = { "", "", &none, false };
	bool aneg = at(ra.s, alim) == '-', bneg = at(rb.s, blim) == '-';

	ra.s += aneg;
	rb.s += bneg;
	if (aneg && bneg)
		return compare_magnitude(rb, ra);
	if (aneg)
		return compare_magnitude(ra, zero) || compare_magnitude(rb, zero) ? -1 : 0;
	if (bneg)
		return compare_magnitude(ra, zero) || compare_magnitude(rb, zero) ? 1 : 0;
	return compare_magnitude(ra, rb);
}

/*
 * Numbers with a unit (-h): the sign, then the unit, then the number decide.  Units are not
 * converted: 2000K sorts before 1M.  A number without any digit except zero has no unit, whatever
 * follows it.
 *
 * The digits in front of the unit are read more strictly than -n reads them: one thousands
 * separator at a time, and only between digits.
 */

const unsigned char sp__human_units[256] = {
	['K'] = 1, ['k'] = 1, ['M'] = 2, ['G'] = 3, ['T'] = 4,	['P'] = 5,
	['E'] = 6, ['Z'] = 7, ['Y'] = 8, ['R'] = 9, ['Q'] = 10,
};

const char *sp__human_digits(const struct sp_keyset *ks, const char *s, const char *lim,
			     char *largest)
{
	const char *sep = NULL;

	*largest = '\0';
	for (; s < lim && sp__digit(*s); s++) {
		if (*largest < *s)
			*largest = *s;
		sep = NULL;
		if (s + 1 < lim && (unsigned char)s[1] == ks->numfmt.thousands)
			sep = ++s;
	}
	if (sep)
		return sep;
	if (s < lim && (unsigned char)*s == ks->numfmt.decimal)
		for (s++; s < lim && sp__digit(*s); s++)
			if (*largest < *s)
				*largest = *s;
	return s;
}

/* Returns the unit with the sign of the number, -10 to 10. */
static int order_of(const struct sp_keyset *ks, const char *s, const char *lim)
{
	bool negative;
	char largest;
	int unit;

	s = sp__skip_blanks(ks, s, lim);
	negative = s < lim && *s == '-';
	s = sp__human_digits(ks, s + negative, lim, &largest);
	unit = largest > '0' && s < lim ? sp__human_unit(*s) : 0;
	return negative ? -unit : unit;
}

unsigned char *sp__human_encode(const struct sp_keyset *ks, const char *s, const char *lim,
				const char *reach, bool last, bool reverse, unsigned char *out,
				size_t room)
{
	*out++ = (unsigned char)((order_of(ks, s, lim) + 16) ^ (reverse ? 0xFF : 0));
	return sp__number_encode(ks, s, lim, reach, last, reverse, out, room);
}

int sp__human_compare(const struct sp_keyset *ks, const char *a, const char *alim, const char *b,
		      const char *blim)
{
	int diff = order_of(ks, a, alim) - order_of(ks, b, blim);

	return diff ? diff : sp__number_compare(ks, a, alim, b, blim);
}
