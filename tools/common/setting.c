/* SPDX-License-Identifier: MIT */
/*
 * Applies a row of the table of options to the tool's struct.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include "msg.h"
#include "number.h"
#include "setting.h"

static uint64_t whole(const struct setting *s, const char *option, const char *text)
{
	uint64_t v;
	char most[40];

	if (s->values || s->choices)
		return (uint64_t)(text ? choice_option(option, text,
						       s->values ? s->values() : s->choices)
				       : s->absent);
	if (s->whole)
		return s->whole(option, text);
	if (s->count)
		return count_value(option, text, s->count);
	v = number_option(option, text, s->number.min);
	if (v > s->number.max) {
		snprintf(most, sizeof(most), "at most %" PRIu64, s->number.max);
		number_die(NUMBER_OVERFLOW, option, text, most);
	}
	return v;
}

static bool keeps_text(const struct setting *s)
{
	return !s->values && !s->choices && !s->whole && !s->count && !s->number.max;
}

static void keep_text(const struct setting *s, const char **to, const char *text)
{
	if (s->once && *to && strcmp(*to, text) != 0)
		die("multiple %s specified", s->once);
	*to = text;
}

static void store(void *to, size_t bytes, uint64_t v)
{
	switch (bytes) {
	case 1:
		*(bool *)to = v;
		break;
	case 2:
		*(uint16_t *)to = (uint16_t)v;
		break;
	case 4:
		*(uint32_t *)to = (uint32_t)v;
		break;
	default:
		*(uint64_t *)to = v;
	}
}

/* True if the argument names a file or a folder. */
static bool names_file(const struct setting *s)
{
	static const char *const names[] = { "FILE", "FILE.npy", "DIR", "INDEX" };

	for (size_t i = 0; s->arg && i < sizeof(names) / sizeof(*names); i++)
		if (!strcmp(s->arg, names[i]))
			return keeps_text(s);
	return false;
}

/* Returns the reason that a file cannot be a standard stream. */
static const char *reason(const struct setting *s)
{
	if (!strcmp(s->arg, "DIR"))
		return "a folder is expected";
	if (!strcmp(s->arg, "INDEX") || !strncmp(s->name, "index", 5) ||
	    !strcmp(s->name, "backing"))
		return "the file is accessed at any offset";
	return !strcmp(s->name, "resume") ? "the file is changed later"
					  : "standard output is for the result";
}

/* Returns the argument that the tool gets for text, which is "-". */
static const char *dash(const struct setting *s, const char *option, const char *text)
{
	if (s->dash == SETTING_DASH_INPUT)
		return must_copy("/dev/stdin"); /* outputs.c compares pointers */
	if (s->dash != SETTING_DASH_REFUSED || s->optional)
		return text;
	die("%s: - is not a standard stream here: %s; give a name, or ./- for a file called -",
	    option, reason(s));
}

void setting_standard_output(const struct setting *table, void *input)
{
	for (; !SETTING_ENDS(table); table++) {
		const char **text = (const char **)((char *)input + table->offset);

		if (table->dash == SETTING_DASH_OUTPUT && *text && !strcmp(*text, "-"))
			*text = NULL;
	}
}

void setting_apply(const struct setting *s, const char *option, const char *text, void *input)
{
	void *to = (char *)input + s->offset;

	if (text && !strcmp(text, "-") && names_file(s))
		text = dash(s, option, text);
	if (s->given)
		*((bool *)input + s->given) = true;
	if (s->call)
		s->call(to, option, text);
	else if (!s->arg)
		store(to, s->bytes, s->absent ? (uint64_t)s->absent : !s->clear);
	else if (s->real.max > 0)
		*(double *)to = number_value(option, text, s->real.min, s->real.max);
	else if (keeps_text(s))
		keep_text(s, to, text ? text : "-");
	else
		store(to, s->bytes, whole(s, option, text));
}
