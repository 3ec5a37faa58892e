/* SPDX-License-Identifier: MIT */
/*
 * Reads numbers, sizes and times from arguments of options.
 */
#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <spindle/size.h>
#include "msg.h"
#include "number.h"

bool number_prefix(const char *text, const char **rest, uintmax_t *value)
{
	const char *p = text;
	char *end;

	while (isspace((unsigned char)*p))
		p++;
	if (*p == '-')
		return false;
	*value = strtoumax(text, &end, 10); /* UINTMAX_MAX on overflow */
	*rest = end;
	return end != text;
}

enum number_status number_parse(const char *text, uintmax_t *value)
{
	const char *rest;

	errno = 0;
	if (!number_prefix(text, &rest, value))
		return NUMBER_INVALID;
	if (*rest)
		return NUMBER_BAD_SUFFIX;
	return errno == ERANGE ? NUMBER_OVERFLOW : NUMBER_OK;
}

void number_die(enum number_status status, const char *option, const char *text, const char *forms)
{
	const char *mark = forms ? "" : "'", *colon = forms ? ": " : "";

	text = forms ? quote(text) : text;
	forms = forms ? forms : "";
	switch (status) {
	case NUMBER_OVERFLOW:
		die("%s argument %s%s%s too large%s%s", option, mark, text, mark, colon, forms);
	case NUMBER_BAD_SUFFIX:
		die("invalid suffix in %s argument %s%s%s%s%s", option, mark, text, mark, colon,
		    forms);
	default:
		die("invalid %s argument %s%s%s%s%s", option, mark, text, mark, colon, forms);
	}
}

uint64_t number_option(const char *option, const char *text, uint64_t min)
{
	uintmax_t value = 0;
	enum number_status status = number_parse(text, &value);
	char least[32];

	if (status != NUMBER_OK)
		number_die(status, option, text, NUMBER_FORMS);
	if (value < min) {
		snprintf(least, sizeof(least), "%" PRIu64, min);
		die("minimum %s argument is %s", option, quote(least));
	}
	return value;
}

static double number_begin(const char *option, const char *text, char **rest, const char *forms)
{
	double v;

	errno = 0;
	v = strtod(text, rest);
	if (*rest == text || errno || !isfinite(v) || v < 0)
		number_die(NUMBER_INVALID, option, text, forms);
	return v;
}

static double number_within(const char *option, const char *text, double min, double max,
			    const char *forms)
{
	char *rest;
	double v = number_begin(option, text, &rest, forms);

	if (*rest)
		number_die(NUMBER_BAD_SUFFIX, option, text, forms);
	if (v < min || v > max)
		die("%s argument %s is not within %.15g and %.15g", option, quote(text), min, max);
	return v;
}

double number_value(const char *option, const char *text, double min, double max)
{
	return number_within(option, text, min, max, "valid are numbers such as 8 and 0.5");
}

unsigned count_value(const char *option, const char *text, double max)
{
	double v = number_within(option, text, 1, max, NUMBER_FORMS);

	if (v != floor(v))
		die("%s argument %s is not a whole number", option, quote(text));
	return (unsigned)v;
}

double percent_value(const char *option, const char *text)
{
	static const char forms[] = "valid are shares such as 30 and 30%";
	char *rest;
	double v = number_begin(option, text, &rest, forms);

	if (*rest && strcmp(rest, "%") != 0)
		number_die(NUMBER_BAD_SUFFIX, option, text, forms);
	if (v > 100)
		die("%s argument %s is more than 100%%", option, quote(text));
	return v / 100;
}

uint64_t time_value(const char *option, const char *text)
{
	static const struct {
		const char *name;
		double ns;
	} units[] = { { "", 1e9 },   { "s", 1e9 },  { "ms", 1e6 },
		      { "us", 1e3 }, { "m", 60e9 }, { "h", 3600e9 } };
	static const char forms[] = "valid are times such as 10, 500ms, 20us, 2m and 1h";
	char *rest;
	double v = number_begin(option, text, &rest, forms);

	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++)
		if (!strcmp(rest, units[i].name) && v * units[i].ns < 1e18)
			return (uint64_t)(v * units[i].ns);
	number_die(NUMBER_INVALID, option, text, forms);
}

uint64_t span_value(const char *option, const char *text)
{
	uint64_t ns = time_value(option, text);

	if (!ns)
		die("%s argument %s is zero", option, quote(text));
	return ns;
}

uint64_t wait_value(const char *option, const char *text)
{
	return text ? time_value(option, text) : UINT64_MAX;
}

uint64_t bool_value(const char *option, const char *text)
{
	if (!text || !strcmp(text, "1"))
		return true;
	if (strcmp(text, "0") != 0)
		die("invalid %s argument %s: 0 or 1", option, quote(text));
	return false;
}

/* Reads a lone suffix as GNU does: -S K is 1024 bytes. */
static enum number_status lone_suffix(const char *text, uint64_t default_unit, uint64_t *bytes)
{
	char one[3] = { '1', text[0], '\0' };

	if (!*text || !isalpha((unsigned char)*text) || *text == 'b' ||
	    sp_size_parse(one, default_unit, bytes) == -EINVAL)
		return NUMBER_INVALID;
	if (text[1])
		return NUMBER_BAD_SUFFIX;
	return sp_size_parse(one, default_unit, bytes) == 0 ? NUMBER_OK : NUMBER_OVERFLOW;
}

enum number_status size_parse(const char *text, uint64_t default_unit, uint64_t *bytes)
{
	int rc;

	while (isspace((unsigned char)*text))
		text++;
	if (*text == '+' && isdigit((unsigned char)text[1]))
		text++;
	rc = sp_size_parse(text, default_unit, bytes);
	if (rc == 0)
		return NUMBER_OK;
	if (rc == -ERANGE)
		return NUMBER_OVERFLOW;
	return isdigit((unsigned char)*text) ? NUMBER_BAD_SUFFIX
					     : lone_suffix(text, default_unit, bytes);
}

uint64_t size_option(const char *option, const char *text)
{
	uint64_t bytes = 0;
	enum number_status status = size_parse(text, 1, &bytes);

	if (status != NUMBER_OK)
		number_die(status, option, text, SIZE_FORMS);
	return bytes;
}

uint64_t record_size_option(const char *option, const char *text)
{
	uint64_t bytes = size_option(option, text);

	if (!bytes || bytes > SIZE_MAX / 2)
		number_die(NUMBER_INVALID, option, text, "at least a byte");
	return bytes;
}

struct size size_of(uint64_t bytes)
{
	static const char *const units[] = { "bytes", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB" };
	double v = (double)bytes;
	struct size s;
	size_t u = 0;

	for (; v >= 1023.95 && u + 1 < sizeof(units) / sizeof(units[0]); u++)
		v /= 1024;
	snprintf(s.text, sizeof(s.text), "%.*f %s", u ? 1 : 0, v, bytes == 1 ? "byte" : units[u]);
	return s;
}
