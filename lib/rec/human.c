/* SPDX-License-Identifier: MIT */
/*
 * Numbers with a unit (-h): the sign, then the unit, then the number decide.
 * Units are not converted: 2000K sorts before 1M.  A number without any digit
 * but zero has no unit, whatever follows it.
 *
 * The digits in front of the unit are read more strictly than -n reads them:
 * one thousands separator at a time, and only between digits.
 */
#include "rec/encoders.h"

int sp__human_unit(char c)
{
	static const unsigned char unit[256] = {
		['K'] = 1, ['k'] = 1, ['M'] = 2, ['G'] = 3, ['T'] = 4,	['P'] = 5,
		['E'] = 6, ['Z'] = 7, ['Y'] = 8, ['R'] = 9, ['Q'] = 10,
	};

	return unit[(unsigned char)c];
}

static const char *scan(const struct sp_keyset *ks, const char *s, const char *lim, char *largest)
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

const char *sp__human_digits(const struct sp_keyset *ks, const char *s, const char *lim, bool *any)
{
	char largest;

	s = scan(ks, s, lim, &largest);
	*any = largest;
	return s;
}

/* -10 to 10. */
static int order_of(const struct sp_keyset *ks, const char *s, const char *lim)
{
	bool negative;
	char largest;
	int unit;

	s = sp__skip_blanks(ks, s, lim);
	negative = s < lim && *s == '-';
	s = scan(ks, s + negative, lim, &largest);
	unit = largest > '0' && s < lim ? sp__human_unit(*s) : 0;
	return negative ? -unit : unit;
}

unsigned char *sp__human_encode(const struct sp_keyset *ks, const char *s, const char *lim,
				unsigned char *out, size_t room)
{
	*out++ = (unsigned char)(order_of(ks, s, lim) + 16);
	return sp__number_encode(ks, s, lim, false, false, out, room);
}

int sp__human_compare(const struct sp_keyset *ks, const char *a, const char *alim, const char *b,
		      const char *blim)
{
	int diff = order_of(ks, a, alim) - order_of(ks, b, blim);

	return diff ? diff : sp__number_compare(ks, a, alim, b, blim);
}
