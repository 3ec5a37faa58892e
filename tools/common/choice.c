/* SPDX-License-Identifier: MIT */
/*
 * Reads an option whose argument is one of a list of names.
 */
#include <stdio.h>
#include "number.h"
#include "msg.h"

int choice_option(const char *option, const char *text, const struct sp_enum_value *table)
{
	const struct sp_enum_value *c;
	int value, rc = sp_enum_parse(table, text, &value);

	if (!rc)
		return value;
	msg("%s argument %s for %s", rc == -ENOTUNIQ ? "ambiguous" : "invalid", quote(text),
	    quote(option));
	say_nearest(table, "", text);
	fputs("Valid arguments are:", stderr);
	for (c = table; c->name; c++)
		fprintf(stderr, "%s%s", c > table && c[-1].value == c->value ? ", " : "\n  - ",
			quote(c->name));
	putc('\n', stderr);
	usage_error();
}
