/* SPDX-License-Identifier: MIT */
/* Dates and times: every day of 10,000 years, texts that are none, and microseconds. */
#include <stdlib.h>
#include <string.h>
#include "base/rng.h"
#include "rec/calendar.h"
#include "tap.h"

static bool is_date(const char *text)
{
	int32_t days;

	return sp__date_parse(text, strlen(text), &days);
}

static bool is_time_of(const char *text, size_t n)
{
	unsigned decimals;
	int64_t us;

	return sp__time_parse(text, n, &us, &decimals);
}

static bool is_time(const char *text)
{
	return is_time_of(text, strlen(text));
}

/* True if the text is the time us, and is printed again. */
static bool is(const char *text, int64_t want)
{
	char got[SP__CALENDAR_SPACE];
	unsigned decimals;
	int64_t us;

	return sp__time_parse(text, strlen(text), &us, &decimals) && us == want &&
	       sp__time_print(got, us, decimals) == got + strlen(text) &&
	       !memcmp(got, text, strlen(text));
}

static unsigned days_of_month(unsigned year, unsigned month)
{
	bool leap = (year % 4 == 0 && year % 100) || year % 400 == 0;

	return month == 2 ? 28u + leap : 30 + ((month + month / 8) & 1);
}

/* Counts the days of all months; returns the number of days that differ. */
static int wrong_days(void)
{
	char want[32], got[SP__CALENDAR_SPACE];
	int32_t day = SP__DATE_MIN, parsed;
	int wrong = 0;

	for (unsigned year = 0; year < 10000; year++)
		for (unsigned month = 1; month <= 12; month++)
			for (unsigned d = 1; d <= 31; d++) {
				bool real = d <= days_of_month(year, month);

				snprintf(want, sizeof(want), "%04u-%02u-%02u", year, month, d);
				if (sp__date_parse(want, 10, &parsed) != real)
					wrong++;
				if (!real)
					continue;
				wrong += parsed != day || sp__date_print(got, day) != got + 10 ||
					 memcmp(got, want, 10);
				day++;
			}
	return wrong + (day != SP__DATE_MAX + 1);
}

/* True if the text has digits and signs where a time has them, and its numbers are below limits. */
static bool looks_like_time(const char *text)
{
	static const char form[] = "dddd-dd-dd dd:dd:dd.ddd";
	int year, month, day, hour, minute, second, rest;

	for (size_t i = 0; form[i]; i++)
		if (form[i] == 'd' ? text[i] < '0' || text[i] > '9' : text[i] != form[i])
			return false;
	sscanf(text, "%d-%d-%d %d:%d:%d.%d", &year, &month, &day, &hour, &minute, &second, &rest);
	return month >= 1 && month <= 12 && day >= 1 &&
	       (unsigned)day <= days_of_month((unsigned)year, (unsigned)month) && hour < 24 &&
	       minute < 60 && second < 60;
}

/* Changes each byte of a time to each other byte. */
static void check_changed_times(void)
{
	char text[] = "2024-02-29 23:59:59.789";
	size_t n = sizeof(text) - 1;
	int wrong = 0;

	for (size_t i = 0; i < n; i++) {
		char before = text[i];

		for (int c = 0; c < 256; c++) {
			text[i] = (char)c;
			wrong += is_time_of(text, n) != looks_like_time(text);
		}
		text[i] = before;
	}
	ok(!wrong, "a time with another byte is accepted only if it is one");
}

static void check_random_times(void)
{
	char text[SP__CALENDAR_SPACE];
	struct sp__rng rng = { 7 };
	int wrong = 0;

	for (int i = 0; i < 100000; i++) {
		unsigned decimals = (unsigned)sp__rng_below(&rng, SP__TIME_DECIMALS + 1), got;
		int64_t us = (int64_t)sp__rng_below(&rng, UINT64_C(253402300800) * 1000000), back,
			unit = 1;

		for (unsigned k = decimals; k < SP__TIME_DECIMALS; k++)
			unit *= 10;
		us -= us % unit;
		us -= i % 2 ? INT64_C(62167219200) * 1000000 : 0;
		wrong += !sp__time_parse(text, (size_t)(sp__time_print(text, us, decimals) - text),
					 &back, &got) ||
			 back != us || got != decimals;
	}
	ok(!wrong, "times come back, with 0 to 6 decimals");
}

int main(void)
{
	ok(!wrong_days(),
	   "each day of the years 0000 to 9999 comes back, and no other is accepted");
	ok(!is_date("") && !is_date("1970-1-01") && !is_date("1970-00-01") &&
		   !is_date("1970-01-00") && !is_date("1970-13-01") && !is_date("1970/01/01") &&
		   !is_date("+970-01-01") && !is_date("1970-01-01 ") && !is_date("19700101"),
	   "a text in another form is not a date");
	ok(is("1970-01-01 00:00:00", 0) && is("1969-12-31 23:59:59.999999", -1) &&
		   is("2001-09-09 01:46:40.50", INT64_C(1000000000500000)) &&
		   is("0000-01-01 00:00:00.0", INT64_C(-62167219200000000)) &&
		   is("9999-12-31 23:59:59.999999", INT64_C(253402300799999999)),
	   "times are microseconds since 1970, before it negative");
	ok(!is_time("1970-01-01") && !is_time("1970-01-01T00:00:00") &&
		   !is_time("1970-01-01 24:00:00") && !is_time("1970-01-01 00:60:00") &&
		   !is_time("1970-01-01 00:00:60") && !is_time("1970-01-01 00:00:00.") &&
		   !is_time("1970-01-01 00:00:00.0000000") && !is_time("1970-01-01 00:00:00,5") &&
		   !is_time("1970-02-29 00:00:00") && !is_time("1970-01-01 00:00:00Z"),
	   "a text in another form is not a time");
	check_random_times();
	check_changed_times();
	return done();
}
