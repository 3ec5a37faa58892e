/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <string.h>
#include "longopt.h"
#include "msg.h"

/* Does a name of the table begin with the long option in word? */
static bool names(const struct option *table, const char *word)
{
	size_t len;

	if (strncmp(word, "--", 2) || !word[2])
		return false;
	len = strcspn(word + 2, "=");
	for (; table->name; table++)
		if (!strncmp(table->name, word + 2, len))
			return true;
	return false;
}

int longopt_own(struct longopt *l, int argc, char **argv)
{
	const char *word = argv[optind];
	int index = -1, code;

	if (!word || names(l->gnu, word) || !names(l->own, word))
		return -1;
	code = getopt_long(argc, argv, l->letters, l->own, &index);
	if (code == '?')
		usage_error();
	snprintf(l->name, sizeof(l->name), "--%s", l->own[index].name);
	return code;
}

void longopt_exclude(bool a, const char *name_a, bool b, const char *name_b)
{
	if (a && b)
		die("options '%s' and '%s' are incompatible", name_a, name_b);
}
