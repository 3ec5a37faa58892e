/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <string.h>
#include "choice.h"
#include "msg.h"
#include "quote.h"

int choice_find(const struct choice *table, const char *text, int *found)
{
	size_t len = strlen(text);
	int value = 0;

	*found = 0;
	for (; table->word; table++) {
		if (strncmp(table->word, text, len))
			continue;
		if (!table->word[len]) {
			*found = 1;
			return table->value;
		}
		if (*found && table->value != value)
			*found = -1;
		else if (!*found)
			*found = 1;
		value = table->value;
	}
	return value;
}

int choice_option(const char *option, const char *text, const struct choice *table, int status)
{
	const struct choice *c;
	int found, value = choice_find(table, text, &found);

	if (found == 1)
		return value;
	msg("%s argument %s for %s", found ? "ambiguous" : "invalid", quote(text), quote(option));
	fputs("Valid arguments are:", stderr);
	for (c = table; c->word; c++)
		fprintf(stderr, "%s%s", c > table && c[-1].value == c->value ? ", " : "\n  - ",
			quote(c->word));
	putc('\n', stderr);
	msg_set_failure_status(status);
	usage_error();
}
