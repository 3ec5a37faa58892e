/* SPDX-License-Identifier: MIT */
/*
 * Parses and prints dates and times (calendar.h).
 *
 * Algorithm: a year begins in March, so that a leap day is its last day, and the first five months
 * (31 30 31 30 31 days) repeat: the first day of month m is day (153 m + 2) / 5.  Day 0 is
 * -0400-03-01, so that no number is negative.
 */
#include "base/few.h"
#include "base/put.h"
#include "rec/calendar.h"
#include "rec/numeral.h"

#define CYCLE_DAYS 146097		/* days of 400 years */
#define FIRST_DAY (719468 + CYCLE_DAYS) /* from day 0 to 1970-01-01 */
#define DATE_BYTES 10
#define TIME_BYTES 19
#define DAY_S 86400
#define SECOND_US 1000000
/* Bytes of YYYY-MM- and of HH:MM:SS that are not digits, the first byte lowest. */
#define DASHES 0xFF0000FF00000000u
#define ALL_DASHES 0x2D2D2D2D2D2D2D2Du
#define COLONS 0x0000FF0000FF0000u
#define ALL_COLONS 0x3A3A3A3A3A3A3A3Au

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

/* Loads 8 bytes of text, the first one lowest. */
static uint64_t load8(const char *text)
{
	return sp__load_few(text, 8);
}

static unsigned days_of_month(unsigned year, unsigned month)
{
	bool leap = year % 4 == 0 && (year % 100 || year % 400 == 0);

	return month == 2 ? 28u + leap : 30 + ((month + month / 8) & 1);
}

/* Moves the digits of a date to a word: YYYYMMDD. */
bool sp__date_parse(const char *text, size_t bytes, int32_t *days)
{
	uint64_t begin, digits;
	unsigned number;
	struct date d;

	if (bytes != DATE_BYTES)
		return false;
	begin = load8(text);
	digits = (begin & 0xFFFFFFFF) | (begin >> 40 & 0xFFFF) << 32 |
		 sp__load_few(text + 8, 2) << 48;
	if ((begin & DASHES) != (DASHES & ALL_DASHES) || sp__numeral_digits(digits) < 8)
		return false;
	number = (unsigned)sp__numeral_word(digits, 8);
	d = (struct date){ number / 10000, number / 100 % 100, number % 100 };
	if (d.month - 1 > 11 || d.day - 1 >= days_of_month(d.year, d.month))
		return false;
	*days = days_of(&d);
	return true;
}

char *sp__date_print(char *p, int32_t days)
{
	struct date d = date_of(days);
	uint64_t digits = sp__digits8(d.year * 10000 + d.month * 100 + d.day) | SP__ZEROS;

	p = sp__put_word(p, (digits & 0xFFFFFFFF) | (digits >> 32 & 0xFFFF) << 40 |
				    (DASHES & ALL_DASHES));
	sp__put_word(p, digits >> 48);
	return p + 2;
}

/* Reads the decimals of a second as microseconds. */
static bool parse_decimals(const char *p, size_t n, unsigned *us)
{
	uint64_t digits;

	if (!n || n > SP__TIME_DECIMALS)
		return false;
	digits = sp__load_few(p, n);
	*us = (unsigned)sp__numeral_word(digits, SP__TIME_DECIMALS);
	return sp__numeral_digits(digits) == n;
}

/* Moves the digits of HH:MM:SS to a word: HHMMSS00. */
static bool parse_clock(const char *text, unsigned *seconds)
{
	uint64_t all = load8(text);
	uint64_t digits = (all & 0xFFFF) | (all >> 24 & 0xFFFF) << 16 | all >> 48 << 32 |
			  UINT64_C(0x3030) << 48;
	unsigned number;

	if ((all & COLONS) != (COLONS & ALL_COLONS) || sp__numeral_digits(digits) < 8)
		return false;
	number = (unsigned)sp__numeral_word(digits, 8) / 100;
	*seconds = number / 10000 * 3600 + number / 100 % 100 * 60 + number % 100;
	return number < 240000 && number / 100 % 100 < 60 && number % 100 < 60;
}

bool sp__time_parse(const char *text, size_t bytes, int64_t *us, unsigned *decimals)
{
	unsigned seconds, rest = 0;
	int32_t days;

	if (bytes < TIME_BYTES || !sp__date_parse(text, DATE_BYTES, &days) || text[10] != ' ' ||
	    !parse_clock(text + 11, &seconds))
		return false;
	*decimals = bytes > TIME_BYTES ? (unsigned)bytes - TIME_BYTES - 1 : 0;
	if (bytes > TIME_BYTES &&
	    (text[TIME_BYTES] != '.' || !parse_decimals(text + TIME_BYTES + 1, *decimals, &rest)))
		return false;
	*us = ((int64_t)days * DAY_S + seconds) * SECOND_US + rest;
	return true;
}

char *sp__time_print(char *p, int64_t us, unsigned decimals)
{
	int64_t since = us - (int64_t)SP__DATE_MIN * DAY_S * SECOND_US, s = since / SECOND_US;
	unsigned rest = (unsigned)(since % SECOND_US), second = (unsigned)(s % DAY_S);
	unsigned hour = second / 3600, minute = second / 60 % 60;
	uint64_t digits =
		sp__digits8(hour * 1000000 + minute * 10000 + second % 60 * 100) | SP__ZEROS;

	p = sp__date_print(p, (int32_t)(s / DAY_S) + SP__DATE_MIN);
	*p++ = ' ';
	p = sp__put_word(p, (digits & 0xFFFF) | (digits >> 16 & 0xFFFF) << 24 |
				    (digits >> 32 & 0xFFFF) << 48 | (COLONS & ALL_COLONS));
	if (!decimals)
		return p;
	*p++ = '.';
	sp__put_digits(p, rest, SP__TIME_DECIMALS);
	return p + decimals;
}
