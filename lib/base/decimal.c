/* SPDX-License-Identifier: MIT */
/* Parses, adds, divides and prints decimal numbers (decimal.h). */
#include "base/decimal.h"
#include "base/minmax.h"

/* Magnitudes stay below this limit, so neither another digit nor a division can overflow. */
#define UNITS_MAX ((sp__int128)1000000000000000000 * 1000000000000000000)

static bool digit(char c)
{
	return c >= '0' && c <= '9';
}

static sp__int128 power(unsigned places)
{
	sp__int128 p = 1;

	while (places--)
		p *= 10;
	return p;
}

/* Appends at most max digits to units; returns the address after the last one. */
static const char *digits(const char *p, const char *end, size_t max, sp__int128 *units)
{
	for (; p < end && digit(*p) && max-- && *units < UNITS_MAX; p++)
		*units = *units * 10 + (*p - '0');
	return p;
}

bool sp__decimal_parse(const char *text, size_t bytes, struct sp__decimal *d)
{
	const char *p = text, *end = text + bytes, *begin;
	bool minus = p < end && *p == '-', any;

	*d = (struct sp__decimal){ 0 };
	if (minus || (p < end && *p == '+'))
		p++;
	begin = p;
	p = digits(begin, end, bytes, &d->units);
	any = p > begin;
	if (p < end && *p == '.') {
		begin = ++p;
		p = digits(begin, end, SP__DECIMAL_PLACES, &d->units);
		d->places = (unsigned)(p - begin);
		any = any || d->places;
	}
	if (p < end || !any || d->units >= UNITS_MAX / power(SP__DECIMAL_PLACES - d->places))
		return false;
	d->units *= power(SP__DECIMAL_PLACES - d->places);
	d->units = minus ? -d->units : d->units;
	return true;
}

bool sp__decimal_add(struct sp__decimal *sum, const struct sp__decimal *d)
{
	sum->units += d->units;
	sum->places = (unsigned)sp__max(sum->places, d->places);
	return sum->units < UNITS_MAX && sum->units > -UNITS_MAX;
}

struct sp__decimal sp__decimal_divide(const struct sp__decimal *d, unsigned long long n,
				      unsigned places)
{
	sp__int128 unit = power(SP__DECIMAL_PLACES - places), by = unit * n;
	sp__int128 magnitude = d->units < 0 ? -d->units : d->units;
	sp__int128 rounded = (magnitude + by / 2) / by * unit;

	/* An odd divisor has no halves; an even one rounds them up. */
	return (struct sp__decimal){ d->units < 0 ? -rounded : rounded, places };
}

size_t sp__decimal_print(const struct sp__decimal *d, char text[SP__DECIMAL_TEXT])
{
	sp__int128 rest =
		(d->units < 0 ? -d->units : d->units) / power(SP__DECIMAL_PLACES - d->places);
	char reversed[SP__DECIMAL_TEXT];
	size_t n = 0, at = 0;

	for (unsigned i = 0; i < d->places; i++, rest /= 10)
		reversed[n++] = (char)('0' + (int)(rest % 10));
	if (n)
		reversed[n++] = '.';
	do {
		reversed[n++] = (char)('0' + (int)(rest % 10));
		rest /= 10;
	} while (rest);
	if (d->units < 0)
		text[at++] = '-';
	while (n)
		text[at++] = reversed[--n];
	return at;
}
