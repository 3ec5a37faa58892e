/* SPDX-License-Identifier: MIT */
/*
 * Numbers and sizes given to options, with the messages of GNU's tools for
 * those that cannot be used.  "option" is the option as it is to be shown,
 * with its hyphens.
 */
#ifndef NUMBER_H
#define NUMBER_H

#include <stdbool.h>
#include <stdint.h>

#define SIZE_FORMS "valid sizes are such as 512b, 4K, 64M, 2G, 1T and 10%"
#define NUMBER_FORMS "a whole number is wanted"

enum number_status { NUMBER_OK, NUMBER_OVERFLOW, NUMBER_BAD_SUFFIX, NUMBER_INVALID };

/* The whole of text as a decimal number; *value is UINTMAX_MAX on overflow. */
enum number_status number_parse(const char *text, uintmax_t *value);

/*
 * The number at the start of text, blanks and a sign before it allowed;
 * *rest is what follows.  False: there is none.
 */
bool number_prefix(const char *text, const char **rest, uintmax_t *value);

/*
 * Says why text is no use for option, and what would be: forms.  NULL where GNU's tools do not
 * say it; then the quotation marks are GNU's too, the same in every locale.  Ends the program.
 */
_Noreturn void number_die(enum number_status status, const char *option, const char *text,
			  const char *forms);

/* A number of at least min, or the end of the program. */
uint64_t number_option(const char *option, const char *text, uint64_t min);

/* The same, or the end of the program: within min and max, from 1 to max, and so on. */
double number_value(const char *option, const char *text, double min, double max);
unsigned count_value(const char *option, const char *text, double max);
double percent_value(const char *option, const char *text); /* "10%" or "10": 0.1 */
uint64_t time_value(const char *option, const char *text);  /* ns; seconds without a unit */
uint64_t span_value(const char *option, const char *text);  /* the same, and not 0 */
uint64_t bool_value(const char *option, const char *text);  /* 0 or 1; NULL: true */

/* A size by the rules of sort -S. */
enum number_status size_parse(const char *text, uint64_t default_unit, uint64_t *bytes);

/* The same in bytes, or the end of the program; of a record. */
uint64_t size_option(const char *option, const char *text);
uint64_t record_size_option(const char *option, const char *text);

#endif
