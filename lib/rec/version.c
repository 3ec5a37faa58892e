/* SPDX-License-Identifier: MIT */
/*
 * Encodes versions in the order of GNU sort -V (actually file names).
 *
 * The empty name, ".", ".." and other names that begin with a dot come first, in this order.
 * Otherwise names without their suffixes decide, and if these are equal, whole names.  A suffix is
 * the longest tail of parts "." letter-or-~ alphanumerics-or-~.  It can be all of a hidden name, as
 * in the sort of coreutils 9.1; later releases never take all of it.
 *
 * A name is read as alternating runs of other bytes and of digits.  Runs of digits compare by
 * value.  In the others a tilde is before the end of the name, the end before a digit, a digit
 * before letters, and letters before all other bytes.  A name that ends where another has a run of
 * digits counts as having a zero there.
 *
 * Algorithm: each other byte is encoded as its rank; a run of digits as its length without leading
 * zeros, which is a rank if it is short, and its digits; and a name that does not end in digits as
 * if it ended in a zero.  The name without its suffix comes first, then the rest of the information
 * on the whole name: a bit for a final zero, and the suffix.  Names that begin with a dot have a
 * zero byte and their class before this.
 */
#include <string.h>
#include "rec/keyset.h"

/* Number of lengths of runs of digits that are ranks; the last is for all longer runs. */
#define LENGTHS 8

enum {
	RANK_TILDE = 1,
	RANK_END,
	RANK_DIGITS,
	RANK_LETTERS = RANK_DIGITS + LENGTHS,
	RANK_OTHERS = RANK_LETTERS + 52
};

enum { EMPTY, DOT, DOTDOT, DOTNAME, NAME };

static inline bool letter(char c)
{
	return (unsigned)(c | 0x20) - 'a' < 26;
}

static int class_of(const char *s, size_t n)
{
	if (!n)
		return EMPTY;
	if (s[0] != '.')
		return NAME;
	if (n == 1)
		return DOT;
	return n == 2 && s[1] == '.' ? DOTDOT : DOTNAME;
}

/* Returns the number of digits, letters and tildes that precede a byte. */
#define BEFORE(c) ((c) < '0' ? 0 : (c) < 'A' ? 10 : (c) < 'a' ? 36 : (c) < '~' ? 62 : 63)
#define LETTER(c) ((unsigned)((c) | 0x20) - 'a' < 26)
#define DIGIT(c) ((unsigned)(c) - '0' < 10)
#define RANK(c)                                                                                    \
	((c) == '~'  ? RANK_TILDE                                                                  \
	 : DIGIT(c)  ? 0                                                                           \
	 : LETTER(c) ? RANK_LETTERS + ((c) >= 'a' ? (c) - 'a' + 26 : (c) - 'A')                    \
		     : RANK_OTHERS + (c)-BEFORE(c))
#define RANKS4(c) RANK(c), RANK((c) + 1), RANK((c) + 2), RANK((c) + 3)
#define RANKS16(c) RANKS4(c), RANKS4((c) + 4), RANKS4((c) + 8), RANKS4((c) + 12)
#define RANKS64(c) RANKS16(c), RANKS16((c) + 16), RANKS16((c) + 32), RANKS16((c) + 48)

/* Ranks of bytes; 0: a digit. */
static const unsigned char ranks[256] = { RANKS64(0), RANKS64(64), RANKS64(128), RANKS64(192) };

/* Returns the length of a name without its suffix, searching from its end. */
static size_t stem_of(const char *s, size_t n)
{
	size_t stem = n, i = n;

	for (;; stem = --i) {
		while (i && ranks[(unsigned char)s[i - 1]] < RANK_OTHERS)
			i--;
		if (i == stem || !i || s[i - 1] != '.' || sp__digit(s[i]))
			return stem;
	}
}

/* Writes one byte for every two digits, up to end, and reserves space for the count. */
static unsigned char *put_run(const char *s, const char *lim, unsigned char *out,
			      const unsigned char *end)
{
	uint64_t count = (uint64_t)(lim - s), wide = __builtin_bswap64(count);

	*out++ = (unsigned char)(RANK_DIGITS + (count < LENGTHS ? count : LENGTHS - 1));
	if (count >= 0xFF) {
		*out++ = 0xFF;
		memcpy(out, &wide, 8);
		out += 8;
	} else if (count >= LENGTHS - 1) {
		*out++ = (unsigned char)count;
	}
	if ((lim - s) / 2 > end - out)
		lim = s + (out < end ? 2 * (end - out) : 0);
	for (; lim - s >= 2; s += 2)
		*out++ = (unsigned char)((s[0] - '0') * 10 + s[1] - '0');
	if (s < lim)
		*out++ = (unsigned char)(*s - '0');
	return out;
}

/* Writes a number of one or two digits, without a branch on the number. */
static inline bool put_short(const char **s, const char *lim, unsigned char **out)
{
	const char *p = *s;
	size_t two = lim - p > 1 && sp__digit(p[1]);
	unsigned tens = two ? 10 : 1;

	if (*p == '0' || (lim - p > 2 && two && sp__digit(p[2])))
		return false;
	(*out)[0] = (unsigned char)(RANK_DIGITS + 1 + two);
	(*out)[1] = (unsigned char)((unsigned)(p[0] - '0') * tens + (two ? p[1] - '0' : 0));
	*out += 2;
	*s += 1 + two;
	return true;
}

/* Encodes a name into out, before end. *zero: the name ends in a zero, real or implied. */
static unsigned char *encode_name(const char *s, const char *lim, unsigned char *out,
				  const unsigned char *end, bool *zero)
{
	bool digits = false, none = false;
	const char *run;
	unsigned char r;

	while (s < lim && out < end) {
		r = ranks[(unsigned char)*s];
		digits = !r;
		if (r) {
			*out++ = r;
			s++;
		} else if (put_short(&s, lim, &out)) {
			none = false;
		} else {
			while (s < lim && *s == '0')
				s++;
			for (run = s; s < lim && sp__digit(*s);)
				s++;
			out = put_run(run, s, out, end);
			none = run == s;
		}
	}
	*zero = !digits || none;
	if (!digits)
		*out++ = RANK_DIGITS;
	*out++ = RANK_END;
	return out;
}

unsigned char *sp__version_encode(const char *s, size_t n, unsigned char *out, size_t room)
{
	const unsigned char *end = out + room;
	int class = class_of(s, n);
	size_t stem;
	bool zero;

	if (class != NAME) {
		*out++ = 0;
		*out++ = (unsigned char)class;
	}
	if (class < DOTNAME)
		return out;
	stem = stem_of(s, n);
	out = encode_name(s, s + stem, out, end, &zero);
	if (out >= end)
		return out;
	if (zero && (stem == n || (stem && sp__digit(s[stem - 1]))))
		*out++ = RANK_DIGITS;
	if (stem < n)
		return encode_name(s + stem, s + n, out, end, &zero);
	*out++ = RANK_END;
	return out;
}

/* The direct comparison. */

/* Returns the order of a byte: at the end of a name, and for digits; the reference for ranks. */
static int order(const char *s, const char *lim)
{
	if (s == lim)
		return -1;
	if (sp__digit(*s))
		return 0;
	if (*s == '~')
		return -2;
	return (unsigned char)*s + (letter(*s) ? 0 : 256);
}

static int compare_runs(const char **a, const char *alim, const char **b, const char *blim)
{
	int first = 0;

	while (*a < alim && **a == '0')
		++*a;
	while (*b < blim && **b == '0')
		++*b;
	for (; *a < alim && *b < blim && sp__digit(**a) && sp__digit(**b); ++*a, ++*b)
		if (!first)
			first = **a - **b;
	if (*a < alim && sp__digit(**a))
		return 1;
	if (*b < blim && sp__digit(**b))
		return -1;
	return first;
}

static int compare_names(const char *a, const char *alim, const char *b, const char *blim)
{
	int diff = 0;

	while (!diff && (a < alim || b < blim)) {
		while ((a < alim && !sp__digit(*a)) || (b < blim && !sp__digit(*b))) {
			diff = order(a, alim) - order(b, blim);
			if (diff)
				return diff;
			a++;
			b++;
		}
		diff = compare_runs(&a, alim, &b, blim);
	}
	return diff;
}

int sp__version_compare(const char *a, size_t an, const char *b, size_t bn)
{
	int ca = class_of(a, an), cb = class_of(b, bn), diff;

	if (ca != cb || ca < DOTNAME)
		return ca - cb;
	diff = compare_names(a, a + stem_of(a, an), b, b + stem_of(b, bn));
	return diff ? diff : compare_names(a, a + an, b, b + bn);
}
