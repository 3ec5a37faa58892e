/* SPDX-License-Identifier: MIT */
/*
 * Dates and times of the years 0000 to 9999 in the Gregorian calendar, without time zones: days
 * and microseconds since 1970-01-01.  A text is accepted only in the form that is printed.
 */
#pragma once

#include <spindle/api.h>

#define SP__DATE_MIN (-719528) /* 0000-01-01 */
#define SP__DATE_MAX 2932896   /* 9999-12-31 */
#define SP__TIME_MIN (SP__DATE_MIN * INT64_C(86400000000))
#define SP__TIME_MAX (SP__DATE_MAX * INT64_C(86400000000) + INT64_C(86399999999))
#define SP__DAY_US INT64_C(86400000000) /* microseconds */
#define SP__TIME_DECIMALS 6

#define SP__TIME_TEXT 26 /* maximum bytes of the text of a time */
/* Bytes that must be available to print. */
#define SP__CALENDAR_SPACE 40

/* Parses YYYY-MM-DD.  False: the text is not a date. */
bool sp__date_parse(const char *text, size_t bytes, int32_t *days);
/* Returns the end of the text; bytes behind it are overwritten, too. */
char *sp__date_print(char *p, int32_t days);
/*
 * Parses YYYY-MM-DD HH:MM:SS, optionally a point and 1 to 6 decimals, whose number it returns in
 * decimals.  False: the text is not a time.
 */
bool sp__time_parse(const char *text, size_t bytes, int64_t *us, unsigned *decimals);
/* Prints a time and the first decimals of its second.  Returns as sp__date_print(). */
char *sp__time_print(char *p, int64_t us, unsigned decimals);
