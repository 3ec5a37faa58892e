/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <stdnoreturn.h>
#include <string.h>
#include "msg.h"
#include "number.h"
#include "aiobench.h"

static const char percent_forms[] = "valid are such as 30 and 30%";
static const char time_forms[] = "valid are such as 10, 500ms, 20us, 2m and 1h";

double percent_value(const char *option, const char *text)
{
	char *rest;
	double v = number_begin(option, text, &rest, percent_forms);

	if (*rest && strcmp(rest, "%") != 0)
		number_die(NUMBER_BAD_SUFFIX, option, text, percent_forms);
	if (v > 100)
		die("%s argument '%s' is more than 100%%", option, text);
	return v / 100;
}

uint64_t request_value(const char *option, const char *text)
{
	uint64_t v = size_option(option, text);

	if (!v || v > 1u << 30)
		die("%s argument '%s' is not within 1 and 1G", option, text);
	return v;
}

uint64_t time_value(const char *option, const char *text)
{
	static const struct {
		const char *name;
		double ns;
	} units[] = { { "", 1e9 },   { "s", 1e9 },  { "ms", 1e6 },
		      { "us", 1e3 }, { "m", 60e9 }, { "h", 3600e9 } };
	char *rest;
	double v = number_begin(option, text, &rest, time_forms);

	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++)
		if (!strcmp(rest, units[i].name) && v * units[i].ns < 1e18)
			return (uint64_t)(v * units[i].ns);
	number_die(NUMBER_INVALID, option, text, time_forms);
}

uint64_t span_value(const char *option, const char *text)
{
	uint64_t ns = time_value(option, text);

	if (!ns)
		die("%s argument '%s' is no time at all", option, text);
	return ns;
}

uint64_t bool_value(const char *option, const char *text)
{
	if (!text || !strcmp(text, "1"))
		return true;
	if (strcmp(text, "0") != 0)
		die("invalid %s argument '%s': 0 or 1", option, text);
	return false;
}

uint64_t prio_value(const char *option, const char *text)
{
	uint16_t prio;

	if (sp_bench_prio_parse(text, &prio))
		die("invalid %s argument '%s': rt or be (optionally with /0 to /7), idle or "
		    "default",
		    option, text);
	return prio;
}
