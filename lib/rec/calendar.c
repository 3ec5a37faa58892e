/* SPDX-License-Identifier: MIT */
/*
 * Parses and prints dates and times (calendar.h).
 *
 * Algorithm: a year begins in March, so that a leap day is its last day, and the first five months
 * (31 30 31 30 31 days) repeat: the first day of month m is day (153 m + 2) / 5.  Day 0 is
 * -0400-03-01, so that no number is negative.
 */
#include "base/put.h"
#include "rec/calendar.h"

#define CYCLE_DAYS 146097		/* days of 400 years */
#define FIRST_DAY (719468 + CYCLE_DAYS) /* from day 0 to 1970-01-01 */
#define DATE_BYTES 10
#define TIME_BYTES 19
#define DAY_S 86400
#define SECOND_US 1000000

struct date {
	unsigned year, month, day; /* month and day begin with 1 */
};

static int32_t days_of(const struct date *d)
{
	unsigned year = d->year + 400 - (d->month <= 2), month = (d->month + 9) % 12;

	return (int32_t)(year * 365 + year / 4 - year / 100 + year / 400 + (153 * month + 2) / 5 +
			 d->day - 1) -
	       FIRST_DAY;
}

static struct date date_of(int32_t days)
{
	unsigned all = (unsigned)(days + FIRST_DAY), day = all % CYCLE_DAYS;
	unsigned year = (day - day / 1460 + day / 36524 - day / (CYCLE_DAYS - 1)) / 365, month;
	struct date d;

	day -= year * 365 + year / 4 - year / 100;
	month = (5 * day + 2) / 153;
	d.day = day - (153 * month + 2) / 5 + 1;
	d.month = month < 10 ? month + 3 : month - 9;
	d.year = year + all / CYCLE_DAYS * 400 - 400 + (d.month <= 2);
	return d;
}

/* Reads exactly n digits.  False: a byte is not a digit. */
static bool digits(const char *p, unsigned n, unsigned *v)
{
	for (*v = 0; n; n--, p++) {
		if (*p < '0' || *p > '9')
			return false;
		*v = *v * 10 + (unsigned)(*p - '0');
	}
	return true;
}

bool sp__date_parse(const char *text, size_t bytes, int32_t *days)
{
	struct date d, real;

	if (bytes != DATE_BYTES || text[4] != '-' || text[7] != '-' || !digits(text, 4, &d.year) ||
	    !digits(text + 5, 2, &d.month) || !digits(text + 8, 2, &d.day) || d.month < 1 ||
	    d.month > 12 || d.day < 1 || d.day > 31)
		return false;
	*days = days_of(&d);
	real = date_of(*days);
	return real.month == d.month; /* a month has fewer than 31 days */
}

char *sp__date_print(char *p, int32_t days)
{
	struct date d = date_of(days);

	p = sp__put_digits(p, d.year, 4);
	*p++ = '-';
	p = sp__put_digits(p, d.month, 2);
	*p++ = '-';
	return sp__put_digits(p, d.day, 2);
}

/* Reads the decimals of a second as microseconds. */
static bool parse_decimals(const char *p, size_t n, unsigned *us)
{
	if (!n || n > SP__TIME_DECIMALS || !digits(p, (unsigned)n, us))
		return false;
	for (; n < SP__TIME_DECIMALS; n++)
		*us *= 10;
	return true;
}

bool sp__time_parse(const char *text, size_t bytes, int64_t *us, unsigned *decimals)
{
	unsigned hour, minute, second, rest = 0;
	int32_t days;

	if (bytes < TIME_BYTES || !sp__date_parse(text, DATE_BYTES, &days) || text[10] != ' ' ||
	    text[13] != ':' || text[16] != ':' || !digits(text + 11, 2, &hour) ||
	    !digits(text + 14, 2, &minute) || !digits(text + 17, 2, &second) || hour > 23 ||
	    minute > 59 || second > 59)
		return false;
	*decimals = bytes > TIME_BYTES ? (unsigned)bytes - TIME_BYTES - 1 : 0;
	if (bytes > TIME_BYTES &&
	    (text[TIME_BYTES] != '.' || !parse_decimals(text + TIME_BYTES + 1, *decimals, &rest)))
		return false;
	*us = ((int64_t)days * DAY_S + hour * 3600 + minute * 60 + second) * SECOND_US + rest;
	return true;
}

char *sp__time_print(char *p, int64_t us, unsigned decimals)
{
	int64_t since = us - (int64_t)SP__DATE_MIN * DAY_S * SECOND_US, s = since / SECOND_US;
	unsigned rest = (unsigned)(since % SECOND_US), second = (unsigned)(s % DAY_S);

	p = sp__date_print(p, (int32_t)(s / DAY_S) + SP__DATE_MIN);
	*p++ = ' ';
	p = sp__put_digits(p, second / 3600, 2);
	*p++ = ':';
	p = sp__put_digits(p, second / 60 % 60, 2);
	*p++ = ':';
	p = sp__put_digits(p, second % 60, 2);
	if (!decimals)
		return p;
	*p++ = '.';
	sp__put_digits(p, rest, SP__TIME_DECIMALS);
	return p + decimals;
}
