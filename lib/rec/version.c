/* SPDX-License-Identifier: MIT */
/*
 * Versions in the order of GNU sort -V (file names, in fact).
 *
 * First come the empty name, ".", ".." and other names that begin with a dot,
 * in this order.  Otherwise names without their suffixes decide, and if these
 * are equal, whole names.  A suffix is the longest tail made of pieces "."
 * letter-or-~ alphanumerics-or-~.  It may be all of a hidden name, as in the
 * sort of coreutils 9.1; later releases never take all of it.
 *
 * A name is read as runs of other bytes and runs of digits in turn.  Runs of
 * digits compare by value; in the others a tilde is before the end of the
 * name, that before a digit, that before letters, and those before all else.
 * A name that ends where another has a run of digits counts as having a zero
 * there.  Hence the encoding: each other byte as its rank, a run of digits as
 * a mark, its length without leading zeros and its digits, and a name that
 * does not end in digits as if it ended in a zero.
 */
#include <string.h>
#include "rec/keyset.h"

enum { RANK_TILDE = 1, RANK_END, RANK_DIGITS, RANK_LETTERS, RANK_OTHERS = RANK_LETTERS + 52 };

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

/* Length of a name without its suffix. */
static size_t prefix_of(const char *s, size_t n)
{
	size_t prefix = 0, i = 0;

	for (;;) {
		while (i + 1 < n && s[i] == '.' && (letter(s[i + 1]) || s[i + 1] == '~'))
			for (i += 2; i < n && (letter(s[i]) || sp__digit(s[i]) || s[i] == '~');)
				i++;
		if (i == n)
			return prefix;
		do
			i++;
		while (i < n && s[i] != '.');
		prefix = i;
	}
}

/* How many digits, letters and tildes precede a byte. */
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

/* One byte for every two digits, as far as end, and room for what counts them. */
static unsigned char *put_run(const char *s, const char *lim, unsigned char *out,
			      const unsigned char *end)
{
	uint64_t count = (uint64_t)(lim - s), wide = __builtin_bswap64(count);

	*out++ = RANK_DIGITS;
	if (count < 0xFF) {
		*out++ = (unsigned char)count;
	} else {
		*out++ = 0xFF;
		memcpy(out, &wide, 8);
		out += 8;
	}
	if ((lim - s) / 2 > end - out)
		lim = s + (out < end ? 2 * (end - out) : 0);
	for (; lim - s >= 2; s += 2)
		*out++ = (unsigned char)((s[0] - '0') * 10 + s[1] - '0');
	if (s < lim)
		*out++ = (unsigned char)(*s - '0');
	return out;
}

/*
 * Out is before end.  *open: where what follows the name, if it is not a digit, would be encoded
 * for the longer name.
 */
static unsigned char *encode_name(const char *s, const char *lim, unsigned char *out,
				  const unsigned char *end, unsigned char **open)
{
	const char *digits, *run, *stop;
	unsigned char r;

	do {
		stop = lim - s > end - out ? s + (end - out) : lim;
		for (; s < stop && (r = ranks[(unsigned char)*s]); s++)
			*out++ = r;
		*open = out;
		if (out >= end)
			return out;
		for (digits = s; s < lim && *s == '0';)
			s++;
		for (run = s; s < lim && sp__digit(*s);)
			s++;
		out = put_run(run, s, out, end);
		if (s > digits)
			*open = out;
	} while (s < lim && out < end);
	*out++ = RANK_END;
	return out;
}

unsigned char *sp__version_encode(const char *s, size_t n, unsigned char *out, size_t room)
{
	const unsigned char *end = out + room;
	int class = class_of(s, n);
	unsigned char *first, *open;
	size_t prefix, bytes;

	*out++ = (unsigned char)class;
	if (class < DOTNAME)
		return out;
	prefix = prefix_of(s, n);
	first = out;
	out = encode_name(s, s + prefix, out, end, &open);
	if (out >= end)
		return out;
	/* The whole name: as before, up to the suffix. */
	bytes = (size_t)((prefix < n ? open : out) - first);
	memcpy(out, first, bytes);
	out += bytes;
	return prefix < n && out < end ? encode_name(s + prefix, s + n, out, end, &open) : out;
}

/* The direct comparison. */

/* At the end of a name, and for digits: the reference of ranks. */
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
	diff = compare_names(a, a + prefix_of(a, an), b, b + prefix_of(b, bn));
	return diff ? diff : compare_names(a, a + an, b, b + bn);
}
