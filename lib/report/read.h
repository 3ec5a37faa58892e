/* SPDX-License-Identifier: MIT */
/*
 * Reads values of a document, for texts.  A value that is missing or has another type is 0, "-" or
 * unknown.
 */
#pragma once

#include <stdio.h>
#include <jansson.h>
#include <spindle/error.h>

static inline double number(const json_t *o, const char *key)
{
	return json_number_value(json_object_get(o, key));
}

static inline const char *word(const json_t *o, const char *key)
{
	const char *text = json_string_value(json_object_get(o, key));

	return text ? text : "-";
}

static inline bool truth(const json_t *o, const char *key)
{
	return json_is_true(json_object_get(o, key));
}

static inline bool known(const json_t *o, const char *key)
{
	return json_object_get(o, key) && !json_is_null(json_object_get(o, key));
}

/* Formats a duration with three digits and a unit. */
static inline const char *duration(const json_t *o, const char *key, char text[16])
{
	static const char *const units[] = { "ns", "us", "ms", "s" };
	double v = number(o, key);
	size_t u = 0;

	if (!known(o, key))
		return "-";
	for (; v >= 999.5 && u < 3; u++)
		v /= 1000;
	snprintf(text, 16, "%.*f %s", v >= 99.95 || u == 0 ? 0 : v >= 9.995 ? 1 : 2, v, units[u]);
	return text;
}

/* A text as a terminal can show it, truncated to 1023 bytes. */
struct printable {
	char text[1024];
};

static inline struct printable printable(const char *text)
{
	struct printable p;

	sp_printable(p.text, sizeof(p.text), text, 0);
	return p;
}
