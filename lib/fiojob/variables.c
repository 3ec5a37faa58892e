/* SPDX-License-Identifier: MIT */
/*
 * Replaces ${NAME} in a value of a job file by a variable of the environment.
 *
 * Values of variables are not expanded.  A variable that is not set is an error; fio uses an
 * empty text.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "base/minmax.h"
#include "fiojob/state.h"

/* Appends n bytes; returns false if they do not fit. */
static bool append(char *to, size_t bytes, const char *text, size_t n)
{
	size_t used = strlen(to);

	if (n >= bytes - used)
		return false;
	memcpy(to + used, text, n);
	to[used + n] = '\0';
	return true;
}

/* Looks up the name between text and the brace; returns NULL and sets the reason, or the value. */
static const char *variable(const char *text, size_t n, char reason[SP__FIOJOB_REASON_BYTES])
{
	char name[64];
	const char *value = NULL;

	if (n < sizeof(name)) {
		snprintf(name, sizeof(name), "%.*s", (int)n, text);
		value = getenv(name);
	}
	if (!value)
		snprintf(reason, SP__FIOJOB_REASON_BYTES,
			 "the variable %.*s is not set in the environment", (int)sp__min(n, 64),
			 text);
	else if (strchr(value, '$'))
		snprintf(reason, SP__FIOJOB_REASON_BYTES,
			 "the value of the variable %s contains $, which is not supported", name);
	return value && !strchr(value, '$') ? value : NULL;
}

bool sp__fiojob_expand(const char *text, char out[SP__FIOJOB_VALUE_BYTES],
		       char reason[SP__FIOJOB_REASON_BYTES])
{
	bool fits = true;

	*out = '\0';
	while (fits && *text) {
		size_t n = strcspn(text, "$");
		const char *value;

		fits = append(out, SP__FIOJOB_VALUE_BYTES, text, n);
		text += n;
		if (!*text)
			break;
		n = strcspn(text, "}");
		if (text[1] != '{' || !text[n] || n == 2) {
			strcpy(reason, "uses a variable that is not of the form ${NAME}");
			return false;
		}
		value = variable(text + 2, n - 2, reason);
		if (!value)
			return false;
		fits &= append(out, SP__FIOJOB_VALUE_BYTES, value, strlen(value));
		text += n + 1;
	}
	if (!fits)
		strcpy(reason, "is longer than 1023 bytes with the values of its variables");
	return fits;
}
