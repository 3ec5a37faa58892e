/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "longopt.h"
#include "msg.h"
#include "quote.h"

/* Does a name of the table begin with the long option in word? */
static bool names(const struct option *table, const char *word)
{
	size_t len = strcspn(word + 2, "=");

	for (; table->name; table++)
		if (!strncmp(table->name, word + 2, len))
			return true;
	return false;
}

struct option *longopt_table(const struct setting *s)
{
	struct option *table = NULL;

	for (size_t n = 0;; n++) {
		table = must_alloc(table, n + 1, sizeof(*table));
		/* Different codes: words that could be both would pass for one. */
		table[n] = (struct option){ .name = s[n].name, .val = SETTING_CODE(s, n) };
		if (!s[n].name)
			return table;
		table[n].has_arg = !s[n].arg	   ? no_argument
				   : s[n].optional ? optional_argument
						   : required_argument;
	}
}

bool longopt_own(const struct longopt *l, int argc, char **argv, void *input)
{
	const char *word = argv[optind];
	struct option *own;
	char name[64];
	int index;
	bool found;

	if (!word || strncmp(word, "--", 2) || !word[2])
		return false;
	own = longopt_table(l->own);
	found = !names(l->gnu, word) && names(own, word);
	if (found && getopt_long(argc, argv, l->letters, own, &index) == '?')
		usage_error();
	free(own);
	if (!found)
		return false;
	snprintf(name, sizeof(name), "--%s", l->own[index].name);
	setting_apply(&l->own[index], name, optarg, input);
	return true;
}

void longopt_exclude(bool a, const char *name_a, bool b, const char *name_b)
{
	if (a && b)
		die("options %s and %s are incompatible", quote(name_a), quote(name_b));
}
