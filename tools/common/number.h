/* SPDX-License-Identifier: MIT */
/*
 * Reads numbers, sizes and names from arguments of options, with GNU's messages for invalid ones.
 * "option" is the option as shown, with hyphens.
 */
#pragma once

#include <spindle/enum.h>

#define SIZE_FORMS "valid sizes are such as 512b, 4K, 64M, 2G, 1T and 10%"
#define NUMBER_FORMS "a whole number is expected"

enum number_status { NUMBER_OK, NUMBER_OVERFLOW, NUMBER_BAD_SUFFIX, NUMBER_INVALID };

/* Parses text as a decimal number; *value is UINTMAX_MAX on overflow. */
enum number_status number_parse(const char *text, uintmax_t *value);

/*
 * Parses the number at the start of text, after blanks and a sign; *rest is the text after it.
 * False: not a number.
 */
bool number_prefix(const char *text, const char **rest, uintmax_t *value);

/*
 * Ends the program with the reason why text is invalid for option, and the valid forms. forms NULL:
 * a message of GNU's tools, with GNU's quotation marks in every locale.
 */
_Noreturn void number_die(enum number_status status, const char *option, const char *text,
			  const char *forms);

/* Returns a number of at least min; an invalid one ends the program. */
uint64_t number_option(const char *option, const char *text, uint64_t min);

/* Return a value within the limits; an invalid one ends the program. */
double number_value(const char *option, const char *text, double min, double max);
unsigned count_value(const char *option, const char *text, double max);
double percent_value(const char *option, const char *text); /* "10%" or "10": 0.1 */
uint64_t time_value(const char *option, const char *text);  /* in ns; seconds without a unit */
uint64_t span_value(const char *option, const char *text);  /* in ns, not 0 */
uint64_t wait_value(const char *option, const char *text);  /* in ns; NULL: UINT64_MAX */
uint64_t bool_value(const char *option, const char *text);  /* 0 or 1; NULL: true */

/* Parses a size by the rules of sort -S. */
enum number_status size_parse(const char *text, uint64_t default_unit, uint64_t *bytes);

/* Returns a size in bytes, or the size of a record; an invalid one ends the program. */
uint64_t size_option(const char *option, const char *text);
uint64_t record_size_option(const char *option, const char *text);

/*
 * choice.c: returns the value of text, one of a list of names, which can be abbreviated.  An
 * unknown or ambiguous name ends the program with a list of the names.
 */
int choice_option(const char *option, const char *text, const struct sp_enum_value *table);

/* A number of bytes as text, such as "1.0 MiB". */
struct size {
	char text[24];
};

struct size size_of(uint64_t bytes);
